"""Messages as JSON lines: read and write are inverse, and what is no message says why."""

from __future__ import annotations

import contextlib
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heraldry.errors import MessageError
from heraldry.messages import line
from heraldry.messages.envelopes import cloudevents, json_format
from heraldry.messages.message import Message
from heraldry.messages.protocol_table import normalize
from tests.effort import effort, thorough
from tests.messages.wires import MODES, PAYLOAD, PROTOCOLS, TEXT, events, messages

EVENT: dict[str, Any] = {"specversion": "1.0", "id": "1", "source": "/s", "type": "t"}
EVERY = [
    pytest.param(protocol, mode, id=f"{protocol} {mode}")
    for protocol in PROTOCOLS
    for mode in MODES
    if (protocol, mode) != ("MQTT/3.1.1", "binary")
]
GENERIC = st.recursive(
    TEXT | st.integers() | st.booleans() | st.none() | st.binary(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(TEXT.filter(lambda name: name != "base64"), inner, max_size=2)
    ),
    max_leaves=4,
)


def text(document: Any) -> bytes:
    return json.dumps(document).encode()


def rules(data: bytes, **limits: int) -> list[tuple[str, str]]:
    with pytest.raises(MessageError) as error:
        line.read(data, **limits)
    return [(problem.path, problem.rule) for problem in error.value.problems]


@thorough
@pytest.mark.parametrize(("protocol", "mode"), EVERY)
@given(data=st.data())
@settings(max_examples=effort(150, soak=1000))
def test_read_inverts_write(protocol: str, mode: str, data: st.DataObject) -> None:
    message = data.draw(messages(protocol, mode))
    written = line.write(message)
    assert b"\n" not in written
    assert b"\r" not in written
    assert line.read(written) == message


def stated(message: Message, written: bytes) -> Message:
    """The message as it is read: base64 does not imply JSON, so a line states it then."""
    if b"data_base64" not in written or message.content_type != "application/json":
        return message
    return replace(
        message, attributes={**message.attributes, "datacontenttype": "application/json"}
    )


@given(events("structured"))
@settings(max_examples=500)
def test_read_inverts_write_of_events_without_protocol(event: Message) -> None:
    message = normalize(event)
    written = line.write(message)
    assert b"\n" not in written
    assert line.read(written) == stated(message, written)


@given(st.dictionaries(TEXT, GENERIC, max_size=3), PAYLOAD, st.booleans(), st.data())
@settings(max_examples=500)
def test_read_inverts_write_of_other_protocols(
    metadata: dict[str, Any], payload: bytes | None, envelope: bool, data: st.DataObject
) -> None:
    message = Message(protocol="COAP/1.0", metadata=metadata, payload=payload)
    if envelope:
        event = normalize(data.draw(events("structured")))
        message = Message(
            protocol="COAP/1.0",
            metadata=metadata,
            envelope=event.envelope,
            mode=event.mode,
            attributes=event.attributes,
            payload=event.payload,
            content_type=event.content_type,
        )
    written = line.write(message)
    assert line.read(written) == stated(message, written)


@pytest.mark.parametrize(
    "document",
    [
        pytest.param({**EVENT, "data": {"a": [1.5, 2**70]}, "ext": 5}, id="event"),
        pytest.param({**EVENT, "datacontenttype": "text/plain", "data": "x"}, id="event with text"),
        pytest.param({**EVENT, "data_base64": "/w=="}, id="event with bytes"),
        pytest.param(
            {"protocol": "MQTT/5.0", "metadata": {"topic_name": "a/b"}, "payload": {"a": None}},
            id="mqtt",
        ),
        pytest.param(
            {
                "protocol": "KAFKA",
                "metadata": {
                    "topic": "t",
                    "key_base64": "/w==",
                    "headers": {"a": {"base64": "/w=="}, "content-type": "text/plain"},
                },
                "payload_text": "two\nlines",
            },
            id="kafka",
        ),
        pytest.param(
            {
                "protocol": "KAFKA",
                "metadata": {"headers": {"content-type": "application/cloudevents+json"}},
                "payload": {**EVENT, "data": {"a": 1}},
            },
            id="structured event on kafka",
        ),
        pytest.param(
            {
                "protocol": "HTTP",
                "metadata": {
                    "query": {"a": "b"},
                    "headers": [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}],
                },
                "payload_base64": "/w==",
            },
            id="http",
        ),
        pytest.param(
            {
                "protocol": "NATS",
                "metadata": {"subject": "a.b", "headers": [{"name": "x", "value": "y"}]},
            },
            id="nats",
        ),
        pytest.param(
            {"protocol": "AMQP/1.0", "metadata": {"properties": {"user-id": {"base64": "/w=="}}}},
            id="amqp",
        ),
    ],
)
def test_write_says_what_was_read(document: dict[str, Any]) -> None:
    assert json.loads(line.write(line.read(text(document)))) == document


def test_the_payload_keeps_its_text() -> None:
    event = line.read(b'{"specversion":"1.0","data":{"a":0,"a": 1.10} ,"id":"1"}')
    assert event.payload == b'{"a":0,"a": 1.10}'
    assert (event.protocol, event.mode, event.content_type) == (
        None,
        "structured",
        "application/json",
    )
    native = line.read(b'{"protocol":"KAFKA","payload": [1.0,  2e1] }')
    assert native.payload == b"[1.0,  2e1]"


def test_null_is_a_payload_but_no_attribute() -> None:
    event = line.read(text({**EVENT, "subject": None, "data": None}))
    assert event.payload == b"null"
    assert "subject" not in event.attributes
    assert line.read(text(EVENT)).payload is None


