"""The Protobuf event format: required attributes as fields, the others typed in a map, the data.

Data is text where its content type says so, else bytes. A message in an Any is read as its bytes;
its type is kept where ``dataschema`` names it, and only then it is written as an Any again.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from heraldry.messages.envelopes.cloudevents import (
    REQUIRED,
    Event,
    refused,
    refused_batch,
    refused_name,
    stated,
)
from heraldry.messages.envelopes.protobuf_wire import (
    FIELD_LIMIT,
    Fields,
    number_field,
    read_fields,
    signed,
    sized_field,
)
from heraldry.messages.message import Message
from heraldry.messages.values import canonical_text, parse_media_type
from heraldry.schemas.timestamps import to_timestamp

MEDIA_TYPE = "application/cloudevents+protobuf"
BATCH_MEDIA_TYPE = "application/cloudevents-batch+protobuf"

_NUMBERS = {"id": 1, "source": 2, "specversion": 3, "type": 4}
_BINARY, _TEXT, _MESSAGE = 6, 7, 8
_EVENT: Fields = {
    **dict.fromkeys(_NUMBERS.values(), "text"),
    5: "messages",
    _BINARY: "bytes",
    _TEXT: "text",
    _MESSAGE: "message",
}
_ENTRY: Fields = {1: "text", 2: "message"}
_VALUE: Fields = {
    1: "number",
    2: "number",
    3: "text",
    4: "bytes",
    5: "text",
    6: "text",
    7: "message",
}
_TIMESTAMP: Fields = {1: "number", 2: "number"}
_ANY: Fields = {1: "text", 2: "bytes"}
_KINDS = {"dataschema": 5}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SECONDS = range(-62_135_596_800, 253_402_300_800)
_INT32 = range(-(2**31), 2**31)
_PROTOBUF = ("application/protobuf", "application/x-protobuf")
_TYPE_URL = "type.googleapis.com/"


def read(document: bytes) -> Event:
    """The event in the bytes of a CloudEvent message; MessageError where there is none."""
    found = read_fields(document, _EVENT, range(_BINARY, _MESSAGE + 1))
    # A field that has no text is one that is not there.
    attributes: dict[str, Any] = {
        name: found[_NUMBERS[name]] for name in REQUIRED if found.get(_NUMBERS[name])
    }
    for entry in found.get(5, ()):
        name, value = _attribute(entry)
        if value is not None:
            attributes[name] = value
    kind = attributes.get("datacontenttype")
    kind = kind if isinstance(kind, str) else None
    if _MESSAGE in found:
        kind = attributes.setdefault("datacontenttype", _PROTOBUF[0]) if kind is None else kind
        return attributes, read_fields(found[_MESSAGE], _ANY).get(2, b""), kind
    text = found.get(_TEXT)
    return attributes, found.get(_BINARY) if text is None else text.encode(), kind


def write(message: Message) -> bytes:
    """The event as a CloudEvent message; MessageError for an attribute that has no type there."""
    attributes = stated(message)
    out = bytearray()
    for name, number in _NUMBERS.items():
        text = canonical_text(attributes.pop(name, ""))
        if text:
            out += sized_field(number, text.encode())
    for name, value in attributes.items():
        entry = sized_field(1, name.encode()) + sized_field(2, _value(name, value))
        out += sized_field(5, entry)
    return bytes(out + _data(message.payload, attributes))


def read_batch(document: bytes, most: int) -> tuple[Event, ...]:
    """The events of a CloudEventBatch message, of at most so many; MessageError if it is none."""
    found = read_fields(document, {1: "messages"}, most=max(most, FIELD_LIMIT)).get(1, [])
    if len(found) > most:
        raise refused_batch(most)
    return tuple(map(read, found))


def write_batch(messages: Iterable[Message]) -> bytes:
    """The events as a CloudEventBatch message."""
    return b"".join(sized_field(1, write(message)) for message in messages)


def _attribute(entry: bytes) -> tuple[str, Any]:
    fields = read_fields(entry, _ENTRY)
    name = fields.get(1, "")
    refused_name(name)
    path = f"attributes.{name}"
    if name in REQUIRED:
        raise refused("name", "has a field of its own and is no entry of the map", path=path)
    held = read_fields(fields.get(2, b""), _VALUE, range(1, 8))
    if not held:
        return name, None
    ((number, value),) = held.items()
    if number == 1:
        return name, value != 0
    if number == 2:
        if signed(value) not in _INT32:
            raise refused("type", "is not a 32 bit integer", path=path)
        return name, signed(value)
    return name, _time(value, path) if number == 7 else value


def _value(name: str, value: Any) -> bytes:
    if isinstance(value, bool):
        return number_field(1, value)
    if isinstance(value, int):
        return number_field(2, value)
    if isinstance(value, bytes):
        return sized_field(4, value)
    if name == "time" and (stamp := _timestamp(value)) is not None:
        return sized_field(7, stamp)
    return sized_field(_KINDS.get(name, 3), value.encode())


def _data(payload: bytes | None, attributes: dict[str, Any]) -> bytes:
    if payload is None:
        return b""
    kind = attributes.get("datacontenttype")
    parsed = parse_media_type(kind) if isinstance(kind, str) else None
    if parsed is None:
        return sized_field(_BINARY, payload)
    schema = attributes.get("dataschema")
    if parsed[0] in _PROTOBUF and isinstance(schema, str) and schema.startswith(_TYPE_URL):
        inner = sized_field(1, schema.encode()) + sized_field(2, payload)
        return sized_field(_MESSAGE, inner)
    return sized_field(_TEXT if _is_text(parsed[0], payload) else _BINARY, payload)


def _is_text(media_type: str, payload: bytes) -> bool:
    subtype = media_type.partition("/")[2].rpartition("+")[2]
    if not media_type.startswith("text/") and subtype not in ("json", "xml"):
        return False
    try:
        payload.decode()
    except UnicodeDecodeError:
        return False
    return True


def _time(stamp: bytes, path: str) -> str:
    """The RFC 3339 text of a Timestamp, in UTC, with as many digits as it needs."""
    fields = read_fields(stamp, _TIMESTAMP)
    seconds, nanos = signed(fields.get(1, 0)), signed(fields.get(2, 0))
    if seconds not in _SECONDS or not 0 <= nanos < 1_000_000_000:
        raise refused("type", "is a timestamp outside of the years 1 to 9999", path=path)
    moment = (_EPOCH + timedelta(seconds=seconds)).isoformat().removesuffix("+00:00")
    digits = f"{nanos:09}"
    while digits.endswith("000"):
        digits = digits[:-3]
    return f"{moment}.{digits}Z" if digits else f"{moment}Z"


def _timestamp(text: str) -> bytes | None:
    """The Timestamp of an RFC 3339 text; None where the text says more, or is none."""
    fraction = text.partition(".")[2].rstrip("Zz").partition("+")[0].partition("-")[0]
    if len(fraction) > 9:
        return None
    try:
        moment = to_timestamp(text)
    except ValueError:
        return None
    seconds, nanos = int((moment - _EPOCH) // timedelta(seconds=1)), int(fraction.ljust(9, "0"))
    # Proto3 leaves numbers away that are 0.
    parts = (number_field(1, seconds) if seconds else b"", number_field(2, nanos) if nanos else b"")
    return b"".join(parts)
