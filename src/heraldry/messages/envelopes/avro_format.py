"""The Avro event format: a map of typed attributes, and the data.

It has no batches. Data is written as bytes, which a payload is. A JSON value, as others may
write it, is read as the JSON text it stands for, and the event then says that it is JSON.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from heraldry.messages.envelopes.cloudevents import Event, refused, refused_name, stated
from heraldry.messages.message import Message
from heraldry.messages.values import is_json_media_type
from heraldry.schemas.parse import encode
from heraldry.schemas.source import Source

if TYPE_CHECKING:
    from heraldry.schemas.avro.reader import Reader

MEDIA_TYPE = "application/cloudevents+avro"

_JSON_TEXT = "application/json"
_SHORT = [bytes((number,)) for number in range(0x80)]
# A JSON object inside another is a record around a map: Avro has no name for a map of its own.
_OBJECT: Final = {
    "type": "record",
    "name": "Object",
    "fields": [
        {
            "name": "value",
            "type": {
                "type": "map",
                "values": [
                    "null",
                    "boolean",
                    {"type": "map", "values": "Object"},
                    {"type": "array", "items": "Object"},
                    "double",
                    "string",
                ],
            },
        }
    ],
}
_ATTRIBUTE: Final = ["null", "boolean", "int", "string", "bytes"]
_DATA: Final = [
    "bytes",
    "null",
    "boolean",
    {"type": "map", "values": ["null", "boolean", _OBJECT, "double", "string"]},
    {"type": "array", "items": "Object"},
    "double",
    "string",
]
SCHEMA: Final[Mapping[str, Any]] = {
    "type": "record",
    "name": "Event",
    "fields": [
        {"name": "attribute", "type": {"type": "map", "values": _ATTRIBUTE}},
        {"name": "data", "type": _DATA},
    ],
}
"""The schema of events: names do not travel, so only the types are the specification's."""


def read(document: bytes) -> Event:
    """The event in binary Avro; MessageError where there is none."""
    found = _reader().read(document)
    attributes = {name: value for name, value in found["attribute"].items() if value is not None}
    for name in attributes:
        refused_name(name)
    data, stated_type = found["data"], attributes.get("datacontenttype")
    kind = stated_type if isinstance(stated_type, str) else None
    if data is None or isinstance(data, bytes):
        return attributes, data, kind
    if isinstance(data, str) and kind is not None and not is_json_media_type(kind):
        return attributes, data.encode(), kind
    if stated_type is None:
        attributes["datacontenttype"] = kind = _JSON_TEXT
    return attributes, encode(_value(data)), kind


def write(message: Message) -> bytes:
    """The event in binary Avro; MessageError for an attribute that has no type there."""
    attributes = stated(message)
    out = bytearray()
    if attributes:
        out += _long(len(attributes))
    for name, value in attributes.items():
        out += _sized(name.encode())
        if isinstance(value, bool):
            out += b"\x02\x01" if value else b"\x02\x00"
        elif isinstance(value, int):
            out += b"\x04" + _long(value)
        elif isinstance(value, str):
            out += b"\x06" + _sized(value.encode())
        else:
            out += b"\x08" + _sized(value)
    out.append(0)
    out += b"\x02" if message.payload is None else b"\x00" + _sized(message.payload)
    return bytes(out)


@cache
def _reader() -> Reader:
    # Few programs meet such events; the others need not wait for what reads them.
    from heraldry.schemas.avro.document import read as read_schema
    from heraldry.schemas.avro.reader import Reader

    return Reader(read_schema(Source(format="Avro", version="1.9", content=encode(SCHEMA))))


def _value(data: Any) -> Any:
    """The JSON value of data: its members are scalars, or objects in a record."""
    if isinstance(data, dict):
        return {name: _inner(one) for name, one in data.items()}
    if isinstance(data, list):
        return [_object(one) for one in data]
    return _scalar(data)


def _inner(member: Any) -> Any:
    return _object(member) if isinstance(member, dict) else _scalar(member)


def _object(record: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, one in record["value"].items():
        if isinstance(one, dict):
            found[name] = {key: _object(inner) for key, inner in one.items()}
        elif isinstance(one, list):
            found[name] = [_object(inner) for inner in one]
        else:
            found[name] = _scalar(one)
    return found


def _scalar(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        raise refused("json", "has a number that JSON does not have")
    return value


def _sized(data: bytes) -> bytes:
    return _long(len(data)) + data


def _long(number: int) -> bytes:
    rest = (number << 1) ^ (number >> 63)
    if rest < 0x80:
        return _SHORT[rest]
    out = bytearray()
    while rest > 0x7F:
        out.append(rest & 0x7F | 0x80)
        rest >>= 7
    out.append(rest)
    return bytes(out)
