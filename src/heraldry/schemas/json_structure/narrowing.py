"""The limits of a shape as checks of a value that is of the type already."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

from heraldry.schemas.json_structure.limits import matcher
from heraldry.schemas.json_structure.scalars import Wrong, format_check
from heraldry.schemas.json_structure.shapes import Shape
from heraldry.schemas.located import short

if TYPE_CHECKING:
    from heraldry.schemas.json_structure.reading import Place, Run

Check = Callable[[Any, Any, "Place", "Run"], None]
"""Takes the JSON value, the native one, where it is, and the run that problems go to."""

Accepts = Callable[[Shape], Callable[[Any, "Run"], bool]]

_WORDED: dict[str, tuple[str, Callable[[Any, Any], bool]]] = {
    "minimum": ("is less than the minimum of", lambda value, limit: value < limit),
    "maximum": ("is greater than the maximum of", lambda value, limit: value > limit),
    "exclusiveMinimum": (
        "is not greater than the exclusive minimum of",
        lambda value, limit: value <= limit,
    ),
    "exclusiveMaximum": (
        "is not less than the exclusive maximum of",
        lambda value, limit: value >= limit,
    ),
    "multipleOf": ("is not a multiple of", lambda value, limit: not _is_multiple(value, limit)),
}
_COUNTED: dict[str, str] = {
    "Length": "characters",
    "Items": "items",
    "Properties": "properties",
    "Entries": "entries",
}


def checks_of(shape: Shape, accepts: Accepts) -> tuple[Check, ...]:
    """The checks of the limits of a shape."""
    limits = shape.limits
    checks: list[Check] = []
    for word, limit in limits.items():
        if word in _WORDED:
            checks.append(_bound(word, limit))
        elif word.startswith(("min", "max")) and not word.endswith("Contains"):
            checks.append(_count(word, limit))
        elif word in _MAKERS:
            checks.append(_MAKERS[word](limit, limits, accepts))
    return tuple(checks)


def _is_multiple(value: Any, step: Any) -> bool:
    # By their texts, so that 0.3 is a multiple of 0.1, as the author of the schema means.
    number = Fraction(str(value)) if type(value) is float else Fraction(value)
    return (number / (Fraction(str(step)) if type(step) is float else Fraction(step))) % 1 == 0


def _bound(word: str, limit: Any) -> Check:
    told, breaks = _WORDED[word]
    text = str(limit) if type(limit) is Decimal else short(limit)
    wrong = Wrong(word, f"{told} {text}", text)

    def check(value: Any, native: Any, at: Place, run: Run) -> None:
        if breaks(native, limit):
            run.add(at, wrong, value)

    return check


def _count(word: str, limit: int) -> Check:
    unit = _COUNTED[word[3:]]
    least = word.startswith("min")
    wrong = Wrong(word, f"has {'fewer' if least else 'more'} {unit} than {limit}", str(limit))

    def check(value: Any, native: Any, at: Place, run: Run) -> None:
        if len(value) < limit if least else len(value) > limit:
            run.add(at, wrong, value)

    return check


def unique_key(value: Any) -> Any:
    """A hashable stand-in, equal for equal JSON values: 1 is 1.0, but not true."""
    if type(value) is bool:
        return ("boolean", value)
    if type(value) is list:
        return tuple(map(unique_key, value))
    if type(value) is dict:
        return frozenset((name, unique_key(part)) for name, part in value.items())
    return value


def _enum(values: tuple[Any, ...], _limits: Mapping[str, Any], _accepts: Accepts) -> Check:
    one = len(values) == 1
    rule = "const" if one else "enum"
    told = "is not the one allowed value" if one else "is not one of the allowed values"
    wrong = Wrong(rule, told, short(values[0] if one else list(values)))
    allowed = {unique_key(value) for value in values}

    def check(value: Any, native: Any, at: Place, run: Run) -> None:
        if unique_key(native) not in allowed:
            run.add(at, wrong, value)

    return check


def _pattern(pattern: str, _limits: Mapping[str, Any], _accepts: Accepts) -> Check:
    matches = matcher(pattern)
    wrong = Wrong("pattern", "does not match the pattern", pattern)

    def check(value: Any, native: Any, at: Place, run: Run) -> None:
        if not matches(value):
            run.add(at, wrong, value)

    return check


def _format(name: str, _limits: Mapping[str, Any], _accepts: Accepts) -> Check:
    fits = format_check(name)
    wrong = Wrong("format", f"is not a valid {name}", name)

    def check(value: Any, native: Any, at: Place, run: Run) -> None:
        if not fits(value):
            run.add(at, wrong, value)

    return check


def _contains(shape: Shape, limits: Mapping[str, Any], accepts: Accepts) -> Check:
    fits = accepts(shape)
    least, most = limits.get("minContains", 1), limits.get("maxContains")
    few = Wrong("contains", "has too few items of the kind that must be there", str(least))
    many = Wrong("maxContains", "has too many items of the kind that must be there", str(most))

    def check(value: Any, native: Any, at: Place, run: Run) -> None:
        count = sum(fits(part, run) for part in value)
        if count < least:
            run.add(at, few, value)
        if most is not None and count > most:
            run.add(at, many, value)

    return check


def _names(
    shape: Shape, _limits: Mapping[str, Any], accepts: Accepts, rule: str = "propertyNames"
) -> Check:
    fits = accepts(shape)
    wrong = Wrong(rule, "has a key whose name is not allowed", "")

    def check(value: Any, native: Any, at: Place, run: Run) -> None:
        for name in value:
            if not fits(name, run) and not (not at and name in ("$schema", "$uses")):
                run.add(at, wrong, name)

    return check


def _by_pattern(
    shapes: Mapping[str, Shape],
    _limits: Mapping[str, Any],
    accepts: Accepts,
    rule: str = "patternProperties",
) -> Check:
    rules = [(matcher(pattern), accepts(shape)) for pattern, shape in shapes.items()]
    wrong = Wrong(rule, "is not what its name asks for", "")

    def check(value: Any, native: Any, at: Place, run: Run) -> None:
        for matches, fits in rules:
            for name, part in value.items():
                if matches(name) and not fits(part, run):
                    run.add((at, name), wrong, part)

    return check


def _dependent(
    names: Mapping[str, tuple[str, ...]], _limits: Mapping[str, Any], _accepts: Accepts
) -> Check:
    def check(value: Any, native: Any, at: Place, run: Run) -> None:
        for name, needed in names.items():
            for other in needed if name in value else ():
                if other not in value:
                    told = f"has the property {name!r} without {other!r}"
                    run.add(at, Wrong("dependentRequired", told, other), sorted(value, key=str))

    return check


def _has(shape: Shape, _limits: Mapping[str, Any], accepts: Accepts) -> Check:
    fits = accepts(shape)
    wrong = Wrong("has", "has no value of the kind that must be there", "")

    def check(value: Any, native: Any, at: Place, run: Run) -> None:
        if not any(fits(part, run) for part in value.values()):
            run.add(at, wrong, value)

    return check


_MAKERS: dict[str, Callable[[Any, Mapping[str, Any], Accepts], Check]] = {
    "enum": _enum,
    "pattern": _pattern,
    "format": _format,
    "contains": _contains,
    "propertyNames": _names,
    "keyNames": partial(_names, rule="keyNames"),
    "patternProperties": _by_pattern,
    "patternKeys": partial(_by_pattern, rule="patternKeys"),
    "dependentRequired": _dependent,
    "has": _has,
}
