"""Events on protocols: attributes as named values in binary mode, a document in structured mode."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from heraldry.messages.envelopes import cloudevents, event_formats, json_format
from heraldry.messages.message import Message, Pairs, received
from heraldry.messages.values import canonical_text

ELSEWHERE = frozenset(("datacontenttype", "data", "data_base64"))
"""What no named value holds: the protocol's content type stands for the one, else the payload."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Naming:
    """How a protocol binding writes attributes: their names, and their texts.

    ``attribute`` gives the attribute a name stands for, or None; ``read`` takes the name too, so
    that it can say whose text is wrong.
    """

    attribute: Callable[[str], str | None]
    name: Callable[[str], str]
    read: Callable[[str, Any], str]
    write: Callable[[str], str]


is_structured = event_formats.is_named
"""Whether a content type is that of an event in some format, known or not."""


def write_structured(message: Message, content_type: Any = None) -> tuple[str, bytes]:
    """The content type and the document of an event, in the format of a given content type.

    A type that is not that of an event is replaced: the format is then JSON.
    """
    kind = json_format.MEDIA_TYPE
    if isinstance(content_type, str) and is_structured(content_type):
        kind = content_type
    return kind, event_formats.find(kind).write(message)


def payload_type(message: Message) -> str | None:
    """The content type of the payload: ``datacontenttype`` is the binding's word for it."""
    kind = message.attributes.get("datacontenttype")
    return message.content_type if kind is None else canonical_text(kind)


def read_attributes(pairs: Pairs, naming: Naming) -> dict[str, str]:
    """The attributes among named values; of a name that repeats the first counts."""
    found: dict[str, str] = {}
    for name, value in pairs:
        attribute = naming.attribute(name)
        if not attribute or attribute in found or attribute in ELSEWHERE or value is None:
            continue
        found[attribute] = naming.read(name, value)
    return found


def write_attributes(pairs: Pairs, attributes: Mapping[str, Any], naming: Naming) -> Pairs:
    """Named values with the attributes among them; what says the same already stays as it is."""
    missing = {
        name: canonical_text(value)
        for name, value in attributes.items()
        if name not in ELSEWHERE and value is not None
    }
    written: list[tuple[str, Any]] = []
    for name, value in pairs:
        attribute = naming.attribute(name)
        text = None if value is None or attribute is None else missing.pop(attribute, None)
        same = text is None or naming.read(name, value) == text
        written.append((name, value if same or text is None else naming.write(text)))
    written += [(naming.name(name), naming.write(text)) for name, text in missing.items()]
    return tuple(written)


def structured(
    protocol: str | None,
    metadata: Mapping[str, Any],
    document: bytes | None,
    content_type: str = json_format.MEDIA_TYPE,
) -> Message:
    """The message of an event in the format of its content type."""
    return from_event(protocol, metadata, event_formats.find(content_type).read(document or b""))


def from_event(
    protocol: str | None, metadata: Mapping[str, Any], event: cloudevents.Event
) -> Message:
    """The message of an event that was in a document."""
    attributes, payload, kind = event
    return Message(
        protocol=protocol,
        metadata=metadata,
        envelope=cloudevents.ENVELOPE,
        mode="structured",
        attributes=attributes,
        payload=payload,
        content_type=kind,
    )


def binary(
    protocol: str,
    metadata: Mapping[str, Any],
    attributes: dict[str, str],
    payload: bytes | None,
    content_type: str | None,
) -> Message:
    """The message of an event whose attributes were named values."""
    if content_type is not None:
        attributes["datacontenttype"] = content_type
    return received(
        protocol, metadata, cloudevents.ENVELOPE, "binary", attributes, payload, content_type
    )
