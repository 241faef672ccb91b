"""HTTP: requests and responses, and CloudEvents on them (``ce-`` headers)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from heraldry.messages import content_encoding
from heraldry.messages.envelopes import binding, cloudevents, event_formats, header_text
from heraldry.messages.fields import Field, names
from heraldry.messages.json_form import (
    first,
    only,
    refuse,
    take,
    take_texts,
    to_json_list,
    to_json_pairs,
    with_value,
)
from heraldry.messages.message import Message, Pairs
from heraldry.messages.values import canonical_text

NAME = "HTTP"
FIELDS: tuple[Field, ...] = (
    Field("method", "string"),
    Field("status", "string"),
    Field("path", "uritemplate", separator="/"),
    Field("query", "string", collection=True),
    Field("headers", "string", collection=True, fold_case=True),
)
_KNOWN = names(FIELDS)
_PREFIX = "ce-"
_TYPE = "content-type"
_ENCODING = "content-encoding"
_METHODS = frozenset((None, "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"))
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+").fullmatch
_STATUS = re.compile(r"[1-5][0-9]{2}").fullmatch


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpMessage:
    """A request (``method``) or a response (``status``); ``body`` None means no body."""

    method: str | None = None
    status: str | None = None
    path: str | None = None
    query: Pairs = ()
    headers: Pairs = ()
    body: bytes | None = None


def protocol(raw: HttpMessage) -> str:
    """The protocol of a message: one name for all versions (C11)."""
    del raw
    return NAME


def payload(raw: HttpMessage) -> bytes | None:
    """What travels as the body, still encoded as its headers say."""
    return raw.body


def metadata(raw: HttpMessage) -> dict[str, Any]:
    """The properties of a request or response under the names of ``protocoloptions``."""
    found: dict[str, Any] = {}
    if raw.method is not None:
        found["method"] = raw.method
    if raw.status is not None:
        found["status"] = raw.status
    if raw.path is not None:
        found["path"] = raw.path
    if raw.query:
        found["query"] = raw.query
    if raw.headers:
        found["headers"] = raw.headers
    return found


def content_type(raw: HttpMessage) -> str | None:
    """The content type of the body."""
    found: str | None = first(raw.headers, _TYPE, fold_case=True)
    return found


def decode(raw: HttpMessage, *, limit: int = content_encoding.LIMIT) -> Message:
    """A request or response as a message; the mode of an event shows in its headers."""
    body = raw.body
    kind, encoding, attributes, escaped = _scan(raw.headers)
    if raw.method not in _METHODS or raw.status is not None:
        refuse(_faults(raw.method, raw.status))
    if encoding and body is not None:
        body = content_encoding.decode(body, encoding, limit)
    if binding.is_structured(kind):
        return binding.structured(NAME, metadata(raw), body, kind or "")
    if attributes.keys().isdisjoint(cloudevents.REQUIRED):
        return Message(protocol=NAME, metadata=metadata(raw), payload=body, content_type=kind)
    for name, attribute in escaped:
        attributes[attribute] = header_text.read(name, attributes[attribute])
    return binding.binary(NAME, metadata(raw), attributes, body, kind)


def encode(message: Message) -> HttpMessage:
    """The request or response of a message, its body encoded as its headers say."""
    headers: Pairs = tuple(
        (name, canonical_text(value)) for name, value in message.metadata.get("headers", ())
    )
    kind, body = binding.payload_type(message), message.payload
    if message.envelope and message.mode == "structured":
        kind, body = binding.write_structured(message, first(headers, _TYPE, fold_case=True))
    elif message.envelope:
        headers = binding.write_attributes(headers, message.attributes, _NAMING)
    if kind is not None:
        headers = with_value(headers, _TYPE, kind, fold_case=True)
    if body is not None:
        body = content_encoding.encode(body, _encoding(headers))
    method, status = message.metadata.get("method"), message.metadata.get("status")
    status = None if status is None else canonical_text(status)
    path = message.metadata.get("path")
    refuse((*_faults(method, status, headers), *_path_faults(path)))
    return HttpMessage(
        method=method,
        status=status,
        path=path,
        query=tuple((n, canonical_text(v)) for n, v in message.metadata.get("query", ())),
        headers=headers,
        body=body,
    )


def decode_batch(
    raw: HttpMessage,
    *,
    most: int = event_formats.BATCH_LIMIT,
    limit: int = event_formats.BATCH_BYTES,
) -> tuple[Message, ...]:
    """The events of a batch, each as if it had come alone in a document of the same format."""
    kind = content_type(raw) or ""
    refuse(_faults(raw.method, raw.status))
    body = content_encoding.decode(raw.body or b"", _encoding(raw.headers), limit)
    events = event_formats.read_batch(body, kind, most=most, limit=limit)
    alone = event_formats.find_batch(kind).MEDIA_TYPE
    found = metadata(raw) | {"headers": with_value(raw.headers, _TYPE, alone, fold_case=True)}
    return tuple(binding.from_event(NAME, found, event) for event in events)


def encode_batch(messages: Iterable[Message], event_format: str = "json") -> HttpMessage:
    """One request or response for events that differ in their attributes and payloads only.

    What is not an event, or would go another way than the first one, is refused.
    """
    events = tuple(messages)
    ways = [_way(message) for message in events] or [{}]
    for place, (event, way) in enumerate(zip(events, ways, strict=False)):
        if not event.envelope:
            raise cloudevents.refused("batch", "is no event", path=f"/{place}")
        if way != ways[0]:
            told = "has another address or other headers than the first"
            raise cloudevents.refused("batch", told, path=f"/{place}")
    found = event_formats.batch_named(event_format)
    headers = with_value(ways[0].get("headers", ()), _TYPE, found.BATCH_MEDIA_TYPE, fold_case=True)
    alone = Message(
        protocol=NAME, metadata=ways[0] | {"headers": headers}, payload=found.write_batch(events)
    )
    return encode(alone)


def from_json(metadata: Mapping[str, Any], payload: bytes | None, protocol: str) -> HttpMessage:
    """A request or response from its JSON form."""
    del protocol  # all versions are alike
    only(metadata, _KNOWN)
    status = metadata.get("status")
    if isinstance(status, int) and not isinstance(status, bool):
        metadata = {**metadata, "status": str(status)}
    path = take(metadata, "path", str)
    refuse(_path_faults(path))
    method, status = take(metadata, "method", str), take(metadata, "status", str)
    headers = take_texts(metadata, "headers")
    refuse(_faults(method, status, headers))
    return HttpMessage(
        method=method,
        status=status,
        path=path,
        query=take_texts(metadata, "query"),
        headers=headers,
        body=payload,
    )


def to_json(raw: HttpMessage) -> dict[str, Any]:
    """The JSON form of a request or response, without its body."""
    found = metadata(raw)
    if raw.query:
        found["query"] = to_json_pairs(raw.query)
    if raw.headers:
        found["headers"] = to_json_list(raw.headers)
    return found


def _faults(
    method: str | None, status: str | None, headers: Pairs = ()
) -> Iterator[tuple[str, str]]:
    """What no request or response can have (M50..M53)."""
    if method is not None and status is not None:
        yield "status", "stands beside method: a message is a request or a response"
    if method is not None and not _TOKEN(method):
        yield "method", "is not an HTTP method, such as POST"
    if status is not None and not _STATUS(status):
        yield "status", "is not an HTTP status code from 100 to 599"
    for name, value in headers:
        if not _TOKEN(name):
            yield f"headers.{name}", "is not a name of an HTTP header"
        if header_text.breaks(value):
            yield f"headers.{name}", header_text.BREAKS


def _path_faults(path: str | None) -> Iterator[tuple[str, str]]:
    """What is more than a path, or would end the request line."""
    if path is not None and ("?" in path or "#" in path):
        yield "path", "holds more than a path; parameters belong into query"
    if path is not None and header_text.breaks(path):
        yield "path", header_text.BREAKS


def _way(message: Message) -> dict[str, Any]:
    """How a message travels, apart from what it is: its own headers stay behind."""
    own = tuple(
        (name, value)
        for name, value in message.metadata.get("headers", ())
        if name.lower() != _TYPE and not name.lower().startswith(_PREFIX)
    )
    return {**message.metadata, "headers": own}


def _encoding(headers: Pairs) -> str:
    return ",".join([value for name, value in headers if name.lower() == _ENCODING])


def _scan(
    headers: Pairs,
) -> tuple[str | None, str, dict[str, str], list[tuple[str, str]]]:
    """All that tells what a message is, in one go: the hot path of every receiver.

    The content type, the content encoding, the attributes as they stand, and the header and
    attribute of those that are still to be decoded. As :func:`binding.read_attributes` has it.
    """
    kind: str | None = None
    codings: list[str] = []
    attributes: dict[str, str] = {}
    escaped: list[tuple[str, str]] = []
    for name, value in headers:
        attribute, folded = _meaning(name)
        if attribute is not None:
            if attribute not in attributes and value is not None:
                attributes[attribute] = value
                if "%" in value or '"' in value:
                    escaped.append((name, attribute))
        elif folded == _TYPE:
            kind = value if kind is None else kind
        elif folded == _ENCODING:
            codings.append(value)
    return kind, ",".join(codings), attributes, escaped


@lru_cache(maxsize=1024)
def _meaning(name: str) -> tuple[str | None, str]:
    """The attribute that a header holds, if any, and the name of the header in lower case."""
    attribute = _attribute(name)
    held = attribute and attribute not in binding.ELSEWHERE
    return attribute if held else None, name.lower()


def _attribute(name: str) -> str | None:
    folded = name.lower()
    return folded[len(_PREFIX) :] if folded.startswith(_PREFIX) else None


_NAMING = binding.Naming(
    attribute=_attribute,
    name=lambda name: _PREFIX + name,
    read=header_text.read,
    write=header_text.write,
)
