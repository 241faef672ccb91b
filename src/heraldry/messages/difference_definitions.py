"""What changed in a definition itself: envelope, protocol, properties, content type, schema.

Both definitions have all they inherit. A change is located by the attribute it is in:
``envelopemetadata.type``, ``protocoloptions.headers.action``, ``datacontenttype``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from heraldry.messages.compile import CompiledDefinition
from heraldry.messages.constraint import Constraint, Place
from heraldry.messages.difference_effects import effect, same_form, shared_effect
from heraldry.messages.fit import same_protocol
from heraldry.messages.protocol_table import fields, supported
from heraldry.model.definition import Definition
from heraldry.model.formats import fold, is_cloudevents
from heraldry.schemas.changes import Change, Effect

_UNTOLD = frozenset(("description", "specurl", "documentation", "name"))
"""Members of a property that say nothing of messages; a name repeats its key."""
_ADDRESSES = ("dataschemaformat", "dataschemaxid", "dataschemauri")


def own_changes(old: CompiledDefinition, new: CompiledDefinition) -> tuple[Change, ...]:
    """Every difference that matters to messages or to those who build them."""
    before, after = old.definition, new.definition
    return (
        *_usable(old, new),
        *_envelope(before, after),
        *_protocol(before, after),
        *_rules(old, new),
        *_shared(old, new),
        *_others(old, new),
        *_content_type(old, new),
        *_schema(before, after),
        *_deprecated(before, after),
    )


def consequence(backward: Effect, forward: Effect) -> str:
    """What two effects mean for messages, as the end of a sentence."""
    match backward, forward:
        case "safe", "safe":
            return "messages of either version are recognised by both"
        case "breaking", "breaking":
            return "messages of one version are not recognised by the other"
        case "breaking", _:
            return "messages of the old version are no longer recognised"
        case _, "breaking":
            return "messages of the new version are not all recognised by the old one"
        case "undecided", _:
            return "it is open whether all messages of the old version are still recognised"
    return "it is open whether the old version recognises all messages of the new one"


def _usable(old: CompiledDefinition, new: CompiledDefinition) -> Iterator[Change]:
    if old.unusable is None and new.unusable is not None:
        told = f"No message can be recognised by the new version: {new.unusable[1]}."
        yield _change("became-unusable", "", "", told, "breaking", "undecided")
    elif old.unusable is not None and new.unusable is None:
        told = f"The old version could recognise no message ({old.unusable[1]}); the new one can."
        yield _change("became-usable", "", "", told, "undecided", "breaking")


def _envelope(old: Definition, new: Definition) -> Iterator[Change]:
    before, after = old.envelope, new.envelope
    if before == after or (is_cloudevents(before) and is_cloudevents(after)):
        return
    yield _switched("envelope", before, after, safe_without=not before or is_cloudevents(before))


def _protocol(old: Definition, new: Definition) -> Iterator[Change]:
    before, after = old.protocol, new.protocol
    if before == after or (before and after and same_protocol(before, after)):
        return
    yield _switched("protocol", before, after, safe_without=True)


def _switched(name: str, old: str | None, new: str | None, *, safe_without: bool) -> Change:
    """A definition that names no envelope or protocol takes messages with any of them."""
    without: Effect = "safe" if safe_without else "undecided"
    backward: Effect = without if new is None else "breaking"
    forward: Effect = without if old is None else "breaking"
    if old is None:
        told = f"The {name} is now {new}; none was named before"
    elif new is None:
        told = f"The {name} {old} is no longer named"
    else:
        told = f"The {name} changed from {old} to {new}"
    message = f"{told}: {consequence(backward, forward)}."
    places = (name if old else None, name if new else None)
    return _change(f"{name}-changed", *places, message, backward, forward)


def _rules(old: CompiledDefinition, new: CompiledDefinition) -> Iterator[Change]:
    before, after = _comparable(old, new), _comparable(new, old)
    for path in dict.fromkeys((*after, *before)):
        was, now = before.get(path), after.get(path)
        if was is None or now is None or _meaning_of(was) != _meaning_of(now):
            yield _rule_change(was, now)


def _comparable(one: CompiledDefinition, other: CompiledDefinition) -> dict[str, Constraint]:
    """The rules by path, without those of an envelope or protocol that the other does not have."""
    kinds = {"content_type"}
    if one.cloudevents and other.cloudevents:
        kinds.add("attributes")
    if _same_kind(one.definition.protocol, other.definition.protocol):
        kinds.add("metadata")
    return {rule.path: rule for rule in one.constraints if rule.place.section in kinds}


def _same_kind(old: str | None, new: str | None) -> bool:
    return old == new or (old is not None and new is not None and same_protocol(old, new))


def _meaning_of(rule: Constraint) -> tuple[object, ...]:
    # Not the value: 5 and "5" are one text, and compare as one.
    return rule.kind, rule.type, rule.text, rule.required, rule.inferred, rule.now


def _rule_change(old: Constraint | None, new: Constraint | None) -> Change:
    known = new or old
    assert known is not None
    backward, forward = effect(old, new), effect(new, old)
    label, place = _label(known.place), location(known.place)
    if old is None and new is not None:
        rule, told = "property-added", f"{label} is newly declared as {_described(new)}"
    elif new is None and old is not None:
        rule, told = "property-removed", f"{label} is no longer declared as {_described(old)}"
    else:
        assert old is not None
        assert new is not None
        rule = _rule_name(old, new)
        told = f"{label} changed from {_described(old)} to {_described(new)}"
    message = f"{told}: {_outcome(old, new, backward, forward)}."
    places = (place if old else None, place if new else None)
    return _change(rule, *places, message, backward, forward)


def _outcome(
    old: Constraint | None, new: Constraint | None, backward: Effect, forward: Effect
) -> str:
    """What a changed rule means for messages, and for which of them."""
    if new is None or backward != "breaking" or forward == "breaking":
        return consequence(backward, forward)
    lacking = new.required and not (old and old.required)
    which = "without it" if lacking else "with something else there"
    return f"messages of the old version {which} are no longer recognised"


def _rule_name(old: Constraint, new: Constraint) -> str:
    if old.template and new.template:
        renamed = same_form(old.template, new.template)
        return "placeholder-renamed" if renamed else "template-changed"
    if (old.kind, old.text, old.inferred) != (new.kind, new.text, new.inferred):
        return "content-type-changed" if new.kind == "media-type" else "value-changed"
    if old.type != new.type:
        return "type-changed"
    if old.required != new.required:
        return "became-required" if new.required else "became-optional"
    return "value-changed"


def location(place: Place) -> str:
    """Where a definition declares what is asked of a place in messages."""
    section = {"attributes": "envelopemetadata", "metadata": "protocoloptions"}
    if place.section == "content_type":
        return "datacontenttype"
    return ".".join(part for part in (section[place.section], place.name, place.member) if part)


def _label(place: Place) -> str:
    if place.section == "content_type":
        return "The content type of the payload"
    if place.section == "attributes":
        return f"The attribute '{place.name}'"
    return f"The option '{'.'.join(part for part in (place.name, place.member) if part)}'"


def _described(rule: Constraint) -> str:
    if rule.inferred:
        return "any JSON type"
    if rule.kind == "template":
        return f"the template '{rule.text}'"
    if rule.kind in ("constant", "media-type"):
        return f"'{rule.text}'"
    kind = "value of any type" if rule.kind == "required" else rule.type
    word = "a required" if rule.required else "an optional"
    return f"{word} {kind}" + (" (the current time)" if rule.now else "")


def _shared(old: CompiledDefinition, new: CompiledDefinition) -> Iterator[Change]:
    before, after = _comparable(old, new), _comparable(new, old)
    for name in dict.fromkeys((*_repeated(after), *_repeated(before))):
        backward, forward = shared_effect(before, after, name), shared_effect(after, before, name)
        was, now = name in _repeated(before), name in _repeated(after)
        backward = _unless_told(backward, before, after, name) if now else "safe"
        forward = _unless_told(forward, after, before, name) if was else "safe"
        if backward == forward == "safe":
            continue
        places = [
            location(rule.place)
            for rule in (after if now else before).values()
            if rule.template and name in rule.template.placeholders
        ]
        told = f"The placeholder {{{name}}} has one value at several places ({', '.join(places)})"
        told += "" if now and was else f" only in the {'new' if now else 'old'} version"
        message = f"{told}: {consequence(backward, forward)}."
        place = places[-1]
        at = (place if was else None, place if now else None)
        yield _change("placeholder-shared", *at, message, backward, forward)


def _unless_told(
    found: Effect, writer: Mapping[str, Constraint], reader: Mapping[str, Constraint], name: str
) -> Effect:
    """Not undecided where a rule that has the placeholder refuses the messages anyway."""
    if found != "undecided":
        return found
    told = (
        effect(writer.get(path), rule) == "breaking"
        for path, rule in reader.items()
        if rule.template and name in rule.template.placeholders
    )
    return "safe" if any(told) else found


def _repeated(rules: Mapping[str, Constraint]) -> list[str]:
    """The placeholders that stand at more than one place."""
    names = [n for rule in rules.values() if rule.template for n in rule.template.placeholders]
    return [name for name in dict.fromkeys(names) if names.count(name) > 1]


def _others(old: CompiledDefinition, new: CompiledDefinition) -> Iterator[Change]:
    """Declared members that make no rule: unknown options, and how messages are to be built."""
    was, now = old.definition, new.definition
    ruled = {location(rule.place) for one in (old, new) for rule in one.constraints}
    if _same_kind(was.protocol, now.protocol):
        known = {fold(name) for name in fields(now.protocol or "")}
        free: Effect = "safe" if supported(now.protocol) else "undecided"
        pairs = _members(was.protocoloptions, now.protocoloptions)
        pairs = ((n, a, b) for n, a, b in pairs if fold(n) not in known)
        yield from _members_changed("protocoloptions", pairs, ruled, free)
    events = is_cloudevents(was.envelope) and is_cloudevents(now.envelope)
    if events or was.envelope == now.envelope:
        pairs = _members(was.envelopemetadata, now.envelopemetadata)
        yield from _members_changed(
            "envelopemetadata", pairs, ruled, "safe" if events else "undecided"
        )
        pairs = _members(was.envelopeoptions, now.envelopeoptions)
        yield from _members_changed("envelopeoptions", pairs, ruled, "safe")


def _members(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    for name in dict.fromkeys((*new, *old)):
        before, after = _plain(old.get(name)), _plain(new.get(name))
        if before != after:
            yield name, before, after


def _plain(declared: Any) -> Any:
    if isinstance(declared, Mapping):
        return {name: _plain(one) for name, one in declared.items() if name not in _UNTOLD}
    return declared


def _members_changed(
    section: str, pairs: Iterator[tuple[str, Any, Any]], ruled: set[str], effect_: Effect
) -> Iterator[Change]:
    for name, before, after in pairs:
        place = f"{section}.{name}"
        if place in ruled:
            continue
        word = "is new" if before is None else "is gone" if after is None else "changed"
        why = (
            "it does not decide which messages are recognised"
            if effect_ == "safe"
            else "Heraldry does not know what it means for messages"
        )
        at = (None if before is None else place, None if after is None else place)
        yield _change("option-changed", *at, f"{place} {word}: {why}.", effect_, effect_)


def _content_type(old: CompiledDefinition, new: CompiledDefinition) -> Iterator[Change]:
    before, after = old.definition.datacontenttype, new.definition.datacontenttype
    judged = any(r.place.section == "content_type" for one in (old, new) for r in one.constraints)
    if before != after and not judged:
        told = f"datacontenttype is {after or 'not stated'} and was {before or 'not stated'}"
        message = f"{told}: it does not decide which messages are recognised."
        places = ("datacontenttype" if before else None, "datacontenttype" if after else None)
        yield _change("content-type-changed", *places, message, "safe", "safe")


def _schema(old: Definition, new: Definition) -> Iterator[Change]:
    for name in _ADDRESSES:
        before, after = getattr(old, name), getattr(new, name)
        if before != after:
            told = f"{name} is {after or 'not stated'} and was {before or 'not stated'}"
            message = f"{told}: changes of the payload, if there are any, tell what that means."
            places = (name if before else None, name if after else None)
            yield _change("schema-reference-changed", *places, message, "safe", "safe")


def _deprecated(old: Definition, new: Definition) -> Iterator[Change]:
    if old.deprecated != new.deprecated:
        told = "is now deprecated" if new.deprecated else "is no longer deprecated"
        places = (
            "deprecated" if old.deprecated else None,
            "deprecated" if new.deprecated else None,
        )
        yield _change("deprecated-changed", *places, f"The definition {told}.", "safe", "safe")


def _change(
    rule: str, old: str | None, new: str | None, message: str, backward: Effect, forward: Effect
) -> Change:
    return Change(rule=rule, old=old, new=new, message=message, backward=backward, forward=forward)
