"""Changes of simple types: which values are no longer, or newly, allowed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from random import Random
from typing import Any, Final

from heraldry.errors import UnsupportedPatternError
from heraldry.schemas.changes import Effect
from heraldry.schemas.located import short
from heraldry.schemas.xsd.sample_scalars import text_of
from heraldry.schemas.xsd.simple_type import SimpleType, simple_type

TRIES: Final = 4_000
"""How many texts a comparison tries; what is not decided by then stays undecided."""

SAMPLES: Final = 40
"""How many texts of a type are tried on the other one."""

_LENGTH = 5_000
_FAMILY = {
    "normalizedString": "string",
    "token": "normalizedString",
    "language": "token",
    "Name": "token",
    "NMTOKEN": "token",
    "NCName": "Name",
    "ID": "NCName",
    "IDREF": "NCName",
    "ENTITY": "NCName",
}
# Every text is one of these: only its white space is changed.
_ANY_TEXT = {"string", "normalizedString", "token", "anySimpleType", "anyAtomicType"}
_DURATIONS = {"dayTimeDuration", "yearMonthDuration"}
# What an IDREF or an ENTITY may name.
_LINKED = {"ID", "ENTITY"}
_NUMBERS = {("decimal", "float"), ("decimal", "double"), ("float", "double"), ("double", "float")}
_PROBES = (
    "", " ", "a", "A b", "0", "1", "-1", "01", "1.0", "1.5", "-0.001", "1e3", "INF", "NaN",
    "123456789012345678901234567890", "-123456789012345678901234567890", "true", "false",
    "2024-01-31", "2024-01-31Z", "2024-01-31T10:00:00", "2024-01-31T10:00:00Z", "10:00:00",
    "P1D", "--01-31", "2024", "0A", "aGk=", "urn:x", "é", "a  b", "\tx\n",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference of two types, by the effect on old values and on new ones."""

    rule: str
    told: str
    backward: Effect
    forward: Effect


class Tries:
    """How many texts may still be tried, over all the types of a comparison."""

    def __init__(self) -> None:
        self.left = TRIES


def differences(old: Any, new: Any, tries: Tries) -> list[Difference]:
    """The differences of two simple types, given as components; none where they are alike."""
    pair = _Pair(old, new, tries)
    one, other = pair.old, pair.new
    if one == other:
        return []
    if "list" in (one.kind, other.kind) or "union" in (one.kind, other.kind):
        return [pair.as_a_whole()]
    if one.primitive != other.primitive or _is_whole(one) != _is_whole(other):
        return [pair.as_a_whole()]
    found = [*_enumeration(pair), *_ranges(pair), *_lengths(pair), *_digits(pair), *_rest(pair)]
    return found or ([pair.as_a_whole()] if one.builtin != other.builtin else [])


def _is_whole(kind: SimpleType) -> bool:
    return kind.kind == "integer"


class _Pair:
    """Two types, and the texts that tell them apart."""

    def __init__(self, old: Any, new: Any, tries: Tries) -> None:
        self._old, self._new, self._tries = old, new, tries
        self.old, self.new = simple_type(old), simple_type(new)

    def effect(self, *, narrower: bool, forward: bool = False) -> Effect:
        """Safe where nothing is narrower; else breaking, if a text shows it."""
        if not narrower:
            return "safe"
        return "breaking" if (self._refused_old if forward else self._refused_new) else "undecided"

    @cached_property
    def _refused_new(self) -> bool:
        return _refused(self._old, self.old, self._new, self._tries)

    @cached_property
    def _refused_old(self) -> bool:
        return _refused(self._new, self.new, self._old, self._tries)

    def accepts(self, text: str, *, new: bool) -> bool:
        return _accepts(self._new if new else self._old, text)

    def as_a_whole(self) -> Difference:
        rule = "type-changed"
        if self.old.kind == self.new.kind == "union":
            rule = "union-changed"
        elif self.old.kind == self.new.kind == "list":
            rule = "list-changed"
        told = f"has the type {_named(self.new)} instead of {_named(self.old)}"
        return Difference(
            rule,
            told,
            self.effect(narrower=not included(self.old, self.new)),
            self.effect(narrower=not included(self.new, self.old), forward=True),
        )


def included(part: SimpleType, whole: SimpleType) -> bool:
    """Whether every text of one type is known to be one of another."""
    if part == whole:
        return True
    if whole.builtin in _ANY_TEXT and _is_free(whole):
        return _is_kin(part, whole)
    if whole.kind == "union" and whole.enumeration is None and not whole.patterns:
        if part.kind == "union":
            return all(any(included(p, w) for w in whole.members) for p in part.members)
        return any(included(part, member) for member in whole.members)
    if part.kind == whole.kind == "list":
        assert part.item is not None
        assert whole.item is not None
        return included(part.item, whole.item) and not _is_narrower(part, whole)
    if whole.kind == "list" and whole.item is not None and _is_one_word(part):
        few = (whole.min_length or 0) <= 1 and whole.max_length != 0
        plain = whole.enumeration is None and not whole.patterns
        return few and plain and included(part, whole.item)
    if "list" in (part.kind, whole.kind) or "union" in (part.kind, whole.kind):
        return False
    if part.primitive != whole.primitive:
        return (part.primitive, whole.primitive) in _NUMBERS and _is_free(whole)
    if _is_whole(whole) and not _is_whole(part):
        return False
    return not _is_narrower(part, whole)


