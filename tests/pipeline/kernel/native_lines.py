"""Definitions for messages of all protocols, good messages of each, and flawed ones."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from tests.suites.flawed_lines import (
    INSTANTS,
    NOTHING,
    NUMBERS,
    TEXTS,
    as_text,
    payloads,
    written,
)
from tests.suites.streams import DRAFT_07, EVENTS, INSTANT, NUMBER, TEXT, WHOLE, listed, record

Members = list[tuple[str, str]]

SCHEMA = record(
    "value", value=NUMBER, count=WHOLE, at=INSTANT, tags=listed(TEXT), box=record(name=TEXT)
)
SHAPE = {
    "value": "number",
    "count": "whole",
    "at": "instant",
    "tags": ["text"],
    "box": {"name": "text"},
}


def definition(protocol: str, options: Mapping[str, Any], **attributes: Any) -> dict[str, Any]:
    """A definition of messages of a protocol, of events where it says something of attributes."""
    found: dict[str, Any] = {
        "protocol": protocol,
        "protocoloptions": options,
        "dataschemaformat": DRAFT_07,
        "dataschema": SCHEMA,
    }
    if attributes:
        declared = {name: {"value": value} for name, value in attributes.items()}
        found |= {"envelope": EVENTS, "envelopemetadata": declared}
    return found


def user(**named: str) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in named.items()]


DEFINITIONS: dict[str, dict[str, Any]] = {
    "desk": definition(
        "MQTT/5.0",
        {"topic_name": "stores/{store}/desks/{desk}", "qos": 1},
        type="shop.desk",
        source="/stores/{store}/desks/{desk}",
        subject="{store}-{desk}",
    ),
    "bare": definition("MQTT/5.0", {"topic_name": "bare/{id}"}, type="shop.bare"),
    "identified": definition(
        "MQTT/5.0",
        {"topic_name": "identified/{id}/end", "retain": {"value": False}},
        type="shop.{id}",
        id="{id}",
        level="high",
    ),
    "plain": definition("MQTT/5.0", {"topic_name": "plain/p-{id}-x/{end}", "qos": {}}),
    "fixed": definition(
        "MQTT/5.0",
        {
            "topic_name": "fixed/topic",
            "response_topic": "answers/{who}",
            "user_properties": {"unit": {"value": "{unit}"}, "kind": {"value": "reading"}},
        },
    ),
    "typed": definition(
        "MQTT/5.0",
        {"topic_name": "typed/{id}", "content_type": "application/json", "payload_format": 1},
    ),
    "shared": definition(
        "MQTT/5.0",
        {"topic_name": "shared/{id}", "user_properties": {"again": {"value": "{id}"}}},
        type="shop.shared",
        subject="{id}",
    ),
    "twice": definition("MQTT/5.0", {"topic_name": "twice/{id}/{id}"}),
    "rival": definition("MQTT/5.0", {"topic_name": "rival/{a}/x"}),
    "rival-too": definition("MQTT/5.0", {"topic_name": "rival/y/{b}"}),
    "both": definition("MQTT/5.0", {"topic_name": "both/{a}"}),
    "both-event": definition("MQTT/5.0", {"topic_name": "both/{a}"}, type="shop.both"),
    "unfilled": definition(
        "MQTT/5.0", {"topic_name": "unfilled/{a}"}, type="shop.unfilled", subject="{b}"
    ),
    "old": definition("MQTT/3.1.1", {"topic_name": "old/{a}", "retain": {"required": True}}),
    "scale": definition(
        "KAFKA",
        {"topic": "scales-{scale}", "key": "{tag}", "headers": {"size": {"value": "{size}"}}},
        type="shop.weighed",
        source="/scales/{scale}",
        subject="{tag}",
    ),
    "orders": definition("KAFKA", {"topic": "orders", "partition": 3}),
    "orders-eu": definition("KAFKA", {"topic": "{region}.orders", "key": {"type": "uuid"}}),
    "belt": definition(
        "NATS",
        {"subject": "belts.{belt}.readings", "headers": {"Unit": {"value": "{unit}"}}},
        type="shop.belt",
        source="/belts/{belt}",
    ),
    "asked": definition("NATS", {"subject": "asked.{who}", "reply-to": "inbox.{box}"}),
    "posted": definition(
        "HTTP",
        {
            "method": "POST",
            "path": "/shops/{shop}/orders",
            "headers": [{"name": "X-Kind", "value": "{kind}"}],
            "query": {"page": {"value": "1"}},
        },
        type="shop.posted",
        source="{shop}",
    ),
    "put": definition("HTTP", {"path": "/shops/{shop}"}),
    "queued": definition(
        "AMQP/1.0",
        {
            "properties": {"to": {"value": "queues/{queue}"}, "subject": {"value": "s-{n}"}},
            "application-properties": {"kind": {"value": "order"}},
        },
        type="shop.queued",
        subject="{queue}",
    ),
}


def mqtt(topic: str, protocol: str = "MQTT/5.0", **more: Any) -> dict[str, Any]:
    return {"protocol": protocol, "metadata": {"topic_name": topic, **more}}


def of(protocol: str, **metadata: Any) -> dict[str, Any]:
    return {"protocol": protocol, "metadata": metadata}


GOOD: dict[str, dict[str, Any]] = {
    "desk": mqtt("stores/7/desks/3", qos=1, retain=False),
    "desk with a type": mqtt("stores/7/desks/3", qos=1, content_type="application/json"),
    "desk with properties": mqtt("stores/7/desks/3", qos=1, user_properties=user(a="b", c="d")),
    "desk with all": mqtt(
        "stores/7/desks/3",
        qos=1,
        retain=True,
        payload_format=1,
        message_expiry_interval=4294967295,
        response_topic="a/b",
        user_properties=[],
    ),
    "bare": mqtt("bare/x"),
    "identified": mqtt("identified/a.b~c_d-e/end", retain=False),
    "plain": mqtt("plain/p-1-x/e", qos=2),
    "fixed": mqtt(
        "fixed/topic", response_topic="answers/me", user_properties=user(unit="K", kind="reading")
    ),
    "typed": mqtt("typed/1", content_type="application/json", payload_format=1),
    "shared": mqtt("shared/1", user_properties={"again": "1"}),
    "twice": mqtt("twice/1/1"),
    "rival": mqtt("rival/1/x"),
    "rivals": mqtt("rival/y/x"),
    "both": mqtt("both/1"),
    "unfilled": mqtt("unfilled/1"),
    "old": mqtt("old/1", "MQTT/3.1.1", retain=True, qos=0),
    "scale": of("KAFKA", topic="scales-7", key="0220731", headers={"size": "XL"}),
    "scale, listed": of("KAFKA", topic="scales-7", key="k", headers=user(size="XL", more="m")),
    "orders": of("KAFKA", topic="orders", partition=3),
    "orders-eu": of("KAFKA", topic="eu.orders", key="6f1c9a0e-4a52-4c3a-9d55-0e9d1f0e7a11"),
    "belt": of("NATS", subject="belts.7.readings", headers=user(Unit="K")),
    "asked": of("NATS", subject="asked.me", **{"reply-to": "inbox.1"}),
    "posted": of(
        "HTTP",
        method="POST",
        path="/shops/7/orders",
        headers=[
            {"name": "X-KIND", "value": "order"},
            {"name": "Content-Type", "value": "application/json"},
        ],
        query={"page": "1"},
    ),
    "put": of("HTTP", method="PUT", path="/shops/7"),
    "queued": of(
        "AMQP/1.0",
        properties={"to": "queues/7", "subject": "s-1", "content-type": "application/json"},
        **{"application-properties": {"kind": "order"}},
    ),
}
TAKEN = set(GOOD) - {"twice", "rivals", "unfilled"}
"""What the compiled path takes; a name twice, rivals and what cannot be mapped are the judge's."""

