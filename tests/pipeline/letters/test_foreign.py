"""Dead letters of other tools: their records give back the message, ours can be theirs."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heraldry.messages.line import read
from heraldry.messages.protocols import kafka
from heraldry.pipeline.letters.foreign import CONNECT, Origin, unwrap, wrap
from tests.pipeline.sources.test_kafka_lines import lines_of
from tests.suites.streams import line


def kafka_line(
    headers: Any,
    *,
    topic: str | None = "dlq",
    partition: int | None = 0,
    payload: str = '{"a": 1.50}',
) -> bytes:
    """A record of a dead-letter topic; the payload as it is."""
    metadata = {"topic": topic, "partition": partition, "key": "k", "headers": headers}
    return b'{"protocol":"KAFKA","metadata":%s,"payload":%s}' % (
        json.dumps(metadata).encode(),
        payload.encode(),
    )


def base64_of(number: int, size: int) -> dict[str, str]:
    return {"base64": base64.b64encode(number.to_bytes(size, "big")).decode()}


CONNECT_HEADERS = {
    "__connect.errors.topic": "orders",
    "__connect.errors.partition": "3",
    "__connect.errors.offset": "4711",
    "__connect.errors.connector.name": "sink",
    "__connect.errors.exception.class.name": "org.apache.kafka.connect.errors.DataException",
    "__connect.errors.exception.message": "no such field",
    "__connect.errors.exception.stacktrace": "at ...",
}
SPRING_HEADERS = {
    "kafka_dlt-original-topic": "orders",
    "kafka_dlt-original-partition": base64_of(3, 4),
    "kafka_dlt-original-offset": base64_of(4711, 8),
    "kafka_dlt-original-timestamp": base64_of(1, 8),
    "kafka_dlt-original-consumer-group": "shop",
    "kafka_dlt-exception-fqcn": "org.springframework.kafka.KafkaException",
    "kafka_dlt-exception-message": "no such field",
    "kafka_dlt-exception-stacktrace": "at ...",
    "retry_topic-attempts": base64_of(2, 4),
}
RULE_HEADERS = {
    "__rule.name": "checkTotal",
    "__rule.mode": "READ",
    "__rule.subject": "orders-value",
    "__rule.topic": "orders",
    "__rule.exception": "no such field",
}
STREAM_HEADERS = {
    "x-original-topic": "orders",
    "x-original-partition": base64_of(3, 4),
    "x-original-offset": base64_of(4711, 8),
    "x-exception-message": "no such field",
    "x-exception-fqcn": "java.lang.IllegalStateException",
}


@pytest.mark.parametrize(
    ("system", "headers", "place"),
    [
        ("Kafka Connect", CONNECT_HEADERS, (3, 4711)),
        ("Spring", SPRING_HEADERS, (3, 4711)),
        ("Confluent", RULE_HEADERS, (None, None)),
        ("Spring Cloud Stream", STREAM_HEADERS, (3, 4711)),
    ],
    ids=["connect", "spring", "confluent", "stream"],
)
@pytest.mark.parametrize("listed", [False, True], ids=["object", "list"])
def test_letters_of_others(
    system: str, headers: dict[str, Any], place: tuple[int | None, int | None], listed: bool
) -> None:
    own = {"content-type": "application/json", "trace": {"base64": "/w=="}}
    whole: Any = own | headers
    if listed:
        whole = [{"name": name, "value": value} for name, value in whole.items()]
    found = unwrap(kafka_line(whole))
    assert found is not None
    partition, offset = place
    assert found.origin == Origin(system=system, topic="orders", partition=partition, offset=offset)
    assert found.reason == "no such field"
    restored = json.loads(found.line)
    assert restored["metadata"]["topic"] == "orders"
    assert restored["metadata"].get("partition") == partition
    assert (restored["metadata"]["key"], restored["metadata"]["headers"]) == ("k", own)
    assert b'"payload":{"a": 1.50}' in found.line


def test_a_small_number_in_bytes_is_a_text_too() -> None:
    """Four bytes of a small integer are UTF-8, so a line has them as a text."""
    headers = {"kafka_dlt-original-topic": "t", "kafka_dlt-original-partition": "\0\0\0\3"}
    found = unwrap(kafka_line(headers))
    assert found is not None
    assert found.origin.partition == 3


def test_the_oldest_origin_counts() -> None:
    """A letter that failed again has the headers twice; the first are the original's."""
    names = ["kafka_dlt-original-topic", "kafka_dlt-original-topic"]
    headers = [{"name": n, "value": v} for n, v in zip(names, ["orders", "retry"], strict=True)]
    found = unwrap(kafka_line(headers))
    assert found is not None
    assert found.origin.topic == "orders"


