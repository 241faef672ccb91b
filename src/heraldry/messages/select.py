"""Selecting: which one of several fitting definitions a message belongs to (C56)."""

from __future__ import annotations

from collections.abc import Sequence

from heraldry.messages.compile import CompiledDefinition
from heraldry.messages.constraint import Constraint
from heraldry.messages.message import Message
from heraldry.messages.validate import validate
from heraldry.messages.values import check_value, is_json_media_type, same_media_type, same_value
from heraldry.model.inherit import borrowed_target

PROBE = "\ue000"
"""Stands for any value of a placeholder: no literal of a catalog has this character."""


def select(
    fitting: Sequence[CompiledDefinition], message: Message
) -> tuple[CompiledDefinition, ...]:
    """The definitions that remain: one, or several that nothing tells apart.

    An event that names no protocol is of a definition that names none, where there is one. The
    most derived of a basemessage chain wins (C56), then the one with strictly narrower
    constraints than all others, then the one whose payload schema accepts.
    """
    if message.protocol is None:
        fitting = unbound(fitting) or fitting
    remaining = most_derived(without_borrowed(fitting))
    if len(remaining) == 1:
        return remaining
    for one in remaining:
        if all(one is other or strictly_narrower(one, other, message) for other in remaining):
            return (one,)
    accepting = tuple(one for one in remaining if accepts(one, message))
    return accepting if len(accepting) == 1 else remaining


def without_borrowed(fitting: Sequence[CompiledDefinition]) -> tuple[CompiledDefinition, ...]:
    """Without the messages that merely borrow another one that fits too (C15)."""
    known = {one.xid: one for one in fitting}

    def borrowed(one: CompiledDefinition) -> bool:
        resource = one.catalog.resource(one.definition.xid)
        target = borrowed_target(one.catalog, resource) if resource else None
        original = known.get(str(target.xid)) if target else None
        return original is not None and original.definition.protocol == one.definition.protocol

    return tuple(one for one in fitting if not borrowed(one))


def most_derived(fitting: Sequence[CompiledDefinition]) -> tuple[CompiledDefinition, ...]:
    """Without those that are the base of another one (C56)."""
    bases = {base for one in fitting for base in one.definition.bases}
    return tuple(one for one in fitting if one.xid not in bases)


def rivals(one: CompiledDefinition, other: CompiledDefinition) -> bool:
    """Whether neither derives from the other or borrows it."""
    return len(most_derived(without_borrowed((one, other)))) > 1


def unbound(fitting: Sequence[CompiledDefinition]) -> tuple[CompiledDefinition, ...]:
    """Those that are bound to no protocol."""
    return tuple(one for one in fitting if one.definition.protocol is None)


def strictly_narrower(a: CompiledDefinition, b: CompiledDefinition, message: Message) -> bool:
    """Whether everything that fits ``a`` fits ``b``, but not the other way round."""
    return within(a, b, message) and not within(b, a, message)


def within(a: CompiledDefinition, b: CompiledDefinition, message: Message) -> bool:
    """Whether everything that fits ``a`` fits ``b``; no where that is not certain."""
    protocol = message.protocol is not None
    if b.cloudevents and not a.cloudevents:
        return False
    if protocol and b.protocol is not None and a.protocol is None:
        return False
    rules = [rule for rule in b.constraints if protocol or rule.place.section != "metadata"]
    mine = [rule for rule in a.constraints if protocol or rule.place.section != "metadata"]
    return all(any(_implies(own, rule) for own in mine) for rule in rules)


def _implies(own: Constraint, rule: Constraint) -> bool:
    """Whether a value that obeys ``own`` obeys ``rule``; no where that is not certain."""
    if own.path != rule.path or (rule.required and not own.required):
        return False
    match rule.kind:
        case "required":
            return True
        case "type":
            if own.kind == "constant":
                return check_value(rule.type, own.value) is None
            return own.type == rule.type or rule.type == "string"
        case "constant":
            return own.kind == "constant" and same_value(rule.type, rule.value, own.value)
        case "media-type":
            if own.kind != "media-type":
                return False
            if rule.inferred:
                return own.inferred or is_json_media_type(own.text)
            return not own.inferred and same_media_type(rule.text, own.text)
        case "template":
            return _template_within(own, rule)


def _template_within(own: Constraint, rule: Constraint) -> bool:
    if rule.template is None:
        return False
    if own.kind == "constant":
        return rule.template.match(own.text) is not None
    if own.template is None:
        return False
    probes = dict.fromkeys(own.template.placeholders, PROBE)
    return rule.template.match(own.template.expand(probes, raw=True)) is not None


def accepts(compiled: CompiledDefinition, message: Message) -> bool:
    """Whether there is a usable schema and it takes the payload."""
    return compiled.schema is not None and not validate(compiled, message)[1]
