"""AMQP 1.0: messages in six sections and a body, and CloudEvents on them.

Values keep their AMQP types; :mod:`heraldry.messages.amqp_types` says which Python types they
are, and how JSON says them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from heraldry.errors import MessageError
from heraldry.messages import amqp_types, content_encoding
from heraldry.messages.constraint import shown
from heraldry.messages.envelopes import binding, cloudevents
from heraldry.messages.fields import Field, names
from heraldry.messages.json_form import first, given, only, take_pairs, with_value, wrong
from heraldry.messages.message import Message, Pairs
from heraldry.messages.values import canonical_text, read_timestamp
from heraldry.model.problem import Problem
from heraldry.model.rules_amqp import HEADER, PROPERTIES

NAME = "AMQP"
VERSION = "1.0"
FIELDS: tuple[Field, ...] = (
    Field("header", "string", collection=True, typed=True, members=HEADER),
    Field("delivery-annotations", "string", collection=True, typed=True),
    Field("message-annotations", "string", collection=True, typed=True),
    Field(
        "properties",
        "string",
        collection=True,
        typed=True,
        members={**PROPERTIES, "message-id": "any"},
    ),
    Field("application-properties", "string", collection=True, typed=True),
    Field("footer", "string", collection=True, typed=True),
)
_KNOWN = names(FIELDS)
_TYPE = "content-type"
_ENCODING = "content-encoding"
_ENCODING_PATH = f"metadata.properties.{_ENCODING}"
_PREFIXES = ("cloudEvents_", "cloudEvents:")
_TIMES = ("absolute-expiry-time", "creation-time")
_SIMPLE = "application-properties"


@dataclass(frozen=True, slots=True, kw_only=True)
class AmqpMessage:
    """A message by its sections; ``body`` is the bytes of its data, None where it has none.

    ``header`` and ``properties`` have the names of the specification's tables (``message-id``),
    are kept in its order, and drop nulls, which mean that nothing is said.
    """

    header: Pairs = ()
    delivery_annotations: Pairs = ()
    message_annotations: Pairs = ()
    properties: Pairs = ()
    application_properties: Pairs = ()
    footer: Pairs = ()
    body: bytes | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "header", _ordered(self.header, HEADER))
        object.__setattr__(self, "properties", _ordered(self.properties, PROPERTIES))


def protocol(raw: AmqpMessage) -> str:
    """The protocol of a message, with its version."""
    del raw
    return f"{NAME}/{VERSION}"


def payload(raw: AmqpMessage) -> bytes | None:
    """What travels as the body, still encoded as the properties say."""
    return raw.body


def metadata(raw: AmqpMessage) -> dict[str, Any]:
    """The sections of a message under the names of ``protocoloptions`` (M55)."""
    return given({one.name: getattr(raw, one.name.replace("-", "_")) for one in FIELDS})


def content_type(raw: AmqpMessage) -> str | None:
    """The content type of the body."""
    found = first(raw.properties, _TYPE)
    return found if isinstance(found, str) else None


def decode(raw: AmqpMessage, *, limit: int = content_encoding.LIMIT) -> Message:
    """A message; the mode of an event shows in the content type and in its properties."""
    _check(raw)
    name, sections, kind, body = protocol(raw), metadata(raw), content_type(raw), raw.body
    if body is not None:
        coding = first(raw.properties, _ENCODING)
        body = content_encoding.decode(body, coding, limit, _ENCODING_PATH)
    if binding.is_structured(kind):
        return binding.structured(name, sections, body, kind or "")
    attributes = binding.read_attributes(raw.application_properties, _NAMINGS[0])
    if any(one in attributes for one in cloudevents.REQUIRED):
        return binding.binary(name, sections, attributes, body, kind)
    return Message(protocol=name, metadata=sections, payload=body, content_type=kind)


def encode(message: Message) -> AmqpMessage:
    """The message in its sections, its body encoded as the properties say."""
    only(message.metadata, _KNOWN)
    sections: dict[str, Any] = {
        name.replace("-", "_"): tuple(pairs) for name, pairs in message.metadata.items()
    }
    properties = sections.get("properties", ())
    kind, body = binding.payload_type(message), message.payload
    if message.envelope and message.mode == "structured":
        kind, body = binding.write_structured(message, first(properties, _TYPE))
    elif message.envelope:
        pairs = sections.get("application_properties", ())
        attributes = binding.write_attributes(pairs, message.attributes, _naming(pairs))
        sections["application_properties"] = attributes
    if kind is not None:
        sections["properties"] = properties = with_value(properties, _TYPE, kind)
    raw = AmqpMessage(**sections)
    _check(raw)
    if body is None:
        return raw
    body = content_encoding.encode(body, first(properties, _ENCODING), _ENCODING_PATH)
    return AmqpMessage(**sections, body=body)


def from_json(metadata: Mapping[str, Any], payload: bytes | None, protocol: str) -> AmqpMessage:
    """A message from its JSON form; times may be plain texts where they have their place."""
    del protocol  # there is one version
    only(metadata, _KNOWN)
    sections = {
        one.name.replace("-", "_"): tuple(_times(one, take_pairs(metadata, one.name, _value)))
        for one in FIELDS
    }
    return AmqpMessage(**sections, body=payload)


def to_json(raw: AmqpMessage) -> dict[str, Any]:
    """The JSON form of a message, without its body."""
    return {
        name: {member: amqp_types.to_json(value) for member, value in pairs}
        for name, pairs in metadata(raw).items()
    }


def _ordered(pairs: Pairs, table: Mapping[str, str]) -> Pairs:
    places = {name: place for place, name in enumerate(table)}
    said = (pair for pair in pairs if pair[1] is not None)
    return tuple(sorted(said, key=lambda pair: places.get(pair[0], len(places))))


def _value(value: Any, name: str) -> Any:
    found = amqp_types.from_json(value, name)
    if name in ("header", "properties", _SIMPLE) and isinstance(found, list | dict):
        raise wrong(name, "has a value that is a list or a map")
    return found


def _times(section: Field, pairs: Pairs) -> Iterator[tuple[str, Any]]:
    for name, value in pairs:
        plain = section.members is not None and name in _TIMES and isinstance(value, str)
        yield name, (read_timestamp(value) or value) if plain else value


def _check(raw: AmqpMessage) -> None:
    """Refuse what AMQP cannot carry (M55..M59), all of it at once."""
    problems = tuple(problem for one in FIELDS for problem in _problems(one, raw))
    if problems:
        raise MessageError(problems)


def _problems(section: Field, raw: AmqpMessage) -> Iterator[Problem]:
    seen = set()
    for name, value in getattr(raw, section.name.replace("-", "_")):
        reason = "stands there twice" if name in seen else _fault(section, name, value)
        seen.add(name)
        if reason is not None:
            path = f"metadata.{section.name}.{name}"
            scalar = amqp_types.fault(value, nested=False) is None
            found = shown(value) if scalar else type(value).__name__
            yield Problem(path=path, rule="metadata", message=reason, found=found)


def _fault(section: Field, name: str, value: Any) -> str | None:
    if section.members is None:
        if section.name != _SIMPLE and not name.isascii():
            return "has a name that is not ASCII"
        return amqp_types.fault(value, nested=section.name != _SIMPLE)
    if name not in section.members:
        return f"is not in the section {section.name}"
    fits, told = _MEMBERS.get(name, _TEXT)
    return None if fits(value) else told


def _naming(pairs: Pairs) -> binding.Naming:
    """The prefix the message uses already, as the binding forbids to mix them."""
    return _NAMINGS[any(name.startswith(_PREFIXES[1]) for name, _ in pairs)]


def _attribute(name: str) -> str | None:
    return name[len(_PREFIXES[0]) :] if name.startswith(_PREFIXES) else None


_NAMINGS = tuple(
    binding.Naming(
        attribute=_attribute,
        name=prefix.__add__,
        read=lambda _, value: canonical_text(value),
        write=lambda text: text,
    )
    for prefix in _PREFIXES
)
_Test = tuple[Callable[[Any], bool], str]
_TEXT: _Test = (lambda value: isinstance(value, str), "is not a string")
_ASCII: _Test = (lambda value: isinstance(value, str) and value.isascii(), "is not ASCII text")
_BOOLEAN: _Test = (lambda value: isinstance(value, bool), "is not true or false")
_UINT: _Test = (amqp_types.is_uint, "is not an unsigned 32 bit integer")
_TIME: _Test = (amqp_types.is_timestamp, "is not a timestamp of whole milliseconds")
_ID: _Test = (amqp_types.is_id, "is not a ulong, uuid, binary or string")
_MEMBERS: Mapping[str, _Test] = {
    "durable": _BOOLEAN,
    "priority": (lambda value: amqp_types.is_uint(value) and value < 256, "is not in 0..255"),
    "ttl": _UINT,
    "first-acquirer": _BOOLEAN,
    "delivery-count": _UINT,
    "message-id": _ID,
    "user-id": (lambda value: isinstance(value, bytes), "is not binary"),
    "correlation-id": _ID,
    _TYPE: _ASCII,
    _ENCODING: _ASCII,
    "absolute-expiry-time": _TIME,
    "creation-time": _TIME,
    "group-sequence": _UINT,
}
