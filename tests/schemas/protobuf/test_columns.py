"""The columns of message types, and rows that fit them."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from heraldry.schemas import formats
from heraldry.schemas.columns import Fixed, ListOf, MapOf, Scalar, Struct, is_whole

P3, P2 = 'syntax = "proto3"; ', 'syntax = "proto2"; '
IMPORTS = "".join(
    f'import "google/protobuf/{name}.proto"; '
    for name in ("timestamp", "duration", "wrappers", "struct", "any", "field_mask", "empty")
)
G = "google.protobuf."


def column(field: str, syntax: str = P3):
    schema = formats.compile(
        "Protobuf", f"{syntax}{IMPORTS}message A {{ {field} }} enum E {{ X = 0; }}"
    )
    return schema.columns[0]


@pytest.mark.parametrize(
    ("field", "kind", "nullable"),
    [
        ("int32 a = 1;", Scalar("integer"), False),
        ("sint64 a = 1;", Scalar("integer"), False),
        ("sfixed32 a = 1;", Scalar("integer"), False),
        ("uint32 a = 1;", Scalar("integer"), False),
        ("fixed32 a = 1;", Scalar("integer"), False),
        ("uint64 a = 1;", Fixed(20, 0), False),
        ("fixed64 a = 1;", Fixed(20, 0), False),
        ("float a = 1;", Scalar("number"), False),
        ("double a = 1;", Scalar("number"), False),
        ("bool a = 1;", Scalar("boolean"), False),
        ("string a = 1;", Scalar("string"), False),
        ("bytes a = 1;", Scalar("binary"), False),
        ("E a = 1;", Scalar("string"), False),
        ("optional E a = 1;", Scalar("string"), True),
        ("oneof o { bool a = 1; }", Scalar("boolean"), True),
        (f"{G}Timestamp a = 1;", Scalar("timestamp"), True),
        (f"{G}Duration a = 1;", Scalar("string"), True),
        (f"{G}FieldMask a = 1;", Scalar("string"), True),
        (f"{G}Int64Value a = 1;", Scalar("integer"), True),
        (f"{G}UInt64Value a = 1;", Fixed(20, 0), True),
        (f"{G}BytesValue a = 1;", Scalar("binary"), True),
        (f"{G}Struct a = 1;", Scalar("json"), True),
        (f"{G}Value a = 1;", Scalar("json"), True),
        (f"{G}ListValue a = 1;", Scalar("json"), True),
        (f"{G}Any a = 1;", Scalar("json"), True),
        (f"{G}Empty a = 1;", Scalar("json"), True),
        ("A a = 1;", Scalar("json"), True),
    ],
)
def test_the_type_of_a_column(field, kind, nullable):
    found = column(field)
    assert (found.type, found.nullable) == (kind, nullable)


def test_required_and_optional_of_proto2():
    assert column("required int32 a = 1;", P2).nullable is False
    assert column("optional int32 a = 1;", P2).nullable is True
    assert column("repeated int32 a = 1;", P2).nullable is False


def test_lists_maps_and_records():
    found = column("repeated string a = 1;")
    assert isinstance(found.type, ListOf)
    assert (found.nullable, found.type.item.nullable) == (False, False)
    found = column(f"map<int32, {G}Timestamp> a = 1;")
    assert isinstance(found.type, MapOf)
    assert (found.nullable, found.type.value.type) == (False, Scalar("timestamp"))
    found = column("message B { string b = 1; } B a = 1;")
    assert isinstance(found.type, Struct)
    assert found.nullable is True
    found = column("optional group B = 1 { optional int32 c = 1; }", P2)
    assert (found.name, found.type.fields[0].name) == ("b", "c")


def test_names_are_unique_ignoring_case():
    schema = formats.compile("Protobuf", P3 + "message A { int32 ab = 1; int32 AB = 2; }")
    assert [one.name for one in schema.columns] == ["ab", "AB_2"]
    assert schema.to_row({"ab": 1, "AB": 2}) == {"ab": 1, "AB_2": 2}


def test_a_message_without_fields_is_one_column():
    schema = formats.compile("Protobuf", P3 + "message A {}")
    assert is_whole(schema.columns)
    assert schema.to_row(schema.decode(b"")) == {"value": "{}"}


def test_a_row():
    schema = formats.compile(
        "Protobuf",
        f"{P3}{IMPORTS} message A {{ string id = 1; uint64 n = 2; {G}Timestamp at = 3; E e = 4;"
        f" A parent = 5; repeated uint64 many = 6; map<string, E> by = 7; {G}Value v = 8;"
        f" repeated {G}Value values = 9; double d = 10; }} enum E {{ X = 0; }}",
    )
    value = {
        "id": "x",
        "n": (1 << 64) - 1,
        "at": "2024-01-01T00:00:00.123456789Z",
        "e": 7,
        "parent": {"id": "y", "at": datetime(2024, 1, 1, tzinfo=UTC)},
        "many": [1],
        "by": {"k": 9},
        "v": None,
        "values": [None, 1.5],
        "d": float("inf"),
    }
    row: Any = schema.to_row(schema.decode(schema.encode(value)))
    assert row == {
        "id": "x",
        "n": Decimal((1 << 64) - 1),
        "at": datetime(2024, 1, 1, 0, 0, 0, 123456, tzinfo=UTC),
        "e": "7",
        "parent": row["parent"],
        "many": [Decimal(1)],
        "by": {"k": "9"},
        "v": None,
        "values": [None, "1.5"],
        "d": float("inf"),
    }
    assert '"id":"y"' in row["parent"]
    assert '"at":"2024-01-01T00:00:00Z"' in row["parent"]


def test_a_value_in_the_spelling_of_json_has_the_same_row():
    document = f"{P3}{IMPORTS} message A {{ bytes b = 1; int64 n = 2; {G}Timestamp at = 3; }}"
    schema = formats.compile("Protobuf", document)
    plain = {"b": b"\x01", "n": 5, "at": datetime(2024, 1, 1, tzinfo=UTC)}
    spelled = {"b": "AQ==", "n": "5", "at": "2024-01-01T00:00:00Z"}
    assert schema.to_row(spelled) == schema.to_row(plain) == plain


@pytest.mark.parametrize("value", [[], "x", 5, {"b": {}}, {"n": 1 << 70}, {"b": 1, "n": "x"}])
def test_what_is_no_value_has_problems_of_columns(value):
    schema = formats.compile("Protobuf", P3 + "message A { bytes b = 1; int64 n = 2; }")
    problems = schema.to_row(value)
    assert isinstance(problems, tuple)
    assert {one.rule for one in problems} == {"column"}


def test_too_many_columns_are_json():
    fields = " ".join(f"int32 f{n} = {n};" for n in range(1, 1500))
    document = P3 + f"message A {{ B b = 1; B c = 2; }} message B {{ {fields} }}"
    schema = formats.compile("Protobuf", document, "A")
    assert isinstance(schema.columns[0].type, Struct)
    assert schema.columns[1].type == Scalar("json")
