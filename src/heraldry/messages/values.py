"""The types of properties: what is a value of a type, and when two values are one (M36, M37)."""

from __future__ import annotations

import math
import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import Any
from uuid import UUID

import msgspec

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_SYMBOL = re.compile(r"[A-Za-z0-9_]+")
_UUID = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_DURATION = re.compile(
    r"P(?:[0-9]+W|(?=[0-9T])(?:[0-9]+Y)?(?:[0-9]+M)?(?:[0-9]+D)?"
    r"(?:T(?=[0-9])(?:[0-9]+H)?(?:[0-9]+M)?(?:[0-9]+(?:[.,][0-9]+)?S)?)?)"
)
_TIMESTAMP = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(\.[0-9]+)?"
    r"(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))"
)
_PCHAR = r"(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})"
# Possessive quantifiers: no text from a message can make the pattern backtrack.
_REFERENCE = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*+:)?+"
    rf"(?://{_PCHAR}*+(?:(?<=[@/])\[[0-9A-Fa-fv:.]++\](?::[0-9]*+)?+)?+(?=[/?#]|\Z))?+"
    rf"(?:{_PCHAR}|/)*+(?:\?(?:{_PCHAR}|[/?])*+)?+(?:#(?:{_PCHAR}|[/?])*+)?+"
)
_TOKEN = r"[A-Za-z0-9!#$%&'*+.^_`|~-]+"
_MEDIA_TYPE = re.compile(rf"\s*+({_TOKEN}/{_TOKEN})\s*+")
_PARAMETER = re.compile(rf';\s*+(?:({_TOKEN})=({_TOKEN}|"(?:[^"\\]|\\.)*+"))?\s*+')

_ALIASES = {"var": "any", "datetime": "timestamp", "stringified integer": "integer"}
_INT32 = range(-(2**31), 2**31)
_ULONG = range(2**64)
_MONTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def check_value(type: str, value: Any, *, cloudevents: bool = False) -> str | None:  # noqa: A002
    """Why a value is not one of its type (M35, M36), or None.

    A JSON value counts, and so does its text form. ``cloudevents`` limits integers to 32 bits.
    A type nobody knows forbids nothing here: it is a finding about the catalog.
    """
    kind = _ALIASES.get(type, type)
    if kind == "integer" and cloudevents:
        number = _integer(value)
        return None if number is not None and number in _INT32 else "is not a 32 bit integer"
    check = _CHECKS.get(kind)
    if check is None or check[0](value):
        return None
    return check[1]


def canonical_text(value: Any) -> str:
    """The text of a value: ``true``, ``5``, base64 of bytes; a text is itself (M36)."""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return b64encode(value).decode()
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, datetime):
        digits = "microseconds" if value.microsecond % 1000 else "milliseconds"
        return value.astimezone(UTC).isoformat(timespec=digits).replace("+00:00", "Z")
    return msgspec.json.encode(value).decode()


def same_value(type: str, declared: Any, found: Any) -> bool:  # noqa: A002
    """Whether a value is the declared one (M37): numbers and truth by value, times by instant.

    Every other type compares its text; bytes equal only the base64 of a ``binary`` or ``any``.
    """
    kind = _ALIASES.get(type, type)
    if isinstance(found, bytes) and kind not in ("binary", "any"):
        return bool(found == declared)
    if canonical_text(declared) == canonical_text(found):
        return True
    reader = _READERS.get(kind)
    if reader is None:
        return False
    left, right = reader(declared), reader(found)
    return left is not None and left == right


def compares_text(type: str) -> bool:  # noqa: A002
    """Whether a text is the declared value only where it is the same letter by letter."""
    return _ALIASES.get(type, type) not in _READERS