LATER: dict[str, dict[str, Any]] = {
    "Kafka Connect": {
        "__connect.errors.topic": "orders-dlq",
        "__connect.errors.partition": "0",
        "__connect.errors.offset": "1",
        "__connect.errors.exception.message": "sink failed",
    },
    "Spring": {"kafka_dlt-original-topic": "orders-dlq", "kafka_dlt-exception-message": "failed"},
    "Confluent": {"__rule.topic": "orders-dlq", "__rule.exception": "failed"},
    "Spring Cloud Stream": {"x-original-topic": "orders-dlq", "x-exception-message": "failed"},
}
FIRST: dict[str, dict[str, Any]] = {
    "Kafka Connect": CONNECT_HEADERS,
    "Spring": SPRING_HEADERS,
    "Confluent": RULE_HEADERS,
    "Spring Cloud Stream": STREAM_HEADERS,
}


@pytest.mark.parametrize(
    ("first", "later"),
    [pytest.param(a, b, id=f"{a} then {b}") for a in FIRST for b in LATER if a != b],
)
def test_the_tool_that_had_it_first_tells_the_origin(first: str, later: str) -> None:
    found = unwrap(kafka_line({"trace": "1", **FIRST[first], **LATER[later]}))
    assert found is not None
    assert (found.origin.system, found.origin.topic) == (first, "orders")
    assert found.reason == "no such field"
    assert json.loads(found.line)["metadata"]["headers"] == {"trace": "1"}


def test_a_tool_without_a_topic_is_none() -> None:
    """Its header may stand first: what names no topic is no letter."""
    found = unwrap(kafka_line({"__connect.errors.topic": None} | STREAM_HEADERS))
    assert found is not None
    assert (found.origin.system, found.origin.topic) == ("Spring Cloud Stream", "orders")


OWN = {
    "x-original-url": "/shop",
    "x-exception-policy": "retry",
    "kafka_original-key": "k",
    "retry_topic-owner": "shop",
    "__rule.of-thumb": "1",
    "__connect.by": "shop",
}


@pytest.mark.parametrize(
    ("headers", "taken"),
    [
        (CONNECT_HEADERS, ()),
        (SPRING_HEADERS, ("kafka_original-", "retry_topic-")),
        (RULE_HEADERS, ("__rule.",)),
        (STREAM_HEADERS, ("x-original-", "x-exception-")),
        (CONNECT_HEADERS | STREAM_HEADERS, ("x-original-", "x-exception-")),
    ],
    ids=["connect", "spring", "confluent", "stream", "two tools"],
)
def test_headers_of_the_producer_stay(headers: dict[str, Any], taken: tuple[str, ...]) -> None:
    """What looks like the header of a tool is the producer's where that tool wrote no letter."""
    found = unwrap(kafka_line(OWN | headers))
    assert found is not None
    left = {name: value for name, value in OWN.items() if not name.startswith(taken)}
    assert json.loads(found.line)["metadata"]["headers"] == left


@pytest.mark.parametrize(
    "whole",
    [
        b"",
        b"x-original-topic",
        b'{"protocol":"KAFKA","metadata":{"headers":{"x-original-topic":null}}}',
        b'{"protocol":"KAFKA","metadata":{"headers":{"x-original-topic":{"base64":"/w=="}}}}',
        b'{"protocol":"KAFKA","metadata":{"headers":5,"topic":"x-original-topic"}}',
        b'{"protocol":"KAFKA","metadata":"x-original-topic"}',
        b'{"protocol":"MQTT/5.0","metadata":{"topic_name":"x-original-topic"}}',
        b'{"specversion":"1.0","subject":"x-original-topic"}',
        kafka_line({"trace": "1"}),
    ],
    ids=repr,
)
def test_what_is_no_letter_of_others(whole: bytes) -> None:
    assert unwrap(whole) is None


def letter(whole: bytes, position: str = "orders/3/4711") -> dict[str, Any]:
    return {
        "line": whole,
        "source": "kafka://broker/orders",
        "position": position,
        "stage": "validate",
        "rule": "type",
        "definition": "/messagegroups/shop/messages/order",
        "path": "/total",
        "message": "is not of type number",
    }


def test_our_letters_as_connect_writes_them() -> None:
    whole = kafka_line({"trace": "1"}, topic="orders", partition=3)
    record = json.loads(wrap(letter(whole)))
    headers = record["metadata"]["headers"]
    assert headers.pop("trace") == "1"
    assert {name.removeprefix(CONNECT): value for name, value in headers.items()} == {
        "topic": "orders",
        "partition": "3",
        "offset": "4711",
        "connector.name": "heraldry",
        "task.id": "0",
        "stage": "validate",
        "class.name": "/messagegroups/shop/messages/order",
        "exception.class.name": "type",
        "exception.message": "/total: is not of type number",
    }


