"""CloudEvents 1.0: attributes, what every event must have, and what refuses it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from heraldry.errors import MessageError
from heraldry.messages.message import Message
from heraldry.messages.values import canonical_text, check_value, parse_media_type
from heraldry.model.definition import NOW, Definition, PropertyDefinition
from heraldry.model.formats import family
from heraldry.model.problem import Problem

ENVELOPE = "CloudEvents/1.0"
Event = tuple[dict[str, Any], bytes | None, str | None]
"""What an event format reads: the attributes, the payload and its content type."""
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
_DISALLOWED = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_JSON_TEXT = "application/json"
_INT32 = range(-(2**31), 2**31)


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
        if _NAME.fullmatch(name) is None or name == "data":
            told = "is not a name of lower-case letters and digits, other than data"
            problems.append(Problem(path=path, rule="name", message=told))
        if name == "specversion" and value not in (None, "", "1.0"):
            told, seen = "must be '1.0'", canonical_text(value)
            problem = Problem(path=path, rule="constant", message=told, expected="1.0", found=seen)
            problems.append(problem)
        elif reason := _mistyped(name, value):
            expected = ATTRIBUTES.get(name)
            problems.append(Problem(path=path, rule="type", message=reason, expected=expected))
    return tuple(problems)


def stated(message: Message) -> dict[str, bool | int | str | bytes]:
    """The attributes as a format with types writes them, with the content type of the payload.

    Raises :class:`MessageError` for values that no attribute can have.
    """
    found = {name: value for name, value in message.attributes.items() if value is not None}
    if message.content_type is not None:
        found.setdefault("datacontenttype", message.content_type)
    told = "is not a truth value, a 32 bit integer, a text or bytes"
    problems = tuple(
        Problem(path=f"attributes.{name}", rule="type", message=told)
        for name, value in found.items()
        if not _is_scalar(value)
    )
    if problems:
        raise MessageError(problems)
    return found


def refused(
    rule: str,
    message: str,
    *,
    path: str = "/",
    expected: str | None = None,
    found: str | None = None,
) -> MessageError:
    """The error that an event, or what is at ``path`` in it, is refused."""
    problem = Problem(path=path, rule=rule, message=message, expected=expected, found=found)
    return MessageError((problem,))


def refused_batch(most: int) -> MessageError:
    """The error that a batch is too large."""
    return refused("too-large", f"has more than {most} events", expected=f"{most} events")


def refused_name(name: str) -> None:
    """Refuse the name of an attribute that would be taken for the payload, or is none at all."""
    if name in ("", "data", "data_base64"):
        told = "is not the name of an attribute"
        raise refused("name", told, path=f"attributes.{name}", found=name)


def _mistyped(name: str, value: Any) -> str | None:
    """Why a value is not one of its attribute; extensions are texts, integers or truth values."""
    kind = ATTRIBUTES.get(name)
    if value is None or value == "":
        told = value == "" and kind is not None and name not in REQUIRED
        return "must not be empty" if told else None
    if isinstance(value, str) and _DISALLOWED.search(value):
        return "has a control character"
    if name == "datacontenttype" and parse_media_type(canonical_text(value)) is None:
        return "is not a media type"
    if kind is None:
        kind = {bool: "boolean", int: "integer"}.get(type(value), "string")
        if isinstance(value, bytes):
            return None
    return check_value(kind, value, cloudevents=True)


def _is_scalar(value: Any) -> bool:
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            return False
        return True
    return isinstance(value, bool | bytes) or (isinstance(value, int) and value in _INT32)


def _with(pd: PropertyDefinition, value: str) -> PropertyDefinition:
    return PropertyDefinition(
        name=pd.name, type=pd.type, value=value, has_value=True, required=pd.required
    )
