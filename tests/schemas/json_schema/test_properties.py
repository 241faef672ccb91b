"""Whatever the schema: samples are valid, and rows and checks of any value raise nothing."""

from __future__ import annotations

from datetime import date, datetime
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from heraldry.schemas.columns import ListOf, MapOf, Struct
from heraldry.schemas.formats import compile as compile_schema
from heraldry.schemas.parse import encode, parse

names = st.text(st.characters(codec="utf-8"), max_size=6)
scalars = st.sampled_from([
    {"type": "string"},
    {"type": "string", "format": "date-time"},
    {"type": "string", "format": "date"},
    {"type": "integer"},
    {"type": "integer", "minimum": -(2**65), "maximum": 2**65},
    {"type": "number", "minimum": 0, "exclusiveMaximum": 1},
    {"type": "boolean"},
    {"type": ["string", "null"]},
    {"type": ["integer", "string"]},
    {"enum": ["a", "b", None]},
    {"enum": [1, "a"]},
    {"const": 5},
    {"anyOf": [{"type": "number"}, {"type": "null"}]},
    {"$ref": "#/definitions/shared"},
    {},
    True,
])  # fmt: skip


def objects(inner):
    return st.dictionaries(names, inner, max_size=4).flatmap(
        lambda members: st.builds(
            lambda required: {"type": "object", "properties": members, "required": required},
            st.lists(st.sampled_from(sorted(members)), unique=True) if members else st.just([]),
        )
    )


schemas = st.recursive(
    scalars,
    lambda inner: (
        objects(inner)
        | st.builds(lambda items: {"type": "array", "items": items}, inner)
        | st.builds(lambda kind: {"type": "object", "additionalProperties": kind}, inner)
        | st.builds(lambda part: {"allOf": [part, {"title": "t"}]}, inner)
    ),
    max_leaves=8,
)
documents = objects(schemas).map(
    lambda schema: {**schema, "definitions": {"shared": {"type": "integer", "minimum": 3}}}
)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | names
    | st.just("2020-01-01T00:00:00Z"),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=4),
    max_leaves=10,
)
PYTHON = {
    "string": str, "integer": int, "number": float, "boolean": bool, "timestamp": datetime,
    "date": date, "json": str,
}  # fmt: skip


def assert_fits(column, value):
    if value is None:
        assert column.nullable
    elif isinstance(column.type, Struct):
        assert list(value) == [field.name for field in column.type.fields]
        for field in column.type.fields:
            assert_fits(field, value[field.name])
    elif isinstance(column.type, ListOf):
        for item in value:
            assert_fits(column.type.item, item)
    elif isinstance(column.type, MapOf):
        for key, member in value.items():
            assert isinstance(key, str)
            assert_fits(column.type.value, member)
    else:
        assert type(value) is PYTHON[column.type.name]


@settings(max_examples=150, deadline=None)
@given(documents, st.integers(0, 10))
def test_samples_are_valid_and_fit_their_columns(document, seed):
    schema = compile_schema("JSONSchema/Draft-07", document)
    value = schema.sample(Random(seed), {})
    assert schema.check(value) == ()
    assert schema.decode(encode(value)) == value
    row = schema.to_row(value)
    if isinstance(row, tuple):
        # The one looseness of these schemas: integers beyond 64 bits.
        assert {problem.message for problem in row} == {"does not fit a 64-bit integer column"}
        return
    assert list(row) == [column.name for column in schema.columns]
    for column in schema.columns:
        assert_fits(column, row[column.name])


@settings(max_examples=300, deadline=None)
@given(st.one_of(documents, schemas), values)
def test_any_value_is_judged_without_an_exception(document, value):
    if isinstance(document, dict):
        document = {"definitions": {"shared": {"type": "integer"}}, **document}
    schema = compile_schema("JSONSchema/Draft-07", document)
    assert schema.is_valid(value) == (schema.check(value) == ())
    row = schema.to_row(value)
    if isinstance(row, tuple):
        assert {problem.rule for problem in row} == {"column"}
    else:
        for column in schema.columns:
            assert_fits(column, row[column.name])


@settings(max_examples=100, deadline=None)
@given(documents)
def test_columns_do_not_depend_on_how_the_document_is_given(document):
    text = encode(document)
    assert parse(text) == document
    assert (
        compile_schema("JSONSchema", document).columns
        == compile_schema("JSONSchema", text.decode()).columns
    )
