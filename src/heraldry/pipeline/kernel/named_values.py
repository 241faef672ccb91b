"""Named values of messages: headers and user properties, as an object or as a list of pairs."""

from __future__ import annotations

from typing import Any

import numpy as np

from heraldry.pipeline.kernel import protocols as p_
from heraldry.pipeline.kernel.envelope import ABSENT, MEMBERS
from heraldry.pipeline.kernel.jit import byte_at, inlined, kernel
from heraldry.pipeline.kernel.scan import end_of_string, has_percent, same_bytes, skip_space

NAME_WORD, VALUE_WORD = 3, 4
"""The numbers of two words in the tables of the protocols."""

NOT = np.int64(-1)
"""The position after what is not understood."""

_FROM, _TO, _PREFIX, _PREFIX_SIZE, _FLAGS = p_.FIRST, p_.LAST, p_.PREFIX, p_.PREFIX_SIZE, p_.FLAGS
_TOKENS, _OBJECT, _CLOSED, _FOLDED = p_.TOKENS, p_.OBJECT, p_.CLOSED, p_.FOLDED
_SIMPLE, _ESCAPED, _ATTRIBUTES = p_.SIMPLE, p_.ESCAPED, len(MEMBERS)
_MARKS, _NAMED_THERE = p_.MARKS, p_.NAMED_THERE
_MORE_ATTRIBUTES, _EXTENDED = p_.MORE_ATTRIBUTES, p_.EXTENDED


@inlined
def is_at(buffer: Any, p: int, texts: Any, words: Any, which: int) -> bool:
    """Whether a word of the tables stands at a position."""
    return same_bytes(buffer, p, texts, words[which, 0], words[which, 1])


@inlined
def plain_text(buffer: Any, p: int, end: int) -> int:
    """The position of the closing quote of a text without escapes, or -1."""
    if byte_at(buffer, p) != 34:
        return NOT
    after, _, escapes = end_of_string(buffer, p + 1, end)
    return after if escapes == 0 else NOT


@inlined
def _same_folded(buffer: Any, p: int, texts: Any, q: int, count: int) -> bool:
    """Whether letters are equal ignoring case; the texts are of small letters and hyphens."""
    for i in range(count):
        c = byte_at(buffer, p + i)
        if 65 <= c <= 90:
            c = np.uint8(c + 32)
        if c != byte_at(texts, q + i):
            return False
    return True


@inlined
def _is_token(buffer: Any, p: int, end: int) -> bool:
    if p >= end:
        return False
    while p < end:
        c = byte_at(buffer, p)
        letter = 65 <= c <= 90 or 97 <= c <= 122 or 48 <= c <= 57
        if not (letter or c == 45 or c == 95):
            return False
        p += 1
    return True


@inlined
def _is_simple(buffer: Any, p: int, end: int) -> bool:
    """Whether a name is one that an attribute may have."""
    while p < end:
        c = byte_at(buffer, p)
        if not (97 <= c <= 122 or 48 <= c <= 57):
            return False
        p += 1
    return True


@inlined
def _has_prefix(buffer: Any, name: int, size: int, member: Any, texts: Any) -> bool:
    prefix = member[_PREFIX_SIZE]
    if prefix == 0 or prefix > size:
        return False
    if member[_FLAGS] & _FOLDED:
        return bool(_same_folded(buffer, name, texts, member[_PREFIX], prefix))
    return bool(same_bytes(buffer, name, texts, member[_PREFIX], prefix))


