"""The fast path: whole batches of structured CloudEvents, accepted only.

``messages.judge`` is the meaning. This path may only accept, with exactly the row that the judge
would give; whatever it does not fully understand is left to the judge, line by line. So verdicts
and reasons agree by construction, and only a false acceptance could be wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property, lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa

from heraldry.messages.compile import why_unusable
from heraldry.messages.envelopes.cloudevents import ATTRIBUTES
from heraldry.messages.extract import EXTENSIONS, extensions_text
from heraldry.messages.line import MAX_LINE
from heraldry.messages.message import Message
from heraldry.messages.select import unbound
from heraldry.model.definition import PropertyDefinition
from heraldry.pipeline.fast.payloads import PayloadConverter, parsed
from heraldry.pipeline.lake.layout import TableLayout, arrow_type
from heraldry.schemas.columns import Column, Scalar
from heraldry.schemas.json_schema.schema import JsonSchema

if TYPE_CHECKING:
    from heraldry.messages.compile import CompiledDefinition
    from heraldry.messages.constraint import Constraint
    from heraldry.messages.judge import Judge

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z", re.ASCII).fullmatch
_JSON = "application/json"
_MAX_EXTENSIONS = 32
_MAX_PLANS = 65_536
_UNKNOWN = re.compile(r"Object contains unknown field `([a-z0-9]{1,20})`")
_NEVER = frozenset(("protocol", "metadata", "data_base64", "data"))
_NOTHING = msgspec.Raw(b"")
_MEMORY = 8192
# What this path lets through as content type: none, and plain JSON.
_PLAIN = (
    Message(envelope="CloudEvents/1.0", content_type=_JSON),
    Message(envelope="CloudEvents/1.0", content_type=_JSON, attributes={"datacontenttype": _JSON}),
)


@dataclass(slots=True)
class Accepted:
    """The rows of one definition that this path accepts: parallel lists, payload as Arrow."""

    compiled: CompiledDefinition
    rows: list[int] = field(default_factory=list)
    events: list[Any] = field(default_factory=list)
    values: list[tuple[str | None, ...]] = field(default_factory=list)
    payload: pa.Table | None = None

    def keep(self, kept: Sequence[int], rest: list[int]) -> None:
        """Keep some of the rows; the others go to the judge."""
        if len(kept) == len(self.rows):
            return
        chosen = set(kept)
        rest.extend(row for index, row in enumerate(self.rows) if index not in chosen)
        self.rows = [self.rows[index] for index in kept]
        self.events = [self.events[index] for index in kept]
        self.values = [self.values[index] for index in kept]


@dataclass(frozen=True, slots=True)
class Plan:
    """How the events of one type are accepted: constants at once, templates by pattern."""

    compiled: CompiledDefinition
    get: Callable[[Any], tuple[Any, ...]]
    constants: tuple[Any, ...]
    templates: tuple[Callable[[str], re.Match[str] | None], ...]
    shared: tuple[tuple[int, int], ...]
    keep: tuple[int | None, ...]
    present: int
    checks: tuple[Callable[[str], bool], ...]
    converter: PayloadConverter | None

    def accept(self, event: Any) -> tuple[str | None, ...] | None:
        """The values of the placeholders, or None: not for this path."""
        found = self.get(event)
        count = len(self.constants)
        if found[:count] != self.constants:
            return None
        got: tuple[str, ...] = ()
        for pattern in self.templates:
            text = found[count]
            count += 1
            # A percent sign may be an escape: decoding is the judge's.
            if text is None or "%" in text or (match := pattern(text)) is None:
                return None
            got += match.groups()
        for text in found[count : count + self.present]:
            if not text:
                return None
        count += self.present
        for check in self.checks:
            text = found[count]
            count += 1
            if text is not None and not check(text):
                return None
        for one, other in self.shared:
            if got[one] != got[other]:
                return None
        return tuple(None if index is None else got[index] for index in self.keep)


class FastPath:
    """Decodes, matches and validates structured CloudEvents; made once per worker."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._plans: dict[str, Plan | None] = {}
        self._extensions: tuple[str, ...] = ()
        self._decode = _decoder(())

    @property
    def extensions(self) -> tuple[str, ...]:
        """The extension attributes seen so far; their fields are named ``a_NAME``."""
        return self._extensions

    def take(self, lines: Sequence[bytes]) -> tuple[list[Accepted], list[int]]:
        """Split lines into what is accepted, by definition, and the rest for the judge."""
        groups: dict[str, Accepted] = {}
        rest: list[int] = []
        for row, line in enumerate(lines):
            try:
                event = self._decode(line)
            except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
                event = self._learn(line, error)
            plan = self._plan(event.a_type) if event is not None else None
            values = self._accept(plan, event) if plan is not None else None
            if plan is None or values is None or not _is_whole(line, event.a_data):
                rest.append(row)
                continue
            group = groups.get(event.a_type)
            if group is None:
                group = groups[event.a_type] = Accepted(plan.compiled)
            group.rows.append(row)
            group.events.append(event)
            group.values.append(values)
        return [self._convert(group, rest) for group in groups.values()], rest

    def _accept(self, plan: Plan, event: Any) -> tuple[str | None, ...] | None:
        time, kind = event.a_time, event.a_datacontenttype
        if event.a_specversion != "1.0" or not event.a_id or not event.a_source:
            return None
        if time is not None and _TIME(time) is None:
            return None
        if kind is not None and kind != _JSON:
            return None
        return plan.accept(event)

    def _convert(self, group: Accepted, rest: list[int]) -> Accepted:
        """Turn times and payloads into Arrow; rows that resist go to the rest."""
        plan = self._plan(group.events[0].a_type)
        kept = [i for i, event in enumerate(group.events) if _is_instant(event.a_time)]
        group.keep(kept, rest)
        data = [bytes(event.a_data) for event in group.events]
        if plan is not None and plan.converter is not None:
            kept, group.payload = plan.converter.convert(data)
        else:
            kept = [i for i, one in enumerate(data) if one and parsed(one) is not None]
        group.keep(kept, rest)
        return group

    def to_columns(self, layout: TableLayout, group: Accepted) -> list[pa.Array]:
        """The columns of accepted events: payload, envelope and placeholders."""
        columns = list(group.payload.columns) if group.payload is not None else []
        columns += [self._envelope(column, layout, group.events) for column in layout.envelope]
        by_name = list(zip(*group.values, strict=True)) or [()] * len(layout.placeholders)
        columns += [pa.array(texts, pa.string()) for texts in by_name]
        columns += layout.own_columns(len(group.rows))
        if layout.keeps_payload:
            columns.append(pa.array([bytes(e.a_data) or None for e in group.events], pa.binary()))
        return columns

    def _envelope(self, column: Column, layout: TableLayout, events: list[Any]) -> pa.Array:
        if column.key == EXTENSIONS:
            declared = {other.key for other in layout.envelope}
            return self._undeclared([n for n in self._extensions if n not in declared], events)
        get = _getter(column.key, events)
        return pa.array([get(event) for event in events], pa.string()).cast(arrow_type(column.type))

    def _undeclared(self, names: list[str], events: list[Any]) -> pa.Array:
        if not names:
            return pa.nulls(len(events), pa.string())
        fields = [(name, _getter(name, events)) for name in sorted(names)]
        found = ({n: v for n, get in fields if (v := get(e)) is not None} for e in events)
        return pa.array([extensions_text(given) for given in found], pa.string())

    def _learn(self, line: bytes, error: Exception) -> Any:
        """An extension attribute not seen before becomes a field; other errors are the judge's."""
        unknown = _UNKNOWN.match(str(error))
        if unknown is None or unknown[1] in _NEVER or len(self._extensions) >= _MAX_EXTENSIONS:
            return None
        self._extensions += (unknown[1],)
        self._decode = _decoder(self._extensions)
        self._plans.clear()
        try:
            return self._decode(line)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as again:
            return self._learn(line, again)

    def _plan(self, kind: str) -> Plan | None:
        try:
            return self._plans[kind]
        except KeyError:
            compiled = self.winner(kind)
            plan = self._make(compiled) if compiled is not None else None
            if len(self._plans) >= _MAX_PLANS:
                self._plans.clear()  # types come from messages: their number has no bound
            self._plans[kind] = plan
            return plan

    @cached_property
    def _by_type(self) -> tuple[dict[str, list[int]], list[int]]:
        """The definitions of events by their constant type, and those of no constant type."""
        typed: dict[str, list[int]] = {}
        untyped = []
        for place, one in enumerate(self._judge.matcher.definitions):
            if not one.envelope or why_unusable(one) is not None:
                continue
            kind = PropertyDefinition.of("type", one.envelopemetadata.get("type")).value
            if isinstance(kind, str) and kind and "{" not in kind:
                typed.setdefault(kind, []).append(place)
            else:
                untyped.append(place)
        return typed, untyped

    def winner(self, kind: str) -> CompiledDefinition | None:
        """The definition that wins wherever it fits: alone, or alone without a protocol."""
        typed, untyped = self._by_type
        matcher = self._judge.matcher
        rivals = [matcher.compiled(place) for place in (*typed.get(kind, ()), *untyped)]
        winners = unbound(rivals) if len(rivals) > 1 else rivals
        if len(winners) != 1 or winners[0].unusable is not None:
            return None
        wanted = self._judge.only
        return winners[0] if not wanted or winners[0].xid in wanted else None

    def _make(self, compiled: CompiledDefinition) -> Plan | None:
        constants: list[tuple[str, Any]] = []
        templates: list[tuple[str, str, tuple[str, ...]]] = []
        present: list[str] = []
        checks: list[tuple[str, Callable[[str], bool]]] = []
        for rule in compiled.constraints:
            if not understood(rule, constants, templates, present, checks):
                return None
        fields = {*ATTRIBUTES, *self._extensions}
        if any(not _is_text(column) for column in compiled.envelope_columns):
            return None
        # No event has had an attribute that is not among the fields: nothing to check yet.
        checks = [(name, check) for name, check in checks if name in fields]
        names = [name for name, *_ in (*constants, *templates)] + present
        names += [name for name, _ in checks] + ["id", "id"]
        if not fields.issuperset(names):
            return None
        order = [name for _, _, groups in templates for name in groups]
        first = {name: order.index(name) for name in order}
        schema = compiled.schema
        if schema is not None and not isinstance(schema, JsonSchema):
            return None
        return Plan(
            compiled=compiled,
            # attrgetter with one name gives no tuple: two ids at the end make it always one.
            get=attrgetter(*(f"a_{name}" for name in names)),
            constants=tuple(value for _, value in constants),
            templates=tuple(re.compile(pattern).fullmatch for _, pattern, _ in templates),
            shared=tuple((first[n], i) for i, n in enumerate(order) if first[n] != i),
            # Placeholders of the protocol's own properties have no value here.
            keep=tuple(first.get(name) for name in compiled.placeholders),
            present=len(present),
            checks=tuple(check for _, check in checks),
            converter=PayloadConverter(schema) if schema is not None else None,
        )


