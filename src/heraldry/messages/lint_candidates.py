"""Candidates: the few pairs, among thousands of definitions, that may match the same message.

Every definition is a set of facts: the texts that each of its messages has in certain places. It
is filed under its rarest fact, and only compared with those whose facts agree there.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Final

from heraldry.messages.compile import CompiledDefinition
from heraldry.messages.constraint import Constraint
from heraldry.messages.index import LITERAL_TYPES
from heraldry.messages.protocol_table import fields
from heraldry.messages.values import canonical_text, typed
from heraldry.model.formats import protocol_family

Place = tuple[str, int, int]
"""A path, and what of it: one of so many segments, or the whole."""

Kind = tuple[bool, str]
"""Whether messages are events, and the family of the protocol, if any."""

_NOWHERE: Final[Place] = ("", 0, 0)
_FORWARDS, _BACKWARDS, _TYPED = (0, 0), (-1, 0), (-2, 0)
"""The whole text, the same read from its end, and a value that is no text."""
_EXACT: Final = ("integer", "boolean")
"""Types whose values have one text each."""
_LAST: Final = "\U0010ffff"


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What every message of a definition has: whole texts or segments, and how texts begin.

    ``lengths`` says how many segments a path has.
    """

    kind: Kind
    texts: Mapping[Place, str]
    starts: Mapping[Place, str]
    lengths: Mapping[str, int]

    def agree(self, other: Facts) -> bool:
        """Whether one message may have the facts of both."""
        mine, theirs = self.texts, other.texts
        if len(mine) > len(theirs):
            mine, theirs = theirs, mine
        for place, text in mine.items():
            if theirs.get(place, text) != text:
                return False
        for path, length in self.lengths.items():
            if other.lengths.get(path, length) != length:
                return False
        return self._begins(other) and other._begins(self)

    def _begins(self, other: Facts) -> bool:
        for place, start in self.starts.items():
            text = other.texts.get(place)
            if text is not None and not text.startswith(start):
                return False
            begin = other.starts.get(place, start)
            if not (begin.startswith(start) or start.startswith(begin)):
                return False
        return True


def comparable(mine: Kind, theirs: Kind) -> bool:
    """Whether messages over one protocol are of both kinds: an event counts as it travels.

    Events that may travel anywhere are not held against messages that are no events.
    """
    return mine[1] == theirs[1] if mine[1] and theirs[1] else mine[0] == theirs[0]


def facts(one: CompiledDefinition) -> Facts:
    """The facts of a definition; a property that it names twice gives none."""
    texts: dict[Place, str] = {}
    starts: dict[Place, str] = {}
    lengths: dict[str, int] = {}
    often = Counter(rule.path for rule in one.constraints)
    protocol = one.definition.protocol
    for rule in one.constraints:
        if rule.implied or often[rule.path] > 1 or rule.kind not in ("constant", "template"):
            continue
        path, separator = rule.path, _separator(rule, protocol)
        if rule.type in _EXACT:
            texts[path, *_TYPED] = canonical_text(typed(rule.type, rule.value))
        elif rule.type not in LITERAL_TYPES:
            continue
        elif separator is not None:
            parts = rule.text.split(separator)
            lengths[path] = len(parts)
            for number, part in enumerate(parts):
                if rule.kind == "constant" or "{" not in part:
                    texts[path, len(parts), number] = part
        elif rule.template is None or rule.kind == "constant":
            texts[path, *_FORWARDS], texts[path, *_BACKWARDS] = rule.text, rule.text[::-1]
        else:
            starts[path, *_FORWARDS] = rule.template.literals[0]
            starts[path, *_BACKWARDS] = rule.template.literals[-1][::-1]
    kind = one.cloudevents, protocol_family(protocol)[0]
    starts = {place: start for place, start in starts.items() if start}
    return Facts(kind=kind, texts=texts, starts=starts, lengths=lengths)


