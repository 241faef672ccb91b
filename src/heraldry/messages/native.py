"""Native messages: those that are no events, by what definitions of events say of the protocol."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

from heraldry.errors import PlaceholderError
from heraldry.messages.compile import CompiledDefinition, infers_json, states_envelope
from heraldry.messages.constraint import Constraint
from heraldry.messages.envelopes.cloudevents import ENVELOPE
from heraldry.messages.fit import fits
from heraldry.messages.match import Matcher
from heraldry.messages.matched import Matched, matched
from heraldry.messages.message import Message
from heraldry.messages.verdict import NoMatch
from heraldry.model.definition import Definition
from heraldry.model.formats import is_cloudevents
from heraldry.model.problem import Problem

FROM_PLACE = frozenset(("id", "source", "type", "time"))
"""Attributes that the place of a message tells where its definition does not."""

_TYPE = "datacontenttype"


class NativeMatcher(Matcher):
    """The definitions that have a protocol and an envelope, by what they say of the protocol.

    ``beside`` adds all that messages may match as they are; these come first.
    """

    def __init__(self, whole: Matcher, *, beside: bool = False) -> None:
        super().__init__(whole.catalog)
        self._whole = whole
        self._beside = beside

    def _materialized(self) -> Iterator[Definition]:
        for one in self._whole.definitions:
            if one.protocol and is_cloudevents(one.envelope):
                yield replace(one, envelope=None)
            elif self._beside and not one.envelope:
                yield one

    @cached_property
    def _mapping(self) -> frozenset[int]:
        """The positions of definitions of events."""
        positions, every = self._whole.positions, self._whole.definitions
        return frozenset(
            place
            for place, one in enumerate(self.definitions)
            if every[positions[str(one.xid)]].envelope
        )

    def compiled(self, position: int) -> CompiledDefinition:
        """A definition by its position; what is not changed is shared with the whole."""
        if position in self._mapping:
            return super().compiled(position)
        return self._whole.definition(str(self.definitions[position].xid))

    def resolve(self, message: Message) -> tuple[CompiledDefinition | None, Matched | NoMatch]:
        """Find the definition of a message that is no event: one it fits as it is, else another."""
        index = self._index(message.protocol, False)
        found = index.find(message)
        plain: list[tuple[CompiledDefinition, dict[str, str]]] = []
        mapped: list[tuple[CompiledDefinition, dict[str, str]]] = []
        for position in found:
            compiled = self.compiled(position)
            if compiled.unusable is None and (values := fits(compiled, message)) is not None:
                (mapped if position in self._mapping else plain).append((compiled, values))
        plain = plain or self._by_payload(message)
        fitting = plain or mapped
        if not fitting:
            return None, self._no_match(index, found, message)
        if len(fitting) > 1:
            return self._whole.resolve(message) if plain else super().resolve(message)
        compiled, values = fitting[0]
        return compiled, matched(compiled, values, (compiled.xid,), message)


@dataclass(frozen=True, slots=True, kw_only=True)
class Filling:
    """What a definition gives the attributes of a message that is no event.

    Constants and templates fill them; ``needed`` are the rules of attributes that must be there
    and have no value. ``kind`` is the content type of messages that name none, ``media`` the rule
    for those that do.
    """

    constants: Mapping[str, Any]
    templates: tuple[Constraint, ...]
    needed: tuple[Constraint, ...]
    kind: str | None
    media: Constraint | None

    def attributes(
        self, values: Mapping[str, str], content_type: str | None
    ) -> dict[str, Any] | tuple[Problem, ...]:
        """The attributes of a message with these values, or why an attribute has none."""
        found = dict(self.constants)
        problems = [_missing(rule) for rule in self.needed]
        for rule in self.templates:
            try:
                found[rule.place.name] = rule.template.expand(values) if rule.template else None
            except PlaceholderError as error:
                told = f"{{{error.placeholder}}} {error.reason}"
                problems.append(_problem(rule, "placeholder", told))
        kind = self.kind if content_type is None else content_type
        if self.media is not None and content_type is not None:
            stated = Message(envelope=ENVELOPE, attributes={_TYPE: content_type})
            wrong = self.media.check(stated, {})
            problems += [wrong] if wrong else []
        if kind is not None and not (self.media is None and _TYPE in found):
            found[_TYPE] = kind
        return tuple(problems) if problems else found


_PLAIN = Filling(constants={"specversion": "1.0"}, templates=(), needed=(), kind=None, media=None)
_known: WeakKeyDictionary[CompiledDefinition, Filling] = WeakKeyDictionary()


def filling(compiled: CompiledDefinition) -> Filling:
    """How a definition fills in the attributes; one without an envelope knows only the version."""
    if not compiled.cloudevents:
        return _PLAIN
    found = _known.get(compiled)
    if found is None:
        found = _known[compiled] = _filling(compiled)
    return found


def _filling(compiled: CompiledDefinition) -> Filling:
    constants: dict[str, Any] = {"specversion": "1.0"}
    templates, needed = [], []
    media = None
    for rule in compiled.constraints:
        name = rule.place.name
        if rule.place.section != "attributes":
            continue
        if rule.kind == "media-type" and name == _TYPE:
            media = rule
        elif rule.kind in ("constant", "media-type"):
            constants[name] = rule.value
        elif rule.kind == "template":
            templates.append(rule)
        elif rule.required and name not in FROM_PLACE:
            needed.append(rule)
    uri = compiled.definition.dataschemauri
    if uri and "://" in uri and "{" not in uri:
        constants.setdefault("dataschema", uri)
    kind = media.text if media is not None else _content_type(compiled)
    return Filling(
        constants=constants,
        templates=tuple(templates),
        needed=tuple(one for one in needed if one.place.name != _TYPE or kind is None),
        kind=kind,
        media=media,
    )


def _content_type(compiled: CompiledDefinition) -> str | None:
    """What the payload is where nobody says so: as declared, or as the schema has it."""
    own = compiled.definition
    if own.datacontenttype and not states_envelope(own) and "{" not in own.datacontenttype:
        return own.datacontenttype
    if infers_json(own):
        return "application/json"
    return compiled.schema.media_type if compiled.schema is not None else None


def _missing(rule: Constraint) -> Problem:
    return _problem(rule, "required", "is missing")


def _problem(rule: Constraint, name: str, told: str) -> Problem:
    expected = rule.text if rule.kind == "template" else None
    return Problem(path=rule.path, rule=name, message=told, expected=expected)
