"""An event in the payload of a message that has no place to say so (MQTT 3.1.1, plain NATS)."""

from __future__ import annotations

from heraldry.errors import MessageError
from heraldry.messages.envelopes import cloudevents, json_format
from heraldry.schemas.parse import parse


def find(payload: bytes | None) -> cloudevents.Event | None:
    """The event a payload is, where it says so itself in full."""
    if payload is None or b"specversion" not in payload:
        return None
    try:
        found = parse(payload)
    except MessageError:
        return None
    if not isinstance(found, dict) or found.get("specversion") != "1.0":
        return None
    whole = all(isinstance(found.get(name), str) for name in cloudevents.REQUIRED)
    return json_format.read_object(found, payload) if whole else None