def parse_media_type(text: str) -> tuple[str, dict[str, str]] | None:
    """The type in lower case and its parameters by lower-case name, or None (M31, M32)."""
    head = _MEDIA_TYPE.match(text)
    if head is None:
        return None
    parameters: dict[str, str] = {}
    position = head.end()
    while position < len(text):
        part = _PARAMETER.match(text, position)
        if part is None:
            return None
        position = part.end()
        name, value = part.groups()
        if name is not None:
            if value.startswith('"'):
                value = re.sub(r"\\(.)", r"\1", value[1:-1], flags=re.DOTALL)
            parameters.setdefault(name.lower(), value)
    return head[1].lower(), parameters


def same_media_type(declared: str, found: str) -> bool:
    """Whether a media type is the declared one (M31): every declared parameter must be there."""
    if declared == found:
        return True
    left, right = parse_media_type(declared), parse_media_type(found)
    if left is None or right is None:
        return declared.strip().lower() == found.strip().lower()
    return left[0] == right[0] and all(
        _same_parameter(name, value, right[1].get(name)) for name, value in left[1].items()
    )


def is_json_media_type(text: str) -> bool:
    """Whether a media type says JSON: the subtype ``json`` or the suffix ``+json``."""
    parsed = parse_media_type(text)
    if parsed is None:
        return False
    subtype = parsed[0].partition("/")[2]
    return subtype == "json" or subtype.endswith("+json")


def decode_base64(text: Any) -> bytes | None:
    """The bytes of a base64 text in the standard alphabet with padding, or None."""
    if not isinstance(text, str):
        return None
    try:
        return b64decode(text, validate=True)
    except ValueError:
        return None


def read_timestamp(value: Any) -> datetime | None:
    """The instant an RFC 3339 text names, or None where a datetime cannot hold it."""
    instant = _instant(value)
    if instant is None or len(instant[1]) > len(".000000"):
        return None
    micros = int(instant[1][1:].ljust(6, "0"))
    try:
        return _EPOCH + timedelta(seconds=instant[0] - _EPOCH_SECONDS, microseconds=micros)
    except OverflowError:
        return None


def read_uuid(value: Any) -> UUID | None:
    """The UUID a text is in the form with dashes, or None."""
    if isinstance(value, str) and _UUID.fullmatch(value):
        return UUID(value)
    return value if isinstance(value, UUID) else None


def plain(value: Any) -> Any:
    """What a program hands over, in the types that messages have: a date becomes its text.

    Raises TypeError where there is no such value, ValueError for a text that is not Unicode.
    """
    if isinstance(value, bytearray | memoryview):
        return bytes(value)
    # The class of a text may be one of the program's own.
    found = str(value) if isinstance(value, str) and not isinstance(value, Enum) else value
    found = msgspec.to_builtins(found, builtin_types=(bytes, datetime, UUID))
    msgspec.json.encode(found)
    return found


def single_text(value: Any) -> str:
    """The text of a value; TypeError for lists and maps, ValueError for infinity and NaN."""
    if isinstance(value, list | tuple | dict):
        raise TypeError("is a list or a map")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("is not a finite number")
    return canonical_text(value)


def typed(type_: str, value: Any) -> Any:
    """A value of its type where a text was given for it (M36)."""
    if isinstance(value, str):
        if type_ in ("integer", "ulong") and (number := _integer(value)) is not None:
            return number
        if type_ == "boolean" and value.lower() in ("true", "false"):
            return value.lower() == "true"
    return value if isinstance(value, str | int | bool | bytes) else canonical_text(value)


def native(type_: str, value: Any) -> Any:
    """A value for a protocol that has types of its own, where a text was given for it."""
    if not isinstance(value, str):
        return value
    found = _NATIVE[type_](value) if type_ in _NATIVE else None
    return typed(type_, value) if found is None else found


def _same_parameter(name: str, declared: str, found: str | None) -> bool:
    if found is None:
        return False
    return declared == found or (name == "charset" and declared.lower() == found.lower())


