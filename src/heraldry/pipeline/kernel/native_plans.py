"""Plans for messages that are no events: the one definition that an address can be of.

Definitions without an envelope come first, as in the judge; then those of events, which fill in
the attributes. Where two may fit, or one that is not understood, the judge decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from heraldry.messages.compile import CompiledDefinition, members, why_unusable
from heraldry.messages.constraint import FREE_TEXT, Constraint
from heraldry.messages.extract import EXTENSIONS, envelope_row
from heraldry.messages.fit import same_protocol
from heraldry.messages.index import Key, keys
from heraldry.messages.judge import Judge
from heraldry.messages.message import Message
from heraldry.messages.native import filling
from heraldry.messages.protocol_table import fields, with_content_type
from heraldry.messages.template import Template as Parts
from heraldry.model.definition import Definition
from heraldry.model.formats import fold, is_cloudevents
from heraldry.pipeline.kernel import protocols as p
from heraldry.pipeline.kernel.addresses import Addresses
from heraldry.pipeline.kernel.columns import PayloadReader, Spans
from heraldry.pipeline.kernel.match import Segmented, Steps, Template
from heraldry.pipeline.kernel.routes import NO_ROUTE, SEVERAL, Routes
from heraldry.schemas.columns import Scalar

NO_PLAN = -1
_JSON = "application/json"
_TEXT = Scalar("string")
_MEMORY = 8192
_ANY: tuple[type, str] = (str, "string")
_TYPES: dict[int, tuple[type, str]] = {p.WHOLE: (int, "integer"), p.TRUTH: (bool, "boolean")}

Check = Callable[[str], bool]


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

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self.steps = Steps()
        self.plans: list[NativePlan] = []
        self._families: dict[int, Family] = {}

    @cached_property
    def places(self) -> p.Places:
        """Where the members of messages stand; made when the first message comes."""
        wanted: dict[str, dict[tuple[str, str], None]] = {}
        for one in self._judge.matcher.definitions:
            for protocol in _protocols(one):
                asked = wanted.setdefault(protocol, {})
                asked.update(dict.fromkeys(_named(one, protocol)))
        return p.places(wanted)

    def family(self, protocol: int) -> Family:
        """The definitions of a protocol."""
        family = self._families.get(protocol)
        if family is None:
            family = self._families[protocol] = Family(self._judge, protocol, self)
        return family

    def add(self, compiled: CompiledDefinition, rules: Iterable[Constraint], name: str) -> int:
        """The number of a new plan, or NO_PLAN where something is not understood."""
        draft = _Draft(self.places, name)
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


class _Draft:
    """The steps of a plan, rule by rule."""

    def __init__(self, places: p.Places, protocol: str) -> None:
        self._places = places
        self._protocol = protocol
        self._scalars = {one.name: one for one in p.MEMBERS[protocol] if one.form != p.NAMED}
        self._media: list[Constraint] = []
        self.constants: list[tuple[int, str]] = []
        self.present: list[int] = []
        self.templates: list[Template | Segmented] = []
        self.checks: list[tuple[int, Check]] = []
        self.first: dict[str, int] = {}
        self.shared: list[tuple[int, int]] = []
        self._slots = 0

    def understood(self, rule: Constraint) -> bool:
        """Take a rule into the plan; False where only the judge can decide it."""
        if rule.kind == "media-type":
            self._media.append(rule)
            return True
        member = self._scalars.get(rule.place.name)
        slot = self._slot(rule)
        if rule.place.section != "metadata" or slot is None:
            return False
        if rule.kind == "template":
            return self._template(rule, slot)
        kind, name = _TYPES.get(member.form, _ANY) if member is not None else _ANY
        if rule.kind == "constant":
            # A number is compared by its digits, which it has in one form only.
            self.constants.append((slot, rule.text))
            return type(rule.value) is kind
        if rule.required:
            self.present.append(slot)
        if rule.kind == "type" and kind is not str:
            return rule.type == name
        if rule.kind == "type" and rule.type not in FREE_TEXT:
            self.checks.append((slot, lru_cache(maxsize=_MEMORY)(lambda t: rule.fits(t, {}))))
        return rule.kind in ("type", "required")

    def _slot(self, rule: Constraint) -> int | None:
        place = rule.place
        if place.member is not None:
            return self._places.slots.get((self._protocol, place.name, place.member))
        member = self._scalars.get(place.name)
        return member.slot if member is not None else None

    def _template(self, rule: Constraint, slot: int) -> bool:
        template = rule.template
        if template is None or template.regex() is None:
            return False
        if template.separator is None:
            if "" in template.literals[1:-1]:
                return False
            self.templates.append((slot, template.literals))
        else:
            parts = template.text.split(template.separator)
            segments = tuple(Parts.parse(part).literals for part in parts)
            self.templates.append((slot, template.separator, segments))
        for name in template.placeholders:
            first = self.first.setdefault(name, self._slots)
            if first != self._slots:
                self.shared.append((first, self._slots))
            self._slots += 1
        return True

    def takes(self, media: Constraint | None) -> tuple[bool, bool]:
        """Whether messages without a content type are taken, and those with that of JSON."""
        plain = Message(protocol=self._protocol)
        untyped = all(rule.check(plain, {}) is None for rule in self._media)
        if self._protocol == "MQTT/3.1.1":
            return untyped, False
        stated = with_content_type(self._protocol, {}, _JSON)
        json = Message(protocol=self._protocol, metadata=stated, content_type=_JSON)
        typed = all(rule.check(json, {}) is None for rule in self._media)
        return untyped, typed and (media is None or media.fits(_JSON, {}))


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


def _protocols(one: Definition) -> Iterator[str]:
    if one.protocol and why_unusable(one) is None:
        yield from (name for name in p.PROTOCOLS if same_protocol(one.protocol, name))


def _named(one: Definition, protocol: str) -> Iterator[tuple[str, str]]:
    """The named values that a definition says something of."""
    options = {fold(name): value for name, value in one.protocoloptions.items()}
    for field in fields(protocol).values():
        declared = options.get(fold(field.name))
        if field.collection and declared is not None:
            for name, member in members(declared):
                given = member.get("name", name) if isinstance(member, Mapping) else name
                yield field.name, field.member(str(given))


def given_array(given: Given, stated: NDArray[np.bool_], count: int, kind: pa.DataType) -> pa.Array:
    """A column that is the same for all messages, but for those that state their content type."""
    plain = pa.repeat(pa.scalar(given.value, kind), count)
    if given.json is None or given.json == given.value or not stated.any():
        return plain
    return pc.if_else(pa.array(stated), pa.scalar(given.json, kind), plain)
