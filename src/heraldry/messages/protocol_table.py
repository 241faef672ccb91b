"""The table of protocols: which module speaks which; adding one adds a row and a file."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Protocol

from heraldry.messages.envelopes import cloudevents
from heraldry.messages.fields import Field
from heraldry.messages.message import Message
from heraldry.messages.protocols import http, kafka, mqtt
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
    http.NAME: http,
    kafka.NAME: kafka,
    mqtt.NAME: mqtt,
}
"""The protocol modules by family name."""


def module(protocol: str | None) -> ProtocolModule | None:
    """The module of a protocol, or None where there is none for it or its version."""
    family, version = protocol_family(protocol)
    if family == mqtt.NAME and version not in mqtt.VERSIONS:
        return None
    return MODULES.get(family)


def supported(protocol: str | None) -> bool:
    """Whether messages of a protocol can be read and written."""
    return module(protocol) is not None


def canonical_name(protocol: str) -> str:
    """``HTTP``, ``KAFKA``, ``MQTT/5.0`` as ``Message.protocol`` has it; others as given."""
    if not supported(protocol):
        return protocol
    family, version = protocol_family(protocol)
    return f"{family}/{version}" if family == mqtt.NAME else family


@lru_cache(maxsize=64)
def fields(protocol: str) -> dict[str, Field]:
    """The properties of a protocol, those of its version, by name; none where it is unknown."""
    found = module(protocol)
    version = protocol_family(protocol)[1]
    every = found.FIELDS if found else ()
    return {one.name: one for one in every if not one.versions or version in one.versions}


def normalize(message: Message) -> Message:
    """The message as a receiver sees it: on the wire, attributes become headers too."""
    found = module(message.protocol)
    if found is not None:
        return found.decode(found.encode(message))
    if message.protocol is not None or not message.envelope:
        return message
    attributes, payload, kind = cloudevents.read_structured(cloudevents.write_structured(message))
    return Message(
        envelope=cloudevents.ENVELOPE,
        mode="structured",
        attributes=attributes,
        payload=payload,
        content_type=kind,
    )
