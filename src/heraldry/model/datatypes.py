"""The data types of attributes: a value becomes its normal form, or there is a reason (T-01..T-12).

CHECKS["timestamp"]("2024-01-31T13:00:00+01:00", model)  ->  "2024-01-31T12:00:00Z"
CHECKS["boolean"]("TRUE", model)                         ->  ValueError: must be a boolean
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final

from heraldry.errors import RegistryError, XidError
from heraldry.model.metamodel import Model
from heraldry.model.xid import Xid

Check = Callable[[Any, Model], Any]
"""Takes a value and gives its normal form; a ValueError says what is wrong with it."""

COMPLEX: Final = frozenset(("any", "array", "map", "object"))

LONGEST: Final = 4096
"""Bytes that the name and the value of a scalar may have together (A-04)."""

NAME_FORM: Final = "must be 1 to 63 of a-z, 0-9 and _, and must not start with a digit"
KEY_FORM: Final = "must be 1 to 63 of a-z, 0-9 and : . _ -, and must start with a letter or digit"
ID_FORM: Final = (
    "must be 1 to 128 letters, digits and - . _ ~ : @, and must start with a letter, digit or _"
)

is_name = re.compile(r"[a-z_][a-z0-9_]{0,62}").fullmatch
"""Whether a text may be the name of an attribute (A-01, A-02)."""
is_key = re.compile(r"[a-z0-9][a-z0-9:._-]{0,62}").fullmatch
"""Whether a text may be a key of a map (T-06)."""
is_id = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.~:@-]{0,127}").fullmatch
"""Whether a text may be an id (CA-02)."""

_SAFE = LONGEST // 4 - 128
"""No text of so many characters is too long, whatever its name and its characters are."""
_BITS = 13_000
"""Whole numbers of fewer bits have fewer than 4096 digits."""

# As fromisoformat reads it, and already normal: nearly all timestamps there are.
_normal = re.compile(
    r"\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{0,8}[1-9])?Z", re.ASCII
).fullmatch
_timestamp = re.compile(
    r"(\d{4}-\d\d-\d\d)[Tt]((?:[01]\d|2[0-3]):[0-5]\d):([0-5]\d|60)(?:\.(\d+))?"
    r"([Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)?",
    re.ASCII,
).fullmatch
# Characters beyond ASCII are taken as they are (RFC 3987), and so are the placeholders that the
# endpoint specification allows in addresses. All alternatives differ in their first character, so
# there is one way only; groups are not possessive, as before Python 3.11.5 one that holds a
# possessive part may end amid a repetition.
_CHARACTERS = (
    r"(?:[A-Za-z0-9\-._~:/?\[\]@!$&'()*+,;=\u00a0-\U0010ffff]++|%[0-9A-Fa-f]{2}"
    r"|\{[A-Za-z0-9_]+\})*"
)
_reference = re.compile(rf"{_CHARACTERS}(?:#{_CHARACTERS})?").fullmatch
_scheme = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*):").match
_unprintable = re.compile(r"[\x00-\x1f\x7f]").search
_VARIABLE = r"(?:\w|%[0-9A-Fa-f]{2})(?:\.?(?:\w|%[0-9A-Fa-f]{2}))*+(?::[1-9]\d{0,3}|\*)?"
_template = re.compile(
    r"(?:[^\x00-\x20\x7f\"<>\\^`{|}%]++|%[0-9A-Fa-f]{2}"
    rf"|\{{[+#./;?&=,!@|]?{_VARIABLE}(?:,{_VARIABLE})*\}})*",
    re.ASCII,
).fullmatch


def check_id(id: str, subject: str) -> None:  # noqa: A002
    """``malformed_id`` for a text that may not be an id (CA-02)."""
    if is_id(id) is None:
        arguments = {"id": id, "error_detail": ID_FORM}
        raise RegistryError("malformed_id", subject, arguments)


def check_length(name: str, text: str) -> None:
    """The name and the value of a scalar have at most 4096 bytes together (A-04)."""
    if len(text) > _SAFE and len(name.encode()) + len(text.encode("utf-8", "replace")) > LONGEST:
        raise ValueError(f"must not be longer than {LONGEST} bytes together with its name")


def normal_timestamp(text: str) -> str:
    """An RFC 3339 timestamp in UTC with ``Z``, fractions without zeros at their end (T-08).

    Without its ``Z``, the order of such texts is the order of time. A text without a zone is in
    UTC; fractions are cut after nanoseconds.
    """
    try:
        if _normal(text) is not None:
            datetime.fromisoformat(text[:19])
            return text
        return _converted(text)
    except (ValueError, OverflowError):
        raise ValueError("must be a timestamp such as 2024-01-31T12:00:00Z") from None


def _converted(text: str) -> str:
    parts = _timestamp(text)
    if parts is None:
        raise ValueError
    day, time, second, fraction, zone = parts.groups()
    zone = "+00:00" if zone is None or zone in "Zz" else zone
    # A leap second is legal at the end of a day in UTC, but no datetime of Python's.
    leap = second == "60"
    instant = datetime.fromisoformat(f"{day}T{time}:{'59' if leap else second}{zone}")
    normal = instant.astimezone(UTC).replace(tzinfo=None).isoformat()
    if leap:
        if not normal.endswith("23:59:59"):
            raise ValueError
        normal = normal[:-2] + "60"
    fraction = (fraction or "")[:9].rstrip("0")
    return f"{normal}.{fraction}Z" if fraction else f"{normal}Z"


def _any(value: Any, _: Model) -> Any:
    return value


def _boolean(value: Any, _: Model) -> Any:
    if value is True or value is False:
        return value
    raise ValueError("must be a boolean")


def _decimal(value: Any, _: Model) -> Any:
    kind = value.__class__
    if (kind is float and math.isfinite(value)) or (kind is int and value.bit_length() < _BITS):
        return value
    raise ValueError("must be a decimal")


def _whole(value: Any) -> int | None:
    if value.__class__ is int:
        return value if value.bit_length() < _BITS else None
    if value.__class__ is float and value.is_integer():  # 5.0 is the same number as 5
        return int(value)
    return None


def _integer(value: Any, _: Model) -> Any:
    whole = _whole(value)
    if whole is None:
        raise ValueError("must be an integer")
    return whole


def _uinteger(value: Any, _: Model) -> Any:
    whole = _whole(value)
    if whole is None or whole < 0:
        raise ValueError("must be a uinteger")
    return whole


def _string(value: Any, _: Model) -> Any:
    if isinstance(value, str):
        return value
    raise ValueError("must be a string")


def _time(value: Any, _: Model) -> Any:
    if isinstance(value, str):
        return normal_timestamp(value)
    raise ValueError("must be a timestamp")


def _address(name: str, absolute: bool | None, *, locator: bool) -> Check:
    """A check for one of the six types of URI (T-09); ``absolute`` None: either will do.

    Real catalogs hold sloppy addresses, so only an absolute one is held to RFC 3986.
    """

    def check(value: Any, _: Model) -> Any:
        if not isinstance(value, str) or _unprintable(value) is not None:
            raise ValueError(f"must be a {name}")
        if absolute is None:
            return value
        scheme = _scheme(value)
        if not absolute:
            if scheme is not None:
                raise ValueError(f"must be a {name}: it has a scheme")
            return value
        if _reference(value) is None:
            raise ValueError(f"must be a {name}, with other characters written as %XX")
        if scheme is None:
            raise ValueError(f"must be a {name}: it has no scheme")
        if "#" in value:
            raise ValueError(f"must be a {name}: it must not have a fragment")
        if locator and scheme[1].lower() == "urn":
            raise ValueError(f"must be a {name}: a urn is not the address of anything")
        return value

    return check


def _uritemplate(value: Any, _: Model) -> Any:
    if isinstance(value, str) and _template(value) is not None:
        return value
    raise ValueError("must be a uritemplate")


def _xid(value: Any, model: Model) -> Any:
    if not isinstance(value, str):
        raise ValueError("must be an xid")  # noqa: TRY004
    typed_xid(value, model)
    return value


def typed_xid(text: str, model: Model) -> Xid:
    """An xid whose types are in the model; the entity itself need not exist (T-10)."""
    try:
        xid = Xid.parse(text)
    except XidError as error:
        raise ValueError(f"must be an xid: {error.reason}") from None
    for part in (xid.group, xid.resource, xid.version):
        if part and is_id(part) is None:
            raise ValueError(f"must be an xid: the id {part!r} {ID_FORM}")
    _check_types(model, xid.groups, xid.resources)
    return xid


def _check_types(model: Model, groups: str, resources: str) -> None:
    if not groups:
        return
    group = model.groups.get(groups)
    if group is None:
        raise ValueError(f"has the unknown Group type {groups!r}")
    if resources and resources not in group.resources:
        raise ValueError(f"has the unknown Resource type {resources!r}")


def _xidtype(value: Any, model: Model) -> Any:
    if not isinstance(value, str):
        raise ValueError("must be an xidtype")  # noqa: TRY004
    if not value.startswith("/"):
        raise ValueError("must be an xidtype: it must start with '/'")
    parts = value[1:].split("/") if value != "/" else []
    if "" in parts or len(parts) > 3 or parts[2:] not in ([], ["versions"]):
        raise ValueError("must be an xidtype: expected /[GROUPS[/RESOURCES[/versions]]]")
    _check_types(model, *[*parts, "", ""][:2])
    return value


CHECKS: Final[dict[str, Check]] = {
    "any": _any,
    "boolean": _boolean,
    "decimal": _decimal,
    "integer": _integer,
    "string": _string,
    "timestamp": _time,
    "uinteger": _uinteger,
    "uri": _address("uri", None, locator=False),
    "uriabsolute": _address("uriabsolute", absolute=True, locator=False),
    "urirelative": _address("urirelative", absolute=False, locator=False),
    "uritemplate": _uritemplate,
    "url": _address("url", None, locator=True),
    "urlabsolute": _address("urlabsolute", absolute=True, locator=True),
    "urlrelative": _address("urlrelative", absolute=False, locator=True),
    "xid": _xid,
    "xidtype": _xidtype,
}
"""By the name of the type: all scalars, and ``any`` (T-02, T-12)."""

TYPES: Final = frozenset(CHECKS) | COMPLEX
"""The names of all types (T-01)."""

SCALARS: Final = TYPES - COMPLEX


def target_check(check: Check, target: str, *, xid: bool) -> Check:
    """Narrow a check of an xid, or of a URI that starts with ``/``, to a target (MD-12)."""
    plain = target.removesuffix("[/versions]")
    groups, resources, versions = [*plain[1:].split("/"), "", ""][:3]
    either = plain != target

    def fits(found: Xid) -> bool:
        if found.groups != groups or found.meta:
            return False
        if found.resources != resources:
            # The official endpoint model names messages where it means their groups.
            return not xid and not found.resources
        return either or bool(found.version) == bool(versions)

    def narrowed(value: Any, model: Model) -> Any:
        normal = check(value, model)
        if xid or normal.startswith("/"):
            found = typed_xid(normal if xid else normal.partition("#")[0], model)
            if not fits(found):
                raise ValueError(f"must match the target {target}")
        return normal

    return narrowed


def value_text(value: Any) -> str:
    """The text of a scalar, as headers and the keys of ``ifvalues`` have it (MD-21)."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, int) and value.bit_length() >= _BITS:
        return "a huge number"
    return str(value)


def comparable(value: Any, *, matchcase: bool = False) -> Any:
    """What two scalars that count as equal have in common: texts ignore case (MD-14, MD-15)."""
    return value.lower() if isinstance(value, str) and not matchcase else value
