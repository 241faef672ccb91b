"""A message as people know it from its protocol: a request, a record, sections, properties."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import urlencode

Json = Mapping[str, Any]

_CONTROL = re.compile(r"[^\t\r\n -~\xa0-\U0010ffff]")


def show(line: bytes) -> str:
    """The text for a message that is given as its JSON line."""
    message = json.loads(line)
    if "protocol" not in message:
        return _pretty(message)
    family = message["protocol"].partition("/")[0].upper()
    draw = _FORMS.get(family, _other)
    return "\n".join(draw(message["protocol"], message.get("metadata", {}), _payload(message)))


def _payload(message: Json) -> str | None:
    if "payload" in message:
        return _pretty(message["payload"])
    if "payload_text" in message:
        text = str(message["payload_text"])
        # A terminal would take control characters for commands.
        return json.dumps(text, ensure_ascii=False) if _CONTROL.search(text) else text
    if "payload_base64" in message:
        return f"base64: {message['payload_base64']}"
    return None


def _http(protocol: str, metadata: Json, payload: str | None) -> Iterator[str]:
    version = protocol if "/" in protocol else "HTTP/1.1"
    query = f"?{urlencode(list(_members(metadata['query'])))}" if metadata.get("query") else ""
    if "status" in metadata:
        yield f"{version} {metadata['status']}"
    else:
        yield f"{metadata.get('method', 'POST')} {metadata.get('path', '/')}{query} {version}"
    yield from (f"{name}: {value}" for name, value in _members(metadata.get("headers")))
    yield from ("", payload) if payload is not None else ()


def _kafka(protocol: str, metadata: Json, payload: str | None) -> Iterator[str]:
    yield from _fields(protocol, metadata, payload, "value")


def _amqp(protocol: str, metadata: Json, payload: str | None) -> Iterator[str]:
    yield protocol
    for section, members in metadata.items():
        yield f"{section}:"
        yield from (f"  {name}: {value}" for name, value in _members(members))
    yield from ("body:", payload) if payload is not None else ()


def _other(protocol: str, metadata: Json, payload: str | None) -> Iterator[str]:
    yield from _fields(protocol, metadata, payload, "payload")


def _fields(protocol: str, metadata: Json, payload: str | None, label: str) -> Iterator[str]:
    """One line per property, collections indented, then the payload."""
    yield protocol
    for name, value in metadata.items():
        if isinstance(value, list | Mapping) and not _is_binary(value):
            yield f"{name}:"
            yield from (f"  {key}: {member}" for key, member in _members(value))
        else:
            yield f"{name}: {_scalar(value)}"
    yield from (f"{label}:", payload) if payload is not None else ()


def _is_binary(value: Any) -> bool:
    return isinstance(value, Mapping) and value.keys() == {"base64"}


def _members(collection: Any) -> Iterator[tuple[str, str]]:
    pairs = (
        collection.items()
        if isinstance(collection, Mapping)
        else ((member["name"], member.get("value")) for member in collection or ())
    )
    return ((name, _scalar(value)) for name, value in pairs)


def _scalar(value: Any) -> str:
    if isinstance(value, Mapping) and len(value) == 1 and value.keys() <= {"timestamp", "uuid"}:
        return str(*value.values())
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _pretty(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


_FORMS: dict[str, Callable[[str, Json, str | None], Iterator[str]]] = {
    "AMQP": _amqp,
    "HTTP": _http,
    "KAFKA": _kafka,
}
