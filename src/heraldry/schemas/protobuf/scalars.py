"""Scalars of Protobuf from plain values, or from their spelling in JSON.

Each converter raises ValueError with the reason, in words that do not hold the value.
"""

from __future__ import annotations

import math
import re
import struct
from base64 import b64decode
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from google.protobuf.descriptor import EnumDescriptor, FieldDescriptor

from heraldry.schemas.parse import EXACT
from heraldry.schemas.protobuf.fields import INT32, INT64, UINT32, UINT64, F, is_null

_INTEGER = re.compile(r"-?(?:0|[1-9]\d{0,19})", re.ASCII)
_NUMBER = re.compile(r"-?\d{1,400}(?:\.\d{1,400})?(?:[eE][+-]?\d{1,4})?", re.ASCII)
_DIGITS = 20
_SPELLED = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_URL_SAFE = str.maketrans("-_", "+/")
_RANGES = (
    (INT32, -(1 << 31), (1 << 31) - 1),
    (INT64, -(1 << 63), (1 << 63) - 1),
    (UINT32, 0, (1 << 32) - 1),
    (UINT64, 0, (1 << 64) - 1),
)
_Convert = Callable[[Any], Any]


def scalar(field: FieldDescriptor) -> _Convert:
    """The converter for the single values of a field that holds neither messages nor enums."""
    for types, low, high in _RANGES:
        if field.type in types:
            return _integer(low, high)
    return _PLAIN[field.type]


def map_key(field: FieldDescriptor) -> _Convert:
    """The converter for the keys of a map, which are texts in a value."""
    if field.type == F.TYPE_STRING:
        return _string
    convert = scalar(field)

    def read(value: Any) -> Any:
        if type(value) is not str:
            raise ValueError("has a key that is not a text")
        if field.type == F.TYPE_BOOL:
            if value not in ("false", "true"):
                raise ValueError("has a key that is neither true nor false")
            return value == "true"
        if _INTEGER.fullmatch(value) is None:
            raise ValueError("has a key that is not an integer")
        return convert(value)

    return read


def _integer(low: int, high: int) -> _Convert:
    told = f"is not an integer from {low} to {high}"

    def read(value: Any) -> int:
        if type(value) is str and _NUMBER.fullmatch(value):
            value = _whole(value)
        elif type(value) is float and value.is_integer() and abs(value) < EXACT:
            value = int(value)
        if type(value) is not int or not low <= value <= high:
            raise ValueError(told)
        return value

    return read


def _whole(text: str) -> int | None:
    # An exponent, or a fraction of zeros, may spell an integer too.
    number = Decimal(text)
    is_short = number.adjusted() < _DIGITS
    return int(number) if is_short and number == number.to_integral_value() else None


def _double(value: Any) -> float:
    if type(value) is str:
        if value in _SPELLED:
            return _SPELLED[value]
        value = float(value) if _NUMBER.fullmatch(value) else None
        if value is not None and math.isinf(value):
            value = None
    if type(value) is int:
        try:
            return float(value)
        except OverflowError:
            value = None
    if type(value) is not float:
        raise ValueError("is not a number of 64 bits")
    return value


def _float(value: Any) -> float:
    number = _double(value)
    try:
        struct.pack("<f", number)
    except OverflowError:
        raise ValueError("is not a number of 32 bits") from None
    return number


def _bool(value: Any) -> bool:
    if type(value) is not bool:
        raise ValueError("is neither true nor false")
    return value


def _string(value: Any) -> str:
    if type(value) is not str:
        raise ValueError("is not a text")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError("is a text that UTF-8 cannot hold") from None
    return value


def _bytes(value: Any) -> bytes:
    if isinstance(value, (bytes, bytearray)):
        return bytes(value)
    if type(value) is not str:
        raise ValueError("is neither bytes nor base64 text")
    return base64_bytes(value)


def base64_bytes(text: str) -> bytes:
    """The bytes of a base64 text, in the standard or the URL alphabet, padded or not."""
    plain = text.translate(_URL_SAFE).rstrip("=")
    try:
        return b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except ValueError:
        raise ValueError("is neither bytes nor base64 text") from None


def enum(kind: EnumDescriptor) -> _Convert:
    """The converter for the values of an enum: its names, its numbers, and null for NullValue."""
    has_null = is_null(kind)
    names = {one.name: one.number for one in kind.values}
    numbers = frozenset(names.values())
    closed = kind.is_closed

    def read(value: Any) -> int:
        if type(value) is str and value in names:
            return names[value]
        if value is None and has_null:
            return 0
        if type(value) is float and value.is_integer():
            value = int(value)
        if type(value) is not int or not -(1 << 31) <= value < 1 << 31:
            raise ValueError("is not a value of the enum")
        if closed and value not in numbers:
            raise ValueError("is not a number of the enum, which is closed")
        return value

    return read


_PLAIN: dict[int, _Convert] = {
    F.TYPE_DOUBLE: _double,
    F.TYPE_FLOAT: _float,
    F.TYPE_BOOL: _bool,
    F.TYPE_STRING: _string,
    F.TYPE_BYTES: _bytes,
}
