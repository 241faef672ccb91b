"""Building: a message made from its definition, and checked by the same definition."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import msgspec

from heraldry.errors import BuildError, MessageError, PlaceholderError, UsageError
from heraldry.messages import line as lines
from heraldry.messages.compile import CompiledDefinition, infers_json, states_envelope
from heraldry.messages.constraint import Constraint, shown
from heraldry.messages.envelopes import cloudevents
from heraldry.messages.fit import fits, judge_by, same_protocol
from heraldry.messages.message import Message, Mode
from heraldry.messages.protocol_table import canonical_name, normalize, supported
from heraldry.messages.protocol_table import fields as protocol_fields
from heraldry.messages.protocols import http, kafka, mqtt
from heraldry.messages.validate import validate
from heraldry.messages.values import canonical_text, is_json_media_type
from heraldry.model.problem import Problem

Clock = Callable[[], datetime]
NewId = Callable[[], str]


def now() -> datetime:
    """The current time, UTC."""
    return datetime.now(UTC)


def new_id() -> str:
    """A new event id."""
    return str(uuid.uuid4())


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltMessage(Message):
    """A finished message that can be had in the shape of each protocol."""

    def as_http(self) -> http.HttpMessage:
        """Method, path, headers and body, for any HTTP client."""
        return http.encode(self._over("HTTP"))

    def as_kafka(self) -> kafka.KafkaRecord:
        """Topic, key, headers and value, for any Kafka client."""
        return kafka.encode(self._over("KAFKA"))

    def as_mqtt(self, version: str = "5.0") -> mqtt.MqttPublish:
        """The PUBLISH packet's properties and payload, for any MQTT client."""
        own = self.protocol if self.protocol and self.protocol.startswith("MQTT/") else None
        return mqtt.encode(self._over(own or f"MQTT/{version}"))

    def as_cloudevents_json(self) -> bytes:
        """The event in the CloudEvents JSON format."""
        if self.envelope is None:
            raise UsageError("the message is no CloudEvent", "its definition has no envelope")
        return cloudevents.write_structured(self)

    def line(self) -> bytes:
        """The message as one JSON line."""
        return lines.write(self)

    def _over(self, protocol: str) -> Message:
        if self.protocol == protocol:
            return self
        if self.envelope is None:
            reason = f"the message is bound to {self.protocol}"
            raise UsageError(reason, "only a CloudEvent can travel over another protocol")
        mode: Mode = "structured" if protocol == "MQTT/3.1.1" else "binary"
        return replace(self, protocol=protocol, metadata={}, mode=mode)


@dataclass(slots=True, kw_only=True)
class Draft:
    """A message being built, with all that is wrong so far."""

    compiled: CompiledDefinition
    protocol: str | None
    mode: Mode | None
    given: dict[str, Any]
    raw: bool
    stamp: str
    attributes: dict[str, Any] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    used: dict[str, str] = field(default_factory=dict)
    failed: set[str] = field(default_factory=set)

    def refuse(self, path: str, rule: str, message: str, expected: str | None = None) -> None:
        """Note one problem; the property is then not checked again."""
        self.problems.append(Problem(path=path, rule=rule, message=message, expected=expected))
        self.failed.add(path)


def build(
    compiled: CompiledDefinition,
    data: Any = None,
    *,
    values: Mapping[str, Any] | None = None,
    protocol: str | None = None,
    mode: Mode | None = None,
    raw: bool = False,
    clock: Clock = now,
    make_id: NewId = new_id,
) -> BuiltMessage:
    """Build a message (M40, M41), or raise :class:`BuildError` with every problem at once.

    ``values`` are placeholders first, then properties of the envelope or protocol. ``raw``
    inserts values without percent-encoding.
    """
    draft = _draft(compiled, dict(values or {}), protocol, mode, raw, clock())
    _fill(draft)
    _set_properties(draft)
    if draft.compiled.cloudevents:
        _complete_event(draft, data, make_id)
    message = _finish(draft, data)
    _check(draft, message)
    if draft.problems:
        raise BuildError(compiled.xid, tuple(dict.fromkeys(draft.problems)))
    return message


