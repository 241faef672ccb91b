"""The event format of what is built: asked for, declared, or refused."""

from __future__ import annotations

from typing import Any

import pytest

from heraldry.errors import BuildError, MessageError, UsageError
from heraldry.messages.build import BuiltMessage
from heraldry.messages.envelopes.event_formats import FORMATS
from heraldry.messages.protocol_table import decode_all
from tests.messages.airport import CHECKED_IN, READING, SCANNED, catalog_of, xid

VALUES = {"airport": "MUC", "tag": "1"}


def built(definition: dict[str, Any] = CHECKED_IN, **arguments: Any) -> BuiltMessage:
    return catalog_of(m=definition)[xid("m")].build({"weight": 1}, values=VALUES, **arguments)


def raws(message: BuiltMessage) -> list[Any]:
    return [
        message.as_http(),
        message.as_kafka(),
        message.as_mqtt(),
        message.as_amqp(),
        message.as_nats(),
    ]


@pytest.mark.parametrize("name", [pytest.param(name, id=name) for name in FORMATS])
@pytest.mark.parametrize(
    "protocol", [pytest.param(one, id=str(one)) for one in (None, "HTTP", "KAFKA", "AMQP/1.0")]
)
def test_a_format_that_is_asked_for(name: str, protocol: str | None) -> None:
    message = built(protocol=protocol, mode="structured", event_format=name)
    assert (message.mode, message.event_format) == ("structured", name)
    for raw in raws(message):
        (received,) = decode_all(raw)
        assert (received.mode, received.payload) == ("structured", b'{"weight":1}')
        assert FORMATS[name].MEDIA_TYPE in str(raw)
        match = catalog_of(m=CHECKED_IN).match(received)
        assert getattr(match, "values", None) == VALUES


@pytest.mark.parametrize(
    "given",
    [
        pytest.param({"event_format": "avro"}, id="name"),
        pytest.param({"event_format": "application/cloudevents+avro"}, id="media type"),
        pytest.param({"event_format": "AVRO", "mode": "structured"}, id="case"),
    ],
)
def test_a_format_means_structured(given: dict[str, Any]) -> None:
    message = built(protocol="HTTP", **given)
    assert (message.mode, message.event_format) == ("structured", "avro")


@pytest.mark.parametrize(
    ("options", "more", "expected"),
    [
        pytest.param({}, {}, None, id="nothing"),
        pytest.param({"mode": "structured"}, {}, "json", id="mode"),
        pytest.param({"mode": "structured", "format": "protobuf"}, {}, "protobuf", id="format"),
        pytest.param({"mode": "binary", "format": "protobuf"}, {}, None, id="binary"),
        pytest.param(
            {"mode": "structured"},
            {"datacontenttype": "application/cloudevents+avro"},
            "avro",
            id="content type",
        ),
        pytest.param(
            {"mode": "structured"}, {"datacontenttype": "application/json"}, "json", id="of data"
        ),
    ],
)
def test_a_format_that_is_declared(
    options: dict[str, str], more: dict[str, str], expected: str | None
) -> None:
    message = built({**CHECKED_IN, "envelopeoptions": options, **more}, protocol="HTTP")
    assert message.event_format == expected
    assert message.mode == ("structured" if expected else "binary")
    for raw in raws(message):
        (received,) = decode_all(raw)
        assert received.mode == message.mode


def test_what_is_asked_for_comes_before_what_is_declared() -> None:
    declared = {**CHECKED_IN, "envelopeoptions": {"mode": "structured", "format": "avro"}}
    assert built(declared, event_format="json", protocol="HTTP").event_format == "json"
    assert built(declared, mode="binary", protocol="HTTP").event_format is None


@pytest.mark.parametrize(
    ("given", "told"),
    [
        pytest.param({"event_format": "xml"}, "choose one of json, protobuf, avro", id="unknown"),
        pytest.param({"event_format": "avro", "mode": "binary"}, "only a structured", id="binary"),
    ],
)
def test_formats_that_cannot_be(given: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        built(**given)


def test_a_message_without_an_envelope_has_no_format() -> None:
    definition = catalog_of(m=READING)[xid("m")]
    with pytest.raises(UsageError, match="only a structured CloudEvent"):
        definition.build({"value": 1}, event_format="avro")


def test_a_declared_format_that_nobody_knows() -> None:
    options = {"mode": "structured", "format": "application/cloudevents+xml"}
    with pytest.raises(BuildError, match="event-format"):
        built({**CHECKED_IN, "envelopeoptions": options})


def test_mqtt_3_has_json_only() -> None:
    assert built(event_format="json").as_mqtt("3.1.1").payload
    with pytest.raises(MessageError, match=r"has no place in MQTT/3\.1\.1"):
        built(event_format="avro").as_mqtt("3.1.1")
    with pytest.raises(BuildError, match=r"has no place in MQTT/3\.1\.1"):
        built(protocol="MQTT/3.1.1", event_format="avro")


def test_a_declared_content_type_wins_over_another_format() -> None:
    options = {"headers": {"content-type": {"value": "application/cloudevents+avro"}}}
    definition = {**SCANNED, "protocoloptions": {"topic": "luggage", **options}}
    catalog = catalog_of(m=definition)[xid("m")]
    values = {"airport": "MUC", "gate": "7"}
    message = catalog.build({}, values=values, mode="structured")
    assert message.as_kafka().headers == (("content-type", b"application/cloudevents+avro"),)
    with pytest.raises(BuildError, match="content-type"):
        catalog.build({}, values=values, event_format="protobuf")
