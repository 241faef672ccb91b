"""Differences in what single values must be: types, lists of values, limits, defaults."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, Final

from heraldry.errors import UnreadableError
from heraldry.schemas.json_schema.compare_found import Found
from heraldry.schemas.json_schema.compare_reading import Node, Part, Version, fraction
from heraldry.schemas.json_schema.compare_walk import Pair, Walk
from heraldry.schemas.json_schema.document import types_of
from heraldry.schemas.located import short
from heraldry.schemas.parse import encode

NUMBERS: Final = frozenset(("integer", "fraction"))
_ALL: Final = frozenset(("null", "boolean", "object", "array", "string", *NUMBERS))
_DEEP: Final = 4
_SHOWN: Final = 5

# The keyword, the type it is about, whether it is a lower limit, and what the limit counts.
_COUNTS: Final = (
    ("minLength", "string", True, "characters"),
    ("maxLength", "string", False, "characters"),
    ("minItems", "array", True, "items"),
    ("maxItems", "array", False, "items"),
    ("minProperties", "object", True, "properties"),
    ("maxProperties", "object", False, "properties"),
)


def types(version: Version, part: Part) -> frozenset[str]:
    """The types that a part accepts at most; numbers are ``integer`` and ``fraction``."""
    if not isinstance(part.schema, Mapping):
        return _types(version, part, _DEEP)
    known = version.types.get(id(part.schema))
    if known is None:
        known = version.types[id(part.schema)] = _types(version, part, _DEEP)
    return known


def _types(version: Version, part: Part, depth: int) -> frozenset[str]:
    try:
        node = version.node(part)
    except UnreadableError:
        return _ALL
    if node.never:
        return frozenset()
    names = types_of(node.asked)
    found = _ALL if names is None else _spread(names)
    values = listed(node)
    if values is not None:
        found &= frozenset(_type(value) for value in values)
    if depth:
        for one in node.parts("allOf"):
            found &= _types(version, one, depth - 1)
        for key in ("anyOf", "oneOf"):
            branches = node.parts(key)
            if branches:
                found &= frozenset().union(*(_types(version, b, depth - 1) for b in branches))
    return found


def compare_types(walk: Walk, pair: Pair, _old: Node, _new: Node) -> None:
    """Types that are accepted no longer, or now."""
    before, after = types(walk.old, pair.old), types(walk.new, pair.new)
    if before == after:
        return
    lost, won = before - after, after - before
    walk.add(
        pair,
        Found(
            rule="type-changed",
            old=_old.place("type"),
            new=_new.place("type"),
            fact=f"The type of {pair.subject} changed from {_named(before)} to {_named(after)}",
            backward="breaking" if lost else "safe",
            forward="breaking" if won else "safe",
            backward_why=f"old messages with {_kinds(lost)} there are refused",
            forward_why=f"the old version refuses new messages with {_kinds(won)} there",
        ),
    )


def compare_values(walk: Walk, pair: Pair, old: Node, new: Node) -> None:
    """Values of ``enum`` and ``const``."""
    before, after = listed(old), listed(new)
    if before is None and after is None:
        return
    keyword = "const" if "const" in old.asked or "const" in new.asked else "enum"
    places = old.place(*_word(old)), new.place(*_word(new))
    if before is None or after is None:
        added = before is None
        rule = f"{keyword}-{'added' if added else 'removed'}"
        shown = _shown((after if added else before) or [])
        fact = f"The values of {pair.subject} are {'now' if added else 'no longer'} limited"
        walk.add(pair, _limited(rule, places, f"{fact} to {shown}", narrowed=added))
        return
    lost, won = _without(before, after), _without(after, before)
    for rule, values, narrowed in (
        (f"{keyword}-value-removed", lost, True),
        (f"{keyword}-value-added", won, False),
    ):
        if values:
            word = "no longer accepted" if narrowed else "accepted now"
            many = "values" if len(values) > 1 else "value"
            fact = f"The {many} {_shown(values)} of {pair.subject} {_are(values)} {word}"
            those = "one of them" if len(values) > 1 else "it"
            walk.add(pair, _limited(rule, places, fact, narrowed=narrowed, those=those))


def compare_limits(walk: Walk, pair: Pair, old: Node, new: Node) -> None:
    """Lower and upper limits of numbers, lengths and counts, and multiples."""
    shared = types(walk.old, pair.old) & types(walk.new, pair.new)
    for key, kind, lower, unit in _COUNTS:
        if kind in shared:
            before, after = (_count(node.asked.get(key), lower=lower) for node in (old, new))
            places = old.place(key), new.place(key)
            _compare_limit(walk, pair, key, places, (before, after), lower=lower, unit=unit)
    if shared & NUMBERS:
        for name in ("minimum", "maximum"):
            places = old.place(*_bound_word(old, name)), new.place(*_bound_word(new, name))
            limits = old.bound(name), new.bound(name)
            lower = name == "minimum"
            _compare_limit(walk, pair, name, places, limits, lower=lower, unit="")
        _compare_multiples(walk, pair, old, new)


def compare_defaults(walk: Walk, pair: Pair, old: Node, new: Node) -> None:
    """Defaults, which no reader of messages fills in."""
    if ("default" in old.asked) == ("default" in new.asked) and _same(
        old.asked.get("default"), new.asked.get("default")
    ):
        return
    found = Found(
        rule="default-changed",
        old=old.place("default"),
        new=new.place("default"),
        fact=f"The default of {pair.subject} changed, which changes no message",
    )
    walk.found.append(found)


def listed(node: Node) -> list[Any] | None:
    """The values a node is limited to, or None where it has no such list."""
    values = node.asked.get("enum")
    values = values if isinstance(values, list) else None
    if "const" in node.asked:
        only = [node.asked["const"]]
        return only if values is None or not _without(only, values) else []
    return values


def _compare_limit(
    walk: Walk,
    pair: Pair,
    key: str,
    places: tuple[str | None, str | None],
    limits: tuple[tuple[Fraction, bool] | None, tuple[Fraction, bool] | None],
    *,
    lower: bool,
    unit: str,
) -> None:
    before, after = limits
    if before == after:
        return
    # With the sign of an upper limit turned, a larger limit is the narrower one.
    sign = 1 if lower else -1
    orders = [None if limit is None else (sign * limit[0], limit[1]) for limit in limits]
    narrowed = orders[0] is None or (orders[1] is not None and orders[1] > orders[0])
    if before is None or after is None:
        word = "added" if before is None else "removed"
        told = f"({_limit(before or after)})"
    else:
        word = "raised" if narrowed == lower else "lowered"
        told = f"from {_limit(before)} to {_limit(after)}"
    beyond = f"{'fewer' if lower else 'more'} {unit}" if unit else "a value beyond it"
    fact = f"The {key} of {pair.subject} was {word} {told}"
    found = _limited(f"{kebab(key)}-{word}", places, fact, narrowed=narrowed, those=beyond)
    walk.add(pair, found)


def _compare_multiples(walk: Walk, pair: Pair, old: Node, new: Node) -> None:
    before, after = (
        None if node.asked.get("multipleOf") is None else fraction(node.asked["multipleOf"])
        for node in (old, new)
    )
    if before == after:
        return
    narrowed = after is not None and (before is None or (before / after).denominator != 1)
    widened = before is not None and (after is None or (after / before).denominator != 1)
    told = [_limit((step, False)) if step else "none" for step in (before, after)]
    fact = f"The multipleOf of {pair.subject} changed from {told[0]} to {told[1]}"
    walk.add(
        pair,
        Found(
            rule="multiple-of-changed",
            old=old.place("multipleOf"),
            new=new.place("multipleOf"),
            fact=fact,
            backward="breaking" if narrowed else "safe",
            forward="breaking" if widened else "safe",
            backward_why="old messages with other numbers there are refused",
            forward_why="the old version refuses new messages with other numbers there",
        ),
    )


def _limited(
    rule: str,
    places: tuple[str | None, str | None],
    fact: str,
    *,
    narrowed: bool,
    those: str = "another value",
) -> Found:
    """A limit that became narrower or wider."""
    return Found(
        rule=rule,
        old=places[0],
        new=places[1],
        fact=fact,
        backward="breaking" if narrowed else "safe",
        forward="safe" if narrowed else "breaking",
        backward_why=f"old messages with {those} there are refused",
        forward_why=f"the old version refuses new messages with {those} there",
    )


def _spread(names: Iterable[str]) -> frozenset[str]:
    given = frozenset(names)
    return (given - {"number"}) | (NUMBERS if "number" in given else frozenset())


def _type(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, float):
        return "integer" if value.is_integer() else "fraction"
    if isinstance(value, Mapping):
        return "object"
    names = {int: "integer", str: "string", list: "array"}
    return names.get(type(value), "null")


def _names(kinds: frozenset[str]) -> list[str]:
    whole = (kinds - NUMBERS) | {"number"} if kinds >= NUMBERS else kinds
    names = (name.replace("fraction", "fractional number") for name in whole)
    return sorted(names, key=lambda name: (name == "null", name))


def _named(kinds: frozenset[str]) -> str:
    return "any type" if kinds == _ALL else " or ".join(_names(kinds)) or "no type"


def _kinds(kinds: frozenset[str]) -> str:
    if kinds and kinds >= _ALL - {"object", "array", "string"}:
        return "other types"
    words = {"integer": "an integer", "array": "an array", "object": "an object"}
    return " or ".join(words.get(n, n if n == "null" else f"a {n}") for n in _names(kinds))


def _count(value: Any, *, lower: bool) -> tuple[Fraction, bool] | None:
    if value is None or (lower and value == 0):
        return None
    return fraction(value), False


def _limit(limit: tuple[Fraction, bool] | None) -> str:
    if limit is None:
        return ""
    number = limit[0]
    text = str(number.numerator) if number.denominator == 1 else str(float(number))
    return f"{short(text)[1:-1]} (exclusive)" if limit[1] else short(text)[1:-1]


def _word(node: Node) -> tuple[str, ...]:
    return tuple(key for key in ("const", "enum") if key in node.asked)[:1]


def _bound_word(node: Node, name: str) -> tuple[str, ...]:
    words = (name, f"exclusive{name.capitalize()}")
    return tuple(key for key in words if key in node.asked)[:1]


def _without(values: list[Any], others: list[Any]) -> list[Any]:
    known = {_identity(value) for value in others}
    return [value for value in values if _identity(value) not in known]


def _same(one: Any, other: Any) -> bool:
    return bool(_identity(one) == _identity(other))


def _identity(value: Any) -> Any:
    """What equal JSON values share, so that 1 is 1.0 and not true."""
    if isinstance(value, (Mapping, list)):
        return encode(_plain(value))
    return isinstance(value, bool), value


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _shown(values: list[Any]) -> str:
    more = ", …" if len(values) > _SHOWN else ""
    return ", ".join(short(value) for value in values[:_SHOWN]) + more


def _are(values: list[Any]) -> str:
    return "are" if len(values) > 1 else "is"


def kebab(name: str) -> str:
    """The name of a keyword as rules spell it."""
    return "".join(f"-{c.lower()}" if c.isupper() else c for c in name)