def test_an_event_on_a_protocol_is_structured_unless_the_metadata_has_a_content_type() -> None:
    document = {**EVENT, "protocol": "mqtt", "metadata": {"topic_name": "a"}, "data": {}}
    event = line.read(text(document))
    assert (event.protocol, event.mode, event.payload) == ("MQTT/5.0", "structured", b"{}")
    assert event.metadata == {"topic_name": "a", "content_type": json_format.MEDIA_TYPE}
    assert line.read(line.write(event)) == event
    document["metadata"] = {"topic_name": "a", "content_type": "application/json"}
    event = line.read(text(document))
    assert (event.mode, event.content_type) == ("binary", "application/json")
    assert ("type", "t") in event.metadata["user_properties"]


@pytest.mark.parametrize("protocol", [pytest.param(p, id=repr(p)) for p in (None, "", "None")])
def test_an_empty_protocol_is_none(protocol: str | None) -> None:
    event = line.read(text({**EVENT, "protocol": protocol}))
    assert event.protocol is None


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(b"", [("/", "empty")], id="empty"),
        pytest.param(b" \t\r\n", [("/", "empty")], id="blank"),
        pytest.param(b"{", [("/", "json")], id="not JSON"),
        pytest.param(b'{"a":NaN}', [("/", "json")], id="NaN"),
        pytest.param(b'{"a":"\xff"}', [("/", "encoding")], id="not UTF-8"),
        pytest.param(b"[" * 100_000, [("/", "depth")], id="deep"),
        pytest.param(b"[]", [("/", "not-a-message")], id="list"),
        pytest.param(b"{}", [("/", "not-a-message")], id="nothing"),
        pytest.param(b'{"protocol":5}', [("protocol", "protocol")], id="protocol"),
        pytest.param(
            b'{"protocol":"KAFKA","topic":"x"}', [("/", "not-a-message")], id="unknown member"
        ),
        pytest.param(
            b'{"protocol":"KAFKA","metadata":[]}', [("metadata", "metadata")], id="metadata"
        ),
        pytest.param(
            b'{"protocol":"KAFKA","payload":1,"payload_text":"1"}',
            [("/", "payload")],
            id="two payloads",
        ),
        pytest.param(
            b'{"protocol":"KAFKA","payload_text":5}', [("/", "payload")], id="payload_text"
        ),
        pytest.param(
            b'{"protocol":"KAFKA","payload_base64":"*"}', [("/", "base64")], id="payload_base64"
        ),
        pytest.param(
            b'{"protocol":"COAP","metadata":{"a":{"b":{"base64":"*"}}}}',
            [("metadata.a", "base64")],
            id="base64 inside",
        ),
        pytest.param(text({**EVENT, "data_base64": "*"}), [("/", "base64")], id="data_base64"),
        pytest.param(
            text({**EVENT, "data": 1, "data_base64": ""}), [("/", "not-a-message")], id="both data"
        ),
        pytest.param(
            text({**EVENT, "protocol": "KAFKA", "payload": 1}),
            [("/", "not-a-message")],
            id="an event with payload",
        ),
        pytest.param(
            b'{"protocol":"MQTT/3.1.1","metadata":{"content_type":"a/b"}}',
            [("metadata.content_type", "metadata")],
            id="only in 5.0",
        ),
        pytest.param(
            b'{"protocol":"HTTP","metadata":{"path":"/a?b=c"}}',
            [("metadata.path", "metadata")],
            id="query in a path",
        ),
    ],
)
def test_what_is_no_message(data: bytes, expected: list[tuple[str, str]]) -> None:
    assert rules(data) == expected


def test_unknown_members_are_named_but_not_in_the_reason() -> None:
    with pytest.raises(MessageError) as error:
        line.read(b'{"protocol":"KAFKA","topic":"x","offset":1}')
    problem = error.value.problems[0]
    assert problem.found == "offset, topic"
    assert "offset" not in problem.message


@pytest.mark.parametrize(
    ("more", "path"),
    [
        pytest.param({}, "file:///in/a.parquet", id="a file"),
        pytest.param({"path": "/data/total"}, "/data/total", id="a record"),
        pytest.param({"path": 1}, "1", id="a path that is no text"),
    ],
)
def test_what_cannot_be_read_is_named_by_its_place(more: dict[str, Any], path: str) -> None:
    told = {"unreadable": "file:///in/a.parquet", "reason": "is gone"}
    with pytest.raises(MessageError) as error:
        line.read(json.dumps(told | more).encode())
    (problem,) = error.value.problems
    assert (problem.rule, problem.path, problem.found) == ("file", path, "is gone")


def test_long_lines_are_refused() -> None:
    data = text({**EVENT, "data": "x" * 100})
    assert rules(data, limit=len(data) - 1) == [("/", "too-large")]
    assert line.read(data, limit=len(data)).attributes == EVENT


@pytest.mark.parametrize(
    "message",
    [
        pytest.param(Message(payload=b"x"), id="neither protocol nor envelope"),
        pytest.param(
            Message(envelope=cloudevents.ENVELOPE, attributes={**EVENT, "protocol": "x"}),
            id="an attribute called protocol",
        ),
        pytest.param(
            Message(
                protocol="COAP", envelope=cloudevents.ENVELOPE, attributes={**EVENT, "payload": "x"}
            ),
            id="an attribute called payload",
        ),
    ],
)
def test_what_no_line_can_say(message: Message) -> None:
    with pytest.raises(MessageError):
        line.write(message)


@given(st.binary(max_size=60) | st.text(max_size=30).map(str.encode))
def test_any_bytes_are_a_message_or_an_error(data: bytes) -> None:
    with contextlib.suppress(MessageError):
        assert isinstance(line.read(data), Message)
