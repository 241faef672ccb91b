"""A small HTTP/1.1 client for load: prepared requests over kept connections, hardly any parsing.

It runs in this process, the server in another: on two cores the server is what is measured.
"""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Call:
    """One request."""

    method: str
    path: str
    body: bytes = b""

    def text(self) -> bytes:
        """The request as it goes over the wire."""
        head = f"{self.method} {self.path} HTTP/1.1\r\nHost: localhost\r\n"
        if self.method != "GET":
            head += f"Content-Type: application/json\r\nContent-Length: {len(self.body)}\r\n"
        return head.encode() + b"\r\n" + self.body


@dataclass(slots=True)
class Load:
    """What a series of requests took."""

    seconds: float = 0.0
    each: list[float] = field(default_factory=list)
    statuses: dict[int, int] = field(default_factory=dict)
    size: int = 0

    @property
    def rate(self) -> float:
        """Requests per second."""
        return len(self.each) / self.seconds

    @property
    def median_ms(self) -> float:
        """The median time of one request."""
        return sorted(self.each)[len(self.each) // 2] * 1000


def run(port: int, calls: Sequence[Call], connections: int = 1) -> Load:
    """Send the calls, spread over the connections, each after the reply to the one before."""
    load = Load()
    started = time.perf_counter()
    asyncio.run(_all(port, calls, connections, load))
    load.seconds = time.perf_counter() - started
    return load


async def _all(port: int, calls: Sequence[Call], connections: int, load: Load) -> None:
    parts = [calls[start::connections] for start in range(connections)]
    await asyncio.gather(*(_one(port, part, load) for part in parts))


async def _one(port: int, calls: Sequence[Call], load: Load) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**20)
    for call in calls:
        text = call.text()
        started = time.perf_counter()
        writer.write(text)
        head = await reader.readuntil(b"\r\n\r\n")
        load.size += await _body(reader, head.lower())
        load.each.append(time.perf_counter() - started)
        status = int(head[9:12])
        load.statuses[status] = load.statuses.get(status, 0) + 1
    writer.close()


async def _body(reader: asyncio.StreamReader, head: bytes) -> int:
    """Read a body and forget it; its size."""
    _, length, rest = head.partition(b"content-length: ")
    if length:
        left = size = int(rest.split(b"\r", 1)[0])
        while left:
            left -= len(await reader.read(min(left, 2**16)))
        return size
    total = 0
    while chunk := int(await reader.readline(), 16):
        left = chunk + 2
        while left:
            left -= len(await reader.read(min(left, 2**16)))
        total += chunk
    await reader.readline()
    return total


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def serving(command: Sequence[str], port: int) -> Iterator[int]:
    """A server process that listens on a port; gives its process id."""
    env = os.environ | {"PYTHONPATH": str(Path(__file__).parent)}
    process = subprocess.Popen(
        [sys.executable, *command], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        deadline = time.monotonic() + 30
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                if time.monotonic() > deadline or process.poll() is not None:
                    raise
                time.sleep(0.05)
        yield process.pid
    finally:
        process.terminate()
        process.wait(timeout=30)
