"""A message that is no event becomes one, through a definition with a protocol and an envelope."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from heraldry.messages.catalog import Matched, MessageCatalog
from heraldry.messages.mapping import Mapped
from heraldry.messages.protocols.kafka import KafkaRecord
from heraldry.messages.protocols.mqtt import MqttPublish
from heraldry.messages.verdict import Rejected
from tests.messages.airport import SCHEMA, airport, catalog_of, event, reading, xid

MOMENT = datetime(2026, 11, 16, 8, 30, tzinfo=UTC)

CASH_DESK: dict[str, Any] = {
    "protocol": "MQTT/5.0",
    "protocoloptions": {
        "topic_name": "/store/{storeid}/cashierdesk/{cdid}",
        "user_properties": [{"name": "eventType", "type": "uritemplate", "value": "{eventType}"}],
    },
    "envelope": "CloudEvents/1.0",
    "envelopemetadata": {
        "type": {"type": "uritemplate", "value": "{eventType}"},
        "source": {"type": "uritemplate", "value": "{storeid}"},
        "subject": {"type": "uritemplate", "value": "{cdid}"},
    },
}
"""The example of the specification's section on context attributes."""

SALE = MqttPublish(
    topic_name="/store/17/cashierdesk/3",
    user_properties=(("eventType", "com.example.sale"),),
    payload=b'{"total": 12.5}',
)

WEIGHED: dict[str, Any] = {
    "protocol": "KAFKA",
    "protocoloptions": {"topic": "scales-{scale}", "key": "{tag}"},
    "envelope": "CloudEvents/1.0",
    "envelopemetadata": {
        "type": {"value": "airport.luggage.weighed"},
        "source": {"type": "uritemplate", "value": "/scales/{scale}"},
        "subject": {"value": "{tag}"},
        "unit": {"value": "kg"},
    },
    "dataschemaformat": "JSONSchema/draft-07",
    "dataschema": SCHEMA,
}


def weighed(payload: bytes | None = b'{"weight": 3}', **changes: Any) -> KafkaRecord:
    return replace(KafkaRecord(topic="scales-7", key=b"0220731", value=payload), **changes)


def mapped(catalog: MessageCatalog, raw: Any, **options: Any) -> Mapped | Rejected:
    return catalog.to_cloudevent(raw, clock=lambda: MOMENT, make_id=lambda: "id-1", **options)


def problems(result: Mapped | Rejected) -> list[tuple[str, str]]:
    assert isinstance(result, Rejected), result
    return [(one.path, one.rule) for one in result.problems]


def test_the_cash_desk_of_the_specification() -> None:
    result = mapped(catalog_of(sale=CASH_DESK), SALE)
    assert isinstance(result, Mapped), result
    assert result.event.attributes == {
        "id": "id-1",
        "source": "17",
        "type": "com.example.sale",
        "specversion": "1.0",
        "subject": "3",
        "time": "2026-11-16T08:30:00.000Z",
    }
    assert result.event.payload == SALE.payload
    assert result.event.protocol is None
    assert result.match is not None
    assert str(result.match.definition.xid) == xid("sale")
    assert result.match.definition.envelope == "CloudEvents/1.0"
    assert result.match.values == {"storeid": "17", "cdid": "3", "eventType": "com.example.sale"}


def test_the_event_of_a_mapped_message_travels_and_matches() -> None:
    catalog = catalog_of(sale=CASH_DESK)
    result = mapped(catalog, SALE)
    assert isinstance(result, Mapped)
    assert b'"data":{"total": 12.5}' in result.event.as_cloudevents_json()
    match = catalog.match(result.event.line())
    assert isinstance(match, Matched)
    assert match.values == {"storeid": "17", "cdid": "3", "eventType": "com.example.sale"}


def test_constants_and_what_is_inferred_are_filled_in() -> None:
    result = mapped(catalog_of(weighed=WEIGHED), weighed())
    assert isinstance(result, Mapped), result
    attributes = result.event.attributes
    assert attributes["type"] == "airport.luggage.weighed"
    assert attributes["source"] == "/scales/7"
    assert attributes["unit"] == "kg"
    assert attributes["datacontenttype"] == "application/json"


