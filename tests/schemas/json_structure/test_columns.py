"""The columns of JSON Structure types, and the rows of their values."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from heraldry.schemas.columns import (
    COLUMN_LIMIT,
    Column,
    Fixed,
    ListOf,
    MapOf,
    Scalar,
    Struct,
    list_of,
    map_of,
)
from heraldry.schemas.formats import compile as compile_schema

TEXT = {"type": "string"}
JSON = Scalar("json")


def load(schema):
    return compile_schema("JsonStructure", {"$id": "urn:t", "name": "T", **schema})


def named(**members):
    return {"type": "object", "properties": members}


# schema of a field, the type of its column, whether it may be null though required
TYPES = {
    "string": (TEXT, Scalar("string"), False),
    "boolean": ({"type": "boolean"}, Scalar("boolean"), False),
    "null": ({"type": "null"}, JSON, True),
    "any": ({"type": "any"}, JSON, True),
    "int8": ({"type": "int8"}, Scalar("integer"), False),
    "uint32": ({"type": "uint32"}, Scalar("integer"), False),
    "int64": ({"type": "int64"}, Scalar("integer"), False),
    "uint64": ({"type": "uint64"}, Fixed(20, 0), False),
    "int128": ({"type": "int128"}, Fixed(38, 0), False),
    "number": ({"type": "number"}, Scalar("number"), False),
    "float8": ({"type": "float8"}, Scalar("number"), False),
    "decimal": ({"type": "decimal"}, Fixed(34, 7), False),
    "decimal 10,2": ({"type": "decimal", "precision": 10, "scale": 2}, Fixed(10, 2), False),
    "decimal 10": ({"type": "decimal", "precision": 10}, Fixed(17, 7), False),
    "decimal ,2": ({"type": "decimal", "scale": 2}, Fixed(29, 2), False),
    "decimal 50,2": ({"type": "decimal", "precision": 50, "scale": 2}, Scalar("string"), False),
    "datetime": ({"type": "datetime"}, Scalar("timestamp"), False),
    "date": ({"type": "date"}, Scalar("date"), False),
    "time": ({"type": "time"}, Scalar("string"), False),
    "duration": ({"type": "duration"}, Scalar("string"), False),
    "uuid": ({"type": "uuid"}, Scalar("string"), False),
    "uri": ({"type": "uri"}, Scalar("string"), False),
    "binary": ({"type": "binary"}, Scalar("binary"), False),
    "nullable": ({"type": ["null", "date"]}, Scalar("date"), True),
    "union": ({"type": ["string", "int8"]}, JSON, False),
    "union of integers": ({"type": ["int8", "int64"]}, Scalar("integer"), False),
    "choice": ({"type": "choice", "choices": {"a": TEXT}}, JSON, False),
    "array": ({"type": "array", "items": TEXT}, list_of(Scalar("string"), nullable=False), False),
    "set of nullable": (
        {"type": "set", "items": {"type": ["int8", "null"]}},
        list_of(Scalar("integer"), nullable=True),
        False,
    ),
    "map": ({"type": "map", "values": TEXT}, map_of(Scalar("string"), nullable=False), False),
    "tuple": (
        {"type": "tuple", "properties": {"a": TEXT, "b": TEXT}, "tuple": ["b", "a"]},
        Struct(
            (
                Column(name="b", key="b", type=Scalar("string"), nullable=False),
                Column(name="a", key="a", type=Scalar("string"), nullable=False),
            )
        ),
        False,
    ),
    "object": (
        named(a=TEXT),
        Struct((Column(name="a", key="a", type=Scalar("string")),)),
        False,
    ),
    "recursive": ({"type": {"$ref": "#/definitions/A"}}, None, False),
}


@pytest.mark.parametrize(("schema", "kind", "nullable"), TYPES.values(), ids=TYPES)
def test_a_field_has_the_column_of_its_type(schema, kind, nullable):
    document = {
        **named(x=schema, y=schema),
        "required": ["x"],
        "definitions": {"A": named(next={"type": {"$ref": "#/definitions/A"}})},
    }
    first, second = load(document).columns
    if kind is None:
        kind = Struct((Column(name="next", key="next", type=JSON),))
    assert first == Column(name="x", key="x", type=kind, nullable=nullable)
    assert second == Column(name="y", key="y", type=kind, nullable=True)


def test_a_payload_that_is_no_object_is_one_column():
    (column,) = load({"type": "array", "items": TEXT}).columns
    assert (column.name, column.key, column.nullable) == ("value", "", False)
    (column,) = load({"type": "tuple", "properties": {"a": TEXT}, "tuple": ["a"]}).columns
    assert (column.name, column.key) == ("value", "")


def test_a_nullable_object_makes_every_column_nullable():
    schema = {
        "$root": "#/definitions/U",
        "definitions": {
            "U": {"type": ["null", {"$ref": "#/definitions/A"}]},
            "A": {**named(a=TEXT), "required": ["a"]},
        },
    }
    compiled = load(schema)
    assert [column.nullable for column in compiled.columns] == [True]
    assert compiled.to_row(None) == {"a": None}


def test_too_many_fields_are_one_column_of_json():
    wide = named(**{f"f{number}": TEXT for number in range(COLUMN_LIMIT + 1)})
    (column,) = load(wide).columns
    assert column.type == JSON
    deep = TEXT
    for _ in range(60):
        deep = {"type": "array", "items": deep}
    kind = load(deep).columns[0].type
    depth = 0
    while isinstance(kind, (ListOf, MapOf)):
        kind, depth = kind.item.type, depth + 1
    assert (kind, depth) == (JSON, 32)


def test_a_row_has_typed_values():
    compiled = load(
        named(
            at={"type": "datetime"},
            day={"type": "date"},
            big={"type": "uint64"},
            long={"type": "decimal", "precision": 50},
            point={
                "type": "array",
                "items": {
                    "type": "tuple",
                    "properties": {"x": {"type": "int64"}, "y": {"type": "decimal"}},
                    "tuple": ["x", "y"],
                },
            },
            raw={"type": "binary"},
            pick={"type": "choice", "choices": {"n": {"type": "int64"}}},
        )
    )
    payload = (
        b'{"at":"2024-01-02T03:04:05+01:00","day":"2024-01-02","big":"18446744073709551615",'
        b'"long":"1.5","point":[["1","2.5"]],"raw":"AA==","pick":{"n":"7"},"other":1}'
    )
    assert compiled.to_row(compiled.decode(payload)) == {
        "at": datetime(2024, 1, 2, 2, 4, 5, tzinfo=UTC),
        "day": date(2024, 1, 2),
        "big": Decimal(2**64 - 1),
        "long": "1.5",
        "point": [{"x": 1, "y": Decimal("2.5000000")}],
        "raw": b"\x00",
        "pick": '{"n":7}',
    }


@pytest.mark.parametrize(
    ("schema", "text", "path"),
    [
        ({"type": "uint128"}, str(10**38), "/x"),
        ({"type": "decimal", "precision": 3, "scale": 1}, "1.25", "/x"),
        ({"type": "datetime"}, "1990-12-31T23:59:60Z", "/x"),
        ({"type": "array", "items": {"type": "date"}}, ["0000-01-01"], "/x/0"),
        (
            {
                "type": "tuple",
                "properties": {"a": TEXT, "b": {"type": "array", "items": {"type": "date"}}},
                "tuple": ["a", "b"],
            },
            ["", ["2024-01-01", "0000-01-01"]],
            "/x/1/1",
        ),
    ],
)
def test_a_value_beyond_its_column_is_a_problem(schema, text, path):
    compiled = load(named(x=schema))
    (problem,) = compiled.to_row(compiled.decode(compiled.encode({"x": text})))
    assert (problem.path, problem.rule) == (path, "column")
