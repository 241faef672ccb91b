"""CloudEvents 1.0: attributes, what every event must have, and the JSON event format."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping
from typing import Any

import msgspec

from heraldry.errors import MessageError
from heraldry.messages.message import Message
from heraldry.messages.values import canonical_text, check_value, decode_base64, is_json_media_type
from heraldry.model.definition import NOW, Definition, PropertyDefinition
from heraldry.model.formats import family
from heraldry.model.problem import Problem
from heraldry.schemas.parse import parse

ENVELOPE = "CloudEvents/1.0"
MEDIA_TYPE = "application/cloudevents+json"
ATTRIBUTES: Mapping[str, str] = {
    "id": "string",
    "source": "urireference",
    "type": "string",
    "specversion": "string",
    "subject": "string",
    "time": "timestamp",
    "datacontenttype": "string",
    "dataschema": "uri",
}
"""The attributes of the specification with their types."""
REQUIRED: tuple[str, ...] = ("specversion", "id", "source", "type")
"""Attributes that every event has, declared or not (M69)."""

_NAME = re.compile(r"[a-z0-9]+")
_JSON_TEXT = "application/json"


class _Data(msgspec.Struct):
    data: msgspec.Raw = msgspec.Raw()


_exact = msgspec.json.Decoder(_Data).decode


def properties(definition: Definition) -> dict[str, PropertyDefinition]:
    """The declared attributes with types defaulted (M48), plus the implied ones (M43..M46, M69)."""
    found = {
        name: PropertyDefinition(name=name, type=kind, required=name in REQUIRED)
        for name, kind in ATTRIBUTES.items()
    }
    found["specversion"] = _with(found["specversion"], "1.0")
    found["time"] = _with(found["time"], NOW)
    if definition.dataschemauri:
        found["dataschema"] = _with(found["dataschema"], definition.dataschemauri)
    if family(definition.dataschemaformat or "")[0] == "jsonschema":
        found["datacontenttype"] = _with(found["datacontenttype"], _JSON_TEXT)
    for name, declared in definition.envelopemetadata.items():
        given = PropertyDefinition.of(name, declared)
        implied = found.get(name, PropertyDefinition(name=name, type="string"))
        found[name] = PropertyDefinition(
            name=name,
            type=given.type or implied.type,
            value=given.value if given.has_value else implied.value,
            has_value=given.has_value or implied.has_value,
            required=given.required or implied.required,
            description=given.description,
            specurl=given.specurl,
        )
    return found


def check(attributes: Mapping[str, Any]) -> tuple[Problem, ...]:
    """What makes attributes no CloudEvent (M42, M43, M69); rules required, name, type, constant."""
    problems = [
        Problem(path=f"attributes.{name}", rule="required", message="is missing")
        for name in REQUIRED
        if attributes.get(name) in (None, "")
    ]
    for name, value in attributes.items():
        path = f"attributes.{name}"
        if _NAME.fullmatch(name) is None:
            told = "is not a name of lower-case letters and digits"
            problems.append(Problem(path=path, rule="name", message=told))
        if name == "specversion" and value not in (None, "", "1.0"):
            told, seen = "must be '1.0'", canonical_text(value)
            problem = Problem(path=path, rule="constant", message=told, expected="1.0", found=seen)
            problems.append(problem)
        elif reason := _mistyped(name, value):
            expected = ATTRIBUTES.get(name)
            problems.append(Problem(path=path, rule="type", message=reason, expected=expected))
    return tuple(problems)


def read_structured(document: bytes) -> tuple[dict[str, Any], bytes | None, str | None]:
    """The attributes, payload and content type of an event in JSON format; MessageError."""
    found = parse(document)
    if not isinstance(found, dict):
        raise _wrong("not-a-message", "is not a JSON object")
    return read_document(found, document)


def read_document(
    found: Mapping[str, Any], document: bytes
) -> tuple[dict[str, Any], bytes | None, str | None]:
    """As :func:`read_structured`, of an object already parsed; ``data`` keeps its exact text.

    A null attribute is an absent one. Without ``datacontenttype`` the payload is JSON, as the
    JSON event format has it.
    """
    attributes = {name: value for name, value in found.items() if value is not None}
    attributes.pop("data", None)
    attributes.pop("data_base64", None)
    kind = attributes.get("datacontenttype", _JSON_TEXT)
    kind = kind if isinstance(kind, str) else None
    encoded = found.get("data_base64")
    if encoded is not None:
        if "data" in found:
            raise _wrong("not-a-message", "has both data and data_base64")
        payload = decode_base64(encoded)
        if payload is None:
            raise _wrong("base64", "data_base64 is not base64")
        return attributes, payload, kind
    if "data" not in found:
        return attributes, None, kind if "datacontenttype" in attributes else None
    data = found["data"]
    if isinstance(data, str) and kind is not None and not is_json_media_type(kind):
        return attributes, data.encode(), kind
    return attributes, bytes(_exact(document).data), kind


def write_structured(message: Message, *, one_line: bool = False) -> bytes:
    """The event in JSON format; with ``one_line`` without any line end."""
    return msgspec.json.encode(document(message, one_line=one_line))


def document(message: Message, *, one_line: bool = False) -> dict[str, Any]:
    """The members of the event in JSON format, ready to be encoded.

    The payload is ``data`` where reading it gives the same bytes again, else ``data_base64``.
    """
    event: dict[str, Any] = {n: v for n, v in message.attributes.items() if v is not None}
    kind = event.get("datacontenttype", message.content_type)
    if kind is not None and "datacontenttype" not in event and kind != _JSON_TEXT:
        event["datacontenttype"] = kind
    payload = message.payload
    if payload is None:
        return event
    if kind is None or not isinstance(kind, str) or is_json_media_type(kind):
        if is_json(payload, one_line=one_line):
            return event | {"data": msgspec.Raw(payload)}
    else:
        try:
            return event | {"data": payload.decode()}
        except UnicodeDecodeError:
            pass
    return event | {"data_base64": b64encode(payload).decode()}


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


def _mistyped(name: str, value: Any) -> str | None:
    """Why a value is not one of its attribute; extensions are texts, integers or truth values."""
    if value is None or value == "":
        return None
    kind = ATTRIBUTES.get(name)
    if kind is None:
        kind = {bool: "boolean", int: "integer"}.get(type(value), "string")
        if isinstance(value, bytes):
            return None
    return check_value(kind, value, cloudevents=True)


def _with(pd: PropertyDefinition, value: str) -> PropertyDefinition:
    return PropertyDefinition(
        name=pd.name, type=pd.type, value=value, has_value=True, required=pd.required
    )


def _wrong(rule: str, message: str) -> MessageError:
    return MessageError((Problem(path="/", rule=rule, message=message),))
