"""What only NATS has: subjects, and a header of its own for the type of an event's data."""

from __future__ import annotations

from typing import Any

import pytest

from heraldry.errors import MessageError
from heraldry.messages.envelopes import cloudevents
from heraldry.messages.message import Message
from heraldry.messages.protocol_table import fields
from heraldry.messages.protocols.nats import NatsMessage, decode, encode, from_json

EVENT = b'{"specversion":"1.0","id":"1","source":"/s","type":"t","data":{"a":1}}'
ATTRIBUTES = {"specversion": "1.0", "id": "1", "source": "/s", "type": "t"}
HEADERS = tuple((f"ce-{name}", value) for name, value in ATTRIBUTES.items())


def test_placeholders_stay_between_dots() -> None:
    assert {name: one.separator for name, one in fields("NATS").items()} == {
        "subject": ".",
        "reply-to": ".",
        "headers": None,
    }


def test_the_type_of_the_data_has_a_header_of_its_own() -> None:
    headers = (*HEADERS, ("ce-datacontenttype", "text/plain;%20a=b"), ("Content-Type", "x/y"))
    message = decode(NatsMessage(headers=headers, payload=b"hello"))
    assert message.mode == "binary"
    assert message.attributes == ATTRIBUTES | {"datacontenttype": "text/plain; a=b"}
    assert (message.payload, message.content_type) == (b"hello", "text/plain; a=b")
    assert encode(message).headers == headers


def test_a_content_type_alone_is_not_an_attribute() -> None:
    headers = (*HEADERS, ("Content-Type", "x/y"))
    message = decode(NatsMessage(headers=headers))
    assert (message.attributes, message.content_type) == (ATTRIBUTES, "x/y")
    assert encode(message).headers == headers


def test_an_event_that_is_built_names_the_type_of_its_data() -> None:
    event = Message(
        protocol="NATS",
        metadata={"subject": "a.b", "headers": (("Content-Type", "application/json"),)},
        envelope=cloudevents.ENVELOPE,
        mode="binary",
        attributes=ATTRIBUTES | {"datacontenttype": "application/json"},
    )
    assert encode(event).headers == (
        ("Content-Type", "application/json"),
        *HEADERS,
        ("ce-datacontenttype", "application/json"),
    )


def test_header_values_are_percent_encoded() -> None:
    event = Message(
        protocol="NATS",
        envelope=cloudevents.ENVELOPE,
        mode="binary",
        attributes=ATTRIBUTES | {"subject": "Euro € 😀"},
    )
    raw = encode(event)
    assert raw.headers[-1] == ("ce-subject", "Euro%20%E2%82%AC%20%F0%9F%98%80")
    assert decode(raw).attributes["subject"] == "Euro € 😀"
    quoted = decode(NatsMessage(headers=(*HEADERS, ("CE-Subject", '"a \\"b\\""'))))
    assert quoted.attributes["subject"] == 'a "b"'
    with pytest.raises(MessageError) as error:
        decode(NatsMessage(headers=(*HEADERS, ("ce-subject", "%C0%A0"))))
    assert error.value.problems[0].path == "metadata.headers.ce-subject"


@pytest.mark.parametrize(
    ("headers", "structured"),
    [
        pytest.param((), True, id="no headers"),
        pytest.param((("Content-Type", "application/cloudevents+json"),), True, id="json"),
        pytest.param((("content-type", "Application/CloudEvents"),), True, id="no format"),
        pytest.param((("Content-Type", "application/json"),), False, id="another type"),
        pytest.param((("x", "y"),), False, id="other headers"),
    ],
)
def test_modes(headers: Any, structured: bool) -> None:
    message = decode(NatsMessage(subject="a", headers=headers, payload=EVENT))
    assert (message.mode == "structured") is structured
    assert message.payload == (b'{"a":1}' if structured else EVENT)
    again = decode(encode(message))
    assert (again.mode, again.attributes) == (message.mode, message.attributes)


def test_names_of_headers_repeat_and_keep_their_case() -> None:
    raw = NatsMessage(headers=(("X-A", "1"), ("x-a", "2"), ("X-A", "3")))
    assert decode(raw).metadata == {"headers": raw.headers}
    assert encode(decode(raw)) == raw


@pytest.mark.parametrize(
    "subject", ["", ".", "a..b", ".a", "a.", "a b", "a.*", ">", "a.\tb", "*.b"]
)
@pytest.mark.parametrize("name", ["subject", "reply-to"])
def test_subjects_nothing_can_be_published_to(name: str, subject: str) -> None:
    with pytest.raises(MessageError) as error:
        decode(from_json({name: subject}, None, "NATS"))
    assert [problem.path for problem in error.value.problems] == [f"metadata.{name}"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        pytest.param("x", "a\r\ny: b", id="two headers in one"),
        pytest.param("x:y", "a", id="colon in a name"),
        pytest.param("", "a", id="no name"),
    ],
)
def test_headers_that_would_be_read_as_others(name: str, value: str) -> None:
    for attempt in (
        lambda: from_json({"headers": [{"name": name, "value": value}]}, None, "NATS"),
        lambda: encode(Message(protocol="NATS", metadata={"headers": ((name, value),)})),
    ):
        with pytest.raises(MessageError) as error:
            attempt()
        assert [problem.path for problem in error.value.problems] == [f"metadata.headers.{name}"]


@pytest.mark.parametrize("subject", ["a", "a.b", "a*.b>c", "$JS.API", "Ü.x-1"])
def test_subjects(subject: str) -> None:
    assert decode(NatsMessage(subject=subject)).metadata == {"subject": subject}
