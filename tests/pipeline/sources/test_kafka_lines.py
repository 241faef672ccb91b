"""Kafka records as lines: each line reads as the very message that the record is."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from functools import partial
from pickle import dumps, loads

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heraldry.errors import MessageError
from heraldry.messages import line as message_lines
from heraldry.messages.message import Message
from heraldry.messages.protocols import kafka
from heraldry.messages.protocols.kafka import KafkaRecord
from heraldry.pipeline.sources.kafka_lines import KafkaLines
from heraldry.pipeline.sources.lines import Lines

SCHEMA = pa.schema(
    [
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("timestamp", pa.timestamp("us", "UTC")),
        ("headers", pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))),
    ]
)
"""What Spark's connector gives to a worker."""
WHEN = datetime(2026, 11, 16, 8, 30, tzinfo=UTC)


def batch_of(records: list[KafkaRecord]) -> pa.RecordBatch:
    rows = [
        {
            "key": one.key,
            "value": one.value,
            "topic": one.topic,
            "partition": one.partition,
            "offset": 100 + number,
            "timestamp": WHEN,
            "headers": [{"key": n, "value": v} for n, v in one.headers] or None,
        }
        for number, one in enumerate(records)
    ]
    return pa.RecordBatch.from_pylist(rows, schema=SCHEMA)


def lines_of(*records: KafkaRecord) -> Lines:
    factory = loads(dumps(partial(KafkaLines, "kafka://broker:9092")))
    return factory().lines([batch_of(list(records))])


def outcome(read, raw) -> Message | str:
    try:
        return read(raw)
    except MessageError as error:
        return str(error)


def assert_same(*records: KafkaRecord) -> None:
    found = lines_of(*records)
    assert len(found.values) == len(records)
    for record, line in zip(records, found.values.to_pylist(), strict=True):
        assert b"\n" not in line
        assert outcome(message_lines.read, line) == outcome(kafka.decode, record), line


def order(**more) -> KafkaRecord:
    return KafkaRecord(**{"topic": "shop", "partition": 1, "value": b'{"a":1}'} | more)


CASES = {
    "plain": order(),
    "tombstone": order(value=None, key=b"4711"),
    "empty value": order(value=b""),
    "text key": order(key="Inês".encode()),
    "empty key": order(key=b""),
    "quoted key": order(key=b'say "yes" \\ \x00'),
    "binary key": order(key=b"\xff\x00\x01"),
    "binary value": order(value=b"\x00\xff"),
    "text value": order(value=b"no JSON"),
    "JSON on two lines": order(value=b'{\n"a": 1}'),
    "JSON with space around": order(value=b' {"a": 1}'),
    "two JSON texts": order(value=b"1,2"),
    "a bracket too many": order(value=b"1]],[[1"),
    "number out of range": order(value=b"1e999"),
    "JSON that is not UTF-8": order(value=b'"\xff"'),
    "as deep as goes": order(value=b"[" * 198 + b"]" * 198),
    "too deep for a line": order(value=b"[" * 199 + b"]" * 199),
    "headers": order(headers=(("a", b"1"), ("b", b"2"))),
    "the same headers turned round": order(headers=(("b", b"1"), ("a", b"2"))),
    "headers that repeat": order(headers=(("a", b"1"), ("a", b"2"))),
    "header without a value": order(headers=(("a", None),)),
    "empty header": order(headers=(("", b""),)),
    "binary header": order(headers=(("a", b"\xff"),)),
    "quoted header": order(headers=(('"', b'"'),)),
    "event in headers": order(
        headers=(
            ("ce_specversion", b"1.0"),
            ("ce_type", b"shop.order.placed"),
            ("ce_source", b"/shops/1"),
            ("ce_id", b"1"),
            ("content-type", b"application/json"),
        )
    ),
    "event in the value": order(
        value=b'{"specversion":"1.0","type":"t","source":"s","id":"1","data":{"a":1}}',
        headers=(("content-type", b"application/cloudevents+json; charset=UTF-8"),),
    ),
    "flawed event in the value": order(
        value=b'{"specversion":', headers=(("content-type", b"application/cloudevents+json"),)
    ),
    "attribute that is not UTF-8": order(headers=(("ce_type", b"\xff"), ("ce_id", b"1"))),
}