PLACES = {
    "a record of Kafka": ("orders", 3, "orders/3/4711", (3, 4711)),
    "an event of a batch": ("orders", 3, "orders/3/4711#2", (3, 4711)),
    "a topic with dots": ("shop.orders-v1", 3, "shop.orders-v1/3/4711", (3, 4711)),
    "a topic that looks like a place": ("1/2", 3, "1/2/3/4711", (3, 4711)),
    "a record that names no partition": ("orders", None, "orders/3/4711", (3, 4711)),
    "a letter read in a topic of letters": ("orders", 3, "orders-dlq/0/5", (3, None)),
    "one that names no partition": ("orders", None, "orders-dlq/0/5", (None, None)),
    "another partition than it names": ("orders", 3, "orders/4/5", (3, None)),
    "a line of a file": ("orders", 3, "0+5", (3, None)),
    "a line of a file without a partition": ("orders", None, "0+5", (None, None)),
    "a number in a raw log": ("orders", 3, "4711", (3, None)),
    "a place in a stream": ("orders", 3, "orders/4711", (3, None)),
    "no topic": (None, 3, "orders/3/4711", (3, None)),
}


@pytest.mark.parametrize(("topic", "partition", "position", "place"), PLACES.values(), ids=PLACES)
def test_the_place_of_our_letters_in_kafka(
    topic: str | None,
    partition: int | None,
    position: str,
    place: tuple[int | None, int | None],
) -> None:
    whole = kafka_line({}, topic=topic, partition=partition)
    found = unwrap(wrap(letter(whole, position)))
    assert found is not None
    assert found.origin.topic == (topic or "kafka://broker/orders")
    assert (found.origin.partition, found.origin.offset) == place


def test_letters_of_the_kafka_source_have_their_place() -> None:
    """The position is what the source itself writes."""
    found = lines_of(kafka.KafkaRecord(topic="orders", partition=3, value=b'{"a":1}'))
    source, position = (column[0].as_py() for column in (found.sources, found.positions))
    row = letter(found.values[0].as_py(), position) | {"source": source}
    inner = unwrap(wrap(row))
    assert inner is not None
    offset = int(position.rpartition("/")[2])
    assert inner.origin == Origin(
        system="Kafka Connect", topic="orders", partition=3, offset=offset
    )
    assert json.loads(inner.line) == json.loads(row["line"])


@pytest.mark.parametrize(
    ("whole", "payload"),
    [
        (line({"specversion": "1.0", "id": "1"}), b'{"specversion": "1.0", "id": "1"}'),
        (b"no message", b"no message"),
        (b"\xff", b"\xff"),
        (b"", b""),
        (b'{"protocol":"KAFKA","metadata":{"colour":1}}', None),
    ],
    ids=["event", "text", "bytes", "empty", "no record"],
)
def test_other_letters_become_the_value_of_a_record(whole: bytes, payload: bytes | None) -> None:
    wrapped = json.loads(wrap(letter(whole)))
    raw = kafka.from_json(wrapped["metadata"], None, "KAFKA")
    assert dict(raw.headers)[f"{CONNECT}topic"] == b"kafka://broker/orders"
    found = wrapped.get("payload_text", wrapped.get("payload"))
    if "payload_base64" in wrapped:
        assert base64.b64decode(wrapped["payload_base64"]) == payload
    elif isinstance(found, dict):
        assert payload is not None
        assert found == json.loads(payload)
    else:
        assert found.encode() == (payload if payload is not None else whole)


names = st.text(st.characters(codec="utf-8"), max_size=5).filter(lambda name: "topic" not in name)
headers = st.lists(st.tuples(names, st.none() | st.binary(max_size=9)), max_size=4).map(tuple)
records = st.builds(
    kafka.KafkaRecord,
    topic=st.text(min_size=1, max_size=9),
    partition=st.just(3),
    key=st.none() | st.binary(max_size=9),
    headers=headers,
)


@given(records, st.sampled_from([{"payload": {"a": 1.5}}, {"payload_text": "x"}, {}]))
def test_unwrap_undoes_wrap(record: kafka.KafkaRecord, payload: dict[str, Any]) -> None:
    whole = line({"protocol": "KAFKA", "metadata": kafka.to_json(record), **payload})
    found = unwrap(wrap(letter(whole, f"{record.topic}/3/4711")))
    assert found is not None
    assert found.origin == Origin(
        system="Kafka Connect", topic=record.topic or "", partition=3, offset=4711
    )
    assert json.loads(found.line) == json.loads(whole)
    if all(name.strip() for name, _ in record.headers):
        read(found.line)
