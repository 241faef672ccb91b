"""Building: a message made from its definition, and checked by the same definition."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import msgspec

from heraldry.errors import BuildError, MessageError, PlaceholderError, UsageError
from heraldry.messages import line as lines
from heraldry.messages.choose_format import choose_format, state_format
from heraldry.messages.compile import (
    CompiledDefinition,
    infers_json,
    is_media_type_name,
    states_envelope,
)
from heraldry.messages.constraint import shown
from heraldry.messages.draft import Draft, put, set_properties, take
from heraldry.messages.envelopes import cloudevents, json_format
from heraldry.messages.fit import fits, judge_by, same_protocol
from heraldry.messages.message import Message, Mode
from heraldry.messages.protocol_table import canonical_name, normalize, supported
from heraldry.messages.protocols import amqp, http, kafka, mqtt, nats
from heraldry.messages.validate import validate
from heraldry.messages.values import is_json_media_type, parse_media_type
from heraldry.model.problem import Problem

Clock = Callable[[], datetime]
NewId = Callable[[], str]

_EVENT = "application/cloudevents"


def now() -> datetime:
    """The current time, UTC."""
    return datetime.now(UTC)


def new_id() -> str:
    """A new event id."""
    return str(uuid.uuid4())


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltMessage(Message):
    """A finished message that can be had in the shape of each protocol.

    ``event_format`` is the format of an event that is to be structured on every protocol,
    ``values`` what its placeholders were filled with.
    """

    event_format: str | None = None
    values: Mapping[str, str] = field(default_factory=dict, compare=False)

    def as_http(self) -> http.HttpMessage:
        """Method, path, headers and body, for any HTTP client."""
        return http.encode(self.over("HTTP"))

    def as_kafka(self) -> kafka.KafkaRecord:
        """Topic, key, headers and value, for any Kafka client."""
        return kafka.encode(self.over("KAFKA"))

    def as_mqtt(self, version: str = "5.0") -> mqtt.MqttPublish:
        """The PUBLISH packet's properties and payload, for any MQTT client."""
        own = self.protocol if self.protocol and self.protocol.startswith("MQTT/") else None
        return mqtt.encode(self.over(own or f"MQTT/{version}"))

    def as_amqp(self) -> amqp.AmqpMessage:
        """The six sections and the body, for any AMQP 1.0 client."""
        return amqp.encode(self.over("AMQP/1.0"))

    def as_nats(self) -> nats.NatsMessage:
        """Subject, reply subject, headers and payload, for any NATS client."""
        return nats.encode(self.over("NATS"))

    def as_cloudevents_json(self) -> bytes:
        """The event in the CloudEvents JSON format."""
        if self.envelope is None:
            raise UsageError("the message is no CloudEvent", "its definition has no envelope")
        return json_format.write(self)

    def line(self) -> bytes:
        """The message as one JSON line."""
        return lines.write(self)

    def over(self, protocol: str) -> Message:
        """The message bound to a protocol; only an event may change it."""
        if self.protocol == protocol:
            return self
        if not supported(protocol):
            raise UsageError(f"{protocol!r} is not a protocol that can be built for")
        if self.envelope is None:
            reason = f"the message is bound to {self.protocol}"
            raise UsageError(reason, "only a CloudEvent can travel over another protocol")
        name = self.event_format
        mode: Mode = "structured" if name or protocol == "MQTT/3.1.1" else "binary"
        metadata = state_format(protocol, {}, name)
        return replace(self, protocol=protocol, metadata=metadata, mode=mode)


def build(
    compiled: CompiledDefinition,
    data: Any = None,
    *,
    values: Mapping[str, Any] | None = None,
    protocol: str | None = None,
    mode: Mode | None = None,
    event_format: str | None = None,
    raw: bool = False,
    clock: Clock = now,
    make_id: NewId = new_id,
) -> BuiltMessage:
    """Build a message (M40, M41), or raise :class:`BuildError` with every problem at once.

    ``values`` are placeholders first, then properties of the envelope or protocol. ``raw``
    inserts values without percent-encoding. ``event_format`` (json, avro, protobuf, or a media
    type) makes the event a structured one.
    """
    data = bytes(data) if isinstance(data, bytearray | memoryview) else data
    chosen = choose_format(compiled, mode, event_format)
    mode = mode or ("structured" if chosen else None)
    draft = _draft(compiled, protocol, mode, raw, clock())
    draft.event_format = chosen
    take(draft, values or {})
    _fill(draft)
    set_properties(draft)
    if draft.compiled.cloudevents:
        _complete_event(draft, data, make_id)
    message = _finish(draft, data)
    _check(draft, message)
    if draft.problems:
        raise BuildError(compiled.xid, tuple(dict.fromkeys(draft.problems)))
    return message


