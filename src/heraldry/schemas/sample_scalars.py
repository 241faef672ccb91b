"""Made-up texts and numbers within the bounds of a schema."""

from __future__ import annotations

import math
import string
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from random import Random
from typing import Any
from uuid import UUID

from heraldry.errors import UnsupportedPatternError
from heraldry.schemas.sample_pattern import matching_text

_EPOCH = datetime(2024, 1, 1, tzinfo=UTC)
_SPAN = 1000
# A text longer than this helps nobody.
_LENGTH_LIMIT = 100_000


def made_string(schema: Mapping[str, Any], random: Random) -> str:
    """A text of the schema's format, pattern or length."""
    low = _whole(schema.get("minLength"), 0)
    high = _whole(schema.get("maxLength"), max(low, 12))
    maker = _FORMATS.get(str(schema.get("format")))
    if maker is not None:
        return maker(random)
    pattern = schema.get("pattern")
    if isinstance(pattern, str):
        return _matching(pattern, low, high if "maxLength" in schema else _LENGTH_LIMIT, random)
    length = random.randint(max(low, min(3, high)), max(low, min(high, max(low, 12))))
    return "".join(random.choices(string.ascii_lowercase, k=min(length, _LENGTH_LIMIT)))


def _matching(pattern: str, low: int, high: int, random: Random) -> str:
    text = ""
    try:
        for _ in range(20):
            text = matching_text(pattern, random)
            if low <= len(text) <= high:
                return text
    except UnsupportedPatternError:
        return _word(random)
    if len(text) < low and not pattern.endswith("$"):
        return text + "x" * min(low - len(text), _LENGTH_LIMIT)
    return text


def made_integer(schema: Mapping[str, Any], random: Random) -> int:
    """A whole number within the bounds."""
    step = _step(schema)
    number = _within(schema, Fraction(step.numerator) if step else Fraction(1), random)
    return int(number)


def made_number(schema: Mapping[str, Any], random: Random) -> int | float:
    """A number within the bounds, of two decimals where they leave room for that."""
    step = _step(schema)
    low, high = _bounds(schema)
    if step is None and low is not None and high is not None and high - low < 1:
        step = (high - low) / 8 or None
    number = _within(schema, step or Fraction(1, 100), random)
    try:
        return int(number) if number.denominator == 1 and step else float(number)
    except OverflowError:
        return int(number)


def _within(schema: Mapping[str, Any], step: Fraction, random: Random) -> Fraction:
    low, high = _bounds(schema)
    if low is None:
        low = Fraction(0) if high is None or high >= 0 else high - _SPAN
    if high is None:
        high = low + max(Fraction(_SPAN), step * 10)
    least, most = math.ceil(low / step), math.floor(high / step)
    least += 1 if least * step == low and _exclusive(schema, "minimum") else 0
    most -= 1 if most * step == high and _exclusive(schema, "maximum") else 0
    return random.randint(least, max(least, most)) * step


def _bounds(schema: Mapping[str, Any]) -> tuple[Fraction | None, Fraction | None]:
    lows = [_number(schema.get(key)) for key in ("minimum", "exclusiveMinimum")]
    highs = [_number(schema.get(key)) for key in ("maximum", "exclusiveMaximum")]
    return (
        max((value for value in lows if value is not None), default=None),
        min((value for value in highs if value is not None), default=None),
    )


def _exclusive(schema: Mapping[str, Any], name: str) -> bool:
    limit = schema.get(f"exclusive{name.capitalize()}")
    if isinstance(limit, bool):  # draft 4
        return limit
    edge = max if name == "minimum" else min
    bounds = [v for v in (_number(schema.get(name)), _number(limit)) if v is not None]
    return limit is not None and edge(bounds) == _number(limit)


def _step(schema: Mapping[str, Any]) -> Fraction | None:
    step = _number(schema.get("multipleOf"))
    return step if step is not None and step > 0 else None


def _number(value: Any) -> Fraction | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    # By its text, so that 0.1 is a tenth, as the author of the schema means.
    return Fraction(str(value)) if isinstance(value, float) else Fraction(value)


def _whole(value: Any, otherwise: int) -> int:
    return int(value) if isinstance(value, (int, float)) else otherwise


def _word(random: Random) -> str:
    return "".join(random.choices(string.ascii_lowercase, k=8))


def _instant(random: Random) -> datetime:
    return _EPOCH + timedelta(milliseconds=random.randrange(365 * 86_400_000))


def _host(random: Random) -> str:
    return f"{_word(random)}.example.com"


_FORMATS: dict[str, Callable[[Random], str]] = {
    "date-time": lambda r: _instant(r).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
    "date": lambda r: _instant(r).date().isoformat(),
    "time": lambda r: _instant(r).strftime("%H:%M:%SZ"),
    "duration": lambda r: f"PT{r.randint(1, 59)}M",
    "email": lambda r: f"{_word(r)}@example.com",
    "idn-email": lambda r: f"{_word(r)}@example.com",
    "uri": lambda r: f"https://{_host(r)}/{_word(r)}",
    "uri-reference": lambda r: f"/{_word(r)}",
    "iri": lambda r: f"https://{_host(r)}/{_word(r)}",
    "iri-reference": lambda r: f"/{_word(r)}",
    "uri-template": lambda r: f"/{_word(r)}/{{id}}",
    "uuid": lambda r: str(UUID(int=r.getrandbits(128), version=4)),
    "ipv4": lambda r: "192.0.2." + str(r.randint(1, 254)),
    "ipv6": lambda r: f"2001:db8::{r.randint(1, 0xFFFF):x}",
    "hostname": _host,
    "idn-hostname": _host,
    "json-pointer": lambda r: f"/{_word(r)}",
    "relative-json-pointer": lambda r: f"{r.randint(0, 3)}/{_word(r)}",
    "regex": lambda r: f"^{_word(r)}$",
}