def _draft(
    compiled: CompiledDefinition,
    values: dict[str, Any],
    protocol: str | None,
    mode: Mode | None,
    raw: bool,
    moment: datetime,
) -> Draft:
    if compiled.unusable is not None:
        rule, reason = compiled.unusable
        raise BuildError(compiled.xid, (Problem(path="/", rule=rule, message=reason),))
    own = compiled.definition.protocol
    chosen = protocol or own
    if protocol is not None and not supported(protocol):
        raise UsageError(f"{protocol!r} is not a protocol that can be built for")
    if protocol is not None and own is not None and not same_protocol(own, protocol):
        raise UsageError(f"{compiled.xid} is bound to {own}", f"it cannot be built for {protocol}")
    name = canonical_name(own or chosen) if chosen else None
    stamp = moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return Draft(
        compiled=compiled,
        protocol=name,
        mode=(mode or _mode(compiled, name)) if compiled.cloudevents else None,
        given=values,
        raw=raw,
        stamp=stamp,
    )


def _mode(compiled: CompiledDefinition, protocol: str | None) -> Mode:
    declared = str(compiled.definition.envelopeoptions.get("mode", "")).lower()
    if protocol in (None, "MQTT/3.1.1") or declared == "structured":
        return "structured"
    return "binary"


def _fill(draft: Draft) -> None:
    """Set constants, expand templates, and put the time where it is asked for."""
    texts = {
        name: canonical_text(draft.given[name])
        for name in draft.compiled.placeholders
        if draft.given.get(name) is not None
    }
    for rule in draft.compiled.constraints:
        if rule.place.section == "metadata" and draft.protocol is None:
            continue
        if rule.kind == "template" and rule.template is not None:
            try:
                value: Any = rule.template.expand(texts, draft.raw)
                draft.used.update({name: texts[name] for name in rule.template.placeholders})
            except PlaceholderError as error:
                told = f"{{{error.placeholder}}} {error.reason}"
                draft.refuse(rule.path, "placeholder", told, rule.text)
                continue
        elif rule.kind in ("constant", "media-type") and rule.place.section != "content_type":
            value = typed(rule.type, rule.value)
        elif rule.now:
            value = draft.stamp
        else:
            continue
        put(draft, rule, value)


def put(draft: Draft, rule: Constraint, value: Any) -> None:
    """Set one property where its rule says."""
    place = rule.place
    if place.section == "attributes":
        draft.attributes[place.name] = value
    elif place.member is None:
        draft.metadata[place.name] = value
    else:
        draft.metadata[place.name] = (*draft.metadata.get(place.name, ()), (place.member, value))


def typed(type_: str, value: Any) -> Any:
    """A value of its type where a text was given for it (M36)."""
    if isinstance(value, str):
        if type_ in ("integer", "ulong") and value.lstrip("-").isdecimal():
            return int(value)
        if type_ == "boolean" and value.lower() in ("true", "false"):
            return value.lower() == "true"
    return value if isinstance(value, str | int | bool | bytes) else canonical_text(value)


def _set_properties(draft: Draft) -> None:
    """Set what was given by the name of a property; a placeholder of that name comes first."""
    for name, value in draft.given.items():
        if name in draft.compiled.placeholders or value is None:
            continue
        for section, member, kind in _targets(draft, name):
            if section == "attributes":
                draft.attributes[member] = typed(kind, value)
            elif section == "metadata":
                draft.metadata[member] = typed(kind, value)
            else:
                draft.metadata[section] = _with_member(
                    draft.metadata.get(section, ()), member, value
                )
            break
        else:
            told = "is neither a placeholder nor a property of this definition"
            draft.refuse(name, "unknown-name", told, ", ".join(draft.compiled.placeholders) or None)


def _with_member(pairs: Any, member: str, value: Any) -> tuple[tuple[str, Any], ...]:
    kept = tuple(pair for pair in pairs if pair[0].lower() != member.lower())
    return (*kept, (member, canonical_text(value)))