def test_the_content_type_of_the_message_is_kept() -> None:
    plain = {name: value for name, value in WEIGHED.items() if not name.startswith("dataschema")}
    stated = weighed(b"3 kg", headers=(("content-type", b"text/plain; charset=utf-8"),))
    result = mapped(catalog_of(weighed=plain), stated)
    assert isinstance(result, Mapped), result
    assert result.event.attributes["datacontenttype"] == "text/plain; charset=utf-8"
    assert result.event.payload == b"3 kg"


@pytest.mark.parametrize(
    ("record", "stage", "expected"),
    [
        pytest.param(
            weighed(topic="belts-7"), "match", ("metadata.topic", "template"), id="protocol part"
        ),
        pytest.param(weighed(b'{"weight": -3}'), "validate", ("/weight", "minimum"), id="payload"),
        pytest.param(weighed(None), "validate", ("/", "payload"), id="no payload"),
    ],
)
def test_what_the_definition_says_must_hold(
    record: KafkaRecord, stage: str, expected: tuple[str, str]
) -> None:
    result = mapped(catalog_of(weighed=WEIGHED), record)
    assert expected in problems(result)
    assert isinstance(result, Rejected)
    assert result.stage == stage
    assert result.definition == xid("weighed")


def test_what_the_message_does_not_tell_is_listed_and_may_be_given() -> None:
    declared = {
        **WEIGHED,
        "envelopemetadata": {
            **WEIGHED["envelopemetadata"],
            "source": {"type": "uritemplate", "value": "/airports/{airport}/scales/{scale}"},
            "gate": {"required": True},
        },
    }
    catalog = catalog_of(weighed=declared)
    missing = mapped(catalog, weighed())
    assert set(problems(missing)) == {
        ("attributes.source", "placeholder"),
        ("attributes.gate", "required"),
    }
    assert isinstance(missing, Rejected)
    assert missing.stage == "map"
    result = mapped(catalog, weighed(), values={"airport": "MUC", "gate": "A1"})
    assert isinstance(result, Mapped)
    assert result.event.attributes["source"] == "/airports/MUC/scales/7"
    assert result.event.attributes["gate"] == "A1"


def test_a_given_value_does_not_replace_that_of_the_message() -> None:
    result = mapped(catalog_of(weighed=WEIGHED), weighed(), values={"scale": "8"})
    assert problems(result) == [("scale", "placeholder")]
    same = mapped(catalog_of(weighed=WEIGHED), weighed(), values={"scale": "7"})
    assert isinstance(same, Mapped)


def test_an_event_stays_as_it_is() -> None:
    catalog = airport()
    sent = catalog["checkedin"].build({"weight": 1}, airport="MUC", tag="1").as_http()
    result = mapped(catalog, sent)
    assert isinstance(result, Mapped)
    assert result.match is None
    assert result.event.as_http() == sent
    assert isinstance(mapped(catalog, event(type="nobody.knows")), Mapped)


def test_a_definition_without_an_envelope_makes_no_event() -> None:
    result = mapped(airport(), reading())
    assert problems(result) == [("envelope", "envelope")]
    assert isinstance(result, Rejected)
    assert (result.stage, result.definition) == ("map", xid("reading"))


def test_what_is_no_message_makes_no_event() -> None:
    result = mapped(airport(), b"{")
    assert isinstance(result, Rejected)
    assert result.stage == "decode"


def test_the_most_derived_definition_makes_the_event() -> None:
    heavy = {
        "basemessage": xid("weighed"),
        "protocoloptions": {"headers": {"size": {"value": "heavy"}}},
        "envelopemetadata": {"type": {"value": "airport.luggage.heavy"}},
    }
    catalog = catalog_of(weighed=WEIGHED, heavy=heavy)
    for headers, kind in (((), "weighed"), ((("size", b"heavy"),), "heavy")):
        result = mapped(catalog, weighed(headers=headers))
        assert isinstance(result, Mapped), result
        assert result.event.attributes["type"] == f"airport.luggage.{kind}"
