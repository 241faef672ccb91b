"""Drafts: a message being built, and what is set in it by rule or by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from heraldry.messages.compile import CompiledDefinition
from heraldry.messages.constraint import Constraint
from heraldry.messages.envelopes import cloudevents
from heraldry.messages.fields import Field
from heraldry.messages.message import Mode
from heraldry.messages.protocol_table import fields
from heraldry.messages.values import canonical_text, native, plain, single_text, typed
from heraldry.model.problem import Problem

_NATIVE: Mapping[type, frozenset[str]] = {
    bool: frozenset(("boolean", "any", "var")),
    int: frozenset(("integer", "number", "ulong", "any", "var")),
    bytes: frozenset(("binary", "any", "var")),
}
"""The types of properties that keep such values; all others hold texts."""
_INT32 = range(-(2**31), 2**31)


@dataclass(slots=True, kw_only=True)
class Draft:
    """A message being built, with all that is wrong so far."""

    compiled: CompiledDefinition
    protocol: str | None
    mode: Mode | None
    raw: bool
    stamp: str
    given: dict[str, Any] = field(default_factory=dict)
    attributes: dict[str, Any] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    used: dict[str, str] = field(default_factory=dict)
    failed: set[str] = field(default_factory=set)
    event_format: str | None = None

    @property
    def table(self) -> Mapping[str, Field]:
        """The properties of the protocol."""
        return fields(self.protocol) if self.protocol else {}

    def refuse(self, path: str, rule: str, message: str, expected: str | None = None) -> None:
        """Note one problem; the property is then not checked again."""
        self.problems.append(Problem(path=path, rule=rule, message=message, expected=expected))
        self.failed.add(path)


def take(draft: Draft, values: Mapping[str, Any]) -> None:
    """Keep what was given for the message; what no message can hold is a problem."""
    for name, value in values.items():
        try:
            given = draft.given[name] = plain(value)
            if name in draft.compiled.placeholders and given is not None:
                draft.texts[name] = single_text(given)
        except (TypeError, ValueError, RecursionError):
            draft.refuse(name, "type", "is a value that no message can hold")
            draft.given.pop(name, None)


def put(draft: Draft, rule: Constraint, value: Any) -> None:
    """Set one property where its rule says, as a value of its type."""
    place = rule.place
    if isinstance(value, list | dict) and not (place.member and draft.table[place.name].typed):
        value = canonical_text(value)
    if place.section == "attributes":
        draft.attributes[place.name] = _attribute(place.name, rule.type, value)
    elif place.member is None:
        draft.metadata[place.name] = _scalar(draft.table[place.name].type, value)
    else:
        read = native if draft.table[place.name].typed else typed
        pair = place.member, read(rule.type, value)
        draft.metadata[place.name] = (*draft.metadata.get(place.name, ()), pair)


def set_properties(draft: Draft) -> None:
    """Set what was given by the name of a property; a placeholder of that name comes first."""
    for name, value in draft.given.items():
        if name in draft.compiled.placeholders or value is None:
            continue
        for section, member, kind in _targets(draft, name):
            try:
                _set(draft, section, member, kind, value)
            except (TypeError, ValueError) as error:
                draft.refuse(name, "type", str(error))
            break
        else:
            told = "is neither a placeholder nor a property of this definition"
            draft.refuse(name, "unknown-name", told, ", ".join(draft.compiled.placeholders) or None)


def _set(draft: Draft, section: str, member: str, kind: str, value: Any) -> None:
    if section == "attributes":
        draft.attributes[member] = given = _attribute(member, kind, value)
        problems = [one for one in cloudevents.check({member: given}) if one.rule != "required"]
        draft.problems += problems
        draft.failed.update(one.path for one in problems)
    elif section == "metadata":
        if isinstance(value, bytes) and f"{member}_base64" in draft.table:
            member, kind = f"{member}_base64", "binary"
        # A key has two forms that exclude each other (M62).
        draft.metadata.pop(member.removesuffix("_base64"), None)
        draft.metadata.pop(f"{member}_base64", None)
        draft.metadata[member] = _scalar(kind, value)
    else:
        _set_member(draft, draft.table[section], member, kind, value)


def _set_member(draft: Draft, known: Field, member: str, kind: str, value: Any) -> None:
    name = known.member(member)
    kept = (p for p in draft.metadata.get(known.name, ()) if known.member(p[0]) != name)
    # Bytes stay bytes where the protocol has them; the others write them as base64.
    keeps = known.typed or isinstance(value, bytes)
    given = native(kind, value) if keeps else single_text(value)
    draft.metadata[known.name] = (*kept, (member, given))


def _attribute(name: str, kind: str, value: Any) -> Any:
    """A value as CloudEvents has it: a text, but for extensions of one of its other types."""
    found = _scalar(kind, value)
    large = type(found) is int and found not in _INT32
    return single_text(found) if large or name in cloudevents.ATTRIBUTES else found


def _scalar(kind: str, value: Any) -> Any:
    """A value of its type, else its text; TypeError or ValueError where it has none."""
    found = typed(kind, value) if isinstance(value, str) else value
    return found if kind in _NATIVE.get(type(found), ()) else single_text(found)


def _targets(draft: Draft, name: str) -> Iterator[tuple[str, str, str]]:
    """Where a name may stand: a section or collection, the name in it, and its type."""
    first, _, rest = name.partition(".")
    if draft.compiled.cloudevents:
        declares = cloudevents.properties(draft.compiled.definition)
        attribute = rest if first == "attributes" and rest else name
        if attribute in declares or attribute in cloudevents.ATTRIBUTES or attribute == rest:
            declared = declares[attribute].type if attribute in declares else None
            kind = declared or cloudevents.ATTRIBUTES.get(attribute, "string")
            yield "attributes", attribute, kind
    bare = rest if first == "metadata" and rest else name
    collection, _, member = bare.partition(".")
    for known in draft.table.values():
        if not known.collection:
            if known.name == bare:
                yield "metadata", bare, known.type
        elif known.name == collection and member:
            yield collection, member, _member_type(draft, known, member)
        elif known.members is not None and bare in known.members:
            yield known.name, bare, _member_type(draft, known, bare)


def _member_type(draft: Draft, known: Field, member: str) -> str:
    """The type that the definition gives a member, else that of the protocol's table."""
    name = known.member(member)
    for rule in draft.compiled.constraints:
        if rule.place.name == known.name and rule.place.member == name and rule.kind == "type":
            return rule.type
    return known.member_type(name)