PAYLOAD = '{"value": 1.5, "count": 2, "at": "2026-11-16T08:30:00Z", "box": {"name": "b"}}'


def line(name: str, payload: str = PAYLOAD) -> bytes:
    """A good message as a line."""
    return f'{json.dumps(GOOD[name])[:-1]}, "payload": {payload}}}'.encode()


def put(name: str, **metadata: Any) -> bytes:
    """A good message with some members of its metadata changed."""
    whole = GOOD[name]
    changed = {**whole, "metadata": {**whole["metadata"], **metadata}}
    return f'{json.dumps(changed)[:-1]}, "payload": {PAYLOAD}}}'.encode()


ADDRESSES = (
    *("stores/7/desks/", "stores//desks/3", "stores/7/desks/3/", "/stores/7/desks/3", "", "/"),
    *("stores/%37/desks/3", "stores/7/desks/%", "stores/+/desks/3", "stores/7/desks/#"),
    *("stores/a b/desks/ü", "stores/7/desks/3\u2028", "Stores/7/desks/3", "stores/7/desks"),
    *("stores/a-b/desks/c", "stores/7%/desks/3", "stores/\u0000/desks/3", "x" * 70000),
    *("/".join("a" * 70), "rival/y/x", "rival/y/z", "both/%31", "plain/p--x/e", "plain/p-x/e"),
    *("plain/p-1-x/", "scales-", "scales-%41", "scales-a-b", "eu.orders", "x.eu.orders", "orders"),
    *("belts..readings", "belts.*.readings", "belts.>.readings", "belts.a b.readings", "belts.7"),
    *("belts.ü.readings", ".belts.7.readings", "belts.7.readings.", "asked.me", "asked.%41"),
    *("/shops/7", "/shops/7?a=b", "/shops/7#a", "/shops/a%2Fb", "/shops/", "/shops", "shops/7"),
    *("queues/a/b", "queues/", "queues/%20"),
)
VALUES = (None, True, 0, 1, 2, 3, -1, 1.0, 2**40, "", "1", "application/json", "text/plain", [], {})
VALUES += ("application/cloudevents+json", "application/json; charset=utf-8", {"base64": "MQ=="})
VALUES += ({"a": "b"}, [{"name": "a", "value": "b"}], [{"name": "a"}], [1], {"a": None}, {"a": 1})
VALUES += ({"specversion": "1.0"}, {"ce_id": "1"}, {"CE-id": "1"}, {"cloudEvents:id": "1"})
VALUES += ({"Content-Type": "text/plain"}, {"content-encoding": "gzip"}, {"a\nb": "c"}, {"a": "ü"})
VALUES += ([{"name": "size", "value": "1"}] * 2, {"unit": "%41"}, {"UNIT": "x", "unit": "y"})
VALUES += (
    {"kind": "order", "é": "x"},
    {"": "x"},
    {"a:b": "c"},
    [{"name": "a", "value": "b", "c": 1}],
)
MEMBERS = (
    *("topic_name", "qos", "retain", "payload_format", "message_expiry_interval", "content_type"),
    *("response_topic", "correlation_data", "user_properties", "topic", "partition", "key"),
    *("key_base64", "headers", "subject", "reply-to", "method", "status", "path", "query"),
    *("properties", "application-properties", "header", "footer", "unknown"),
)
PROTOCOLS = ("MQTT/5.0", "MQTT/3.1.1", "MQTT", "mqtt/5.0", "KAFKA", "KAFKA/2", "NATS", "HTTP")
PROTOCOLS += ("HTTP/1.1", "AMQP", "AMQP/1.0", "COAP", "", "MQTT/4.0")


