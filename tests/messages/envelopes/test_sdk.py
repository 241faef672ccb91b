"""The ``cloudevents`` SDK as oracle: it reads what we write, and we read what it writes."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from cloudevents.core.bindings import amqp as their_amqp
from cloudevents.core.bindings import http as their_http
from cloudevents.core.bindings import kafka as their_kafka
from cloudevents.core.v1.event import CloudEvent
from hypothesis import given, settings
from hypothesis import strategies as st

from heraldry.messages.envelopes import cloudevents
from heraldry.messages.message import Message, Mode
from heraldry.messages.protocol_table import module
from heraldry.messages.protocols.amqp import AmqpMessage
from heraldry.messages.protocols.http import HttpMessage
from heraldry.messages.protocols.kafka import KafkaRecord

MODES: tuple[Mode, ...] = ("binary", "structured")
each = pytest.mark.parametrize(
    ("protocol", "mode"),
    [
        pytest.param(protocol, mode, id=f"{protocol} {mode}")
        for protocol in ("HTTP", "KAFKA", "AMQP/1.0")
        for mode in MODES
    ],
)
WORDS = st.sampled_from(["a", "/a/b?c=d#e", "a b", 'x"y\\', "100%", "%41", "é€😀", "null", "5"])
TIMES = st.integers(0, 10**12).map(
    lambda ms: datetime(1970, 1, 1, tzinfo=UTC) + timedelta(0, 0, ms)
)
DATA = st.none() | st.sampled_from([{"a": 1, "b": [None, True, "é"]}, {}, "text", "é", b"\xff\x00"])


@st.composite
def their_events(draw: st.DrawFn) -> CloudEvent:
    attributes: dict[str, Any] = {name: draw(WORDS) for name in ("id", "source", "type")}
    # A time of whole milliseconds, as AMQP has them.
    moment = draw(TIMES)
    attributes["time"] = moment - timedelta(microseconds=moment.microsecond % 1000)
    for name in ("subject", "dataschema", "gate"):
        if draw(st.booleans()):
            attributes[name] = draw(WORDS)
    data = draw(DATA)
    kinds: dict[type, str | None] = {
        dict: "application/json",
        str: "text/plain",
        bytes: "application/octet-stream",
    }
    kind = kinds.get(type(data))
    return CloudEvent(attributes if kind is None else {**attributes, "datacontenttype": kind}, data)


def from_theirs(protocol: str, mode: Mode, event: CloudEvent) -> Message:
    """What we read of what they write."""
    found = module(protocol)
    assert found is not None
    raw: Any
    if protocol == "HTTP":
        sent = getattr(their_http, f"to_{mode}_event")(event)
        raw = HttpMessage(headers=tuple(sent.headers.items()), body=sent.body)
    elif protocol == "KAFKA":
        sent = getattr(their_kafka, f"to_{mode}_event")(event)
        raw = KafkaRecord(headers=tuple(sent.headers.items()), value=sent.value)
    else:
        sent = getattr(their_amqp, f"to_{mode}_event")(event)
        # Their integer is AMQP's timestamp, which a client makes of it and we see as a time.
        pairs = tuple(
            (name, event.get_time() if name.endswith("_time") else value)
            for name, value in sent.application_properties.items()
        )
        properties = tuple(sent.properties.items())
        body = sent.application_data
        raw = AmqpMessage(properties=properties, application_properties=pairs, body=body)
    return found.decode(raw)


def to_theirs(protocol: str, message: Message) -> CloudEvent:
    """What they read of what we write."""
    found = module(protocol)
    assert found is not None
    raw = found.encode(message)
    body = found.payload(raw) or b""
    event: Any
    if protocol == "HTTP":
        event = their_http.from_http_event(their_http.HTTPMessage(dict(raw.headers), body))
    elif protocol == "KAFKA":
        record = their_kafka.KafkaMessage(dict(raw.headers), None, body)
        event = their_kafka.from_kafka_event(record)
    else:
        sections = dict(raw.properties), dict(raw.application_properties)
        event = their_amqp.from_amqp_event(their_amqp.AMQPMessage(*sections, body))
    assert isinstance(event, CloudEvent)
    return event


def expected(event: CloudEvent) -> dict[str, Any]:
    return {n: v for n, v in event.get_attributes().items() if n != "time"}


def payload(event: CloudEvent) -> Any:
    data = event.get_data()
    return data.encode() if isinstance(data, str) else data


@each
@given(event=their_events())
@settings(max_examples=200)
def test_we_read_what_they_write(protocol: str, mode: Mode, event: CloudEvent) -> None:
    message = from_theirs(protocol, mode, event)
    assert (message.envelope, message.mode) == (cloudevents.ENVELOPE, mode)
    attributes = dict(message.attributes)
    moment = datetime.fromisoformat(attributes.pop("time"))
    assert (attributes, moment) == (expected(event), event.get_time())
    data = payload(event)
    if isinstance(data, dict):
        assert json.loads(message.payload or b"") == data
    else:
        # They have no body of nothing: it is empty.
        assert (message.payload or None) == (data or None)


@each
@given(event=their_events())
@settings(max_examples=200)
def test_they_read_what_we_write(protocol: str, mode: Mode, event: CloudEvent) -> None:
    data, moment = event.get_data(), event.get_time()
    assert moment is not None
    stamp = moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    message = Message(
        protocol=protocol,
        envelope=cloudevents.ENVELOPE,
        mode=mode,
        attributes={**expected(event), "time": stamp},
        payload=json.dumps(data).encode() if isinstance(data, dict) else payload(event),
    )
    found = to_theirs(protocol, message)
    assert (expected(found), found.get_time()) == (expected(event), moment)
    assert found.get_data() == data