def _draft(
    compiled: CompiledDefinition,
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
    if mode not in (None, "binary", "structured"):
        raise UsageError(f"{mode!r} is not a mode", "choose binary or structured")
    if mode is not None and not compiled.cloudevents:
        raise UsageError("only a CloudEvent has a mode", f"{compiled.xid} has no envelope")
    name = canonical_name(own or chosen) if chosen else None
    if mode == "binary" and name == "MQTT/3.1.1":
        raise UsageError("events on MQTT 3.1.1 are structured", "it has no user properties")
    stamp = moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return Draft(
        compiled=compiled,
        protocol=name,
        mode=(mode or _mode(compiled, name)) if compiled.cloudevents else None,
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
    texts = draft.texts
    for rule in draft.compiled.constraints:
        if rule.place.section == "metadata" and draft.protocol is None:
            continue
        if rule.kind == "template" and rule.template is not None:
            try:
                value: Any = rule.template.expand(texts, draft.raw)
                draft.used.update({name: texts[name] for name in rule.template.placeholders})
            except PlaceholderError as error:
                if error.placeholder in draft.failed:
                    draft.failed.add(rule.path)
                    continue
                told = f"{{{error.placeholder}}} {error.reason}"
                draft.refuse(rule.path, "placeholder", told, rule.text)
                continue
        elif rule.kind in ("constant", "media-type") and rule.place.section != "content_type":
            value = rule.value
        elif rule.now:
            value = draft.stamp
        else:
            continue
        put(draft, rule, value)


def _complete_event(draft: Draft, data: Any, make_id: NewId) -> None:
    attributes = draft.attributes
    attributes.setdefault("specversion", "1.0")
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
    """What the payload is: as declared, as the protocol says (M64), as the schema has it (M46)."""
    own = draft.compiled.definition
    if "datacontenttype" in draft.attributes:
        return str(draft.attributes["datacontenttype"])
    if own.datacontenttype and not states_envelope(own) and "{" not in own.datacontenttype:
        return own.datacontenttype
    stated = _protocol_type(draft)
    if stated is not None:
        return stated
    if infers_json(own):
        return "application/json"
    if data is None:
        return None
    if draft.compiled.schema is not None:
        return draft.compiled.schema.media_type
    return None if isinstance(data, bytes) else "application/json"


def _protocol_type(draft: Draft) -> str | None:
    """The content type among the protocol's properties, where it is that of the payload."""
    for name, value in draft.metadata.items():
        pairs = value if isinstance(value, tuple) else ((name, value),)
        for key, found in pairs:
            if is_media_type_name(key) and not str(found).lower().startswith(_EVENT):
                return str(found)
    return None


def _payload(draft: Draft, data: Any, content_type: str | None) -> bytes | None:
    """Data as the bytes of a payload: bytes as they are, the rest as the schema writes it."""
    if data is None or isinstance(data, bytes):
        return data
    schema = draft.compiled.schema
    if schema is not None:
        return schema.encode(data, content_type)
    if content_type and not is_json_media_type(content_type):
        if isinstance(data, str):
            return _text(data, content_type)
        told = "the data must be bytes or a text: how else to write it is not known"
        draft.refuse("/", "payload", told, content_type)
        return None
    written = msgspec.json.encode(data)
    if b"null" in written:
        # Infinity and NaN have become null.
        json.dumps(msgspec.to_builtins(data), allow_nan=False)
    return written


def _text(data: str, content_type: str) -> bytes:
    """A text in the character set that its content type names."""
    parsed = parse_media_type(content_type)
    charset = parsed[1].get("charset", "utf-8") if parsed else "utf-8"
    try:
        return data.encode(charset)
    except (LookupError, UnicodeEncodeError):
        told = "the text cannot be written in its character set"
        problem = Problem(path="/", rule="encoding", message=told, expected=charset)
        raise MessageError((problem,)) from None


def _finish(draft: Draft, data: Any) -> BuiltMessage:
    content_type = _content_type(draft, data)
    payload = None
    try:
        draft.metadata = state_format(draft.protocol, draft.metadata, draft.event_format)
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
        event_format=draft.event_format,
        values=draft.used,
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
