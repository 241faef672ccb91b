"""A small catalog for the tests of the run time: luggage over events, Kafka, MQTT and HTTP."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from heraldry.dialects.load import load_bytes
from heraldry.messages.catalog import MessageCatalog
from heraldry.messages.message import Message

SCHEMA = {
    "type": "object",
    "properties": {
        "tag": {"type": "string"},
        "weight": {"type": "number", "minimum": 0},
        "pieces": {"type": "integer"},
    },
    "required": ["weight"],
}
CHECKED_IN = {
    "envelope": "CloudEvents/1.0",
    "envelopemetadata": {
        "type": {"value": "airport.luggage.checkedin"},
        "source": {"value": "/airports/{airport}/luggage", "type": "uritemplate"},
        "subject": {"value": "BAG-{tag}", "type": "string", "required": True},
    },
    "dataschemaformat": "JSONSchema/draft-07",
    "dataschema": SCHEMA,
}
LOADED = {
    "envelope": "CloudEvents/1.0",
    "envelopemetadata": {
        "type": {"value": "airport.luggage.loaded"},
        "source": {"value": "/airports/{airport}/luggage", "type": "uritemplate"},
        "subject": {"value": "BAG-{tag}"},
        "time": {"required": True},
        "priority": {"type": "integer"},
    },
}
READING = {
    "protocol": "MQTT/5.0",
    "protocoloptions": {
        "topic_name": "belts/{belt}/sensors/{sensor}",
        "qos": 1,
        "user_properties": [{"name": "unit", "value": "{unit}"}],
    },
    "dataschemaformat": "JSONSchema/draft-07",
    "dataschema": {"type": "object", "required": ["value"]},
}
SCANNED = {
    "envelope": "CloudEvents/1.0",
    "protocol": "KAFKA",
    "envelopemetadata": {
        "type": {"value": "airport.luggage.scanned"},
        "source": {"value": "/airports/{airport}/gates/{gate}"},
    },
    "protocoloptions": {
        "topic": "luggage",
        "key": "{tag}",
        "headers": {"gate": {"name": "gate", "value": "{gate}"}},
    },
}
ORDERED = {
    "protocol": "HTTP/1.1",
    "protocoloptions": {
        "method": "POST",
        "path": "/airports/{airport}/orders",
        "headers": [
            {"name": "X-Kind", "value": "order"},
            {"name": "Content-Type", "value": "application/json"},
        ],
    },
}

MOMENT = datetime(2026, 11, 16, 8, 30, tzinfo=UTC)


def document(**messages: Any) -> dict[str, Any]:
    """A catalog document with one group of messages."""
    group = {"messagegroupid": "luggage", "messages": messages}
    return {"messagegroups": {"luggage": group}}


def catalog_of(**messages: Any) -> MessageCatalog:
    """A catalog with one group, from the definitions of its messages."""
    return MessageCatalog(load_bytes(json.dumps(document(**messages)).encode(), "luggage.json"))


def airport() -> MessageCatalog:
    """The whole airport."""
    return catalog_of(
        checkedin=CHECKED_IN, loaded=LOADED, reading=READING, scanned=SCANNED, ordered=ORDERED
    )


def xid(message: str) -> str:
    """The xid of a message in these catalogs."""
    return f"/messagegroups/luggage/messages/{message}"


def event(data: Any = None, **attributes: Any) -> dict[str, Any]:
    """A CloudEvent as the object of its JSON format; None takes an attribute away."""
    whole = {
        "specversion": "1.0",
        "id": "1",
        "type": "airport.luggage.checkedin",
        "source": "/airports/MUC/luggage",
        "subject": "BAG-0220731",
        **attributes,
    }
    whole |= {} if data is None else {"data": data}
    return {name: value for name, value in whole.items() if value is not None}


def line(document: Mapping[str, Any]) -> bytes:
    """An object as a JSON line."""
    return json.dumps(document).encode()


def reading(**changes: Any) -> Message:
    """An MQTT message as its codec gives it."""
    metadata = {
        "topic_name": "belts/7/sensors/t1",
        "qos": 1,
        "retain": False,
        "user_properties": (("unit", "K"),),
        **changes,
    }
    return Message(
        protocol="MQTT/5.0",
        metadata={name: value for name, value in metadata.items() if value is not None},
        payload=b'{"value": 3}',
    )
