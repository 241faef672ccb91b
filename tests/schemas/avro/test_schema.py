"""Avro schemas: links, references, encodings, prefixes, spellings, and what is refused."""

from __future__ import annotations

import json
import zlib
from datetime import UTC, date, datetime, time
from decimal import Decimal
from random import Random
from uuid import UUID

import pytest

from heraldry.errors import MessageError, SchemaError
from heraldry.schemas.formats import compile as compile_schema
from heraldry.schemas.formats import references_of
from heraldry.schemas.source import Reference


def avro(document, link="", **more):
    return compile_schema("Avro/1.11", document, link, **more)


def record(name, **fields):
    members = [{"name": key, "type": value} for key, value in fields.items()]
    return {"type": "record", "name": name, "fields": members}


def logical(kind, name, **more):
    return {"type": kind, "logicalType": name, **more}


DECIMAL = logical("bytes", "decimal", precision=6, scale=2)
DURATION = {"type": "fixed", "name": "D", "size": 12, "logicalType": "duration"}
POINT = record("geo.Point", x="int", y=["null", "string"])
TWO = [record("a.One", x="int"), record("b.Two", y="string", one="a.One")]


@pytest.mark.parametrize(
    ("link", "keys"),
    [
        pytest.param("#b.Two", ["y", "one"], id="full name as a fragment"),
        pytest.param(":One", ["x"], id="name behind a colon"),
        pytest.param("Two", ["y", "one"], id="bare name"),
        pytest.param("a.One", ["x"], id="bare full name"),
    ],
)
def test_a_link_picks_a_named_type(link, keys):
    assert [column.key for column in avro(TWO, link).columns] == keys


def test_a_union_without_a_link_is_taken_as_a_whole():
    (column,) = avro(TWO).columns
    assert (column.name, column.type.name) == ("value", "json")


def test_a_nested_type_can_be_linked():
    schema = avro(record("R", p=POINT), "#Point")
    assert schema.decode(schema.encode({"x": 1, "y": None})) == {"x": 1, "y": None}


@pytest.mark.parametrize(
    ("document", "link", "reason"),
    [
        pytest.param(TWO, "#Three", "no type of this name", id="no such type"),
        pytest.param([record("a.X"), record("b.X")], "#X", "several types", id="several"),
    ],
)
def test_a_link_that_names_no_type_is_an_error(document, link, reason):
    with pytest.raises(SchemaError, match=reason):
        avro(document, link)


PLACE = "/schemagroups/g/schemas/point"


@pytest.mark.parametrize(
    ("type_", "names"),
    [
        pytest.param(PLACE, [PLACE], id="xid"),
        pytest.param(f"{PLACE}#Point", [PLACE], id="xid and fragment"),
        pytest.param(f"{PLACE}:geo.Point", [f"{PLACE}:geo.Point", PLACE], id="xid and colon"),
        pytest.param("geo.Point", ["geo.Point"], id="full name"),
        pytest.param("Point", ["Point", "main.Point"], id="name in a namespace"),
        pytest.param("https://host/x#Point", ["https://host/x"], id="address"),
    ],
)
def test_a_type_of_another_document_is_found_by_its_text(type_, names):
    document = record("main.R", first=type_, second={"type": "array", "items": type_})
    assert list(references_of("Avro", document)) == names
    held = tuple(
        Reference(name, json.dumps(POINT).encode()) for name in names if ":geo" not in name
    )
    schema = avro(document, references=held)
    assert [column.type for column in schema.columns[:1]] == [
        avro(record("R", first=POINT)).columns[0].type
    ]
    value = {"first": {"x": 1, "y": None}, "second": [{"x": 2, "y": "b"}]}
    assert schema.decode(schema.encode(value)) == value


def test_a_reference_outside_the_catalog_is_an_error_and_not_fetched():
    with pytest.raises(SchemaError, match="not in the catalog, and nothing is fetched") as caught:
        avro(record("R", a="http://169.254.169.254/x"))
    assert caught.value.location == "/fields/0/type"


def test_an_undefined_name_is_an_error():
    with pytest.raises(SchemaError, match="'Missing' is not defined"):
        avro(record("R", a="Missing"))