def understood(
    rule: Constraint,
    constants: list[tuple[str, Any]],
    templates: list[tuple[str, str, tuple[str, ...]]],
    present: list[str],
    checks: list[tuple[str, Callable[[str], bool]]],
) -> bool:
    """Take a constraint into the plan; False where only the judge can decide it."""
    name = rule.place.name
    if rule.place.section == "metadata":
        return True  # no protocol, no protocol rules
    if rule.kind == "media-type":
        return all(rule.check(message, {}) is None for message in _PLAIN)
    if rule.place.section != "attributes" or rule.place.member is not None:
        return False
    if rule.kind == "constant":
        constants.append((name, rule.text))
        return isinstance(rule.value, str) and name != "time"
    if rule.kind == "template" and rule.template is not None:
        pattern = rule.template.regex()
        if pattern is not None:
            templates.append((name, pattern, rule.template.placeholders))
        return pattern is not None
    if rule.required:
        present.append(name)
    if rule.kind == "type" and not _checked_anyway(rule, name):
        checks.append((name, lru_cache(maxsize=_MEMORY)(lambda text: rule.fits(text, {}))))
    return rule.kind in ("type", "required")


def _is_whole(line: bytes, data: msgspec.Raw) -> bool:
    """Whether all of a line is looked at: it is short enough, and has its data only once.

    Of data given twice the decoder drops the first unread, where the judge reads everything.
    """
    if len(line) > MAX_LINE:
        return False
    text = bytes(data)
    if line.count(b'"data"') != text.count(b'"data"') + bool(text):
        return False
    return b"\\u" not in line or line.count(b"\\u") == text.count(b"\\u")


