"""The identity of a message: what is the same when a source delivers it again.

A CloudEvent is known by its source and id. Any other message is known by the id that its sender
gave it for the broker (AMQP ``message-id``, ``Nats-Msg-Id``), within the place it was sent to.
"""

from __future__ import annotations

from heraldry.errors import MessageError
from heraldry.messages import line as lines
from heraldry.messages.json_form import first
from heraldry.messages.message import Message, pairs
from heraldry.messages.protocols import amqp, nats
from heraldry.messages.values import canonical_text
from heraldry.model.formats import protocol_family

_NATS_ID = "Nats-Msg-Id"


def identity(message: Message) -> str | None:
    """The identity as one text that no other message has; None where there is none."""
    source, event = _text(message, "source"), _text(message, "id")
    if source and event:
        return joined(source, event)
    family = protocol_family(message.protocol)[0] if message.protocol else ""
    if family == amqp.NAME:
        properties = pairs(message.metadata.get("properties"))
        given, place = first(properties, "message-id"), first(properties, "to")
    elif family == nats.NAME:
        given = first(pairs(message.metadata.get("headers")), _NATS_ID)
        place = message.metadata.get("subject")
    else:
        return None
    if given is None or given == "":
        return None
    # The number 5 and the text "5" are two ids.
    told = f"{type(given).__name__}:{canonical_text(given)}"
    return f"{family} {joined(canonical_text(place or ''), told)}"


def identity_of_line(line: bytes) -> str | None:
    """The identity of a message that is one JSON line; None also where it is no message."""
    try:
        return identity(lines.read(line))
    except MessageError:
        return None


def joined(source: str, event: str) -> str:
    """Source and id as one text; the length keeps them apart, whatever characters they have."""
    return f"{len(source)} {source} {event}"


def _text(message: Message, name: str) -> str | None:
    """An attribute as a table's column holds it, whatever type its definition allows."""
    value = message.attributes.get(name)
    return None if value is None else canonical_text(value)
