"""The Protobuf event format: whole bytes, the runtime of others as oracle, and what is refused."""

from __future__ import annotations

import time
from typing import Any

import pytest
from google.protobuf.any_pb2 import DESCRIPTOR as ANY
from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass
from google.protobuf.timestamp_pb2 import DESCRIPTOR as TIMESTAMP
from hypothesis import given
from hypothesis import strategies as st

from heraldry.errors import MessageError
from heraldry.messages.envelopes import protobuf_format
from heraldry.messages.message import Message
from tests.messages.envelopes.events import EVENT, events

F = FieldDescriptorProto
PACKAGE = ".io.cloudevents.v1."


def add(
    message: DescriptorProto, name: str, number: int, kind: Any, one_of: int | None = None
) -> None:
    field = message.field.add(name=name, number=number, label=F.LABEL_OPTIONAL)
    if isinstance(kind, str):
        field.type, field.type_name = F.TYPE_MESSAGE, kind
    else:
        field.type = kind
    if one_of is not None:
        field.oneof_index = one_of


def independent() -> Any:
    """The classes of the specification's messages, made by the runtime of Protocol Buffers."""
    file = FileDescriptorProto(name="ce.proto", package=PACKAGE.strip("."), syntax="proto3")
    file.dependency.extend([ANY.name, TIMESTAMP.name])
    event = file.message_type.add(name="CloudEvent")
    for number, name in enumerate(("id", "source", "spec_version", "type"), 1):
        add(event, name, number, F.TYPE_STRING)
    event.oneof_decl.add(name="data")
    add(event, "attributes", 5, f"{PACKAGE}CloudEvent.AttributesEntry")
    event.field[-1].label = F.LABEL_REPEATED
    add(event, "binary_data", 6, F.TYPE_BYTES, 0)
    add(event, "text_data", 7, F.TYPE_STRING, 0)
    add(event, "proto_data", 8, ".google.protobuf.Any", 0)
    entry = event.nested_type.add(name="AttributesEntry")
    entry.options.map_entry = True
    add(entry, "key", 1, F.TYPE_STRING)
    add(entry, "value", 2, f"{PACKAGE}CloudEvent.Value")
    value = event.nested_type.add(name="Value")
    value.oneof_decl.add(name="attr")
    kinds = (F.TYPE_BOOL, F.TYPE_INT32, F.TYPE_STRING, F.TYPE_BYTES, F.TYPE_STRING, F.TYPE_STRING)
    names = ("boolean", "integer", "string", "bytes", "uri", "uri_ref")
    for number, (name, kind) in enumerate(zip(names, kinds, strict=True), 1):
        add(value, f"ce_{name}", number, kind, 0)
    add(value, "ce_timestamp", 7, ".google.protobuf.Timestamp", 0)
    batch = file.message_type.add(name="CloudEventBatch")
    add(batch, "events", 1, f"{PACKAGE}CloudEvent")
    batch.field[0].label = F.LABEL_REPEATED
    pool = DescriptorPool()
    for one in (ANY, TIMESTAMP):
        pool.AddSerializedFile(one.serialized_pb)
    pool.AddSerializedFile(file.SerializeToString())
    return (
        GetMessageClass(pool.FindMessageTypeByName("io.cloudevents.v1.CloudEvent")),
        GetMessageClass(pool.FindMessageTypeByName("io.cloudevents.v1.CloudEventBatch")),
    )


CloudEvent, CloudEventBatch = independent()
REQUIRED = b"\x0a\x011\x12\x02/s\x1a\x031.0\x22\x01t"


def entry(value: bytes, name: bytes = b"x") -> bytes:
    inner = b"\x0a" + bytes([len(name)]) + name + b"\x12" + bytes([len(value)]) + value
    return b"\x2a" + bytes([len(inner)]) + inner


@pytest.mark.parametrize(
    ("attributes", "payload", "document"),
    [
        pytest.param({}, None, REQUIRED, id="required"),
        pytest.param({"x": True}, None, REQUIRED + entry(b"\x08\x01"), id="boolean"),
        pytest.param({"x": False}, None, REQUIRED + entry(b"\x08\x00"), id="false"),
        pytest.param({"x": 150}, None, REQUIRED + entry(b"\x10\x96\x01"), id="integer"),
        pytest.param(
            {"x": -1}, None, REQUIRED + entry(b"\x10" + b"\xff" * 9 + b"\x01"), id="negative"
        ),
        pytest.param({"x": "é"}, None, REQUIRED + entry(b"\x1a\x02\xc3\xa9"), id="string"),
        pytest.param({"x": b"\xff"}, None, REQUIRED + entry(b"\x22\x01\xff"), id="binary"),
        pytest.param(
            {"dataschema": "a:b"}, None, REQUIRED + entry(b"\x2a\x03a:b", b"dataschema"), id="uri"
        ),
        pytest.param(
            {"time": "1970-01-01T00:00:05.007Z"},
            None,
            REQUIRED + entry(b"\x3a\x07\x08\x05\x10\xc0\x9f\xab\x03", b"time"),
            id="timestamp",
        ),
        pytest.param({}, b"\xff", REQUIRED + b"\x32\x01\xff", id="bytes"),
        pytest.param({}, b"", REQUIRED + b"\x32\x00", id="no bytes"),
        pytest.param(
            {"datacontenttype": "a/json"},
            b"{}",
            REQUIRED + entry(b"\x1a\x06a/json", b"datacontenttype") + b"\x3a\x02{}",
            id="text",
        ),
    ],
)
def test_whole_bytes(attributes: dict[str, Any], payload: bytes | None, document: bytes) -> None:
    event = Message(attributes={**EVENT, **attributes}, payload=payload)
    assert protobuf_format.write(event) == document
    kind = attributes.get("datacontenttype")
    assert protobuf_format.read(document) == ({**EVENT, **attributes}, payload, kind)
    CloudEvent.FromString(document)


