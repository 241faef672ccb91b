"""Real servers for tests: started on a free loopback port, stopped after."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A running server; ``address`` is what an endpoint of the catalog would name."""

    host: str
    port: int
    address: str


def free_port() -> int:
    """A port of the loopback interface that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def needed(program: str, how: str) -> str:
    """The path of a program, or a skip that says how to install it."""
    found = shutil.which(
        program, path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/lib/rabbitmq/bin"
    )
    if found is None:
        pytest.skip(f"{program} is not installed: {how}")
    return found


@contextmanager
def running(
    command: Sequence[str],
    port: int,
    log: Path,
    *,
    seconds: float = 30,
    env: Mapping[str, str] = {},
    endings: Sequence[signal.Signals] = (signal.SIGTERM,),
) -> Iterator[subprocess.Popen[bytes]]:
    """A process that listens on a port, in its own group, which is ended as a whole."""
    with log.open("wb") as out:
        process = subprocess.Popen(
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            env=os.environ | dict(env),
            start_new_session=True,
        )
    try:
        wait_for(process, port, log, seconds)
        yield process
    finally:
        for ending in (*endings, signal.SIGKILL):
            try:
                os.killpg(process.pid, ending)
                process.wait(timeout=10)
            except ProcessLookupError:
                break
            except subprocess.TimeoutExpired:
                continue


def wait_for(process: subprocess.Popen[bytes], port: int, log: Path, seconds: float) -> None:
    """Wait until a process listens; an AssertionError with the end of its log where it does not."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        with socket.socket() as probe:
            probe.settimeout(0.5)
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError(
        f"nothing listens on port {port}:\n{log.read_text(errors='replace')[-2000:]}"
    )
