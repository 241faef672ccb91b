"""Events on protocols: attributes as named values in binary mode, a document in structured mode."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from heraldry.messages.envelopes import cloudevents
from heraldry.messages.message import Message, Pairs
from heraldry.messages.values import canonical_text, parse_media_type

# The content type of the protocol stands for the one, the payload for the others.
_ELSEWHERE = frozenset(("datacontenttype", "data", "data_base64"))


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


def is_structured(content_type: str | None) -> bool:
    """Whether a content type is that of an event in the JSON format."""
    if content_type is None or "cloudevents" not in content_type.lower():
        return False
    parsed = parse_media_type(content_type)
    return parsed is not None and parsed[0] == cloudevents.MEDIA_TYPE


def structured_type(content_type: Any) -> str:
    """The content type of a structured event: the given one where it is such a type."""
    kept = isinstance(content_type, str) and is_structured(content_type)
    return content_type if kept else cloudevents.MEDIA_TYPE


def payload_type(message: Message) -> str | None:
    """The content type of the payload: ``datacontenttype`` is the binding's word for it."""
    kind = message.attributes.get("datacontenttype")
    return message.content_type if kind is None else canonical_text(kind)


def read_attributes(pairs: Pairs, naming: Naming) -> dict[str, str]:
    """The attributes among named values; of a name that repeats the first counts."""
    found: dict[str, str] = {}
    for name, value in pairs:
        attribute = naming.attribute(name)
        if not attribute or attribute in found or attribute in _ELSEWHERE or value is None:
            continue
        found[attribute] = naming.read(name, value)
    return found


def write_attributes(pairs: Pairs, attributes: Mapping[str, Any], naming: Naming) -> Pairs:
    """Named values with the attributes among them; what says the same already stays as it is."""
    missing = {
        name: canonical_text(value)
        for name, value in attributes.items()
        if name not in _ELSEWHERE and value is not None
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
    protocol: str, metadata: Mapping[str, Any], document: bytes | None, parsed: Any = None
) -> Message:
    """The message of an event in the JSON format; ``parsed`` spares reading it again."""
    text = document or b""
    event = cloudevents.read_structured(text) if parsed is None else None
    attributes, payload, kind = event or cloudevents.read_document(parsed, text)
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
    return Message(
        protocol=protocol,
        metadata=metadata,
        envelope=cloudevents.ENVELOPE,
        mode="binary",
        attributes=attributes,
        payload=payload,
        content_type=content_type,
    )
