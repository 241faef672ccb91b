"""HTTP: requests and responses, and CloudEvents on them (``ce-`` headers)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote_to_bytes

from heraldry.messages import content_encoding
from heraldry.messages.envelopes import binding, cloudevents
from heraldry.messages.fields import Field
from heraldry.messages.json_form import (
    first,
    given,
    only,
    take,
    take_texts,
    to_json_list,
    to_json_pairs,
    with_value,
    wrong,
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
_PREFIX = "ce-"
_TYPE = "content-type"
# The binding escapes space, double quote, percent and all beyond printable ASCII.
_ESCAPED = re.compile(r"[^\x21\x23\x24\x26-\x7e]")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*+)"', re.DOTALL)


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
    return given(
        {
            "method": raw.method,
            "status": raw.status,
            "path": raw.path,
            "query": raw.query,
            "headers": raw.headers,
        }
    )


def content_type(raw: HttpMessage) -> str | None:
    """The content type of the body."""
    found: str | None = first(raw.headers, _TYPE, fold_case=True)
    return found


def decode(raw: HttpMessage, *, limit: int = content_encoding.LIMIT) -> Message:
    """A request or response as a message; the mode of an event shows in its headers."""
    kind, body = content_type(raw), raw.body
    if body is not None:
        body = content_encoding.decode(body, _encoding(raw.headers), limit)
    if binding.is_structured(kind):
        return binding.structured(NAME, metadata(raw), body)
    attributes = binding.read_attributes(raw.headers, _NAMING)
    if any(name in attributes for name in cloudevents.REQUIRED):
        return binding.binary(NAME, metadata(raw), attributes, body, kind)
    return Message(protocol=NAME, metadata=metadata(raw), payload=body, content_type=kind)


def encode(message: Message) -> HttpMessage:
    """The request or response of a message, its body encoded as its headers say."""
    headers: Pairs = tuple(
        (name, canonical_text(value)) for name, value in message.metadata.get("headers", ())
    )
    kind, body = binding.payload_type(message), message.payload
    if message.envelope and message.mode == "structured":
        kind = binding.structured_type(first(headers, _TYPE, fold_case=True))
        body = cloudevents.write_structured(message)
    elif message.envelope:
        headers = binding.write_attributes(headers, message.attributes, _NAMING)
    if kind is not None:
        headers = with_value(headers, _TYPE, kind, fold_case=True)
    if body is not None:
        body = content_encoding.encode(body, _encoding(headers))
    status = message.metadata.get("status")
    return HttpMessage(
        method=message.metadata.get("method"),
        status=None if status is None else canonical_text(status),
        path=message.metadata.get("path"),
        query=tuple((n, canonical_text(v)) for n, v in message.metadata.get("query", ())),
        headers=headers,
        body=body,
    )


def from_json(metadata: Mapping[str, Any], payload: bytes | None, protocol: str) -> HttpMessage:
    """A request or response from its JSON form."""
    del protocol  # all versions are alike
    only(metadata, FIELDS)
    status = metadata.get("status")
    if isinstance(status, int) and not isinstance(status, bool):
        metadata = {**metadata, "status": str(status)}
    path = take(metadata, "path", str)
    if path is not None and ("?" in path or "#" in path):
        raise wrong("path", "holds more than a path; parameters belong into query")
    return HttpMessage(
        method=take(metadata, "method", str),
        status=take(metadata, "status", str),
        path=path,
        query=take_texts(metadata, "query"),
        headers=take_texts(metadata, "headers"),
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


def _encoding(headers: Pairs) -> str:
    return ",".join(value for name, value in headers if name.lower() == "content-encoding")


def _attribute(name: str) -> str | None:
    folded = name.lower()
    return folded[len(_PREFIX) :] if folded.startswith(_PREFIX) else None


def _read(name: str, text: str) -> str:
    quoted = _QUOTED.fullmatch(text)
    if quoted:
        text = re.sub(r"\\(.)", r"\1", quoted[1], flags=re.DOTALL)
    if "%" not in text:
        return text
    try:
        return unquote_to_bytes(text).decode()
    except UnicodeDecodeError:
        # The binding demands that such bytes are rejected, not replaced.
        raise wrong(f"headers.{name}", "does not hold UTF-8", "encoding") from None


def _write(text: str) -> str:
    return _ESCAPED.sub(lambda m: "".join(f"%{b:02X}" for b in m[0].encode()), text)


_NAMING = binding.Naming(
    attribute=_attribute, name=lambda name: _PREFIX + name, read=_read, write=_write
)
