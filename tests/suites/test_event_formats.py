"""What holds for every event format: on its own, on every protocol, and in batches."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heraldry.errors import MessageError
from heraldry.messages import content_encoding, line
from heraldry.messages.envelopes import cloudevents, json_format
from heraldry.messages.envelopes.event_formats import BATCHES, FORMATS
from heraldry.messages.message import Message
from heraldry.messages.protocol_table import decode_all, module, normalize, with_content_type
from heraldry.messages.protocols import http
from heraldry.messages.protocols.http import HttpMessage
from heraldry.messages.protocols.kafka import KafkaRecord
from tests.effort import effort, thorough
from tests.messages.envelopes.events import EVENT, events

PROTOCOLS = ("HTTP", "AMQP/1.0", "MQTT/5.0", "KAFKA", "NATS")
every_format = pytest.mark.parametrize("name", [pytest.param(name, id=name) for name in FORMATS])
every_batch = pytest.mark.parametrize("name", [pytest.param(name, id=name) for name in BATCHES])
bindings = pytest.mark.parametrize(
    "protocol", [pytest.param(protocol, id=protocol) for protocol in PROTOCOLS]
)


def drawn(name: str) -> st.SearchStrategy[Message]:
    return events(binary=name != "json")


def read(event: Message, name: str) -> Message:
    """The event as a reader of the format sees it."""
    attributes, payload, kind = FORMATS[name].read(FORMATS[name].write(event))
    return replace(event, attributes=attributes, payload=payload, content_type=kind)


@thorough
@every_format
@given(data=st.data())
@settings(max_examples=effort(300, soak=2000))
def test_read_inverts_write(name: str, data: st.DataObject) -> None:
    event = data.draw(drawn(name))
    seen = read(event, name)
    assert seen.payload == event.payload
    kind = event.attributes.get("datacontenttype", event.content_type)
    assert seen.attributes.items() >= {(n, v) for n, v in event.attributes.items() if n != "time"}
    assert seen.content_type == kind or (kind is None and name == "json")
    again = read(seen, name)
    assert again == seen
    types = [type(value) for value in seen.attributes.values()]
    assert types == [type(value) for value in again.attributes.values()]


@thorough
@every_format
@bindings
@given(data=st.data())
@settings(max_examples=effort(50, soak=500))
def test_a_format_is_kept_on_every_protocol(protocol: str, name: str, data: st.DataObject) -> None:
    found = module(protocol)
    assert found is not None
    kind = FORMATS[name].MEDIA_TYPE + data.draw(st.sampled_from(["", "; charset=utf-8"]))
    metadata = with_content_type(protocol, {}, kind)
    event = replace(data.draw(drawn(name)), protocol=protocol, metadata=metadata)
    raw = found.encode(event)
    assert (found.content_type(raw), found.payload(raw)) == (kind, FORMATS[name].write(event))
    message = found.decode(raw)
    assert message == replace(read(event, name), protocol=protocol, metadata=message.metadata)
    assert found.decode(found.encode(message)) == message
    assert decode_all(raw) == (message,)
    assert line.read(line.write(message)) == message


@bindings
@pytest.mark.parametrize(
    ("kind", "rule"),
    [
        pytest.param("application/cloudevents+xml", "event-format", id="unknown"),
        pytest.param("application/cloudevents-batch+json", "batch", id="batch"),
    ],
)
def test_what_is_no_known_event_is_refused(protocol: str, kind: str, rule: str) -> None:
    found = module(protocol)
    assert found is not None
    raw = found.encode(Message(protocol=protocol, metadata=with_content_type(protocol, {}, kind)))
    with pytest.raises(MessageError) as error:
        found.decode(raw)
    assert [one.rule for one in error.value.problems] == [rule]
    event = Message(
        protocol=protocol,
        metadata=with_content_type(protocol, {}, kind),
        envelope=cloudevents.ENVELOPE,
        mode="structured",
        attributes=EVENT,
    )
    with pytest.raises(MessageError):
        found.encode(event)


def test_a_batch_is_nothing_on_other_protocols() -> None:
    headers = (("content-type", json_format.BATCH_MEDIA_TYPE.encode()),)
    with pytest.raises(MessageError, match=r"\[batch\]"):
        decode_all(KafkaRecord(headers=headers, value=b"[]"))


def test_a_line_is_one_message() -> None:
    metadata = b'{"headers":[{"name":"content-type","value":"application/cloudevents-batch+json"}]}'
    with pytest.raises(MessageError, match=r"\[batch\]"):
        line.read(b'{"protocol":"HTTP","metadata":' + metadata + b',"payload":[]}')


@every_batch
@given(data=st.data())
@settings(max_examples=300)
def test_a_batch_is_its_events(name: str, data: st.DataObject) -> None:
    address = {"method": "POST", "path": "/in", "headers": (("X-A", "b"),)}
    kind = FORMATS[name].MEDIA_TYPE
    alone = with_content_type("HTTP", address, kind)
    messages = [
        normalize(replace(event, protocol="HTTP", metadata=alone))
        for event in data.draw(st.lists(drawn(name), max_size=4))
    ]
    raw = http.encode_batch(messages, name)
    assert http.content_type(raw) == BATCHES[name].BATCH_MEDIA_TYPE
    assert decode_all(raw) == tuple(messages)
    assert not messages or (raw.method, raw.path) == ("POST", "/in")
    assert http.encode_batch(decode_all(raw), name) == raw


def batch(body: bytes, *headers: tuple[str, str]) -> HttpMessage:
    kind = ("Content-Type", "application/cloudevents-batch+json")
    return HttpMessage(method="POST", headers=(kind, *headers), body=body)


def test_a_batch_over_http() -> None:
    body = b'[{"specversion":"1.0","id":"1","data":{"a": 1}},{"specversion":"1.0","id":"2"}]'
    first, second = decode_all(batch(body, ("X-A", "b")))
    headers = (("Content-Type", "application/cloudevents+json"), ("X-A", "b"))
    assert first.metadata == second.metadata == {"method": "POST", "headers": headers}
    assert (first.payload, first.attributes) == (b'{"a": 1}', {"specversion": "1.0", "id": "1"})
    assert (second.payload, second.mode) == (None, "structured")
    assert http.decode(http.encode(first)) == first
    assert decode_all(batch(b"[]")) == ()


def test_a_batch_may_be_compressed_within_limits() -> None:
    packed = content_encoding.encode(b"[" + b" " * 5000 + b"]", "gzip")
    raw = batch(packed, ("Content-Encoding", "gzip"))
    assert http.decode_batch(raw) == ()
    with pytest.raises(MessageError, match="too-large"):
        http.decode_batch(raw, limit=5000)
    with pytest.raises(MessageError, match="too-large"):
        http.decode_batch(batch(b"[{},{}]"), most=1)


def test_events_of_binary_mode_in_a_batch() -> None:
    headers = (("ce-id", "9"), ("content-type", "text/plain"), ("X-A", "b"))
    event = Message(
        protocol="HTTP",
        metadata={"headers": headers},
        envelope=cloudevents.ENVELOPE,
        mode="binary",
        attributes={**EVENT, "datacontenttype": "text/plain"},
        payload=b"x",
    )
    raw = http.encode_batch([event, event])
    assert raw.headers == (("X-A", "b"), ("content-type", json_format.BATCH_MEDIA_TYPE))
    assert [one.attributes for one in decode_all(raw)] == [event.attributes] * 2


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        pytest.param({"envelope": None}, "is no event", id="no event"),
        pytest.param({"metadata": {"path": "/b"}}, "has another address", id="another path"),
        pytest.param(
            {"metadata": {"path": "/a", "headers": (("x", "y"),)}}, "other headers", id="headers"
        ),
    ],
)
def test_what_does_not_go_into_a_batch(changes: dict[str, Any], told: str) -> None:
    event = Message(envelope=cloudevents.ENVELOPE, metadata={"path": "/a"}, attributes=EVENT)
    with pytest.raises(MessageError, match=told) as error:
        http.encode_batch([event, replace(event, **changes)])
    assert [(one.path, one.rule) for one in error.value.problems] == [("/1", "batch")]


def test_avro_has_no_batches() -> None:
    with pytest.raises(MessageError, match="event-format"):
        http.encode_batch([], "avro")
