"""Chromium, and the server of the pages that it is to open."""

from __future__ import annotations

import json
import os
import queue
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

_QUIET = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
_PAGE = """<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><body><script>
const told = async result => fetch("/told", {method: "POST", body: JSON.stringify(result)});
const tried = async (...request) => {
  try { return (await fetch(...request)).status } catch (error) { return error.name }
};
const json = (method, value) =>
  ({method, headers: {"Content-Type": "application/json"}, body: JSON.stringify(value)});
(async () => { %s })().then(told, error => told("" + error));
</script></body>"""


def chromium() -> str:
    """The browser, or a skip that says how to install it."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        pytest.skip("chromium is not installed: sudo apt-get install -y chromium")
    return found


@dataclass
class Pages:
    """A server for one page after the other; everything it has not, it asks ``behind`` for.

    That is what a name does that leads to another server after its page was loaded.
    """

    script: str = ""
    behind: int = 0
    told: queue.Queue[Any] = field(default_factory=queue.Queue)
    port: int = 0

    @contextmanager
    def opened(self, host: str, script: str, folder: Path) -> Iterator[Any]:
        """What the script of a page returns; the page is one of ``host``, and stays open."""
        self.script = script
        with _browser(f"http://{host}:{self.port}/page", folder):
            yield self.told.get(timeout=60)


@contextmanager
def pages() -> Iterator[Pages]:
    """A server of pages, at a free port."""
    served = Pages()

    class Handler(BaseHTTPRequestHandler):
        def _answer(self, status: int, content: bytes, media_type: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", media_type)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def _handle(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if self.path == "/page":
                self._answer(200, (_PAGE % served.script).encode(), "text/html")
            elif self.path == "/told":
                self._answer(200, b"", "text/plain")
                served.told.put(json.loads(body))
            elif served.behind:
                connection = HTTPConnection("127.0.0.1", served.behind, timeout=20)
                connection.request(self.command, self.path, body, dict(self.headers.items()))
                reply = connection.getresponse()
                content = reply.read()
                connection.close()
                self._answer(reply.status, content, reply.headers.get("Content-Type", ""))
            else:
                self._answer(404, b"", "text/plain")

        do_GET = do_PUT = do_POST = do_DELETE = _handle  # noqa: N815

        def log_message(self, *_: object) -> None:
            """Nobody reads it."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def _browser(url: str, folder: Path) -> Iterator[None]:
    """A new browser that opens a page; hosts of the domain ``example`` are this machine."""
    profile = folder / f"profile.{os.urandom(4).hex()}"
    process = subprocess.Popen(
        [
            *(chromium(), *_QUIET, f"--user-data-dir={profile}", "--remote-debugging-port=0"),
            *("--host-resolver-rules=MAP *.example 127.0.0.1", url),
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(timeout=20)
