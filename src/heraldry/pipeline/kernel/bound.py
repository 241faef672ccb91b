"""Messages of protocols: where each member of the metadata stands, and whether it is an event.

A line is ``{"protocol", "metadata", "payload"}`` in any order but that the protocol comes before
its metadata. Texts have no escapes; ``payload`` is an object. It is only passed over here, unless
it is an event itself: then its members are read, and ``data`` takes the place of the payload.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from heraldry.pipeline.kernel import protocols as p_
from heraldry.pipeline.kernel.envelope import (
    ABSENT,
    end_of_object,
    is_plain_event,
    read_event,
)
from heraldry.pipeline.kernel.envelope import MEMBERS as EVENT_MEMBERS
from heraldry.pipeline.kernel.jit import byte_at, inlined, kernel
from heraldry.pipeline.kernel.named_values import NOT, is_at, plain_text, read_named
from heraldry.pipeline.kernel.scan import is_word, number, same_bytes, skip_space

_PROTOCOLS = len(p_.PROTOCOLS)
_PROTOCOL, _METADATA, _PAYLOAD, _NAME, _VALUE, _FIRST = range(6)  # of the words in the tables
_JSON = _FIRST + _PROTOCOLS
_EVENT = _JSON + 1
_EVENT_TYPES = _EVENT + 1
_MQTT, _MQTT_OLD, _NATS = map(p_.PROTOCOLS.index, ("MQTT/5.0", "MQTT/3.1.1", "NATS"))
_AT, _SIZE, _SLOT, _FORM, _LIMIT = p_.AT, p_.SIZE, p_.SLOT, p_.FORMS, p_.LIMIT
_TEXT, _TOPIC, _SUBJECT, _PATH, _METHOD = p_.TEXT, p_.TOPIC, p_.SUBJECT, p_.PATH, p_.METHOD
_WHOLE, _TRUTH, _NAMED = p_.WHOLE, p_.TRUTH, p_.NAMED
_CONTENT, _BODY, _MARKS = p_.CONTENT, p_.PAYLOAD, p_.MARKS
_NAMED_THERE, _MORE_ATTRIBUTES, _EXTENDED = p_.NAMED_THERE, p_.MORE_ATTRIBUTES, p_.EXTENDED
_VERSION, _DATA_TYPE = map(EVENT_MEMBERS.index, ("specversion", "datacontenttype"))

NATIVE, BINARY, STRUCTURED = range(3)
"""A message is no event, one by its named values, or one by its payload."""


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
def _is_type(
    buffer: Any, row: int, starts: Any, lengths: Any, words: Any, texts: Any, n: int
) -> bool:
    """Whether the content type of a message is one of the words."""
    if lengths[_CONTENT, row] != words[n, 1]:
        return False
    return bool(is_at(buffer, starts[_CONTENT, row], texts, words, n))


@inlined
def _has_attributes(row: int, protocol: int, lengths: Any) -> bool:
    """Whether named values say that a message is an event; MQTT has one that alone does so."""
    if protocol == _MQTT:
        return bool(lengths[_VERSION, row] != ABSENT)
    found = False
    for attribute in range(_BODY):
        found |= lengths[attribute, row] != ABSENT
    return found


@kernel
def _mode(
    buffer: Any, row: int, protocol: int, starts: Any, lengths: Any, words: Any, texts: Any
) -> int:
    """What a message is, or -1 where that is not certain."""
    for one in range(_EVENT_TYPES, words.shape[0]):
        if _is_type(buffer, row, starts, lengths, words, texts, one):
            return np.int64(STRUCTURED)
    if lengths[_CONTENT, row] != ABSENT and not _is_type(
        buffer, row, starts, lengths, words, texts, _JSON
    ):
        return NOT
    if _has_attributes(row, protocol, lengths):
        more = lengths[_MARKS, row] & _MORE_ATTRIBUTES
        # Where data has a type by another name, too, the judge tells which of them counts.
        return NOT if more or (protocol == _NATS and lengths[_CONTENT, row] != ABSENT) else BINARY
    if protocol == _MQTT_OLD or (protocol == _NATS and not lengths[_MARKS, row] & _NAMED_THERE):
        begin = starts[_BODY, row]
        if _may_be_event(buffer, begin, begin + lengths[_BODY, row], texts, words):
            return np.int64(STRUCTURED)
    return np.int64(NATIVE)


@inlined
def _unfold(
    buffer: Any, row: int, starts: Any, lengths: Any, names: Any, bounds: Any, follow: Any
) -> bool:
    """Read the event that is the payload, so that its members take the places of attributes."""
    p = starts[_BODY, row]
    end = p + lengths[_BODY, row]
    lengths[_BODY, row] = ABSENT
    if lengths[_MARKS, row] & _EXTENDED:  # a named value that must not count
        return False
    for attribute in range(_BODY):
        if lengths[attribute, row] != ABSENT:
            return False
    return bool(read_event(buffer, p, end, row, starts, lengths, names, bounds, follow) == end)


@kernel
def read_bound(
    buffer: Any,
    offsets: Any,
    lines: Any,
    starts: Any,
    lengths: Any,
    times: Any,
    kinds: Any,
    tables: Any,
    names: Any,
    bounds: Any,
    follow: Any,
) -> None:
    """Read some lines; ``kinds`` are what :func:`kind_of` gives, -1 what is not plain."""
    texts, address = np.uintp(tables.texts.ctypes.data), np.uintp(names.ctypes.data)
    for row in range(lines.shape[0]):
        for slot in range(lengths.shape[0]):
            lengths[slot, row] = ABSENT
        lengths[_MARKS, row] = 0
        kinds[row] = -1
        line = lines[row]
        end = offsets[line + 1]
        p = _line(buffer, offsets[line], end, row, starts, lengths, kinds, tables, texts)
        protocol, kinds[row] = kinds[row], -1
        if not (0 <= p <= end and skip_space(buffer, p) >= end):
            continue
        if protocol < 0 or lengths[_BODY, row] < 1:
            continue
        mode = _mode(buffer, row, protocol, starts, lengths, tables.words, texts)
        if mode == STRUCTURED and not _unfold(
            buffer, row, starts, lengths, address, bounds, follow
        ):
            continue
        if mode == BINARY and protocol != _NATS:
            starts[_DATA_TYPE, row] = starts[_CONTENT, row]
            lengths[_DATA_TYPE, row] = lengths[_CONTENT, row]
        plain = mode == NATIVE or (
            mode > NATIVE and is_plain_event(buffer, row, starts, lengths, address, bounds, times)
        )
        if plain:
            kinds[row] = protocol + _PROTOCOLS * mode


def kind_of(protocol: int, mode: int) -> int:
    """The number of the messages of a protocol in a mode."""
    return protocol + _PROTOCOLS * mode
