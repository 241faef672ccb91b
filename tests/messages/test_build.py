"""What a definition builds, the same definition recognises."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heraldry.errors import BuildError, UsageError
from heraldry.messages.build import BuiltMessage
from heraldry.messages.protocols.amqp import AmqpMessage
from heraldry.messages.verdict import Match
from tests.messages.airport import CHECKED_IN, MOMENT, airport, catalog_of, xid

CATALOG = airport()


def moment() -> datetime:
    return MOMENT


def build(message: str, data: Any = None, **context: Any) -> BuiltMessage:
    definition = CATALOG[xid(message)]
    return definition.build(data, clock=moment, make_id=lambda: "id-1", **context)


def test_an_event_is_filled_in() -> None:
    message = build("checkedin", {"weight": 17.2}, airport="MUC", tag="0220731")
    assert message.attributes == {
        "id": "id-1",
        "source": "/airports/MUC/luggage",
        "type": "airport.luggage.checkedin",
        "specversion": "1.0",
        "subject": "BAG-0220731",
        "time": "2026-11-16T08:30:00.000Z",
        "datacontenttype": "application/json",
    }
    assert message.payload == b'{"weight":17.2}'
    assert (message.protocol, message.mode) == (None, "structured")


def test_an_event_can_be_had_for_every_protocol() -> None:
    message = build("checkedin", {"weight": 17.2}, airport="MUC", tag="0220731")
    assert dict(message.as_http().headers)["ce-subject"] == "BAG-0220731"
    assert dict(message.as_kafka().headers)["ce_subject"] == b"BAG-0220731"
    assert dict(message.as_mqtt().user_properties)["subject"] == "BAG-0220731"
    assert dict(message.as_nats().headers)["ce-subject"] == "BAG-0220731"
    sections = message.as_amqp()
    assert dict(sections.application_properties)["cloudEvents_subject"] == "BAG-0220731"
    assert sections.properties == (("content-type", "application/json"),)
    assert json.loads(message.as_mqtt("3.1.1").payload or b"")["subject"] == "BAG-0220731"
    event = json.loads(message.as_cloudevents_json())
    assert event["data"] == {"weight": 17.2}
    assert json.loads(message.line()) == event
    shapes = (message.as_http(), message.as_amqp(), message.as_kafka(), message.as_nats())
    for raw in (message, *shapes, message.as_mqtt(), message.as_mqtt("3.1.1"), event):
        result = CATALOG.match(raw)
        assert isinstance(result, Match), result
        assert result.values == {"airport": "MUC", "tag": "0220731"}


def test_a_message_of_a_protocol() -> None:
    message = build("reading", {"value": 3}, belt="7", sensor="t 1", unit="K")
    packet = message.as_mqtt()
    assert packet.topic_name == "belts/7/sensors/t%201"
    assert packet.qos == 1
    assert packet.user_properties == (("unit", "K"),)
    with pytest.raises(UsageError):
        message.as_http()
    with pytest.raises(UsageError):
        message.as_cloudevents_json()


def test_every_problem_is_told_at_once() -> None:
    with pytest.raises(BuildError) as caught:
        build("checkedin", {"weight": -1}, airport="MUC", colour="red")
    told = [(problem.path, problem.rule) for problem in caught.value.problems]
    assert told == [
        ("attributes.subject", "placeholder"),
        ("colour", "unknown-name"),
        ("/weight", "minimum"),
    ]
    assert "{tag} has no value" in str(caught.value)


@pytest.mark.parametrize(
    ("context", "path"),
    [
        pytest.param({"time": "yesterday"}, "attributes.time", id="not a time"),
        pytest.param({"priority": "high"}, "attributes.priority", id="not an integer"),
        pytest.param({"subject": "SUITCASE"}, "attributes.subject", id="against its template"),
        pytest.param({"type": "other"}, "attributes.type", id="against its constant"),
    ],
)
def test_the_finished_message_obeys_its_definition(context: dict[str, str], path: str) -> None:
    with pytest.raises(BuildError) as caught:
        build("loaded", airport="MUC", tag="1", **context)
    assert [problem.path for problem in caught.value.problems] == [path]


def test_names_are_placeholders_first_then_properties() -> None:
    message = build("loaded", airport="MUC", tag="1", priority="5", id="mine")
    assert message.attributes["priority"] == 5
    assert message.attributes["id"] == "mine"
    both = catalog_of(
        odd={
            "envelope": "CloudEvents/1.0",
            "envelopemetadata": {
                "type": {"value": "t"},
                "source": {"value": "/x"},
                "subject": {"value": "S-{subject}"},
            },
        }
    )
    assert both["odd"].build(subject="7").attributes["subject"] == "S-7"
    spelled = both["odd"].build(values={"subject": "7", "attributes.gate": "A1"})
    assert spelled.attributes["gate"] == "A1"


def test_properties_of_a_protocol_by_name() -> None:
    given = {"headers.trace": "9", "partition": "3"}
    message = build("scanned", airport="MUC", gate="A1", tag="1", values=given)
    record = message.as_kafka()
    assert record.partition == 3
    assert dict(record.headers)["trace"] == b"9"
    assert record.key == b"1"
    assert (message.protocol, message.mode) == ("KAFKA", "binary")


def test_raw_values_are_not_encoded() -> None:
    encoded = build("checkedin", {"weight": 1}, airport="a b", tag="x/y")
    assert encoded.attributes["subject"] == "BAG-x%2Fy"
    raw = build("checkedin", {"weight": 1}, airport="ab", tag="x/y", raw=True)
    assert raw.attributes["subject"] == "BAG-x/y"
    with pytest.raises(BuildError) as caught:
        build("checkedin", {"weight": 1}, airport="ab", tag="x%2Fy", raw=True)
    assert caught.value.problems[0].rule == "placeholder"


def test_modes() -> None:
    values = {"airport": "MUC", "tag": "1"}
    kafka = build("checkedin", {"weight": 1}, protocol="kafka", values=values)
    assert (kafka.protocol, kafka.mode) == ("KAFKA", "binary")
    asked = build("checkedin", {"weight": 1}, protocol="HTTP", mode="structured", values=values)
    assert dict(asked.as_http().headers)["content-type"] == "application/cloudevents+json"
    old = build("checkedin", {"weight": 1}, protocol="MQTT/3.1.1", values=values)
    assert old.mode == "structured"
    declared = {**CHECKED_IN, "envelopeoptions": {"mode": "structured"}}
    told = catalog_of(checkedin=declared)["checkedin"]
    assert told.build({"weight": 1}, protocol="KAFKA", values=values).mode == "structured"


@pytest.mark.parametrize(
    "protocol",
    [
        pytest.param("MQTT/5.0", id="another protocol"),
        pytest.param("SMTP", id="unknown protocol"),
    ],
)
def test_a_definition_keeps_its_protocol(protocol: str) -> None:
    with pytest.raises(UsageError):
        build("scanned", airport="MUC", gate="A1", tag="1", protocol=protocol)


def test_mqtt_3_1_1_has_no_binary_mode() -> None:
    with pytest.raises(UsageError, match="structured"):
        build("checkedin", airport="M", tag="1", protocol="MQTT/3.1.1", mode="binary")


def test_an_unusable_definition_builds_nothing() -> None:
    catalog = catalog_of(odd={"protocol": "COAP/1.0", "protocoloptions": {}})
    with pytest.raises(BuildError, match="protocol-unsupported"):
        catalog["odd"].build()


def test_a_time_sentinel_becomes_the_time() -> None:
    stamped = {"name": "at", "type": "timestamp", "value": "0000-01-01T00:00:00Z"}
    catalog = catalog_of(
        odd={"protocol": "KAFKA", "protocoloptions": {"topic": "t", "headers": {"at": stamped}}}
    )
    record = catalog["odd"].build(clock=moment).as_kafka()
    assert dict(record.headers)["at"] == b"2026-11-16T08:30:00.000Z"


TYPED: dict[str, Any] = {
    "protocol": "AMQP/1.0",
    "protocoloptions": {
        "header": {"durable": True, "ttl": {"value": "5000"}},
        "properties": {
            "message-id": {"type": "uritemplate", "value": "order-{order}"},
            "user_id": {"value": "/w=="},
            "creation-time": {"value": "0000-01-01T00:00:00Z"},
        },
        "application-properties": {
            "count": {"type": "integer", "value": "5"},
            "share": {"type": "number", "value": 0.5},
            "when": {"type": "timestamp", "value": "2026-01-01T01:00:00+01:00"},
            "key": {"type": "uuid", "value": "00000000-0000-4000-8000-00000000000A"},
            "blob": {"type": "binary", "value": "AQI="},
            "link": {"type": "uri", "value": "https://x/{order}"},
            "code": {"type": "symbol", "value": "C{order}"},
            "literal": {"type": "urireference", "value": "/{order}"},
        },
    },
}


def test_values_have_the_types_amqp_has() -> None:
    catalog = catalog_of(typed=TYPED)
    message = catalog["typed"].build(order="7", clock=moment).as_amqp()
    assert message.header == (("durable", True), ("ttl", 5000))
    assert message.properties == (
        ("message-id", "order-7"),
        ("user-id", b"\xff"),
        ("creation-time", MOMENT),
    )
    assert message.application_properties == (
        ("count", 5),
        ("share", 0.5),
        ("when", datetime(2026, 1, 1, tzinfo=UTC)),
        ("key", UUID(int=0x4000_8000_0000_0000_000A)),
        ("blob", b"\x01\x02"),
        ("link", "https://x/7"),
        ("code", "C7"),
        ("literal", "/{order}"),
    )
    for raw in (message, catalog["typed"].build(order="7").line()):
        result = catalog.match(raw)
        assert isinstance(result, Match), result
        assert result.values == {"order": "7"}


def test_members_of_sections_are_set_by_name() -> None:
    declared = {
        "protocol": "AMQP/1.0",
        "protocoloptions": {
            "properties": {"message-id": {"type": "uuid", "required": True}},
            "application-properties": {"when": {"type": "timestamp"}},
        },
    }
    number = "00000000-0000-4000-8000-000000000001"
    message = catalog_of(odd=declared)["odd"].build(
        values={
            "message-id": number,
            "properties.absolute-expiry-time": "2026-01-01T00:00:00Z",
            "metadata.application-properties.when": "2026-01-01T00:00:00.5Z",
            "application-properties.other": 5,
            "durable": "true",
            "message-annotations.x-opt-a": [1, b"x"],
        }
    )
    assert message.as_amqp() == AmqpMessage(
        header=(("durable", True),),
        message_annotations=(("x-opt-a", [1, b"x"]),),
        properties=(
            ("message-id", UUID(number)),
            ("absolute-expiry-time", datetime(2026, 1, 1, tzinfo=UTC)),
        ),
        application_properties=(
            ("when", datetime(2026, 1, 1, 0, 0, 0, 500_000, tzinfo=UTC)),
            ("other", 5),
        ),
    )


def test_everything_amqp_cannot_carry_is_told_at_once() -> None:
    declared = {"protocol": "AMQP/1.0", "protocoloptions": {}}
    with pytest.raises(BuildError) as caught:
        catalog_of(odd=declared)["odd"].build(
            values={"priority": 300, "user-id": "*", "creation-time": "2026-01-01T00:00:00.0001Z"}
        )
    assert [problem.path for problem in caught.value.problems] == [
        "metadata.header.priority",
        "metadata.properties.user-id",
        "metadata.properties.creation-time",
    ]


@pytest.mark.parametrize(
    ("protocol", "options"),
    [
        pytest.param("MQTT/5.0", {"content_type": "application/vnd.x+json"}, id="MQTT"),
        pytest.param(
            "HTTP",
            {"headers": [{"name": "Content-Type", "value": "application/vnd.x+json"}]},
            id="HTTP",
        ),
        pytest.param(
            "KAFKA", {"headers": {"content-type": {"value": "application/vnd.x+json"}}}, id="KAFKA"
        ),
        pytest.param(
            "NATS",
            {"headers": [{"name": "Content-Type", "value": "application/vnd.x+json"}]},
            id="NATS",
        ),
        pytest.param(
            "AMQP/1.0",
            {"properties": {"content-type": {"value": "application/vnd.x+json"}}},
            id="AMQP",
        ),
    ],
)
def test_the_protocol_says_what_the_payload_is(protocol: str, options: dict[str, Any]) -> None:
    declared = {**CHECKED_IN, "protocol": protocol, "protocoloptions": options}
    catalog = catalog_of(odd=declared)
    message = catalog["odd"].build({"weight": 1}, airport="MUC", tag="1")
    assert message.attributes["datacontenttype"] == "application/vnd.x+json"
    assert isinstance(catalog.match(message.line()), Match)
    structured = catalog["odd"].build({"weight": 1}, airport="MUC", tag="1", mode="structured")
    assert isinstance(catalog.match(structured.line()), Match)


TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12)


@given(airport=TEXT, tag=TEXT)
def test_matching_undoes_building(airport: str, tag: str) -> None:
    message = build("checkedin", {"weight": 1}, airport=airport, tag=tag)
    shapes = (message.as_http(), message.as_amqp(), message.as_kafka(), message.as_nats())
    for raw in (message.line(), *shapes, message.as_mqtt()):
        result = CATALOG.match(raw)
        assert isinstance(result, Match)
        assert str(result.definition.xid) == xid("checkedin")
        assert result.values == {"airport": airport, "tag": tag}


@given(belt=TEXT, sensor=TEXT, unit=TEXT)
def test_matching_undoes_building_for_a_protocol(belt: str, sensor: str, unit: str) -> None:
    values = {"belt": belt, "sensor": sensor, "unit": unit}
    result = CATALOG.match(build("reading", {"value": 1}, values=values).line())
    assert isinstance(result, Match)
    assert str(result.definition.xid) == xid("reading")
    assert result.values == values
