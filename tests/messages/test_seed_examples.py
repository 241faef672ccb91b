"""The examples of the specification, word for word in their values."""

from __future__ import annotations

import gzip
from typing import Any
from uuid import UUID

import pytest

from heraldry.errors import BuildError
from heraldry.messages.protocols.amqp import AmqpMessage
from heraldry.messages.protocols.http import HttpMessage
from heraldry.messages.protocols.kafka import KafkaRecord
from heraldry.messages.protocols.mqtt import MqttPublish
from heraldry.messages.protocols.nats import NatsMessage
from heraldry.messages.verdict import Match, NoMatch
from tests.messages.airport import MOMENT, catalog_of

CASH_DESK: dict[str, Any] = {
    "protocol": "MQTT/5.0",
    "protocoloptions": {
        "topic_name": "/store/{storeid}/cashierdesk/{cdid}",
        "user_properties": [{"name": "eventType", "type": "uritemplate", "value": "{eventType}"}],
    },
    "envelope": "CloudEvents/1.0",
    "envelopeoptions": {
        "type": {"type": "uritemplate", "value": "{eventType}"},
        "source": {"type": "uritemplate", "value": "{storeid}"},
        "subject": {"type": "uritemplate", "value": "{cdid}"},
    },
}
CLOUDEVENT: dict[str, Any] = {
    "envelope": "CloudEvents/1.0",
    "envelopemetadata": {
        "type": {"value": "com.example.myevent"},
        "source": {"value": "https://{tenant}/{module}/myevent", "type": "uritemplate"},
        "subject": {"type": "urireference"},
        "time": {"required": True},
    },
    "dataschemaformat": "JsonSchema/draft-07",
    "dataschemauri": "https://example.com/schemas/com.example.myevent.json",
}
VEHICLE: dict[str, Any] = {
    "envelope": "CloudEvents/1.0",
    "envelopeoptions": {
        "source": {
            "type": "uritemplate",
            "value": "/vehicles/{vin}/systems/{system}/sensor/{sensor}",
        }
    },
}
HTTP: dict[str, Any] = {
    "protocol": "HTTP",
    "protocoloptions": {
        "headers": [{"name": "Content-Type", "value": "application/json"}],
        "query": [{"name": "foo", "value": "bar"}],
        "path": "/foo/{bar}",
        "method": "POST",
    },
    "dataschemaformat": "JsonSchema/draft-07",
    "dataschemauri": "https://example.com/schemas/com.example.myevent.json",
}
AMQP: dict[str, Any] = {
    "protocol": "AMQP/1.0",
    "protocoloptions": {
        "properties": {
            "message-id": {"required": True},
            "to": {"value": "https://{host}/{queue}"},
            "subject": {"value": "MyMessageType", "required": True},
            "content-type": {"value": "application/json"},
            "content-encoding": {"value": "gzip"},
        },
        "application-properties": {
            "my-application-property": {"value": "my-application-property-value"}
        },
    },
}
MQTT: dict[str, Any] = {
    "protocol": "MQTT/5.0",
    "protocoloptions": {
        "qos": 1,
        "retain": False,
        "topic_name": "mytopic",
        "user_properties": [{"name": "My Application Property", "value": "Value 1"}],
    },
}
KAFKA: dict[str, Any] = {
    "protocol": "Kafka",
    "protocoloptions": {"topic": "mytopic", "key": "thisdevice"},
}
NATS: dict[str, Any] = {
    "protocol": "NATS",
    "protocoloptions": {"subject": "mytopic", "reply-to": "replytopic"},
}
CATALOG = catalog_of(
    cashdesk=CASH_DESK,
    myevent=CLOUDEVENT,
    vehicle=VEHICLE,
    http=HTTP,
    amqp=AMQP,
    mqtt=MQTT,
    kafka=KAFKA,
    nats=NATS,
)
ID = UUID("00000000-0000-4000-8000-000000000001")
PATH = "metadata.properties"


def recognised(raw: Any) -> tuple[str | None, dict[str, str]]:
    result = CATALOG.match(raw)
    assert isinstance(result, Match), result
    return result.definition.xid.resource, dict(result.values)


