"""What holds for every protocol: raw messages, messages and their JSON forms are one thing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heraldry.errors import MessageError
from heraldry.messages.envelopes import cloudevents
from heraldry.messages.protocol_table import (
    ProtocolModule,
    canonical_name,
    fields,
    module,
    normalize,
    supported,
)
from heraldry.messages.values import canonical_text
from tests.effort import effort, thorough
from tests.messages.wires import MODES, PROTOCOLS, events, messages, raws

EVERY = [
    pytest.param(protocol, mode, id=f"{protocol} {mode}")
    for protocol in PROTOCOLS
    for mode in MODES
    if (protocol, mode) != ("MQTT/3.1.1", "binary")
]
each = pytest.mark.parametrize("protocol", [pytest.param(name, id=name) for name in PROTOCOLS])

NESTING = {"delivery-annotations", "message-annotations", "footer"}
"""What may hold lists and maps."""


def spoken(protocol: str) -> ProtocolModule:
    found = module(protocol)
    assert found is not None
    return found


@thorough
@pytest.mark.parametrize(("protocol", "mode"), EVERY)
@given(data=st.data())
@settings(max_examples=effort(300, soak=2000))
def test_decode_inverts_encode(protocol: str, mode: str, data: st.DataObject) -> None:
    found, message = spoken(protocol), data.draw(messages(protocol, mode))
    assert found.decode(found.encode(message)) == message
    assert message.mode == (None if mode == "plain" else mode)
    assert message.protocol == protocol


@each
@given(data=st.data())
def test_encode_inverts_decode_where_there_is_no_event(protocol: str, data: st.DataObject) -> None:
    found, raw = spoken(protocol), data.draw(raws(protocol))
    assert found.encode(found.decode(raw)) == raw


@pytest.mark.parametrize(("protocol", "mode"), EVERY)
@given(data=st.data())
def test_the_json_form_is_the_raw_message(protocol: str, mode: str, data: st.DataObject) -> None:
    found = spoken(protocol)
    raw = found.encode(data.draw(messages(protocol, mode)))
    again = found.from_json(found.to_json(raw), found.payload(raw), found.protocol(raw))
    assert again == raw


@pytest.mark.parametrize(("protocol", "mode"), EVERY)
@given(data=st.data())
def test_fields_cover_the_metadata(protocol: str, mode: str, data: st.DataObject) -> None:
    known = fields(protocol)
    for name, value in data.draw(messages(protocol, mode)).metadata.items():
        assert known[name].collection == isinstance(value, tuple)


@pytest.mark.parametrize(("protocol", "mode"), [one for one in EVERY if one.values[1] != "plain"])
@given(data=st.data())
def test_what_is_built_arrives(protocol: str, mode: str, data: st.DataObject) -> None:
    built = data.draw(events(mode, {}, protocol))
    received = normalize(built)
    assert received.payload == built.payload
    assert received.envelope == cloudevents.ENVELOPE
    for name, value in built.attributes.items():
        found = received.attributes[name]
        assert found == (canonical_text(value) if mode == "binary" else value)
    assert normalize(received) == received


@each
def test_members_that_the_protocol_has_not_are_refused(protocol: str) -> None:
    with pytest.raises(MessageError) as error:
        spoken(protocol).from_json({"offset": 5}, None, protocol)
    assert [(p.path, p.rule) for p in error.value.problems] == [("metadata.offset", "metadata")]


@each
@pytest.mark.parametrize(
    "value", [pytest.param([], id="list"), pytest.param({"a": {}}, id="nested")]
)
def test_wrong_shapes_are_refused(protocol: str, value: Any) -> None:
    for name in fields(protocol).keys() - NESTING:
        wrong = [value] if value == [] else value
        with pytest.raises(MessageError) as error:
            spoken(protocol).from_json({name: wrong}, None, protocol)
        assert error.value.problems[0].path == f"metadata.{name}"


@each
def test_a_structured_event_says_so_by_its_content_type(protocol: str) -> None:
    known = fields(protocol)
    kind: dict[str, Any] = (
        {"content_type": "application/json"}
        if "content_type" in known
        else {"properties": (("content-type", "application/json"),)}
        if "properties" in known
        else {"headers": (("content-type", "application/json"),)}
        if "headers" in known
        else {}
    )
    required = dict.fromkeys(cloudevents.REQUIRED, "1.0")
    message = normalize(
        replace(
            spoken(protocol).decode(spoken(protocol).from_json({}, None, protocol)),
            metadata=kind,
            envelope=cloudevents.ENVELOPE,
            mode="structured",
            attributes=required,
            payload=b"{}",
        )
    )
    assert (message.mode, message.attributes, message.payload) == ("structured", required, b"{}")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        pytest.param("http/1.1", "HTTP", id="http"),
        pytest.param("HTTP/2", "HTTP", id="http 2"),
        pytest.param("Kafka/0.11", "KAFKA", id="kafka"),
        pytest.param("mqtt", "MQTT/5.0", id="mqtt"),
        pytest.param("MQTT/5", "MQTT/5.0", id="mqtt 5"),
        pytest.param("mqtt/3.1.1", "MQTT/3.1.1", id="mqtt 3"),
        pytest.param("MQTT/9", "MQTT/9", id="unknown version"),
        pytest.param("amqp", "AMQP/1.0", id="amqp"),
        pytest.param("AMQP/0.9.1", "AMQP/0.9.1", id="another amqp"),
        pytest.param("nats/1.0.0", "NATS", id="nats"),
        pytest.param("COAP/1", "COAP/1", id="unknown protocol"),
    ],
)
def test_names(text: str, name: str) -> None:
    assert canonical_name(text) == name
    assert supported(text) == (name in PROTOCOLS)
    assert bool(fields(text)) == (name in PROTOCOLS)
