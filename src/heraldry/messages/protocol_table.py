"""The table of protocols: which module speaks which; adding one adds a row and a file."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Protocol

from heraldry.messages.envelopes import binding, event_formats
from heraldry.messages.fields import Field
from heraldry.messages.json_form import with_value, wrong
from heraldry.messages.message import Message
from heraldry.messages.protocols import amqp, http, kafka, mqtt, nats
from heraldry.model.formats import protocol_family


class ProtocolModule(Protocol):
    """What every protocol module offers; ``raw`` is its own frozen type."""

    NAME: str
    FIELDS: tuple[Field, ...]

    def protocol(self, raw: Any, /) -> str:
        """The protocol as ``Message.protocol`` has it."""

    def payload(self, raw: Any, /) -> bytes | None:
        """What travels as the payload."""

    def metadata(self, raw: Any, /) -> dict[str, Any]:
        """What ``Message.metadata`` has."""

    def content_type(self, raw: Any, /) -> str | None:
        """The content type the protocol itself names."""

    def decode(self, raw: Any, /) -> Message:
        """A raw message as a message."""

    def encode(self, message: Message, /) -> Any:
        """The inverse of :meth:`decode`."""

    def from_json(
        self, metadata: Mapping[str, Any], payload: bytes | None, protocol: str, /
    ) -> Any:
        """A raw message from the JSON form of its metadata."""

    def to_json(self, raw: Any, /) -> dict[str, Any]:
        """The JSON form of a raw message's metadata."""


MODULES: dict[str, ProtocolModule] = {
    amqp.NAME: amqp,
    http.NAME: http,
    kafka.NAME: kafka,
    mqtt.NAME: mqtt,
    nats.NAME: nats,
}
"""The protocol modules by family name."""

_RAW: dict[type, ProtocolModule] = {
    amqp.AmqpMessage: amqp,
    http.HttpMessage: http,
    kafka.KafkaRecord: kafka,
    mqtt.MqttPublish: mqtt,
    nats.NatsMessage: nats,
}

_VERSIONS = {amqp.NAME: (amqp.VERSION,), mqtt.NAME: mqtt.VERSIONS}
"""The versions of protocols whose versions differ."""


def module(protocol: str | None) -> ProtocolModule | None:
    """The module of a protocol, or None where there is none for it or its version."""
    family, version = protocol_family(protocol)
    if version not in _VERSIONS.get(family, (version,)):
        return None
    return MODULES.get(family)


def supported(protocol: str | None) -> bool:
    """Whether messages of a protocol can be read and written."""
    return module(protocol) is not None


def canonical_name(protocol: str) -> str:
    """``HTTP``, ``AMQP/1.0``, ``MQTT/5.0`` as ``Message.protocol`` has it; others as given."""
    if not supported(protocol):
        return protocol
    family, version = protocol_family(protocol)
    return f"{family}/{version}" if family in _VERSIONS else family


@lru_cache(maxsize=64)
def fields(protocol: str) -> dict[str, Field]:
    """The properties of a protocol, those of its version, by name; none where it is unknown."""
    found = module(protocol)
    version = protocol_family(protocol)[1]
    every = found.FIELDS if found else ()
    return {one.name: one for one in every if not one.versions or version in one.versions}


def decode_all(raw: Any) -> tuple[Message, ...]:
    """The messages in a raw message of any protocol: one, or all events of a batch over HTTP."""
    if isinstance(raw, http.HttpMessage) and event_formats.is_batch(http.content_type(raw)):
        return http.decode_batch(raw)
    return (_RAW[type(raw)].decode(raw),)


def with_content_type(protocol: str, metadata: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """The metadata with the content type of what travels; MessageError where it has no place."""
    known = fields(protocol)
    if "content_type" in known:
        return {**metadata, "content_type": kind}
    for name in ("headers", "properties"):
        if name in known:
            fold_case = known[name].fold_case
            pairs = with_value(metadata.get(name, ()), "content-type", kind, fold_case=fold_case)
            return {**metadata, name: pairs}
    raise wrong("content_type", f"has no place in {protocol}", "event-format")


def normalize(message: Message) -> Message:
    """The message as a receiver sees it: on the wire, attributes become headers too."""
    found = module(message.protocol)
    if found is not None:
        return found.decode(found.encode(message))
    if message.protocol is not None or not message.envelope:
        return message
    return binding.structured(None, {}, binding.write_structured(message)[1])