def _is_one_word(kind: SimpleType) -> bool:
    """Whether a text of the type is never empty and has no spaces, like an item of a list."""
    if kind.kind in ("list", "union", "text", "hexBinary", "base64Binary"):
        return False
    return kind.kind != "string" or kind.builtin not in _ANY_TEXT


def _is_free(kind: SimpleType) -> bool:
    return kind.enumeration is None and not (
        kind.patterns or kind.conditions or kind.low or kind.high
        or kind.min_length or kind.max_length is not None
        or kind.total_digits or kind.fraction_digits is not None
    )  # fmt: skip


def _is_narrower(part: SimpleType, whole: SimpleType) -> bool:
    """Whether a facet of ``whole`` may refuse a text of ``part``."""
    if whole.enumeration is not None and not set(part.enumeration or ("\0",)) <= set(
        whole.enumeration
    ):
        return True
    return (
        _low_narrower(part, whole)
        or _high_narrower(part, whole)
        or (whole.min_length or 0) > (part.min_length or 0)
        or _less(whole.max_length, part.max_length)
        or _less(whole.total_digits, part.total_digits)
        or _less(whole.fraction_digits, part.fraction_digits)
        or not set(whole.patterns) <= set(part.patterns)
        or not set(whole.conditions) <= set(part.conditions)
        or not _is_kin(part, whole)
        or (part.white_space != whole.white_space and not _is_free(whole))
    )


def _is_kin(part: SimpleType, whole: SimpleType) -> bool:
    """Whether the standard's own type of ``part`` is one of the kind of ``whole``."""
    if part.builtin in _LINKED and whole.builtin != part.builtin:
        # Its values are looked up elsewhere in the message.
        return False
    if whole.builtin in _DURATIONS:
        return part.builtin == whole.builtin
    if part.primitive != "string" or whole.builtin in _ANY_TEXT:
        return True
    name: str | None = part.builtin
    while name is not None and name != whole.builtin:
        name = _FAMILY.get(name)
    return name is not None


def _less(limit: int | None, other: int | None) -> bool:
    return limit is not None and (other is None or limit < other)


def _low_narrower(part: SimpleType, whole: SimpleType) -> bool:
    if whole.low is None:
        return False
    return part.low is None or not _at_most(whole.low, part.low, below=True)


def _high_narrower(part: SimpleType, whole: SimpleType) -> bool:
    if whole.high is None:
        return False
    return part.high is None or not _at_most(part.high, whole.high, below=False)


def _at_most(one: tuple[Any, bool], other: tuple[Any, bool], *, below: bool) -> bool:
    try:
        if one[0] == other[0]:
            return one[1] or not other[1] if below else other[1] or not one[1]
        return bool(one[0] < other[0])
    except (TypeError, ValueError):
        return False


def _enumeration(pair: _Pair) -> Iterator[Difference]:
    old, new = pair.old.enumeration, pair.new.enumeration
    if old is None or new is None:
        if old is not new:
            told = "is now one of a list of values" if old is None else "is no longer enumerated"
            yield Difference(
                "enum-added" if old is None else "enum-removed",
                told,
                pair.effect(narrower=old is None),
                pair.effect(narrower=new is None, forward=True),
            )
        return
    for text in old:
        if text not in new:
            refused = pair.accepts(text, new=False) and not pair.accepts(text, new=True)
            effect: Effect = "breaking" if refused else "safe"
            yield Difference("enum-value-removed", f"lost the value {short(text)}", effect, "safe")
    for text in new:
        if text not in old:
            refused = pair.accepts(text, new=True) and not pair.accepts(text, new=False)
            effect = "breaking" if refused else "safe"
            yield Difference("enum-value-added", f"got the new value {short(text)}", "safe", effect)


def _ranges(pair: _Pair) -> Iterator[Difference]:
    old, new = pair.old, pair.new
    if old.low != new.low or old.high != new.high:
        back = _low_narrower(old, new) or _high_narrower(old, new)
        forth = _low_narrower(new, old) or _high_narrower(new, old)
        told = "has another range of values"
        if old.builtin != new.builtin and not (back and forth):
            told = f"has the type {_named(new)} instead of {_named(old)}"
            rule = "type-narrowed" if back else "type-widened"
        else:
            rule = "range-changed"
        yield Difference(
            rule, told, pair.effect(narrower=back), pair.effect(narrower=forth, forward=True)
        )


