"""Logical types: which are valid where, and their values from and to what Avro stores."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Context, Decimal, InvalidOperation
from typing import Any, Final
from uuid import UUID

from heraldry.schemas.avro.nodes import Logical
from heraldry.schemas.timestamps import to_date, to_timestamp

PRECISION_LIMIT: Final = 1_000
"""How many digits a decimal may have."""

TEXT_LIMIT: Final = 2 * PRECISION_LIMIT
"""How many characters the text of a decimal may have."""

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NAIVE_EPOCH = datetime(1970, 1, 1)
_FIRST_DAY = date(1970, 1, 1).toordinal()
_MICROSECOND = timedelta(microseconds=1)
_DAY = 86_400_000_000
# Enough for every decimal allowed: nothing is ever rounded.
_EXACT = Context(prec=TEXT_LIMIT * 2)
_PLACES = {
    "date": ("int",),
    "time-millis": ("int",),
    "time-micros": ("long",),
    "timestamp-millis": ("long",),
    "timestamp-micros": ("long",),
    "timestamp-nanos": ("long",),
    "local-timestamp-millis": ("long",),
    "local-timestamp-micros": ("long",),
    "local-timestamp-nanos": ("long",),
    "uuid": ("string", "fixed"),
    "duration": ("fixed",),
    "decimal": ("bytes", "fixed"),
}
_SIZES = {"uuid": 16, "duration": 12}
_TIME = re.compile(r"([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?", re.ASCII)
_LOCAL = re.compile(r"\d{4}-\d\d-\d\d[Tt ]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?", re.ASCII)
_FRACTION = re.compile(r"\.(\d+)", re.ASCII)
_DURATION = re.compile(
    r"P(?:(\d{1,9})Y)?(?:(\d{1,10})M)?(?:(\d{1,9})W)?(?:(\d{1,10})D)?"
    r"(?:T(?:(\d{1,4})H)?(?:(\d{1,6})M)?(?:(\d{1,7})(?:\.(\d{1,3}))?S)?)?",
    re.ASCII,
)


def logical_of(written: Mapping[str, Any], kind: str, size: int = 0) -> Logical | None:
    """The logical type of a type as written; one that is unknown or invalid is ignored."""
    name = written.get("logicalType")
    if not isinstance(name, str) or kind not in _PLACES.get(name, ()):
        return None
    if name == "decimal":
        return _decimal_of(written, size if kind == "fixed" else None)
    if kind == "fixed" and size != _SIZES[name]:
        return None
    return Logical(name=name)


def _decimal_of(written: Mapping[str, Any], size: int | None) -> Logical | None:
    precision, scale = written.get("precision"), written.get("scale", 0)
    if type(precision) is not int or type(scale) is not int:
        return None
    if not (precision > 0 and 0 <= scale <= precision):
        return None
    if size is not None and precision > math.floor(math.log10(2) * (8 * size - 1)):
        return None
    return Logical(name="decimal", precision=precision, scale=scale)


def reader_of(logical: Logical, kind: str) -> Callable[[Any], Any]:
    """A function from what is stored to its value; ValueError says why there is none."""
    if logical.name == "decimal":
        return _decimal_reader(logical)
    if logical.name == "uuid" and kind == "fixed":
        return _uuid_of_bytes
    return _READERS[logical.name]


def _decimal_reader(logical: Logical) -> Callable[[bytes], Decimal]:
    limit, exponent = 10**logical.precision, -logical.scale
    return lambda data: decimal_of(data, limit, exponent)


def decimal_of(data: bytes, limit: int, exponent: int) -> Decimal:
    """The decimal in the bytes that store it; ValueError if it is not below the limit."""
    number = int.from_bytes(data, "big", signed=True)
    if -limit < number < limit:
        return Decimal(number).scaleb(exponent, _EXACT)
    raise ValueError("has more digits than its precision")


def _uuid_of_bytes(data: bytes) -> UUID:
    return UUID(bytes=data)


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise ValueError("is not a UUID") from None


def _since(start: datetime, unit: int) -> Callable[[int], datetime]:
    def read(number: int) -> datetime:
        try:
            return start + timedelta(microseconds=number * unit)
        except OverflowError:
            raise ValueError("is not in the years 1 to 9999") from None

    return read


def _date(number: int) -> date:
    try:
        return date.fromordinal(number + _FIRST_DAY)
    except (ValueError, OverflowError):
        raise ValueError("is not in the years 1 to 9999") from None


def _time_of(unit: int) -> Callable[[int], time]:
    def read(number: int) -> time:
        if not 0 <= number * unit < _DAY:
            raise ValueError("is not a time of day")
        return (_NAIVE_EPOCH + timedelta(microseconds=number * unit)).time()

    return read


def _number(number: int) -> int:
    return number


def _duration(data: bytes) -> str:
    months, days, millis = struct.unpack("<III", data)
    return f"P{months}M{days}DT{millis // 1000}.{millis % 1000:03}S"


_READERS: dict[str, Callable[[Any], Any]] = {
    "date": _date,
    "time-millis": _time_of(1000),
    "time-micros": _time_of(1),
    "timestamp-millis": _since(EPOCH, 1000),
    "timestamp-micros": _since(EPOCH, 1),
    "timestamp-nanos": _number,
    "local-timestamp-millis": _since(_NAIVE_EPOCH, 1000),
    "local-timestamp-micros": _since(_NAIVE_EPOCH, 1),
    "local-timestamp-nanos": _number,
    "uuid": _uuid,
    "duration": _duration,
}


def stored(logical: Logical, kind: str, value: Any, size: int = 0) -> Any:
    """What Avro stores for a value, typed or in its JSON spelling; ValueError if it has none.

    What is stored already (a number for a date, bytes for a duration) is taken as it is, if it
    stands for a value. Digits of a second beyond the unit of the type are cut off.
    """
    name = logical.name
    if name == "decimal":
        return _unscaled(logical, value, size if kind == "fixed" else None)
    if name == "uuid":
        return _stored_uuid(kind, value)
    if name == "duration":
        return _stored_duration(value)
    if type(value) is int:
        _READERS[name](value)
        return value
    if name == "date":
        return _stored_date(value)
    nanos = _nanos(name, value)
    return nanos // _UNITS[name.rpartition("-")[2]]


_UNITS = {"millis": 1_000_000, "micros": 1_000, "nanos": 1}


def _nanos(name: str, value: Any) -> int:
    """Nanoseconds since the epoch, or since midnight."""
    if name.startswith("time-"):
        return _nanos_of_day(value)
    local = name.startswith("local-")
    told = "is not a timestamp without a zone" if local else "is not a timestamp with a zone"
    below = 0
    if isinstance(value, str):
        if local and not _LOCAL.fullmatch(value):
            raise ValueError(told)
        fraction = _FRACTION.search(value)
        digits = fraction.group(1)[:9].ljust(9, "0") if fraction else "0"
        below = int(digits) % 1000
        value = to_timestamp(f"{value.replace(' ', 'T')}Z" if local else value)
    elif not isinstance(value, datetime) or (value.tzinfo is None) is not local:
        raise ValueError(told)
    start = EPOCH if value.tzinfo else _NAIVE_EPOCH
    micros: int = (value - start) // _MICROSECOND
    return micros * 1000 + below


def _nanos_of_day(value: Any) -> int:
    if isinstance(value, str) and _TIME.fullmatch(value):
        value = time.fromisoformat(value[:15].ljust(15, "0") if "." in value else value)
    if not (isinstance(value, time) and value.tzinfo is None):
        raise ValueError("is not a time of day")
    seconds = (value.hour * 60 + value.minute) * 60 + value.second
    return (seconds * 1_000_000 + value.microsecond) * 1000


def _stored_date(value: Any) -> int:
    if isinstance(value, str):
        value = to_date(value)
    if isinstance(value, date) and not isinstance(value, datetime):
        return value.toordinal() - _FIRST_DAY
    raise ValueError("is not a date")


def _stored_uuid(kind: str, value: Any) -> str | bytes:
    if kind == "fixed" and isinstance(value, bytes) and len(value) == 16:
        return value
    if isinstance(value, str):
        value = _uuid(value)
    if isinstance(value, UUID):
        return value.bytes if kind == "fixed" else str(value)
    raise ValueError("is not a UUID")


def _stored_duration(value: Any) -> bytes:
    if isinstance(value, bytes) and len(value) == 12:
        return value
    parts = _DURATION.fullmatch(value) if isinstance(value, str) else None
    if parts is None or value.endswith(("P", "T")):
        raise ValueError("is not an ISO 8601 duration")
    years, months, weeks, days, hours, minutes, seconds = (int(g or 0) for g in parts.groups()[:7])
    millis = int((parts.group(8) or "").ljust(3, "0"))
    millis += ((hours * 60 + minutes) * 60 + seconds) * 1000
    try:
        return struct.pack("<III", years * 12 + months, weeks * 7 + days, millis)
    except struct.error:
        raise ValueError("is longer than a duration can be") from None


def _unscaled(logical: Logical, value: Any, size: int | None) -> bytes:
    number = _decimal(value)
    shifted = number.scaleb(logical.scale, _EXACT) if number else Decimal(0)
    if shifted.adjusted() >= logical.precision:
        raise ValueError(f"has more than {logical.precision} digits")
    whole = int(shifted)
    if whole != shifted:
        raise ValueError(f"has more than {logical.scale} digits after the point")
    width = size if size is not None else (whole + (whole < 0)).bit_length() // 8 + 1
    return whole.to_bytes(width, "big", signed=True)


def _decimal(value: Any) -> Decimal:
    # A double stands for the number that is written so, not for its binary expansion.
    if type(value) in (str, int, float):
        text = str(value) if type(value) is not int or value.bit_length() < 4 * TEXT_LIMIT else ""
        try:
            value = Decimal(text if len(text) <= TEXT_LIMIT else "")
        except InvalidOperation:
            raise ValueError("is not a decimal number") from None
    if not isinstance(value, Decimal) or not value.is_finite():
        raise ValueError("is not a decimal number")
    if abs(value.adjusted()) > TEXT_LIMIT or len(value.as_tuple().digits) > TEXT_LIMIT:
        raise ValueError("has too many digits")
    return value
