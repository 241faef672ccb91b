"""Plans for events on protocols: the one definition that a type, with an address, can be of.

Definitions of events compete with those of the protocol alone. Where one wins wherever it fits, it
has the plan; where that is not certain, the judge decides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from heraldry.messages.compile import CompiledDefinition, why_unusable
from heraldry.messages.constraint import Place
from heraldry.messages.fit import same_protocol
from heraldry.messages.index import LITERAL_TYPES, keys
from heraldry.messages.judge import Judge
from heraldry.messages.message import Message
from heraldry.messages.select import most_derived, strictly_narrower, without_borrowed
from heraldry.model.definition import Definition, PropertyDefinition
from heraldry.pipeline.kernel import protocols as p
from heraldry.pipeline.kernel.bound import BINARY, STRUCTURED
from heraldry.pipeline.kernel.columns import PayloadReader, Spans
from heraldry.pipeline.kernel.drafts import Draft
from heraldry.pipeline.kernel.match import Steps
from heraldry.pipeline.kernel.plans import NO_PLAN, Plan
from heraldry.schemas.columns import Scalar

_ASK = -2  # the address must tell
_MOST_RIVALS = 8
_MOST_OTHERS = 256  # each is looked at for every new type
_TEXT = Scalar("string")
_TYPE = Place(section="attributes", name="type")
_MEMORY = 65_536


def form_of(mode: Any, stated: Any) -> Any:
    """The number of a mode with or without a type of the data; of many at once, too."""
    return 2 * (mode - BINARY) + stated


class EventPlans:
    """The plans of all definitions seen so far; a plan is known by its number in ``steps``."""

    def __init__(self, judge: Judge, places: p.Places) -> None:
        self._judge = judge
        self.places = places
        self.steps = Steps()
        self.plans: list[Plan] = []
        self._forms: list[tuple[bool, ...]] = []
        self._families: dict[int, Family] = {}

    @property
    def forms(self) -> NDArray[np.bool_]:
        """Which forms each plan allows."""
        return np.array(self._forms or [(False,) * 4], np.bool_)

    def family(self, protocol: int) -> Family:
        """The definitions that events on a protocol may be of."""
        family = self._families.get(protocol)
        if family is None:
            family = self._families[protocol] = Family(self._judge, protocol, self)
        return family

    def add(self, compiled: CompiledDefinition, protocol: str) -> int:
        """The number of a new plan, or NO_PLAN where something is not understood."""
        draft = Draft(self.places, protocol)
        wanted = self._judge.only
        if wanted and compiled.xid not in wanted:
            return NO_PLAN
        if compiled.schema is None or not all(map(draft.understood, compiled.constraints)):
            return NO_PLAN
        reader = PayloadReader.of(compiled.schema)
        if reader is None:
            return NO_PLAN
        for column in compiled.envelope_columns:
            if column.type != _TEXT:
                draft.without(column.key)
        modes = (BINARY, STRUCTURED)
        allowed = (draft.takes_event(mode, stated) for mode in modes for stated in (False, True))
        self._forms.append(tuple(allowed))
        self.plans.append(
            Plan(
                compiled=compiled,
                slots=tuple(draft.first.get(name) for name in compiled.placeholders),
                checks=tuple(draft.checks),
                reader=reader,
            )
        )
        return self.steps.add(draft.constants, draft.present, draft.templates, draft.shared)


class Family:
    """The definitions that events on one protocol may be of."""

    def __init__(self, judge: Judge, protocol: int, plans: EventPlans) -> None:
        self._judge = judge
        self._plans = plans
        self._name = p.PROTOCOLS[protocol]
        self._typed: dict[str, list[int]] = {}
        self._placed: dict[str, list[int]] = {}
        self._others: list[int] = []
        member, name = p.ADDRESSES[self._name]
        self._place = Place(section="metadata", name=member, member=name)
        for position, one in enumerate(judge.matcher.definitions):
            if self._competes(one):
                self._held(one).append(position)
        self._types: dict[str, dict[int, CompiledDefinition]] = {}
        self._numbers: dict[tuple[str, str | None], int] = {}
        self._made: dict[int, int] = {}

    def _competes(self, one: Definition) -> bool:
        """Whether events may be of a definition; what has only a payload comes after all others."""
        if why_unusable(one) is not None or not (one.envelope or one.protocol):
            return False
        return not one.protocol or same_protocol(one.protocol, self._name)

    def _held(self, one: Definition) -> list[int]:
        """The list of definitions that are found in the same way."""
        if (kind := _constant_type(one)) is not None:
            return self._typed.setdefault(kind, [])
        place = (self._place.name, self._place.member)
        for key in keys(one, "protocol"):
            if (key.name, key.member) == place and key.constant is not None:
                return self._placed.setdefault(key.constant, [])
        return self._others

    @cached_property
    def slot(self) -> int:
        """Where the addresses of messages stand."""
        member, name = self._place.name, self._place.member
        return p.ADDRESS if name is None else self._plans.places.slots[self._name, member, name]

    def numbers(self, kinds: Spans, addresses: Spans) -> NDArray[np.int64]:
        """The plans of some events by their types, and by addresses where those must tell."""
        if len(self._others) > _MOST_OTHERS:
            return np.full(len(kinds.starts), NO_PLAN, np.int64)
        encoded = kinds.to_arrow(pa.string()).dictionary_encode()
        texts = encoded.dictionary.to_pylist()
        codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        plans = np.array([self._by_type(text) for text in texts], np.int64)[codes]
        rows = np.flatnonzero(plans == _ASK)
        if len(rows):
            found = addresses.take(rows).to_arrow(pa.string()).dictionary_encode()
            there = [*found.dictionary.to_pylist(), None]
            at = found.indices.fill_null(len(there) - 1).to_numpy(zero_copy_only=False)
            pairs, which = np.unique(codes[rows] * len(there) + at, return_inverse=True)
            numbers = [
                self._by_address(texts[pair // len(there)], there[pair % len(there)])
                for pair in pairs.tolist()
            ]
            plans[rows] = np.array(numbers, np.int64)[which]
        return plans

    def _by_type(self, kind: str) -> int:
        """The plan of events of a type, NO_PLAN, or _ASK where the address must tell."""
        fitting = self._of_type(kind)
        return _ASK if self._placed or len(fitting) > 1 else self._winner(fitting)

    def _by_address(self, kind: str, address: str | None) -> int:
        """The plan of events of a type and an address."""
        fitting = self._of_type(kind)
        placed = self._placed.get(address, ()) if address is not None else ()
        if not placed and len(fitting) < 2:
            return self._winner(fitting)
        known = self._numbers.get((kind, address))
        if known is None:
            if len(self._numbers) >= _MEMORY:  # a stream of ever new topics must not fill memory
                self._numbers.clear()
            every = fitting | self._usable(placed, _TYPE, kind)
            rivals = {n: one for n, one in every.items() if _may_have(one, self._place, address)}
            known = self._numbers[kind, address] = self._winner(rivals)
        return known

    def _of_type(self, kind: str) -> dict[int, CompiledDefinition]:
        """The definitions that events of a type may be of, but for those of one address."""
        known = self._types.get(kind)
        if known is None:
            if len(self._types) >= _MEMORY:
                self._types.clear()
            rivals = (*self._typed.get(kind, ()), *self._others)
            known = self._types[kind] = self._usable(rivals, _TYPE, kind)
        return known

    def _usable(
        self, positions: Sequence[int], place: Place, text: str
    ) -> dict[int, CompiledDefinition]:
        """The definitions that can be used, and allow a text in some place."""
        every = {position: self._judge.matcher.compiled(position) for position in positions}
        return {
            position: one
            for position, one in every.items()
            if one.unusable is None and _may_have(one, place, text)
        }

    def _winner(self, fitting: Mapping[int, CompiledDefinition]) -> int:
        """The plan of the definition that wins wherever it fits."""
        if len(fitting) > _MOST_RIVALS:
            return NO_PLAN
        for position, one in fitting.items():
            if all(one is other or self._beats(one, other) for other in fitting.values()):
                if position not in self._made:
                    self._made[position] = self._plans.add(one, self._name)
                return self._made[position]
        return NO_PLAN

    def _beats(self, one: CompiledDefinition, other: CompiledDefinition) -> bool:
        """Whether a definition is chosen wherever it fits beside another one."""
        left = most_derived(without_borrowed((one, other)))
        if len(left) == 1:
            return left[0] is one
        return strictly_narrower(one, other, Message(protocol=self._name))


def _may_have(one: CompiledDefinition, place: Place, text: str | None) -> bool:
    """Whether messages of a definition may have a text, or nothing, in some place."""
    for rule in one.constraints:
        if (rule.place.section, rule.place.name) == (place.section, place.name):
            if rule.place.member != place.member:
                continue
            if not (not rule.required if text is None else rule.fits(text, {})):
                return False
    return True


def _constant_type(one: Definition) -> str | None:
    """The only type that events of a definition have, or None."""
    declared = PropertyDefinition.of("type", one.envelopemetadata.get("type"))
    value = declared.value
    literal = isinstance(value, str) and value and "{" not in value
    return value if one.envelope and literal and declared.type in LITERAL_TYPES else None
