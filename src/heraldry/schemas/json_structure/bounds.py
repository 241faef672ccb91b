"""Whether the primitive types and the limits of one shape admit the values of another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from random import Random
from typing import TYPE_CHECKING, Any

from heraldry.errors import UnsupportedPatternError
from heraldry.schemas.changes import Effect
from heraldry.schemas.json_structure.limits import matcher
from heraldry.schemas.json_structure.narrowing import unique_key
from heraldry.schemas.json_structure.scalars import FLOATS, INTEGERS, TEXTS, WIDE
from heraldry.schemas.json_structure.shapes import Plain, Record, Shape
from heraldry.schemas.sample_pattern import matching_text

if TYPE_CHECKING:
    from heraldry.schemas.json_structure.containment import Containment

_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_PROBES = ("", "a", "A", "0", "-", " ", "\n", "abc-DEF.123", "\u00e9", "x" * 40)
_TRIES = 20


def kinds_cover(reads: Plain, writes: Plain) -> Effect:
    """What readers of a primitive type do with the values of another, limits aside."""
    if reads.kind == "binary" and writes.kind == "binary":
        return "safe" if reads.encoding == writes.encoding else "breaking"
    return "safe" if _kind_covers(reads.kind, writes.kind) else "breaking"


def _kind_covers(reads: str, writes: str) -> bool:
    if reads in (writes, "any"):
        return True
    if reads == "string":
        return writes in TEXTS or writes in WIDE or writes in ("decimal", "binary")
    if reads in WIDE:
        return writes in WIDE and _within(WIDE[writes], WIDE[reads])
    if reads == "decimal":
        return writes in WIDE
    if reads in INTEGERS:
        return writes in INTEGERS and _within(INTEGERS[writes], INTEGERS[reads])
    if reads in FLOATS:
        return writes in INTEGERS or (writes in FLOATS and FLOATS[writes] <= FLOATS[reads])
    if reads == "number":
        return writes in INTEGERS or writes in FLOATS
    # A calendar date or a UUID is also a relative reference.
    return reads == "uri" and writes in ("uuid", "date")


def _within(inner: tuple[int, int], outer: tuple[int, int]) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def limits_cover(pair: Containment, reads: Shape, writes: Shape) -> Effect:
    """What the limits of a reader do with values within those of a writer."""
    effects = [limit_covers(pair, word, reads, writes) for word in reads.limits]
    if "breaking" in effects:
        return "breaking"
    return "undecided" if "undecided" in effects else "safe"


def limit_covers(pair: Containment, word: str, reads: Shape, writes: Shape) -> Effect:
    """The same for one limit of the reader."""
    limit, given = reads.limits[word], writes.limits.get(word)
    if word in _BOUNDS:
        return "safe" if _bounded(word, limit, writes) else "breaking"
    if word == "enum":
        return _enumerated(reads, limit, given)
    if word in ("pattern", "format"):
        if limit == given:
            return "safe"
        if isinstance(writes, Plain) and writes.kind != "string":
            return "undecided"
        return _matched(pair, limit, given, writes) if word == "pattern" else _formatted(given)
    if word == "multipleOf":
        whole = given is not None and (_exact(given) / _exact(limit)).denominator == 1
        return "safe" if whole else "breaking"
    if word in ("minContains", "maxContains"):
        return "safe" if limit == given else "undecided"
    if word.startswith(("min", "max")):
        return "safe" if _counted(word, limit, given, writes) else "breaking"
    return _structured(pair, word, limit, given)


def _counted(word: str, limit: int, given: int | None, writes: Shape) -> bool:
    if word.startswith("min"):
        there = len(writes.required) if isinstance(writes, Record) else 0
        return limit <= max(given or 0, there)
    if isinstance(writes, Record) and writes.rest is False and len(writes.members) <= limit:
        return True
    return given is not None and given <= limit


def _exact(number: Any) -> Fraction:
    return Fraction(str(number)) if type(number) is float else Fraction(number)


def _bounded(word: str, limit: Any, writes: Shape) -> bool:
    """Whether the values of a writer respect a bound, by their own bounds or by their type."""
    limits = writes.limits
    kind = writes.kind if isinstance(writes, Plain) else ""
    types: Mapping[str, tuple[Any, Any]] = INTEGERS | WIDE
    low, high = types.get(kind, (None, None))
    strict = word.startswith("exclusive")
    if word.lower().endswith("minimum"):
        return (
            any(v is not None and (v > limit or (v == limit and not strict))
                for v in (limits.get("minimum"), low))
            or ("exclusiveMinimum" in limits and limits["exclusiveMinimum"] >= limit)
        )  # fmt: skip
    return any(
        v is not None and (v < limit or (v == limit and not strict))
        for v in (limits.get("maximum"), high)
    ) or ("exclusiveMaximum" in limits and limits["exclusiveMaximum"] <= limit)


def _enumerated(reads: Shape, limit: tuple[Any, ...], given: tuple[Any, ...] | None) -> Effect:
    kind = reads.kind if isinstance(reads, Plain) else ""
    if kind == "null" or (kind == "boolean" and set(limit) == {True, False}):
        return "safe"
    if given is None:
        return "breaking"
    known = {unique_key(value) for value in limit}
    return "safe" if all(unique_key(value) in known for value in given) else "breaking"


def _matched(pair: Containment, limit: str, given: str | None, writes: Shape) -> Effect:
    """Patterns are compared by texts: one that only the writer accepts settles it."""
    accepts = matcher(limit)
    least, most = writes.limits.get("minLength", 0), writes.limits.get("maxLength")
    for text in _texts(pair, given):
        fits = least <= len(text) and (most is None or len(text) <= most)
        if fits and (given is None or matcher(given)(text)) and not accepts(text):
            return "breaking"
    return "undecided"


def _texts(pair: Containment, pattern: str | None) -> Iterator[str]:
    yield from _PROBES
    random = Random(0)
    with suppress(UnsupportedPatternError):
        for _ in range(_TRIES if pattern is not None else 0):
            if pair.texts_left <= 0:
                return
            pair.texts_left -= 1
            yield matching_text(str(pattern), random)


def _formatted(given: str | None) -> Effect:
    return "breaking" if given is None else "undecided"


def _structured(pair: Containment, word: str, limit: Any, given: Any) -> Effect:
    if word == "dependentRequired":
        known = given or {}
        kept = all(set(names) <= set(known.get(name, ())) for name, names in limit.items())
        return "safe" if kept else "undecided"
    if word in ("keyNames", "propertyNames"):
        texts = given if isinstance(given, Shape) else Plain(where="", kind="string")
        return pair.covers(limit, texts)
    if isinstance(limit, Shape):
        if given is None:
            return "breaking"  # an empty one has no such part
        return "safe" if pair.alike(limit, given) else "undecided"
    same = isinstance(given, Mapping) and given.keys() == limit.keys()
    if same and all(pair.covers(limit[one], given[one]) == "safe" for one in limit):
        return "safe"
    return "undecided"


def digits_cover(reads: Plain, writes: Plain) -> bool:
    """Whether a decimal has room for every digit that another states."""
    if reads.precision is None and reads.scale is None:
        return True
    if writes.scale is None and reads.scale is not None:
        return False
    if (writes.scale or 0) > (reads.scale if reads.scale is not None else 38):
        return False
    if reads.precision is None:
        return True
    if writes.precision is None:
        return False
    before = writes.precision - (writes.scale or 0)
    return before <= reads.precision - (reads.scale or 0)


def told(value: Any) -> str:
    """A limit as a sentence shows it."""
    return str(value) if isinstance(value, (Decimal, int, float)) else repr(value)