def _targets(draft: Draft, name: str) -> Iterator[tuple[str, str, str]]:
    """Where a name may stand: a section or collection, the name in it, and its type."""
    first, _, rest = name.partition(".")
    if draft.compiled.cloudevents:
        known = cloudevents.properties(draft.compiled.definition)
        attribute = rest if first == "attributes" and rest else name
        if attribute in known or attribute in cloudevents.ATTRIBUTES or attribute == rest:
            declared = known[attribute].type if attribute in known else None
            kind = declared or cloudevents.ATTRIBUTES.get(attribute, "string")
            yield "attributes", attribute, kind
    if draft.protocol is None:
        return
    table = protocol_fields(draft.protocol)
    bare = rest if first == "metadata" and rest else name
    if bare in table and not table[bare].collection:
        yield "metadata", bare, table[bare].type
    collection, _, member = bare.partition(".")
    if member and collection in table and table[collection].collection:
        yield collection, member, "string"


def _complete_event(draft: Draft, data: Any, make_id: NewId) -> None:
    attributes = draft.attributes
    attributes["specversion"] = "1.0"
    if "id" not in attributes and "attributes.id" not in draft.failed:
        attributes["id"] = make_id()
    if "attributes.time" not in draft.failed:
        attributes.setdefault("time", draft.stamp)
    content_type = _content_type(draft, data)
    if content_type is not None:
        attributes.setdefault("datacontenttype", content_type)
    uri = draft.compiled.definition.dataschemauri
    if uri and "://" in uri and "{" not in uri:
        attributes.setdefault("dataschema", uri)
    known = [name for name in cloudevents.ATTRIBUTES if name in attributes]
    others = [name for name in attributes if name not in cloudevents.ATTRIBUTES]
    draft.attributes = {name: attributes[name] for name in (*known, *others)}


def _content_type(draft: Draft, data: Any) -> str | None:
    """What the payload is: as declared, as the schema has it (M46), or as the data shows."""
    own = draft.compiled.definition
    if "datacontenttype" in draft.attributes:
        return str(draft.attributes["datacontenttype"])
    if own.datacontenttype and not states_envelope(own) and "{" not in own.datacontenttype:
        return own.datacontenttype
    if infers_json(own):
        return "application/json"
    for rule in draft.compiled.constraints:
        if rule.kind == "media-type" and rule.place.section == "metadata":
            return rule.text
    if data is None:
        return None
    if draft.compiled.schema is not None:
        return draft.compiled.schema.media_type
    return None if isinstance(data, bytes) else "application/json"


def _payload(draft: Draft, data: Any, content_type: str | None) -> bytes | None:
    """Data as the bytes of a payload: bytes as they are, the rest as the schema writes it."""
    if data is None or isinstance(data, bytes):
        return data
    schema = draft.compiled.schema
    if schema is not None:
        return schema.encode(data, content_type)
    if isinstance(data, str) and content_type and not is_json_media_type(content_type):
        return data.encode()
    return msgspec.json.encode(data)


def _finish(draft: Draft, data: Any) -> BuiltMessage:
    content_type = _content_type(draft, data)
    payload = None
    try:
        payload = _payload(draft, data, content_type)
    except MessageError as error:
        draft.problems += error.problems
        draft.failed.add("/")
    except (TypeError, ValueError, OverflowError, RecursionError):
        draft.refuse("/", "json", "the data cannot be written as JSON")
    return BuiltMessage(
        protocol=draft.protocol,
        metadata=draft.metadata,
        envelope=cloudevents.ENVELOPE if draft.compiled.cloudevents else None,
        mode=draft.mode,
        attributes=draft.attributes,
        payload=payload,
        content_type=content_type,
    )


def _check(draft: Draft, message: BuiltMessage) -> None:
    """Judge the message as a receiver would, by its own definition."""
    compiled = draft.compiled
    if "/" not in draft.failed:
        draft.problems += validate(compiled, message)[1]
    try:
        received = normalize(message)
    except MessageError as error:
        draft.problems += [one for one in error.problems if one.path not in draft.failed]
        return
    judged = judge_by(compiled, received).problems
    draft.problems += [problem for problem in judged if problem.path not in draft.failed]
    if draft.problems:
        return
    got = fits(compiled, received) or {}
    for name, value in draft.used.items():
        if got.get(name) != value:
            told = f"a receiver would read another value for {{{name}}}"
            path = next(c.bound[name] for c in compiled.constraints if name in c.bound)
            problem = Problem(
                path=path, rule="placeholder", message=told, found=shown(got.get(name))
            )
            draft.problems.append(problem)