def adversarial() -> dict[str, bytes]:
    """Every good message with one thing changed."""
    found: dict[str, bytes] = {}
    for name, whole in GOOD.items():
        address = next(iter(whole["metadata"]))
        for text in ADDRESSES if address != "properties" else ():
            found[f"{name}: {text[:30]}"] = put(name, **{address: text})
        for member in (*whole["metadata"], *MEMBERS[:2], "headers", "user_properties", "status"):
            for number, value in enumerate(VALUES):
                found[f"{name}: {member} {number}"] = put(name, **{member: value})
        for protocol in PROTOCOLS:
            text = line(name).replace(
                as_text(whole["protocol"]).encode(), as_text(protocol).encode()
            )
            found[f"{name}: as {protocol}"] = text
        for number in range(len(SPECIAL)):
            found[f"{name}: special {number}"] = special(name, number)
    return found


SPECIAL = ('"payload": {}', '"payload": {"value": 1, "specversion": "1.0"}', '"payload": null')
SPECIAL += ('"payload_text": "{}"', '"payload_base64": "e30="', '"metadata": {}', '"protocol": 1')
SPECIAL += ('"payload": {"value": 1}, "payload": {"value": 2}', '"payload": [1]', '"data": {}')
SPECIAL += ('"payload": {"value": 1, "more": "specversion"}', '"specversion": "1.0"', '"x": 1')
SPECIAL += (
    '"payload": {"specversion": "1.0", "id": "1", "source": "s", "type": "t", "value": 1}',
    r'"p\u0061yload": {"value": 1}',
    '"payload": {"value": 1}, "payload_text": "a"',
)


def special(name: str, number: int) -> bytes:
    """A good message with other members beside its metadata."""
    return f"{json.dumps(GOOD[name])[:-1]}, {SPECIAL[number]}}}".encode()


@st.composite
def natives(draw: st.DrawFn) -> bytes:
    """One line: a message of a protocol with at most a few flaws."""
    whole = GOOD[draw(st.sampled_from(sorted(GOOD)))]
    metadata: Members = [(as_text(n), as_text(v)) for n, v in whole["metadata"].items()]
    for _ in range(max(0, draw(st.integers(-2, 2)))):
        metadata = draw(flawed_members(metadata))
    space = draw(st.sampled_from(("", "", " ", "\t", "\r")))
    members: Members = [
        ('"protocol"', as_text(whole["protocol"])),
        ('"metadata"', written(metadata, space)),
        ('"payload"', draw(payloads(SHAPE))),
    ]
    if draw(st.integers(0, 5)) == 0:
        members = draw(st.permutations(members))
    return written(members, space).encode("utf-8", "surrogatepass")


@st.composite
def flawed_members(draw: st.DrawFn, given: Members) -> Members:
    """Metadata with one flaw, or one oddity that is none."""
    members = list(given) or [('"qos"', "1")]
    place = draw(st.integers(0, len(members) - 1))
    key, value = members[place]
    strange = draw(
        st.sampled_from(
            [*map(as_text, (*VALUES, *ADDRESSES, *INSTANTS[:2])), *TEXTS, *NUMBERS, *NOTHING]
        )
    )
    match draw(st.integers(0, 6)):
        case 0:
            del members[place]
        case 1:
            members[place] = (key, strange)
        case 2:
            members.insert(draw(st.integers(0, len(members))), (key, strange))
        case 3:
            members.append((as_text(draw(st.sampled_from(MEMBERS))), strange))
        case 4:
            name = json.loads(key)
            members[place] = (f'"\\u{ord(name[0]):04x}{name[1:]}"', value)
        case 5:
            members[place] = (key, as_text(draw(st.sampled_from(ADDRESSES))))
        case _:
            members = draw(st.permutations(members))
    return members
