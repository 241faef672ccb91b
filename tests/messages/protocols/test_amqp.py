"""What only AMQP has: six sections, values with types, and two prefixes for attributes."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from uuid import UUID

import pytest

from heraldry.errors import MessageError
from heraldry.messages import content_encoding
from heraldry.messages.envelopes import cloudevents
from heraldry.messages.message import Message
from heraldry.messages.protocol_table import fields
from heraldry.messages.protocols.amqp import AmqpMessage, decode, encode, from_json, to_json

TIME = datetime(2026, 3, 1, 12, 30, 0, 125000, tzinfo=UTC)
ID = UUID("00000000-0000-4000-8000-000000000001")
ATTRIBUTES = {"specversion": "1.0", "id": "1", "source": "/s", "type": "t"}
COLONS = tuple((f"cloudEvents:{name}", value) for name, value in ATTRIBUTES.items())


def refused(raw: AmqpMessage) -> list[tuple[str, str]]:
    with pytest.raises(MessageError) as error:
        decode(raw)
    return [(problem.path, problem.message) for problem in error.value.problems]


def test_the_tables_are_those_of_the_specification() -> None:
    table = fields("AMQP/1.0")
    assert list(table) == [
        "header",
        "delivery-annotations",
        "message-annotations",
        "properties",
        "application-properties",
        "footer",
    ]
    assert table["header"].members == {
        "durable": "boolean",
        "priority": "integer",
        "ttl": "integer",
        "first-acquirer": "boolean",
        "delivery-count": "integer",
    }
    assert table["properties"].members == {
        "message-id": "any",
        "user-id": "binary",
        "to": "uritemplate",
        "subject": "string",
        "reply-to": "uritemplate",
        "correlation-id": "string",
        "content-type": "string",
        "content-encoding": "string",
        "absolute-expiry-time": "timestamp",
        "creation-time": "timestamp",
        "group-id": "string",
        "group-sequence": "integer",
        "reply-to-group-id": "uritemplate",
    }
    assert table["footer"].members is None


def test_fixed_sections_have_one_order_and_no_nulls() -> None:
    message = AmqpMessage(
        properties=(("subject", "s"), ("to", None), ("message-id", ID)),
        header=(("ttl", 5), ("durable", True)),
    )
    assert message.properties == (("message-id", ID), ("subject", "s"))
    assert message.header == (("durable", True), ("ttl", 5))


def test_the_json_form_names_the_types_json_has_not() -> None:
    raw = AmqpMessage(
        properties=(("message-id", ID), ("user-id", b"\xff"), ("creation-time", TIME)),
        application_properties=(("a", 2**64 - 1), ("b", -math.inf), ("c", TIME), ("d", None)),
        message_annotations=(("x-opt-deaths", [{"uuid": "no", "at": TIME}, {"uuid": "no"}]),),
    )
    assert to_json(raw) == {
        "message-annotations": {
            "x-opt-deaths": [
                {"uuid": "no", "at": {"timestamp": "2026-03-01T12:30:00.125Z"}},
                {"map": {"uuid": "no"}},
            ]
        },
        "properties": {
            "message-id": {"uuid": str(ID)},
            "user-id": {"base64": "/w=="},
            "creation-time": {"timestamp": "2026-03-01T12:30:00.125Z"},
        },
        "application-properties": {
            "a": 2**64 - 1,
            "b": {"number": "-Infinity"},
            "c": {"timestamp": "2026-03-01T12:30:00.125Z"},
            "d": None,
        },
    }
    assert from_json(json.loads(json.dumps(to_json(raw))), None, "AMQP/1.0") == raw


def test_times_may_be_plain_texts_where_they_have_their_place() -> None:
    raw = from_json({"properties": {"creation-time": "2026-03-01T13:30:00.125+01:00"}}, None, "")
    assert raw.properties == (("creation-time", TIME),)
    raw = from_json({"application-properties": {"at": "2026-03-01T13:30:00Z"}}, None, "")
    assert raw.application_properties == (("at", "2026-03-01T13:30:00Z"),)


@pytest.mark.parametrize(
    ("value", "rule"),
    [
        pytest.param({"base64": "*"}, "base64", id="base64"),
        pytest.param({"uuid": "1"}, "metadata", id="uuid"),
        pytest.param({"timestamp": "yesterday"}, "metadata", id="timestamp"),
        pytest.param({"timestamp": "0000-01-01T00:00:00Z"}, "metadata", id="year 0"),
        pytest.param({"number": 5}, "metadata", id="number"),
        pytest.param({"map": []}, "metadata", id="map"),
    ],
)
def test_wrong_json_forms_are_refused(value: Any, rule: str) -> None:
    with pytest.raises(MessageError) as error:
        from_json({"footer": {"a": [value]}}, None, "AMQP/1.0")
    assert [(p.path, p.rule) for p in error.value.problems] == [("metadata.footer", rule)]


@pytest.mark.parametrize(
    ("section", "name", "value", "told"),
    [
        pytest.param("header", "durable", 1, "is not true or false", id="durable"),
        pytest.param("header", "priority", 256, "is not in 0..255", id="priority"),
        pytest.param("header", "ttl", -1, "is not an unsigned 32 bit integer", id="ttl"),
        pytest.param("header", "ttl", True, "is not an unsigned 32 bit integer", id="ttl true"),
        pytest.param("header", "colour", 1, "is not in the section header", id="header name"),
        pytest.param("properties", "colour", 1, "is not in the section properties", id="name"),
        pytest.param(
            "properties", "message-id", 1.5, "is not a ulong, uuid, binary or string", id="id"
        ),
        pytest.param(
            "properties", "message-id", -1, "is not a ulong, uuid, binary or string", id="ulong"
        ),
        pytest.param("properties", "user-id", "x", "is not binary", id="user-id"),
        pytest.param("properties", "subject", 5, "is not a string", id="subject"),
        pytest.param("properties", "content-type", "ü/x", "is not ASCII text", id="content-type"),
        pytest.param(
            "properties",
            "creation-time",
            TIME + timedelta(microseconds=1),
            "is not a timestamp of whole milliseconds",
            id="microseconds",
        ),
        pytest.param(
            "properties",
            "creation-time",
            TIME.astimezone(timezone(timedelta(hours=1))),
            "is not a timestamp of whole milliseconds",
            id="another zone",
        ),
        pytest.param("application_properties", "a", [], "is a list or map", id="list"),
        pytest.param("application_properties", "a", 2**64, "is larger than 64 bits", id="integer"),
        pytest.param("footer", "ü", 1, "has a name that is not ASCII", id="symbol"),
        pytest.param("footer", "a", {1: 2}, "has a map whose keys are no texts", id="keys"),
        pytest.param("footer", "a", [object], "is no value that AMQP has", id="object"),
    ],
)
def test_what_amqp_cannot_carry(section: str, name: str, value: Any, told: str) -> None:
    shown = section.replace("_", "-")
    assert refused(AmqpMessage(**{section: ((name, value),)})) == [
        (f"metadata.{shown}.{name}", told)
    ]


def test_every_problem_is_told_at_once() -> None:
    raw = AmqpMessage(header=(("ttl", "5"),), footer=(("a", 1), ("a", 2)))
    assert refused(raw) == [
        ("metadata.header.ttl", "is not an unsigned 32 bit integer"),
        ("metadata.footer.a", "stands there twice"),
    ]


def test_a_deep_value_is_refused() -> None:
    value: Any = 1
    for _ in range(40):
        value = [value]
    assert refused(AmqpMessage(footer=(("a", value),))) == [
        ("metadata.footer.a", "is a list or map")
    ]


@pytest.mark.parametrize("prefix", ["cloudEvents:", "cloudEvents_"])
def test_both_prefixes_are_read_and_kept(prefix: str) -> None:
    given = {**ATTRIBUTES, "time": TIME, "count": 5, "gate": True, "blob": b"\xff"}
    pairs = tuple((prefix + name, value) for name, value in given.items())
    raw = AmqpMessage(application_properties=pairs, properties=(("content-type", "a/b"),))
    message = decode(raw)
    assert message.mode == "binary"
    assert message.attributes == {
        **ATTRIBUTES,
        "time": "2026-03-01T12:30:00.125Z",
        "count": "5",
        "gate": "true",
        "blob": "/w==",
        "datacontenttype": "a/b",
    }
    assert encode(message) == raw


def test_one_message_uses_one_prefix() -> None:
    event = Message(
        protocol="AMQP/1.0",
        metadata={"application-properties": COLONS[:1]},
        envelope=cloudevents.ENVELOPE,
        mode="binary",
        attributes=ATTRIBUTES,
    )
    assert encode(event).application_properties == COLONS
    plain = Message(
        protocol="AMQP/1.0", envelope=cloudevents.ENVELOPE, mode="binary", attributes=ATTRIBUTES
    )
    assert [name for name, _ in encode(plain).application_properties] == [
        f"cloudEvents_{name}" for name in ATTRIBUTES
    ]


def test_the_body_is_decoded_as_the_properties_say() -> None:
    raw = AmqpMessage(
        properties=(("content-type", "text/plain"), ("content-encoding", "gzip")),
        body=content_encoding.encode(b"hello", "gzip"),
    )
    message = decode(raw)
    assert (message.payload, message.content_type) == (b"hello", "text/plain")
    assert encode(message) == raw
    with pytest.raises(MessageError) as error:
        decode(raw, limit=4)
    problem = error.value.problems[0]
    assert (problem.path, problem.rule) == ("metadata.properties.content-encoding", "too-large")


def test_sections_of_another_name_are_refused() -> None:
    with pytest.raises(MessageError) as error:
        encode(Message(protocol="AMQP/1.0", metadata={"application_properties": ()}))
    assert [problem.path for problem in error.value.problems] == ["metadata.application_properties"]
