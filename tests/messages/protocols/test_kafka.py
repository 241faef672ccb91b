"""What only Kafka has: keys and headers of bytes."""

from __future__ import annotations

from typing import Any

import pytest

from heraldry.errors import MessageError
from heraldry.messages.message import Message
from heraldry.messages.protocols.kafka import KafkaRecord, decode, encode, from_json, to_json

HEADERS = (("ce_specversion", b"1.0"), ("ce_id", b"1"), ("ce_source", b"/s"), ("ce_type", b"t"))


def test_a_key_shows_in_both_forms_where_it_is_a_text() -> None:
    assert decode(KafkaRecord(key=b"a")).metadata == {"key": "a", "key_base64": b"a"}
    assert decode(KafkaRecord(key=b"\xff")).metadata == {"key_base64": b"\xff"}
    assert to_json(KafkaRecord(key=b"a")) == {"key": "a"}
    assert to_json(KafkaRecord(key=b"\xff")) == {"key_base64": "/w=="}


@pytest.mark.parametrize(
    ("metadata", "key"),
    [
        pytest.param({"key": "a"}, b"a", id="text"),
        pytest.param({"key": 5}, b"5", id="number"),
        pytest.param({"key_base64": "/w=="}, b"\xff", id="base64"),
        pytest.param({"key_base64": b"\xff"}, b"\xff", id="bytes"),
        pytest.param({"key": "new", "key_base64": b"old"}, b"new", id="the text counts"),
        pytest.param({}, None, id="none"),
    ],
)
def test_keys_of_built_messages(metadata: dict[str, Any], key: bytes | None) -> None:
    assert encode(Message(protocol="KAFKA", metadata=metadata)).key == key


@pytest.mark.parametrize(
    ("metadata", "path", "rule"),
    [
        pytest.param({"key": "a", "key_base64": "YQ=="}, "key_base64", "metadata", id="both keys"),
        pytest.param({"key_base64": "*"}, "key_base64", "base64", id="not base64"),
        pytest.param({"key_base64": {"base64": "*"}}, "key_base64", "base64", id="nor there"),
        pytest.param({"key": 5}, "key", "metadata", id="number as key"),
        pytest.param({"partition": "1"}, "partition", "metadata", id="partition"),
        pytest.param({"partition": True}, "partition", "metadata", id="truth as partition"),
    ],
)
def test_json_that_is_refused(metadata: dict[str, Any], path: str, rule: str) -> None:
    with pytest.raises(MessageError) as error:
        from_json(metadata, None, "KAFKA")
    found = error.value.problems[0]
    assert (found.path, found.rule) == (f"metadata.{path}", rule)


def test_headers_are_texts_where_they_can_be() -> None:
    record = KafkaRecord(headers=(("a", b"x"), ("b", b"\xff"), ("c", None)))
    message = decode(record)
    assert message.metadata["headers"] == (("a", "x"), ("b", b"\xff"), ("c", None))
    assert to_json(record)["headers"] == {"a": "x", "b": {"base64": "/w=="}, "c": None}
    assert encode(message) == record


def test_names_have_case_and_may_repeat() -> None:
    record = KafkaRecord(headers=(("a", b"1"), ("A", b"2"), ("a", b"3"), ("Content-Type", b"x/y")))
    assert to_json(record)["headers"][0] == {"name": "a", "value": "1"}
    assert decode(record).content_type is None
    assert encode(decode(record)) == record


def test_a_binary_event() -> None:
    message = decode(KafkaRecord(headers=(*HEADERS, ("content-type", b"a/b")), value=b"x"))
    assert (message.mode, message.content_type) == ("binary", "a/b")
    assert message.attributes["datacontenttype"] == "a/b"
    assert decode(KafkaRecord(headers=(("CE_id", b"1"),))).envelope is None


def test_an_attribute_that_is_no_text_is_refused() -> None:
    with pytest.raises(MessageError) as error:
        decode(KafkaRecord(headers=(*HEADERS, ("ce_subject", b"\xff"))))
    assert error.value.problems[0].rule == "encoding"


def test_a_structured_event_must_be_one() -> None:
    kind = (("content-type", b"application/cloudevents+json; charset=utf-8"),)
    assert decode(KafkaRecord(headers=kind, value=b'{"id":"1"}')).mode == "structured"
    for value in (None, b"", b"x"):
        with pytest.raises(MessageError):
            decode(KafkaRecord(headers=kind, value=value))


@pytest.mark.parametrize("partition", [-1, 2**31, 0.5, "many"])
def test_partitions_that_no_topic_has(partition: Any) -> None:
    for attempt in (
        lambda: decode(KafkaRecord(partition=partition)),
        lambda: encode(Message(protocol="KAFKA", metadata={"partition": partition})),
    ):
        with pytest.raises(MessageError) as error:
            attempt()
        assert [problem.path for problem in error.value.problems] == ["metadata.partition"]
