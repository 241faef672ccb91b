"""A sample is a message that its definition accepts, whatever it needs."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any
from uuid import UUID

import pytest

from heraldry.messages.protocol_table import fields
from heraldry.messages.verdict import Accepted, Match
from tests.messages.airport import MOMENT, SCHEMA, airport, catalog_of, xid

CATALOG = airport()


def moment() -> datetime:
    return MOMENT


def test_samples_are_readable_and_repeat() -> None:
    definition = CATALOG[xid("checkedin")]
    one, two = (definition.sample(seed=7, clock=moment, make_id=lambda: "1") for _ in "ab")
    assert one == two
    result = CATALOG.match(one)
    assert isinstance(result, Match)
    assert result.values["airport"].startswith("airport-")
    data = json.loads(one.payload or b"")
    assert data.get("tag", result.values["tag"]) == result.values["tag"]


def test_a_sample_makes_up_required_properties() -> None:
    kinds = ["integer", "boolean", "timestamp", "uri", "urireference", "string", "duration"]
    needed = {f"x{kind}": {"type": kind, "required": True} for kind in kinds}
    catalog = catalog_of(
        open={
            "envelope": "CloudEvents/1.0",
            "envelopemetadata": {"subject": {"required": True}, **needed},
            "dataschemaformat": "JSONSchema/draft-07",
            "dataschema": SCHEMA,
        }
    )
    message = catalog["open"].sample()
    assert {f"x{kind}" for kind in kinds} <= set(message.attributes)
    assert isinstance(catalog.match(message), Match)


@pytest.mark.parametrize(
    ("protocol", "names"),
    [
        pytest.param("HTTP", ["method", "path"], id="request"),
        pytest.param("HTTP", ["status"], id="response"),
        pytest.param("MQTT/3.1.1", ["qos", "retain", "topic_name"], id="MQTT 3.1.1"),
        pytest.param(
            "MQTT/5.0",
            ["qos", "payload_format", "correlation_data", "response_topic", "content_type"],
            id="MQTT 5.0",
        ),
        pytest.param("KAFKA", ["topic", "partition", "key_base64"], id="KAFKA"),
        pytest.param("NATS", ["subject", "reply-to"], id="NATS"),
    ],
)
@pytest.mark.parametrize("seed", [0, 1])
def test_a_sample_makes_up_what_a_protocol_needs(
    protocol: str, names: list[str], seed: int
) -> None:
    needed: dict[str, Any] = {name: {"required": True} for name in names}
    if "headers" in fields(protocol):
        needed["headers"] = [
            {"name": name, "required": True} for name in ("content-type", "x-count")
        ]
    catalog = catalog_of(open={"protocol": protocol, "protocoloptions": needed})
    verdict = catalog.judge(catalog["open"].sample(seed=seed).line())
    assert isinstance(verdict, Accepted), verdict


def test_a_sample_makes_up_what_amqp_needs() -> None:
    kinds = ["integer", "number", "boolean", "timestamp", "uuid", "binary", "symbol", "uri", "any"]
    fixed = ["message-id", "user-id", "to", "correlation-id", "creation-time", "group-sequence"]
    declared = {
        "protocol": "AMQP/1.0",
        "protocoloptions": {
            "header": {name: {"required": True} for name in ("durable", "priority", "ttl")},
            "properties": {name: {"required": True} for name in fixed},
            "application-properties": {one: {"type": one, "required": True} for one in kinds},
        },
    }
    catalog = catalog_of(open=declared)
    message = catalog["open"].sample(None, seed=3, values={"priority": 7}).as_amqp()
    assert [name for name, _ in message.properties] == fixed
    assert ("priority", 7) in message.header
    types = {name: type(value) for name, value in message.application_properties}
    assert types == {
        "integer": int,
        "number": float,
        "boolean": bool,
        "timestamp": datetime,
        "uuid": UUID,
        "binary": bytes,
        "symbol": str,
        "uri": str,
        "any": str,
    }
    assert isinstance(catalog.match(message), Match)
    assert isinstance(catalog.judge(catalog["open"].sample().line()), Accepted)


@pytest.mark.parametrize(
    ("content_type", "payload"),
    [
        pytest.param(None, b"{}", id="unknown"),
        pytest.param("application/json", b"{}", id="JSON"),
        pytest.param("image/png", b"sample", id="binary"),
    ],
)
def test_a_sample_without_schema(content_type: str | None, payload: bytes) -> None:
    declared: dict[str, Any] = {
        "envelope": "CloudEvents/1.0",
        "envelopemetadata": {"type": {"value": "t"}},
    }
    if content_type:
        declared["datacontenttype"] = content_type
    assert catalog_of(odd=declared)["odd"].sample().payload == payload