@given(events(binary=True))
def test_others_read_what_we_write(event: Message) -> None:
    found = CloudEvent.FromString(protobuf_format.write(event))
    assert (found.id, found.source) == (event.attributes["id"], event.attributes["source"])
    kinds = {str: "ce_string", bool: "ce_boolean", int: "ce_integer", bytes: "ce_bytes"}
    for name, value in event.attributes.items():
        if name in EVENT:
            continue
        held = found.attributes[name]
        chosen = held.WhichOneof("attr")
        if chosen == "ce_timestamp":
            assert name == "time"
            continue
        assert chosen == ("ce_uri" if name == "dataschema" else kinds[type(value)])
        assert getattr(held, chosen) == value
    chosen = found.WhichOneof("data")
    if chosen == "proto_data":
        assert (found.proto_data.type_url, found.proto_data.value) == (
            event.attributes["dataschema"],
            event.payload,
        )
    elif chosen is None:
        assert event.payload is None
    else:
        data = getattr(found, chosen)
        assert (data.encode() if isinstance(data, str) else data) == event.payload


@given(
    st.text(max_size=5),
    st.integers(-62_135_596_800, 253_402_300_799),
    st.integers(0, 999_999_999),
    st.binary(max_size=5),
)
def test_we_read_what_others_write(text: str, seconds: int, nanos: int, data: bytes) -> None:
    event = CloudEvent(id="1", source="/s", spec_version="1.0", type="t", binary_data=data)
    event.attributes["a"].ce_uri = text
    event.attributes["b"].ce_uri_ref = text
    event.attributes["c"].ce_integer = -5
    event.attributes["time"].ce_timestamp.seconds = seconds
    event.attributes["time"].ce_timestamp.nanos = nanos
    event.attributes["unset"].SetInParent()
    attributes, payload, kind = protobuf_format.read(event.SerializeToString())
    stamp = event.attributes["time"].ce_timestamp.ToJsonString()
    assert attributes == {**EVENT, "a": text, "b": text, "c": -5, "time": stamp}
    assert (payload, kind) == (data, None)
    again = protobuf_format.write(Message(attributes=attributes, payload=payload))
    assert CloudEvent.FromString(again).attributes["time"] == event.attributes["time"]


@given(st.lists(events(binary=True), max_size=4))
def test_others_read_our_batches(messages: list[Message]) -> None:
    found = CloudEventBatch.FromString(protobuf_format.write_batch(messages))
    assert [one.id for one in found.events] == [one.attributes["id"] for one in messages]
    ours = protobuf_format.read_batch(found.SerializeToString(deterministic=True), 4)
    assert [one[1] for one in ours] == [one.payload for one in messages]


def test_a_message_in_an_any() -> None:
    event = CloudEvent(id="1", source="/s", spec_version="1.0", type="t")
    event.proto_data.type_url, event.proto_data.value = "type.googleapis.com/x.Y", b"\x08\x01"
    found = protobuf_format.read(event.SerializeToString())
    kind = "application/protobuf"
    assert found == ({**EVENT, "datacontenttype": kind}, b"\x08\x01", kind)
    event.attributes["dataschema"].ce_uri = "type.googleapis.com/x.Y"
    attributes, payload, kind = protobuf_format.read(event.SerializeToString())  # type: ignore[assignment]
    again = protobuf_format.write(Message(attributes=attributes, payload=payload))
    assert CloudEvent.FromString(again).proto_data == event.proto_data