def test_documents_may_refer_to_each_other():
    node = record("Node", next=["null", "/s/leaf"])
    leaf = record("Leaf", parent=["null", "/s/node"])
    held = (
        Reference("/s/leaf", json.dumps(leaf).encode()),
        Reference("/s/node", json.dumps(node).encode()),
    )
    schema = avro(node, references=held)
    value = {"next": {"parent": {"next": None}}}
    assert schema.decode(schema.encode(value)) == value


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"\xff", id="not text"),
        pytest.param(b"", id="empty"),
        pytest.param(b"[" * 10_000, id="deep"),
    ],
)
def test_an_unreadable_document_has_no_references(content):
    assert references_of("Avro", content) == ()


@pytest.mark.parametrize(
    ("document", "location", "reason"),
    [
        pytest.param({}, "", "no 'type'", id="no type"),
        pytest.param(5, "", "a type is", id="a number"),
        pytest.param("{", "", "not JSON", id="not JSON"),
        pytest.param({"type": "array"}, "", "no 'items'", id="no items"),
        pytest.param(record("R", a=["int", "int"]), "/fields/0/type/1", "twice", id="twice"),
        pytest.param(record("R", a=["int", ["null"]]), "/fields/0/type/1", "no other union",
                     id="union in a union"),
        pytest.param(record("1R"), "", "no valid name", id="bad name"),
        pytest.param(record("R", **{"a-b": "int"}), "/fields/0", "no valid name", id="bad field"),
        pytest.param({"type": "enum", "name": "E", "symbols": ["A", "A"]}, "", "twice",
                     id="symbol twice"),
        pytest.param({"type": "enum", "name": "E", "symbols": ["A"], "default": "B"}, "/default",
                     "not one of the symbols", id="enum default"),
        pytest.param([record("R"), record("R")], "/1", "defined twice", id="defined twice"),
        pytest.param(
            {"type": "record", "name": "R", "fields": [
                {"name": "a", "type": "int", "default": "x"}]},
            "/fields/0/default", "default of the field 'a'", id="wrong default"),
        pytest.param({"type": "fixed", "name": "F", "size": True}, "", "number of bytes",
                     id="boolean size"),
    ],
)  # fmt: skip
def test_a_wrong_document_is_refused_at_its_place(document, location, reason):
    with pytest.raises(SchemaError, match=reason) as caught:
        avro(document)
    assert caught.value.location == location


@pytest.mark.parametrize(
    "written",
    [
        pytest.param(logical("bytes", "decimal"), id="no precision"),
        pytest.param(logical("bytes", "decimal", precision=2, scale=3), id="scale too large"),
        pytest.param(logical("string", "date"), id="on another type"),
        pytest.param(logical("int", "fortnight"), id="unknown"),
        pytest.param({"type": "fixed", "name": "F", "size": 3, "logicalType": "uuid"}, id="size"),
        pytest.param(logical("long", 5), id="not a name"),
    ],
)
def test_an_invalid_logical_type_is_ignored(written):
    plain = {key: value for key, value in written.items() if key in ("type", "name", "size")}
    assert avro(written).columns == avro(plain).columns


VALUE = {"x": 5, "y": "hi"}


@pytest.mark.parametrize(
    ("content_type", "payload"),
    [
        pytest.param("avro/binary", b"\x0a\x02\x04hi", id="binary"),
        pytest.param("application/vnd.apache.avro+binary", b"\x0a\x02\x04hi", id="vendor"),
        pytest.param("application/json", b'{"x":5,"y":{"string":"hi"}}', id="JSON"),
        pytest.param("application/vnd.x+json; charset=utf-8", b'{"x":5,"y":{"string":"hi"}}',
                     id="+json"),
    ],
)  # fmt: skip
def test_a_content_type_chooses_the_encoding(content_type, payload):
    schema = avro(POINT)
    assert schema.encode(VALUE, content_type) == payload
    assert schema.decode(payload, content_type) == VALUE
    assert schema.decode(payload) == VALUE


def test_json_without_tags_is_read_where_one_type_fits():
    schema = avro(POINT)
    assert schema.decode(b'{"x":5,"y":"hi"}', "application/json") == VALUE
    assert schema.decode(b' {"y":null, "x":5}') == {"x": 5, "y": None}


def test_single_object_encoding_names_its_schema():
    schema, other = avro(POINT), avro(record("R", x="int"))
    payload = schema.encode(VALUE, "application/avro; encoding=single-object")
    assert payload[:2] == b"\xc3\x01"
    assert schema.decode(payload) == schema.decode(payload, "avro/binary") == VALUE
    with pytest.raises(MessageError) as caught:
        other.decode(payload)
    assert [problem.rule for problem in caught.value.problems] == ["fingerprint"]


