"""Messages of protocols that are no events: where each member of the metadata stands.

A line is ``{"protocol", "metadata", "payload"}`` in any order but that the protocol comes before
its metadata. Texts have no escapes; ``payload`` is an object and only passed over here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from heraldry.pipeline.kernel import protocols as p_
from heraldry.pipeline.kernel.envelope import ABSENT, end_of_object
from heraldry.pipeline.kernel.jit import byte_at, inlined, kernel
from heraldry.pipeline.kernel.named_values import NOT, is_at, plain_text, read_named
from heraldry.pipeline.kernel.scan import is_word, number, same_bytes, skip_space

_PROTOCOLS = len(p_.PROTOCOLS)
_PROTOCOL, _METADATA, _PAYLOAD, _NAME, _VALUE, _FIRST = range(6)  # of the words in the tables
_JSON = _FIRST + _PROTOCOLS
_EVENT = _JSON + 1
_MQTT_OLD, _NATS = p_.PROTOCOLS.index("MQTT/3.1.1"), p_.PROTOCOLS.index("NATS")
_AT, _SIZE, _SLOT, _FORM, _LIMIT = p_.AT, p_.SIZE, p_.SLOT, p_.FORMS, p_.LIMIT
_TEXT, _TOPIC, _SUBJECT, _PATH, _METHOD = p_.TEXT, p_.TOPIC, p_.SUBJECT, p_.PATH, p_.METHOD
_WHOLE, _TRUTH, _NAMED = p_.WHOLE, p_.TRUTH, p_.NAMED
_CONTENT, _BODY = p_.CONTENT, p_.PAYLOAD


@kernel
def _allowed(buffer: Any, p: int, end: int, form: int) -> bool:
    """Whether a text is one that the protocol allows; what is unusual is left to the judge."""
    if form == _TEXT:
        return True
    if p >= end:
        return False
    before = 46
    while p < end:
        c = byte_at(buffer, p)
        if form == _TOPIC:
            if c == 43 or c == 35:
                return False
        elif form == _PATH:
            if c == 63 or c == 35:
                return False
        elif form == _METHOD:
            if c < 65 or c > 90:
                return False
        elif c < 33 or c > 126 or c == 42 or c == 62 or (c == 46 and before == 46):
            return False
        before = np.int64(c)
        p += 1
    return form != _SUBJECT or before != 46


@inlined
def _scalar(buffer: Any, p: int, end: int, member: Any, row: int, starts: Any, lengths: Any) -> int:
    """Note where a plain value stands; null is none. The position after it, or -1."""
    form = member[_FORM]
    c = byte_at(buffer, p)
    if c == 110:
        return p + 4 if is_word(buffer, p, c) else NOT
    begin = p
    if form == _WHOLE:
        p, mantissa, _, integer, negative = number(buffer, p)
        if p < 0 or not integer or negative or mantissa > member[_LIMIT]:
            return NOT
        after = p
    elif form == _TRUTH:
        size = is_word(buffer, p, c) if c == 116 or c == 102 else 0
        if size == 0:
            return NOT
        p += size
        after = p
    else:
        begin = p + 1
        p = plain_text(buffer, p, end)
        if p < 0 or not _allowed(buffer, begin, p, form):
            return NOT
        after = p + 1
    starts[member[_SLOT], row] = begin
    lengths[member[_SLOT], row] = p - begin
    return after


@kernel
def _metadata(
    buffer: Any,
    p: int,
    end: int,
    protocol: int,
    row: int,
    starts: Any,
    lengths: Any,
    tables: Any,
    texts: Any,
) -> int:
    """Note where the members of the metadata stand; the position after it, or -1."""
    members, first, last = tables.members, tables.bounds[protocol], tables.bounds[protocol + 1]
    if byte_at(buffer, p) != 123:
        return NOT
    seen = np.int64(0)
    place = first
    while True:
        p = skip_space(buffer, p + 1)
        if byte_at(buffer, p) != 34:
            return NOT
        p += 1
        found = NOT
        for _ in range(last - first):  # mostly it is the next one
            if same_bytes(buffer, p, texts, members[place, _AT], members[place, _SIZE]):
                found = place
                break
            place = place + 1 if place + 1 < last else first
        if found < 0 or seen & (1 << (found - first)):
            return NOT
        seen |= 1 << (found - first)
        place = found + 1 if found + 1 < last else first
        p = skip_space(buffer, p + members[found, _SIZE])
        if byte_at(buffer, p) != 58:
            return NOT
        p = skip_space(buffer, p + 1)
        if members[found, _FORM] == _NAMED:
            p = read_named(
                buffer,
                p,
                end,
                members[found],
                row,
                starts,
                lengths,
                tables.named,
                tables.words,
                texts,
            )
        else:
            slot = members[found, _SLOT]
            if lengths[slot, row] != ABSENT:
                return NOT
            p = _scalar(buffer, p, end, members[found], row, starts, lengths)
        if p < 0:
            return NOT
        p = skip_space(buffer, p)
        c = byte_at(buffer, p)
        if c == 125:
            return p + 1
        if c != 44:
            return NOT


@inlined
def _protocol(buffer: Any, p: int, tables: Any, texts: Any) -> int:
    """The number of the protocol whose name begins at a position, or -1."""
    for which in range(_PROTOCOLS):
        if is_at(buffer, p, texts, tables.words, _FIRST + which):
            return np.int64(which)
    return NOT


@kernel
def _line(
    buffer: Any,
    p: int,
    end: int,
    row: int,
    starts: Any,
    lengths: Any,
    kinds: Any,
    tables: Any,
    texts: Any,
) -> int:
    """Note where all of one line stands; the position after its last bracket, or -1."""
    words = tables.words
    p = skip_space(buffer, p)
    if byte_at(buffer, p) != 123:
        return NOT
    metadata = False
    while True:
        p = skip_space(buffer, p + 1)
        if byte_at(buffer, p) != 34:
            return NOT
        p += 1
        which = NOT
        for one in range(_PROTOCOL, _NAME):
            if is_at(buffer, p, texts, words, one):
                which = np.int64(one)
        if which < 0:
            return NOT
        p = skip_space(buffer, p + words[which, 1])
        if byte_at(buffer, p) != 58:
            return NOT
        p = skip_space(buffer, p + 1)
        if which == _PROTOCOL:
            if kinds[row] >= 0 or byte_at(buffer, p) != 34:
                return NOT
            kinds[row] = _protocol(buffer, p + 1, tables, texts)
            if kinds[row] < 0:
                return NOT
            p += 1 + words[_FIRST + kinds[row], 1]
        elif which == _METADATA:
            if metadata or kinds[row] < 0:
                return NOT
            metadata = True
            p = _metadata(buffer, p, end, kinds[row], row, starts, lengths, tables, texts)
        else:
            if lengths[_BODY, row] != ABSENT or byte_at(buffer, p) != 123:
                return NOT
            after = end_of_object(buffer, p, end)
            starts[_BODY, row] = p
            lengths[_BODY, row] = after - p
            p = after
        if p < 0:
            return NOT
        p = skip_space(buffer, p)
        c = byte_at(buffer, p)
        if c == 125:
            return p + 1
        if c != 44:
            return NOT


@kernel
def _may_be_event(buffer: Any, p: int, end: int, texts: Any, words: Any) -> bool:
    """Whether a payload says somewhere that it is an event."""
    size = words[_EVENT, 1]
    while p + size <= end:
        if byte_at(buffer, p) == 115 and is_at(buffer, p, texts, words, _EVENT):
            return True
        p += 1
    return False


@inlined
def _is_plain(
    buffer: Any, row: int, protocol: int, starts: Any, lengths: Any, tables: Any, texts: Any
) -> bool:
    """Whether a message has a payload of JSON, and is no event in disguise."""
    if lengths[_BODY, row] < 1 or protocol < 0:
        return False
    kind = lengths[_CONTENT, row]
    if kind != ABSENT:
        if kind != tables.words[_JSON, 1]:
            return False
        if not is_at(buffer, starts[_CONTENT, row], texts, tables.words, _JSON):
            return False
    if protocol in (_MQTT_OLD, _NATS):
        begin = starts[_BODY, row]
        return not _may_be_event(buffer, begin, begin + lengths[_BODY, row], texts, tables.words)
    return True


@kernel
def read_natives(
    buffer: Any, offsets: Any, lines: Any, starts: Any, lengths: Any, kinds: Any, tables: Any
) -> None:
    """Read some lines; ``kinds`` are the numbers of their protocols, -1 what is not plain."""
    texts = np.uintp(tables.texts.ctypes.data)
    for row in range(lines.shape[0]):
        for slot in range(lengths.shape[0]):
            lengths[slot, row] = ABSENT
        kinds[row] = -1
        line = lines[row]
        end = offsets[line + 1]
        p = _line(buffer, offsets[line], end, row, starts, lengths, kinds, tables, texts)
        whole = 0 <= p <= end and skip_space(buffer, p) >= end
        if not whole or not _is_plain(buffer, row, kinds[row], starts, lengths, tables, texts):
            kinds[row] = -1
