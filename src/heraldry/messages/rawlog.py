"""The raw log: messages as JSON lines, kept in order before anybody else is told of them.

A folder of segments, each named by the number of its first message (``000000000000.jsonl``), so
the place of a message is a plain number, for ever the same. One process writes
(:mod:`heraldry.messages.rawlog_writer`), any number read:

log = RawLog("log")
for line in log.read(log.begin(), log.end()):
    ...
log.commit("reader", log.end())        # what no reader needs any more is removed
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from zlib import crc32

from heraldry.errors import RawLogError
from heraldry.messages.rawlog_times import read_times, times_path

MARK = "end"
"""The file that says how much is durable; written after every sync."""
SOURCE = "source"
"""The file that says whose messages these are, where there is one source."""
NAME = "name"
"""The file with the name that is the log's own."""
READERS = "readers"

_SUFFIX = ".jsonl"
_CHUNK = 256 * 1024
_LOOKED_AT = 1024 * 1024
_TRIES = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """How much of a log is durable: all messages before ``number``.

    The last segment begins with message ``segment`` and has ``size`` durable bytes.
    """

    number: int = 0
    segment: int = 0
    size: int = 0

    def write(self) -> bytes:
        """The mark as a text of constant length, with a checksum."""
        text = b"%020d %020d %020d" % (self.number, self.segment, self.size)
        return b"%s %010d\n" % (text, crc32(text))

    @classmethod
    def read(cls, text: bytes) -> Mark | None:
        """The mark in a text; None where it was read while it was written."""
        found = text.split()
        if len(found) != 4 or not all(map(bytes.isdigit, found)):
            return None
        number, segment, size, _ = map(int, found)
        mark = cls(number=number, segment=segment, size=size)
        return mark if mark.write() == text else None


