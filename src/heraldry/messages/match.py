"""Matching: the one definition a message fits, or the reasons why it fits none."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import cached_property

from heraldry.errors import CircularBaseError, UnknownDefinitionError
from heraldry.messages.compile import CompiledDefinition, compile_merged, why_unusable
from heraldry.messages.constraint import shown
from heraldry.messages.fit import Judgement, fits, is_event, judge_by
from heraldry.messages.index import Index, Sections
from heraldry.messages.matched import Matched, matched
from heraldry.messages.message import Message
from heraldry.messages.near import ranked
from heraldry.messages.select import accepts, select
from heraldry.messages.validate import validate
from heraldry.messages.verdict import Near, NoMatch
from heraldry.model.catalog import Catalog
from heraldry.model.definition import Definition
from heraldry.model.formats import protocol_family
from heraldry.model.inherit import definitions, materialize
from heraldry.model.problem import Problem

JUDGED = 20
"""So many failing candidates are judged in full, to tell the nearest."""

NEAR = 3
"""So many near misses are reported."""


class Matcher:
    """The definitions of a catalog, or ``only`` those of some xids, indexed.

    Each is compiled when it is first needed.
    """

    def __init__(self, catalog: Catalog, only: Collection[str] | None = None) -> None:
        self.catalog = catalog
        self._only = only
        self._compiled: dict[int, CompiledDefinition] = {}
        self._indexes: dict[tuple[str | None, bool], Index] = {}
        self._chosen: dict[tuple[str | None, str | None], Index] = {}

    @cached_property
    def definitions(self) -> tuple[Definition, ...]:
        """All definitions with what they inherit; circular ones are left out (M18)."""
        return tuple(self._materialized())

    def _materialized(self) -> Iterator[Definition]:
        for xid in definitions(self.catalog):
            if self._only is not None and str(xid) not in self._only:
                continue
            try:
                yield materialize(self.catalog, xid)
            except CircularBaseError:
                continue

    @cached_property
    def positions(self) -> dict[str, int]:
        """Where each xid stands among the definitions."""
        return {str(one.xid): place for place, one in enumerate(self.definitions)}

    def compiled(self, position: int) -> CompiledDefinition:
        """A definition by its position, compiled once."""
        found = self._compiled.get(position)
        if found is None:
            found = compile_merged(self.catalog, self.definitions[position])
            self._compiled[position] = found
        return found

    def definition(self, xid: str) -> CompiledDefinition:
        """A definition by its xid."""
        if xid not in self.positions:
            raise UnknownDefinitionError(xid)
        return self.compiled(self.positions[xid])

    @cached_property
    def _usable(self) -> tuple[tuple[int, Definition], ...]:
        every = enumerate(self.definitions)
        return tuple((place, one) for place, one in every if why_unusable(one) is None)

    @cached_property
    def _payload_only(self) -> tuple[int, ...]:
        return tuple(p for p, one in self._usable if not one.envelope and not one.protocol)

    def _index(self, protocol: str | None, event: bool) -> Index:
        """The index of the definitions that messages of one protocol may be of."""
        key = (protocol_family(protocol)[0] if protocol else None, event)
        index = self._indexes.get(key)
        if index is None:
            index = self._indexes[key] = Index(self._filed(*key))
        return index

    def _filed(self, family: str | None, event: bool) -> Iterator[tuple[int, Definition, Sections]]:
        """What an event may be of is filed by all its properties, else by those of the protocol.

        Definitions of events are filed for other messages too, to say that these are no events.
        """
        for position, one in self._usable:
            own = protocol_family(one.protocol)[0] if one.protocol else None
            if event and one.envelope and (own is None or family is None or own == family):
                yield position, one, "envelope" if family is None else "both"
            elif own is not None and own == family and not (event and one.envelope):
                yield position, one, "protocol"

    def match(self, message: Message) -> Matched | NoMatch:
        """Find the definition of a message; equal messages get equal answers."""
        return self.resolve(message)[1]

    def resolve(self, message: Message) -> tuple[CompiledDefinition | None, Matched | NoMatch]:
        """As :meth:`match`, with the compiled definition where there is one."""
        kind = (message.protocol, message.envelope)
        index = self._chosen.get(kind)
        if index is None:
            index = self._chosen[kind] = self._index(message.protocol, is_event(message))
        found = index.find(message)
        fitting = []
        for position in found:
            compiled = self._compiled.get(position) or self.compiled(position)
            if compiled.unusable is None and (values := fits(compiled, message)) is not None:
                fitting.append((compiled, values))
        fitting = fitting or self._by_payload(message)
        if not fitting:
            return None, self._no_match(index, found, message)
        if len(fitting) == 1:
            compiled, values = fitting[0]
            return compiled, matched(compiled, values, (compiled.xid,), message)
        return _choose(fitting, message)

    def _by_payload(self, message: Message) -> list[tuple[CompiledDefinition, dict[str, str]]]:
        """The payload-only definitions whose content type fits, and whose schema accepts."""
        every = (self.compiled(position) for position in self._payload_only)
        typed = [one for one in every if fits(one, message) is not None]
        return [(one, {}) for one in typed if one.schema is None or accepts(one, message)]

    def _no_match(self, index: Index, found: list[int], message: Message) -> NoMatch:
        failing = self._judged(found, message)
        if not failing and message.protocol is not None and is_event(message):
            failing = self._judged(self._index(None, True).find(message), message)
        path, value = "", None
        if not failing:
            path, value, beside = index.near(message, NEAR)
            failing = self._judged(beside, message)
        if not failing:
            failing = self._failing_payloads(message)
        if not failing:
            return NoMatch(problems=(_unknown(path, value, message),))
        best = failing[:NEAR]
        near = (
            Near(definition=one.compiled.xid, score=one.score, problems=one.problems)
            for one in best
        )
        return NoMatch(problems=best[0].problems, near=tuple(near))

    def _judged(self, positions: Iterable[int], message: Message) -> list[Judgement]:
        """Judgements with reasons, nearest first; those that are not near are left out."""
        places = list(positions)[:JUDGED]
        return ranked(judge_by(self.compiled(place), message) for place in places)

    def _failing_payloads(self, message: Message) -> list[Judgement]:
        judged = []
        for position in self._payload_only[:JUDGED]:
            compiled = self.compiled(position)
            if fits(compiled, message) is not None:
                problems = validate(compiled, message)[1]
                judged.append(Judgement(compiled=compiled, problems=problems, score=0.5))
        return judged


def _choose(
    fitting: list[tuple[CompiledDefinition, dict[str, str]]], message: Message
) -> tuple[CompiledDefinition | None, Matched | NoMatch]:
    candidates = tuple(one.xid for one, _ in fitting)
    chosen = select([one for one, _ in fitting], message)
    if len(chosen) == 1:
        one = chosen[0]
        values = next(values for other, values in fitting if other is one)
        return one, matched(one, values, candidates, message)
    several = tuple(one.xid for one in chosen)
    problem = Problem(
        path="/",
        rule="ambiguous",
        message=f"{len(several)} definitions fit and nothing tells them apart",
        expected=", ".join(several),
    )
    return None, NoMatch(problems=(problem,), candidates=several)


def _unknown(path: str, value: object, message: Message) -> Problem:
    if value is not None:
        told = "no definition has this value"
        return Problem(path=path, rule="unknown", message=told, found=shown(value))
    if path:
        return Problem(path=path, rule="unknown", message="no definition fits without it")
    path = "protocol" if message.protocol else "envelope"
    told = "the catalog has no definition for such messages"
    found = shown(message.protocol or message.envelope)
    return Problem(path=path, rule="unknown", message=told, found=found)


__all__ = ["Matcher"]
