"""Columns of a JSON Schema: typed where every valid value fits, else JSON text."""

from __future__ import annotations

import pytest

from heraldry.schemas.columns import Column, ListOf, MapOf, Scalar, Struct, map_of
from heraldry.schemas.formats import compile as compile_schema

STRING, INTEGER, NUMBER = Scalar("string"), Scalar("integer"), Scalar("number")
BOOLEAN, TIMESTAMP, DATE, JSON = (
    Scalar("boolean"),
    Scalar("timestamp"),
    Scalar("date"),
    Scalar("json"),
)


def column(schema, required=True, name="JSONSchema/Draft-07", **root):
    document = {"type": "object", "properties": {"a": schema}, **root}
    if required:
        document["required"] = ["a"]
    (found,) = compile_schema(name, document).columns
    return found


def listed(kind, nullable=False):
    return ListOf(Column(name="element", key="", type=kind, nullable=nullable))


@pytest.mark.parametrize(
    ("schema", "kind", "nullable"),
    [
        pytest.param({"type": "string"}, STRING, False, id="string"),
        pytest.param({"type": "integer"}, INTEGER, False, id="integer"),
        pytest.param({"type": "number"}, NUMBER, False, id="number"),
        pytest.param({"type": "boolean"}, BOOLEAN, False, id="boolean"),
        pytest.param({"type": "string", "format": "date-time"}, TIMESTAMP, False, id="date-time"),
        pytest.param({"type": "string", "format": "date"}, DATE, False, id="date"),
        pytest.param({"type": "string", "format": "email"}, STRING, False, id="other format"),
        pytest.param({"type": "string", "contentEncoding": "base64"}, STRING, False, id="base64"),
        pytest.param({"type": ["string", "null"]}, STRING, True, id="type or null"),
        pytest.param({"type": ["integer", "number"]}, NUMBER, False, id="integer or number"),
        pytest.param({"type": ["integer", "string"]}, JSON, False, id="union"),
        pytest.param({"type": ["integer", "string", "null"]}, JSON, True, id="union or null"),
        pytest.param({"type": "null"}, JSON, True, id="null"),
        pytest.param({}, JSON, True, id="no type"),
        pytest.param(True, JSON, True, id="true"),
        pytest.param({"enum": ["a", "b"]}, STRING, False, id="enum"),
        pytest.param({"enum": ["a", None]}, STRING, True, id="enum with null"),
        pytest.param({"enum": [1, 2.5]}, NUMBER, False, id="enum of numbers"),
        pytest.param({"enum": ["a", 1]}, JSON, False, id="mixed enum"),
        pytest.param({"enum": [True, 1]}, JSON, False, id="boolean is no integer"),
        pytest.param({"enum": [[1]]}, JSON, False, id="enum of lists"),
        pytest.param(
            {"type": ["string", "null"], "enum": ["a"]}, STRING, False, id="null not in enum"
        ),
        pytest.param({"const": 5}, INTEGER, False, id="const"),
        pytest.param(
            {"anyOf": [{"type": "string"}, {"type": "null"}]}, STRING, True, id="anyOf null"
        ),
        pytest.param(
            {"oneOf": [{"type": "null"}, {"type": "integer"}]}, INTEGER, True, id="oneOf null"
        ),
        pytest.param({"anyOf": [{"type": "string"}, {"type": "integer"}]}, JSON, False, id="anyOf"),
        pytest.param(
            {"anyOf": [{"type": "string"}, {"const": "x"}]}, STRING, False, id="same type"
        ),
        pytest.param(
            {"type": "string", "anyOf": [{"minLength": 1}]}, STRING, False, id="type and anyOf"
        ),
        pytest.param(
            {"allOf": [{"type": "number"}, {"type": "integer"}]}, INTEGER, False, id="allOf"
        ),
        pytest.param({"allOf": [{"type": "string"}, {"type": "integer"}]}, JSON, False, id="never"),
        pytest.param(
            {"type": "array", "items": {"type": "string"}}, listed(STRING), False, id="list"
        ),
        pytest.param(
            {"type": "array", "items": {"type": ["string", "null"]}},
            listed(STRING, True),
            False,
            id="list of nullable",
        ),
        pytest.param(
            {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}},
            listed(listed(INTEGER)),
            False,
            id="list of lists",
        ),
        pytest.param({"type": "array"}, JSON, False, id="list of anything"),
        pytest.param({"type": "array", "items": [{"type": "string"}]}, JSON, False, id="tuple"),
        pytest.param({"type": "object"}, JSON, False, id="object without members"),
        pytest.param(
            {"type": "object", "patternProperties": {"^a": {"type": "string"}}},
            JSON,
            False,
            id="patternProperties",
        ),
        pytest.param(
            {"type": "object", "properties": {"b": False}}, JSON, False, id="never a member"
        ),
    ],
)
def test_types(schema, kind, nullable):
    found = column(schema)
    assert (found.type, found.nullable) == (kind, nullable)