@kernel
def _note(
    buffer: Any,
    name: int,
    size: int,
    value: int,
    length: int,
    member: Any,
    row: int,
    starts: Any,
    lengths: Any,
    named: Any,
    texts: Any,
) -> bool:
    """Note where a named value stands, if its name is known; whether its line may go on."""
    flags = member[_FLAGS]
    lengths[_MARKS, row] |= _NAMED_THERE
    if flags & _TOKENS and not _is_token(buffer, name, name + size):
        return False
    known = attribute = False
    for place in range(member[_FROM], member[_TO]):
        if named[place, 1] != size:
            continue
        if named[place, 3]:
            same = _same_folded(buffer, name, texts, named[place, 0], size)
        else:
            same = same_bytes(buffer, name, texts, named[place, 0], size)
        if same:
            slot = named[place, 2]
            if slot < 0 or lengths[slot, row] != ABSENT:
                return False
            starts[slot, row] = value
            lengths[slot, row] = length
            known = True
            if named[place, 4]:
                attribute = True
                lengths[_MARKS, row] |= _EXTENDED if slot >= _ATTRIBUTES else 0
            if not flags & _SIMPLE:  # else it may be an attribute and wanted for itself
                break
    if attribute:
        return not (flags & _ESCAPED and has_percent(buffer, value, value + length))
    if flags & _SIMPLE and _is_simple(buffer, name, name + size):
        lengths[_MARKS, row] |= _MORE_ATTRIBUTES
    return known or not (flags & _CLOSED or _has_prefix(buffer, name, size, member, texts))


@inlined
def _pair(
    buffer: Any,
    p: int,
    end: int,
    member: Any,
    row: int,
    starts: Any,
    lengths: Any,
    named: Any,
    words: Any,
    texts: Any,
) -> int:
    """Read ``{"name": .., "value": ..}``, both texts; the position after it, or -1."""
    name = size = value = length = NOT
    while True:
        p = skip_space(buffer, p + 1)
        is_name = byte_at(buffer, p) == 34 and is_at(buffer, p + 1, texts, words, NAME_WORD)
        if not is_name and not (
            byte_at(buffer, p) == 34 and is_at(buffer, p + 1, texts, words, VALUE_WORD)
        ):
            return NOT
        p = skip_space(buffer, p + 1 + words[NAME_WORD if is_name else VALUE_WORD, 1])
        if byte_at(buffer, p) != 58:
            return NOT
        p = skip_space(buffer, p + 1)
        after = plain_text(buffer, p, end)
        if after < 0:
            return NOT
        if is_name:
            if name >= 0:
                return NOT
            name, size = p + 1, after - p - 1
        else:
            if value >= 0:
                return NOT
            value, length = p + 1, after - p - 1
        p = skip_space(buffer, after + 1)
        if byte_at(buffer, p) == 125:
            break
        if byte_at(buffer, p) != 44:
            return NOT
    if name < 0 or value < 0:
        return NOT
    if not _note(buffer, name, size, value, length, member, row, starts, lengths, named, texts):
        return NOT
    return p + 1


@kernel
def read_named(
    buffer: Any,
    p: int,
    end: int,
    member: Any,
    row: int,
    starts: Any,
    lengths: Any,
    named: Any,
    words: Any,
    texts: Any,
) -> int:
    """Read named values, as an object or a list; the position after them, or -1."""
    listed = byte_at(buffer, p) == 91
    if (not listed and byte_at(buffer, p) != 123) or (listed and member[_FLAGS] & _OBJECT):
        return NOT
    closing = 93 if listed else 125
    if byte_at(buffer, skip_space(buffer, p + 1)) == closing:
        return skip_space(buffer, p + 1) + 1
    while True:
        p = skip_space(buffer, p + 1)
        if listed:
            if byte_at(buffer, p) != 123:
                return NOT
            p = _pair(buffer, p, end, member, row, starts, lengths, named, words, texts)
            if p < 0:
                return NOT
        else:
            name = p + 1
            after = plain_text(buffer, p, end)
            if after < 0:
                return NOT
            p = skip_space(buffer, after + 1)
            if byte_at(buffer, p) != 58:
                return NOT
            p = skip_space(buffer, p + 1)
            stop = plain_text(buffer, p, end)
            if stop < 0 or not _note(
                buffer,
                name,
                after - name,
                p + 1,
                stop - p - 1,
                member,
                row,
                starts,
                lengths,
                named,
                texts,
            ):
                return NOT
            p = stop + 1
        p = skip_space(buffer, p)
        c = byte_at(buffer, p)
        if c == closing:
            return p + 1
        if c != 44:
            return NOT
