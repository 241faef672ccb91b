"""The values AMQP 1.0 messages hold: their Python types, and how JSON says them.

``bool``, ``int`` (long; ulong where it is an id or too large), ``float`` (double), ``str``
(string; symbol where AMQP wants one), ``bytes`` (binary), ``uuid.UUID``, an aware ``datetime`` of
whole milliseconds (timestamp), None (null), and lists and dicts of these. In JSON an object with
one member names the type of what JSON has no word for: ``{"base64": ...}``, ``{"uuid": ...}``,
``{"timestamp": ...}``, ``{"number": "NaN"}``, and ``{"map": {...}}`` is a map that looks so.
"""

from __future__ import annotations

import math
from base64 import b64encode
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from heraldry.messages.json_form import wrong
from heraldry.messages.values import canonical_text, decode_base64, read_timestamp, read_uuid

_NUMBERS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_TAGGED: Mapping[str, Callable[[Any], Any]] = {
    "base64": decode_base64,
    "uuid": read_uuid,
    "timestamp": read_timestamp,
    "number": lambda text: _NUMBERS.get(text) if isinstance(text, str) else None,
    "map": lambda members: members if isinstance(members, Mapping) else None,
}
_WHOLE = range(-(2**63), 2**64)
_UINT = range(2**32)
_MOST = 32


def from_json(value: Any, path: str) -> Any:
    """A value from its JSON form; MessageError where the form is wrong."""
    if isinstance(value, list):
        return [from_json(one, path) for one in value]
    if not isinstance(value, Mapping):
        return value
    tag = next(iter(value)) if len(value) == 1 else ""
    if tag not in _TAGGED:
        return {name: from_json(one, path) for name, one in value.items()}
    found = _TAGGED[tag](value[tag])
    if found is None:
        raise wrong(path, f"is not a {tag}", "base64" if tag == "base64" else "metadata")
    return {name: from_json(one, path) for name, one in found.items()} if tag == "map" else found


def to_json(value: Any) -> Any:
    """The inverse of :func:`from_json`."""
    match value:
        case bytes():
            return {"base64": b64encode(value).decode()}
        case UUID():
            return {"uuid": str(value)}
        case datetime():
            return {"timestamp": canonical_text(value)}
        case float() if not math.isfinite(value):
            return {"number": next(n for n, one in _NUMBERS.items() if repr(one) == repr(value))}
        case list():
            return [to_json(one) for one in value]
        case dict():
            plain = {name: to_json(one) for name, one in value.items()}
            return {"map": plain} if len(plain) == 1 and plain.keys() <= _TAGGED.keys() else plain
    return value


def fault(value: Any, *, nested: bool, depth: int = 0) -> str | None:
    """Why a value is none of AMQP, or None; ``nested`` allows lists and maps."""
    match value:
        case None | bool() | float() | str() | bytes() | UUID():
            return None
        case int():
            return None if value in _WHOLE else "is larger than 64 bits"
        case datetime():
            return None if is_timestamp(value) else "is not a time of whole milliseconds in UTC"
        case list() | dict() if nested and depth < _MOST:
            inner = value if isinstance(value, list) else value.values()
            if isinstance(value, dict) and not all(isinstance(name, str) for name in value):
                return "has a map whose keys are no texts"
            found = (fault(one, nested=True, depth=depth + 1) for one in inner)
            return next((reason for reason in found if reason is not None), None)
    return "is a list or map" if isinstance(value, list | dict) else "is no value that AMQP has"


def is_timestamp(value: Any) -> bool:
    """Whether a value is a time as AMQP has it."""
    if not isinstance(value, datetime) or value.utcoffset() != timedelta(0):
        return False
    return value.microsecond % 1000 == 0


def is_uint(value: Any) -> bool:
    """Whether a value is an unsigned 32 bit integer."""
    return isinstance(value, int) and not isinstance(value, bool) and value in _UINT


def is_id(value: Any) -> bool:
    """Whether a value can identify a message: ulong, uuid, binary or string (M57)."""
    if isinstance(value, int):
        return not isinstance(value, bool) and 0 <= value < 2**64
    return isinstance(value, str | bytes | UUID)