def _getter(name: str, events: list[Any]) -> Callable[[Any], Any]:
    """Reads one attribute of events; those decoded before it was learned do not have it."""
    field = f"a_{name}"
    return attrgetter(field) if hasattr(events[0], field) else lambda e: getattr(e, field, None)


def _is_text(column: Column) -> bool:
    """Attributes travel as text here; those of other types are the judge's, but for the time."""
    return column.key in ("time", EXTENSIONS) or column.type == Scalar("string")


def _is_instant(time: str | None) -> bool:
    """Whether the calendar has the day and the clock the time; the form is checked before."""
    if time is None:
        return True
    try:
        datetime.fromisoformat(time)
    except ValueError:
        return False
    return True


def _checked_anyway(rule: Constraint, name: str) -> bool:
    """Type rules that every line of this path fulfils: text is text, times are of one form."""
    return rule.type in ("string", "any") or (name == "time" and rule.type == "timestamp")


def _decoder(extensions: tuple[str, ...]) -> Callable[[bytes], Any]:
    """A decoder of events whose members are all known; any other member is an error."""
    optional = [*(name for name in ATTRIBUTES if name not in _REQUIRED), *extensions]
    fields: list[Any] = [(f"a_{name}", str, msgspec.field(name=name)) for name in _REQUIRED]
    fields += [
        (f"a_{name}", str | None, msgspec.field(default=None, name=name)) for name in optional
    ]
    fields.append(("a_data", msgspec.Raw, msgspec.field(default=_NOTHING, name="data")))
    event = msgspec.defstruct("Event", fields, forbid_unknown_fields=True, gc=False)
    return msgspec.json.Decoder(event).decode


_REQUIRED = ("specversion", "id", "source", "type")
