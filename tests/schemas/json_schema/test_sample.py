"""Samples: always valid, with the hints where they are valid, and an error where none is found."""

from __future__ import annotations

import re
from random import Random

import pytest

from heraldry.errors import SchemaError, UnsupportedPatternError
from heraldry.schemas.formats import compile as compile_schema
from heraldry.schemas.sample_pattern import matching_text

FORMATS = (
    "date-time", "date", "time", "email", "uri", "uri-reference", "uuid", "ipv4", "ipv6",
    "hostname", "json-pointer", "regex",
)  # fmt: skip
SCHEMAS = {
    "integer": {"type": "integer"},
    "bounds": {"type": "integer", "minimum": 5, "maximum": 6},
    "exclusive": {"type": "integer", "exclusiveMinimum": 5, "exclusiveMaximum": 7},
    "both bounds": {"type": "integer", "minimum": 6, "exclusiveMinimum": 5, "maximum": 6},
    "negative": {"type": "number", "maximum": -10},
    "narrow": {"type": "number", "minimum": 0.001, "maximum": 0.002},
    "exclusive number": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.01},
    "multiple": {"type": "number", "multipleOf": 0.25, "minimum": 1.1},
    "integer multiple": {"type": "integer", "multipleOf": 7, "minimum": 100, "maximum": 107},
    "half as integer": {"type": "integer", "multipleOf": 1.5},
    "big": {"type": "integer", "minimum": 2**70},
    "length": {"type": "string", "minLength": 30, "maxLength": 31},
    "short": {"type": "string", "maxLength": 1},
    "empty": {"type": "string", "maxLength": 0},
    "pattern": {"type": "string", "pattern": "^[A-Z]{2}-\\d+(x|yz)?$"},
    "pattern and length": {"type": "string", "pattern": "^[a-c]*$", "minLength": 4, "maxLength": 6},
    "open pattern": {"type": "string", "pattern": "^ab", "minLength": 40},
    "enum": {"enum": ["a", 1, None]},
    "const": {"const": {"a": [1]}},
    "boolean": {"type": "boolean"},
    "null": {"type": "null"},
    "nullable": {"type": ["string", "null"]},
    "anything": {},
    "true": True,
    "list": {"type": "array", "items": {"type": "integer"}, "minItems": 3, "maxItems": 4},
    "unique": {"type": "array", "items": {"type": "integer"}, "minItems": 3, "uniqueItems": True},
    "contains": {"type": "array", "contains": {"const": 5}},
    "tuple": {"type": "array", "items": [{"type": "string"}], "additionalItems": False},
    "no items": {"type": "array", "items": False},
    "object": {"type": "object", "properties": {"a": {"type": "string"}, "b": False}},
    "undeclared": {
        "type": "object",
        "required": ["x"],
        "additionalProperties": {"type": "integer"},
    },
    "few members": {"properties": {k: {} for k in "abc"}, "required": ["c"], "maxProperties": 1},
    "many members": {"type": "object", "minProperties": 4},
    "anyOf": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
    "oneOf": {"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
    "allOf": {"allOf": [{"minimum": 5}, {"maximum": 6}, {"type": "integer"}]},
    "default": {"type": "integer", "default": 5},
    "wrong default": {"type": "integer", "default": "x"},
    "wrong examples": {
        "type": "object",
        "properties": {"a": {"type": "integer", "examples": ["x"]}},
    },
    "reference": {"$ref": "#/definitions/a", "definitions": {"a": {"type": "integer"}}},
    "tree": {
        "type": "object",
        "properties": {"v": {"type": "integer"}, "kids": {"type": "array", "items": {"$ref": "#"}}},
        "required": ["v"],
    },
    "list of itself": {"type": "object", "properties": {"next": {"$ref": "#"}}},
    **{f"format {name}": {"type": "string", "format": name} for name in FORMATS},
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_samples_are_valid(name):
    schema = compile_schema("JSONSchema/Draft-07", SCHEMAS[name])
    for seed in range(20):
        value = schema.sample(Random(seed), {})
        assert schema.check(value) == ()
        assert isinstance(schema.to_row(value), (dict, tuple))


def test_draft_4_exclusive_bounds():
    document = {"type": "integer", "minimum": 5, "exclusiveMinimum": True, "maximum": 6}
    assert compile_schema("JSONSchema/Draft-04", document).sample(Random(1), {}) == 6


def test_prefix_items():
    document = {"type": "array", "prefixItems": [{"type": "string"}, {"const": 5}], "minItems": 2}
    assert compile_schema("JSONSchema/2020-12", document).sample(Random(1), {})[1] == 5


def test_all_declared_members_are_filled():
    document = {"type": "object", "properties": {k: {"type": "string"} for k in "abc"}}
    assert list(compile_schema("JSONSchema", document).sample(Random(1), {})) == ["a", "b", "c"]


def test_examples_go_first():
    document = {"type": "string", "examples": ["red", "blue"]}
    assert compile_schema("JSONSchema", document).sample(Random(1), {}) in ("red", "blue")


def test_the_same_seed_gives_the_same_sample():
    schema = compile_schema("JSONSchema", SCHEMAS["tree"])
    assert schema.sample(Random(7), {}) == schema.sample(Random(7), {})


def test_hints_are_used_where_they_are_valid():
    document = {
        "type": "object",
        "properties": {
            "tenantid": {"type": "string"},
            "count": {"type": "integer"},
            "kind": {"enum": ["a", "b"]},
        },
    }
    hints = {"tenantid": "t-1", "count": "42", "kind": "nonsense", "undeclared": "x"}
    value = compile_schema("JSONSchema", document).sample(Random(1), hints)
    assert value["tenantid"] == "t-1"
    assert value["count"] == 42
    assert value["kind"] in ("a", "b")
    assert "undeclared" not in value


def test_hints_leave_other_shapes_alone():
    assert compile_schema("JSONSchema", {"const": 5}).sample(Random(1), {"a": "b"}) == 5


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(False, id="false"),
        pytest.param({"allOf": [{"type": "string"}, {"type": "integer"}]}, id="contradiction"),
        pytest.param(
            {"type": "object", "properties": {"n": {"$ref": "#"}}, "required": ["n"]}, id="endless"
        ),
        pytest.param({"type": "integer", "minimum": 5, "maximum": 4}, id="bounds"),
    ],
)
def test_no_sample(document):
    with pytest.raises(SchemaError, match="no sample found"):
        compile_schema("JSONSchema", document).sample(Random(1), {})


def test_many_samples_of_one_schema():
    schema = compile_schema("JSONSchema", SCHEMAS["reference"])
    random = Random(1)
    for _ in range(3000):
        schema.sample(random, {})


@pytest.mark.parametrize(
    "pattern",
    [
        "^a+$",
        "^[^a-z]x$",
        "a.c",
        r"^\w{3,5}\s\S\D\W$",
        "^(a|b(c|d)*)?$",
        "[0-9a-fA-F]{8}",
        "^[^x]$",
        "^$",
    ],
)
def test_texts_that_match(pattern):
    for seed in range(20):
        assert re.search(pattern, matching_text(pattern, Random(seed)))


@pytest.mark.parametrize("pattern", ["(?=a)b", r"(a)\1", "[", r"\p{L}", "a{20000}"])
def test_patterns_that_are_not_made(pattern):
    with pytest.raises(UnsupportedPatternError):
        matching_text(pattern, Random(1))