def test_what_is_not_required_is_nullable():
    assert column({"type": "string"}, required=False).nullable


def test_nested_records_with_legal_names():
    inner = {
        "type": "object",
        "properties": {"x y": {"type": "integer"}, "X.Y": {"type": "string"}},
    }
    found = column({**inner, "required": ["x y"]})
    assert found.type == Struct(
        (
            Column(name="x_y", key="x y", type=INTEGER, nullable=False),
            Column(name="X_Y_2", key="X.Y", type=STRING),
        )
    )


def test_prefix_items_are_a_tuple():
    schema = {"type": "array", "prefixItems": [{}], "items": {"type": "string"}}
    assert column(schema, name="JSONSchema/2020-12").type == JSON


def test_references_are_followed():
    found = column({"$ref": "#/definitions/n"}, definitions={"n": {"type": ["integer", "null"]}})
    assert (found.type, found.nullable) == (INTEGER, True)


def test_anchors_are_followed():
    found = column({"$ref": "#n"}, definitions={"n": {"$id": "#n", "type": "integer"}})
    assert found.type == INTEGER


def test_the_neighbours_of_a_reference_count_since_2019():
    schema, definitions = {"$ref": "#/definitions/n", "type": "integer"}, {"n": {"type": "number"}}
    assert column(schema, definitions=definitions).type == NUMBER
    assert column(schema, name="JSONSchema/2020-12", definitions=definitions).type == INTEGER


def test_one_definition_may_be_used_twice():
    part = {"type": "object", "properties": {"x": {"type": "integer"}}}
    document = {
        "definitions": {"p": part, "q": {"allOf": [{"$ref": "#/definitions/p"}]}},
        "allOf": [{"$ref": "#/definitions/p"}, {"$ref": "#/definitions/q"}],
    }
    (found,) = compile_schema("JSONSchema", document).columns
    assert (found.name, found.type) == ("x", INTEGER)


def test_recursion_is_json():
    document = {
        "type": "object",
        "properties": {"v": {"type": "integer"}, "next": {"$ref": "#"}},
    }
    value, following = compile_schema("JSONSchema", document).columns
    assert value.type == INTEGER
    assert isinstance(following.type, Struct)
    assert [field.type for field in following.type.fields] == [INTEGER, JSON]


def test_references_are_relative_to_the_nearest_identity():
    nested = {
        "$id": "http://example.com/b",
        "type": "object",
        "properties": {"n": {"$ref": "#/definitions/n"}},
        "definitions": {"n": {"type": "string"}},
    }
    found = column(nested, definitions={"n": {"type": "integer"}})
    assert found.type.fields[0].type == STRING


