"""A server under attack: whether others are still served, and what it takes in memory.

    with attacked(tmp_path, MODEL) as server:          # `heraldry serve` on SQLite
        server.call("PUT", "/dirs/d1", b"{}")          # -> Answer(status, body)
        server.withstands(lambda: server.call("POST", "/dirs", body))

`withstands(assault)` calls the assault three times. While each call runs, a reader in a process of
its own asks for `/dirs/calm` (there from the start) every 15 ms, on a new connection each time; it
must get every answer, with the 99th percentile at most 0.5 s or ten times that of the idle server.
The memory of the server (RSS, sampled) may grow by at most `memory` bytes above the idle one; the
most it took is returned by `withstands`, in bytes. An assault is any function; it ends the round
when it returns, and is to close what it opened, e.g. with `server.connect()` in an `ExitStack`.
`read_for(seconds)` in an assault keeps a round open that would end too early for a percentile.

Other options of the command: `attacked(tmp_path, MODEL, "--option", "value")`. A model is a value,
or the name of a built-in one.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import psutil

MIB = 1024 * 1024
ROUNDS = 3
SLOWEST = 0.5
"""Seconds that the 99th percentile may always take."""
FILES = {
    "groups": {
        "dirs": {
            "singular": "dir",
            "resources": {
                "files": {"singular": "file"},
                "notes": {"singular": "note", "hasdocument": False},
            },
        }
    }
}
CALM = "/dirs/calm"
_IDLE_SECONDS = 1.5
_READER = Path(__file__).with_name("attack_reader.py")


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back for one request."""

    status: int
    body: bytes


@dataclass(frozen=True)
class Attacked:
    """A server, its process, and how it is when nobody attacks."""

    host: str
    port: int
    process: subprocess.Popen[str]

    def call(
        self,
        method: str,
        target: str,
        body: bytes = b"",
        headers: dict[str, str] | None = None,
        *,
        seconds: float = 60,
    ) -> Answer:
        """One request on a connection of its own, and all of its answer."""
        connection = HTTPConnection(self.host, self.port, timeout=seconds)
        try:
            connection.request(method, target, body or None, headers or {})
            response = connection.getresponse()
            return Answer(response.status, response.read())
        finally:
            connection.close()

    def connect(self, sent: bytes = b"", *, buffer: int = 0) -> socket.socket:
        """A connection on which something was sent; ``buffer``: how much it takes unread."""
        connection = socket.socket()
        if buffer:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        connection.settimeout(60)
        connection.connect((self.host, self.port))
        connection.sendall(sent)
        return connection

    @cached_property
    def idle(self) -> float:
        """The 99th percentile of the reader while nothing else happens."""
        with self.reader() as reading:
            time.sleep(_IDLE_SECONDS)
        return percentile(reading["seconds"])

    def memory(self) -> int:
        """The memory of the server in bytes."""
        return int(psutil.Process(self.process.pid).memory_info().rss)

    @contextmanager
    def reader(self) -> Iterator[dict[str, Any]]:
        """A reader at work; what it saw is there when it has ended."""
        command = [sys.executable, str(_READER), self.host, str(self.port), CALM]
        seen: dict[str, Any] = {}
        reader = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            assert reader.stdout is not None
            assert reader.stdout.readline() == "ready\n"
            yield seen
            seen.update(json.loads(reader.communicate(timeout=60)[0]))
        finally:
            reader.kill()
            reader.communicate()

    def withstands(
        self, assault: Callable[[], object], *, memory: int = 300 * MIB, rounds: int = ROUNDS
    ) -> int:
        """Attack, with a reader beside it; the most memory above idle that it took."""
        allowed = max(SLOWEST, 10 * self.idle)
        idle = self.memory()
        refused = self.refused()
        most = 0
        for number in range(rounds):
            with self.reader() as seen, self._peak() as peak:
                assault()
            most = max(most, peak[0] - idle)
            slow = percentile(seen["seconds"])
            told = f"round {number + 1}: p99 {slow:.3f} s of {len(seen['seconds'])} reads"
            told += f" (allowed {allowed:.3f}), {most / MIB:.0f} MiB above idle"
            sys.stderr.write(f"{told}\n")
            assert not seen["wrong"], (told, seen["wrong"][:3])
            assert slow <= allowed, told
            assert most <= memory, told
        assert self.refused() == refused, "an attack that is refused at the door is none"
        return most

    def refused(self) -> list[bytes]:
        """How often a foreign host or page was refused, as the server counts it."""
        lines = self.call("GET", "/metrics").body.splitlines()
        return [line for line in lines if b"heraldry_requests_total" in line and b'"403"' in line]

    @contextmanager
    def _peak(self) -> Iterator[list[int]]:
        peak, ended = [self.memory()], threading.Event()

        def watch() -> None:
            while not ended.wait(0.01):
                peak[0] = max(peak[0], self.memory())

        watching = threading.Thread(target=watch)
        watching.start()
        try:
            yield peak
        finally:
            ended.set()
            watching.join()


def percentile(seconds: Sequence[float]) -> float:
    """The 99th percentile."""
    ordered = sorted(seconds)
    return ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]


def read_for(seconds: float) -> None:
    """Let the reader go on for a while."""
    time.sleep(seconds)


@contextmanager
def attacked(folder: Path, model: Any = FILES, *options: str) -> Iterator[Attacked]:
    """A server on a database in a folder, with a group that the reader asks for."""
    if not isinstance(model, str):
        file = folder / "model.json"
        file.write_text(json.dumps(model))
        model = str(file)
    command = [sys.executable, "-m", "heraldry", "serve", "--port", "0", "--format", "json"]
    command += ["--db", f"sqlite:{folder / 'registry.db'}", "--model", model, *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        host, _, port = json.loads(process.stdout.readline())["url"][7:].partition(":")
        server = Attacked(host, int(port), process)
        assert server.call("PUT", CALM, b"{}").status == 201
        yield server
    finally:
        process.kill()
        process.communicate()
