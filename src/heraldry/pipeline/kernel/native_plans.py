"""Plans for messages that are no events: the one definition that an address can be of.

Definitions without an envelope come first, as in the judge; then those of events, which fill in
the attributes. Where two may fit, or one that is not understood, the judge decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from heraldry.messages.compile import CompiledDefinition, why_unusable
from heraldry.messages.constraint import Constraint
from heraldry.messages.extract import EXTENSIONS, envelope_row
from heraldry.messages.fit import same_protocol
from heraldry.messages.index import Key, keys
from heraldry.messages.judge import Judge
from heraldry.messages.native import filling
from heraldry.model.definition import Definition
from heraldry.model.formats import is_cloudevents
from heraldry.pipeline.kernel import protocols as p
from heraldry.pipeline.kernel.addresses import Addresses
from heraldry.pipeline.kernel.columns import PayloadReader, Spans
from heraldry.pipeline.kernel.drafts import Check, Draft
from heraldry.pipeline.kernel.match import Steps
from heraldry.pipeline.kernel.routes import NO_ROUTE, SEVERAL, Routes
from heraldry.schemas.columns import Scalar

NO_PLAN = -1
_JSON = "application/json"
_TEXT = Scalar("string")


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """One column of the envelope: a value for all, a template of literals and slots, or nothing.

    ``json`` is the value for messages that state their content type.
    """

    value: Any = None
    json: Any = None
    literals: tuple[str, ...] = ()
    slots: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NativePlan:
    """One definition: slots of its placeholders, checks of members, columns of the envelope.

    ``untyped`` and ``typed`` say whether messages without a content type, and with that of
    JSON, are taken.
    """

    compiled: CompiledDefinition
    slots: tuple[int | None, ...]
    checks: tuple[tuple[int, Check], ...]
    envelope: tuple[Given, ...]
    reader: PayloadReader
    untyped: bool
    typed: bool


class NativePlans:
    """The plans of all definitions seen so far; a plan is known by its number in ``steps``."""

    def __init__(self, judge: Judge, places: p.Places) -> None:
        self._judge = judge
        self.places = places
        self.steps = Steps()
        self.plans: list[NativePlan] = []
        self._families: dict[int, Family] = {}

    def family(self, protocol: int) -> Family:
        """The definitions of a protocol."""
        family = self._families.get(protocol)
        if family is None:
            family = self._families[protocol] = Family(self._judge, protocol, self)
        return family

    def add(self, compiled: CompiledDefinition, rules: Iterable[Constraint], name: str) -> int:
        """The number of a new plan, or NO_PLAN where something is not understood."""
        draft = Draft(self.places, name)
        if compiled.unusable or not all(map(draft.understood, rules)):
            return NO_PLAN
        wanted = self._judge.only
        if wanted and compiled.xid not in wanted:
            return NO_PLAN
        reader = PayloadReader.of(compiled.schema) if compiled.schema is not None else None
        untyped, typed = draft.takes(filling(compiled).media)
        envelope = _envelope(compiled, draft.first, untyped, typed)
        if reader is None or envelope is None or not (untyped or typed):
            return NO_PLAN
        unreserved = sorted({slot for given in envelope for slot in given.slots})
        number = self.steps.add(
            draft.constants, draft.present, draft.templates, draft.shared, unreserved
        )
        self.plans.append(
            NativePlan(
                compiled=compiled,
                slots=tuple(draft.first.get(name) for name in compiled.placeholders),
                checks=tuple(draft.checks),
                envelope=envelope,
                reader=reader,
                untyped=untyped,
                typed=typed,
            )
        )
        return number


class Family:
    """The definitions of one protocol, found by their addresses."""

    def __init__(self, judge: Judge, protocol: int, plans: NativePlans) -> None:
        self._judge = judge
        self._plans = plans
        self._name = p.PROTOCOLS[protocol]
        plain: list[tuple[int, Definition]] = []
        events: list[tuple[int, Definition]] = []
        only_payload = False
        for position, one in enumerate(judge.matcher.definitions):
            if why_unusable(one) is not None:
                continue
            only_payload |= not one.envelope and not one.protocol
            if one.protocol and same_protocol(one.protocol, self._name):
                (events if is_cloudevents(one.envelope) else plain).append((position, one))
        # What matches by its payload alone is not mapped.
        tiers = [plain] if only_payload else [plain, events]
        self._tiers = [self._tier(filed) for filed in tiers if filed]
        self._numbers: dict[int, int] = {}

    def _tier(self, filed: list[tuple[int, Definition]]) -> Routes | Addresses | None:
        """How definitions are found; None where one may fit any address."""
        member = p.ADDRESSES[self._name]
        separator = p.SEPARATORS.get(self._name)
        found: list[tuple[Key, int]] = []
        for position, one in filed:
            mine = [k for k in keys(one, "protocol") if (k.name, k.member) == member]
            if not mine:
                return None
            found.append((mine[0], position))
        if separator is None:
            return Addresses((key.text, key.constant is not None, place) for key, place in found)
        parts = (
            (key.segments or tuple((key.constant or "").split(separator)), place)
            for key, place in found
        )
        routes = Routes(separator, parts)
        return routes if routes.usable else None

    def numbers(self, addresses: Spans) -> NDArray[np.int64]:
        """The plans of some messages: of the first kind of definitions that has a route."""
        plans = np.full(len(addresses.starts), NO_PLAN, np.int64)
        left = np.arange(len(plans))
        for tier in self._tiers:
            if tier is None:
                break
            found = tier.find(addresses.take(left))
            known = found >= 0
            plans[left[known]] = self._of(tier, found[known])
            left = left[found == NO_ROUTE]
        return plans

    @cached_property
    def slot(self) -> int:
        """Where the addresses of messages stand."""
        member, name = p.ADDRESSES[self._name]
        if name is None:
            return p.ADDRESS
        return self._plans.places.slots[self._name, member, name]

    def _of(self, tier: Routes | Addresses, routes: NDArray[np.int64]) -> NDArray[np.int64]:
        """The plans of routes; each is made when its route is first taken."""
        if not len(routes):
            return routes
        distinct, codes = np.unique(routes, return_inverse=True)
        numbers = [self._plan(tier.position(int(route))) for route in distinct]
        return np.array(numbers, np.int64)[codes]

    def _plan(self, position: int) -> int:
        if position == SEVERAL:
            return NO_PLAN
        known = self._numbers.get(position)
        if known is not None:
            return known
        whole = self._judge.matcher.compiled(position)
        rules = whole.constraints
        if whole.cloudevents:
            rules = self._judge.natives.definition(whole.xid).constraints
        known = self._numbers[position] = self._plans.add(whole, rules, self._name)
        return known


def _envelope(
    compiled: CompiledDefinition, first: Mapping[str, int], untyped: bool, typed: bool
) -> tuple[Given, ...] | None:
    """The columns of the envelope; None where a message may lack a value, or has an odd one."""
    columns, rules = compiled.envelope_columns, filling(compiled)
    templates = {rule.place.name: rule.template for rule in rules.templates}
    if rules.needed:
        return None
    constants = {"datacontenttype": rules.kind} if untyped else {}
    row = envelope_row(columns, {**rules.constants, **constants})
    stated = envelope_row(columns, {**rules.constants, "datacontenttype": _JSON} if typed else {})
    if isinstance(row, tuple) or isinstance(stated, tuple):
        return None
    found = []
    for column in columns:
        template = templates.get(column.key)
        if template is None:
            json = stated.get(column.name) if column.key == "datacontenttype" else None
            found.append(Given(value=row.get(column.name), json=json))
            continue
        names = template.placeholders
        if column.type != _TEXT or column.key == EXTENSIONS or not first.keys() >= set(names):
            return None
        slots = tuple(first[name] for name in names)
        found.append(Given(literals=template.literals, slots=slots))
    return tuple(found)


def given_array(given: Given, stated: NDArray[np.bool_], kind: pa.DataType) -> pa.Array:
    """A column that is the same for all messages, but for those that state their content type."""
    count = len(stated)
    if given.json is None or given.json == given.value or not stated.any():
        return pa.repeat(pa.scalar(given.value, kind), count)
    if stated.all():
        return pa.repeat(pa.scalar(given.json, kind), count)
    return pc.if_else(pa.array(stated), pa.scalar(given.json, kind), pa.scalar(given.value, kind))