def _integer(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    # Python refuses to read integers of more than 4300 digits; no property needs them.
    if isinstance(value, str) and len(value) <= 4000 and _INTEGER.fullmatch(value):
        return int(value)
    return None


def _number(value: Any) -> int | float | None:
    whole = _integer(value)
    if whole is not None:
        return whole
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        value = float(value)
    return value if isinstance(value, float) and math.isfinite(value) else None


def _boolean(value: Any) -> bool | None:
    if isinstance(value, bool):
        return value
    return {"true": True, "false": False}.get(value) if isinstance(value, str) else None


def _binary(value: Any) -> bytes | None:
    return value if isinstance(value, bytes) else decode_base64(value)


def _instant(value: Any) -> tuple[int, str] | None:
    """Seconds since 1 March of the year 0 and the digits of the fraction; None: no RFC 3339."""
    value = canonical_text(value) if isinstance(value, datetime) else value
    parts = _TIMESTAMP.fullmatch(value) if isinstance(value, str) else None
    if parts is None:
        return None
    year, month, day, hour, minute, second = map(int, parts.group(1, 2, 3, 4, 5, 6))
    away_hour, away_minute = int(parts[9] or 0), int(parts[10] or 0)
    if not (1 <= month <= 12 and hour < 24 and minute < 60 and away_hour < 24 and away_minute < 60):
        return None
    leap = month == 2 and year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    if not 1 <= day <= _MONTHS[month - 1] + leap:
        return None
    away = (away_hour * 60 + away_minute) * (-1 if parts[8] == "-" else 1)
    # A leap second is the last one of a UTC day.
    if second > 60 or (second == 60 and (hour * 60 + minute - away) % 1440 != 1439):
        return None
    # Python's calendar has no year 0, which the current-time sentinel needs: count from March.
    y, m = (year, month - 3) if month > 2 else (year - 1, month + 9)
    days = 365 * y + y // 4 - y // 100 + y // 400 + (153 * m + 2) // 5 + day
    return days * 86400 + (hour * 60 + minute - away) * 60 + second, (parts[7] or "").rstrip("0.")


def _reference(value: Any) -> re.Match[str] | None:
    return _REFERENCE.fullmatch(value) if isinstance(value, str) else None


def _is_uri(value: Any) -> bool:
    found = _reference(value)
    return found is not None and found["scheme"] is not None


def _fits(pattern: re.Pattern[str]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and pattern.fullmatch(value) is not None


def _is_ulong(value: Any) -> bool:
    number = _integer(value)
    return number is not None and number in _ULONG


_CHECKS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "binary": (lambda value: _binary(value) is not None, "is not binary (base64)"),
    "boolean": (lambda value: _boolean(value) is not None, "is not true or false"),
    "duration": (_fits(_DURATION), "is not a duration"),
    "integer": (lambda value: _integer(value) is not None, "is not an integer"),
    "number": (lambda value: _number(value) is not None, "is not a number"),
    "string": (lambda value: isinstance(value, str), "is not a string"),
    "symbol": (_fits(_SYMBOL), "is not made of letters, digits and underscores"),
    "timestamp": (lambda value: _instant(value) is not None, "is not an RFC 3339 timestamp"),
    "uri": (_is_uri, "is not a URI with a scheme"),
    "urireference": (lambda value: _reference(value) is not None, "is not a URI reference"),
    # What a template was expanded to is any text; the template itself is the catalog's matter.
    "uritemplate": (lambda value: isinstance(value, str), "is not a string"),
    "ulong": (_is_ulong, "is not an unsigned 64 bit integer"),
    "uuid": (lambda value: read_uuid(value) is not None, "is not a UUID"),
}

_READERS: Mapping[str, Callable[[Any], Any]] = {
    "binary": _binary,
    "boolean": _boolean,
    "integer": _number,
    "number": _number,
    "timestamp": _instant,
    "uuid": read_uuid,
}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EPOCH_SECONDS = 62162121600  # the same as _instant counts
_NATIVE: Mapping[str, Callable[[str], Any]] = {
    "binary": decode_base64,
    "number": lambda text: None if _number(text) is None else float(text),
    "timestamp": read_timestamp,
    "uuid": read_uuid,
}
