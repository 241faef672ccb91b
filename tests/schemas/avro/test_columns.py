"""The columns of Avro schemas, and the rows of their values."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from decimal import Decimal
from uuid import UUID

import pytest

from heraldry.schemas.columns import Column, Fixed, Scalar, Struct, list_of, map_of
from heraldry.schemas.formats import compile as compile_schema


def column(type_):
    fields = [{"name": "a", "type": type_}]
    schema = compile_schema("Avro", {"type": "record", "name": "R", "fields": fields})
    return schema, schema.columns[0]


def logical(kind, name, **more):
    return {"type": kind, "logicalType": name, **more}


def fixed(size, **more):
    return {"type": "fixed", "name": "F", "size": size, **more}


INNER = {"type": "record", "name": "I", "fields": [{"name": "x", "type": "int"}]}
NODE = {"type": "record", "name": "N", "fields": [{"name": "n", "type": ["null", "N"]}]}


@pytest.mark.parametrize(
    ("type_", "kind", "nullable", "value", "made"),
    [
        pytest.param("boolean", Scalar("boolean"), False, True, True, id="boolean"),
        pytest.param("int", Scalar("integer"), False, 1, 1, id="int"),
        pytest.param("long", Scalar("integer"), False, 2**62, 2**62, id="long"),
        pytest.param("float", Scalar("number"), False, 0.5, 0.5, id="float"),
        pytest.param("string", Scalar("string"), False, "x", "x", id="string"),
        pytest.param("bytes", Scalar("binary"), False, b"x", b"x", id="bytes"),
        pytest.param(fixed(1), Scalar("binary"), False, b"x", b"x", id="fixed"),
        pytest.param("null", Scalar("json"), True, None, None, id="null"),
        pytest.param({"type": "enum", "name": "E", "symbols": ["A"]}, Scalar("string"), False, "A",
                     "A", id="enum"),
        pytest.param(["null", "string"], Scalar("string"), True, None, None, id="nullable"),
        pytest.param(["int"], Scalar("integer"), False, 1, 1, id="union of one"),
        pytest.param(["int", "string", "null"], Scalar("json"), True, "x", '"x"', id="union"),
        pytest.param(["int", "bytes"], Scalar("json"), False, b"\x00", '"AA=="',
                     id="bytes in a union"),
        pytest.param({"type": "array", "items": ["null", "int"]},
                     list_of(Scalar("integer"), nullable=True), False, [1, None], [1, None],
                     id="list"),
        pytest.param({"type": "map", "values": "int"}, map_of(Scalar("integer"), nullable=False),
                     False, {"k": 1}, {"k": 1}, id="map"),
        pytest.param({"type": "map", "values": logical("string", "uuid")},
                     map_of(Scalar("string"), nullable=False), False, {"k": UUID(int=1)},
                     {"k": str(UUID(int=1))}, id="map of UUIDs"),
        pytest.param(INNER, Struct((Column(name="x", key="x", type=Scalar("integer"),
                                           nullable=False),)), False, {"x": 1}, {"x": 1},
                     id="record"),
        pytest.param({"type": "record", "name": "E", "fields": []}, Scalar("json"), False, {}, "{}",
                     id="empty record"),
        pytest.param(logical("bytes", "decimal", precision=38, scale=2), Fixed(38, 2), False,
                     Decimal("1.50"), Decimal("1.50"), id="decimal"),
        pytest.param(logical("bytes", "decimal", precision=39, scale=2), Scalar("string"), False,
                     Decimal("1.50"), "1.50", id="large decimal"),
        pytest.param(logical("int", "date"), Scalar("date"), False, date(2020, 1, 1),
                     date(2020, 1, 1), id="date"),
        pytest.param(logical("int", "time-millis"), Scalar("string"), False, time(1, 2, 3),
                     "01:02:03", id="time"),
        pytest.param(logical("long", "timestamp-millis"), Scalar("timestamp"), False,
                     datetime(2020, 1, 1, tzinfo=UTC), datetime(2020, 1, 1, tzinfo=UTC),
                     id="timestamp"),
        pytest.param(logical("long", "timestamp-nanos"), Scalar("timestamp"), False, -1,
                     datetime(1969, 12, 31, 23, 59, 59, 999_999, UTC), id="nanoseconds"),
        pytest.param(logical("long", "local-timestamp-millis"), Scalar("string"), False,
                     datetime(2020, 1, 1), "2020-01-01T00:00:00", id="local timestamp"),
        pytest.param(logical("long", "local-timestamp-nanos"), Scalar("string"), False, -1,
                     "1969-12-31T23:59:59.999999999", id="local nanoseconds"),
        pytest.param(logical("string", "uuid"), Scalar("string"), False, UUID(int=1),
                     str(UUID(int=1)), id="uuid"),
        pytest.param(["null", fixed(12, logicalType="duration")], Scalar("string"), True,
                     "P1M2DT3.004S", "P1M2DT3.004S", id="duration"),
    ],
)  # fmt: skip
def test_a_type_has_its_column_and_its_value(type_, kind, nullable, value, made):
    schema, found = column(type_)
    assert (found.type, found.nullable) == (kind, nullable)
    decoded = schema.decode(schema.encode({"a": value}))
    assert decoded == {"a": value}
    assert schema.to_row(decoded) == {"a": made}
    assert decoded == {"a": value}


def test_a_recursive_part_is_json():
    schema = compile_schema("Avro", NODE)
    assert schema.columns[0].type == Scalar("json")
    assert schema.to_row({"n": {"n": None}}) == {"n": '{"n":null}'}


def test_names_are_unique_ignoring_case():
    fields = [{"name": name, "type": "int"} for name in ("a", "A")]
    schema = compile_schema("Avro", {"type": "record", "name": "R", "fields": fields})
    assert schema.to_row({"a": 1, "A": 2}) == {"a": 1, "A_2": 2}


def test_a_nullable_record_has_nullable_columns():
    schema = compile_schema("Avro", ["null", INNER])
    assert [one.nullable for one in schema.columns] == [True]
    assert schema.to_row(None) == {"x": None}
    assert schema.to_row({"x": 1}) == {"x": 1}


def test_a_row_is_a_copy_of_the_value():
    schema = compile_schema("Avro", INNER)
    value = {"x": 1}
    row = schema.to_row(value)
    assert row == value
    assert row is not value


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        pytest.param(logical("string", "uuid"), 5, id="no UUID"),
        pytest.param(logical("long", "timestamp-nanos"), "x", id="no number"),
        pytest.param({"type": "array", "items": logical("int", "time-millis")}, 5, id="no list"),
    ],
)
def test_what_is_no_decoded_value_gives_problems(type_, value):
    schema, _ = column(type_)
    (problem,) = schema.to_row({"a": value})
    assert (problem.path, problem.rule) == ("/a", "column")
