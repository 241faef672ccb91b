"""What `serve` and `intake` have in common: limits that are given, and the access log."""

from __future__ import annotations

import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from heraldry.cli.serving import OF_CONNECTIONS, read_limits
from heraldry.errors import UsageError
from heraldry.registry.limits import Limits
from tests.cli.served import serving


def fetched(url: str, data: bytes | None = None) -> int:
    try:
        with urllib.request.urlopen(url, data, timeout=20) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        error.close()
        return error.code


def test_a_server_has_an_access_log_and_limits(tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    with serving(tmp_path, "--access-log", str(log), "--server-limit", "body=10") as served:
        assert fetched(f"{served.url}/model?token=abc") == 200
        assert fetched(f"{served.url}/endpoints", b'{"too": "large"}') == 413
    first, second = log.read_text().splitlines()
    assert " 127.0.0.1 GET /model?token=*** 200 " in first
    assert " 127.0.0.1 POST /endpoints 413 " in second


def test_an_access_log_without_a_name_goes_to_standard_error(tmp_path: Path) -> None:
    with serving(tmp_path, "--access-log") as served:
        fetched(served.url)
        served.process.terminate()
        assert " 127.0.0.1 GET / 200 " in served.process.communicate(timeout=20)[1]


def test_an_intake_has_an_access_log(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "heraldry", "intake", "--log", str(tmp_path / "log")]
    command += ["--port", "0", "--access-log", "--server-limit", "bodies=1000000"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        address = process.stdout.readline().split(" ")[2]
        assert fetched(f"{address}/a?key=b", b"x") == 202
    finally:
        process.terminate()
        told = process.communicate(timeout=20)[1]
    assert " 127.0.0.1 POST /a?key=*** 202 0 " in told


def test_limits_are_given_by_name() -> None:
    assert read_limits(["body=10", "patience=0.5"]) == Limits(body=10, patience=0.5)


@pytest.mark.parametrize(
    "text", ["body", "body=", "body=-1", "body=1.5", "size=1", "body=x", "patience=0"]
)
def test_what_is_no_limit_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--server-limit"):
        read_limits([text])


def test_the_intake_takes_only_limits_that_it_has() -> None:
    assert read_limits(["rate=0"], OF_CONNECTIONS) == Limits(rate=0)
    with pytest.raises(UsageError, match="where NAME is one of bodies, patience"):
        read_limits(["inline=1"], OF_CONNECTIONS)
