"""Who reaches `serve` and `intake`: hosts and origins by option, and a warning where all do."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path

import pytest

REGISTRY = ("serve", "--db", "sqlite::memory:")
INTAKE = ("intake", "--log", "inbox.log")
APART = ("unshare", "--map-root-user", "--net")
"""A network of its own, so that a server that listens for everybody is reached by nobody."""


@contextmanager
def listening(folder: Path, *command: str, within: tuple[str, ...] = ()) -> Iterator[tuple]:
    """A server with its port, and what it wrote to standard error once it has ended."""
    errors: list[str] = []
    heraldry = (*within, sys.executable, "-m", "heraldry")
    process = subprocess.Popen(
        [*heraldry, *command, "--port", "0", "--format", "json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
    )
    try:
        line = process.stdout.readline()
        assert line, process.communicate()[1]
        yield int(json.loads(line)["url"].rstrip("/").rpartition(":")[2]), errors
    finally:
        process.terminate()
        errors.append(process.communicate(timeout=20)[1])


def status(port: int, method: str, path: str, **headers: str) -> int:
    connection = HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, b"{}", named)
        return connection.getresponse().status
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("command", "path", "done"),
    [
        pytest.param(REGISTRY, "/messagegroups/g", (201, 200, 200, 200), id="serve"),
        pytest.param(INTAKE, "/in", (202, 202, 202, 202), id="intake"),
    ],
)
def test_hosts_and_origins_that_are_allowed(
    tmp_path: Path, command: tuple[str, ...], path: str, done: tuple[int, ...]
) -> None:
    allowed = ("--allow-host", "Registry.example.", "--allow-origin", "https://friend.example")
    typed = {"Content_Type": "application/json"}
    with listening(tmp_path, *command, *allowed) as (port, errors):
        welcome = (
            {},
            {"Host": f"registry.example:{port}"},
            {"Origin": f"http://127.0.0.1:{port}"},
            {"Origin": "https://friend.example"},
        )
        assert tuple(status(port, "PUT", path, **one, **typed) for one in welcome) == done
        foreign = ({"Host": f"evil.example:{port}"}, {"Origin": "http://127.0.0.1:1"})
        assert [status(port, "PUT", path, **one, **typed) for one in foreign] == [403, 403]
        assert status(port, "GET", "/healthz", Host="evil.example") == 403
    assert errors == [""]


@pytest.mark.parametrize("command", [REGISTRY, INTAKE], ids=["serve", "intake"])
@pytest.mark.parametrize(
    ("option", "reason"),
    [
        (("--allow-host", "https://a.example"), "'https://a.example' is no host"),
        (("--allow-host", "a.example:80"), "'a.example:80' is no host"),
        (("--allow-host", "1.2.3.4:80"), "'1.2.3.4:80' is no host"),
        (("--allow-origin", "a.example"), "'a.example' is no origin"),
    ],
)
def test_what_is_no_host_or_origin(
    tmp_path: Path, command: tuple[str, ...], option: tuple[str, ...], reason: str
) -> None:
    heraldry = (sys.executable, "-m", "heraldry")
    done = subprocess.run(
        [*heraldry, *command, *option],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert (done.returncode, reason in done.stderr) == (2, True), done.stderr


@pytest.mark.parametrize(
    ("command", "may"),
    [
        pytest.param(REGISTRY, "read and change everything; listen at 127.0.0.1", id="serve"),
        pytest.param(INTAKE, "send messages; ask for a token (--token-env)", id="intake"),
        pytest.param((*INTAKE, "--token-env", "PATH"), None, id="intake-with-token"),
        pytest.param((*REGISTRY, "--host", "localhost"), None, id="loopback"),
    ],
)
def test_a_server_for_everybody_says_so(
    tmp_path: Path, command: tuple[str, ...], may: str | None
) -> None:
    if shutil.which(APART[0]) is None:
        pytest.skip("unshare is not installed: a server would be reached from outside")
    if subprocess.run([*APART, "true"], capture_output=True, check=False).returncode:
        pytest.skip("unshare cannot make a network: a server would be reached from outside")
    open_to_all = () if "--host" in command else ("--host", "0.0.0.0")
    within = () if "--host" in command else APART
    with listening(tmp_path, *command, *open_to_all, within=within) as (port, errors):
        pass
    expected = f"warning: anybody who reaches 0.0.0.0:{port} may {may}" if may else ""
    assert errors[0].startswith(expected)
    assert errors[0].count("\n") == (1 if may else 0)
