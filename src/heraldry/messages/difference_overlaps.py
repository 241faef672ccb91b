"""Definitions in each other's way: nothing but payloads tells, or told, their messages apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from heraldry.messages.compile import CompiledDefinition
from heraldry.messages.constraint import Constraint
from heraldry.messages.message import Message
from heraldry.messages.select import rivals, strictly_narrower
from heraldry.model.formats import protocol_family
from heraldry.schemas.changes import Change, Effect

NAMED: Final = 3
"""How many of the definitions that ask the same are named."""

Definitions = Mapping[str, CompiledDefinition]


def overlaps(old: Definitions, new: Definitions) -> dict[str, tuple[Change, ...]]:
    """For a definition that is new or changed: those its messages are mixed up with (C56)."""
    before, after = _alike(old), _alike(new)
    found: dict[str, tuple[Change, ...]] = {}
    for one in new.values():
        was = old.get(one.xid)
        if one.unusable is not None or _same(was, one):
            continue
        changes = list(_collisions(one, after[_asked(one)], old))
        if was is not None and was.unusable is None:
            others = [new[other.xid] for other in before[_asked(was)] if other.xid in new]
            changes += _partings(one, others, old)
        if changes:
            found[one.xid] = tuple(changes)
    return found


def _alike(definitions: Definitions) -> dict[object, list[CompiledDefinition]]:
    """The definitions by what they ask of messages."""
    found: dict[object, list[CompiledDefinition]] = {}
    for one in definitions.values():
        if one.unusable is None:
            found.setdefault(_asked(one), []).append(one)
    return found


def _collisions(
    one: CompiledDefinition, group: list[CompiledDefinition], old: Definitions
) -> Iterator[Change]:
    met: dict[Effect, list[str]] = {"breaking": [], "undecided": [], "safe": []}
    for other in group:
        if other is not one and _same(old.get(other.xid), other) and rivals(one, other):
            met[_effect(one, other)].append(other.xid)
    told = "The definition asks the same of messages as"
    if met["breaking"]:
        why = "their messages become ambiguous or go to it"
        yield _change("same-rules", f"{told} {_named(met['breaking'])}: {why}.", "breaking")
    if met["undecided"]:
        why = "only payloads tell them apart, and one that fits several is ambiguous"
        yield _change("same-rules", f"{told} {_named(met['undecided'])}: {why}.", "undecided")


def _partings(
    one: CompiledDefinition, others: list[CompiledDefinition], old: Definitions
) -> Iterator[Change]:
    """Where payloads told messages apart, and now the narrower rules come first."""
    message = Message(protocol=one.definition.protocol)
    met = [
        other.xid
        for other in others
        if other is not one
        and _same(old.get(other.xid), other)
        and rivals(one, other)
        and (strictly_narrower(one, other, message) or strictly_narrower(other, one, message))
    ]
    if met:
        told = f"The definition asked the same of messages as {_named(met)}"
        why = "now the narrower one takes messages of both, whatever their payload"
        yield _change("other-rules", f"{told}, and payloads told them apart: {why}.", "breaking")


def _named(xids: Sequence[str]) -> str:
    return ", ".join(xids[:NAMED]) + (" and others" if len(xids) > NAMED else "")


def _change(rule: str, message: str, backward: Effect) -> Change:
    # Readers of the old version have the rules they had.
    return Change(rule=rule, old=None, new="", message=message, backward=backward, forward="safe")


def _same(old: CompiledDefinition | None, new: CompiledDefinition) -> bool:
    """Whether a definition was there and asked the same of messages."""
    return old is not None and old.unusable is None and _asked(old) == _asked(new)


def _effect(one: CompiledDefinition, other: CompiledDefinition) -> Effect:
    """A payload decides where both have a schema; one that is not checked cannot."""
    if other.schema is None:
        return "breaking"
    if one.schema is None:
        # What its schema accepts stays with the other one.
        return "safe"
    return "breaking" if one.schema.source == other.schema.source else "undecided"


def _asked(one: CompiledDefinition) -> object:
    """What a definition asks of messages; how its placeholders are called is not part of it."""
    rules = frozenset(map(_rule, one.constraints))
    return one.cloudevents, protocol_family(one.definition.protocol), rules


def _rule(rule: Constraint) -> tuple[object, ...]:
    form: object = rule.text
    if rule.template is not None:
        form = (rule.template.literals, rule.template.separator)
    return rule.path, rule.kind, rule.type, form, rule.required, rule.inferred
