"""Registries on loopback ports, for tests of what is asked of them and what is not."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

Answer = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class Registry:
    """A server that answers what it is given to, and notes every request."""

    url: str
    pages: dict[str, Answer] = field(default_factory=dict)
    paths: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    closing: Event = field(default_factory=Event)

    def serve(self, path: str, content: Any, status: int = 200, **headers: str) -> str:
        """Answer a path with JSON, or with bytes as they are; the URL of it."""
        body = content if isinstance(content, bytes) else json.dumps(content).encode()

        def answer(request: BaseHTTPRequestHandler) -> None:
            request.send_response(status)
            for name, value in headers.items():
                request.send_header(name.replace("_", "-"), value)
            request.send_header("Content-Length", str(len(body)))
            request.end_headers()
            request.wfile.write(body)

        self.pages[path] = answer
        return self.url + path

    def redirect(self, path: str, target: str) -> str:
        """Answer a path with a redirect; the URL of it."""
        return self.serve(path, b"", 302, Location=target)

    def message(self, id_: str, **attributes: Any) -> str:
        """Serve a message of the group ``g`` as a registry does; the URL of it."""
        path = f"/messagegroups/g/messages/{id_}"
        return self.serve(path, {"messageid": id_, "xid": path, "versionid": "1", **attributes})

    def drip(self, path: str, first: bytes, seconds: float) -> str:
        """Answer a path byte by byte, for longer than anybody waits; the URL of it."""

        def answer(request: BaseHTTPRequestHandler) -> None:
            try:
                request.wfile.write(first)
                while not self.closing.wait(seconds):
                    request.wfile.write(b" ")
            except OSError:
                return

        self.pages[path] = answer
        return self.url + path


@contextmanager
def running() -> Iterator[Registry]:
    """A registry on a free loopback port, stopped at the end."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            registry.paths.append(self.path)
            registry.headers.append(dict(self.headers))
            answer = registry.pages.get(self.path)
            self.close_connection = answer is None
            if answer is None:
                self.send_error(404)
            else:
                answer(self)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    registry = Registry(f"http://127.0.0.1:{server.server_port}")
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield registry
    finally:
        registry.closing.set()
        server.shutdown()
        thread.join()
        server.server_close()