@pytest.mark.parametrize(
    ("document", "attributes", "payload"),
    [
        pytest.param(REQUIRED + b"\x0a\x012", {**EVENT, "id": "2"}, None, id="the last id"),
        pytest.param(
            REQUIRED + b"\x0a\x00", {k: v for k, v in EVENT.items() if k != "id"}, None, id="empty"
        ),
        pytest.param(REQUIRED + b"\x32\x01a\x3a\x01b", EVENT, b"b", id="the last data"),
        pytest.param(
            REQUIRED + b"\x42\x03\x12\x01a\x32\x01b\x42\x00",
            {**EVENT, "datacontenttype": "application/protobuf"},
            b"",
            id="a message anew",
        ),
        pytest.param(
            REQUIRED + b"\x42\x03\x12\x01a\x42\x02\x0a\x00",
            {**EVENT, "datacontenttype": "application/protobuf"},
            b"a",
            id="messages merge",
        ),
        pytest.param(
            REQUIRED + entry(b"\x08\x01") + entry(b"\x10\x05"),
            {**EVENT, "x": 5},
            None,
            id="the last entry",
        ),
    ],
)
def test_what_repeats(document: bytes, attributes: dict[str, Any], payload: bytes | None) -> None:
    assert protobuf_format.read(document)[:2] == (attributes, payload)
    theirs = CloudEvent.FromString(document)
    chosen = theirs.WhichOneof("data")
    data = None if chosen is None else getattr(theirs, chosen)
    data = data.value if chosen == "proto_data" else data
    assert (data.encode() if isinstance(data, str) else data) == payload


@pytest.mark.parametrize(
    ("document", "rule"),
    [
        pytest.param(REQUIRED[:-1], "protobuf", id="cut"),
        pytest.param(REQUIRED + b"\x0a", "protobuf", id="a tag at the end"),
        pytest.param(REQUIRED + b"\x00", "protobuf", id="no field"),
        pytest.param(REQUIRED + b"\x4a\x00", "protobuf", id="unknown field"),
        pytest.param(REQUIRED + b"\x08\x01", "protobuf", id="a number for a text"),
        pytest.param(REQUIRED + b"\x0b\x0c", "protobuf", id="group"),
        pytest.param(b"\x0a\x01\xff", "encoding", id="not UTF-8"),
        pytest.param(b"\x0a\xff\xff\xff\xff\x7f", "protobuf", id="huge text"),
        pytest.param(b"\xff" * 11, "protobuf", id="endless number"),
        pytest.param(b"\x80" * 9, "protobuf", id="unfinished number"),
        pytest.param(b"\xff" * 9 + b"\x7f", "protobuf", id="70 bits"),
        pytest.param(entry(b"\x10\x80\x80\x80\x80\x08"), "type", id="large integer"),
        pytest.param(entry(b"\x3a\x02\x10\x01")[:-1] + b"\x7f\x00", "protobuf", id="cut entry"),
        pytest.param(entry(b"\x3a\x0b\x10" + b"\xff" * 9 + b"\x01"), "type", id="negative nanos"),
        pytest.param(
            entry(b"\x3a\x0b\x08" + b"\xff" * 8 + b"\x7f\x00"), "protobuf", id="no field inside"
        ),
        pytest.param(entry(b"\x3a\x0a\x08" + b"\xff" * 8 + b"\x7f"), "type", id="no such year"),
        pytest.param(entry(b"\x1a\x011", b"id"), "name", id="id in the map"),
        pytest.param(entry(b"\x1a\x011", b"data"), "name", id="attribute called data"),
        pytest.param(entry(b"\x1a\x011", b""), "name", id="attribute without a name"),
        pytest.param(b"\x0a\x00" * 1_000_000, "too-large", id="many fields"),
        pytest.param(entry(b"\x08\x01") * 1_000_000, "too-large", id="many entries"),
    ],
)
def test_what_is_no_event(document: bytes, rule: str) -> None:
    start = time.process_time()
    with pytest.raises(MessageError) as error:
        protobuf_format.read(document)
    assert error.value.problems[0].rule == rule
    assert time.process_time() - start < 4


def test_pieces_of_a_message_merge_in_linear_time() -> None:
    piece = b"\x42\xd0\x0f" + b"\x0a\xcd\x0f" + b"a" * 1997
    start = time.process_time()
    assert protobuf_format.read(piece * 9_000)[1] == b""
    assert time.process_time() - start < 6


@pytest.mark.parametrize(
    ("document", "rule"),
    [
        pytest.param(b"\x0a\x00" * 3, "too-large", id="one too many"),
        pytest.param(b"\x12\x00", "protobuf", id="unknown field"),
        pytest.param(b"\x0a\x02\x4a\x00", "protobuf", id="a wrong event"),
        pytest.param(b"\x0a\x00" * 1_000_000, "too-large", id="huge"),
    ],
)
def test_what_is_no_batch(document: bytes, rule: str) -> None:
    with pytest.raises(MessageError) as error:
        protobuf_format.read_batch(document, 2)
    assert error.value.problems[0].rule == rule


def test_an_empty_batch() -> None:
    assert protobuf_format.write_batch([]) == b""
    assert protobuf_format.read_batch(b"", 0) == ()
