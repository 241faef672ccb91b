"""A generated catalog with planted overlaps, and with pairs that only nearly overlap."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

Definition = dict[str, Any]
Pair = tuple[Definition, Definition]

SHIPPED = {"type": "object", "properties": {"tag": {"type": "string"}}, "required": ["tag"]}
STOWED = {"type": "object", "properties": {"hold": {"type": "integer"}}}
EMPTY = {"type": "null"}


def event(schema: Any = None, **attributes: Any) -> Definition:
    metadata = {
        name: value if isinstance(value, dict) else {"value": value}
        for name, value in attributes.items()
    }
    return {"envelope": "CloudEvents/1.0", "envelopemetadata": metadata, **payload(schema)}


def payload(schema: Any) -> Definition:
    if schema is None:
        return {}
    return {"dataschemaformat": "JSONSchema/draft-07", "dataschema": schema}


def bound(protocol: str, schema: Any = None, **options: Any) -> Definition:
    given = {name.replace("__", "-"): value for name, value in options.items()}
    return {"protocol": protocol, "protocoloptions": given, **payload(schema)}


def mqtt(topic: str, **options: Any) -> Definition:
    return bound("MQTT/5.0", topic_name=topic, **options)


def kafka(topic: str, **options: Any) -> Definition:
    return bound("KAFKA", topic=topic, **options)


def http(path: str, method: str = "POST", **options: Any) -> Definition:
    return bound("HTTP/1.1", path=path, method=method, **options)


def nats(subject: str, **options: Any) -> Definition:
    return bound("NATS", subject=subject, **options)


def amqp(subject: str, **properties: Any) -> Definition:
    values = {"subject": subject, **properties}
    section = {name.replace("_", "-"): {"value": text} for name, text in values.items()}
    return bound("AMQP/1.0", properties=section)


def typed_sections(subject: str) -> Definition:
    open_ = ("string", "boolean", "integer", "number", "timestamp", "duration", "uri", "binary")
    return bound(
        "AMQP/1.0",
        header={"durable": {"value": True}, "ttl": {"required": True}},
        properties={
            "subject": {"value": subject},
            "message-id": {"type": "uuid", "required": True},
            "user-id": {"required": True},
            "absolute-expiry-time": {"required": True},
            "group-sequence": {"value": 5},
            "content-encoding": {"value": "gzip"},
        },
        application__properties={kind: {"type": kind, "required": True} for kind in open_},
    )


def header(name: str, value: str) -> list[dict[str, str]]:
    return [{"name": name, "value": value}]


OVERLAPS: dict[str, Callable[[str], Pair]] = {
    "the same constants": lambda n: (event(type=f"bag.{n}"), event(type=f"bag.{n}")),
    "the same constants and schema": lambda n: (
        event(SHIPPED, type=f"bag.{n}"),
        event(SHIPPED, type=f"bag.{n}"),
    ),
    "schemas that accept the same": lambda n: (
        event(SHIPPED, type=f"bag.{n}"),
        event(STOWED, type=f"bag.{n}"),
    ),
    "a schema for one of them": lambda n: (
        {**mqtt(f"b{n}/in", schema=SHIPPED), "datacontenttype": "application/json"},
        {**mqtt(f"b{n}/in"), "datacontenttype": "application/json"},
    ),
    "template and constant": lambda n: (
        event(type=f"bag.{n}", source="/belts/{belt}", subject="heavy"),
        event(type=f"bag.{n}", source="/belts/7"),
    ),
    "a topic crossed by another": lambda n: (mqtt(f"b{n}/{{x}}/in"), mqtt(f"b{n}/left/{{y}}")),
    "a constant number and its text": lambda n: (
        mqtt(f"b{n}/{{x}}/in", qos=1),
        mqtt(f"b{n}/left/{{y}}", qos={"value": "1", "type": "integer"}),
    ),
    "parts of segments": lambda n: (mqtt(f"b{n}/a-{{x}}"), mqtt(f"b{n}/{{y}}-z")),
    "a user property for one of them": lambda n: (
        mqtt(f"b{n}/{{x}}/in", user_properties=header("unit", "K")),
        mqtt(f"b{n}/left/in"),
    ),
    "one value in two segments": lambda n: (mqtt(f"b{n}/{{x}}/q/{{x}}"), mqtt(f"b{n}/{{y}}/q/7")),
    "one value in two attributes": lambda n: (
        event(type=f"bag.{n}", source="/belts/{x}", subject="{x}", unit="u-{w}"),
        event(type=f"bag.{n}", source="/belts/k-{y}", subject="{z}"),
    ),
    "open templates": lambda n: (
        kafka(f"bags{n}", key="k-{x}-l"),
        kafka(f"bags{n}", key="{y}-m-{z}"),
    ),
    "headers": lambda n: (
        kafka("bags", key=f"k{n}", headers={"unit": "k-{x}"}),
        kafka("bags", key=f"k{n}", headers={"unit": "{y}-k"}),
    ),
    "paths": lambda n: (http(f"/v{n}/{{a}}/items"), http(f"/v{n}/list/{{b}}")),
    "a header for one, a parameter for the other": lambda n: (
        http(f"/v{n}", headers=header("X-Kind", "{kind}")),
        http(f"/v{n}", query={"page": "{page}"}),
    ),
    "subjects of tokens": lambda n: (nats(f"s{n}.{{a}}.in"), nats(f"s{n}.left.{{b}}")),
    "addresses": lambda n: (
        amqp(f"bag{n}", to="amqp://{host}/bags"),
        amqp(f"bag{n}", to="amqp://hub/{queue}"),
    ),
    "sections with types": lambda n: (typed_sections(f"bag{n}"), typed_sections(f"bag{n}")),
    "a message over a protocol, as an event too": lambda n: (
        {**event(type=f"bag.{n}"), **kafka("bags", key=f"a{n}-{{x}}")},
        {**event(type=f"bag.{n}"), **kafka("bags", key=f"{{y}}{n}-b")},
    ),
    "content types of one family": lambda n: (
        http(f"/v{n}/{{a}}/in", schema=SHIPPED),
        {**http(f"/v{n}/b/{{b}}"), "datacontenttype": "application/vnd.bags+json"},
    ),
}
"""Pairs of definitions that a message of both exists for, by how they overlap."""

NEAR: dict[str, Callable[[str], Pair]] = {
    "another constant": lambda n: (
        event(type=f"near.{n}", source="/belts/{x}", subject="in"),
        event(type=f"near.{n}", source="/belts/{x}", subject="out"),
    ),
    "fewer segments": lambda n: (mqtt(f"n{n}/{{x}}/{{y}}"), mqtt(f"n{n}/{{x}}")),
    "another literal segment": lambda n: (mqtt(f"n{n}/{{x}}/in"), mqtt(f"n{n}/{{x}}/out")),
    "another type": lambda n: (
        event(type=f"near.{n}", size={"type": "integer", "required": True}),
        event(type=f"near.{n}", size={"type": "boolean", "required": True}),
    ),
    "another content type": lambda n: (
        {**http(f"/n{n}/{{x}}"), "datacontenttype": "application/json"},
        {**http(f"/n{n}/{{x}}"), "datacontenttype": "text/plain"},
    ),
    "another header": lambda n: (
        http(f"/n{n}", headers=header("X-Kind", "order")),
        http(f"/n{n}", headers=header("X-Kind", "invoice")),
    ),
    "another method": lambda n: (http(f"/n{n}/{{x}}"), http(f"/n{n}/{{x}}", method="PUT")),
    "a narrower one": lambda n: (nats(f"n{n}.{{a}}.in"), nats(f"n{n}.left.in")),
    "one value cannot be two": lambda n: (mqtt(f"n{n}/{{x}}/q/{{x}}"), mqtt(f"n{n}/6/q/7")),
    "one value cannot begin with itself": lambda n: (
        event(type=f"near.{n}", source="/b/{x}", subject="{x}", unit="{w}"),
        event(type=f"near.{n}", source="/b/{y}", subject="k-{y}"),
    ),
    "other beginnings": lambda n: (
        kafka("near", key=f"n{n}-{{x}}"),
        kafka("near", key=f"m{n}-{{x}}"),
    ),
    "other ends": lambda n: (kafka(f"n{n}", key="{x}-a"), kafka(f"n{n}", key="{x}-b")),
    "another subject": lambda n: (amqp(f"n{n}a", to="{q}"), amqp(f"n{n}b", to="{q}")),
    "only one says that its payload is JSON": lambda n: (
        event(SHIPPED, type=f"near.{n}"),
        event(type=f"near.{n}"),
    ),
    "schemas that exclude each other": lambda n: (
        event(SHIPPED, type=f"near.{n}"),
        event(EMPTY, type=f"near.{n}"),
    ),
}
"""Pairs that look alike, and that no message is of both of: or something decides."""

PLAIN: tuple[Callable[[str], Definition], ...] = (
    lambda n: event(SHIPPED, type=f"com.example.bags.{n}", source="/airports/{airport}/{n}"),
    lambda n: event(type=f"com.example.gates.{n}", source="{feed}", subject="GATE-{gate}"),
    lambda n: mqtt(f"plants/{{plant}}/line{n}/{{sensor}}", qos=1),
    lambda n: mqtt(f"sensors/{{sensor}}/{n}/temperature"),
    lambda n: kafka(f"topic-{n}", key="{device}"),
    lambda n: kafka("telemetry", key=f"device-{n}-{{serial}}", headers={"unit": "{unit}"}),
    lambda n: http(f"/airports/{{airport}}/orders{n}/{{order}}"),
    lambda n: http("/events", headers=header("X-Kind", f"kind-{n}")),
    lambda n: nats(f"orders.{{region}}.created{n}"),
    lambda n: amqp(f"MyMessageType{n}", to="https://{host}/{queue}"),
    lambda n: {**event(type=f"com.example.scans.{n}"), **kafka("scans", key="{tag}")},
)
"""What the rest of the catalog is made of: each is different from all others."""


@dataclass(slots=True)
class Generated:
    """A document, and the overlaps planted in it."""

    groups: dict[str, dict[str, Definition]] = field(default_factory=dict)
    endpoints: dict[str, list[str]] = field(default_factory=dict)
    planted: dict[frozenset[str], str] = field(default_factory=dict)

    def add(self, group: str, id_: str, definition: Definition) -> str:
        self.groups.setdefault(group, {})[id_] = definition
        return f"/messagegroups/{group}/messages/{id_}"

    def document(self) -> bytes:
        groups = {name: {"messages": messages} for name, messages in self.groups.items()}
        endpoints = {
            name: {"usage": ["consumer"], "messagegroups": [f"/messagegroups/{g}" for g in listed]}
            for name, listed in self.endpoints.items()
        }
        return json.dumps({"messagegroups": groups, "endpoints": endpoints}).encode()


def _id(kind: str) -> str:
    return kind.replace(",", "").replace(" ", "-")


def generate(definitions: int, overlaps: int, seed: int = 0) -> Generated:
    """So many definitions in some groups, with so many planted overlaps, and twice as many near.

    Every third overlap is between the groups that one endpoint lists.
    """
    random = Random(seed)
    made = Generated(endpoints={"belt": ["left", "right"], "desk": ["right", "left", "others"]})
    groups = ("others", "left", "right")
    for number in range(overlaps):
        kind, case = list(OVERLAPS.items())[number % len(OVERLAPS)]
        first, second = case(f"{number}")
        sides = ("left", "right") if number % 3 == 0 else (groups[number % 2],) * 2
        xids = [
            made.add(side, f"{_id(kind)}.{number}{letter}", one)
            for side, letter, one in zip(sides, "ab", (first, second), strict=True)
        ]
        made.planted[frozenset(xids)] = kind
    for number in range(2 * overlaps):
        kind, case = list(NEAR.items())[number % len(NEAR)]
        for letter, one in zip("ab", case(f"{number}"), strict=True):
            made.add("others", f"near-{_id(kind)}.{number}{letter}", one)
    rest = definitions - 6 * overlaps
    for number in range(rest):
        one = random.choice(PLAIN)(f"{number}")
        made.add(random.choice(groups), f"plain.{number}", one)
    return made
