"""The Avro event format: whole bytes, what others write, and what is refused."""

from __future__ import annotations

import io
import time
from typing import Any

import pytest
from fastavro import parse_schema, schemaless_reader, schemaless_writer
from hypothesis import given

from heraldry.errors import MessageError
from heraldry.messages.envelopes import avro_format
from heraldry.messages.message import Message
from tests.messages.envelopes.events import EVENT, events

ITEM: dict[str, Any] = {"type": "record", "name": "Item", "fields": []}
ITEM["fields"].append(
    {
        "name": "value",
        "type": {
            "type": "map",
            "values": [
                *("null", "boolean"),
                {"type": "map", "values": "Item"},
                {"type": "array", "items": "Item"},
                *("double", "string"),
            ],
        },
    }
)
MEMBERS = {"type": "map", "values": ["null", "boolean", ITEM, "double", "string"]}
INDEPENDENT = parse_schema(
    {
        "type": "record",
        "name": "CloudEvent",
        "fields": [
            {
                "name": "attribute",
                "type": {"type": "map", "values": ["null", "boolean", "int", "string", "bytes"]},
            },
            {
                "name": "data",
                "type": [
                    *("bytes", "null", "boolean"),
                    MEMBERS,
                    {"type": "array", "items": "Item"},
                    *("double", "string"),
                ],
            },
        ],
    }
)
# Two attributes, then the data: each text after its length, all numbers doubled.
BYTES = b"\x04\x04id\x06\x021\x02x\x04\x09\x00\x00\x04{}"
SHORT = Message(attributes={"id": "1", "x": -5}, payload=b"{}")


def written(attribute: dict[str, Any], data: Any) -> bytes:
    stream = io.BytesIO()
    schemaless_writer(stream, INDEPENDENT, {"attribute": attribute, "data": data})
    return stream.getvalue()


def test_whole_bytes() -> None:
    assert avro_format.write(SHORT) == BYTES
    assert avro_format.read(BYTES) == ({"id": "1", "x": -5}, b"{}", None)
    assert avro_format.write(Message()) == b"\x00\x02"
    assert avro_format.read(b"\x00\x02") == ({}, None, None)


@given(events(binary=True))
def test_others_read_what_we_write(event: Message) -> None:
    stream = io.BytesIO(avro_format.write(event))
    found: Any = schemaless_reader(stream, INDEPENDENT, None)
    assert not stream.read()
    kind = {} if event.content_type is None else {"datacontenttype": event.content_type}
    assert found == {"attribute": {**kind, **event.attributes}, "data": event.payload}
    types = {name: type(value) for name, value in found["attribute"].items()}
    assert types == {name: type(value) for name, value in {**kind, **event.attributes}.items()}


@given(events(binary=True))
def test_we_read_what_others_write(event: Message) -> None:
    document = written(dict(event.attributes), event.payload)
    kind = event.attributes.get("datacontenttype")
    assert avro_format.read(document) == (event.attributes, event.payload, kind)


@pytest.mark.parametrize(
    ("data", "kind", "payload"),
    [
        pytest.param(True, None, b"true", id="truth"),
        pytest.param(1.5, None, b"1.5", id="number"),
        pytest.param("x", None, b'"x"', id="text"),
        pytest.param("x", "a/b+json", b'"x"', id="JSON text"),
        pytest.param("x", "text/plain", b"x", id="plain text"),
        pytest.param({}, None, b"{}", id="empty object"),
        pytest.param([], None, b"[]", id="empty list"),
        pytest.param(
            {"a": None, "b": {"value": {"c": 1.0, "d": {"e": {"value": {"f": "g"}}}}}},
            None,
            b'{"a":null,"b":{"c":1.0,"d":{"e":{"f":"g"}}}}',
            id="object",
        ),
        pytest.param(
            [{"value": {"a": [{"value": {"b": False}}]}}], None, b'[{"a":[{"b":false}]}]', id="list"
        ),
    ],
)
def test_a_json_value_becomes_its_text(data: Any, kind: str | None, payload: bytes) -> None:
    stated = kind or "application/json"
    found = avro_format.read(
        written(EVENT if kind is None else {**EVENT, "datacontenttype": kind}, data)
    )
    assert found == ({**EVENT, "datacontenttype": stated}, payload, stated)
    again = Message(attributes=found[0], payload=found[1], content_type=found[2])
    assert avro_format.read(avro_format.write(again)) == found


def test_null_is_absent() -> None:
    assert avro_format.read(written({**EVENT, "x": None}, None)) == (EVENT, None, None)


def nested(depth: int) -> bytes:
    """A list of objects, each with a list in it."""
    return b"\x00\x08" + b"\x02\x02\x02a\x06" * depth


@pytest.mark.parametrize(
    ("document", "rule"),
    [
        pytest.param(b"", "end", id="nothing"),
        pytest.param(BYTES[:-1], "end", id="cut"),
        pytest.param(BYTES + b"\x00", "end", id="more"),
        pytest.param(b"\x02\x04id\x0c\x00\x02", "union", id="no such type"),
        pytest.param(b"\x02\x04id\x06\x02\xff\x00\x02", "utf-8", id="not UTF-8"),
        pytest.param(b"\x02\x02x\x04\x80\x80\x80\x80\x20\x00\x02", "int", id="large integer"),
        pytest.param(b"\x02\x02x\x02\x05\x00\x02", "boolean", id="no truth value"),
        pytest.param(b"\x02\x02x\x06\xfe\xff\xff\xff\x0f", "end", id="huge text"),
        pytest.param(b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01", "end", id="huge map"),
        pytest.param(b"\xff" * 11, "number", id="endless number"),
        pytest.param(b"\x02\x08data\x06\x00\x00\x02", "name", id="attribute called data"),
        pytest.param(b"\x02\x00\x06\x00\x00\x02", "name", id="attribute without a name"),
        pytest.param(written({}, float("nan")), "json", id="no number of JSON"),
        pytest.param(written({}, {"a": float("inf")}), "json", id="no number inside"),
        pytest.param(nested(100_000), "depth", id="deep"),
    ],
)
def test_what_is_no_event(document: bytes, rule: str) -> None:
    start = time.process_time()
    with pytest.raises(MessageError) as error:
        avro_format.read(document)
    assert error.value.problems[0].rule == rule
    assert time.process_time() - start < 4


@pytest.mark.parametrize("cut", [pytest.param(n, id=f"{n} bytes") for n in range(len(BYTES))])
def test_no_part_of_an_event_is_one(cut: int) -> None:
    with pytest.raises(MessageError):
        avro_format.read(BYTES[:cut])