def _separator(rule: Constraint, protocol: str | None) -> str | None:
    if rule.place.section != "metadata" or rule.place.member is not None or protocol is None:
        return None
    return fields(protocol)[rule.place.name].separator


@dataclass(kw_only=True)
class _Slot:
    """The definitions of one kind whose rarest fact is in one place."""

    kind: Kind
    place: Place
    every: list[int] = field(default_factory=list)
    texts: dict[str, list[int]] = field(default_factory=dict)
    starts: dict[str, list[int]] = field(default_factory=dict)

    @cached_property
    def ordered(self) -> tuple[list[str], list[str]]:
        """The texts and the beginnings in order."""
        return sorted(self.texts), sorted(self.starts)

    def seen_by(self, other: Facts) -> list[int]:
        """The definitions here that agree with what another one says about this place."""
        path, length, _ = self.place
        if length > 0 and other.lengths.get(path, length) != length:
            return []
        text = other.texts.get(self.place)
        if text is not None:
            found = self.texts.get(text, [])
            if not self.starts:
                return found
            shorter = (self.starts.get(text[:end], ()) for end in range(1, len(text) + 1))
            return [*found, *(one for starts in shorter for one in starts)]
        start = other.starts.get(self.place)
        if start is None:
            return self.every
        texts, starts = self.ordered
        found = [one for text in _between(texts, start) for one in self.texts[text]]
        found += [one for text in _between(starts, start) for one in self.starts[text]]
        shorter = (self.starts.get(start[:end], ()) for end in range(1, len(start)))
        return [*found, *(one for same in shorter for one in same)]


def _between(ordered: list[str], start: str) -> list[str]:
    """Those that begin so."""
    return ordered[bisect_left(ordered, start) : bisect_left(ordered, start + _LAST)]


class Candidates:
    """The pairs among some definitions that may match the same message.

    ``work`` is how many comparisons may be made; what is left of it can be read, and lowered.
    """

    def __init__(self, definitions: Sequence[CompiledDefinition], work: int) -> None:
        self.definitions = definitions
        self.work = work
        self._facts = [facts(one) for one in definitions]

    def __iter__(self) -> Iterator[tuple[CompiledDefinition, CompiledDefinition]]:
        for first, second in self._pairs():
            if self.work <= 0:
                return
            self.work -= 1
            if self._facts[first].agree(self._facts[second]):
                low, high = sorted((first, second))
                yield self.definitions[low], self.definitions[high]

    def _pairs(self) -> Iterator[tuple[int, int]]:
        slots = self._slots()
        for slot in slots:
            for one in slot.every:
                yield from ((one, o) for o in slot.seen_by(self._facts[one]) if one < o)
        for slot, other in combinations(slots, 2):
            if not comparable(slot.kind, other.kind):
                continue
            views = self._views(slot, other), self._views(other, slot)
            for one, seen in min(views, key=lambda view: sum(len(seen) for _, seen in view)):
                yield from ((one, o) for o in seen)

    def _views(self, slot: _Slot, other: _Slot) -> list[tuple[int, list[int]]]:
        return [(one, other.seen_by(self._facts[one])) for one in slot.every]

    def _slots(self) -> list[_Slot]:
        """Every definition under its rarest fact; of equally rare ones in the busiest place."""
        every = [(*one.texts.items(), *one.starts.items()) for one in self._facts]
        counts = Counter(fact for known in every for fact in known)
        busy = Counter(place for known in every for place, _ in known)
        slots: dict[tuple[Kind, Place], _Slot] = {}
        for number, known in enumerate(every):
            place, text = min(
                known, key=lambda fact: (counts[fact], -busy[fact[0]]), default=(_NOWHERE, "")
            )
            kind = self._facts[number].kind
            slot = slots.setdefault((kind, place), _Slot(kind=kind, place=place))
            slot.every.append(number)
            table = slot.starts if place in self._facts[number].starts else slot.texts
            table.setdefault(text, []).append(number)
        return list(slots.values())
