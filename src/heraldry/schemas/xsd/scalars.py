"""Texts of simple types as values of Python, and back."""

from __future__ import annotations

import math
import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any, Final
from uuid import UUID

from heraldry.schemas.xsd.simple_type import SimpleType

DIGIT_LIMIT: Final = 4_000
"""How many digits a number may have; Python refuses to read more."""

_XML = "http://www.w3.org/XML/1998/namespace"
_SPECIAL = {"INF": math.inf, "+INF": math.inf, "-INF": -math.inf, "NaN": math.nan}
_TIMESTAMP = re.compile(
    r"\d{4}-\d\d-\d\dT([01]\d|2[0-3]):\d\d:\d\d(\.\d{1,6}0*)?(Z|[+-]\d\d:\d\d)?", re.ASCII
)
_DATE = re.compile(r"(\d{4}-\d\d-\d\d)(Z|[+-]\d\d:\d\d)?", re.ASCII)

Prefixes = Mapping[str | None, str]


def read(kind: SimpleType, text: str, prefixes: Prefixes) -> Any:
    """The value of a valid text; ValueError where Python has none for it."""
    text = kind.normal(text)
    if kind.kind == "list":
        item = kind.item
        assert item is not None
        return [read(item, part, prefixes) for part in text.split(" ") if part]
    if kind.kind == "QName":
        prefix, colon, name = text.rpartition(":")
        uri = prefixes.get(prefix if colon else None) or (_XML if prefix == "xml" else None)
        return f"{{{uri}}}{name}" if uri else name
    return _READERS[kind.kind](text)


def _integer(text: str) -> int:
    if len(text) > DIGIT_LIMIT:
        raise ValueError(f"has more than {DIGIT_LIMIT} digits")
    return int(text)


def _decimal(text: str) -> Decimal:
    if len(text) > DIGIT_LIMIT:
        raise ValueError(f"has more than {DIGIT_LIMIT} digits")
    return Decimal(text)


def _float(text: str) -> float:
    return _SPECIAL[text] if text in _SPECIAL else float(text)


def _date_time(text: str) -> datetime | str:
    found = _TIMESTAMP.fullmatch(text)
    if found is None:
        # A year beyond four digits, a finer fraction, 24:00: Python has no datetime for it.
        return text
    if found[2] and len(found[2]) > 7:
        text = text.replace(found[2], found[2][:7])
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is not None:
            # One that is before the year 1 or after 9999 in UTC has no place in a column.
            moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return text
    return moment


def _date(text: str) -> date | str:
    found = _DATE.fullmatch(text)
    try:
        return date.fromisoformat(found[1]) if found else text
    except ValueError:
        return text


def _refused(told: str) -> ValueError:
    return ValueError(told)


def _plain(text: str) -> str:
    return text


_READERS: dict[str, Callable[[str], Any]] = {
    "string": _plain,
    "text": _plain,
    "union": _plain,
    "integer": _integer,
    "decimal": _decimal,
    "float": _float,
    "boolean": lambda text: text in ("true", "1"),
    "dateTime": _date_time,
    "date": _date,
    "hexBinary": bytes.fromhex,
    "base64Binary": lambda text: b64decode(text.replace(" ", "")),
}


def write(kind: SimpleType, value: Any, prefix: Callable[[str], str]) -> str:
    """The text of a value or of its JSON spelling; ValueError says what it should be.

    ``prefix`` gives the prefix of a namespace. Whether the text is valid is not looked at.
    """
    if kind.kind == "list":
        if not isinstance(value, (list, tuple)):
            raise _refused("is not a list")
        item = kind.item
        assert item is not None
        return " ".join(write(item, one, prefix) for one in value)
    if kind.kind == "QName" and isinstance(value, str) and value.startswith("{"):
        uri, _, name = value[1:].partition("}")
        return f"{prefix(uri)}:{name}"
    return _WRITERS[kind.kind](value)


def _write_integer(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        raise _refused("is not an integer")
    if not isinstance(value, int) and (not math.isfinite(value) or value != int(value)):
        raise _refused("is not an integer")
    return _digits(Decimal(int(value)))


def _write_decimal(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal, str)):
        raise _refused("is not a decimal number")
    try:
        number = Decimal(str(value)) if not isinstance(value, Decimal) else value
    except InvalidOperation:
        raise _refused("is not a decimal number") from None
    return _digits(number)


def _digits(number: Decimal) -> str:
    if not number.is_finite():
        raise _refused("is not a decimal number")
    if abs(number.adjusted()) > DIGIT_LIMIT or len(number.as_tuple().digits) > DIGIT_LIMIT:
        raise ValueError(f"has more than {DIGIT_LIMIT} digits")
    return f"{number:f}"


def _write_float(value: Any) -> str:
    if isinstance(value, str) and value in _SPECIAL:
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        raise _refused("is not a number")
    try:
        number = float(value)
    except OverflowError:
        raise ValueError("is too large for a 64-bit number") from None
    if math.isnan(number):
        return "NaN"
    return repr(number) if math.isfinite(number) else ("INF" if number > 0 else "-INF")


def _write_boolean(value: Any) -> str:
    if not isinstance(value, bool):
        raise _refused("is not a boolean")
    return "true" if value else "false"


def _write_date_time(value: Any) -> str:
    if isinstance(value, datetime):
        offset = value.utcoffset()
        if offset is not None and (offset.seconds % 60 or abs(offset) > timedelta(hours=14)):
            value = value.astimezone(UTC)
        return str(value.isoformat()).replace("+00:00", "Z")
    return _write_text(value)


def _write_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, (date, time)) and not isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, UUID):
        return str(value)
    raise _refused("is not a text")


def _write_union(value: Any) -> str:
    if isinstance(value, bool):
        return _write_boolean(value)
    if isinstance(value, (int, float, Decimal)):
        return _write_float(value) if isinstance(value, float) else _write_decimal(value)
    return _write_date_time(value)


def _bytes(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    if not isinstance(value, str):
        raise _refused("is neither bytes nor base64 text")
    try:
        return b64decode(value, validate=True)
    except ValueError:
        raise _refused("is not base64 text") from None


_WRITERS: dict[str, Callable[[Any], str]] = {
    "string": _write_text,
    "text": _write_text,
    "QName": _write_text,
    "union": _write_union,
    "integer": _write_integer,
    "decimal": _write_decimal,
    "float": _write_float,
    "boolean": _write_boolean,
    "dateTime": _write_date_time,
    "date": _write_text,
    "hexBinary": lambda value: _bytes(value).hex().upper(),
    "base64Binary": lambda value: b64encode(_bytes(value)).decode(),
}
