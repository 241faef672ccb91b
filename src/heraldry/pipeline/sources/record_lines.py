"""Records of files as lines: what the fields of a record are called decides what it is.

| fields | a record is |
|---|---|
| ``line`` | a line, as dead letters keep it |
| ``topic`` and ``value`` | a Kafka record, with ``key``, ``headers`` and ``partition`` |
| ``protocol`` | a message: ``metadata``, and ``payload``, ``payload_text`` or ``payload_base64`` |
| ``specversion``, ``id``, ``source``, ``type`` | an event: every other field is an attribute |
| ``attribute`` and ``data`` alone | an event in the Avro format |
| ``value`` alone | a line |
| any other | a payload, of a message whose protocol is ``FILE`` |

What JSON has no words for (NaN, infinity) is a ValueError, and never becomes another value. Bytes
stay bytes, or are the text that they hold where a message has texts only. Of two payloads none is
chosen: who reads the line refuses both.
"""

from __future__ import annotations

import math
from base64 import b64encode
from collections.abc import Callable, Collection, Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from heraldry.messages.envelopes import cloudevents, json_format
from heraldry.messages.json_form import to_json_value
from heraldry.messages.message import Message
from heraldry.messages.protocols.kafka import KafkaRecord
from heraldry.messages.raw_line import payload_member, raw_line
from heraldry.messages.values import canonical_text, is_json_media_type

PROTOCOL = "FILE"
"""The protocol of records that are nothing but a payload."""
Record = Mapping[str, Any]

_PAYLOADS = ("payload", "payload_text", "payload_base64")
_DATA = ("data", "data_base64")
_lenient = msgspec.json.Encoder(decimal_format="number").encode


def writer_of(names: Collection[str]) -> Callable[[Record], bytes]:
    """What makes lines of records with fields of such names."""
    known = set(names)
    if "line" in known:
        return lambda record: _bytes(record["line"]) or b""
    if {"topic", "value"} <= known:
        return _kafka
    if "protocol" in known:
        return _message
    if known.issuperset(cloudevents.REQUIRED):
        return _event
    if known == {"attribute", "data"}:
        return _avro_event
    if known == {"value"}:
        return lambda record: _bytes(record["value"]) or b""
    return lambda record: _encode({"protocol": PROTOCOL, "payload": record})


def _kafka(record: Record) -> bytes:
    partition = record.get("partition")
    return raw_line(
        KafkaRecord(
            topic=_text(record["topic"]),
            partition=partition if isinstance(partition, int) else None,
            key=_bytes(record.get("key")),
            headers=tuple(_headers(record.get("headers"))),
            value=_bytes(record["value"]),
        )
    )


def _headers(given: Any) -> list[tuple[str, bytes | None]]:
    """Headers of any usual form: a map, pairs, or records of a name (or key) and a value."""
    pairs = given.items() if isinstance(given, Mapping) else given or ()
    found = []
    for pair in pairs:
        if isinstance(pair, Mapping):
            pair = (pair.get("key", pair.get("name")), pair.get("value"))
        found.append((str(pair[0]), _bytes(pair[1])))
    return found


def _message(record: Record) -> bytes:
    """A line of the record's own members; what it has beside them is no message's."""
    document = {name: value for name, value in record.items() if value is not None}
    metadata = document.get("metadata")
    if isinstance(metadata, str | bytes):
        document["metadata"] = _json(metadata)
    elif isinstance(metadata, Mapping):
        document["metadata"] = _metadata(metadata)
    payloads = [name for name in _PAYLOADS if name in document]
    if payloads in (["payload"], ["payload_text"]):
        payload = document[payloads[0]]
        if isinstance(payload, str | bytes):
            del document[payloads[0]]
            document |= payload_member(_bytes(payload) or b"")
    return _encode(document)


def _metadata(given: Record) -> dict[str, Any]:
    """Metadata in its JSON form; a key of Kafka that is bytes has a name of its own there."""
    found = dict(given)
    if isinstance(found.get("key"), bytes) and found.get("key_base64") is None:
        found["key_base64"] = found.pop("key")
    return {name: to_json_value(value) for name, value in found.items()}


def _event(record: Record) -> bytes:
    attributes = {name: _attribute(value) for name, value in record.items() if name not in _DATA}
    data, encoded = record.get("data"), record.get("data_base64")
    if encoded is not None and (isinstance(encoded, str) or data is not None):
        found = {name: value for name, value in attributes.items() if value is not None}
        both = {} if data is None else {"data": data}
        return _encode(found | both | {"data_base64": encoded})
    return _written(attributes, _bytes(data if encoded is None else encoded))


def _avro_event(record: Record) -> bytes:
    attributes = {name: _attribute(value) for name, value in dict(record["attribute"]).items()}
    data = record["data"]
    kind = attributes.get("datacontenttype")
    if isinstance(data, str) and (kind is None or is_json_media_type(canonical_text(kind))):
        return _written(attributes, _encode(data))
    return _written(attributes, _bytes(_unwrapped(data)))


def _unwrapped(data: Any) -> Any:
    """A JSON value of the Avro format: there an object inside another is a record of a map."""
    if isinstance(data, list):
        return [_unwrapped(one) for one in data]
    if not isinstance(data, dict):
        return data
    inner = data["value"] if data.keys() == {"value"} and isinstance(data["value"], dict) else data
    return {name: _unwrapped(one) for name, one in inner.items()}


def _written(attributes: dict[str, Any], payload: bytes | None) -> bytes:
    """An event as a line; the payload is JSON where it can be, else as bytes."""
    kind = attributes.get("datacontenttype")
    event = Message(
        envelope=cloudevents.ENVELOPE,
        mode="structured",
        attributes=attributes,
        payload=payload,
        content_type=kind if isinstance(kind, str) else None,
    )
    return json_format.write(event, one_line=True)


def _attribute(value: Any) -> Any:
    if isinstance(value, bytes):
        return b64encode(value).decode()
    if isinstance(value, datetime):
        # Without a zone it is one in UTC, and not in that of this machine.
        return canonical_text(value if value.tzinfo else value.replace(tzinfo=UTC))
    _check_finite(value)
    return value


def _encode(value: Any) -> bytes:
    """A value as JSON; ValueError where that has no word for it."""
    data = _lenient(value)
    if b"null" in data:  # what becomes of NaN; a look at every value only then
        _check_finite(value)
    return data


def wordless(record: Record) -> tuple[str, ...]:
    """The way to the first member that JSON has no word for; empty where none is seen.

    It ends at a list, and at what is nested too deep: the rest of the way would be another one for
    each record.
    """
    for name, value in record.items():
        try:
            _encode(value)
        except RecursionError:
            return (str(name),)
        except (TypeError, ValueError):
            return (str(name), *(wordless(value) if isinstance(value, Mapping) else ()))
    return ()


def _check_finite(value: Any) -> None:
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value} is no number of JSON")
    elif isinstance(value, Mapping):
        for one in value.values():
            _check_finite(one)
    elif isinstance(value, list | tuple):
        for one in value:
            _check_finite(one)


def _bytes(value: Any) -> bytes | None:
    """What a field holds as bytes: texts in UTF-8, values as JSON."""
    if value is None or isinstance(value, bytes):
        return value
    return value.encode() if isinstance(value, str) else _encode(value)


def _text(value: Any) -> Any:
    return value.decode() if isinstance(value, bytes) else value


def _json(text: str | bytes) -> Any:
    """JSON in a field as it stands, where it is JSON; else the text itself."""
    data = text.encode() if isinstance(text, str) else text
    return msgspec.Raw(data) if json_format.is_json(data, one_line=True) else text
