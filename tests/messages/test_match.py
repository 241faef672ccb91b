"""A message belongs to one definition, or there are reasons why it belongs to none."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from heraldry.messages.message import Message
from heraldry.messages.verdict import Match, NoMatch
from tests.messages.airport import (
    CHECKED_IN,
    LOADED,
    READING,
    SCHEMA,
    airport,
    catalog_of,
    event,
    reading,
    xid,
)

CATALOG = airport()


def problems(result: Match | NoMatch) -> list[tuple[str, str]]:
    assert isinstance(result, NoMatch)
    return [(problem.path, problem.rule) for problem in result.problems]


def definition(result: Match | NoMatch) -> str:
    assert isinstance(result, Match), result
    return str(result.definition.xid)


def test_an_event_matches_with_the_values_of_its_placeholders() -> None:
    result = CATALOG.match(event({"weight": 1}))
    assert definition(result) == xid("checkedin")
    assert isinstance(result, Match)
    assert result.values == {"airport": "MUC", "tag": "0220731"}
    assert result.candidates == (xid("checkedin"),)


def test_values_are_percent_decoded() -> None:
    result = CATALOG.match(event(subject="BAG-a%2Fb"))
    assert isinstance(result, Match)
    assert result.values["tag"] == "a/b"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param({"subject": "BAG-"}, ("attributes.subject", "template"), id="empty value"),
        pytest.param({"subject": None}, ("attributes.subject", "required"), id="absent"),
        pytest.param(
            {"source": "/airports/luggage"}, ("attributes.source", "template"), id="short"
        ),
        pytest.param(
            {"datacontenttype": "text/plain"}, ("content_type", "content-type"), id="content type"
        ),
        pytest.param(
            {"type": "Airport.Luggage_CheckedIn"},
            ("attributes.type", "constant"),
            id="case and punctuation",
        ),
    ],
)
def test_the_reason_names_property_and_rule(
    changes: dict[str, Any], expected: tuple[str, str]
) -> None:
    result = CATALOG.match(event(**changes))
    assert problems(result) == [expected]
    assert isinstance(result, NoMatch)
    assert result.near[0].definition == xid("checkedin")
    assert 0 < result.near[0].score < 1


def test_a_problem_keeps_the_value_found_out_of_its_message() -> None:
    result = CATALOG.match(event(subject="SUITCASE-17" + "x" * 200))
    problem = result.problems[0] if isinstance(result, NoMatch) else None
    assert problem is not None
    assert problem.message == "does not fit 'BAG-{tag}'"
    assert problem.expected == "BAG-{tag}"
    assert problem.found is not None
    assert problem.found.startswith("SUITCASE-17")
    assert len(problem.found) == 80


def test_a_type_that_no_definition_has_is_unknown() -> None:
    result = CATALOG.match(event(type="weather.rain", source="urn:x", subject="sky"))
    assert problems(result) == [("attributes.type", "unknown")]
    assert isinstance(result, NoMatch)
    assert result.problems[0].found == "weather.rain"
    assert result.near == ()


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        pytest.param({"priority": "high"}, "type", id="not an integer"),
        pytest.param({"time": "yesterday"}, "type", id="not a time"),
    ],
)
def test_types_are_checked_where_a_property_is_present(changes: dict[str, Any], rule: str) -> None:
    good = {"type": "airport.luggage.loaded", "time": "2026-11-16T08:30:00Z"}
    assert definition(CATALOG.match(_event(**good, priority=5))) == xid("loaded")
    assert definition(CATALOG.match(_event(**good))) == xid("loaded")
    assert problems(CATALOG.match(_event(**{**good, **changes}))) == [
        (f"attributes.{next(iter(changes))}", rule)
    ]


def _event(**attributes: Any) -> Message:
    given = event(**attributes)
    return Message(envelope="CloudEvents/1.0", mode="structured", attributes=given)


def test_protocol_rules() -> None:
    result = CATALOG.match(reading())
    assert definition(result) == xid("reading")
    assert isinstance(result, Match)
    assert result.values == {"belt": "7", "sensor": "t1", "unit": "K"}


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        pytest.param(reading(qos=0), ("metadata.qos", "constant"), id="qos"),
        pytest.param(
            reading(user_properties=()),
            ("metadata.user_properties.unit", "required"),
            id="property",
        ),
        pytest.param(
            reading(topic_name="belts/7/8/sensors/t1"),
            ("metadata.topic_name", "template"),
            id="placeholder stays in its segment",
        ),
        pytest.param(
            replace(reading(), protocol="MQTT/3.1.1"), ("protocol", "protocol"), id="version"
        ),
    ],
)
def test_protocol_problems(message: Message, expected: tuple[str, str]) -> None:
    assert expected in problems(CATALOG.match(message))


def test_any_value_of_a_repeated_name_may_fit() -> None:
    twice = catalog_of(
        reading={
            "protocol": "MQTT/5.0",
            "protocoloptions": {
                "topic_name": "belts/{belt}",
                "user_properties": [{"name": "belt", "value": "{belt}"}],
            },
        }
    )
    message = reading(topic_name="belts/7", user_properties=(("belt", "6"), ("belt", "7")))
    result = twice.match(message)
    assert isinstance(result, Match)
    assert result.values == {"belt": "7"}


def test_one_name_has_one_value() -> None:
    message = Message(
        protocol="KAFKA",
        metadata={"topic": "luggage", "key": "1", "headers": (("gate", "B2"),)},
        envelope="CloudEvents/1.0",
        mode="binary",
        attributes=event(type="airport.luggage.scanned", source="/airports/MUC/gates/A1"),
    )
    result = CATALOG.match(message)
    assert problems(result) == [("metadata.headers.gate", "placeholder")]
    assert isinstance(result, NoMatch)
    assert "attributes.source" in result.problems[0].message


def test_an_event_without_a_protocol_is_judged_by_its_envelope() -> None:
    result = CATALOG.match(event(type="airport.luggage.scanned", source="/airports/MUC/gates/A1"))
    assert definition(result) == xid("scanned")
    assert isinstance(result, Match)
    assert result.values == {"airport": "MUC", "gate": "A1"}


def test_a_message_that_is_no_event_breaks_the_envelope_rule() -> None:
    message = Message(
        protocol="KAFKA", metadata={"topic": "luggage", "key": "1", "headers": (("gate", "A1"),)}
    )
    assert problems(CATALOG.match(message)) == [("envelope", "envelope")]


def test_an_event_over_another_protocol_breaks_the_protocol_rule() -> None:
    message = Message(
        protocol="MQTT/5.0",
        metadata={"topic_name": "x", "qos": 0},
        envelope="CloudEvents/1.0",
        mode="structured",
        attributes=event(type="airport.luggage.scanned", source="/airports/MUC/gates/A1"),
    )
    assert problems(CATALOG.match(message)) == [("protocol", "protocol")]


def test_a_definition_without_envelope_takes_events_too() -> None:
    message = replace(reading(), envelope="CloudEvents/1.0", mode="structured", attributes=event())
    mqtt_only = catalog_of(reading=READING)
    assert definition(mqtt_only.match(message)) == xid("reading")


def test_http_header_names_ignore_case() -> None:
    message = Message(
        protocol="HTTP",
        metadata={
            "method": "POST",
            "path": "/airports/MUC/orders",
            "headers": (("x-KIND", "order"), ("content-type", "Application/JSON")),
        },
        content_type="Application/JSON",
    )
    assert definition(CATALOG.match(message)) == xid("ordered")


def test_the_most_derived_definition_wins() -> None:
    derived = {"basemessage": xid("loaded"), "envelopemetadata": {"gate": {"value": "A1"}}}
    catalog = catalog_of(loaded=LOADED, atgate=derived)
    time = "2026-11-16T08:30:00Z"
    at_gate = event(type="airport.luggage.loaded", time=time, gate="A1")
    assert definition(catalog.match(at_gate)) == xid("atgate")
    elsewhere = event(type="airport.luggage.loaded", time=time, gate="B7")
    assert definition(catalog.match(elsewhere)) == xid("loaded")


def test_without_a_protocol_the_common_base_of_protocol_bindings_wins() -> None:
    kafka = {"basemessage": xid("loaded"), "protocol": "KAFKA", "protocoloptions": {"topic": "t"}}
    mqtt = {
        "basemessage": xid("loaded"),
        "protocol": "MQTT/5.0",
        "protocoloptions": {"topic_name": "t"},
    }
    catalog = catalog_of(loaded=LOADED, kafka=kafka, mqtt=mqtt)
    given = event(type="airport.luggage.loaded", time="2026-11-16T08:30:00Z")
    assert definition(catalog.match(given)) == xid("loaded")
    over = Message(
        protocol="KAFKA", metadata={"topic": "t"}, envelope="CloudEvents/1.0", attributes=given
    )
    assert definition(catalog.match(over)) == xid("kafka")


@pytest.mark.parametrize(
    ("narrow", "wide"),
    [
        pytest.param("BAG-7", "BAG-{tag}", id="constant in template"),
        pytest.param("BAG-{tag}", "{any}", id="template in template"),
        pytest.param("BAG-{tag}", None, id="more constraints"),
    ],
)
def test_the_narrower_definition_wins(narrow: str, wide: str | None) -> None:
    def with_subject(value: str | None) -> dict[str, Any]:
        subject = {} if value is None else {"subject": {"value": value}}
        kind = {"type": {"value": "airport.luggage.checkedin"}}
        return {"envelope": "CloudEvents/1.0", "envelopemetadata": kind | subject}

    catalog = catalog_of(wide=with_subject(wide), narrow=with_subject(narrow))
    result = catalog.match(event(subject="BAG-7"))
    assert definition(result) == xid("narrow")
    assert isinstance(result, Match)
    assert set(result.candidates) == {xid("wide"), xid("narrow")}
    if wide is None or wide == "{any}":
        assert definition(catalog.match(event(subject="other"))) == xid("wide")


def test_the_payload_schema_tells_equals_apart() -> None:
    pieces = {**SCHEMA, "required": ["pieces"]}
    catalog = catalog_of(weighed=CHECKED_IN, counted={**CHECKED_IN, "dataschema": pieces})
    assert definition(catalog.match(event({"weight": 1}))) == xid("weighed")
    assert definition(catalog.match(event({"pieces": 1}))) == xid("counted")
    both = catalog.match(event({"pieces": 1, "weight": 1}))
    assert problems(both) == [("/", "ambiguous")]
    assert isinstance(both, NoMatch)
    assert set(both.candidates) == {xid("weighed"), xid("counted")}
    assert both.problems[0].expected == ", ".join(both.candidates)


def test_payload_only_definitions_go_by_content_type_then_schema() -> None:
    weighed = {"dataschemaformat": "JSONSchema/draft-07", "dataschema": SCHEMA}
    counted = {**weighed, "dataschema": {**SCHEMA, "required": ["pieces"]}}
    image = {"datacontenttype": "image/png"}
    catalog = catalog_of(weighed=weighed, counted=counted, image=image, checkedin=CHECKED_IN)

    def sent(payload: bytes, content_type: str) -> Message:
        return Message(protocol="KAFKA", payload=payload, content_type=content_type)

    assert definition(catalog.match(sent(b"PNG", "IMAGE/png"))) == xid("image")
    assert definition(catalog.match(sent(b'{"weight":1}', "application/json"))) == xid("weighed")
    assert definition(catalog.match(sent(b'{"pieces":1}', "application/x+json"))) == xid("counted")
    assert problems(catalog.match(sent(b'{"weight":-1}', "application/json")))[0] == (
        "/weight",
        "minimum",
    )
    # what an envelope or protocol tells comes first
    assert definition(catalog.match(event({"weight": 1}))) == xid("checkedin")


@pytest.mark.parametrize(
    "declared",
    [
        pytest.param({"envelope": "SOAP/1.2", "envelopemetadata": {}}, id="unknown envelope"),
        pytest.param({"protocol": "COAP/1", "protocoloptions": {}}, id="unknown protocol"),
        pytest.param({"envelope": "CloudEvents/1.0", "protocol": "SMTP"}, id="unknown protocol"),
        pytest.param({}, id="nothing declared"),
        pytest.param(
            {"envelope": "CloudEvents/1.0", "envelopemetadata": {"type": {"value": "{+a}"}}},
            id="no template",
        ),
    ],
)
def test_such_definitions_are_never_matched(declared: dict[str, Any]) -> None:
    assert isinstance(catalog_of(odd=declared).match(event()), NoMatch)
    assert isinstance(catalog_of(odd=declared).match(reading()), NoMatch)


def test_the_time_sentinel_is_no_constraint() -> None:
    now = {"value": "0000-01-01T00:00:00Z", "type": "timestamp"}
    declared = {
        "envelope": "CloudEvents/1.0",
        "envelopemetadata": {"type": {"value": "airport.luggage.checkedin"}, "time": now},
    }
    catalog = catalog_of(timed=declared)
    assert definition(catalog.match(event(time="2026-11-16T08:30:00Z"))) == xid("timed")
    assert definition(catalog.match(event())) == xid("timed")


def test_a_borrowed_message_leaves_its_matches_to_the_original() -> None:
    import json

    from heraldry.dialects.load import load_bytes
    from heraldry.messages.catalog import MessageCatalog

    borrowed = {"messages": {"checkedin": {"meta": {"xref": xid("checkedin")}}}}
    groups = {"luggage": {"messages": {"checkedin": CHECKED_IN}}, "transfer": borrowed}
    document = json.dumps({"messagegroups": groups}).encode()
    catalog = MessageCatalog(load_bytes(document, "borrowed.json"))
    assert len(catalog) == 2
    assert definition(catalog.match(event())) == xid("checkedin")


def test_a_brace_that_opens_nothing_is_a_letter_like_others() -> None:
    """M38: only the value of a uritemplate must be one; what else has braces is literal."""
    declared = {"envelope": "CloudEvents/1.0", "envelopemetadata": {"type": {"value": "a{b"}}}
    catalog = catalog_of(odd=declared)
    assert definition(catalog.match(event(type="a{b"))) == xid("odd")
    assert problems(catalog.match(event(type="a{c"))) == [("attributes.type", "constant")]
