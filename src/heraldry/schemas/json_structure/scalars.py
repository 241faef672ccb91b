"""The primitive types: what JSON writes for them, and which values they stand for.

A reader takes the JSON value and gives the native one, or tells what is wrong (a ``Wrong``);
a writer takes a native value and gives the JSON one, and leaves alone what it does not know.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final
from uuid import UUID

import jsonschema_rs

INTEGERS: Final = {
    "int8": (-(2**7), 2**7 - 1),
    "uint8": (0, 2**8 - 1),
    "int16": (-(2**15), 2**15 - 1),
    "uint16": (0, 2**16 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "integer": (-(2**31), 2**31 - 1),
    "uint32": (0, 2**32 - 1),
}
"""Integers that JSON writes as numbers, with their ranges."""

WIDE: Final = {
    "int64": (-(2**63), 2**63 - 1),
    "uint64": (0, 2**64 - 1),
    "int128": (-(2**127), 2**127 - 1),
    "uint128": (0, 2**128 - 1),
}
"""Integers that JSON writes as texts, with their ranges."""

FLOATS: Final = {"float8": 1.7976931348623157e308, "float": 3.4028235677973366e38,
                 "double": 1.7976931348623157e308}  # fmt: skip
"""Floating-point numbers, and the largest magnitude of each."""

TEXTS: Final = ("string", "date", "datetime", "time", "duration", "uuid", "uri", "jsonpointer")
"""Types whose native value is the text that JSON writes."""

NUMBERS: Final = (*INTEGERS, *WIDE, *FLOATS, "number", "decimal")
PRIMITIVES: Final = (*NUMBERS, *TEXTS, "boolean", "null", "binary")

# A decimal is written out in full: an exponent must not become a text without end.
_EXPONENT_LIMIT = 10_000
# The longest integer there is has 39 digits; longer texts are not even converted.
_DIGIT_LIMIT = 64


@dataclass(frozen=True, slots=True)
class Wrong:
    """Why a value is refused; ``rule`` is the keyword that refused it."""

    rule: str
    message: str
    expected: str


_CLASSES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
Read = Callable[[Any], Any]
Write = Callable[[Any], Any]


@lru_cache(maxsize=256)
def reader(kind: str, encoding: str = "base64") -> Read:
    """The function from a JSON value of a type to its native value, or to a Wrong."""
    if kind in INTEGERS:
        return _integer(kind)
    if kind in WIDE:
        return _wide(kind)
    if kind in FLOATS:
        return _float(kind)
    if kind in _PATTERNS or kind in _FORMATS:
        return _formatted(kind)
    if kind == "binary":
        return _binary(encoding)
    return _decimal if kind == "decimal" else _of_class(kind, *_CLASSES[kind])


def _no(kind: str) -> Wrong:
    return Wrong("type", f"is not of type {kind}", kind)


def _of_class(kind: str, *classes: type) -> Read:
    no = _no(kind)
    return lambda value: value if type(value) in classes else no


def _integer(kind: str) -> Read:
    low, high = INTEGERS[kind]
    no = _no(kind)
    beyond = Wrong("range", f"is outside the range of {kind}", f"{low} to {high}")

    def read(value: Any) -> Any:
        if type(value) is not int:
            return no
        return value if low <= value <= high else beyond

    return read


def _wide(kind: str) -> Read:
    low, high = WIDE[kind]
    no = Wrong("type", f"is not of type {kind}, which is written as text", f"{kind} as text")
    beyond = Wrong("range", f"is outside the range of {kind}", f"{low} to {high}")
    shaped = re.compile(r"-?(?:0|[1-9][0-9]*)" if low else r"(?:0|[1-9][0-9]*)").fullmatch

    def read(value: Any) -> Any:
        if type(value) is not str or shaped(value) is None:
            return no
        if len(value) > _DIGIT_LIMIT:
            return beyond
        number = int(value)
        return number if low <= number <= high else beyond

    return read


def _float(kind: str) -> Read:
    most = FLOATS[kind]
    no = _no(kind)
    beyond = Wrong("range", f"is outside the range of {kind}", f"at most {most} in magnitude")

    def read(value: Any) -> Any:
        if type(value) is not float and type(value) is not int:
            return no
        return value if -most <= value <= most else beyond

    return read


_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?").fullmatch


_NO_DECIMAL = Wrong("type", "is not of type decimal, which is written as text", "decimal as text")


def _decimal(value: Any) -> Any:
    if type(value) is not str or _DECIMAL(value) is None:
        return _NO_DECIMAL
    if len(value) > _EXPONENT_LIMIT:
        return Wrong("range", "has too many digits", f"at most {_EXPONENT_LIMIT} digits")
    return Decimal(value)


_PATTERNS = {
    # RFC 3339 has no fraction in a duration; ISO 8601 does, and so do the samples of the format.
    "duration": r"P(?!$)(?:[0-9]+W|(?:[0-9]+Y)?(?:[0-9]+M)?(?:[0-9]+D)?"
    r"(?:T(?=[0-9])(?:[0-9]+H)?(?:[0-9]+M)?(?:[0-9]+(?:\.[0-9]+)?S)?)?)",
    "uuid": r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}",
    # As text, or as the fragment of a URI.
    "jsonpointer": r"#?(?:/(?:[^/~]|~[01])*)*",
}
_FORMATS = {"date": "date", "datetime": "date-time", "time": "time", "uri": "uri-reference"}


def _formatted(kind: str) -> Read:
    no, not_one = _no(kind), Wrong("format", f"is not a valid {kind}", kind)
    fits = _fits(kind)

    def read(value: Any) -> Any:
        if type(value) is not str:
            return no
        return value if fits(value) else not_one

    return read


def _fits(kind: str) -> Callable[[str], object]:
    if kind in _PATTERNS:
        return re.compile(_PATTERNS[kind], re.DOTALL).fullmatch
    fits = format_check(_FORMATS[kind])
    if kind == "time":
        # The offset is optional: the drafts named the production of RFC 3339 only late.
        return lambda text: fits(text) or fits(f"{text}Z")
    return fits


@lru_cache(maxsize=64)
def format_check(name: str) -> Callable[[str], bool]:
    """Whether a text is of a format of JSON Schema; any text is, of a format not known."""
    schema = {"type": "string", "format": name}
    options = jsonschema_rs.RegexOptions()
    validator = jsonschema_rs.Draft202012Validator(
        schema, validate_formats=True, offline=True, pattern_options=options
    )

    def fits(text: str) -> bool:
        try:
            return validator.is_valid(text)
        except ValueError:  # a lone surrogate
            return False

    return fits


def _unpadded(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)


ENCODINGS: Final[dict[str, tuple[Callable[[str], bytes], Callable[[bytes], bytes]]]] = {
    "base64": (lambda text: base64.b64decode(text, validate=True), base64.b64encode),
    "base64url": (_unpadded, base64.urlsafe_b64encode),
    "base16": (lambda text: base64.b16decode(text, casefold=True), base64.b16encode),
    "base32": (base64.b32decode, base64.b32encode),
    "base32hex": (base64.b32hexdecode, base64.b32hexencode),
}
"""How bytes are written, by the name in ``contentEncoding``: from text, and to text."""


def _binary(encoding: str) -> Read:
    no = _no("binary")
    not_one = Wrong("contentEncoding", f"is not {encoding}", encoding)
    from_text = ENCODINGS[encoding][0]

    def read(value: Any) -> Any:
        if type(value) is not str:
            return no
        try:
            return from_text(value)
        except (ValueError, binascii.Error):
            return not_one

    return read


def writer(kind: str, encoding: str = "base64") -> Write | None:
    """The function from a native value to what JSON writes; None where they are the same."""
    if kind in WIDE:
        return lambda value: str(value) if type(value) is int else value
    if kind == "decimal":
        return _write_decimal
    if kind == "binary":
        to_text = ENCODINGS[encoding][1]
        return lambda value: to_text(value).decode() if type(value) is bytes else value
    if kind in ("date", "datetime", "time", "uuid"):
        return _write_text
    return None


def _write_decimal(value: Any) -> Any:
    if type(value) is int:
        return str(value) if abs(value) < 10**_DIGIT_LIMIT else value
    if type(value) is Decimal and value.is_finite() and abs(value.adjusted()) < _EXPONENT_LIMIT:
        return format(value, "f")
    return value


def _write_text(value: Any) -> Any:
    if isinstance(value, (datetime, date, time)):
        return value.isoformat()
    return str(value) if type(value) is UUID else value
