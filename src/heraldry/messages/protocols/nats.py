"""NATS: published messages with headers, and CloudEvents on them (``ce-`` headers)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from heraldry.messages.envelopes import binding, cloudevents, header_text, payload_event
from heraldry.messages.fields import Field, names
from heraldry.messages.json_form import (
    first,
    given,
    only,
    refuse,
    take,
    take_texts,
    to_json_list,
    with_value,
)
from heraldry.messages.message import Message, Pairs
from heraldry.messages.values import canonical_text

NAME = "NATS"
FIELDS: tuple[Field, ...] = (
    Field("subject", "uritemplate", separator="."),
    Field("reply-to", "uritemplate", separator="."),
    Field("headers", "string", collection=True),
)
_KNOWN = names(FIELDS)
# Words with single dots between them, none of them a wildcard.
# Not possessive as a whole: before Python 3.11.5 such a group may end amid a repetition.
_SUBJECT = re.compile(r"(?:(?![*>](?:\.|\Z))[^\s.\x00]++(?:\.(?!\Z)|\Z))+").fullmatch
_PREFIX = "ce-"
_TYPE = "content-type"
_DATA_TYPE = "ce-datacontenttype"


@dataclass(frozen=True, slots=True, kw_only=True)
class NatsMessage:
    """What HPUB takes and HMSG gives; header names keep their case and may repeat."""

    subject: str | None = None
    reply_to: str | None = None
    headers: Pairs = ()
    payload: bytes | None = None


def protocol(raw: NatsMessage) -> str:
    """The protocol of a message: one name for all versions (C11)."""
    del raw
    return NAME


def payload(raw: NatsMessage) -> bytes | None:
    """What travels as the payload."""
    return raw.payload


def metadata(raw: NatsMessage) -> dict[str, Any]:
    """The properties of a message under the names of ``protocoloptions`` (M63)."""
    return given({"subject": raw.subject, "reply-to": raw.reply_to, "headers": raw.headers})


def content_type(raw: NatsMessage) -> str | None:
    """The content type of the payload; the binding gives that of an event a header of its own."""
    inner = _inner(raw.headers)
    return _outer(raw.headers) if inner is None else inner


def decode(raw: NatsMessage) -> Message:
    """A message; an event names its mode in its headers, or shows inside where there are none."""
    outer, properties = _outer(raw.headers), metadata(raw)
    refuse(_faults(properties))
    if binding.is_structured(outer):
        return binding.structured(NAME, properties, raw.payload, outer or "")
    inside = None if raw.headers else payload_event.find(raw.payload)
    if inside is not None:
        return binding.from_event(NAME, properties, inside)
    attributes = binding.read_attributes(raw.headers, _NAMING)
    if any(name in attributes for name in cloudevents.REQUIRED):
        inner = _inner(raw.headers)
        event = binding.binary(NAME, properties, attributes, raw.payload, inner)
        return event if inner is not None else replace(event, content_type=outer)
    return Message(protocol=NAME, metadata=properties, payload=raw.payload, content_type=outer)


def encode(message: Message) -> NatsMessage:
    """The message as it is published; a structured event always names its content type."""
    headers: Pairs = tuple(
        (name, canonical_text(value)) for name, value in message.metadata.get("headers", ())
    )
    refuse((*_faults(message.metadata), *_header_faults(headers)))
    body, kind = message.payload, binding.payload_type(message)
    if message.envelope and message.mode == "structured":
        outer, body = binding.write_structured(message, _outer(headers))
        headers = with_value(headers, _TYPE, outer, fold_case=True)
    elif message.envelope:
        headers = binding.write_attributes(headers, message.attributes, _NAMING)
        if "datacontenttype" in message.attributes or kind != _outer(headers):
            headers = _with_data_type(headers, kind)
    elif kind is not None:
        headers = with_value(headers, _TYPE, kind, fold_case=True)
    return NatsMessage(
        subject=message.metadata.get("subject"),
        reply_to=message.metadata.get("reply-to"),
        headers=headers,
        payload=body,
    )


def from_json(metadata: Mapping[str, Any], payload: bytes | None, protocol: str) -> NatsMessage:
    """A message from its JSON form."""
    del protocol  # all versions are alike
    only(metadata, _KNOWN)
    headers = take_texts(metadata, "headers")
    refuse(_header_faults(headers))
    return NatsMessage(
        subject=take(metadata, "subject", str),
        reply_to=take(metadata, "reply-to", str),
        headers=headers,
        payload=payload,
    )


def to_json(raw: NatsMessage) -> dict[str, Any]:
    """The JSON form of a message, without its payload."""
    found = metadata(raw)
    if raw.headers:
        found["headers"] = to_json_list(raw.headers)
    return found


def _faults(metadata: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Subjects that nothing can be published to."""
    for name in ("subject", "reply-to"):
        value = metadata.get(name)
        if value is not None and not _SUBJECT(value):
            yield name, "is not words with dots between them, without wildcards and spaces"


def _header_faults(headers: Pairs) -> Iterator[tuple[str, str]]:
    """Headers that would be read as others."""
    for name, value in headers:
        if not name or ":" in name or header_text.breaks(name):
            yield f"headers.{name}", "is not a name of a header: it is empty or has a colon"
        if header_text.breaks(value):
            yield f"headers.{name}", header_text.BREAKS


def _outer(headers: Pairs) -> str | None:
    found: str | None = first(headers, _TYPE, fold_case=True)
    return found


def _inner(headers: Pairs) -> str | None:
    found: str | None = first(headers, _DATA_TYPE, fold_case=True)
    return None if found is None else header_text.read(_DATA_TYPE, found)


def _with_data_type(headers: Pairs, kind: str | None) -> Pairs:
    if kind is None or _inner(headers) == kind:
        return headers
    return with_value(headers, _DATA_TYPE, header_text.write(kind), fold_case=True)


def _attribute(name: str) -> str | None:
    folded = name.lower()
    return folded[len(_PREFIX) :] if folded.startswith(_PREFIX) else None


_NAMING = binding.Naming(
    attribute=_attribute,
    name=lambda name: _PREFIX + name,
    read=header_text.read,
    write=header_text.write,
)
