"""Writing the raw log: one process, whole groups of messages, durable before anybody hears of it.

with RawLogWriter("log") as log:
    log.append(lines)
    log.sync()              # now they survive a crash, and may be acknowledged
"""

from __future__ import annotations

import fcntl
import os
import time
import uuid
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from heraldry.errors import RawLogError
from heraldry.messages.rawlog import MARK, NAME, SOURCE, Mark, segment_path, segments, whole_lines
from heraldry.messages.rawlog_times import time_record, times_path, whole_records
from heraldry.messages.source_url import normal_source

_LOCK = "lock"


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentLimits:
    """When a new segment is begun: what has so many bytes or messages is full."""

    size: int = 64 * 1024 * 1024
    messages: int = 100_000


class RawLogWriter:
    """The one writer of a log, as long as it is open; what was torn by a crash is cut off.

    ``source`` says whose messages they are: a log has one source for ever, or none that is named.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        source: str | None = None,
        limits: SegmentLimits | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.folder = Path(folder).absolute()
        self.syncs = 0
        self._source, self._limits = source, limits or SegmentLimits()
        self._clock = clock
        self._held: list[bytes] = []
        self._lock = self._file = self._times = self._mark = -1
        self._segment = self._size = self._number = 0
        self._torn = False  # whether something may stand behind the last group

    def __enter__(self) -> Self:
        try:
            self._open()
        except OSError as error:
            self.close()
            raise self._failed(error) from None
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def name(self) -> str:
        """A short name that is this log's own, on whatever machine: made once, at random."""
        return (self.folder / NAME).read_text().strip()

    @property
    def end(self) -> int:
        """How many messages are durable."""
        return self._number

    def append(self, lines: Iterable[bytes]) -> None:
        """Hold lines, which have no line end and no null character, for the next sync."""
        self._held += lines

    def sync(self) -> int:
        """Make all durable that is held; the number of messages that now are.

        RawLogError where the disk does not take it: then nothing of it is kept, and what is
        appended afterwards may be tried again.
        """
        lines, self._held = self._held, []
        if not lines:
            return self._number
        data = b"\n".join(lines) + b"\n"
        if data.count(b"\n") != len(lines) or b"\0" in data:
            raise RawLogError(str(self.folder), "a line has a line end or a null character in it")
        try:
            self._mend()
            if self._is_full():
                self._begin(self._number)
            _write_all(self._times, time_record(self._number, int(self._clock() * 1e6)))
            self._torn = True
            _write_all(self._file, data)
            os.fsync(self._file)
            self._note(self._number + len(lines), self._size + len(data))
        except OSError as error:
            with suppress(OSError):  # what fails is tried again before anything is written
                self._mend()
            raise self._failed(error) from None
        self._torn = False
        self.syncs += 1
        return self._number

    def close(self) -> None:
        """Let another process write; what was not synced is forgotten."""
        for handle in (self._file, self._times, self._mark, self._lock):
            if handle >= 0:
                os.close(handle)
        self._file = self._times = self._mark = self._lock = -1
        self._held = []

    def _open(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._lock = os.open(self.folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            told, advice = "another process writes this log", "end it, or name another folder"
            raise RawLogError(str(self.folder), told, advice) from None
        self._own()
        self._mark = os.open(self.folder / MARK, os.O_RDWR | os.O_CREAT, 0o644)
        known = segments(self.folder)
        if known:
            self._recover(known[-1])
        else:
            self._begin(self._noted().number)
            self._note(self._segment, 0)

    def _own(self) -> None:
        """Give a new log its name, and refuse one that holds the messages of another source."""
        if not (self.folder / NAME).exists():
            self._write_once(NAME, uuid.uuid4().hex[:12])
        if self._source is None:
            return
        path = self.folder / SOURCE
        if not path.exists():
            self._write_once(SOURCE, self._source)
        elif normal_source(held := path.read_text().strip()) != normal_source(self._source):
            told = f"this log holds the messages of {held}"
            advice = f"name another folder for {self._source}; if that is where it has moved to"
            raise RawLogError(str(self.folder), told, f"{advice}, write it into {path}")

    def _write_once(self, name: str, text: str) -> None:
        draft = self.folder / f".{name}"
        with draft.open("w") as handle:
            handle.write(f"{text}\n")
            handle.flush()
            os.fsync(handle.fileno())
        draft.replace(self.folder / name)

    def _recover(self, segment: int) -> None:
        """Take up the last segment: whole lines count, also where nobody was told of them."""
        mark = self._noted()
        if mark.segment != segment:
            mark = Mark(number=segment, segment=segment)
        path = segment_path(self.folder, segment)
        self._file = os.open(path, os.O_RDWR)
        self._times = os.open(times_path(path), os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        os.ftruncate(self._times, whole_records(os.fstat(self._times).st_size))
        size = os.fstat(self._file).st_size
        if size < mark.size:
            told = f"segment {segment} has lost {mark.size - size} bytes that were durable"
            raise RawLogError(str(self.folder), told, "take it back from where it is kept safe")
        lines, length = whole_lines(self._file, mark.size)
        self._segment, self._size = segment, mark.size + length
        os.ftruncate(self._file, self._size)
        os.lseek(self._file, self._size, os.SEEK_SET)
        os.fsync(self._file)
        self._note(mark.number + lines, self._size)

    def _noted(self) -> Mark:
        """What the last writer noted; nothing where a power cut has spoilt that."""
        return Mark.read(os.pread(self._mark, len(Mark().write()), 0)) or Mark()

    def _is_full(self) -> bool:
        count = self._number - self._segment
        return count > 0 and (self._size >= self._limits.size or count >= self._limits.messages)

    def _begin(self, number: int) -> None:
        """Begin a segment; its name must be durable as well."""
        path = segment_path(self.folder, number)
        flags = os.O_RDWR | os.O_CREAT | os.O_TRUNC
        with ExitStack() as opened:
            file = os.open(path, flags, 0o644)
            opened.callback(os.close, file)
            times = os.open(times_path(path), flags | os.O_APPEND, 0o644)
            opened.callback(os.close, times)
            folder = os.open(self.folder, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
            opened.pop_all()  # all is well: they stay open
        for handle in (self._file, self._times):
            if handle >= 0:
                os.close(handle)
        self._file, self._times = file, times
        self._segment, self._size, self._number = number, 0, number

    def _note(self, number: int, size: int) -> None:
        """Tell readers how much is durable; late is no harm, so this is not flushed."""
        os.pwrite(self._mark, Mark(number=number, segment=self._segment, size=size).write(), 0)
        self._number, self._size = number, size

    def _mend(self) -> None:
        """Leave the segment as it was: a half written group is nobody's, and hides the next."""
        if self._torn:
            os.ftruncate(self._file, self._size)
            os.lseek(self._file, self._size, os.SEEK_SET)
            self._torn = False

    def _failed(self, error: OSError) -> RawLogError:
        told = f"cannot be written: {error.strerror or error}"
        return RawLogError(str(self.folder), told, "make room, or give the right to write")


def _write_all(handle: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(handle, rest) :]
