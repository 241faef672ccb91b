"""A message as one JSON line: what files hold, what ``build`` writes, what ``match`` reads.

A CloudEvent in the JSON format has ``specversion``; any other message is ``{"protocol",
"metadata", payload}`` with the payload as ``payload`` (JSON), ``payload_text`` or
``payload_base64``. An event that has ``protocol`` as well is both: ``metadata`` is the
protocol's, the other members are the event.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from typing import Any

import msgspec

from heraldry.errors import MessageError
from heraldry.messages.envelopes import binding, cloudevents, json_format
from heraldry.messages.json_form import from_json_value, to_json_value
from heraldry.messages.message import Message, Mode
from heraldry.messages.protocol_table import canonical_name, module, normalize
from heraldry.messages.values import decode_base64
from heraldry.model.formats import present
from heraldry.model.problem import Problem
from heraldry.schemas.parse import parse

MAX_LINE = 16 * 1024 * 1024
"""The longest line read."""

_PAYLOADS = ("payload", "payload_text", "payload_base64")
_KNOWN = frozenset(("protocol", "metadata", *_PAYLOADS))


class _Payload(msgspec.Struct):
    payload: msgspec.Raw = msgspec.Raw()


_exact = msgspec.json.Decoder(_Payload).decode


def read(line: bytes, *, limit: int = MAX_LINE) -> Message:
    """One JSON line as a message; MessageError with the problems where it is none."""
    if len(line) > limit:
        raise _wrong("too-large", f"is longer than {limit} bytes", expected=f"{limit} bytes")
    document = _parse(line)
    if "unreadable" in document and not document.keys() & {"specversion", "protocol"}:
        # What the pipeline says of a file, or a part of one, that holds no messages. Of a record
        # it also says where in it: the path is what letters are grouped by.
        path, found = document.get("path", document["unreadable"]), str(document.get("reason"))
        raise _wrong("file", "cannot be read", path=str(path), found=found)
    protocol = _protocol(document)
    if "specversion" in document:
        return _event(document, line) if protocol is None else _bound(document, line, protocol)
    if protocol is None:
        expected = "specversion or protocol"
        raise _wrong("not-a-message", "has neither specversion nor protocol", expected=expected)
    return _native(document, line, protocol)


def write(message: Message) -> bytes:
    """A message as one JSON line, without the line end; the inverse of :func:`read`.

    Raises :class:`MessageError` for what no line can say: a payload with neither a protocol nor
    an envelope, or an attribute with the name of one of the line's own members.
    """
    found = module(message.protocol)
    if found is not None:
        raw = found.encode(message)
        return msgspec.json.encode(
            {
                "protocol": found.protocol(raw),
                "metadata": found.to_json(raw),
                **_payload_member(found.payload(raw)),
            }
        )
    if message.protocol is None and not message.envelope:
        raise _wrong("not-a-message", "has neither a protocol nor an envelope")
    own: dict[str, Any] = {}
    if message.protocol is not None:
        own = {"protocol": message.protocol, "metadata": _generic(message.metadata)}
    if not message.envelope:
        return msgspec.json.encode(own | _payload_member(message.payload))
    taken = {"protocol"} if message.protocol is None else _KNOWN
    for name in sorted(taken & message.attributes.keys()):
        told = "has the name of a member that a line gives another meaning"
        raise _wrong("not-a-message", told, path=f"attributes.{name}")
    return msgspec.json.encode(own | json_format.members(message, one_line=True))


def _parse(line: bytes) -> dict[str, Any]:
    try:
        document = parse(line)
    except MessageError:
        # Only now, because good lines are the many: say more exactly what is wrong.
        if not line.strip():
            raise _wrong("empty", "is an empty line") from None
        try:
            line.decode()
        except UnicodeDecodeError:
            raise _wrong("encoding", "is not UTF-8") from None
        raise
    if not isinstance(document, dict):
        raise _wrong("not-a-message", "is not a JSON object")
    return document


def _event(document: Mapping[str, Any], line: bytes, **more: Any) -> Message:
    attributes, payload, kind = json_format.read_object(document, line)
    return Message(
        envelope=cloudevents.ENVELOPE,
        mode="structured",
        attributes=attributes,
        payload=payload,
        content_type=kind,
        **more,
    )


def _bound(document: Mapping[str, Any], line: bytes, protocol: str) -> Message:
    """An event on a protocol: in binary mode where the metadata names another content type."""
    if any(name in document for name in _PAYLOADS):
        raise _wrong("not-a-message", "is an event: its payload is data or data_base64")
    rest = {n: value for n, value in document.items() if n not in ("protocol", "metadata")}
    metadata, found = _metadata(document), module(protocol)
    if found is None:
        values = {name: from_json_value(value, name) for name, value in metadata.items()}
        return _event(rest, line, protocol=protocol, metadata=values)
    raw = found.from_json(metadata, None, protocol)
    kind = found.content_type(raw)
    mode: Mode = "structured" if kind is None or binding.is_structured(kind) else "binary"
    attributes, payload, inner = json_format.read_object(rest, line)
    return normalize(
        Message(
            protocol=found.protocol(raw),
            metadata=found.metadata(raw),
            envelope=cloudevents.ENVELOPE,
            mode=mode,
            attributes=attributes,
            payload=payload,
            content_type=kind if mode == "binary" else inner,
        )
    )


def _native(document: Mapping[str, Any], line: bytes, protocol: str) -> Message:
    strange = sorted(document.keys() - _KNOWN)
    if strange:
        expected, seen = ", ".join(sorted(_KNOWN)), ", ".join(strange)[:200]
        told = "has members that no message has"
        raise _wrong("not-a-message", told, expected=expected, found=seen)
    metadata, payload = _metadata(document), _payload(document, line)
    found = module(protocol)
    if found is not None:
        return found.decode(found.from_json(metadata, payload, protocol))
    values = {name: from_json_value(value, name) for name, value in metadata.items()}
    return Message(protocol=protocol, metadata=values, payload=payload)


def _protocol(document: Mapping[str, Any]) -> str | None:
    given = document.get("protocol")
    if given is None:
        return None
    if not isinstance(given, str):
        raise _wrong("protocol", "is not the name of a protocol", path="protocol")
    name = present(given)
    return None if name is None else canonical_name(name)


def _metadata(document: Mapping[str, Any]) -> dict[str, Any]:
    metadata = document.get("metadata")
    if metadata is None:
        return {}
    if not isinstance(metadata, dict):
        raise _wrong("metadata", "is not a JSON object", path="metadata")
    return metadata


def _payload(document: Mapping[str, Any], line: bytes) -> bytes | None:
    given = [name for name in _PAYLOADS if name in document]
    if not given:
        return None
    if len(given) > 1:
        raise _wrong("payload", "has more than one payload", found=", ".join(given))
    if given[0] == "payload":
        return bytes(_exact(line).payload)
    text = document[given[0]]
    if given[0] == "payload_base64":
        data = decode_base64(text)
        if data is None:
            raise _wrong("base64", "payload_base64 is not base64")
        return data
    if not isinstance(text, str):
        raise _wrong("payload", "payload_text is not a text")
    return text.encode()


def _generic(metadata: Mapping[str, Any]) -> dict[str, Any]:
    return {name: to_json_value(value) for name, value in metadata.items()}


def _payload_member(payload: bytes | None) -> dict[str, Any]:
    if payload is None:
        return {}
    if json_format.is_json(payload, one_line=True):
        return {"payload": msgspec.Raw(payload)}
    try:
        return {"payload_text": payload.decode()}
    except UnicodeDecodeError:
        return {"payload_base64": b64encode(payload).decode()}


def _wrong(
    rule: str,
    message: str,
    *,
    path: str = "/",
    expected: str | None = None,
    found: str | None = None,
) -> MessageError:
    problem = Problem(path=path, rule=rule, message=message, expected=expected, found=found)
    return MessageError((problem,))
