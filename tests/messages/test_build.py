"""What a definition builds, the same definition recognises."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import heraldry
from heraldry.errors import BuildError, UsageError
from heraldry.messages import line as lines
from heraldry.messages.build import BuiltMessage
from heraldry.messages.verdict import Match
from tests.messages.airport import CHECKED_IN, MOMENT, SCHEMA, airport, catalog_of, xid

CATALOG = airport()
SAMPLES = [
    "contoso-erp-jsons07",
    "inkjet-proto3",
    "lightbulb-avro",
    "mqtt-sparkplugB",
    "smartoven-xsd",
    "vacuumcleaner-avro",
    "watchkam-jsons07",
    "waterboiler-mqtt5-jsons07",
    "windgenerator-kafka-avro",
]


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
    assert json.loads(message.as_mqtt("3.1.1").payload or b"")["subject"] == "BAG-0220731"
    event = json.loads(message.as_cloudevents_json())
    assert event["data"] == {"weight": 17.2}
    assert json.loads(message.line()) == event
    for raw in (message, message.as_http(), message.as_kafka(), message.as_mqtt(), event):
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


def test_an_unusable_definition_builds_nothing() -> None:
    catalog = catalog_of(odd={"protocol": "AMQP/1.0", "protocoloptions": {}})
    with pytest.raises(BuildError, match="protocol-unsupported"):
        catalog["odd"].build()


def test_a_time_sentinel_becomes_the_time() -> None:
    stamped = {"name": "at", "type": "timestamp", "value": "0000-01-01T00:00:00Z"}
    catalog = catalog_of(
        odd={"protocol": "KAFKA", "protocoloptions": {"topic": "t", "headers": {"at": stamped}}}
    )
    record = catalog["odd"].build(clock=moment).as_kafka()
    assert dict(record.headers)["at"] == b"2026-11-16T08:30:00.000Z"


TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12)


@given(airport=TEXT, tag=TEXT)
def test_matching_undoes_building(airport: str, tag: str) -> None:
    message = build("checkedin", {"weight": 1}, airport=airport, tag=tag)
    for raw in (message.line(), message.as_http(), message.as_kafka(), message.as_mqtt()):
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


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("seed", [0, 1, 2], ids="seed{}".format)
def test_samples_of_real_catalogs_come_back(reference: Path, name: str, seed: int) -> None:
    path = reference / "catalogs" / "xregistry-samples" / f"{name}.xreg.json"
    catalog = heraldry.open(path)
    assert len(catalog) > 0
    for definition in catalog:
        message = definition.sample(seed=seed)
        result = catalog.match(message.line())
        assert isinstance(result, Match), (definition.xid, result)
        assert str(result.definition.xid) == definition.xid
        assert tuple(sorted(result.values)) == tuple(sorted(definition.placeholders))
        assert lines.read(message.line()).payload is not None


@pytest.mark.parametrize("name", SAMPLES)
@given(data=st.data())
def test_values_of_real_catalogs_come_back(reference: Path, name: str, data: st.DataObject) -> None:
    path = reference / "catalogs" / "xregistry-samples" / f"{name}.xreg.json"
    catalog = OPENED.setdefault(str(path), heraldry.open(path))
    definition = data.draw(st.sampled_from(list(catalog)))
    values = {one: data.draw(TEXT, label=one) for one in definition.placeholders}
    result = catalog.match(definition.sample(values=values).line())
    assert isinstance(result, Match)
    assert str(result.definition.xid) == definition.xid
    assert result.values == values


OPENED: dict[str, heraldry.MessageCatalog] = {}


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
