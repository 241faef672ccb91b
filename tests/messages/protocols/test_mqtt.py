"""What only MQTT has: two versions, and attributes among the user properties."""

from __future__ import annotations

from typing import Any

import pytest

from heraldry.errors import MessageError
from heraldry.messages.envelopes import cloudevents
from heraldry.messages.message import Message
from heraldry.messages.protocol_table import fields
from heraldry.messages.protocols.mqtt import MqttPublish, decode, encode, from_json

EVENT = b'{"specversion":"1.0","id":"1","source":"/s","type":"t","data":{"a":1}}'
PROPERTIES = (("specversion", "1.0"), ("id", "1"), ("source", "/s"), ("type", "t"))


def test_versions_have_their_own_fields() -> None:
    assert set(fields("MQTT/3.1.1")) == {"qos", "retain", "topic_name"}
    assert len(fields("MQTT/5.0")) == 9
    assert fields("MQTT")["topic_name"].separator == "/"


def test_attributes_are_the_properties_that_can_be() -> None:
    more = (("My Property", "x"), ("gate", "A1"), ("id", "2"), ("data", "x"))
    message = decode(MqttPublish(user_properties=PROPERTIES + more, content_type="a/b"))
    assert message.mode == "binary"
    assert message.attributes == dict(PROPERTIES) | {"gate": "A1", "datacontenttype": "a/b"}
    assert decode(encode(message)) == message


@pytest.mark.parametrize("version", [pytest.param(one, id=repr(one)) for one in ("0.3", "", "x")])
def test_a_property_called_specversion_is_not_always_an_event(version: str) -> None:
    message = decode(MqttPublish(user_properties=(("specversion", version), ("type", "t"))))
    assert message.envelope is None


@pytest.mark.parametrize(
    ("payload", "structured"),
    [
        pytest.param(EVENT, True, id="event"),
        pytest.param(b" " + EVENT, True, id="event after white space"),
        pytest.param(EVENT.replace(b'"1.0"', b'"0.3"'), False, id="old"),
        pytest.param(EVENT.replace(b'"id"', b'"no"'), False, id="no id"),
        pytest.param(EVENT.replace(b'"/s"', b"5"), False, id="a number as source"),
        pytest.param(EVENT[:-1], False, id="not JSON"),
        pytest.param(b'["specversion"]', False, id="list"),
        pytest.param(None, False, id="none"),
    ],
)
def test_events_on_3_1_1_show_inside(payload: bytes | None, structured: bool) -> None:
    message = decode(MqttPublish(payload=payload, version="3.1.1"))
    assert (message.mode == "structured") is structured
    assert message.payload == (b'{"a":1}' if structured else payload)
    assert decode(MqttPublish(payload=payload)).mode is None


def test_events_on_3_1_1_are_always_structured() -> None:
    built = Message(
        protocol="MQTT/3.1.1",
        envelope=cloudevents.ENVELOPE,
        mode="binary",
        attributes=dict(PROPERTIES),
        payload=b"{}",
    )
    received = decode(encode(built))
    assert (received.mode, received.attributes) == ("structured", dict(PROPERTIES))
    assert received.metadata == {}


@pytest.mark.parametrize(
    ("metadata", "protocol", "rule"),
    [
        pytest.param({"qos": "1"}, "MQTT", "metadata", id="qos as a text"),
        pytest.param({"retain": 1}, "MQTT", "metadata", id="retain as a number"),
        pytest.param({"correlation_data": "AQ=="}, "MQTT", "metadata", id="bytes as a text"),
        pytest.param({"correlation_data": {"base64": "*"}}, "MQTT", "base64", id="not base64"),
        pytest.param({"user_properties": []}, "MQTT/3.1.1", "metadata", id="only in 5.0"),
    ],
)
def test_json_that_is_refused(metadata: dict[str, Any], protocol: str, rule: str) -> None:
    with pytest.raises(MessageError) as error:
        from_json(metadata, None, protocol)
    found = error.value.problems[0]
    assert (found.path, found.rule) == (f"metadata.{next(iter(metadata))}", rule)


def test_of_several_faults_the_first_property_is_told() -> None:
    """Whatever the seed of this process's hashes, and whatever order the members have."""
    names = [one for one in fields("MQTT/5.0") if one != "user_properties"]
    for place, name in enumerate(names):
        with pytest.raises(MessageError) as error:
            from_json({one: [] for one in reversed(names[place:])}, None, "MQTT")
        assert error.value.problems[0].path == f"metadata.{name}"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        pytest.param("qos", 3, id="qos"),
        pytest.param("qos", -1, id="negative qos"),
        pytest.param("payload_format", 2, id="payload format"),
        pytest.param("message_expiry_interval", 2**32, id="expiry"),
        pytest.param("topic_name", "a/#", id="all below"),
        pytest.param("topic_name", "a/+/b", id="any"),
        pytest.param("response_topic", "a\0", id="null character"),
        pytest.param("message_expiry_interval", "soon", id="no number"),
        pytest.param("retain", "maybe", id="no truth"),
    ],
)
def test_what_no_packet_can_hold(name: str, value: Any) -> None:
    for attempt in (
        lambda: decode(MqttPublish(**{name: value})),
        lambda: encode(Message(protocol="MQTT/5.0", metadata={name: value})),
    ):
        with pytest.raises(MessageError) as error:
            attempt()
        assert [problem.path for problem in error.value.problems] == [f"metadata.{name}"]


def test_nothing_is_dropped_on_the_way_to_3_1_1() -> None:
    with pytest.raises(MessageError):
        encode(Message(protocol="MQTT/3.1.1", metadata={"response_topic": "x"}))


def test_correlation_data_as_base64() -> None:
    message = Message(protocol="MQTT/5.0", metadata={"correlation_data": "/w=="})
    assert encode(message).correlation_data == b"\xff"
    with pytest.raises(MessageError):
        encode(Message(protocol="MQTT/5.0", metadata={"correlation_data": "*"}))
