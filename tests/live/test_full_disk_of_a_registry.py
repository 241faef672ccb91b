"""A full disk below a registry: reads and deletes go on, and writes as soon as there is room."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from tests.live.servers.heraldry_serve import end, launch, ready
from tests.live.servers.server import Server

SIZE = "32m"
MOUNT = 'mount -t tmpfs -o size=$0 none "$1" && shift && exec "$@"'
FILL = 1024 * 1024
FILES = 60
TEXT = "x" * 20_000


def own_mounts() -> list[str]:
    """The beginning of a command whose mounts nobody else sees, or a skip."""
    for options in (["-m"], ["-rm"]):
        command = ["unshare", *options, "sh", "-c"]
        probe = [*command, 'mount -t tmpfs none "$0"', "/mnt"]
        if shutil.which("unshare") and not subprocess.run(probe, capture_output=True).returncode:
            return command
    pytest.skip("no file system can be mounted here: run as root, or allow user namespaces")


@dataclass(frozen=True, slots=True, kw_only=True)
class OnDisk:
    """A server whose database is on a small disk, and the disk as others reach it."""

    server: Server
    disk: Path
    process: subprocess.Popen[str]

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        connection = HTTPConnection(self.server.host, self.server.port, timeout=60)
        content = None if body is None else json.dumps(body)
        headers = {"Content-Type": "application/json"} if content else {}
        connection.request(method, path, content, headers)
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        return answer.status, json.loads(data) if data else None

    def fill(self) -> None:
        """Leave no room on the disk."""
        with (self.disk / "filler").open("ab", buffering=0) as filler:
            for size in (FILL, 4096, 1):
                try:
                    while filler.write(b"\1" * size):
                        pass
                except OSError:
                    continue

    def clear(self) -> None:
        """Take away what filled the disk."""
        (self.disk / "filler").unlink()


@contextmanager
def on_disk(folder: Path, earlier: OnDisk | None = None) -> Iterator[OnDisk]:
    """A server on a new disk, or on that of an earlier server that still runs beside."""
    disk = folder / "disk"
    disk.mkdir(exist_ok=True)
    if earlier is None:
        inside = [*own_mounts(), MOUNT, SIZE, str(disk)]
    else:
        inside = ["nsenter", f"--mount=/proc/{earlier.process.pid}/ns/mnt"]
    process = launch(f"sqlite:{disk / 'registry.db'}", folder, inside=inside)
    try:
        server = ready(process, folder)
        reached = Path(f"/proc/{process.pid}/root{disk}")
        yield OnDisk(server=server, disk=reached, process=process)
    finally:
        end(process)


def logged(folder: Path) -> list[str]:
    texts = [log.read_text() for log in sorted(folder.glob("serve.*.log"))]
    return [line for text in texts for line in text.splitlines()]


def stocked(on: OnDisk) -> None:
    for group in ("a", "b"):
        files = {f"f{number}": {"text": TEXT} for number in range(FILES)}
        assert on.ask("PUT", f"/dirs/{group}", {"files": files})[0] == 201


def exhausted(on: OnDisk) -> set[str]:
    """Write until nothing more can be; the files that were acknowledged."""
    on.fill()
    taken: set[str] = set()
    for number in range(2_000):
        status, answer = on.ask("PUT", f"/dirs/c/files/g{number}", {"text": TEXT})
        if status == 507:
            return taken
        assert status in (200, 201), answer
        taken.add(f"g{number}")
    raise AssertionError("the disk is never full")


def test_a_full_disk_refuses_writes_and_lets_deletes_through(tmp_path: Path) -> None:
    with on_disk(tmp_path) as on:
        stocked(on)
        taken = exhausted(on)
        for number in range(10):
            status, problem = on.ask("PUT", f"/dirs/late{number}", {})
            name = problem["type"].removeprefix("urn:heraldry:error:")
            assert (status, name) == (507, "insufficient_storage")
            assert "deletes" in problem["detail"]
        assert on.ask("GET", "/dirs/a/files/f0")[1]["text"] == TEXT
        assert set(on.ask("GET", "/dirs/c/files")[1]) == taken
        for number in range(FILES):
            assert on.ask("DELETE", f"/dirs/a/files/f{number}")[0] == 204
        assert on.ask("DELETE", "/dirs/b")[0] == 204
        assert list(on.ask("GET", "/dirs")[1]) == ["a", "c"]
        on.clear()
        assert on.ask("PUT", "/dirs/later", {})[0] == 201
        stocked_again = on.ask("PUT", "/dirs/b", {"files": {"f0": {"text": TEXT}}})
        assert stocked_again[0] == 201
        assert set(on.ask("GET", "/dirs/c/files")[1]) == taken
    lines = logged(tmp_path)
    assert sum("its disk is full" in line for line in lines) == 1, lines
    assert sum("there is room again" in line for line in lines) == 1, lines
    assert not any("Traceback" in line for line in lines), lines


def test_room_within_the_database_is_room(tmp_path: Path) -> None:
    with on_disk(tmp_path) as on:
        stocked(on)
        exhausted(on)
        assert on.ask("DELETE", "/dirs/a")[0] == 204
        assert on.ask("DELETE", "/dirs/b")[0] == 204
        assert on.ask("DELETE", "/dirs/c")[0] == 204
        assert on.ask("PUT", "/dirs/d/files/f", {"text": TEXT})[0] in (201, 507)
        assert on.ask("GET", "/dirs/a")[0] == 404


def test_a_server_starts_on_a_full_disk(tmp_path: Path) -> None:
    with on_disk(tmp_path) as first:
        stocked(first)
        exhausted(first)
        first.fill()
        with on_disk(tmp_path, first) as second:
            assert second.ask("GET", "/dirs/a/files/f0")[1]["text"] == TEXT
            exhausted(second)
            for number in range(FILES):
                assert second.ask("DELETE", f"/dirs/a/files/f{number}")[0] == 204
            second.clear()
            assert second.ask("PUT", "/dirs/late", {})[0] == 201