def refused(name: str, raw: Any) -> list[tuple[str, str]]:
    assert isinstance(CATALOG.match(raw), NoMatch)
    told = catalog_of(**{name: CATALOG_OF[name]}).match(raw)
    assert isinstance(told, NoMatch)
    return [(problem.path, problem.rule) for problem in told.problems]


CATALOG_OF = {"http": HTTP, "amqp": AMQP, "mqtt": MQTT, "kafka": KAFKA, "nats": NATS}


def test_a_cash_desk_speaks_of_one_store_in_both_places() -> None:
    values = {"storeid": "s1", "cdid": "d 7", "eventType": "com.example.sold"}
    packet = CATALOG["cashdesk"].build(values=values).as_mqtt()
    assert packet.topic_name == "/store/s1/cashierdesk/d%207"
    assert dict(packet.user_properties) == {
        "eventType": "com.example.sold",
        "type": "com.example.sold",
        "source": "s1",
        "subject": "d%207",
    } | {name: dict(packet.user_properties)[name] for name in ("id", "specversion", "time")}
    assert recognised(packet) == ("cashdesk", values)
    other = MqttPublish(
        topic_name="/store/s2/cashierdesk/d", user_properties=packet.user_properties
    )
    result = CATALOG.match(other)
    assert isinstance(result, NoMatch)
    assert ("metadata.topic_name", "placeholder") in [(p.path, p.rule) for p in result.problems]


def test_the_cash_desk_without_an_event_fits_but_for_its_envelope() -> None:
    native = MqttPublish(
        topic_name="/store/s1/cashierdesk/d7",
        user_properties=(("eventType", "com.example.sold"),),
        payload=b"{}",
    )
    told = catalog_of(cashdesk=CASH_DESK).match(native)
    assert isinstance(told, NoMatch)
    assert [problem.path for problem in told.problems] == ["envelope"]


def test_a_cloudevent() -> None:
    message = CATALOG["myevent"].build(
        {"a": 1}, tenant="contoso.com", module="crm", clock=lambda: MOMENT, make_id=lambda: "1"
    )
    assert message.attributes == {
        "id": "1",
        "source": "https://contoso.com/crm/myevent",
        "type": "com.example.myevent",
        "specversion": "1.0",
        "time": "2026-11-16T08:30:00.000Z",
        "datacontenttype": "application/json",
        "dataschema": "https://example.com/schemas/com.example.myevent.json",
    }
    values = {"tenant": "contoso.com", "module": "crm"}
    for raw in (message, message.as_http(), message.as_amqp(), message.as_nats(), message.line()):
        assert recognised(raw) == ("myevent", values)


@pytest.mark.parametrize(
    ("kind", "relative"),
    [
        pytest.param("urireference", True, id="of the one text"),
        pytest.param("uri", False, id="of the other"),
    ],
)
def test_the_subject_of_a_cloudevent(kind: str, relative: bool) -> None:
    attributes = {**CLOUDEVENT["envelopemetadata"], "subject": {"type": kind}}
    catalog = catalog_of(myevent={**CLOUDEVENT, "envelopemetadata": attributes})
    event = {
        "specversion": "1.0",
        "id": "1",
        "type": "com.example.myevent",
        "source": "https://contoso.com/crm/myevent",
        "time": "2026-11-16T08:30:00Z",
    }
    for subject, good in (("https://contoso.com/1", True), ("/1", relative), ("a b", False)):
        result = catalog.match({**event, "subject": subject})
        assert isinstance(result, Match) == good


def test_a_vehicle() -> None:
    event = {
        "specversion": "1.0",
        "id": "1",
        "type": "any",
        "source": "/vehicles/WVW123/systems/brakes/sensor/front",
    }
    values = {"vin": "WVW123", "system": "brakes", "sensor": "front"}
    assert recognised(event) == ("vehicle", values)
    built = CATALOG["vehicle"].build(type="any", **values)
    assert built.attributes["source"] == event["source"]


