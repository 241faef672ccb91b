"""The well-known types whose values are not those of their fields: to values, and back."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from heraldry.schemas.timestamps import to_timestamp

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST, _LAST = -62_135_596_800, 253_402_300_799
_SECOND = 1_000_000_000
_LONGEST = 315_576_000_000
_DURATION = re.compile(r"(-?)(\d{1,12})(?:\.(\d{1,9}))?s", re.ASCII)
# Other than RFC 3339: no small letters, and no more digits than a message can hold.
_NO_TIMESTAMP = re.compile(r"[tz]|\.\d{10}", re.ASCII)
_NANOSECONDS = re.compile(r"\.\d{6}(\d{1,3})", re.ASCII)

NO_INSTANT: Final = "is not an instant of the years 1 to 9999"
NO_DURATION: Final = "is not a duration of at most 10000 years, like 1.5s"


def timestamp(message: Any) -> datetime | str:
    """The instant in UTC; as RFC 3339 text where it is finer than microseconds."""
    seconds, nanos = message.seconds, message.nanos
    if not (_FIRST <= seconds <= _LAST and 0 <= nanos < _SECOND):
        raise ValueError(NO_INSTANT)
    micros, rest = divmod(nanos, 1000)
    instant = _EPOCH + timedelta(seconds=seconds, microseconds=micros)
    if not rest:
        return instant
    return f"{instant:%Y-%m-%dT%H:%M:%S}.{nanos:09d}Z".rjust(30, "0")


def set_timestamp(message: Any, value: Any) -> None:
    """Take an instant: a datetime (UTC where it has no zone) or RFC 3339 text."""
    nanos = 0
    if isinstance(value, str):
        if _NO_TIMESTAMP.search(value):
            raise ValueError("is not a timestamp like 2024-05-01T12:00:00.123456789Z")
        instant = to_timestamp(value)
        finer = _NANOSECONDS.search(value)
        nanos = int(finer[1].ljust(3, "0")) if finer else 0
    elif isinstance(value, datetime):
        instant = value if value.tzinfo is not None else value.replace(tzinfo=UTC)
    else:
        raise ValueError(NO_INSTANT)  # noqa: TRY004
    passed = instant - _EPOCH
    seconds = passed.days * 86_400 + passed.seconds
    if not _FIRST <= seconds <= _LAST:
        raise ValueError(NO_INSTANT)
    message.seconds = seconds
    message.nanos = passed.microseconds * 1000 + nanos


def duration(message: Any) -> str:
    """The text of a duration, in as few digits as it needs."""
    seconds, nanos = message.seconds, message.nanos
    if abs(seconds) > _LONGEST or abs(nanos) >= _SECOND or seconds * nanos < 0:
        raise ValueError(NO_DURATION)
    sign = "-" if seconds < 0 or nanos < 0 else ""
    fraction = f".{abs(nanos):09d}".rstrip("0") if nanos else ""
    return f"{sign}{abs(seconds)}{fraction}s"


def set_duration(message: Any, value: Any) -> None:
    """Take a duration: its text, or a timedelta."""
    if isinstance(value, timedelta):
        micros = value // timedelta(microseconds=1)
        total = micros * 1000
    else:
        found = _DURATION.fullmatch(value) if isinstance(value, str) else None
        if found is None:
            raise ValueError(NO_DURATION)
        total = int(found[2]) * _SECOND + int((found[3] or "").ljust(9, "0"))
        total = -total if found[1] else total
    seconds, nanos = divmod(abs(total), _SECOND)
    if seconds > _LONGEST:
        raise ValueError(NO_DURATION)
    sign = -1 if total < 0 else 1
    message.seconds, message.nanos = sign * seconds, sign * nanos


def mask(message: Any) -> str:
    """The paths of a field mask, with commas."""
    return ",".join(message.paths)


def set_mask(message: Any, value: Any) -> None:
    """Take the paths of a field mask: a text with commas."""
    if not isinstance(value, str):
        raise ValueError("is not a field mask, like a,b.c")  # noqa: TRY004
    message.paths.extend(value.split(",") if value else ())


def any_value(message: Any) -> dict[str, str]:
    """The type and the bytes of an Any, which is not opened."""
    return {"@type": message.type_url, "value": b64encode(message.value).decode()}


def json_value(message: Any) -> Any:
    """The JSON value in a Value; one that holds nothing is null."""
    kind = message.WhichOneof("kind")
    if kind is None or kind == "null_value":
        return None
    value = getattr(message, kind)
    convert = _OF_VALUE.get(kind)
    return value if convert is None else convert(value)


def json_object(message: Any) -> dict[str, Any]:
    """The JSON object in a Struct."""
    fields = message.fields
    return {key: json_value(fields[key]) for key in fields}


def json_list(message: Any) -> list[Any]:
    """The JSON array in a ListValue."""
    return [json_value(item) for item in message.values]


_OF_VALUE: dict[str, Callable[[Any], Any]] = {"struct_value": json_object, "list_value": json_list}

READERS: Final[dict[str, Callable[[Any], Any]]] = {
    "google.protobuf.Timestamp": timestamp,
    "google.protobuf.Duration": duration,
    "google.protobuf.FieldMask": mask,
    "google.protobuf.Any": any_value,
    "google.protobuf.Value": json_value,
    "google.protobuf.Struct": json_object,
    "google.protobuf.ListValue": json_list,
}
"""How the value of a well-known type is read; the wrappers go by their one field."""
