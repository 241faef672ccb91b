"""A raw message as a line: read again it is what the protocol makes of it, and nothing is lost."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heraldry.errors import MessageError
from heraldry.messages import line
from heraldry.messages.envelopes import json_format
from heraldry.messages.protocol_table import MODULES, decode_all, module
from heraldry.messages.protocols.http import HttpMessage
from heraldry.messages.protocols.mqtt import MqttPublish
from heraldry.messages.raw_line import payload_member, raw_line, raw_lines
from tests.messages.wires import PROTOCOLS, raws

EVENT = {"specversion": "1.0", "id": "1", "source": "/s", "type": "t", "data": {"a": 1}}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_line_is_read_as_what_came(protocol):
    @given(raws(protocol))
    def check(raw):
        written = raw_line(raw)
        assert b"\n" not in written
        try:
            expected = module(protocol).decode(raw)
        except MessageError:
            with pytest.raises(MessageError):
                line.read(written)
        else:
            assert line.read(written) == expected

    check()


def posted(body: bytes, kind: str) -> HttpMessage:
    return HttpMessage(method="POST", path="/in", headers=(("content-type", kind),), body=body)


def test_a_batch_is_one_line_for_each_event():
    events = [EVENT | {"id": str(number)} for number in range(3)]
    raw = posted(json.dumps(events).encode(), "application/cloudevents-batch+json")
    lines = raw_lines(raw)
    assert [line.read(one) for one in lines] == list(decode_all(raw))
    assert [line.read(one).attributes["id"] for one in lines] == ["0", "1", "2"]


def test_what_is_no_batch_is_kept_as_it_came():
    raw = posted(b"[{", "application/cloudevents-batch+json")
    (kept,) = raw_lines(raw)
    with pytest.raises(MessageError):
        line.read(kept)
    assert json.loads(kept)["payload_text"] == "[{"
    assert raw_lines(posted(b"[]", "application/cloudevents-batch+json")) == []


def test_metadata_that_json_cannot_say_is_kept_as_a_text():
    written = raw_line(MqttPublish(topic_name="a\ud800", payload=b"1"))
    assert json.loads(written) == {
        "protocol": "MQTT/5.0",
        "metadata": {"unreadable": "{'topic_name': 'a\\ud800'}"},
        "payload": 1,
    }
    with pytest.raises(MessageError, match="unreadable"):
        line.read(written)


@given(
    st.one_of(
        st.binary(max_size=30),
        st.text(max_size=30).map(str.encode),
        st.recursive(st.none() | st.integers() | st.text(), st.lists).map(
            lambda value: json.dumps(value).encode()
        ),
        st.integers(100, 260).map(lambda deep: b"[" * deep + b"]" * deep),
    )
)
def test_payloads_are_json_where_the_slow_way_says_so(payload):
    found = payload_member(payload)
    assert ("payload" in found) == json_format.is_json(payload, one_line=True)


def test_every_protocol_has_lines():
    assert {protocol.partition("/")[0] for protocol in PROTOCOLS} == set(MODULES)
