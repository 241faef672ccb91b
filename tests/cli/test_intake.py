"""`heraldry intake` as a process: killed or told to end, what it acknowledged is in its log."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from heraldry.messages.rawlog import RawLog


def start(folder: Path, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "heraldry", "intake", "--log", str(folder)]
    return subprocess.Popen(
        [*command, "--port", "0", "--format", "json", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | environment,
    )


@contextmanager
def taking(folder: Path, *arguments: str, **environment: str) -> Iterator[tuple[str, dict]]:
    process = start(folder, *arguments, **environment)
    try:
        said = process.stdout.readline()
        assert said, process.communicate()[1]
        yield json.loads(said)["url"], json.loads(said)
        process.terminate()
        assert process.wait(timeout=20) == 0
    finally:
        process.kill()
        process.communicate(timeout=20)


def post(url: str, body: bytes, **headers: str) -> int:
    try:
        with urlopen(Request(f"{url}/in", body, headers), timeout=20) as reply:
            return reply.status
    except HTTPError as error:
        error.close()
        return error.code


def test_messages_are_kept_from_run_to_run(tmp_path):
    log = tmp_path / "log"
    with taking(log) as (url, said):
        assert said == {"url": url, "log": str(log), "messages": 0}
        assert [post(url, b"%d" % number) for number in range(3)] == [202] * 3
    with taking(log) as (url, said):
        assert said["messages"] == 3
        assert post(url, b"3") == 202
    kept = [json.loads(line)["payload"] for line in RawLog(log).read(0, 4)]
    assert kept == [0, 1, 2, 3]


def test_a_token_from_the_environment(tmp_path):
    with taking(tmp_path, "--token-env", "DOOR", DOOR="open") as (url, _):
        assert post(url, b"1") == 401
        assert post(url, b"1", Authorization="Bearer open") == 202


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        pytest.param(["--token-env", "NO_SUCH"], "NO_SUCH holds no token", id="no-token"),
        pytest.param(["--from", "kafka://b:9092/t"], "needs no intake", id="replayable"),
        pytest.param(["--from", "mqtt://127.0.0.1:1/a"], "is the broker running", id="no-broker"),
        pytest.param(["--source-option", "a=b"], "those of a broker", id="option-without-broker"),
    ],
)
def test_what_cannot_be(tmp_path, arguments, told):
    process = start(tmp_path, *arguments)
    _, errors = process.communicate(timeout=30)
    assert (process.returncode, told in errors) == (2, True), errors


def test_a_second_writer_is_refused(tmp_path):
    with taking(tmp_path):
        process = start(tmp_path)
        _, errors = process.communicate(timeout=30)
        assert process.returncode == 2
        assert "another process writes this log" in errors
