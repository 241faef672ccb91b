"""Files in every form as lines: what their records are, where they stand, and where they break."""

from __future__ import annotations

import bz2
import gzip
import io
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heraldry.errors import MessageError
from heraldry.messages import line as lines
from heraldry.messages.envelopes import avro_format, cloudevents, json_format
from heraldry.messages.line import MAX_LINE
from heraldry.messages.message import Message
from heraldry.messages.protocols import kafka
from heraldry.pipeline.letters.letter import SCHEMA as LETTER
from heraldry.pipeline.sources.event_batches import read_values
from heraldry.pipeline.sources.file_reading import _line, read_file
from heraldry.pipeline.sources.record_lines import Record, writer_of
from heraldry.schemas.parse import parse
from tests.messages.wires import events

EVENT: dict[str, Any] = {"specversion": "1.0", "id": "1", "source": "/s", "type": "t"}
Place = tuple[int, int]


def found_in(path: Path) -> list[tuple[Place, bytes]]:
    """The lines of a file with their places."""
    rows = [row for batch in read_file(path.as_uri()) for row in batch.to_pylist()]
    assert {row["source"] for row in rows} <= {path.as_uri()}
    return [((row["block"], row["number"]), row["value"]) for row in rows]


def values(path: Path) -> list[bytes]:
    return [value for _, value in found_in(path)]


def messages(path: Path) -> list[Message]:
    return [lines.read(value) for value in values(path)]


def reason(value: bytes) -> str:
    """Why a line says that something cannot be read."""
    told = json.loads(value)
    assert told.keys() - {"path"} == {"unreadable", "reason"}
    return str(told["reason"])


PACKED: dict[str, Callable[[bytes], bytes]] = {
    ".jsonl": bytes,
    ".jsonl.gz": gzip.compress,
    ".ndjson.gz": gzip.compress,
    ".jsonl.bz2": bz2.compress,
    ".jsonl.zst": lambda data: pa.compress(data, "zstd", asbytes=True),
}


@pytest.mark.parametrize("ending", PACKED)
@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", []),
        (b"a", [b"a"]),
        (b"a\nb\n", [b"a", b"b"]),
        (b"\n\r\n\na", [b"", b"\r", b"", b"a"]),
        (b"x" * 700_000 + b"\n" + b"y", [b"x" * 700_000, b"y"]),
    ],
    ids=["empty", "one", "two", "empty lines", "long"],
)
def test_packed_lines(tmp_path: Path, ending: str, content: bytes, expected: list[bytes]) -> None:
    path = tmp_path / f"a b{ending}"
    path.write_bytes(PACKED[ending](content))
    assert found_in(path) == [((0, number), value) for number, value in enumerate(expected)]


def test_gzip_in_several_members(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(b"1\n2") + gzip.compress(b"3\n4"))
    assert values(path) == [b"1", b"23", b"4"]