_MARK_LENGTH = len(Mark().write())
_MEND = "begin its heraldry intake first: it mends what a power cut has left"
_ANEW = "it was begun anew: so must the job"


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Some lines in a row within one segment; travels by pickle and is read by anyone."""

    path: str
    first: int
    count: int
    begin: int
    end: int

    def lines(self) -> list[bytes]:
        """The lines, without their ends."""
        try:
            with Path(self.path).open("rb") as handle:
                handle.seek(self.begin)
                data = handle.read(self.end - self.begin)
        except FileNotFoundError:
            raise _gone(self.path, self.first) from None
        found = data.split(b"\n")
        if len(found) != self.count + 1 or found.pop():
            told = f"has not the {self.count} messages from {self.first} that it had"
            raise RawLogError(self.path, told, "the file was changed by somebody else")
        return found

    def times(self) -> list[int | None]:
        """When each was taken in, in microseconds; None where that is not known."""
        return read_times(Path(self.path), self.first, self.count)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """Whoever reads a log: its file there, what it calls itself, and the next number it reads."""

    path: str
    place: str
    read: int

    def __str__(self) -> str:
        named = f"the job with the checkpoint {self.place}" if self.place else "a reader"
        return f"{named}; if it never comes back, remove {self.path}"


class RawLog:
    """A log to read from; may be used while another process writes it."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder).absolute()
        self._indexes: dict[int, _Index] = {}

    def begin(self) -> int:
        """The number of the first message that is still there."""
        return next(iter(segments(self.folder)), 0)

    def end(self) -> int:
        """How many messages were ever made durable: the number of the next one."""
        return read_mark(self.folder).number

    def source(self) -> str | None:
        """Whose messages these are, where the writer has said it."""
        return self._said(SOURCE)

    def name(self) -> str | None:
        """The name that its first writer gave it, and no other log has; None before that."""
        return self._said(NAME)

    def check_name(self, name: str) -> None:
        """RawLogError where this is not the log of a name: its numbers are those of others."""
        if self.name() != name:
            told = f"is not the log {name}, which was read before"
            raise RawLogError(str(self.folder), told, _ANEW)

    def read(self, begin: int, end: int) -> Iterator[bytes]:
        """The messages of a range, in order; RawLogError where some are not there."""
        for piece in self.pieces(begin, end, _CHUNK):
            yield from piece.lines()

    def pieces(self, begin: int, end: int, size: int | None = None) -> list[Piece]:
        """A range in pieces of about ``size`` bytes; without it one for each segment."""
        if begin == end:
            return []
        if begin > end:
            raise _gone(str(self.folder), end)
        mark, known = read_mark(self.folder), segments(self.folder)
        if end > mark.number:
            raise self.ended(end, f"has {mark.number} messages, and not yet {end}")
        if not known or begin < known[0]:
            raise _gone(str(self.folder), begin)
        found: list[Piece] = []
        for first, after in zip(known, (*known[1:], mark.number), strict=True):
            if begin < after and first < end:
                bytes_of = mark.size if first == mark.segment else None
                index = self._index(first)
                found += index.pieces(max(begin, first), min(end, after), size, bytes_of)
        for forgotten in self._indexes.keys() - set(known):
            del self._indexes[forgotten]
        return found

    def progress(self, reader: str) -> tuple[int, int]:
        """How far a reader is: what it has done with for ever, and what it has read."""
        try:
            text = (self.folder / READERS / reader).read_text()
            committed, read = text.split(maxsplit=2)[:2]
            return int(committed), int(read)
        except (FileNotFoundError, ValueError):
            return self.begin(), self.begin()

    def advance(self, reader: str, committed: int, read: int, place: str | None = None) -> None:
        """Note how far a reader is. Lost in a crash it is only late, so it is not flushed.

        ``place`` says to people which reader it is; it stays until another is given.
        """
        path = self.folder / READERS / reader
        path.parent.mkdir(exist_ok=True)
        if place is None:
            place = self._reader(reader).place
        draft = path.with_name(f".{reader}.{os.getpid()}")
        draft.write_text(f"{committed} {max(committed, read)}\n{place}\n")
        draft.replace(path)

    def rename(self, old: str, new: str) -> None:
        """Give a reader a new name, once; until its next commit all that is there is kept for it.

        What it had committed is not trusted: two readers may have had the old name.
        """
        folder = self.folder / READERS
        if (folder / new).exists():
            return
        with suppress(FileNotFoundError):
            (folder / old).replace(folder / new)
        self.advance(new, self.begin(), self.progress(new)[1])

    def commit(self, reader: str, number: int) -> None:
        """A reader needs nothing before ``number``; what nobody needs is removed.

        One step behind: what the commit before this one was about. The same number again is no
        step: a reader whose progress is kept elsewhere may have to go back to the last one.
        """
        before, read = self.progress(reader)
        self.advance(reader, number, read)
        if before < number:
            self.purge(before)

    def unread(self) -> int:
        """How many messages the slowest reader has still to read; all, where nobody reads."""
        slowest = self.slowest()
        return self.end() - (self.begin() if slowest is None else slowest.read)

    def slowest(self) -> Reader | None:
        """The reader that has read least; None where nobody reads."""
        return min(map(self._reader, self._readers()), key=lambda one: one.read, default=None)

    def ended(self, number: int, told: str) -> RawLogError:
        """Why message ``number`` is asked for and the log ends before it.

        What was read was flushed before, the mark was not: after a power cut the messages are
        there, and only whoever opens the log to write counts them again.
        """
        advice = _ANEW
        last = segments(self.folder)[-1:]
        if last:
            with segment_path(self.folder, last[0]).open("rb", buffering=0) as handle:
                there = last[0] + whole_lines(handle.fileno(), 0)[0]
            advice = _MEND if there >= number else advice
        return RawLogError(str(self.folder), told, advice)

    def purge(self, before: int) -> None:
        """Remove segments with messages before a number only, and before every reader's."""
        before = min([before, *(self.progress(name)[0] for name in self._readers())])
        known = segments(self.folder)
        for first, after in pairwise(known):
            if after > before:
                return
            path = segment_path(self.folder, first)
            path.unlink(missing_ok=True)
            times_path(path).unlink(missing_ok=True)

    def _said(self, name: str) -> str | None:
        try:
            return (self.folder / name).read_text().strip()
        except FileNotFoundError:
            return None

    def _reader(self, name: str) -> Reader:
        path = self.folder / READERS / name
        try:
            place = path.read_text().partition("\n")[2].strip()
        except FileNotFoundError:
            place = ""
        return Reader(path=str(path), place=place, read=self.progress(name)[1])

    def _readers(self) -> list[str]:
        try:
            names = [path.name for path in (self.folder / READERS).iterdir()]
        except FileNotFoundError:
            return []
        return [name for name in names if not name.startswith(".")]

    def _index(self, first: int) -> _Index:
        if first not in self._indexes:
            self._indexes[first] = _Index(segment_path(self.folder, first), first)
        return self._indexes[first]


