"""The JSON event format: an event as a JSON object, a batch as an array of them."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from json import JSONDecodeError, JSONDecoder
from typing import Any

import msgspec

from heraldry.errors import MessageError
from heraldry.messages.envelopes.cloudevents import Event, refused, refused_batch
from heraldry.messages.message import Message
from heraldry.messages.values import decode_base64, is_json_media_type
from heraldry.schemas.parse import parse

MEDIA_TYPE = "application/cloudevents+json"
BATCH_MEDIA_TYPE = "application/cloudevents-batch+json"

_JSON_TEXT = "application/json"
_SPACE = re.compile(r"[ \t\r\n]*+")
# Only told where a value ends: its numbers need not be made.
_end_of = JSONDecoder(parse_int=str, parse_float=str).raw_decode


class _Data(msgspec.Struct):
    data: msgspec.Raw = msgspec.Raw()


_exact = msgspec.json.Decoder(_Data).decode


def read(document: bytes) -> Event:
    """The event in a JSON text; MessageError where there is none."""
    found = parse(document)
    if not isinstance(found, dict):
        raise refused("not-a-message", "is not a JSON object")
    return read_object(found, document)


def read_object(found: Mapping[str, Any], document: bytes) -> Event:
    """The event of an object already parsed; ``data`` keeps its exact text.

    A null attribute is an absent one. Without ``datacontenttype``, ``data`` is JSON, and nothing
    is known of ``data_base64``.
    """
    attributes = {name: value for name, value in found.items() if value is not None}
    attributes.pop("data", None)
    attributes.pop("data_base64", None)
    stated = attributes.get("datacontenttype")
    kind = stated if isinstance(stated, str) else None
    encoded = found.get("data_base64")
    if encoded is not None:
        if "data" in found:
            raise refused("not-a-message", "has both data and data_base64")
        payload = decode_base64(encoded)
        if payload is None:
            raise refused("base64", "data_base64 is not base64")
        return attributes, payload, kind
    if "data" not in found:
        return attributes, None, kind
    data = found["data"]
    if isinstance(data, str) and kind is not None and not is_json_media_type(kind):
        return attributes, data.encode(), kind
    return attributes, bytes(_exact(document).data), _JSON_TEXT if stated is None else kind


def write(message: Message, *, one_line: bool = False) -> bytes:
    """The event as a JSON text; with ``one_line`` without any line end."""
    return msgspec.json.encode(members(message, one_line=one_line))


def members(message: Message, *, one_line: bool = False) -> dict[str, Any]:
    """The members of the JSON object, ready to be encoded.

    The payload is ``data`` where reading it gives the same bytes again, else ``data_base64``.
    """
    event: dict[str, Any] = {n: v for n, v in message.attributes.items() if v is not None}
    kind = event.get("datacontenttype", message.content_type)
    payload = message.payload
    plain = kind is None or not isinstance(kind, str) or is_json_media_type(kind)
    inside = payload is not None and plain and is_json(payload, one_line=one_line)
    if kind is not None and not (inside and kind == _JSON_TEXT):
        event.setdefault("datacontenttype", kind)
    if payload is None:
        return event
    if inside:
        return event | {"data": msgspec.Raw(payload)}
    if not plain:
        try:
            return event | {"data": payload.decode()}
        except UnicodeDecodeError:
            pass
    return event | {"data_base64": b64encode(payload).decode()}


def read_batch(document: bytes, most: int) -> tuple[Event, ...]:
    """The events of a JSON array, of at most so many; MessageError where it is none."""
    try:
        text = document.decode()
    except UnicodeDecodeError:
        raise refused("json", "is not UTF-8") from None
    events: list[Event] = []
    for part in _elements(text):
        if len(events) == most:
            raise refused_batch(most)
        events.append(read(part.encode()))
    return tuple(events)


def write_batch(messages: Iterable[Message]) -> bytes:
    """The events as a JSON array."""
    return b"[" + b",".join(write(message) for message in messages) + b"]"


def is_json(payload: bytes, *, one_line: bool = False) -> bool:
    """Whether bytes are one JSON text that keeps its form as a member of a line.

    White space around it would be lost; ``one_line`` forbids line ends inside, too.
    """
    if not payload or payload[:1].isspace() or payload[-1:].isspace():
        return False
    if one_line and (b"\n" in payload or b"\r" in payload):
        return False
    try:
        # As deep as it comes to lie in a line: inside an event, inside a message.
        parse(b"[[" + payload + b"]]")
        # Brackets would also hold two texts with a comma, or a text that closes them.
        parse(payload)
    except MessageError:
        return False
    return True


def _elements(text: str) -> Iterator[str]:
    """The texts of an array's elements, one by one: a batch of millions is never held at once."""
    position = _after_space(text, 0)
    if text[position : position + 1] != "[":
        raise refused("not-a-message", "is not a JSON array")
    position = _after_space(text, position + 1)
    closed = text[position : position + 1] == "]"
    while not closed:
        try:
            end = _end_of(text, position)[1]
        except (JSONDecodeError, RecursionError):
            raise refused("json", "has an event that is not JSON") from None
        yield text[position:end]
        end = _after_space(text, end)
        closed = text[end : end + 1] == "]"
        if not closed and text[end : end + 1] != ",":
            raise refused("json", "is an array that does not end")
        position = end if closed else _after_space(text, end + 1)
    if _after_space(text, position + 1) != len(text):
        raise refused("json", "goes on behind the array")


def _after_space(text: str, position: int) -> int:
    found = _SPACE.match(text, position)
    return position if found is None else found.end()
