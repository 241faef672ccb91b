"""Texts made up for simple types, within their facets where those are simple."""

from __future__ import annotations

import string
from base64 import b64encode
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from random import Random

from heraldry.errors import UnsupportedPatternError
from heraldry.schemas.sample_pattern import matching_text
from heraldry.schemas.xsd.pattern import matcher, python_pattern
from heraldry.schemas.xsd.simple_type import SimpleType

_LETTERS = string.ascii_lowercase
_PATTERN_TRIES = 50
_SPREAD = 1000
_START = datetime(2024, 1, 1)


def text_of(kind: SimpleType, random: Random, version: str) -> str:
    """A text of a type; whether it is valid is for the validator to say."""
    if kind.enumeration:
        return random.choice(kind.enumeration)
    if kind.kind == "union":
        return text_of(random.choice(kind.members), random, version) if kind.members else ""
    if kind.kind == "list":
        return _list(kind, random, version)
    if kind.patterns:
        return _by_pattern(kind, random, version)
    return _MAKERS.get(kind.primitive, _string)(kind, random)


def _list(kind: SimpleType, random: Random, version: str) -> str:
    item = kind.item
    if item is None:
        return ""
    least = kind.min_length or 0
    most = kind.max_length if kind.max_length is not None else least + 3
    count = random.randint(least, max(least, min(most, least + 3)))
    return " ".join(text_of(item, random, version) for _ in range(count))


def _by_pattern(kind: SimpleType, random: Random, version: str) -> str:
    matchers = [[matcher(one, version) for one in step] for step in kind.patterns]
    plain = _MAKERS.get(kind.primitive, _string)
    found = ""
    for attempt in range(_PATTERN_TRIES):
        step = kind.patterns[attempt % len(kind.patterns)]
        found = matching_text(python_pattern(random.choice(step), version), random)
        if attempt % 5 == 4:
            found = plain(kind, random)
        fits = kind.min_length is None or len(found) >= kind.min_length
        fits = fits and (kind.max_length is None or len(found) <= kind.max_length)
        if fits and all(any(one.match(found) for one in step) for step in matchers):
            return found
    return found


def _string(kind: SimpleType, random: Random) -> str:
    least = kind.min_length or 0
    most = kind.max_length if kind.max_length is not None else max(least, 12)
    if least > 100_000:
        raise UnsupportedPatternError
    length = random.randint(min(max(least, 1), most), min(most, least + 12))
    if kind.builtin == "language":
        return random.choice(("en", "de", "fr"))
    return "".join(random.choice(_LETTERS) for _ in range(length))


def _decimal(kind: SimpleType, random: Random) -> str:
    scale = kind.fraction_digits if kind.fraction_digits is not None else 2
    if kind.total_digits is not None:
        scale = min(scale, kind.total_digits)
    step = Decimal(1).scaleb(-scale)
    low, high = _limits(kind, step)
    if kind.total_digits is not None:
        most = Decimal(10) ** (kind.total_digits - scale) - step
        low, high = max(low, -most), min(high, most)
    whole = random.randint(0, max(int((high - low) / step), 0))
    return f"{low + whole * step:f}"


def _limits(kind: SimpleType, step: Decimal) -> tuple[Decimal, Decimal]:
    low = high = None
    if kind.low is not None:
        low = Decimal(kind.low[0]) + (0 if kind.low[1] else step)
    if kind.high is not None:
        high = Decimal(kind.high[0]) - (0 if kind.high[1] else step)
    if low is None:
        low = Decimal(0) if high is None or high >= 0 else high - _SPREAD
    if high is None or high - low > _SPREAD:
        high = low + _SPREAD
    # A sample of a type that begins far below zero is near zero all the same.
    if kind.low is not None and low < -_SPREAD and (kind.high is None or kind.high[0] > _SPREAD):
        low, high = Decimal(0), Decimal(_SPREAD)
    return low, high


def _float(kind: SimpleType, random: Random) -> str:
    low = float(kind.low[0]) if kind.low else 0.0
    high = float(kind.high[0]) if kind.high else max(low, 0.0) + _SPREAD
    low = max(low, high - 10 * _SPREAD) if kind.low is None else low
    return repr(round(random.uniform(low, high), 3))


def _moment(kind: SimpleType, random: Random) -> str:
    at = (_START + timedelta(seconds=random.randint(0, 31_535_999))).isoformat()
    return at if "explicitTimezone=prohibited" in kind.conditions else f"{at}Z"


def _day(kind: SimpleType, random: Random) -> str:
    at = (_START.date() + timedelta(days=random.randint(0, 365))).isoformat()
    return f"{at}Z" if "explicitTimezone=required" in kind.conditions else at


def _bounded(make: Callable[[SimpleType, Random], str]) -> Callable[[SimpleType, Random], str]:
    """A bound is a value itself, where there is one that is allowed."""

    def text(kind: SimpleType, random: Random) -> str:
        for bound in (kind.low, kind.high):
            if bound is not None and bound[1]:
                return str(bound[0])
        return make(kind, random)

    return text


def _binary(kind: SimpleType, random: Random) -> str:
    least = kind.min_length or 0
    most = kind.max_length if kind.max_length is not None else least + 8
    data = random.randbytes(random.randint(least, max(least, min(most, least + 8))))
    return data.hex().upper() if kind.kind == "hexBinary" else b64encode(data).decode()


def _fixed(*texts: str) -> Callable[[SimpleType, Random], str]:
    def text(_kind: SimpleType, random: Random) -> str:
        return random.choice(texts)

    return text


_MAKERS: dict[str, Callable[[SimpleType, Random], str]] = {
    "string": _string,
    "decimal": _decimal,
    "float": _float,
    "double": _float,
    "boolean": _fixed("true", "false"),
    "dateTime": _bounded(_moment),
    "date": _bounded(_day),
    "time": _bounded(_fixed("12:00:00", "08:30:00")),
    "duration": _bounded(_fixed("P1D", "PT5M")),
    "gYear": _bounded(_fixed("2024", "2025")),
    "gYearMonth": _bounded(_fixed("2024-05", "2025-01")),
    "gMonth": _bounded(_fixed("--05", "--11")),
    "gMonthDay": _bounded(_fixed("--05-17", "--11-02")),
    "gDay": _bounded(_fixed("---05", "---17")),
    "anyURI": _fixed("https://example.com/a", "urn:example:b"),
    "QName": _fixed("name", "other"),
    "hexBinary": _binary,
    "base64Binary": _binary,
}
