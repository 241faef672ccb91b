"""When the messages of a raw log were taken in: beside each segment, one record for each group.

A record says the number of a group's first message and the time in microseconds. It is not flushed:
a message whose record a power cut took has the time of the group before it, or none.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from operator import itemgetter
from pathlib import Path

_RECORD = struct.Struct("<qq")
_SUFFIX = ".times"


def times_path(segment: Path) -> Path:
    """The file beside a segment."""
    return segment.with_suffix(_SUFFIX)


def time_record(number: int, microseconds: int) -> bytes:
    """What is appended for a group."""
    return _RECORD.pack(number, microseconds)


def whole_records(size: int) -> int:
    """How many bytes of a file are whole records."""
    return size - size % _RECORD.size


def read_times(segment: Path, first: int, count: int) -> list[int | None]:
    """The times of some messages of a segment; None where none is known."""
    try:
        data = times_path(segment).read_bytes()
    except FileNotFoundError:
        return [None] * count
    records = _RECORD.iter_unpack(data[: whole_records(len(data))])
    # Of a group that was tried again the last record counts; a block never written has no time.
    known = sorted((one for one in records if one[1] > 0), key=itemgetter(0))
    at = bisect_right(known, first, key=itemgetter(0))
    found: list[int | None] = []
    time = known[at - 1][1] if at else None
    for number, later in known[at:]:
        if number >= first + count:
            break
        found += [time] * (number - first - len(found))
        time = later
    return found + [time] * (count - len(found))