def _lengths(pair: _Pair) -> Iterator[Difference]:
    old, new = pair.old, pair.new
    if (old.min_length or 0, old.max_length) != (new.min_length or 0, new.max_length):
        back = (new.min_length or 0) > (old.min_length or 0) or _less(
            new.max_length, old.max_length
        )
        forth = (old.min_length or 0) > (new.min_length or 0) or _less(
            old.max_length, new.max_length
        )
        yield Difference(
            "length-changed",
            f"may have {_length(new)} characters or parts, it was {_length(old)}",
            pair.effect(narrower=back),
            pair.effect(narrower=forth, forward=True),
        )


def _length(kind: SimpleType) -> str:
    least = kind.min_length or 0
    return f"{least} to {kind.max_length}" if kind.max_length is not None else f"{least} or more"


def _digits(pair: _Pair) -> Iterator[Difference]:
    old, new = pair.old, pair.new
    limits = [(one.total_digits, one.fraction_digits) for one in (old, new)]
    if limits[0] != limits[1]:
        back = any(_less(n, o) for o, n in zip(*limits, strict=True))
        forth = any(_less(o, n) for o, n in zip(*limits, strict=True))
        yield Difference(
            "digits-changed",
            "has another limit to its digits",
            pair.effect(narrower=back),
            pair.effect(narrower=forth, forward=True),
        )


def _rest(pair: _Pair) -> Iterator[Difference]:
    old, new = pair.old, pair.new
    for rule, told, before, after in (
        ("pattern-changed", "has another pattern", old.patterns, new.patterns),
        ("condition-changed", "has another condition", old.conditions, new.conditions),
    ):
        if set(before) != set(after):
            yield Difference(
                rule,
                told,
                pair.effect(narrower=not set(after) <= set(before)),
                pair.effect(narrower=not set(before) <= set(after), forward=True),
            )
    if old.primitive == "string" and old.builtin != new.builtin:
        spaced = old.white_space != new.white_space
        yield Difference(
            "type-changed",
            f"has the type {_named(new)} instead of {_named(old)}",
            pair.effect(narrower=not _is_kin(old, new) or (spaced and not _is_free(new))),
            pair.effect(
                narrower=not _is_kin(new, old) or (spaced and not _is_free(old)), forward=True
            ),
        )
    elif old.white_space != new.white_space:
        yield Difference(
            "white-space-changed",
            "treats white space in another way",
            pair.effect(narrower=not _is_free(new)),
            pair.effect(narrower=not _is_free(old), forward=True),
        )


def _named(kind: SimpleType) -> str:
    if kind.kind == "list" and kind.item is not None:
        return f"list of {_named(kind.item)}"
    if kind.kind == "union":
        return "union of " + ", ".join(map(_named, kind.members[:5]))
    return f"xs:{kind.builtin}"


def _refused(component: Any, kind: SimpleType, by: Any, tries: Tries) -> bool:
    """Whether a text is known that one type accepts and the other refuses."""
    for text in _texts(kind):
        if tries.left <= 0:
            return False
        tries.left -= 1
        if _accepts(component, text) and not _accepts(by, text):
            return True
    return False


def _texts(kind: SimpleType) -> Iterator[str]:
    yield from _edges(kind)
    yield from _PROBES
    random = Random(0)
    for _ in range(SAMPLES):
        try:
            yield text_of(kind, random, "1.1")
        except (ValueError, ArithmeticError, UnsupportedPatternError):
            return


def _edges(kind: SimpleType) -> Iterator[str]:
    yield from (kind.enumeration or ())[:1000]
    for bound in (kind.low, kind.high):
        if bound is not None:
            yield str(bound[0])
            if isinstance(bound[0], (int, Decimal)):
                yield f"{Decimal(bound[0]) + 1:f}"
                yield f"{Decimal(bound[0]) - 1:f}"
    for length in (kind.min_length, kind.max_length):
        if length is not None and length <= _LENGTH:
            for unit in ("a", "A", "0", "00", "aGk="):
                yield unit * length
    total, fraction = kind.total_digits, kind.fraction_digits
    if total is not None and total <= _LENGTH:
        yield "9" * total
        yield "0." + "9" * min(total, fraction if fraction is not None else total)
    if fraction is not None and fraction <= _LENGTH:
        yield "0." + "1" * fraction if fraction else "12345678901234567890"
    yield "9" * 40
    yield "0.1234567890123456789"
    yield "a" * 300
    if kind.item is not None:
        for text in list(_edges(kind.item))[:40]:
            yield text
            yield " ".join([text] * min(kind.max_length or 3, 50))
    for member in kind.members:
        yield from list(_texts(member))[:100]


def _accepts(component: Any, text: str) -> bool:
    try:
        return bool(component.is_valid(text))
    except Exception:  # noqa: BLE001
        # A text that the library stumbles over is one it does not accept.
        return False