@pytest.mark.parametrize("ending", [".jsonl.gz", ".jsonl.bz2", ".jsonl.zst"])
def test_what_can_be_unpacked_lands(tmp_path: Path, ending: str) -> None:
    content = [f"{number:x}".encode() * 50 for number in range(100_000, 150_000)]
    path = tmp_path / f"a{ending}"
    packed = PACKED[ending](b"\n".join(content))
    path.write_bytes(packed[: len(packed) // 2])
    *good, broken = found_in(path)
    assert len(good) > 1000
    assert [value for _, value in good] == content[: len(good)]
    assert broken[0] == (0, len(good))
    assert reason(broken[1])


@pytest.mark.parametrize(
    "name", ["a.jsonl.gz", "a.jsonl.bz2", "a.jsonl.zst", "a.parquet", "a.avro", "a.json"]
)
def test_a_file_that_is_not_what_its_name_says(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"something else altogether")
    (broken,) = found_in(tmp_path / name)
    assert broken[0] == (0, 0)
    assert reason(broken[1])
    assert (tmp_path / name).as_uri() in broken[1].decode()


def test_a_line_without_an_end_is_not_held(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(b"x" * (3 * MAX_LINE) + b"\nlast", compresslevel=1))
    long, last = values(path)
    assert len(long) == MAX_LINE + 1
    assert last == b"last"


JSON_FILES = {
    "an array": (b'[{"a": 1},\n {"b": [2, "]"]}]', [b'{"a": 1}', b'{"b": [2, "]"]}']),
    "one event": (b'\n{\n "a": "\\n"\r\n}\n', [b'{  "a": "\\n"  }']),
    "several": (b'{"a": 1}\n{"b": 2} {"c": 3}', [b'{"a": 1}', b'{"b": 2}', b'{"c": 3}']),
    "nothing": (b" \n", []),
    "an empty array": (b"[ ]\n", []),
    "a byte order mark": (b"\xef\xbb\xbf[1]", [b"1"]),
    "large numbers": (b"[1e999, 123456789012345678901234567890]", None),
}


@pytest.mark.parametrize(("content", "expected"), JSON_FILES.values(), ids=JSON_FILES)
def test_json_files(tmp_path: Path, content: bytes, expected: list[bytes] | None) -> None:
    (tmp_path / "a.json").write_bytes(content)
    wanted = content[1:-1].split(b", ") if expected is None else expected
    assert values(tmp_path / "a.json") == wanted


BROKEN_JSON = {
    "an array that ends too soon": (b'[{"a": 1}, {"b": 2}', 2, "does not end"),
    "an array that ends behind a comma": (b'[{"a": 1},\n', 1, "does not end"),
    "an array that only begins": (b"\n[ ", 0, "does not end"),
    "an event that ends too soon": (b'[{"a": 1}, {"b"', 1, "is not JSON"),
    "something behind": (b'[{"a": 1}] x', 1, "goes on"),
    "no comma": (b'[{"a": 1} {"b": 2}]', 1, "does not end"),
    "not UTF-8": (b"[1, \xff]", 0, "is not UTF-8 at byte 4"),
    "too deep": (b"[1, " + b"[" * 100_000, 1, "is not JSON"),
}


@pytest.mark.parametrize(("content", "good", "told"), BROKEN_JSON.values(), ids=BROKEN_JSON)
def test_json_that_breaks_off(tmp_path: Path, content: bytes, good: int, told: str) -> None:
    (tmp_path / "a.json").write_bytes(content)
    found = values(tmp_path / "a.json")
    assert len(found) == good + 1
    assert told in reason(found[-1])


DEEP = {
    "records": b'{"x":' * 1500 + b"1" + b"}" * 1500,
    "arrays": b"[" * 100_000 + b"]" * 100_000,
    "both": b'[{"x":' * 1000 + b"[{}, {}]" + b"}]" * 1000,
    "brackets in strings": b"[" * 1500 + b'"]]}\\"]}", "\\\\", {"]": "["}' + b"]" * 1500,
    "line breaks": b"[\n" * 1500 + b"]\r\n" * 1499 + b"]",
}


@pytest.mark.parametrize("text", ["[1, %s,\n2]", "[%s]", "1 %s\n2"])
@pytest.mark.parametrize("deep", DEEP.values(), ids=DEEP)
def test_a_value_that_is_nested_too_deep_costs_itself_alone(
    tmp_path: Path, deep: bytes, text: str
) -> None:
    (tmp_path / "a.json").write_bytes(text.encode().replace(b"%s", deep))
    flat = deep.translate(bytes.maketrans(b"\r\n", b"  "))
    found = values(tmp_path / "a.json")
    assert found == ([b"1", flat, b"2"] if "1" in text else [flat])
    with pytest.raises(MessageError, match="depth"):
        lines.read(flat)


def test_many_values_that_are_nested_too_deep_are_read_in_one_go() -> None:
    value = b"[" * 2000 + b"]" * 2000
    assert list(read_values(b"[" + b",".join([value] * 2000) + b"]")) == [value] * 2000


@pytest.mark.parametrize(
    "tail",
    [
        pytest.param(b"]" * 1999, id="a bracket is missing"),
        pytest.param(b'"' + b'\\"' * 500_000, id="a string does not end"),
        pytest.param(b'"\\', id="an escape does not end"),
    ],
)
def test_a_deep_value_that_does_not_end_is_the_rest_of_the_file(tail: bytes) -> None:
    found = read_values(b"[1, " + b"[" * 2000 + tail)
    assert next(found) == b"1"
    with pytest.raises(MessageError, match="is not JSON at character 4"):
        next(found)


@given(st.lists(events("structured"), max_size=5), st.booleans())
def test_a_batch_of_events(found: list[Message], pretty: bool) -> None:
    batch = json_format.write_batch(found)
    if pretty:
        batch = json.dumps(json.loads(batch), indent=1).encode()
    wanted = [json.loads(json_format.write(event)) for event in found]
    assert [json.loads(value) for value in read_values(batch)] == wanted


def as_message(record: Mapping[str, Any]) -> Message:
    return lines.read(writer_of(record.keys())(record))


def attributes_of(record: Mapping[str, Any]) -> Mapping[str, Any]:
    return as_message(record).attributes


def test_a_record_with_a_line() -> None:
    assert writer_of(["line", "rule"])({"line": b"x", "rule": "json"}) == b"x"
    assert writer_of(["value"])({"value": "ü"}) == "ü".encode()
    assert writer_of(["value"])({"value": None}) == b""


@pytest.mark.parametrize(
    "headers",
    [
        [("a", b"1"), ("content-type", b"text/plain")],
        [{"key": "a", "value": "1"}, {"key": "content-type", "value": b"text/plain"}],
        [{"name": "a", "value": "1"}, {"name": "content-type", "value": "text/plain"}],
        {"a": "1", "content-type": "text/plain"},
    ],
    ids=["pairs", "records", "named records", "a map"],
)
def test_a_kafka_record(headers: Any) -> None:
    record = {"topic": "t", "partition": 3, "offset": 9, "key": b"\xff", "headers": headers}
    expected = kafka.decode(
        kafka.KafkaRecord(
            topic="t",
            partition=3,
            key=b"\xff",
            headers=(("a", b"1"), ("content-type", b"text/plain")),
            value=b"hello",
        )
    )
    assert as_message(record | {"value": b"hello"}) == expected
    assert as_message(record | {"value": "hello"}) == expected
    assert as_message(record | {"value": "hello", "topic": b"t"}) == expected


def test_a_kafka_record_without_a_value() -> None:
    found = as_message({"topic": "t", "value": None, "key": "k", "headers": None})
    assert found.payload is None
    assert found.metadata["key"] == "k"


@pytest.mark.parametrize(
    "payload", [b'{"x": 1}', '{"x": 1}', {"x": 1}], ids=["bytes", "text", "record"]
)
@pytest.mark.parametrize("metadata", [{"topic": "t"}, '{"topic": "t"}'], ids=["record", "text"])
def test_a_message_in_columns(payload: Any, metadata: Any) -> None:
    found = as_message({"protocol": "KAFKA", "metadata": metadata, "payload": payload})
    assert found.metadata["topic"] == "t"
    assert found.payload is not None
    assert json.loads(found.payload) == {"x": 1}


def test_a_message_with_other_payloads() -> None:
    record = {"protocol": "X", "metadata": None, "payload": None, "payload_base64": "/w=="}
    assert as_message(record).payload == b"\xff"
    assert as_message({"protocol": "X", "payload": b"\xff"}).payload == b"\xff"
    assert as_message({"protocol": "X", "payload": "two\nlines"}).payload == b"two\nlines"
    assert as_message({"protocol": "X", "payload_text": b"hello"}).payload == b"hello"
    assert as_message({"protocol": "X", "payload_text": b"\xff"}).payload == b"\xff"


def test_bytes_in_metadata_stay_bytes() -> None:
    own = {"topic": "t", "key": b"4711", "headers": {"a": b"1", "b": b"\xff"}}
    found = as_message({"protocol": "KAFKA", "metadata": own, "payload": b"{}"}).metadata
    assert (found["key"], found["headers"]) == ("4711", (("a", "1"), ("b", b"\xff")))
    own = {"topic_name": "t", "correlation_data": b"7", "qos": None}
    found = as_message({"protocol": "MQTT/5.0", "metadata": own, "payload": b"{}"}).metadata
    assert found["correlation_data"] == b"7"


TWO_PAYLOADS: dict[str, Record] = {
    "of a message": {"protocol": "X", "payload": "hello", "payload_text": "x"},
    "of bytes": {"protocol": "X", "payload_text": b"x", "payload_base64": b"x"},
    "of an event": EVENT | {"data": "{}", "data_base64": "/w=="},
    "of an event, as bytes": EVENT | {"data": b"{}", "data_base64": b"\xff"},
    "of an event, one of them empty": EVENT | {"data": {"x": 1}, "data_base64": ""},
}


@pytest.mark.parametrize("record", TWO_PAYLOADS.values(), ids=TWO_PAYLOADS)
def test_none_of_two_payloads_is_dropped(record: Record) -> None:
    with pytest.raises(MessageError, match=r"has both data and|has more than one payload"):
        as_message(record)


EVENTS = {
    "a record": ({"data": {"x": 1}}, b'{"x":1}'),
    "JSON text": ({"data": '{"x": 1}'}, b'{"x": 1}'),
    "JSON bytes": ({"data": b'{"x": 1}'}, b'{"x": 1}'),
    "several lines of JSON": ({"data": b'{"x":\n1}'}, b'{"x":\n1}'),
    "bytes": ({"data": b"\xff", "datacontenttype": "image/png"}, b"\xff"),
    "text": ({"data": "hello", "datacontenttype": "text/plain"}, b"hello"),
    "base64": ({"data": None, "data_base64": "/w=="}, b"\xff"),
    "base64 as bytes": ({"data_base64": b"\xff"}, b"\xff"),
    "nothing": ({"data": None, "data_base64": None}, None),
}


@pytest.mark.parametrize(("record", "payload"), EVENTS.values(), ids=EVENTS)
def test_an_event_in_columns(record: Mapping[str, Any], payload: bytes | None) -> None:
    found = as_message(EVENT | dict(record))
    assert found.payload == payload
    assert cloudevents.check(found.attributes) == ()


def test_the_attributes_of_an_event_in_columns() -> None:
    time = datetime(2026, 11, 16, 8, 30, tzinfo=UTC)
    more = {"time": time, "subject": None, "count": 5, "flag": True, "blob": b"\x00"}
    assert attributes_of(EVENT | more) == EVENT | {
        "time": "2026-11-16T08:30:00.000Z",
        "count": 5,
        "flag": True,
        "blob": "AA==",
    }


def test_any_other_record_is_a_payload() -> None:
    record = {"id": 1, "when": date(2026, 11, 16), "price": Decimal("1.50"), "raw": b"\x00"}
    found = as_message(record)
    assert found.protocol == "FILE"
    assert found.payload is not None
    wanted = {"id": 1, "when": "2026-11-16", "price": 1.5, "raw": "AA=="}
    assert parse(found.payload) == wanted


def test_parquet_by_row_groups(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    table = pa.table({"value": [str(number) for number in range(5000)]})
    pq.write_table(table, path, row_group_size=2100)
    found = found_in(path)
    assert [value for _, value in found] == [str(number).encode() for number in range(5000)]
    places = [(number // 2100, number % 2100) for number in range(5000)]
    assert [place for place, _ in found] == places


def test_our_own_dead_letters(tmp_path: Path) -> None:
    rows = [{"line": b"\xff", "rule": "encoding"}, {"line": b"{}", "rule": "not-a-message"}]
    pq.write_table(pa.Table.from_pylist(rows, schema=LETTER), tmp_path / "a.parquet")
    assert values(tmp_path / "a.parquet") == [b"\xff", b"{}"]


def test_parquet_with_maps(tmp_path: Path) -> None:
    headers = pa.array([[("a", b"1"), ("a", b"2")]], pa.map_(pa.string(), pa.binary()))
    table = pa.table({"topic": ["t"], "value": [b"{}"], "headers": headers})
    pq.write_table(table, tmp_path / "a.parquet")
    (found,) = messages(tmp_path / "a.parquet")
    assert found.metadata["headers"] == (("a", "1"), ("a", "2"))


def test_parquet_that_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"value": ["x"] * 1000}), path)
    path.write_bytes(path.read_bytes()[:-20])
    (broken,) = values(path)
    assert reason(broken)


def test_parquet_with_a_broken_group(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    content = [f"{number:020d}" for number in range(3000)]
    pq.write_table(pa.table({"value": content}), path, row_group_size=1000, use_dictionary=False)
    start = pq.read_metadata(path).row_group(1).column(0).data_page_offset
    data = bytearray(path.read_bytes())
    data[start : start + 400] = b"\xff" * 400
    path.write_bytes(data)
    *good, broken = found_in(path)
    assert [value for _, value in good] == [text.encode() for text in content[:1000]]
    assert reason(broken[1])


def avro_file(schema: Any, records: Sequence[Any], **options: Any) -> bytes:
    out = io.BytesIO()
    fastavro.writer(out, fastavro.parse_schema(schema), records, **options)
    return out.getvalue()


RECORD = {
    "type": "record",
    "name": "Order",
    "fields": [{"name": "number", "type": "long"}, {"name": "note", "type": ["null", "string"]}],
}


@pytest.mark.parametrize("codec", ["null", "deflate", "snappy", "zstandard"])
def test_avro_by_blocks(tmp_path: Path, codec: str) -> None:
    records = [{"number": number, "note": "x" * 50} for number in range(1000)]
    path = tmp_path / "a.avro"
    path.write_bytes(avro_file(RECORD, records, codec=codec, sync_interval=6000))
    found = found_in(path)
    payloads = [lines.read(value).payload for _, value in found]
    assert [parse(payload or b"") for payload in payloads] == records
    blocks = sorted({block for (block, _), _ in found})
    assert blocks == list(range(len(blocks)))
    assert len(blocks) > 5
    assert len({place for place, _ in found}) == 1000


def test_avro_that_is_cut(tmp_path: Path) -> None:
    records = [{"number": number, "note": "x" * 50} for number in range(1000)]
    data = avro_file(RECORD, records, sync_interval=6000)
    path = tmp_path / "a.avro"
    path.write_bytes(data[: len(data) // 2])
    *good, broken = values(path)
    assert 300 < len(good) < 600
    assert [parse(lines.read(value).payload or b"")["number"] for value in good] == list(
        range(len(good))
    )
    assert reason(broken)


def test_avro_of_kafka_records(tmp_path: Path) -> None:
    header = {
        "type": "record",
        "name": "Header",
        "fields": [{"name": "key", "type": "string"}, {"name": "value", "type": "bytes"}],
    }
    schema = {
        "type": "record",
        "name": "Record",
        "fields": [
            {"name": "topic", "type": "string"},
            {"name": "key", "type": ["null", "bytes"]},
            {"name": "value", "type": ["null", "bytes"]},
            {"name": "headers", "type": {"type": "array", "items": header}},
        ],
    }
    headers = [{"key": "ce_id", "value": b"1"}]
    records = [{"topic": "t", "key": b"k", "value": b"{}", "headers": headers}]
    (tmp_path / "a.avro").write_bytes(avro_file(schema, records))
    (found,) = messages(tmp_path / "a.avro")
    assert (found.protocol, found.attributes, found.payload) == ("KAFKA", {"id": "1"}, b"{}")


DATA = {
    "bytes": b"\x00\xff",
    "nothing": None,
    "a text": "hello",
    "a number": 1.5,
    "an object": {"a": 1.0, "b": {"value": {"c": "d", "e": None}}},
    "a list": [{"value": {"a": "b"}}],
}


@pytest.mark.parametrize("data", DATA.values(), ids=DATA)
def test_events_in_the_avro_format(tmp_path: Path, data: Any) -> None:
    """As the format itself reads the same record."""
    record = {"attribute": {**EVENT, "count": 5}, "data": data}
    (tmp_path / "a.avro").write_bytes(avro_file(avro_format.SCHEMA, [record]))
    (found,) = messages(tmp_path / "a.avro")
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(dict(avro_format.SCHEMA)), record)
    attributes, payload, _ = avro_format.read(out.getvalue())
    attributes.pop("datacontenttype", None)
    assert {**found.attributes, "datacontenttype": None} == {**attributes, "datacontenttype": None}
    assert found.payload == payload


def test_a_record_that_json_cannot_say_is_a_letter_of_its_own() -> None:
    good = {"value": b"x"}
    assert _line(writer_of(good), good) == b"x"
    assert "object" in reason(_line(writer_of(["x", "y"]), {"x": object(), "y": 1}))
    deep: Record = {}
    for _ in range(10_000):
        deep = {"next": deep}
    assert reason(_line(writer_of(deep), deep)) == "is nested too deep"
    assert "data" in json.loads(_line(writer_of(EVENT), EVENT | {"data": deep}))["unreadable"]
