"""Whether every value of one shape is accepted by another: yes, no, or not decided."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from heraldry.schemas.changes import Effect
from heraldry.schemas.json_structure.bounds import kinds_cover, limits_cover
from heraldry.schemas.json_structure.narrowing import unique_key
from heraldry.schemas.json_structure.reading import Readers, Run, attempt
from heraldry.schemas.json_structure.scalars import writer
from heraldry.schemas.json_structure.shapes import (
    Choice,
    Composition,
    Plain,
    Record,
    Ref,
    Row,
    Sequence,
    Shape,
    Structure,
    Table,
    Union,
)

PAIR_LIMIT: Final = 20_000
"""How many pairs of types are compared before the rest counts as not decided."""

TEXT_LIMIT: Final = 5_000
"""How many texts are made up to tell patterns apart; past it they are not decided."""

_ORDER = ("safe", "undecided", "breaking")


def worst(effects: Iterable[Effect]) -> Effect:
    """The least favourable of several effects; safe where there is none."""
    return max(effects, key=_ORDER.index, default="safe")


def best(effects: Iterable[Effect]) -> Effect:
    """The most favourable of several effects; breaking where there is none."""
    return min(effects, key=_ORDER.index, default="breaking")


class Containment:
    """A reader's structure and a writer's: ``covers`` says what becomes of the writer's values.

    A pair of types met again inside itself is covered if all the rest is.
    """

    def __init__(self, reader: Flat, writer: Flat) -> None:
        self._reader, self._writer = reader, writer
        self._reads, self._writes = Readers(reader.structure), Readers(writer.structure)
        self._known: dict[tuple[int, int], Effect] = {}
        self._open: set[tuple[int, int]] = set()
        self._assumed: set[tuple[int, int]] = set()
        self._left = PAIR_LIMIT
        self.texts_left = TEXT_LIMIT
        self._reverse: Containment | None = None

    def covers(self, reads: Shape, writes: Shape) -> Effect:
        """What readers of the one do with values of the other."""
        reads, writes = self._reader.of(reads), self._writer.of(writes)
        key = id(reads), id(writes)
        if key in self._open:
            self._assumed.add(key)
            return "safe"
        if key not in self._known:
            self._left -= 1
            if self._left < 0:
                return "undecided"
            self._open.add(key)
            before = len(self._known)
            effect = self._decided(reads, writes)
            self._open.discard(key)
            if effect != "safe" and key in self._assumed:
                # What was found in between may rest on the wrong assumption.
                for stale in list(self._known)[before:]:
                    del self._known[stale]
            self._known[key] = effect
        return self._known[key]

    def _decided(self, reads: Shape, writes: Shape) -> Effect:
        if is_anything(reads):
            return "safe"
        if isinstance(writes, Plain) and writes.limits.get("enum"):
            return self._values(reads, writes)
        if isinstance(writes, Union):
            # The conditions are met, or not, by the union as a whole.
            bare = self._reader.bare(reads)
            effect = worst(self.covers(bare, part) for part in writes.parts)
        elif isinstance(reads, Union):
            effect = best(self.covers(part, writes) for part in reads.parts)
        elif type(reads) is Shape:  # no type, only conditions
            effect = "safe"
        else:
            effect = self._typed(reads, writes)
        if effect == "breaking" and writes.composition is not None:
            effect = "undecided"  # the conditions may rule out what is refused
        return worst((effect, self.conditions(reads, writes)))

    def _values(self, reads: Shape, writes: Plain) -> Effect:
        write = writer(writes.kind, writes.encoding)
        mine, theirs = self._reads.of(reads), self._writes.of(writes)
        for value in writes.limits["enum"]:
            text = value if write is None else write(value)
            if attempt(mine, text, (), Run())[1] and not attempt(theirs, text, (), Run())[1]:
                return "breaking"
        return "safe"

    def _typed(self, reads: Shape, writes: Shape) -> Effect:
        limits = limits_cover(self, reads, writes)
        match reads, writes:
            case Plain(), Plain():
                return worst((kinds_cover(reads, writes), limits))
            case Record(), Record():
                return worst((limits, *self._record(reads, writes)))
            case Sequence(), Sequence():
                unique: Effect = "safe" if writes.unique or not reads.unique else "breaking"
                return worst((limits, unique, self.covers(reads.item, writes.item)))
            case Table(), Table():
                return worst((limits, self.covers(reads.value, writes.value)))
            case Row(), Row():
                return self._row(reads, writes)
            case Choice(), Choice():
                return self._choice(reads, writes)
            case (Record() | Table() | Choice(), Record() | Table() | Choice()):
                return "undecided"
            case (Sequence() | Row(), Sequence() | Row()):
                return "undecided"
            case _:
                return "breaking"

    def _record(self, reads: Record, writes: Record) -> Iterable[Effect]:
        present = writes.required.union(*(frozenset.intersection(*g) for g in writes.either if g))
        yield "safe" if reads.required <= present else "breaking"
        yield "safe" if not reads.either or reads.either == writes.either else "undecided"
        for name in dict.fromkeys((*reads.members, *writes.members)):
            yield self.member(reads, writes, name)
        yield self.rest(reads.rest, writes.rest)

    def member(self, reads: Record, writes: Record, name: str) -> Effect:
        """What readers do with one member, declared by either side or by both."""
        if name not in writes.members:
            return self.rest(reads.members.get(name, reads.rest), writes.rest)
        return self.rest(reads.members.get(name, reads.rest), writes.members[name])

    def rest(self, reads: Shape | bool, writes: Shape | bool) -> Effect:
        """The same for members that may be of any shape (true) or may not be there (false)."""
        if writes is False or reads is True:
            return "safe"
        if reads is False:
            return "breaking"
        if writes is True:
            return "safe" if is_anything(self._reader.of(reads)) else "breaking"
        return self.covers(reads, writes)

    def _row(self, reads: Row, writes: Row) -> Effect:
        if len(reads.members) != len(writes.members):
            return "breaking"
        pairs = zip(reads.members.values(), writes.members.values(), strict=True)
        return worst(self.covers(one, other) for one, other in pairs)

    def _choice(self, reads: Choice, writes: Choice) -> Effect:
        if reads.selector != writes.selector:
            return "breaking"
        return worst(
            self.covers(reads.members[name], part) if name in reads.members else "breaking"
            for name, part in writes.members.items()
        )

    def conditions(self, reads: Shape, writes: Shape) -> Effect:
        """What the conditions of a reader do with the values of a writer."""
        asked, known = reads.composition, writes.composition
        if asked is None or (known is not None and self._alike(asked, known)):
            return "safe"
        effects: list[Effect] = [self.covers(part, writes) for part in asked.all_of]
        if asked.any_of:
            some = best(self.covers(part, writes) for part in asked.any_of)
            effects.append("safe" if some == "safe" else "undecided")
        if asked.one_of or asked.none_of or asked.condition is not None:
            effects.append("undecided")
        return worst(effects)

    def _alike(self, one: Composition, other: Composition) -> bool:
        mine, theirs = tuple(one.parts()), tuple(other.parts())
        shaped = [len(getattr(one, name)) == len(getattr(other, name)) for name in
                  ("all_of", "any_of", "one_of", "none_of")]  # fmt: skip
        present = [(getattr(one, name) is None) == (getattr(other, name) is None) for name in
                   ("condition", "then", "otherwise")]  # fmt: skip
        return all(shaped + present) and all(
            self.alike(a, b) for a, b in zip(mine, theirs, strict=True)
        )

    def alike(self, reads: Shape, writes: Shape) -> bool:
        """Whether two shapes are known to accept the same values."""
        if self._reverse is None:
            self._reverse = Containment(self._writer, self._reader)
            self._reverse._reverse = self
        return (
            self.covers(reads, writes) == "safe" and self._reverse.covers(writes, reads) == "safe"
        )


def is_anything(shape: Shape) -> bool:
    """Whether a shape accepts every value."""
    free = shape.composition is None and not shape.limits
    return free and isinstance(shape, Plain) and shape.kind == "any"


class Flat:
    """The shapes of one structure without references; each is made once, and kept."""

    def __init__(self, structure: Structure) -> None:
        self.structure = structure
        self._made: dict[int, tuple[Shape, Shape]] = {}
        self._bare: dict[int, tuple[Shape, Shape]] = {}

    def of(self, shape: Shape) -> Shape:
        """The shape that references lead to, with the limits that they add."""
        known = self._made.get(id(shape))
        if known is None:
            known = self._made[id(shape)] = shape, self._followed(shape)
        return known[1]

    def bare(self, shape: Shape) -> Shape:
        """The shape without its conditions."""
        if shape.composition is None:
            return shape
        known = self._bare.get(id(shape))
        if known is None:
            known = self._bare[id(shape)] = shape, replace(shape, composition=None)
        return known[1]

    def _followed(self, shape: Shape) -> Shape:
        if not isinstance(shape, Ref):
            return shape
        target = self.of(self.structure.types[shape.target])
        if not shape.limits and shape.composition is None:
            return target
        return replace(
            target,
            limits=_joined(target.limits, shape.limits),
            composition=_both(target.composition, shape.composition),
        )


def _joined(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    joined = {**one, **other}
    for word in one.keys() & other.keys():
        if word == "enum":
            known = {unique_key(value) for value in other[word]}
            joined[word] = tuple(value for value in one[word] if unique_key(value) in known)
        elif word.lower().startswith(("min", "exclusivemin")):
            joined[word] = max(one[word], other[word])
        elif word.lower().startswith(("max", "exclusivemax")):
            joined[word] = min(one[word], other[word])
    return joined


def _both(one: Composition | None, other: Composition | None) -> Composition | None:
    if one is None or other is None:
        return one or other
    return Composition(
        all_of=(Shape(where="", composition=one), Shape(where="", composition=other))
    )
