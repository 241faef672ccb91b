"""Two versions of a message to compare: an event and a Kafka record, with parts changed."""

from __future__ import annotations

import json
from typing import Any

from heraldry.dialects.load import load_bytes
from heraldry.messages.difference import difference
from heraldry.model.catalog import Catalog
from heraldry.schemas.changes import Change
from tests.messages.airport import document

EVENT: dict[str, Any] = {
    "envelope": "CloudEvents/1.0",
    "envelopemetadata": {
        "type": {"value": "airport.loaded"},
        "source": {"value": "/airports/{airport}", "type": "uritemplate"},
    },
}
RECORD: dict[str, Any] = {
    "protocol": "KAFKA",
    "protocoloptions": {"topic": "luggage", "key": "{tag}"},
}


def catalog(whole: dict[str, Any]) -> Catalog:
    return load_bytes(json.dumps(whole).encode(), "luggage.json")


def messages(**declared: Any) -> Catalog:
    return catalog(document(**declared))


def attributes(**changed: Any) -> dict[str, Any]:
    """The event with some attributes changed; None takes one away."""
    found = {**EVENT["envelopemetadata"], **changed}
    return {**EVENT, "envelopemetadata": {n: one for n, one in found.items() if one is not None}}


def options(**changed: Any) -> dict[str, Any]:
    found = {**RECORD["protocoloptions"], **changed}
    return {**RECORD, "protocoloptions": {n: one for n, one in found.items() if one is not None}}


def own(old: dict[str, Any], new: dict[str, Any]) -> tuple[Change, ...]:
    found = difference(messages(loaded=old), messages(loaded=new))
    return tuple(change for one in found for change in one.own)
