"""Plans: the rules of a definition, sorted by what tells at once that a plain value obeys them.

Where that cannot tell, the rule itself is asked: a plan only ever accepts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from heraldry.messages.constraint import FREE_TEXT, PLAIN_TIME, Constraint
from heraldry.messages.message import Message

Pattern = Callable[[str], re.Match[str] | None]

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
    templates: list[tuple[Constraint, bool, str, Pattern, tuple[tuple[int, str], ...]]] = field(
        default_factory=list
    )
    others: list[Constraint] = field(default_factory=list)
    patterns: dict[str, tuple[Pattern, tuple[tuple[int, str], ...]]] = field(default_factory=dict)
    """The patterns of templates, by the path of the rule."""

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
            if type(found) is str and "%" not in found and (got := pattern(found)) is not None:
                for group, placeholder in groups:
                    text = got[group]
                    if values.setdefault(placeholder, text) != text:
                        break
                else:
                    continue
            if not rule.holds(message, values):
                return None
        for rule in self.others:
            if not rule.holds(message, values):
                return None
        return values

    def holds(self, rule: Constraint, message: Message, values: dict[str, str]) -> bool:
        """Whether a message obeys one of the rules; adds the values of its placeholders."""
        quick = self.patterns.get(rule.path)
        if quick is None:
            return rule.holds(message, values)
        inside = rule.place.section == "metadata"
        found = (message.metadata if inside else message.attributes).get(rule.place.name)
        # what is escaped must be decoded
        if type(found) is not str or "%" in found:
            return rule.holds(message, values)
        got = quick[0](found)
        if got is None:
            return False  # a pattern finds all that its template finds
        new = {placeholder: got[group] for group, placeholder in quick[1]}
        for name, text in new.items():
            if values.get(name, text) != text:
                return False
        values.update(new)
        return True


def plan(rules: Iterable[Constraint]) -> Plan:
    """The plan of a definition; templates and the other rules keep their order."""
    made = Plan()
    for rule in rules:
        place, template = rule.place, rule.template
        where = (rule, place.section == "metadata", place.name)
        pattern = _pattern(rule)
        if place.member is not None or place.section == "content_type":
            made.others.append(rule)
        elif rule.kind == "constant":
            # Numbers and truth values are compared as such, all else by its text.
            exact = type(rule.value) in (int, bool)
            made.constants.append((*where, rule.value if exact else rule.text))
        elif pattern is None:
            made.others.append(rule)
        elif template is None:
            made.texts.append((*where, pattern, not rule.required))
        else:
            groups = tuple(enumerate(template.placeholders, 1))
            made.templates.append((*where, pattern, groups))
            made.patterns[rule.path] = (pattern, groups)
    return made


def _pattern(rule: Constraint) -> Pattern | None:
    """A pattern that only texts have which obey the rule, or None."""
    if rule.template is not None:
        pattern = rule.template.regex()
        return None if pattern is None else re.compile(pattern).fullmatch
    if rule.kind == "required" or (rule.kind == "type" and rule.type in FREE_TEXT):
        return _SOME_TEXT
    return _PLAIN.get(rule.type) if rule.kind == "type" else None