def test_all_of_objects_is_merged():
    document = {
        "allOf": [
            {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
            {"properties": {"b": {"type": "integer"}, "a": {"minLength": 1}}, "required": ["b"]},
        ]
    }
    a, b = compile_schema("JSONSchema", document).columns
    assert (a.name, a.type, a.nullable) == ("a", STRING, False)
    assert (b.name, b.type, b.nullable) == ("b", INTEGER, False)


@pytest.mark.parametrize(
    ("document", "kind", "nullable"),
    [
        pytest.param(
            {"type": "array", "items": {"type": "integer"}}, listed(INTEGER), False, id="list"
        ),
        pytest.param({"type": "string"}, STRING, False, id="scalar"),
        pytest.param({}, JSON, True, id="anything"),
        pytest.param({"type": "object"}, JSON, False, id="object without members"),
        pytest.param(
            {
                "oneOf": [
                    {"type": "object", "properties": {"a": {}}},
                    {"type": "object", "properties": {"b": {}}},
                ]
            },
            JSON,
            False,
            id="alternatives",
        ),
    ],
)
def test_a_payload_of_another_shape_is_the_column_value(document, kind, nullable):
    (found,) = compile_schema("JSONSchema", document).columns
    assert found == Column(name="value", key="", type=kind, nullable=nullable)


def test_members_without_a_type_make_an_object():
    (found,) = compile_schema("JSONSchema", {"properties": {"a": {"type": "string"}}}).columns
    assert found == Column(name="a", key="a", type=STRING)


def test_a_payload_that_may_be_null_insists_on_no_column():
    document = {
        "type": ["object", "null"],
        "properties": {"a": {"type": "string"}},
        "required": ["a"],
    }
    schema = compile_schema("JSONSchema", document)
    assert schema.columns == (Column(name="a", key="a", type=STRING, nullable=True),)
    assert schema.to_row(None) == {"a": None}


def test_deep_records_end_as_json():
    schema = {"type": "string"}
    for _ in range(40):
        schema = {"type": "object", "properties": {"a": schema}}
    (found,) = compile_schema("JSONSchema", schema).columns
    levels = 0
    kind = found.type
    while isinstance(kind, Struct):
        kind, levels = kind.fields[0].type, levels + 1
    assert (levels, kind) == (31, JSON)


def test_too_many_members_are_one_json_column():
    def wide(count):
        return {"type": "object", "properties": {f"c{n}": {"type": "string"} for n in range(count)}}

    assert len(compile_schema("JSONSchema", wide(2000)).columns) == 2000
    assert [c.name for c in compile_schema("JSONSchema", wide(2001)).columns] == ["value"]
    found = column(wide(1999))
    assert isinstance(found.type, Struct)
    assert column(wide(2000)).type == JSON


def test_a_document_that_fans_out_through_members_is_read_in_short_time():
    parts = {
        f"a{n}": {
            "type": "object",
            "properties": {k: {"$ref": f"#/definitions/a{n + 1}"} for k in "xy"},
        }
        for n in range(30)
    }
    parts["a30"] = {"type": "integer"}
    compile_schema("JSONSchema", {"definitions": parts, "$ref": "#/definitions/a0"})


TEXTS = {"type": "string"}


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        pytest.param({"additionalProperties": TEXTS}, map_of(STRING, nullable=False), id="texts"),
        pytest.param(
            {"properties": {}, "additionalProperties": TEXTS},
            map_of(STRING, nullable=False),
            id="no properties",
        ),
        pytest.param(
            {"additionalProperties": {"type": ["integer", "null"]}},
            map_of(INTEGER, nullable=True),
            id="values may be null",
        ),
        pytest.param(
            {"additionalProperties": {"type": "object", "additionalProperties": TEXTS}},
            map_of(map_of(STRING, nullable=False), nullable=False),
            id="map of maps",
        ),
        pytest.param(
            {"additionalProperties": {"type": ["integer", "string"]}},
            map_of(JSON, nullable=False),
            id="map of unions",
        ),
        pytest.param(
            {"patternProperties": {"^x-": TEXTS}, "additionalProperties": False},
            map_of(STRING, nullable=False),
            id="one pattern and nothing else",
        ),
        pytest.param({"patternProperties": {"^x-": TEXTS}}, JSON, id="a pattern and anything"),
        pytest.param(
            {"patternProperties": {"^x-": {"type": "integer"}}, "additionalProperties": TEXTS},
            JSON,
            id="two kinds",
        ),
        pytest.param({"additionalProperties": {}}, JSON, id="anything"),
        pytest.param({"additionalProperties": True}, JSON, id="true"),
        pytest.param({"additionalProperties": False}, JSON, id="empty"),
        pytest.param({}, JSON, id="nothing said"),
    ],
)
def test_an_object_without_properties_is_a_map(schema, kind):
    assert column({"type": "object", **schema}).type == kind


def test_the_rows_of_maps():
    schema = compile_schema(
        "JSONSchema", {"properties": {"m": {"type": "object", "additionalProperties": TEXTS}}}
    )
    assert schema.to_row({"m": {"a b": "x", "": "y"}}) == {"m": {"a b": "x", "": "y"}}
    assert schema.to_row({}) == {"m": None}


def test_a_payload_that_is_a_map():
    schema = compile_schema("JSONSchema", {"type": "object", "additionalProperties": TEXTS})
    (found,) = schema.columns
    assert (found.name, found.key, isinstance(found.type, MapOf)) == ("value", "", True)
    assert schema.to_row({"a": "b"}) == {"value": {"a": "b"}}


def test_properties_go_before_additional_ones():
    found = column({"type": "object", "properties": {"n": TEXTS}, "additionalProperties": TEXTS})
    assert [field.name for field in found.type.fields] == ["n"]


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param({"type": "string", "format": "uuid"}, id="uuid"),
        pytest.param({"type": "string", "contentEncoding": "base64"}, id="base64"),
        pytest.param({"enum": ["a", "b"]}, id="enum"),
        pytest.param({"type": "string", "format": "time"}, id="time of day"),
        pytest.param({"type": "string", "format": "duration"}, id="duration"),
    ],
)
def test_what_stays_text(schema):
    assert column(schema).type == STRING
