"""What only HTTP has: escaped headers, encodings, and names without case."""

from __future__ import annotations

import gzip
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heraldry.errors import MessageError
from heraldry.messages.envelopes import cloudevents
from heraldry.messages.message import Message
from heraldry.messages.protocols.http import HttpMessage, decode, encode, from_json

HEADERS = (("CE-SpecVersion", "1.0"), ("ce-id", "1"), ("ce-source", "/s"), ("ce-type", "t"))


@pytest.mark.parametrize(
    ("header", "subject"),
    [
        pytest.param("Euro%20%E2%82%AC%20%F0%9F%98%80", "Euro € 😀", id="the binding's example"),
        pytest.param("%41", "A", id="needlessly escaped"),
        pytest.param('"a \\"b\\" %25"', 'a "b" %', id="quoted"),
        pytest.param('"a', '"a', id="half quoted"),
        pytest.param("%zz", "%zz", id="broken escape"),
        pytest.param("a+b", "a+b", id="plus"),
    ],
)
def test_headers_are_unescaped(header: str, subject: str) -> None:
    message = decode(HttpMessage(headers=(*HEADERS, ("ce-subject", header))))
    assert message.attributes["subject"] == subject
    assert message.metadata["headers"][-1] == ("ce-subject", header)
    assert decode(encode(message)) == message


def test_bytes_that_are_no_text_are_rejected() -> None:
    with pytest.raises(MessageError) as error:
        decode(HttpMessage(headers=(*HEADERS, ("ce-subject", "%C0%A0"))))
    assert error.value.problems[0].path == "metadata.headers.ce-subject"


@given(st.text(min_size=1))
def test_headers_are_printable(subject: str) -> None:
    message = Message(
        envelope=cloudevents.ENVELOPE, mode="binary", attributes={"id": "1", "subject": subject}
    )
    raw = encode(message)
    assert all(0x21 <= ord(char) <= 0x7E for char in dict(raw.headers)["ce-subject"])
    assert decode(raw).attributes["subject"] == subject


def test_attributes_of_a_binary_event() -> None:
    kind = ("CONTENT-type", "text/plain")
    message = decode(HttpMessage(headers=(*HEADERS, kind, ("ce-id", "2")), body=b"x"))
    assert (message.envelope, message.mode) == ("CloudEvents/1.0", "binary")
    assert message.attributes == {
        "specversion": "1.0",
        "id": "1",
        "source": "/s",
        "type": "t",
        "datacontenttype": "text/plain",
    }
    assert (message.payload, message.content_type) == (b"x", "text/plain")


def test_an_event_that_lacks_something_is_still_one() -> None:
    message = decode(HttpMessage(headers=(("ce-type", "t"),)))
    assert [p.path for p in cloudevents.check(message.attributes)] == [
        "attributes.specversion",
        "attributes.id",
        "attributes.source",
    ]
    assert decode(HttpMessage(headers=(("ce-other", "t"),))).envelope is None


def test_encoded_bodies() -> None:
    headers = (("Content-Encoding", "gzip"), ("content-type", "application/json"))
    message = decode(HttpMessage(headers=headers, body=gzip.compress(b"{}", mtime=0)))
    assert message.payload == b"{}"
    assert decode(encode(message)) == message
    with pytest.raises(MessageError) as error:
        decode(HttpMessage(headers=(("content-encoding", "br"),), body=b"x"))
    assert error.value.problems[0].rule == "content-encoding"
    with pytest.raises(MessageError):
        decode(HttpMessage(headers=headers, body=gzip.compress(b"x" * 100)), limit=99)
    assert decode(HttpMessage(headers=headers)).payload is None


@pytest.mark.parametrize(
    ("metadata", "path"),
    [
        pytest.param({"path": "/a?b=c"}, "path", id="query in the path"),
        pytest.param({"status": True}, "status", id="status"),
        pytest.param({"headers": [{"value": "x"}]}, "headers", id="no name"),
        pytest.param({"headers": [{"name": "x", "value": "y", "z": 1}]}, "headers", id="more"),
        pytest.param({"headers": {"x": {"base64": "/w=="}}}, "headers", id="bytes"),
        pytest.param({"query": "a=b"}, "query", id="query as a text"),
        pytest.param({"headers": {"My Header": "x"}}, "headers.My Header", id="no header name"),
        pytest.param({"headers": {"x": "a\r\ny: b"}}, "headers.x", id="two headers in one"),
        pytest.param({"path": "/a\r\n"}, "path", id="line end in the path"),
    ],
)
def test_json_that_is_refused(metadata: dict[str, Any], path: str) -> None:
    with pytest.raises(MessageError) as error:
        from_json(metadata, None, "HTTP")
    assert error.value.problems[0].path == f"metadata.{path}"


@pytest.mark.parametrize(
    ("metadata", "paths"),
    [
        pytest.param({"method": "PO ST"}, ["method"], id="method"),
        pytest.param({"method": ""}, ["method"], id="no method"),
        pytest.param({"status": "600"}, ["status"], id="status above"),
        pytest.param({"status": "20"}, ["status"], id="status below"),
        pytest.param({"method": "POST", "status": "200"}, ["status"], id="both"),
        pytest.param(
            {"method": "é", "status": "OK"}, ["status", "method", "status"], id="everything wrong"
        ),
    ],
)
def test_neither_a_request_nor_a_response(metadata: dict[str, Any], paths: list[str]) -> None:
    for attempt in (
        lambda: decode(HttpMessage(**metadata)),
        lambda: encode(Message(protocol="HTTP", metadata=metadata)),
        lambda: from_json(metadata, None, "HTTP"),
    ):
        with pytest.raises(MessageError) as error:
            attempt()
        assert [one.path for one in error.value.problems] == [f"metadata.{path}" for path in paths]


def test_json_in_other_words() -> None:
    raw = from_json({"status": 200, "headers": {"a": 5, "b": True, "c": None}}, None, "HTTP/2")
    assert raw == HttpMessage(status="200", headers=(("a", "5"), ("b", "true")))
