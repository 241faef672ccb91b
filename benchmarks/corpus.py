"""The benchmark's own catalog and stream: deterministic, realistic in size, 5 % flawed."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any, Literal, get_args

FLAWED = 0.05
Form = Literal["events", "mqtt", "kafka"]
"""How messages come: plain events, messages of MQTT that are none, binary events on Kafka."""
FORMS: tuple[Form, ...] = get_args(Form)


def event_type(number: int) -> str:
    """The type of the events of one definition."""
    return f"com.example.shop.event{number:05d}"


def payload_schema(number: int) -> dict[str, Any]:
    """A schema with bounds, enumerations, a nested object, a list and a date-time."""
    item = {
        "type": "object",
        "required": ["sku", "qty", "price"],
        "properties": {
            "sku": {"type": "string", "minLength": 1, "maxLength": 24},
            "qty": {"type": "integer", "minimum": 1, "maximum": 1000},
            "price": {"type": "number", "minimum": 0},
        },
    }
    address = {
        "type": "object",
        "required": ["street", "city"],
        "properties": {
            "street": {"type": "string"},
            "city": {"type": "string"},
            "zip": {"type": "string", "maxLength": 10},
        },
    }
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": f"Event {number}",
        "type": "object",
        "required": ["orderid", "status", "qty", "price", "ts"],
        "properties": {
            "orderid": {"type": "string", "minLength": 1},
            "customer": {"type": ["string", "null"]},
            "status": {"enum": ["new", "paid", "shipped", "returned"]},
            "qty": {"type": "integer", "minimum": 0, "maximum": 1000},
            "price": {"type": "number", "minimum": 0},
            "ts": {"type": "string", "format": "date-time"},
            "express": {"type": "boolean"},
            "address": address,
            "items": {"type": "array", "items": item},
        },
    }


TOPIC = "shop.events"
"""The Kafka topic of all events."""


def topic(number: int, store: Any, desk: Any, order: str) -> str:
    """The MQTT topic of a message of one definition."""
    return f"stores/{store}/desks/{desk}/event{number:05d}/{order}"


def catalog(definitions: int, form: Form = "events") -> dict[str, Any]:
    """A catalog document with so many definitions, each with a schema of its own.

    On MQTT each is bound to topics that have the values of all its placeholders, on Kafka all are
    bound to one topic, and the key has the value of a placeholder.
    """
    messages = {
        event_type(n): {
            **_bound(n, form),
            "envelope": "CloudEvents/1.0",
            "envelopemetadata": {
                "type": {"value": event_type(n)},
                "source": {"type": "uritemplate", "value": "/stores/{storeid}/desks/{deskid}"},
                "subject": {"type": "uritemplate", "value": "{storeid}-{orderid}"},
                "time": {"required": True},
            },
            "dataschemaformat": "JSONSchema/draft-07",
            "dataschemaxid": f"/schemagroups/shop/schemas/s{n}",
        }
        for n in range(definitions)
    }
    schemas = {
        f"s{n}": {"versions": {"1": {"format": "JSONSchema/draft-07", "schema": payload_schema(n)}}}
        for n in range(definitions)
    }
    return {
        "specversion": "1.0-rc2",
        "messagegroups": {"shop": {"envelope": "CloudEvents/1.0", "messages": messages}},
        "schemagroups": {"shop": {"schemas": schemas}},
    }


def _bound(number: int, form: Form) -> dict[str, Any]:
    if form == "events":
        return {}
    if form == "kafka":
        return {"protocol": "KAFKA", "protocoloptions": {"topic": TOPIC, "key": "{storeid}"}}
    place = topic(number, "{storeid}", "{deskid}", "{orderid}")
    return {"protocol": "MQTT/5.0", "protocoloptions": {"topic_name": place, "qos": 1}}


def event(rng: random.Random, definitions: int, number: int) -> dict[str, Any]:
    """One event of about 500 bytes."""
    store, order = rng.randrange(500), f"o{number:08d}"
    items = [
        {"sku": f"sku-{rng.randrange(9999):04d}", "qty": rng.randrange(1, 9), "price": 9.5}
        for _ in range(rng.randrange(1, 3))
    ]
    when = f"2026-11-{rng.randrange(1, 29):02d}T{rng.randrange(24):02d}:15:{rng.randrange(60):02d}"
    data = {
        "orderid": order,
        "customer": f"customer-{rng.randrange(100000)}",
        "status": rng.choice(("new", "paid", "shipped", "returned")),
        "qty": rng.randrange(1000),
        "price": rng.randrange(100000) / 100,
        "ts": f"{when}Z",
        "express": rng.random() < 0.5,
        "address": {"street": "Main Street 1", "city": "Springfield", "zip": "12345"},
        "items": items,
    }
    return {
        "specversion": "1.0",
        "id": f"id-{number:09d}",
        "source": f"/stores/{store}/desks/{rng.randrange(20)}",
        "type": event_type(rng.randrange(definitions)),
        "subject": f"{store}-{order}",
        "time": f"{when}.{rng.randrange(1000):03d}Z",
        "datacontenttype": "application/json",
        "data": data,
    }


def spoil(rng: random.Random, found: dict[str, Any]) -> str:
    """One of the flaws that streams have: 2 % unknown, 1 % misfit, 2 % bad payload in all."""
    kind = rng.randrange(5)
    if kind < 2:
        found["type"] = f"com.example.shop.unknown{rng.randrange(20)}"
    elif kind == 2:
        found["subject"] = "no-store-" + found["subject"]
    elif kind == 3:
        found["data"]["qty"] = rng.choice((-1, "five", 1001))
    else:
        del found["data"]["status"]
    return json.dumps(found, separators=(",", ":"))


def native(found: dict[str, Any]) -> dict[str, Any]:
    """An event as a message of MQTT that is none: what its attributes say is in the topic."""
    _, _, store, _, desk = found["source"].split("/")
    kind = found["type"].removeprefix("com.example.shop.")
    place = f"stores/{store}/desks/{desk}/{kind}/{found['data']['orderid']}"
    if not found["subject"].startswith(f"{store}-"):
        place = f"no-store/{place}"
    metadata = {
        "topic_name": place,
        "qos": 1,
        "retain": False,
        "content_type": found["datacontenttype"],
    }
    return {"protocol": "MQTT/5.0", "metadata": metadata, "payload": found["data"]}


def binary(found: dict[str, Any]) -> dict[str, Any]:
    """An event in binary mode on Kafka, as the line that the source makes of its record."""
    data, kind = found["data"], found["datacontenttype"]
    attributes = [name for name in found if name not in ("data", "datacontenttype")]
    headers = {f"ce_{name}": found[name] for name in attributes}
    metadata = {
        "topic": TOPIC,
        "partition": 3,
        "key": found["source"].split("/")[2],
        "headers": {"content-type": kind, **headers},
    }
    return {"protocol": "KAFKA", "metadata": metadata, "payload": data}


def formed(found: dict[str, Any], form: Form) -> dict[str, Any]:
    """An event in the form in which it comes."""
    if form == "events":
        return found
    return native(found) if form == "mqtt" else binary(found)


def write_stream(
    folder: Path, count: int, definitions: int, files: int = 8, form: Form = "events"
) -> int:
    """Write the stream once, in one form; the number of flawed messages."""
    marker = folder / "_done"
    if marker.exists():
        return int(marker.read_text())
    folder.mkdir(parents=True, exist_ok=True)
    rng = random.Random(7)
    flawed = 0
    for part in range(files):
        with (folder / f"part-{part:02d}.jsonl").open("w") as handle:
            for number in range(part, count, files):
                found = event(rng, definitions, number)
                if rng.random() < FLAWED:
                    flawed += 1
                    spoil(rng, found)
                handle.write(json.dumps(formed(found, form), separators=(",", ":")) + "\n")
    marker.write_text(str(flawed))
    return flawed
