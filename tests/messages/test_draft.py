"""What programs hand over becomes what messages have, or is refused with a reason."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

import pytest

from heraldry.errors import BuildError, UsageError
from heraldry.messages.build import BuiltMessage
from heraldry.messages.verdict import Match
from tests.messages.airport import catalog_of

TYPES = ("string", "integer", "number", "boolean", "binary", "any")
EVENT: dict[str, Any] = {
    "envelope": "CloudEvents/1.0",
    "envelopemetadata": {
        "type": {"value": "t"},
        "source": {"value": "/{tenant}"},
        **{f"{kind}ext": {"type": kind} for kind in TYPES},
    },
}
CATALOG = catalog_of(
    event=EVENT,
    text={**EVENT, "datacontenttype": "text/plain; charset=iso-8859-1"},
    kafka={"protocol": "KAFKA", "protocoloptions": {"topic": "t", "key": "{key}"}},
    http={"protocol": "HTTP", "protocoloptions": {"method": "POST", "path": "/{tenant}"}},
    mqtt={"protocol": "MQTT/5.0", "protocoloptions": {"topic_name": "t"}},
    nats={"protocol": "NATS", "protocoloptions": {"subject": "s"}},
)


class Colour(Enum):
    RED = "red"


class Word(str):
    __slots__ = ()


def build(name: str = "event", data: Any = None, **values: Any) -> BuiltMessage:
    return CATALOG[name].build(data, values={"tenant": "a", **values})


def told(name: str, values: Mapping[str, Any], data: Any = None) -> list[tuple[str, str]]:
    with pytest.raises(BuildError) as caught:
        CATALOG[name].build(data, values=values)
    return [(problem.path, problem.rule) for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param(5, "5", id="integer"),
        pytest.param(True, "true", id="truth"),
        pytest.param(1.5, "1.5", id="number"),
        pytest.param(Decimal("1.50"), "1.50", id="decimal"),
        pytest.param(date(2026, 11, 16), "2026-11-16", id="date"),
        pytest.param(datetime(2026, 11, 16, tzinfo=UTC), "2026-11-16T00:00:00.000Z", id="time"),
        pytest.param(timedelta(seconds=5), "PT5S", id="duration"),
        pytest.param(UUID(int=7), "00000000-0000-0000-0000-000000000007", id="UUID"),
        pytest.param(Colour.RED, "red", id="enumeration"),
        pytest.param(Word("w"), "w", id="a text of another class"),
        pytest.param(b"\xff", "/w==", id="bytes"),
        pytest.param(bytearray(b"\xff"), "/w==", id="byte array"),
    ],
)
def test_values_become_texts(value: Any, text: str) -> None:
    message = build(tenant=value, stringext=value, id=value)
    assert message.values == {"tenant": text}
    assert (message.attributes["stringext"], message.attributes["id"]) == (text, text)
    for raw in (message.line(), message.as_http(), message.as_amqp(), message.as_kafka()):
        result = CATALOG.match(raw)
        assert isinstance(result, Match), result
        assert result.values == {"tenant": text}


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [
        pytest.param("integerext", "5", 5, id="integer"),
        pytest.param("numberext", 5, 5, id="number"),
        pytest.param("numberext", 2**40, str(2**40), id="number beyond 32 bits"),
        pytest.param("booleanext", "true", True, id="truth"),
        pytest.param("binaryext", b"\xff", b"\xff", id="bytes"),
        pytest.param("anyext", False, False, id="any"),
    ],
)
def test_extensions_keep_the_types_of_events(name: str, value: Any, found: Any) -> None:
    assert build(**{name: value}).attributes[name] == found


@pytest.mark.parametrize("name", ["tenant", "stringext", "anyext", "time"])
@pytest.mark.parametrize(
    "value",
    [
        pytest.param([1], id="list"),
        pytest.param({"a": 1}, id="map"),
        pytest.param({1}, id="set"),
        pytest.param(float("nan"), id="NaN"),
        pytest.param(float("inf"), id="infinity"),
        pytest.param(object(), id="object"),
        pytest.param("\ud800", id="no Unicode"),
    ],
)
def test_what_no_message_can_hold(name: str, value: Any) -> None:
    assert told("event", {"tenant": "a", name: value}) == [(name, "type")]


@pytest.mark.parametrize("value", ["--5", "-", "٥", "5" * 5000, " 5"])
def test_a_text_that_is_no_integer(value: str) -> None:
    values = {"tenant": "a", "integerext": value}
    assert told("event", values) == [("attributes.integerext", "type")]


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [
        pytest.param("specversion", "0.3", "constant", id="another version"),
        pytest.param("dataschema", "/relative", "type", id="no URI"),
        pytest.param("datacontenttype", "json", "type", id="no media type"),
        pytest.param("subject", "", "type", id="empty"),
        pytest.param("subject", "a\nb", "type", id="control character"),
        pytest.param("attributes.Gate", "1", "name", id="upper case"),
        pytest.param("attributes.data", "1", "name", id="the payload's name"),
    ],
)
def test_attributes_that_no_event_has(name: str, value: str, rule: str) -> None:
    path = f"attributes.{name.removeprefix('attributes.')}"
    assert told("event", {"tenant": "a", name: value}) == [(path, rule)]


@pytest.mark.parametrize(
    ("name", "property_", "value"),
    [
        pytest.param("kafka", "partition", "many", id="partition"),
        pytest.param("kafka", "partition", 0.5, id="half a partition"),
        pytest.param("mqtt", "message_expiry_interval", "soon", id="expiry"),
        pytest.param("mqtt", "retain", "maybe", id="retain"),
        pytest.param("mqtt", "user_properties.a", "\0", id="null in a user property"),
        pytest.param("http", "headers.x-a", "1\r\nevil: 1", id="HTTP header"),
        pytest.param("nats", "headers.x-a", "1\r\nevil: 1", id="NATS header"),
        pytest.param("nats", "headers.a:b", "1", id="name of a NATS header"),
    ],
)
def test_values_the_protocol_cannot_carry(name: str, property_: str, value: Any) -> None:
    values = {"key": "k", "tenant": "a", property_: value}
    given = {one: values[one] for one in (*CATALOG[name].placeholders, property_)}
    assert told(name, given) == [(f"metadata.{property_}", "metadata")]


@pytest.mark.parametrize("value", ["a?b", "a#b", "a HTTP/1.1\r\nevil: 1"])
def test_a_raw_value_stays_in_its_path(value: str) -> None:
    with pytest.raises(BuildError) as caught:
        CATALOG["http"].build(tenant=value, raw=True)
    assert [problem.path for problem in caught.value.problems] == ["metadata.path"]


def test_bytes_are_bytes_on_kafka() -> None:
    catalog = catalog_of(kafka={"protocol": "KAFKA", "protocoloptions": {"topic": "t"}})
    record = catalog["kafka"].build(values={"key": b"\xff", "headers.h": b"\xff"}).as_kafka()
    assert (record.key, record.headers) == (b"\xff", (("h", b"\xff"),))
    assert told("kafka", {"key": "a", "key_base64": b"b"}) == [("metadata.key", "placeholder")]


def test_constants_are_what_the_protocol_has() -> None:
    options = {"topic_name": 5, "correlation_data": {"value": "AQI="}, "qos": "1"}
    catalog = catalog_of(odd={"protocol": "MQTT/5.0", "protocoloptions": options})
    packet = catalog["odd"].build().as_mqtt()
    assert (packet.topic_name, packet.correlation_data, packet.qos) == ("5", b"\x01\x02", 1)
    assert isinstance(catalog.match(packet), Match)


@pytest.mark.parametrize("value", [{"a": 1}, [1]])
def test_a_constant_may_be_any_json_value(value: Any) -> None:
    declared = {"type": "any", "value": value}
    event = {**EVENT["envelopemetadata"], "ext": declared}
    catalog = catalog_of(
        event={**EVENT, "envelopemetadata": event},
        amqp={"protocol": "AMQP/1.0", "protocoloptions": {"footer": {"f": declared}}},
    )
    for message in (catalog["event"].build(tenant="a"), catalog["amqp"].build()):
        assert isinstance(catalog.match(message.line()), Match)


@pytest.mark.parametrize("kind", ["string", "uritemplate", None])
def test_only_a_timestamp_is_the_current_time(kind: str | None) -> None:
    declared = {"value": "0000-01-01T00:00:00Z"} | ({"type": kind} if kind else {})
    options = {"application-properties": {"at": declared}}
    catalog = catalog_of(odd={"protocol": "AMQP/1.0", "protocoloptions": options})
    message = catalog["odd"].build().as_amqp()
    assert message.application_properties == (("at", "0000-01-01T00:00:00Z"),)
    assert isinstance(catalog.match(message), Match)


@pytest.mark.parametrize(
    ("name", "data", "payload"),
    [
        pytest.param("event", bytearray(b"\xff"), b"\xff", id="byte array"),
        pytest.param("event", memoryview(b"\xff"), b"\xff", id="memory"),
        pytest.param("event", {"a": None}, b'{"a":null}', id="null"),
        pytest.param("text", "ü", b"\xfc", id="text in its character set"),
        pytest.param("text", b"\xc3", b"\xc3", id="bytes"),
    ],
)
def test_data(name: str, data: Any, payload: bytes) -> None:
    assert build(name, data).payload == payload


@pytest.mark.parametrize(
    ("name", "data", "rule"),
    [
        pytest.param("event", {"a": float("nan")}, "json", id="NaN"),
        pytest.param("text", {"a": 1}, "payload", id="an object that is no JSON"),
        pytest.param("text", "€", "encoding", id="not in its character set"),
    ],
)
def test_data_that_cannot_be_written(name: str, data: Any, rule: str) -> None:
    assert told(name, {"tenant": "a"}, data) == [("/", rule)]


def test_words_that_are_no_choice() -> None:
    wrong: Any = "batch"
    with pytest.raises(UsageError, match="binary or structured"):
        CATALOG["event"].build(tenant="a", mode=wrong)
    with pytest.raises(UsageError, match="only a CloudEvent"):
        CATALOG["mqtt"].build(mode="binary")
    with pytest.raises(UsageError, match="MQTT/4"):
        build().as_mqtt("4")