def test_the_prefixes_of_registries_are_left_out():
    schema = avro(POINT)
    plain = schema.encode(VALUE)
    assert schema.decode(b"\x00\x00\x00\x00\x07" + plain) == VALUE
    assert schema.decode(b"\x03\x00" + b"\x11" * 16 + plain) == VALUE
    assert schema.decode(b"\x03\x05" + b"\x11" * 16 + zlib.compress(plain)) == VALUE


@pytest.mark.parametrize(
    ("document", "payload", "path", "rule"),
    [
        pytest.param(POINT, b"\x0a\x02\x04h", "/y", "end", id="too short"),
        pytest.param(POINT, b"\x0a\x00\x00", "/", "end", id="too long"),
        pytest.param(POINT, b"\x0a\x08", "/y", "union", id="no such type"),
        pytest.param(POINT, b"\x0a\x02\x02\xff", "/y", "utf-8", id="not UTF-8"),
        pytest.param(POINT, b"", "/x", "end", id="nothing"),
        pytest.param(POINT, b"Obj\x01abc", "/", "container", id="container file"),
        pytest.param(POINT, b"\x80\x80\x80\x80\x80\x01\x00", "/x", "int", id="more than 32 bits"),
        pytest.param(record("R", e={"type": "enum", "name": "E", "symbols": ["A"]}), b"\x01", "/e",
                     "enum", id="negative symbol"),
        pytest.param({"type": "array", "items": POINT}, b"\x04\x02\x00\x02\x06", "/1/y", "union",
                     id="in a list"),
        pytest.param({"type": "map", "values": "boolean"}, b"\x02\x02k", "/k", "end",
                     id="in a map"),
        pytest.param(record("R", d=DECIMAL), b"\x08\x7f\xff\xff\xff", "/d", "decimal",
                     id="too many digits"),
        pytest.param(record("R", t=logical("int", "time-millis")), b"\x01", "/t", "time-millis",
                     id="no time of day"),
        pytest.param(record("R", u=logical("string", "uuid")), b"\x02x", "/u", "uuid", id="uuid"),
    ],
)  # fmt: skip
def test_a_wrong_payload_is_refused_at_its_place(document, payload, path, rule):
    with pytest.raises(MessageError) as caught:
        avro(document).decode(payload, "avro/binary")
    assert [(problem.path, problem.rule) for problem in caught.value.problems] == [(path, rule)]


@pytest.mark.parametrize(
    ("type_", "written", "value"),
    [
        pytest.param(logical("int", "date"), "2020-02-29", date(2020, 2, 29), id="date"),
        pytest.param(logical("long", "timestamp-millis"), "2020-01-01T01:00:00.5+01:00",
                     datetime(2020, 1, 1, 0, 0, 0, 500_000, UTC), id="timestamp"),
        pytest.param(logical("long", "timestamp-micros"), 1, datetime(1970, 1, 1, 0, 0, 0, 1, UTC),
                     id="timestamp as a number"),
        pytest.param(logical("long", "timestamp-nanos"), "1970-01-01T00:00:00.123456789Z",
                     123_456_789, id="nanoseconds"),
        pytest.param(logical("long", "local-timestamp-micros"), "2020-01-01T00:00:00.25",
                     datetime(2020, 1, 1, 0, 0, 0, 250_000), id="local timestamp"),
        pytest.param(logical("int", "time-millis"), "23:59:59.9999",
                     time(23, 59, 59, 999_000), id="time of day"),
        pytest.param(DECIMAL, "-12.5", Decimal("-12.50"), id="decimal text"),
        pytest.param(DECIMAL, 12.5, Decimal("12.50"), id="decimal from a number"),
        pytest.param(logical("string", "uuid"), "00000000-0000-0000-0000-000000000001", UUID(int=1),
                     id="uuid"),
        pytest.param(DURATION, "P1Y2M3DT4H5M6.007S", "P14M3DT14706.007S", id="duration"),
        pytest.param("bytes", "AAE=", b"\x00\x01", id="base64"),
        pytest.param("double", 1, 1.0, id="whole number"),
        pytest.param("float", "Infinity", float("inf"), id="infinity"),
        pytest.param(["null", "string"], {"string": "x"}, "x", id="tagged"),
        pytest.param(["float", "double"], 0.1, 0.1, id="the exact type of a union"),
        pytest.param([record("A", x="float"), record("B", x="double")], {"x": 0.1}, {"x": 0.1},
                     id="the exact record of a union"),
    ],
)  # fmt: skip
def test_json_spellings_are_taken(type_, written, value):
    schema = avro(record("R", a=type_))
    assert schema.check({"a": written}) == ()
    assert schema.decode(schema.encode({"a": written})) == {"a": value}