class _Index:
    """Where the lines of a segment begin: every so many bytes, found by reading it once."""

    def __init__(self, path: Path, first: int) -> None:
        self._path = str(path)
        self._numbers, self._offsets = [first], [0]

    def pieces(self, begin: int, end: int, size: int | None, limit: int | None) -> list[Piece]:
        """The pieces of a range; nothing behind the byte ``limit`` is looked at."""
        try:
            with Path(self._path).open("rb", buffering=0) as handle:
                self._grow(handle.fileno(), end, limit)
                cuts = [self._place(handle.fileno(), begin)]
                last = self._place(handle.fileno(), end)
        except FileNotFoundError:
            raise _gone(self._path, begin) from None
        if size is not None:
            low = bisect_right(self._numbers, begin)
            for number, offset in zip(self._numbers[low:], self._offsets[low:], strict=True):
                if number >= end:
                    break
                if offset - cuts[-1][1] >= size:
                    cuts.append((number, offset))
        cuts.append(last)
        return [
            Piece(path=self._path, first=number, count=after - number, begin=offset, end=stop)
            for (number, offset), (after, stop) in pairwise(cuts)
        ]

    def _grow(self, handle: int, number: int, limit: int | None) -> None:
        """Read on until the line of a number is behind us."""
        wanted = _CHUNK
        while self._numbers[-1] < number:
            offset = self._offsets[-1]
            room = wanted if limit is None else min(wanted, limit - offset)
            data = os.pread(handle, max(0, room), offset)
            lines = data.count(b"\n")
            if lines:
                self._numbers.append(self._numbers[-1] + lines)
                self._offsets.append(offset + data.rfind(b"\n") + 1)
                wanted = _CHUNK
            elif len(data) < wanted:
                told = f"ends before message {number}"
                raise RawLogError(self._path, told, "the file was changed by somebody else")
            else:
                wanted *= 2

    def _place(self, handle: int, number: int) -> tuple[int, int]:
        """The byte that the line of a number begins at."""
        at = bisect_right(self._numbers, number) - 1
        offset, rest = self._offsets[at], number - self._numbers[at]
        if rest:
            data = os.pread(handle, self._offsets[at + 1] - offset, offset)
            place = 0
            for _ in range(rest):
                place = data.index(b"\n", place) + 1
            offset += place
        return number, offset


def read_mark(folder: Path) -> Mark:
    """How much of a log is durable; nothing where it has not begun."""
    for _ in range(_TRIES):
        try:
            text = (folder / MARK).read_bytes()[:_MARK_LENGTH]
        except FileNotFoundError:
            return Mark()
        mark = Mark.read(text) if text else Mark()
        if mark is not None:
            return mark
    advice = _MEND if segments(folder) else "is this the folder of a raw log?"
    raise RawLogError(str(folder / MARK), "cannot be read", advice)


def segments(folder: Path) -> list[int]:
    """The numbers of the segments that are there, in order."""
    try:
        names = [path.name for path in folder.iterdir()]
    except FileNotFoundError:
        return []
    numbers = [name.removesuffix(_SUFFIX) for name in names if name.endswith(_SUFFIX)]
    return sorted(int(number) for number in numbers if number.isdigit())


def whole_lines(handle: int, offset: int) -> tuple[int, int]:
    """How many whole lines there are behind an offset, and their bytes.

    After a power cut a file may have blocks that were never written: no line has null characters.
    """
    lines = length = 0
    tail = b""
    while data := os.pread(handle, _LOOKED_AT, offset + length + len(tail)):
        tail += data
        torn = tail.find(b"\0")
        whole = tail[: tail.rfind(b"\n", 0, torn if torn >= 0 else len(tail)) + 1]
        lines += whole.count(b"\n")
        length += len(whole)
        if torn >= 0:
            break
        tail = tail[len(whole) :]
    return lines, length


def segment_path(folder: Path, first: int) -> Path:
    """The file of the segment that begins with a message."""
    return folder / f"{first:012d}{_SUFFIX}"


def _gone(path: str, number: int) -> RawLogError:
    told = f"the messages from {number} on are not there any more"
    return RawLogError(path, told, "they were removed, although this reader still needs them")
