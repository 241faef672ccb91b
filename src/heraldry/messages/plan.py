"""Plans: the rules of a definition, sorted by what tells at once that a plain value obeys them.

Where that cannot tell, the rule itself is asked: a plan only ever accepts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from heraldry.messages.constraint import FREE_TEXT, PLAIN_TIME, Constraint, shown
from heraldry.messages.message import Message
from heraldry.messages.values import compares_text
from heraldry.model.problem import Problem

Pattern = Callable[[str], re.Match[str] | None]
Groups = tuple[tuple[int, str], ...]
"""The placeholders of a template with the numbers of their groups in its pattern."""

Probe = Callable[[Message, dict[str, str]], Problem | None]
"""Why a message breaks a rule, or None; adds the values of placeholders found."""

_SOME_TEXT = re.compile(r"(?s:.+)").fullmatch
_PLAIN = {
    "timestamp": PLAIN_TIME,
    "urireference": re.compile(r"[A-Za-z0-9._~/-]+").fullmatch,
}


@dataclass(slots=True)
class Plan:
    """The rules of one definition; properties by name, those of the protocol marked ``True``.

    ``constants`` are met by an equal value, ``texts`` by a text of the pattern or, where the
    property may be absent, by nothing. The groups of the pattern of a template, by number, are the
    values of its placeholders.
    """

    constants: list[tuple[Constraint, bool, str, object]] = field(default_factory=list)
    texts: list[tuple[Constraint, bool, str, Pattern, bool]] = field(default_factory=list)
    templates: list[tuple[Constraint, bool, str, Pattern, Groups]] = field(default_factory=list)
    others: list[Constraint] = field(default_factory=list)
    probes: list[tuple[Constraint, Probe]] = field(default_factory=list)
    """Every rule, in the order of the definition, with what tells the reason."""

    def values(self, message: Message) -> dict[str, str] | None:
        """The values of the placeholders where a message obeys every rule, else None."""
        attributes = message.attributes
        # no protocol, no rules of a protocol
        metadata = {} if message.protocol is None else message.metadata
        values: dict[str, str] = {}
        for rule, inside, name, constant in self.constants:
            found = (metadata if inside else attributes).get(name)
            # True equals 1, but is another value
            if (found != constant or type(found) is not type(constant)) and not rule.holds(
                message, values
            ):
                return None
        for rule, inside, name, pattern, optional in self.texts:
            found = (metadata if inside else attributes).get(name)
            if type(found) is str and pattern(found) is not None:
                continue
            if not (found is None and optional) and not rule.holds(message, values):
                return None
        for rule, inside, name, pattern, groups in self.templates:
            found = (metadata if inside else attributes).get(name)
            # what is escaped must be decoded
            if type(found) is not str or "%" in found:
                if not rule.holds(message, values):
                    return None
                continue
            if (got := pattern(found)) is None:
                return None  # a pattern finds all that its template finds
            for group, placeholder in groups:
                text = got[group]
                if values.setdefault(placeholder, text) != text:
                    return None
        for rule in self.others:
            if not rule.holds(message, values):
                return None
        return values


def plan(rules: Iterable[Constraint]) -> Plan:
    """The plan of a definition; templates and the other rules keep their order."""
    made = Plan()
    for rule in rules:
        place, template = rule.place, rule.template
        inside, name = place.section == "metadata", place.name
        pattern = _pattern(rule)
        probe: Probe = _content_type(rule) if place.section == "content_type" else rule.check
        if place.member is not None or place.section == "content_type":
            made.others.append(rule)
        elif rule.kind == "constant":
            # Numbers and truth values are compared as such, all else by its text.
            constant = rule.value if type(rule.value) in (int, bool) else rule.text
            made.constants.append((rule, inside, name, constant))
            probe = _constant(rule, inside, name, constant)
        elif pattern is None:
            made.others.append(rule)
        elif template is None:
            made.texts.append((rule, inside, name, pattern, not rule.required))
            probe = _text(rule, inside, name, pattern)
        else:
            groups = tuple(enumerate(template.placeholders, 1))
            made.templates.append((rule, inside, name, pattern, groups))
            probe = _template(rule, inside, name, pattern, groups)
        made.probes.append((rule, probe))
    return made


def _constant(rule: Constraint, inside: bool, name: str, constant: object) -> Probe:
    kind = type(constant)
    literal = kind is str and compares_text(rule.type)
    misfit = _misfit(rule)

    def probe(message: Message, values: dict[str, str]) -> Problem | None:
        found = (message.metadata if inside else message.attributes).get(name)
        if type(found) is kind:
            if found == constant:
                return None
            if literal:
                return misfit(found)
        return rule.check(message, values)

    return probe


def _text(rule: Constraint, inside: bool, name: str, pattern: Pattern) -> Probe:
    def probe(message: Message, values: dict[str, str]) -> Problem | None:
        found = (message.metadata if inside else message.attributes).get(name)
        if type(found) is str and pattern(found) is not None:
            return None
        return rule.check(message, values)

    return probe


def _template(rule: Constraint, inside: bool, name: str, pattern: Pattern, groups: Groups) -> Probe:
    misfit = _misfit(rule)
    names = [placeholder for _, placeholder in groups]

    def probe(message: Message, values: dict[str, str]) -> Problem | None:
        found = (message.metadata if inside else message.attributes).get(name)
        # what is escaped must be decoded
        if type(found) is not str or "%" in found:
            return rule.check(message, values)
        got = pattern(found)
        if got is None:
            return misfit(found)
        new = dict(zip(names, got.groups(), strict=True))
        for placeholder, text in new.items():
            if values.get(placeholder, text) != text:
                return rule.clash(placeholder, found, values)
        values.update(new)
        return None

    return probe


def _content_type(rule: Constraint) -> Probe:
    def probe(message: Message, values: dict[str, str]) -> Problem | None:
        return None if rule.holds(message, values) else rule.check(message, values)

    return probe


def _misfit(rule: Constraint) -> Callable[[Any], Problem]:
    """Makes the problem of a text that is not the constant, or that the template does not fit."""
    path, kind, told, expected = rule.path, rule.kind, rule.misfit, rule.text

    def problem(found: Any) -> Problem:
        return Problem(path=path, rule=kind, message=told, expected=expected, found=shown(found))

    return problem


def _pattern(rule: Constraint) -> Pattern | None:
    """A pattern that only texts have which obey the rule, or None."""
    if rule.template is not None:
        pattern = rule.template.regex()
        return None if pattern is None else re.compile(pattern).fullmatch
    if rule.kind == "required" or (rule.kind == "type" and rule.type in FREE_TEXT):
        return _SOME_TEXT
    return _PLAIN.get(rule.type) if rule.kind == "type" else None
