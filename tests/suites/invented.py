"""Message groups that nobody wrote: definitions drawn by chance, of every protocol."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from tests.suites.streams import (
    DAY,
    DRAFT_07,
    DRAFT_2020,
    EVENTS,
    INSTANT,
    NUMBER,
    TEXT,
    TRUTH,
    WHOLE,
    listed,
    record,
)

_PLAIN = (TEXT, NUMBER, WHOLE, TRUTH, INSTANT, DAY, {"enum": ["a", "b"]})
_NAMES = ("id", "total", "At", "at", "a b", "_batch", "ce_id", "ü", "value")
_PLACEHOLDERS = ("shop", "order", "Shop")

Binding = Callable[[str], dict[str, Any]]
_BINDINGS: dict[str, Binding] = {
    "MQTT/3.1.1": lambda place: {"topic_name": place},
    "MQTT/5.0": lambda place: {"topic_name": place, "qos": 1},
    "AMQP/1.0": lambda place: {"properties": [{"name": "to", "value": place}]},
    "NATS": lambda place: {"subject": place.replace("/", ".")},
    "KAFKA": lambda place: {"topic": "invented", "key": place},
    "HTTP": lambda place: {"method": "POST", "path": f"/{place}"},
}


def group(chance: Random, name: str = "invented") -> dict[str, Any]:
    """A message group with a few definitions."""
    messages = {
        f"m{number}": {"messageid": f"m{number}", **_definition(chance, f"{name}{number}")}
        for number in range(chance.randint(1, 4))
    }
    return {"messagegroupid": name, "messages": messages}


def _definition(chance: Random, name: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    protocol = chance.choice((*_BINDINGS, "", ""))
    place = "/".join((name, *(f"{{{one}}}" for one in _some(chance, _PLACEHOLDERS))))
    if protocol:
        found |= {"protocol": protocol, "protocoloptions": _BINDINGS[protocol](place)}
    if not protocol or chance.random() < 0.3:
        about: dict[str, Any] = {"type": {"value": name}, "source": {"value": f"/{place}"}}
        if chance.random() < 0.5:
            about["time"] = {"required": True}
        found |= {"envelope": EVENTS, "envelopemetadata": about}
    if chance.random() < 0.8:
        draft = chance.choice((DRAFT_07, DRAFT_2020))
        found |= {"dataschemaformat": draft, "dataschema": _record(chance, 2)}
    return found


def _record(chance: Random, depth: int) -> dict[str, Any]:
    members = {name: _value(chance, depth) for name in _some(chance, _NAMES)}
    return record(*_some(chance, tuple(members)), **members)


def _value(chance: Random, depth: int) -> dict[str, Any]:
    kind = chance.random()
    if depth and kind < 0.2:
        return _record(chance, depth - 1)
    if depth and kind < 0.4:
        return listed(_value(chance, depth - 1))
    return chance.choice(_PLAIN)


def _some(chance: Random, of: tuple[str, ...]) -> list[str]:
    return chance.sample(of, chance.randint(0, len(of)))
