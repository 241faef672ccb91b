"""Witnesses: a concrete message that all of some definitions accept.

The message is put together from their constants, templates and types, and is only given out when
each of the definitions accepts it as a receiver sees it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import Any, Final

from heraldry.errors import MessageError, MissingExtraError
from heraldry.messages import line as lines
from heraldry.messages.compile import CompiledDefinition, is_media_type
from heraldry.messages.constraint import FREE_TEXT, Constraint
from heraldry.messages.envelopes import cloudevents
from heraldry.messages.fit import fits, judge_by
from heraldry.messages.message import Message, Mode
from heraldry.messages.protocol_table import MODULES, canonical_name, fields
from heraldry.messages.sample import sample_property
from heraldry.messages.shared_text import Pattern, shared_text
from heraldry.messages.template import Template
from heraldry.messages.values import canonical_text, native, typed
from heraldry.model.problem import Problem

FILLS: Final = ("1", "x", "200", "identity", "true", "2026-01-01T00:00:00Z", "urn:x:1")
"""What is written for placeholders, one after the other until a message is right."""

_PLAIN: Final = (1, "1", True, "x", "2026-01-01T00:00:00Z", "PT1S", "urn:x:1", "AAEC")
"""Values of which every type has one."""

_TRIES: Final = 60
_PARTS: Final = 6
_WORD = re.compile(r"[A-Za-z0-9]+")
_JSON: Final = "application/json"
_ENVELOPE: Final = "application/cloudevents"
_CONTENT = ("content_type", 0)
_NEVER: Any = object()
"""No value obeys all rules."""
_NOT_SO: Any = object()
"""None does with what was written for the placeholders."""

Slot = tuple[str, int]
"""A path, and which of the values there: a name may repeat in a collection."""
Owned = tuple[int, Constraint]
"""A rule, and which of the definitions it is of."""
Bound = Mapping[tuple[int, str], str]
"""The values that placeholders have, by definition and name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What kind of message it is: over which protocol, and how an event travels."""

    protocol: str | None
    mode: Mode | None


def witnesses(
    definitions: Sequence[CompiledDefinition], payload: bytes | None = None
) -> Iterator[Message]:
    """Messages that all definitions accept, as a receiver sees them; each is verified.

    A message states its content type where a definition does, and has one value for each name
    that no definition names twice: what accepts only because something is missing or repeated
    is no witness.
    """
    for frame in _frames(definitions):
        puzzle = _Puzzle.of(definitions, frame)
        for fill in puzzle.fills:
            solved = puzzle.solve(fill)
            if puzzle.hopeless is not None:
                break
            if solved is None:
                continue
            message = _received(_assembled(puzzle, solved, payload))
            if message is not None and all(fits(one, message) is not None for one in definitions):
                yield message


def contradiction(one: CompiledDefinition) -> Problem | None:
    """Why no message can obey all constants of a definition, or None.

    What fails because a made-up value was no good is no contradiction.
    """
    reason = None
    for frame in _frames((one,)):
        reason, puzzle = None, _Puzzle.of((one,), frame)
        solved = puzzle.solve(FILLS[0])
        if solved is not None:
            reason = _refusal(one, _assembled(puzzle, solved, None))
        elif puzzle.hopeless == _CONTENT:
            told = "is stated in two ways that exclude each other"
            reason = Problem(path="content_type", rule="content-type", message=told)
        if reason is None:
            return None
    return reason


def _refusal(one: CompiledDefinition, message: Message) -> Problem | None:
    """What is wrong with a message where a constant of the definition stands."""
    try:
        problems = judge_by(one, lines.read(lines.write(message))).problems
    except MissingExtraError:
        return None
    except MessageError as error:
        problems = error.problems
    fixed = {rule.path for rule in one.constraints if rule.kind in ("constant", "media-type")}
    return next((problem for problem in problems if problem.path in fixed), None)


def payload_only(one: CompiledDefinition) -> bool:
    """Whether a definition has neither an envelope nor a protocol."""
    return not one.definition.envelope and not one.definition.protocol


def _frames(definitions: Sequence[CompiledDefinition]) -> Iterator[Frame]:
    protocols = [one.definition.protocol for one in definitions if one.definition.protocol]
    protocol = canonical_name(protocols[0]) if protocols else None
    event = any(one.cloudevents for one in definitions)
    if protocol is None and not event:
        protocol = next(iter(MODULES))  # payload-only: any protocol will do
    if protocol is None:
        yield Frame(protocol=None, mode="structured")
    elif not event:
        yield Frame(protocol=protocol, mode=None)
    else:
        yield Frame(protocol=protocol, mode="binary")
        yield Frame(protocol=protocol, mode="structured")


@dataclass(slots=True, kw_only=True)
class _Puzzle:
    """The rules of some definitions by the value they are about."""

    definitions: Sequence[CompiledDefinition]
    frame: Frame
    slots: dict[Slot, list[Owned]] = field(default_factory=dict)
    tries: int = _TRIES
    hopeless: Slot | None = None
    """Where texts exclude each other, whatever is written for placeholders."""

    @classmethod
    def of(cls, definitions: Sequence[CompiledDefinition], frame: Frame) -> _Puzzle:
        puzzle = cls(definitions=definitions, frame=frame)
        for owner, one in enumerate(definitions):
            seen: dict[str, int] = {}
            for rule in one.constraints:
                if rule.place.section == "metadata" and frame.protocol is None:
                    continue
                slot = _CONTENT
                if not _states_content(rule):
                    slot = (rule.path, seen.get(rule.path, 0))
                    seen[rule.path] = slot[1] + 1
                puzzle.slots.setdefault(slot, []).append((owner, rule))
        return puzzle

    @property
    def fills(self) -> Iterator[str]:
        """What to write for placeholders: also texts that the definitions have themselves."""
        templates = (r.template for one in self.definitions for r in one.constraints if r.template)
        literals = (literal for template in templates for literal in template.literals)
        words = dict.fromkeys(word for literal in literals for word in _WORD.findall(literal))
        yield from (*FILLS[:1], *islice(words, _PARTS), *FILLS[1:])

    def solve(self, fill: str) -> dict[Slot, Any] | None:
        """A value for every slot, or None where none was found."""
        return self._solve(fill, {})

    def _solve(self, fill: str, bound: Bound) -> dict[Slot, Any] | None:
        self.tries -= 1
        values: dict[Slot, Any] = {}
        for slot, rules in self.slots.items():
            value = self._value(slot, rules, fill, bound)
            if value is _NEVER or value is _NOT_SO:
                self.hopeless = slot if value is _NEVER and not bound else None
                return None
            if value is not None:
                values[slot] = value
        clashes = self._clashes(values)
        for clash in clashes:
            for choice in self._choices(clash, values, fill, bound):
                if self.tries <= 0 or clash in bound:
                    return None
                solved = self._solve(fill, {**bound, clash: choice})
                if solved is not None:
                    return solved
        return None if clashes else values

    def _value(self, slot: Slot, rules: list[Owned], fill: str, bound: Bound) -> Any:
        if slot == _CONTENT:
            return _content_type(rules, fill, bound)
        plain = [rule for _, rule in rules if rule.template is None or rule.kind == "constant"]
        constants = [rule for rule in plain if rule.kind == "constant"]
        if constants:
            values = [typed(rule.type, rule.value) for rule in constants]
            return _first(values, rules)
        if len(plain) < len(rules):
            text = shared_text(_patterns(rules, bound), fill)
            return _NEVER if text is None else _first([text], rules, _NOT_SO)
        if not any(rule.required for rule in plain):
            return None
        made = [sample_property(self.definitions[owner], rule, 0) for owner, rule in rules]
        return _first([*made, *_PLAIN], rules)

    def written(self, slot: Slot, value: Any) -> Any:
        """The value of a member as its protocol writes it: some have types of their own."""
        rules = [rule for _, rule in self.slots[slot]]
        if not fields(self.frame.protocol or "")[rules[0].place.name].typed:
            return value
        kinds = (rule.type for rule in rules if rule.type not in FREE_TEXT)
        return native(next(kinds, "string"), value)

    def _clashes(self, values: Mapping[Slot, Any]) -> list[tuple[int, str]]:
        """The placeholders that have two values (M39)."""
        found: dict[tuple[int, str], set[str]] = {}
        for owner, name, value in self._read(values):
            found.setdefault((owner, name), set()).add(value)
        return [one for one, seen in found.items() if len(seen) > 1]

    def _read(self, values: Mapping[Slot, Any]) -> Iterator[tuple[int, str, str]]:
        for slot, rules in self.slots.items():
            for owner, rule in rules:
                if rule.template is not None and slot in values:
                    for name, value in _occurrences(rule.template, canonical_text(values[slot])):
                        yield owner, name, value

    def _choices(
        self, clash: tuple[int, str], values: Mapping[Slot, Any], fill: str, bound: Bound
    ) -> list[str]:
        """Values to try for a placeholder: what all its partners allow, then what was found."""
        partners: list[Pattern] = []
        for rules in self.slots.values():
            alone = [r for o, r in rules if o == clash[0] and _is_alone(r, clash[1])]
            if alone:
                partners += _patterns([one for one in rules if one[0] != clash[0]], bound)
        joint = shared_text(partners, fill) if len(partners) > 1 else None
        seen = [value for o, name, value in self._read(values) if (o, name) == clash]
        return list(dict.fromkeys([joint, *seen] if joint is not None else seen))


def _occurrences(template: Template, text: str) -> Iterator[tuple[str, str]]:
    """Every occurrence of a placeholder with its value there, also where two differ."""
    found = _distinct(template.literals, template.separator).match(text) or {}
    return zip(template.placeholders, found.values(), strict=False)


@lru_cache(maxsize=1024)
def _distinct(literals: tuple[str, ...], separator: str | None) -> Template:
    """The same template with another name for each occurrence."""
    parts = (f"{{p{number}}}{literal}" for number, literal in enumerate(literals[1:]))
    return Template.parse(literals[0] + "".join(parts), separator)


def _states_content(rule: Constraint) -> bool:
    """Whether a rule is about the content type of the payload, not about that of an envelope."""
    if rule.place.section == "content_type":
        return True
    return is_media_type(rule.place) and not rule.text.lower().startswith(_ENVELOPE)


def _is_alone(rule: Constraint, name: str) -> bool:
    return rule.template is not None and rule.template.text == f"{{{name}}}"


def _patterns(rules: list[Owned], bound: Bound) -> list[Pattern]:
    return [
        Pattern.of(rule.template, {n: value for (o, n), value in bound.items() if o == owner})
        for owner, rule in rules
        if rule.template is not None
    ]


def _first(values: Sequence[Any], rules: list[Owned], otherwise: Any = _NEVER) -> Any:
    """The first value that obeys every rule."""
    for value in values:
        if all(_allows(rule, value) for _, rule in rules):
            return value
    return otherwise


def _content_type(rules: list[Owned], fill: str, bound: Bound) -> Any:
    """One content type for the payload, stated wherever a definition states it (M29)."""
    stated = [rule.text for _, rule in rules if rule.kind == "media-type" and not rule.inferred]
    patterns = _patterns(rules, bound)
    text = shared_text(patterns, fill) if patterns and not stated else None
    for one in (*sorted(stated, key=len, reverse=True), text, _JSON):
        if one is not None and all(_allows(rule, one) for _, rule in rules):
            return one
    return _NOT_SO if text is not None else _NEVER


def _allows(rule: Constraint, value: Any) -> bool:
    """Whether a value obeys a rule, whatever its placeholders are elsewhere."""
    if rule.template is None:
        return rule.fits(value, {})
    alone = _distinct(rule.template.literals, rule.template.separator)
    return alone.match(canonical_text(value)) is not None


def _assembled(puzzle: _Puzzle, solved: Mapping[Slot, Any], payload: bytes | None) -> Message:
    attributes: dict[str, Any] = {}
    metadata: dict[str, Any] = {}
    for slot, value in solved.items():
        if slot == _CONTENT:
            continue
        place = puzzle.slots[slot][0][1].place
        if place.section == "attributes":
            attributes[place.name] = value
        elif place.member is None:
            metadata[place.name] = value
        else:
            pair = place.member, puzzle.written(slot, value)
            metadata[place.name] = (*metadata.get(place.name, ()), pair)
    kind = solved.get(_CONTENT)
    mode = puzzle.frame.mode
    if kind is not None and mode is not None:
        attributes["datacontenttype"] = kind
    return Message(
        protocol=puzzle.frame.protocol,
        metadata=metadata,
        envelope=cloudevents.ENVELOPE if mode is not None else None,
        mode=mode,
        attributes=attributes,
        payload=payload,
        content_type=kind,
    )


def _received(message: Message) -> Message | None:
    """The message as a receiver reads it from a line, or None where it cannot travel so."""
    try:
        return lines.read(lines.write(message))
    except (MessageError, MissingExtraError):
        return None
