"""Identities: what makes a message the same when it is delivered again."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heraldry.messages import line as lines
from heraldry.messages.envelopes import cloudevents
from heraldry.messages.identity import identity, identity_of_line, joined
from heraldry.messages.message import Message
from tests.messages.wires import MODES, PROTOCOLS, TEXT, messages

EVENT: dict[str, Any] = {"specversion": "1.0", "id": "1", "source": "/s", "type": "t"}
MESSAGE_ID = "message-id"


def event(**more: Any) -> Message:
    return Message(envelope=cloudevents.ENVELOPE, attributes={**EVENT, **more})


def amqp(*properties: tuple[str, Any]) -> Message:
    return Message(protocol="AMQP/1.0", metadata={"properties": properties})


def nats(subject: str, *headers: tuple[str, str]) -> Message:
    return Message(protocol="NATS", metadata={"subject": subject, "headers": headers})


SAME = {
    "an event": (event(), event(type="u", time="2026-11-16T08:00:00Z")),
    "an event on another protocol": (event(), Message(protocol="NATS", attributes=EVENT)),
    "an event before the broker's id": (
        event(),
        Message(
            protocol="AMQP/1.0",
            attributes=EVENT,
            metadata={"properties": ((MESSAGE_ID, "9"), ("to", "q"))},
        ),
    ),
    "an AMQP message": (
        amqp((MESSAGE_ID, "a"), ("to", "q")),
        amqp(("to", "q"), ("subject", "s"), (MESSAGE_ID, "a")),
    ),
    "an event whose id is a list": (event(id=["1"]), event(id='["1"]')),
    "a NATS message": (
        nats("a.b", ("Nats-Msg-Id", "7")),
        nats("a.b", ("x", "y"), ("Nats-Msg-Id", "7")),
    ),
}
OTHER = {
    "another id": (event(), event(id="2")),
    "another source": (event(), event(source="/t")),
    "a space moved": (event(source="a b", id="c"), event(source="a", id="b c")),
    "a number as source": (event(source="1 /s", id="x"), event(source="/s", id="1 x")),
    "another address": (
        amqp((MESSAGE_ID, "a"), ("to", "q")),
        amqp((MESSAGE_ID, "a"), ("to", "r")),
    ),
    "a number and its text": (amqp((MESSAGE_ID, 5)), amqp((MESSAGE_ID, "5"))),
    "a uuid and its text": (
        amqp((MESSAGE_ID, UUID(int=5))),
        amqp((MESSAGE_ID, str(UUID(int=5)))),
    ),
    "another subject": (nats("a", ("Nats-Msg-Id", "7")), nats("b", ("Nats-Msg-Id", "7"))),
    "another protocol": (amqp((MESSAGE_ID, "7"), ("to", "a")), nats("a", ("Nats-Msg-Id", "7"))),
}
NONE = {
    "no id": event(id=""),
    "no source": event(source=None),
    "AMQP without a message-id": amqp(("to", "q"), ("correlation-id", "a")),
    "NATS with a header of another case": nats("a", ("nats-msg-id", "7")),
    "NATS without headers": Message(protocol="NATS", metadata={"subject": "a"}),
    "Kafka": Message(protocol="KAFKA", metadata={"topic": "t", "key": "k"}, payload=b"{}"),
    "MQTT": Message(protocol="MQTT/5.0", metadata={"topic_name": "t"}),
    "HTTP": Message(protocol="HTTP", metadata={"method": "POST"}),
    "an unknown protocol": Message(protocol="X", metadata={"properties": ((MESSAGE_ID, "1"),)}),
    "nothing": Message(),
}


@pytest.mark.parametrize(("one", "other"), SAME.values(), ids=SAME)
def test_the_same(one: Message, other: Message) -> None:
    assert identity(one) is not None
    assert identity(one) == identity(other)


@pytest.mark.parametrize(("one", "other"), OTHER.values(), ids=OTHER)
def test_another(one: Message, other: Message) -> None:
    assert identity(one) is not None
    assert identity(one) != identity(other)


@pytest.mark.parametrize("message", NONE.values(), ids=NONE)
def test_none(message: Message) -> None:
    assert identity(message) is None


@given(st.tuples(TEXT, TEXT), st.tuples(TEXT, TEXT))
def test_two_pairs_are_never_one_text(one: tuple[str, str], other: tuple[str, str]) -> None:
    assert (joined(*one) == joined(*other)) == (one == other)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@given(data=st.data())
def test_a_line_has_the_identity_of_its_message(protocol: str, data: st.DataObject) -> None:
    mode = data.draw(st.sampled_from(MODES[:1] if protocol == "MQTT/3.1.1" else MODES))
    message = data.draw(messages(protocol, mode))
    assert identity_of_line(lines.write(message)) == identity(message)


@pytest.mark.parametrize("line", [b"", b"{", b"\xff", b"[]", b'{"id": "1", "source": "/s"}'])
def test_a_line_that_is_no_message_has_none(line: bytes) -> None:
    assert identity_of_line(line) is None


def test_a_flawed_event_has_one() -> None:
    flawed = EVENT | {"time": "yesterday", "data": {"x": 1}}
    assert identity_of_line(json.dumps(flawed).encode()) == "2 /s 1"


@pytest.mark.parametrize("protocol", ["AMQP/2.0", "NATS/9"])
@pytest.mark.parametrize("given", [{"message-id": "1"}, 5, ["x"], "text"])
def test_unknown_versions_of_protocols_tell_no_identity(protocol: str, given: Any) -> None:
    metadata = {"properties": given, "headers": given, "subject": "s"}
    told = {"protocol": protocol, "metadata": metadata, "payload": {}}
    assert identity_of_line(json.dumps(told).encode()) is None
