"""The envelope of structured CloudEvents: where each attribute stands, and the text of ``data``.

The event is a line, or the payload of a message. Attributes are texts without escapes. ``data``
is only passed over here, by counting brackets; that it is JSON at all is found out when its
columns are read.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from heraldry.pipeline.kernel.jit import PADDING, byte_at, inlined, kernel
from heraldry.pipeline.kernel.scan import end_of_string, instant, same_bytes, skip_space

# Spelled out: what is compiled must not depend on modules elsewhere.
MEMBERS = (
    *("id", "source", "type", "specversion", "subject", "time", "datacontenttype", "dataschema"),
    "data",
)
"""The members an event of this path may have; the place of each is its number."""
_COUNT = len(MEMBERS)
_ID, _SOURCE, _TYPE, _VERSION, _TIME, _CONTENT, _DATA = (
    MEMBERS.index(name)
    for name in ("id", "source", "type", "specversion", "time", "datacontenttype", "data")
)
ABSENT = -1
"""The length of an attribute that is not there."""


def _names() -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The names with their closing quotes, then two values to compare with; where each begins."""
    parts = [*(f'{name}"' for name in MEMBERS), '1.0"', 'application/json"']
    bounds = np.cumsum([0, *(len(part) for part in parts)], dtype=np.int64)
    text = "".join(parts).encode() + bytes(PADDING)
    return np.frombuffer(text, np.uint8).copy(), bounds


NAMES, BOUNDS = _names()
FOLLOW = np.array([*(range(1, _COUNT)), 0, 0], np.int64)
"""Which member to expect after each, and (at the end) first; learned from the lines read."""


@inlined
def _is_name(buffer: Any, p: int, names: Any, bounds: Any, which: int) -> bool:
    return same_bytes(buffer, p, names, bounds[which], bounds[which + 1] - bounds[which])


@inlined
def _which(buffer: Any, p: int, expected: int, names: Any, bounds: Any) -> int:
    """The number of the member whose name begins at a position, or -1."""
    if _is_name(buffer, p, names, bounds, expected):
        return expected
    for which in range(_COUNT):
        if _is_name(buffer, p, names, bounds, which):
            return which
    return -1


@kernel
def end_of_object(buffer: Any, p: int, end: int) -> int:
    """The position after the object that begins at a position, or -1."""
    depth = 0
    while p < end:
        c = byte_at(buffer, p)
        p += 1
        if c == 34:
            p, _, _ = end_of_string(buffer, p, end)
            if p < 0:
                return p
            p += 1
        elif c == 123 or c == 91:
            depth += 1
        elif c == 125 or c == 93:
            depth -= 1
            if depth == 0:
                return p
    return np.int64(-1)


@inlined
def _value(buffer: Any, p: int, end: int, which: int, row: int, starts: Any, lengths: Any) -> int:
    """Note where the value of a member stands; the position after it, or -1."""
    c = byte_at(buffer, p)
    if which == _DATA:
        if c != 123:
            return np.int64(-1)
        after = end_of_object(buffer, p, end)
        starts[which, row] = p
        lengths[which, row] = after - p
        return after
    if c != 34:
        return np.int64(-1)
    p += 1
    after, _, escapes = end_of_string(buffer, p, end)
    if after < 0 or escapes > 0:
        return np.int64(-1)
    starts[which, row] = p
    lengths[which, row] = after - p
    return after + 1


@inlined
def read_event(
    buffer: Any,
    p: int,
    end: int,
    row: int,
    starts: Any,
    lengths: Any,
    names: Any,
    bounds: Any,
    follow: Any,
) -> int:
    """Note where the members of an event stand; the position after its last bracket, or -1."""
    p = skip_space(buffer, p)
    if byte_at(buffer, p) != 123:
        return np.int64(-1)
    last = _COUNT
    while True:
        p = skip_space(buffer, p + 1)
        if byte_at(buffer, p) != 34:
            return np.int64(-1)
        p += 1
        which = _which(buffer, p, follow[last], names, bounds)
        if which < 0 or lengths[which, row] != ABSENT:
            return np.int64(-1)
        follow[last] = which
        last = which
        p = skip_space(buffer, p + bounds[which + 1] - bounds[which])
        if byte_at(buffer, p) != 58:
            return np.int64(-1)
        p = _value(buffer, skip_space(buffer, p + 1), end, which, row, starts, lengths)
        if p < 0:
            return p
        p = skip_space(buffer, p)
        c = byte_at(buffer, p)
        if c == 125:
            return p + 1
        if c != 44:
            return np.int64(-1)


@inlined
def is_plain_event(
    buffer: Any, row: int, starts: Any, lengths: Any, names: Any, bounds: Any, times: Any
) -> bool:
    """Whether the attributes of an event are as every definition wants them; notes the time."""
    if lengths[_ID, row] < 1 or lengths[_SOURCE, row] < 1 or lengths[_TYPE, row] < 1:
        return False
    if lengths[_DATA, row] < 1 or lengths[_VERSION, row] != 3:
        return False
    if not same_bytes(buffer, starts[_VERSION, row], names, bounds[_COUNT], 3):
        return False
    kind = lengths[_CONTENT, row]
    if kind != ABSENT:
        size = bounds[_COUNT + 2] - bounds[_COUNT + 1] - 1
        text = starts[_CONTENT, row]
        if kind != size or not same_bytes(buffer, text, names, bounds[_COUNT + 1], size):
            return False
    times[row] = 0
    if lengths[_TIME, row] == ABSENT:
        return True
    begin = starts[_TIME, row]
    known, times[row] = instant(buffer, begin, begin + lengths[_TIME, row])
    return bool(known)


@kernel
def read_envelopes(
    buffer: Any,
    offsets: Any,
    starts: Any,
    lengths: Any,
    times: Any,
    good: Any,
    names: Any,
    bounds: Any,
    follow: Any,
) -> None:
    """Read the lines between the offsets that are good so far; ``good`` keeps what is plain."""
    address = np.uintp(names.ctypes.data)
    for row in range(good.shape[0]):
        for which in range(_COUNT):
            lengths[which, row] = ABSENT
        if not good[row]:
            continue
        end = offsets[row + 1]
        p = read_event(buffer, offsets[row], end, row, starts, lengths, address, bounds, follow)
        # White space behind the object may run on into the next line: that is no harm.
        whole = 0 <= p <= end and skip_space(buffer, p) >= end
        good[row] = whole and is_plain_event(buffer, row, starts, lengths, address, bounds, times)
