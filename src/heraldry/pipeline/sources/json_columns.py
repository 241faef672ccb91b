"""Columns of bytes as parts of JSON lines: joined by Arrow alone, but for what must be escaped."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from heraldry.messages.envelopes import json_format
from heraldry.schemas.parse import DEPTH_LIMIT

Mask = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]

BINARY = pa.binary()
encode = msgspec.json.Encoder().encode
"""The JSON text of a value."""

_ESCAPED = np.zeros(256, np.bool_)
_ESCAPED[:0x20] = True
_ESCAPED[[0x22, 0x5C]] = True
_raws = msgspec.json.Decoder(list[msgspec.Raw]).decode
_values = msgspec.json.Decoder().decode
_CHUNK = 512
# 192 digits or more touch three of every 64th bytes; fewer are no number out of range, neither
# with an exponent of two digits.
_STRIDE, _TOUCHED = 64, 3


def join(*parts: bytes | pa.Array) -> pa.Array:
    """Texts and columns one after the other, row by row; null where one of them is."""
    given = (pa.scalar(one, BINARY) if isinstance(one, bytes) else one for one in parts)
    return pc.binary_join_element_wise(*given, pa.scalar(b"", BINARY))


def repeated(value: bytes, count: int) -> pa.Array:
    """The same for every row."""
    return pa.repeat(pa.scalar(value, BINARY), count)


def constants(column: pa.DictionaryArray, write: Callable[[str], bytes]) -> pa.Array:
    """A column of few texts, each written once."""
    return pa.array(map(write, column.dictionary.to_pylist()), BINARY).take(column.indices)


def digits(column: pa.Array) -> pa.Array:
    """Numbers as JSON writes them."""
    return column.cast(pa.string()).cast(BINARY)


def replaced(column: pa.Array, rows: Numbers, write: Callable[[int], bytes]) -> pa.Array:
    """A column with some rows written one by one."""
    if not len(rows):
        return column
    mask = np.zeros(len(column), np.bool_)
    mask[rows] = True
    written = pa.array([write(int(row)) for row in rows], BINARY)
    return pc.replace_with_mask(column, pa.array(mask), written)


def in_order(pieces: list[pa.Array], places: list[Numbers]) -> pa.Array:
    """Pieces put together so that each value stands in its place."""
    whole = pa.concat_arrays(pieces)
    if sum(1 for piece in pieces if len(piece)) <= 1:
        return whole
    return whole.take(pa.array(np.argsort(np.concatenate(places), kind="stable")))


def text(value: bytes | None) -> str | None:
    """Bytes as a text, or None where they are none."""
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError:
        return None


def plain(column: pa.Array) -> Mask:
    """Which values stand in a JSON string as they are: there, UTF-8, and without an escape."""
    found = _valid(column)
    offsets, content = _content(column)
    odd = _ESCAPED[content]
    if not _is_utf8(column):
        odd |= content >= 0x80
    found[_owners(odd, offsets)] = False
    return found


def payload_members(column: pa.Array) -> pa.Array:
    """The payload of every row as it stands in a line, with a comma; nothing where none is."""
    joined = pc.fill_null(join(b',"payload":', column), b"")
    odd = np.flatnonzero(~holds_json(column) & _valid(column))
    return replaced(joined, odd, lambda row: _payload(column[row].as_py()))


def holds_json(column: pa.Array) -> Mask:
    """Which values are ``json_format.is_json`` for one line, told for many at once.

    A parser that passes over values is quick. It lets through three things that the exact one
    refuses, so rows that may have one are read as well: bytes that are not UTF-8, numbers out of
    range, and what is nested too deeply.
    """
    offsets, content = _content(column)
    found = _valid(column) & (offsets[1:] > offsets[:-1])
    found[_owners((content == 0x0A) | (content == 0x0D), offsets)] = False
    odd = _long_numbers(content, offsets)
    odd[_owners(_exponents(content), offsets)] = True
    if not _is_utf8(column):
        odd[_owners(content >= 0x80, offsets)] = True
    deep = _brackets(content, offsets)
    values = column.to_pylist()
    for read, rows in ((False, found & ~odd & ~deep), (True, found & odd & ~deep)):
        numbers = np.flatnonzero(rows)
        for begin in range(0, len(numbers), _CHUNK):
            chunk = numbers[begin : begin + _CHUNK]
            found[chunk] = _passed([values[row] for row in chunk], read=read)
    for row in np.flatnonzero(found & deep):
        found[row] = json_format.is_json(values[row], one_line=True)
    return found


def _passed(values: list[bytes], *, read: bool) -> list[bool]:
    """Which of some values are JSON without space around, by one look at all of them."""
    joined = b"[" + b",".join(values) + b"]"
    try:
        raws = _raws(joined)
        if read:
            _values(joined)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raws = []
    # A value with a comma would count as two, and space around it is left out.
    if list(map(len, raws)) == list(map(len, values)):
        return [True] * len(values)
    return [json_format.is_json(value, one_line=True) for value in values]


def _payload(value: bytes) -> bytes:
    found = text(value)
    if found is None:
        return b',"payload_base64":"' + b64encode(value) + b'"'
    return b',"payload_text":' + encode(found)


def _exponents(content: Bytes) -> Mask:
    """Where a digit may be followed by an exponent of three digits, the least that is too much."""
    found = np.zeros(len(content), np.bool_)
    where = np.flatnonzero((content[1:-3] | 0x20) == ord("e"))
    where = where[_digit(content[where])]
    signed = where + (content[where + 2] == ord("+"))
    signed = signed[signed + 4 < len(content)]
    many = _digit(content[signed + 2]) & _digit(content[signed + 3]) & _digit(content[signed + 4])
    found[signed[many]] = True
    return found


def _long_numbers(content: Bytes, offsets: Numbers) -> Mask:
    """The rows that may hold a run of hundreds of digits, by a look at every 64th byte."""
    sample = _digit(content[::_STRIDE])
    length = len(sample) - _TOUCHED + 1
    rows = np.zeros(len(offsets) - 1, np.bool_)
    if length < 1:
        return rows
    run = np.logical_and.reduce([sample[n : n + length] for n in range(_TOUCHED)])
    where = np.flatnonzero(run) * _STRIDE + offsets[0]
    rows[np.searchsorted(offsets, where, side="right") - 1] = True
    return rows


def _brackets(content: Bytes, offsets: Numbers) -> Mask:
    """The rows with so many brackets that they may be nested too deeply inside a line."""
    where = np.flatnonzero((content & 0xDF) == ord("[")) + offsets[0]
    return np.asarray(np.diff(np.searchsorted(where, offsets)) > DEPTH_LIMIT - 2)


def _digit(content: Bytes) -> Mask:
    return np.asarray(content - np.uint8(ord("0")) < 10)


def _owners(marked: Mask, offsets: Numbers) -> Numbers:
    """The rows that marked bytes belong to."""
    where = np.flatnonzero(marked)
    if not len(where):
        return where
    return np.asarray(np.searchsorted(offsets, where + offsets[0], side="right") - 1)


def _content(column: pa.Array) -> tuple[Numbers, Bytes]:
    """Where each value begins in the buffer, the end of the last one, and their bytes."""
    _, bounds, data = column.buffers()
    if bounds is None or data is None or not len(column):
        return np.zeros(len(column) + 1, np.int64), np.zeros(0, np.uint8)
    offsets = np.frombuffer(bounds, np.int32)[column.offset : column.offset + len(column) + 1]
    return offsets.astype(np.int64), np.frombuffer(data, np.uint8)[offsets[0] : offsets[-1]]


def _valid(column: pa.Array) -> Mask:
    found: Mask = pc.is_valid(column).to_numpy(zero_copy_only=False).copy()
    return found


def _is_utf8(column: pa.Array) -> bool:
    try:
        column.cast(pa.string())
    except pa.ArrowInvalid:
        return False
    return True
