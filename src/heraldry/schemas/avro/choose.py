"""Which types of a union a value may be of, from a look at its surface."""

from __future__ import annotations

import struct
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any
from uuid import UUID

from heraldry.schemas.avro.nodes import Enum, FixedBytes, Primitive, Record, Resolved

_FLOATS = ("NaN", "Infinity", "-Infinity")
_TYPED = (datetime, date, time, Decimal, UUID)
_PYTHON: dict[str, tuple[type, ...]] = {
    "boolean": (bool,),
    "int": (int,),
    "long": (int,),
    "float": (int, float),
    "double": (int, float),
    "string": (str,),
    "bytes": (bytes, bytearray, str),
    "fixed": (bytes, bytearray, str),
    "array": (list, tuple),
    "map": (dict,),
}


def may_be(node: Resolved, value: Any, spelling: str) -> bool:
    """Whether a value has the outward form of a type; its inner parts are not looked at."""
    if value is None or node.kind == "null":
        return value is None and node.kind == "null"
    if isinstance(node, Record):
        return isinstance(value, dict) and _has_fields(node, value)
    if isinstance(node, Enum):
        return isinstance(value, str) and value in node.positions
    if isinstance(value, bool) and node.kind != "boolean":
        return False
    if node.logical is not None and spelling != "default":
        return isinstance(value, (str, int, float, bytes, *_TYPED))
    if isinstance(node, (Primitive, FixedBytes)) and isinstance(value, str):
        if node.kind in ("float", "double"):
            return value in _FLOATS
        return node.kind in ("string", "bytes", "fixed")
    return isinstance(value, _PYTHON[node.kind])


def _has_fields(node: Record, value: dict[str, Any]) -> bool:
    needed = {field.name for field in node.fields if not field.has_default}
    return needed <= value.keys() <= {field.name for field in node.fields}


def rank(node: Resolved, value: Any) -> int:
    """0 for a type whose own values look so, more for one that merely can be written so."""
    if node.logical is not None:
        return 1 if isinstance(value, _TYPED) else 2
    if isinstance(value, str):
        return 0 if node.kind in ("string", "enum") else 3
    if type(value) is int:
        return 0 if node.kind in ("int", "long") else 1
    return rank_real(node.kind, value)


def rank_real(kind: str, value: Any) -> int:
    """0 unless a number would change where it is stored as this kind of real number."""
    if kind not in ("float", "double"):
        return 0
    return 0 if type(value) is float and (kind == "double" or _is_small(value)) else 1


def _is_small(value: float) -> bool:
    try:
        back: float = struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return False
    return back == value or value != value
