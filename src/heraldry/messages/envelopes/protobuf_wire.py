"""The wire of Protocol Buffers, as far as events need it: fields of known numbers, and no others.

A field that is not known is refused, as what it holds would be lost. Of a field that repeats the
last counts, and messages are merged, as the format has it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from heraldry.messages.envelopes.cloudevents import refused

Kind = Literal["number", "text", "bytes", "message", "messages"]
Fields = Mapping[int, Kind]

FIELD_LIMIT = 10_000
"""How many fields one message may have."""

_VARINT, _SIZED = 0, 2
_SHORT = [bytes((number,)) for number in range(0x80)]


def read_fields(
    data: bytes, known: Fields, one_of: range = range(0), most: int = FIELD_LIMIT
) -> dict[int, Any]:
    """The fields of a message by number; of those in ``one_of`` only the last that is set."""
    found: dict[int, Any] = {}
    at = count = 0
    size = len(data)
    while at < size:
        count += 1
        if count > most:
            raise refused("too-large", f"has more than {most} fields", expected=f"{most} fields")
        tag, at = (data[at], at + 1) if data[at] < 0x80 else _varint(data, at)
        number = tag >> 3
        kind = known.get(number)
        if kind is None:
            raise refused("protobuf", "has a field that events do not have", found=str(number))
        if tag & 7 != (_VARINT if kind == "number" else _SIZED):
            told = "has a field of another kind than events have"
            raise refused("protobuf", told, found=str(number))
        value: Any
        short = at < size and data[at] < 0x80
        value, at = (data[at], at + 1) if short else _varint(data, at)
        if kind != "number":
            end = at + value
            if end > size:
                raise refused("protobuf", "ends within a field", found=str(number))
            value, at = data[at:end], end
        if found and number in one_of:
            for other in one_of:
                if other != number:
                    found.pop(other, None)
        _put(found, number, kind, value)
    for number, kind in known.items():
        if kind == "message" and number in found:
            found[number] = bytes(found[number])
    return found


def _put(found: dict[int, Any], number: int, kind: Kind, value: Any) -> None:
    if kind == "text":
        try:
            found[number] = value.decode()
        except UnicodeDecodeError:
            raise refused("encoding", "has a text that is not UTF-8", found=str(number)) from None
    elif kind == "messages":
        found.setdefault(number, []).append(value)
    elif kind == "message":
        # Messages merge, and joined bytes are merged messages.
        found.setdefault(number, bytearray()).extend(value)
    else:
        found[number] = value


def signed(number: int) -> int:
    """The signed number of 64 bits behind a number on the wire."""
    return number - (1 << 64) if number >> 63 else number


def number_field(number: int, value: int) -> bytes:
    """A field that holds a number, signed or not."""
    return _written(number << 3 | _VARINT) + _written(value & ((1 << 64) - 1))


def sized_field(number: int, value: bytes) -> bytes:
    """A field that holds a text, bytes or a message."""
    return _written(number << 3 | _SIZED) + _written(len(value)) + value


def _varint(data: bytes, at: int) -> tuple[int, int]:
    result = shift = 0
    for position in range(at, min(at + 10, len(data))):
        byte = data[position]
        result |= (byte & 0x7F) << shift
        if byte < 0x80:
            if result >> 64:
                break
            return result, position + 1
        shift += 7
    else:
        if len(data) < at + 10:
            raise refused("protobuf", "ends within a number")
    raise refused("protobuf", "has a number of more than 64 bits")


def _written(number: int) -> bytes:
    if number < 0x80:
        return _SHORT[number]
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)