@pytest.mark.parametrize(
    ("type_", "value", "path", "rule"),
    [
        pytest.param("int", 2**31, "/a", "int", id="32 bits"),
        pytest.param("long", 2**63, "/a", "long", id="64 bits"),
        pytest.param("int", True, "/a", "type", id="boolean for a number"),
        pytest.param("string", None, "/a", "type", id="null"),
        pytest.param("string", "\ud800", "/a", "utf-8", id="lone surrogate"),
        pytest.param("float", 1e300, "/a", "float", id="beyond a float"),
        pytest.param(["null", "int"], "x", "/a", "union", id="no type of a union"),
        pytest.param({"type": "array", "items": "int"}, [1, "x"], "/a/1", "type", id="item"),
        pytest.param({"type": "map", "values": "int"}, {"k/y": "x"}, "/a/k~1y", "type", id="map"),
        pytest.param(["null", POINT], {"x": "1", "y": None}, "/a/x", "type", id="in a union"),
        pytest.param(POINT, {"x": 1}, "/a", "required", id="missing"),
        pytest.param(POINT, {"x": 1, "y": None, "z": 1}, "/a", "fields", id="too many"),
        pytest.param(DECIMAL, "1.234", "/a", "decimal", id="too precise"),
        pytest.param(DECIMAL, "12345.6", "/a", "decimal", id="too large"),
        pytest.param(DECIMAL, "1e999999999", "/a", "decimal", id="huge"),
        pytest.param(logical("long", "timestamp-millis"), datetime(2020, 1, 1), "/a",
                     "timestamp-millis", id="no zone"),
        pytest.param("bytes", "%", "/a", "bytes", id="not base64"),
        pytest.param({"type": "fixed", "name": "F", "size": 2}, b"a", "/a", "size", id="size"),
        pytest.param({"type": "enum", "name": "E", "symbols": ["A"]}, "B", "/a", "enum", id="enum"),
    ],
)  # fmt: skip
def test_a_wrong_value_is_refused_at_its_place(type_, value, path, rule):
    schema = avro(record("R", a=type_))
    problems = schema.check({"a": value})
    assert [(problem.path, problem.rule) for problem in problems] == [(path, rule)]
    assert not schema.is_valid({"a": value})
    with pytest.raises(MessageError) as caught:
        schema.encode({"a": value})
    assert caught.value.problems == problems


def test_a_missing_field_has_its_default():
    document = record("R", a="int", b=["null", "bytes"])
    document["fields"][0]["default"] = 7
    document["fields"][1]["default"] = None
    schema = avro(document)
    assert schema.decode(schema.encode({})) == {"a": 7, "b": None}


def test_hints_are_used_where_they_are_valid():
    schema = avro(record("R", n="int", s="string", t=logical("int", "date"), u="boolean"))
    hints = {"n": "7", "s": "x", "t": "2020-01-01", "u": "perhaps", "z": 1}
    value = schema.sample(Random(3), hints)
    assert (value["n"], value["s"], value["t"]) == (7, "x", date(2020, 1, 1))
    assert type(value["u"]) is bool


def test_a_schema_without_a_finite_value_has_no_sample():
    schema = avro({"type": "record", "name": "R", "fields": [{"name": "r", "type": "R"}]})
    with pytest.raises(SchemaError, match="no value has an end"):
        schema.sample(Random(1), {})


def test_every_avro_schema_of_the_shared_catalogs_compiles(reference):
    count = 0
    for path in sorted((reference / "catalogs").rglob("*.xreg.json")):
        waiting = [json.loads(path.read_bytes())]
        while waiting:
            one = waiting.pop()
            if isinstance(one, list):
                waiting += one
            elif isinstance(one, dict):
                waiting += one.values()
                if str(one.get("format", "")).lower().startswith("avro") and "schema" in one:
                    schema = avro(one["schema"])
                    value = schema.sample(Random(count), {})
                    assert schema.decode(schema.encode(value)) == value
                    assert isinstance(schema.to_row(value), dict)
                    count += 1
    assert count