def test_an_http_request() -> None:
    request = CATALOG["http"].build({"a": 1}, bar="b/z").as_http()
    assert request == HttpMessage(
        method="POST",
        path="/foo/b%2Fz",
        query=(("foo", "bar"),),
        headers=(("content-type", "application/json"),),
        body=b'{"a":1}',
    )
    assert recognised(request) == ("http", {"bar": "b/z"})
    other = HttpMessage(method="POST", path="/foo/a/b", query=(("foo", "baz"),))
    assert refused("http", other) == [
        ("metadata.path", "template"),
        ("metadata.query.foo", "constant"),
        ("metadata.headers.content-type", "required"),
    ]


def test_an_amqp_message() -> None:
    given = {"host": "contoso.com", "queue": "orders"}
    message = CATALOG["amqp"].build({"a": 1}, values={**given, "message-id": ID}).as_amqp()
    assert message.properties == (
        ("message-id", ID),
        ("to", "https://contoso.com/orders"),
        ("subject", "MyMessageType"),
        ("content-type", "application/json"),
        ("content-encoding", "gzip"),
    )
    assert message.application_properties == (
        ("my-application-property", "my-application-property-value"),
    )
    assert gzip.decompress(message.body or b"") == b'{"a":1}'
    assert recognised(message) == ("amqp", given)


@pytest.mark.parametrize(
    ("properties", "told"),
    [
        pytest.param({"message-id": None}, [(f"{PATH}.message-id", "required")], id="no id"),
        pytest.param({"subject": "Other"}, [(f"{PATH}.subject", "constant")], id="subject"),
        pytest.param({"to": "amqp://a"}, [(f"{PATH}.to", "template")], id="to"),
        pytest.param(
            {"content-type": "text/plain", "content-encoding": None},
            [(f"{PATH}.content-type", "content-type"), (f"{PATH}.content-encoding", "required")],
            id="content",
        ),
    ],
)
def test_an_amqp_message_of_another_kind(
    properties: dict[str, Any], told: list[tuple[str, str]]
) -> None:
    given = {
        "message-id": 7,
        "to": "https://a/b",
        "subject": "MyMessageType",
        "content-type": "application/json",
        "content-encoding": "gzip",
    }
    own = (("my-application-property", "my-application-property-value"),)
    right = AmqpMessage(properties=tuple(given.items()), application_properties=own)
    assert recognised(right) == ("amqp", {"host": "a", "queue": "b"})
    changed = tuple((given | properties).items())
    assert refused("amqp", AmqpMessage(properties=changed, application_properties=own)) == told


def test_an_amqp_message_needs_its_id() -> None:
    with pytest.raises(BuildError) as caught:
        CATALOG["amqp"].build(host="a", queue="b")
    told = [(problem.path, problem.rule) for problem in caught.value.problems]
    assert told == [(f"{PATH}.message-id", "required")]


def test_an_mqtt_packet() -> None:
    packet = MqttPublish(
        qos=1,
        retain=False,
        topic_name="mytopic",
        user_properties=(("My Application Property", "Value 1"),),
    )
    assert CATALOG["mqtt"].build().as_mqtt() == packet
    assert recognised(packet) == ("mqtt", {})
    assert refused("mqtt", MqttPublish(qos=0, retain=False, topic_name="mytopic")) == [
        ("metadata.qos", "constant"),
        ("metadata.user_properties.My Application Property", "required"),
    ]


def test_a_kafka_record() -> None:
    record = KafkaRecord(topic="mytopic", key=b"thisdevice")
    assert CATALOG["kafka"].build().as_kafka() == record
    assert recognised(record) == ("kafka", {})
    told = [("metadata.key", "constant")]
    assert refused("kafka", KafkaRecord(topic="mytopic", key=b"thatdevice")) == told


def test_a_nats_message() -> None:
    message = NatsMessage(subject="mytopic", reply_to="replytopic")
    assert CATALOG["nats"].build().as_nats() == message
    assert recognised(message) == ("nats", {})
    assert refused("nats", NatsMessage(subject="mytopic")) == [("metadata.reply-to", "required")]
