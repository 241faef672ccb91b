"""A job on a Spark Connect server: every message lands once, over runs and a dead client."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.live.servers import moto, spark_connect
from tests.live.servers.server import Server
from tests.live.token_stream import TokenStream, report

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(1200)]


@pytest.fixture(scope="module")
def connect(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with spark_connect.start(tmp_path_factory.mktemp("connect")) as server:
        yield server


def command(stream: TokenStream, server: Server, *more: str) -> list[str]:
    return [sys.executable, "-m", "heraldry", *stream.arguments("--remote", server.address, *more)]


def land(stream: TokenStream, server: Server, *more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(stream, server, *more), capture_output=True, text=True, check=False, timeout=600
    )


def test_each_message_once_over_runs(connect: Server, tmp_path: Path) -> None:
    stream = TokenStream(tmp_path)
    tokens = stream.write(files=4, each=500)
    done = report(land(stream, connect, "--max-per-batch", "1000"))
    assert done["read"] == done["landed"] + done["dead"] == len(tokens)
    assert done["batches"] > 1
    assert stream.found() == tokens
    assert report(land(stream, connect))["read"] == 0
    tokens += stream.write(files=1, each=100, first=len(tokens))
    assert report(land(stream, connect))["read"] == 100
    assert stream.found() == tokens


@contextmanager
def streaming(stream: TokenStream, server: Server) -> Iterator[subprocess.Popen[bytes]]:
    """A client whose stream has landed a batch, and the next ones are about to."""
    log = stream.folder / "log"
    more = ("--max-per-batch", "500", "--stream", "--interval", "0.1")
    with log.open("wb") as out:
        client = subprocess.Popen(command(stream, server, *more), stdout=out, stderr=out)
    try:
        end = time.monotonic() + 90
        while not any(stream.manifests.glob("*.json")):
            assert client.poll() is None, log.read_text()
            assert time.monotonic() < end, "no batch was landed"
            time.sleep(0.01)
        yield client
    finally:
        client.kill()
        client.wait()


def test_a_client_that_dies(connect: Server, tmp_path: Path) -> None:
    stream = TokenStream(tmp_path)
    tokens = stream.write(files=8, each=500)
    with streaming(stream, connect) as client:
        client.kill()
    # Its query goes on at the server until another takes its place.
    tokens += stream.write(files=2, each=500, first=len(tokens))
    report(land(stream, connect))
    assert stream.found() == tokens


def test_a_stream_ends_when_told(connect: Server, tmp_path: Path) -> None:
    stream = TokenStream(tmp_path)
    tokens = stream.write(files=8, each=500)
    with streaming(stream, connect) as client:
        client.terminate()
        assert client.wait(timeout=240) == 0, (tmp_path / "log").read_text()
    assert "Traceback" not in (tmp_path / "log").read_text()
    time.sleep(1)
    landed = stream.found()
    tokens += stream.write(files=1, each=100, first=len(tokens))
    time.sleep(3)
    assert stream.found() == landed, "the query went on"
    report(land(stream, connect))
    assert stream.found() == tokens


def test_what_fails_there_is_told_here(connect: Server, tmp_path: Path) -> None:
    stream = TokenStream(tmp_path)
    stream.write(files=1, each=200)
    for path in stream.inbox.iterdir():
        path.write_text("no message\n" * 200)
    failed = land(stream, connect)
    assert failed.returncode == 2
    assert "100% of batch 0 would be dead letters" in failed.stderr
    assert "Traceback" not in failed.stderr


def test_a_checkpoint_that_the_server_cannot_write_is_refused(
    connect: Server, tmp_path: Path
) -> None:
    """The progress is the server's own, and it has no client for S3."""
    stream = TokenStream(tmp_path)
    stream.write(files=1, each=10)
    with moto.start(tmp_path):
        place = f"s3://{moto.BUCKET}/state"
        failed = land(stream, connect, "--checkpoint", place)
    assert failed.returncode == 2
    assert f"the Spark Connect server cannot keep its progress in {place}" in failed.stderr
    assert "Traceback" not in failed.stderr
