"""MQTT 3.1.1 and 5.0: PUBLISH packets, and CloudEvents on them (user properties in 5.0)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from heraldry.messages.envelopes import binding, payload_event
from heraldry.messages.fields import Field, names
from heraldry.messages.json_form import (
    first,
    given,
    only,
    out_of_bounds,
    refuse,
    take,
    take_texts,
    to_json_list,
    to_json_value,
    wrong,
)
from heraldry.messages.message import Message, Pairs, received
from heraldry.messages.values import canonical_text, decode_base64
from heraldry.model.formats import protocol_family

NAME = "MQTT"
VERSIONS = ("3.1.1", "5.0")
_5 = ("5.0",)
FIELDS: tuple[Field, ...] = (
    Field("qos", "integer", values=range(3)),
    Field("retain", "boolean"),
    Field("topic_name", "uritemplate", separator="/"),
    Field("payload_format", "integer", versions=_5, values=range(2)),
    Field("message_expiry_interval", "integer", versions=_5, values=range(2**32)),
    Field("response_topic", "uritemplate", separator="/", versions=_5),
    Field("correlation_data", "binary", versions=_5),
    Field("content_type", "symbol", versions=_5),
    Field("user_properties", "string", collection=True, versions=_5),
)
_KNOWN = {version: names(FIELDS, version) for version in VERSIONS}
_BOUNDED = tuple(one for one in FIELDS if one.values is not None)
_NO_TOPIC = re.compile(r"[+#\x00]").search
_ATTRIBUTE = re.compile(r"[a-z0-9]+").fullmatch
_SCALARS: dict[str, type] = {
    "qos": int,
    "retain": bool,
    "topic_name": str,
    "payload_format": int,
    "message_expiry_interval": int,
    "response_topic": str,
    "correlation_data": bytes,
    "content_type": str,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class MqttPublish:
    """The content of a PUBLISH packet; None where nothing is said of a property."""

    topic_name: str | None = None
    qos: int | None = None
    retain: bool | None = None
    payload_format: int | None = None
    message_expiry_interval: int | None = None
    response_topic: str | None = None
    correlation_data: bytes | None = None
    content_type: str | None = None
    user_properties: Pairs = ()
    payload: bytes | None = None
    version: str = "5.0"


def protocol(raw: MqttPublish) -> str:
    """The protocol of a packet, with its version."""
    return f"{NAME}/{raw.version}"


def payload(raw: MqttPublish) -> bytes | None:
    """What travels as the payload."""
    return raw.payload


def metadata(raw: MqttPublish) -> dict[str, Any]:
    """The properties of a packet under the names of ``protocoloptions``."""
    return given({one.name: getattr(raw, one.name) for one in FIELDS})


def content_type(raw: MqttPublish) -> str | None:
    """The content type of the payload, which 3.1.1 cannot name."""
    return raw.content_type


def decode(raw: MqttPublish) -> Message:
    """A packet as a message; 3.1.1 has no place to name the mode, so its events show inside."""
    name, properties = protocol(raw), metadata(raw)
    refuse(_faults(properties))
    if binding.is_structured(raw.content_type):
        return binding.structured(name, properties, raw.payload, raw.content_type or "")
    inside = payload_event.find(raw.payload) if raw.version == "3.1.1" else None
    if inside is not None:
        return binding.from_event(name, properties, inside)
    if first(raw.user_properties, "specversion") == "1.0":
        attributes = binding.read_attributes(raw.user_properties, _NAMING)
        return binding.binary(name, properties, attributes, raw.payload, raw.content_type)
    return received(name, properties, None, None, {}, raw.payload, raw.content_type)


def encode(message: Message) -> MqttPublish:
    """The packet of a message; an event on 3.1.1 is always structured."""
    version = _version(message.protocol)
    only(message.metadata, _KNOWN[version])
    refuse(_faults(message.metadata))
    known = {name: message.metadata.get(name) for name in _SCALARS}
    pairs: Pairs = message.metadata.get("user_properties", ())
    kind, body = binding.payload_type(message), message.payload
    if message.envelope and (message.mode == "structured" or version == "3.1.1"):
        kind, body = binding.write_structured(message, known["content_type"])
    elif message.envelope:
        pairs = binding.write_attributes(pairs, message.attributes, _NAMING)
    if version != "3.1.1":
        known["content_type"] = known["content_type"] if kind is None else kind
    if isinstance(known["correlation_data"], str):
        known["correlation_data"] = decode_base64(known["correlation_data"])
        if known["correlation_data"] is None:
            raise wrong("correlation_data", "is not base64", "base64")
    texts = tuple((name, canonical_text(value)) for name, value in pairs)
    refuse(_text_faults(texts))
    return MqttPublish(**known, user_properties=texts, payload=body, version=version)


def from_json(metadata: Mapping[str, Any], payload: bytes | None, protocol: str) -> MqttPublish:
    """A packet from its JSON form; what only 5.0 has is refused in 3.1.1 (M60)."""
    version = _version(protocol)
    only(metadata, _KNOWN[version])
    # In the order of the table, so that of several faults the same one is always told.
    given = [name for name in _SCALARS if name in metadata]
    known: dict[str, Any] = {name: take(metadata, name, _SCALARS[name]) for name in given}
    texts = take_texts(metadata, "user_properties")
    refuse(_text_faults(texts))
    return MqttPublish(**known, user_properties=texts, payload=payload, version=version)


def to_json(raw: MqttPublish) -> dict[str, Any]:
    """The JSON form of a packet, without its payload."""
    found = {name: to_json_value(value) for name, value in metadata(raw).items()}
    if raw.user_properties:
        found["user_properties"] = to_json_list(raw.user_properties)
    return found


def _faults(metadata: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What no PUBLISH packet can hold: numbers out of bounds (M61), filters as topics."""
    yield from out_of_bounds(metadata, _BOUNDED)
    if not isinstance(metadata.get("retain"), bool | None):
        yield "retain", "is not true or false"
    for name in ("topic_name", "response_topic"):
        if _NO_TOPIC(metadata.get(name) or ""):
            yield name, "has a wildcard (+ or #) or a null character: no topic has"


def _text_faults(pairs: Pairs) -> Iterator[tuple[str, str]]:
    """User properties that no packet can hold."""
    for name, value in pairs:
        if "\0" in name or "\0" in value:
            yield f"user_properties.{name}", "has a null character"


def _version(protocol: str | None) -> str:
    return protocol_family(protocol)[1] or "5.0"


_NAMING = binding.Naming(
    attribute=lambda name: name if _ATTRIBUTE(name) else None,
    name=lambda name: name,
    read=lambda _, text: canonical_text(text),
    write=lambda text: text,
)
