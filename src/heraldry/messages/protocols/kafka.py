"""Kafka: records with a key and headers, and CloudEvents on them (``ce_`` headers)."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from heraldry.messages.envelopes import binding, cloudevents
from heraldry.messages.fields import Field, names
from heraldry.messages.json_form import (
    as_text,
    first,
    given,
    only,
    out_of_bounds,
    refuse,
    take,
    take_pairs,
    to_json_pairs,
    with_value,
    wrong,
)
from heraldry.messages.message import Message, Pairs
from heraldry.messages.values import canonical_text, decode_base64

NAME = "KAFKA"
_PARTITIONS = range(2**31)
FIELDS: tuple[Field, ...] = (
    Field("topic", "string"),
    Field("partition", "integer", values=_PARTITIONS),
    Field("key", "string"),
    Field("key_base64", "binary"),
    Field("headers", "string", collection=True),
)
_KNOWN = names(FIELDS)
_PREFIX = "ce_"
_TYPE = "content-type"


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaRecord:
    """A record as clients take and give it."""

    topic: str | None = None
    partition: int | None = None
    key: bytes | None = None
    headers: tuple[tuple[str, bytes | None], ...] = ()
    value: bytes | None = None


def protocol(raw: KafkaRecord) -> str:
    """The protocol of a record: one name for all versions (C11)."""
    del raw
    return NAME


def payload(raw: KafkaRecord) -> bytes | None:
    """What travels as the value."""
    return raw.value


def metadata(raw: KafkaRecord) -> dict[str, Any]:
    """The properties of a record under the names of ``protocoloptions``; texts where UTF-8.

    A key shows as ``key_base64`` always and as ``key`` where it is a text: a definition may
    declare either (M62).
    """
    return _metadata(raw, _texts(raw.headers))


def _metadata(raw: KafkaRecord, headers: Pairs) -> dict[str, Any]:
    key = None if raw.key is None else as_text(raw.key)
    return given(
        {
            "topic": raw.topic,
            "partition": raw.partition,
            "key": key if isinstance(key, str) else None,
            "key_base64": raw.key,
            "headers": headers,
        }
    )


def content_type(raw: KafkaRecord) -> str | None:
    """The content type of the value."""
    return _content_type(_texts(raw.headers))


def _content_type(headers: Pairs) -> str | None:
    found = first(headers, _TYPE)
    return found if isinstance(found, str) else None


def decode(raw: KafkaRecord) -> Message:
    """A record as a message; the mode of an event shows in its headers."""
    headers = _texts(raw.headers)
    found, kind = _metadata(raw, headers), _content_type(headers)
    partition = raw.partition
    if partition is not None and (type(partition) is not int or partition not in _PARTITIONS):
        refuse(out_of_bounds({"partition": partition}, FIELDS))
    if binding.is_structured(kind):
        return binding.structured(NAME, found, raw.value, kind or "")
    attributes = binding.read_attributes(headers, _NAMING)
    if not attributes.keys().isdisjoint(cloudevents.REQUIRED):
        return binding.binary(NAME, found, attributes, raw.value, kind)
    return Message(protocol=NAME, metadata=found, payload=raw.value, content_type=kind)


def encode(message: Message) -> KafkaRecord:
    """The record of a message."""
    headers: Pairs = message.metadata.get("headers", ())
    refuse(out_of_bounds(message.metadata, FIELDS))
    kind, value = binding.payload_type(message), message.payload
    if message.envelope and message.mode == "structured":
        kind, value = binding.write_structured(message, first(headers, _TYPE))
    elif message.envelope:
        headers = binding.write_attributes(headers, message.attributes, _NAMING)
    if kind is not None:
        headers = with_value(headers, _TYPE, kind)
    return KafkaRecord(
        topic=message.metadata.get("topic"),
        partition=message.metadata.get("partition"),
        key=_key(message.metadata),
        headers=tuple((name, _bytes(value)) for name, value in headers),
        value=value,
    )


def from_json(metadata: Mapping[str, Any], payload: bytes | None, protocol: str) -> KafkaRecord:
    """A record from its JSON form."""
    del protocol  # all versions are alike
    only(metadata, _KNOWN)
    if metadata.get("key") is not None and metadata.get("key_base64") is not None:
        raise wrong("key_base64", "stands beside key")
    # A text is the base64 itself, as the specification has it; an object names it.
    encoded = metadata.get("key_base64")
    named = take(metadata, "key_base64", bytes) if isinstance(encoded, Mapping) else encoded
    return KafkaRecord(
        topic=take(metadata, "topic", str),
        partition=take(metadata, "partition", int),
        key=_key(given({"key": take(metadata, "key", str), "key_base64": named})),
        headers=tuple([(name, _bytes(value)) for name, value in take_pairs(metadata, "headers")]),
        value=payload,
    )


def to_json(raw: KafkaRecord) -> dict[str, Any]:
    """The JSON form of a record, without its value."""
    found = metadata(raw)
    if "key" in found:
        del found["key_base64"]
    elif raw.key is not None:
        found["key_base64"] = b64encode(raw.key).decode()
    if raw.headers:
        found["headers"] = to_json_pairs(found["headers"])
    return found


def _texts(headers: tuple[tuple[str, bytes | None], ...]) -> Pairs:
    return tuple([(name, None if value is None else as_text(value)) for name, value in headers])


def _bytes(value: Any) -> bytes | None:
    if type(value) is str:
        return value.encode()
    if value is None or isinstance(value, bytes):
        return value
    return canonical_text(value).encode()


def _key(metadata: Mapping[str, Any]) -> bytes | None:
    if metadata.get("key") is not None:
        return _bytes(metadata["key"])
    encoded = metadata.get("key_base64")
    if encoded is None or isinstance(encoded, bytes):
        return encoded
    key = decode_base64(encoded)
    if key is None:
        raise wrong("key_base64", "is not base64", "base64")
    return key


def _read(name: str, text: Any) -> str:
    if isinstance(text, bytes):
        raise wrong(f"headers.{name}", "does not hold UTF-8", "encoding")
    return canonical_text(text)


_NAMING = binding.Naming(
    attribute=lambda name: name[len(_PREFIX) :] if name.startswith(_PREFIX) else None,
    name=lambda name: _PREFIX + name,
    read=_read,
    write=lambda text: text,
)