@pytest.mark.parametrize("record", CASES.values(), ids=CASES.keys())
def test_a_line_says_what_the_record_says(record: KafkaRecord) -> None:
    assert_same(record)


def test_all_of_them_together() -> None:
    assert_same(*CASES.values())


texts = st.text(max_size=8)
contents = st.one_of(
    st.binary(max_size=12),
    texts.map(str.encode),
    st.recursive(
        st.one_of(st.none(), st.booleans(), st.floats(), st.integers(), texts),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
        max_leaves=6,
    ).map(lambda value: json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")),
)
names = st.one_of(
    st.sampled_from(("a", "b", "content-type", "ce_id", "ce_type", "ce_source", "ce_specversion")),
    texts,
)
kinds = st.sampled_from((b"application/json", b"application/cloudevents+json", b"text/plain"))
records = st.builds(
    KafkaRecord,
    topic=st.sampled_from(("shop", "shop.orders", 'odd"topic')),
    partition=st.integers(0, 2**31 - 1),
    key=st.none() | contents,
    headers=st.lists(st.tuples(names, st.none() | contents | kinds), max_size=5).map(tuple),
    value=st.none() | contents,
)


@given(st.lists(records, min_size=1, max_size=6))
def test_any_records(found: list[KafkaRecord]) -> None:
    assert_same(*found)


def test_places_and_times() -> None:
    found = lines_of(order(), order(topic="other", partition=0))
    assert found.positions.to_pylist() == ["shop/1/100", "other/0/101"]
    assert found.sources.to_pylist() == ["kafka://broker:9092/shop", "kafka://broker:9092/other"]
    assert found.times is not None
    assert found.times.to_pylist() == [WHEN, WHEN]


def test_parts_of_a_batch_that_is_cut() -> None:
    whole = batch_of([order(key=b"%d" % n, headers=(("n", b"%d" % n),)) for n in range(9)])
    reader = KafkaLines("kafka://broker:9092")
    found = reader.lines([whole.slice(2, 3), whole.slice(7, 2)])
    keys = [json.loads(one)["metadata"]["key"] for one in found.values.to_pylist()]
    assert keys == ["2", "3", "4", "7", "8"]
    headers = [json.loads(one)["metadata"]["headers"]["n"] for one in found.values.to_pylist()]
    assert headers == keys


def test_no_records_at_all() -> None:
    assert lines_of().values.to_pylist() == []


EVENT = '{"specversion":"1.0","type":"t","source":"s","id":"%s","data":{"n":1}}'


def batch(value: bytes) -> KafkaRecord:
    return order(value=value, headers=(("content-type", b"application/cloudevents-batch+json"),))


def test_a_batch_of_events_is_a_line_for_each() -> None:
    events = f"[{EVENT % 'x'},{EVENT % 'y'}]".encode()
    found = lines_of(order(key=b"before"), batch(events), order(key=b"after"))
    positions = found.positions.to_pylist()
    assert positions == ["shop/1/100", "shop/1/101#0", "shop/1/101#1", "shop/1/102"]
    assert found.times is not None
    assert len(found.times) == len(found.sources) == 4
    middle = [message_lines.read(line) for line in found.values.to_pylist()[1:3]]
    assert [one.attributes["id"] for one in middle] == ["x", "y"]
    assert {one.payload for one in middle} == {b'{"n":1}'}
    alone = message_lines.read(
        lines_of(batch(EVENT.encode())).values[0].as_py().replace(b"-batch", b"")
    )
    assert alone.metadata["headers"] == middle[0].metadata["headers"]


@pytest.mark.parametrize(
    "value", [b"[]", b"{", b"", b"[1]"], ids=["none", "broken", "empty", "no event"]
)
def test_what_is_no_batch_stays_one_line(value: bytes) -> None:
    found = lines_of(batch(value))
    assert found.positions.to_pylist() == ["shop/1/100"]
    assert "is a batch" in str(outcome(message_lines.read, found.values[0].as_py()))
