"""One pass over payloads: parsed, validated and written into columns at once.

A row is accepted, or it is undecided and leaves no trace. Positions below zero say undecided.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from heraldry.pipeline.kernel import tables as t
from heraldry.pipeline.kernel.jit import byte_at, inlined, kernel
from heraldry.pipeline.kernel.scan import (
    POWERS,
    end_of_string,
    instant,
    is_word,
    number,
    same_bytes,
    skip_space,
)

_NODE, _SEEN, _SLOT, _BEGUN = range(4)  # what is known of an object or list that is open
LEVELS = 64
"""So many objects and lists may be open at once."""
_UNDECIDED = np.int64(-1)
_EXACT = 2**53
_POWERS = 22
_FAR = 280  # no number with a smaller exponent is out of range

_KIND, _NULLABLE, _FIRST, _COUNT, _OPEN = t.KIND, t.NULLABLE, t.FIRST, t.COUNT, t.OPEN
_KEY, _KEY_SIZE, _BASE, _CAPACITY = t.KEY, t.KEY_SIZE, t.BASE, t.CAPACITY
_SHORTEST, _LONGEST, _CHOICE, _CHOICES = t.SHORTEST, t.LONGEST, t.CHOICE, t.CHOICES
_BELOW, _NEEDED = t.BELOW, t.NEEDED
_TEXT, _INSTANT, _INTEGER, _NUMBER = t.TEXT, t.INSTANT, t.INTEGER, t.NUMBER
_BOOLEAN, _RECORD, _LIST = t.BOOLEAN, t.RECORD, t.LIST


class Output(NamedTuple):
    """Where values go: every node has its part of ``whole``, ``real``, ``length``, ``valid``.

    ``whole`` and ``real`` are the same memory: whole numbers, instants, where texts begin, or
    where lists end. A negative ``length`` is that of a text with escapes.
    """

    whole: Any
    real: Any
    length: Any
    valid: Any
    count: Any
    saved: Any
    full: Any


@inlined
def _place(node: int, tables: Any, out: Any) -> int:
    """Where the next value of a node goes, or -1: there is no more room."""
    count = out.count[node]
    if count >= tables.nodes[node, _CAPACITY]:
        out.full[0] = 1
        return _UNDECIDED
    out.count[node] = count + 1
    return tables.nodes[node, _BASE] + count


@inlined
def _put_null(node: int, tables: Any, out: Any) -> bool:
    """Write null for a node and the members below it."""
    place = tables.nodes[node, _BELOW]
    while tables.below[place] >= 0:
        below = tables.below[place]
        i = _place(below, tables, out)
        if i < 0:
            return False
        out.valid[i] = 0
        out.length[i] = 0
        out.whole[i] = 0
        if tables.nodes[below, _KIND] == _LIST:
            out.whole[i] = out.count[tables.children[tables.nodes[below, _FIRST]]]
        place += 1
    return True


@inlined
def _close_record(node: int, seen: int, tables: Any, out: Any) -> bool:
    needed = tables.nodes[node, _NEEDED]
    if (seen & needed) != needed:
        return False
    count = tables.nodes[node, _COUNT]
    if seen != (np.int64(1) << count) - 1:
        first = tables.nodes[node, _FIRST]
        for j in range(count):
            absent = ((seen >> j) & 1) == 0
            if absent and not _put_null(tables.children[first + j], tables, out):
                return False
    i = _place(node, tables, out)
    if i < 0:
        return False
    out.valid[i] = 1
    return True


@inlined
def _close_list(node: int, items: int, tables: Any, out: Any) -> bool:
    longest = tables.nodes[node, _LONGEST]
    if items < tables.nodes[node, _SHORTEST] or (longest >= 0 and items > longest):
        return False
    i = _place(node, tables, out)
    if i < 0:
        return False
    out.valid[i] = 1
    out.whole[i] = out.count[tables.children[tables.nodes[node, _FIRST]]]
    return True


@inlined
def _lookup(buffer: Any, p: int, size: int, node: int, tables: Any, texts: Any) -> int:
    """Which member of a record has this name, or -1."""
    first = tables.nodes[node, _FIRST]
    for j in range(tables.nodes[node, _COUNT]):
        child = tables.children[first + j]
        if tables.nodes[child, _KEY_SIZE] == size and same_bytes(
            buffer, p, texts, tables.nodes[child, _KEY], size
        ):
            return j
    return -1


@inlined
def _key(buffer: Any, p: int, end: int, frame: Any, tables: Any, texts: Any) -> tuple[int, int]:
    """The position of the value of a member whose name begins at ``p``; its node, or -1."""
    node, slot = frame[_NODE], frame[_SLOT]
    first = tables.nodes[node, _FIRST]
    j = tables.follow[slot]
    child = tables.children[first + j]
    size = tables.nodes[child, _KEY_SIZE]
    if same_bytes(buffer, p, texts, tables.nodes[child, _KEY], size + 1):
        p += size + 1
    else:
        after, _, escapes = end_of_string(buffer, p, end)
        if after < 0 or escapes > 0:
            return _UNDECIDED, -1
        j = _lookup(buffer, p, after - p, node, tables, texts)
        p = after + 1
        if j >= 0:
            tables.follow[slot] = j
    p = skip_space(buffer, p)
    if byte_at(buffer, p) != 58:
        return _UNDECIDED, -1
    p = skip_space(buffer, p + 1)
    if j < 0:
        return p if tables.nodes[node, _OPEN] else _UNDECIDED, -1
    bit = np.int64(1) << j
    if frame[_SEEN] & bit:
        return _UNDECIDED, -1
    frame[_SEEN] |= bit
    frame[_SLOT] = first + j
    return p, tables.children[first + j]


@inlined
def _skip_scalar(buffer: Any, p: int, end: int) -> int:
    """The position after a value nobody asked for; objects and lists are undecided."""
    c = byte_at(buffer, p)
    if c == 34:
        after, _, _ = end_of_string(buffer, p + 1, end)
        return after + 1 if after >= 0 else _UNDECIDED
    size = is_word(buffer, p, c)
    if size > 0:
        return p + size
    after, _, exponent, _, _ = number(buffer, p)
    return after if -_FAR < exponent < _FAR else _UNDECIDED


@inlined
def _is_choice(buffer: Any, p: int, size: int, node: int, tables: Any, texts: Any) -> bool:
    first = tables.nodes[node, _CHOICE]
    for place in range(first, first + tables.nodes[node, _CHOICES]):
        begin = tables.choices[place]
        if tables.choices[place + 1] - begin == size and same_bytes(buffer, p, texts, begin, size):
            return True
    return False


@inlined
def _text(
    buffer: Any, p: int, end: int, node: int, i: int, tables: Any, texts: Any, out: Any
) -> int:
    """Read a text or an instant whose first character is at ``p``."""
    after, continuing, escapes = end_of_string(buffer, p, end)
    if after < 0:
        return _UNDECIDED
    size = after - p
    characters = size - continuing - escapes
    longest = tables.nodes[node, _LONGEST]
    if characters < tables.nodes[node, _SHORTEST] or (longest >= 0 and characters > longest):
        return _UNDECIDED
    if tables.nodes[node, _CHOICES] > 0 and (
        escapes > 0 or not _is_choice(buffer, p, size, node, tables, texts)
    ):
        return _UNDECIDED
    if tables.nodes[node, _KIND] == _INSTANT:
        known, moment = instant(buffer, p, after)
        if not known:
            return _UNDECIDED
        out.whole[i] = moment
    else:
        out.whole[i] = p
        out.length[i] = -size if escapes > 0 else size
    return after + 1


@inlined
def _number(buffer: Any, p: int, node: int, i: int, tables: Any, out: Any, powers: Any) -> int:
    after, mantissa, exponent, integer, negative = number(buffer, p)
    if after < 0:
        return _UNDECIDED
    if tables.nodes[node, _KIND] == _INTEGER:
        whole = -mantissa if negative else mantissa
        if not integer or whole < tables.low[node] or whole > tables.high[node]:
            return _UNDECIDED
        out.whole[i] = whole
        return after
    # Both are exact then, so that one operation rounds rightly.
    if mantissa > _EXACT or exponent < -_POWERS or exponent > _POWERS:
        return _UNDECIDED
    real = np.float64(mantissa)
    if exponent < 0:
        real = real / powers[-exponent]
    elif exponent > 0:
        real = real * powers[exponent]
    if negative and not (integer and mantissa == 0):  # an integer -0 is 0
        real = -real
    if real < tables.least[node] or real > tables.most[node]:
        return _UNDECIDED
    out.real[i] = real
    return after


@inlined
def _scalar(
    buffer: Any, p: int, end: int, node: int, tables: Any, texts: Any, out: Any, powers: Any
) -> int:
    """Read a value that holds no others; the position after it."""
    c = byte_at(buffer, p)
    kind = tables.nodes[node, _KIND]
    if c == 110:
        if not tables.nodes[node, _NULLABLE] or is_word(buffer, p, c) == 0:
            return _UNDECIDED
        return p + 4 if _put_null(node, tables, out) else _UNDECIDED
    i = _place(node, tables, out)
    if i < 0:
        return i
    out.valid[i] = 1
    if kind <= _INSTANT:
        if c != 34:
            return _UNDECIDED
        return _text(buffer, p + 1, end, node, i, tables, texts, out)
    if kind <= _NUMBER:
        return _number(buffer, p, node, i, tables, out, powers)
    if kind != _BOOLEAN or (c != 116 and c != 102):
        return _UNDECIDED
    size = is_word(buffer, p, c)
    out.whole[i] = 1 if c == 116 else 0
    return p + size if size > 0 else _UNDECIDED


@inlined
def _enter(frame: Any, node: int, tables: Any) -> None:
    frame[_NODE] = node
    frame[_SEEN] = 0
    frame[_SLOT] = tables.nodes[node, _FIRST] + tables.nodes[node, _COUNT]
    frame[_BEGUN] = 0


@inlined
def _payload(
    buffer: Any, p: int, end: int, tables: Any, texts: Any, out: Any, frames: Any, powers: Any
) -> int:
    """Read one payload; the position after it."""
    p = skip_space(buffer, p)
    if byte_at(buffer, p) != 123:
        return _UNDECIDED
    depth = 0
    _enter(frames[0], 0, tables)
    p += 1
    while depth >= 0:
        frame = frames[depth]
        node = frame[_NODE]
        record = tables.nodes[node, _KIND] == _RECORD
        p = skip_space(buffer, p)
        c = byte_at(buffer, p)
        if c == (125 if record else 93):
            if record and not _close_record(node, frame[_SEEN], tables, out):
                return _UNDECIDED
            if not record and not _close_list(node, frame[_SEEN], tables, out):
                return _UNDECIDED
            p += 1
            depth -= 1
            continue
        if frame[_BEGUN]:
            if c != 44:
                return _UNDECIDED
            p = skip_space(buffer, p + 1)
        frame[_BEGUN] = 1
        if record:
            if byte_at(buffer, p) != 34:
                return _UNDECIDED
            p, child = _key(buffer, p + 1, end, frame, tables, texts)
            if p >= 0 and child < 0:
                p = _skip_scalar(buffer, p, end)
                if p >= 0:
                    continue
            if p < 0:
                return _UNDECIDED
        else:
            frame[_SEEN] += 1
            child = tables.children[tables.nodes[node, _FIRST]]
        opening = 123 if tables.nodes[child, _KIND] == _RECORD else 91
        if tables.nodes[child, _KIND] >= _RECORD and byte_at(buffer, p) == opening:
            depth += 1
            if depth >= LEVELS:
                return _UNDECIDED
            _enter(frames[depth], child, tables)
            p += 1
            continue
        p = _scalar(buffer, p, end, child, tables, texts, out, powers)
        if p < 0:
            return _UNDECIDED
    return p


@kernel
def parse_rows(
    buffer: Any,
    starts: Any,
    lengths: Any,
    tables: Any,
    out: Any,
    frames: Any,
    verdict: Any,
    powers: Any,
) -> None:
    """Read payloads one after the other; ``verdict`` says which are accepted."""
    texts = np.uintp(tables.texts.ctypes.data)
    for row in range(verdict.shape[0]):
        for node in range(out.count.shape[0]):
            out.saved[node] = out.count[node]
        end = starts[row] + lengths[row]
        p = _payload(buffer, starts[row], end, tables, texts, out, frames, powers)
        verdict[row] = 0 <= p <= end and skip_space(buffer, p) >= end
        if not verdict[row]:
            for node in range(out.count.shape[0]):
                out.count[node] = out.saved[node]


__all__ = ["LEVELS", "POWERS", "Output", "parse_rows"]
