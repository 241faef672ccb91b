"""Values of JSON Structure: what is read, what it becomes, how it is written, what is refused."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from uuid import UUID

import pytest

from heraldry.errors import MessageError
from heraldry.schemas.formats import compile as compile_schema
from heraldry.schemas.parse import encode

TEXT = {"type": "string"}
WHOLE = {"type": "int32"}


def load(schema):
    head = {"$schema": "https://json-structure.org/meta/validation/v0/#", "$id": "urn:t"}
    return compile_schema("JsonStructure", {**head, "name": "T", **schema})


# id: schema, JSON text, native value
READ = {
    "string": (TEXT, b'"\xc3\xa9"', "\u00e9"),
    "number": ({"type": "number"}, b"1.5", 1.5),
    "number:int": ({"type": "number"}, b"1", 1),
    "boolean": ({"type": "boolean"}, b"true", True),
    "null": ({"type": "null"}, b"null", None),
    "int8": ({"type": "int8"}, b"-128", -128),
    "integer": ({"type": "integer"}, b"2147483647", 2**31 - 1),
    "int64": ({"type": "int64"}, b'"-9223372036854775808"', -(2**63)),
    "uint64": ({"type": "uint64"}, b'"18446744073709551615"', 2**64 - 1),
    "uint128": ({"type": "uint128"}, str(2**128 - 1).join('""').encode(), 2**128 - 1),
    "decimal": ({"type": "decimal"}, b'"-0.50"', Decimal("-0.50")),
    "decimal:int": ({"type": "decimal"}, b'"7"', Decimal(7)),
    "binary": ({"type": "binary"}, b'"AP8="', b"\x00\xff"),
    "binary:base16": ({"type": "binary", "contentEncoding": "base16"}, b'"00FF"', b"\x00\xff"),
    "datetime": (
        {"type": "datetime"},
        b'"2024-02-29T23:59:59.123456789+01:00"',
        "2024-02-29T23:59:59.123456789+01:00",
    ),
    "time": ({"type": "time"}, b'"10:00:00"', "10:00:00"),
    "duration": ({"type": "duration"}, b'"PT2.5S"', "PT2.5S"),
    "set": ({"type": "set", "items": {"type": "int64"}}, b'["1","2"]', [1, 2]),
    "map": ({"type": "map", "values": {"type": "int64"}}, b'{"a b":"1"}', {"a b": 1}),
    "tuple": (
        {"type": "tuple", "properties": {"a": TEXT, "b": {"type": "int64"}}, "tuple": ["b", "a"]},
        b'["1","x"]',
        [1, "x"],
    ),
    "choice": (
        {"type": "choice", "choices": {"a": TEXT, "b": {"type": "int64"}}},
        b'{"b":"1"}',
        {"b": 1},
    ),
    "union:first": ({"type": ["int64", "string"]}, b'"1"', 1),
    "union:second": ({"type": ["int64", "string"]}, b'"1x"', "1x"),
    "union:text first": ({"type": ["string", "int64"]}, b'"1"', "1"),
    "any": ({"type": "any"}, b'{"a":[1,null,"2"]}', {"a": [1, None, "2"]}),
    "additional": (
        {
            "type": "object",
            "properties": {"a": TEXT},
            "additionalProperties": {"type": "decimal"},
        },
        b'{"a":"1","b":"1.0"}',
        {"a": "1", "b": Decimal("1.0")},
    ),
    "enum of int64": ({"type": "int64", "enum": ["5", "6"]}, b'"5"', 5),
    "enum of int64 as numbers": ({"type": "int64", "enum": [5, 6]}, b'"5"', 5),
}


@pytest.mark.parametrize(("schema", "text", "value"), READ.values(), ids=READ)
def test_a_value_is_read_and_written(schema, text, value):
    compiled = load(schema)
    assert compiled.decode(text) == value
    assert type(compiled.decode(text)) is type(value)
    assert compiled.encode(value) == text
    # JSON spells it so, and that is taken too.
    assert compiled.decode(compiled.encode(compiled.decode(text))) == value


# id: schema, native value, JSON text
WRITTEN = {
    "datetime": (
        {"type": "datetime"},
        datetime(2024, 1, 2, tzinfo=UTC),
        b'"2024-01-02T00:00:00+00:00"',
    ),
    "date": ({"type": "date"}, date(2024, 1, 2), b'"2024-01-02"'),
    "uuid": ({"type": "uuid"}, UUID(int=1), b'"00000000-0000-0000-0000-000000000001"'),
    "int64 as text": ({"type": "int64"}, "5", b'"5"'),
    "decimal as text": ({"type": "decimal"}, "5.0", b'"5.0"'),
    "decimal as int": ({"type": "decimal"}, 5, b'"5"'),
    "decimal with exponent": ({"type": "decimal"}, Decimal("1E+2"), b'"100"'),
    "binary as text": ({"type": "binary"}, "AP8=", b'"AP8="'),
}


@pytest.mark.parametrize(("schema", "value", "text"), WRITTEN.values(), ids=WRITTEN)
def test_other_spellings_are_written_too(schema, value, text):
    assert load(schema).encode(value) == text
    assert load(schema).is_valid(value)


# id: schema, JSON value, path, rule
BROKEN = {
    "string": (TEXT, 1, "/", "type"),
    "number": ({"type": "number"}, True, "/", "type"),
    "int8 range": ({"type": "int8"}, 128, "/", "range"),
    "int32 fraction": (WHOLE, 1.0, "/", "type"),
    "int32 boolean": (WHOLE, True, "/", "type"),
    "int64 text": ({"type": "int64"}, "05", "/", "type"),
    "int64 spaces": ({"type": "int64"}, " 5", "/", "type"),
    "int64 range": ({"type": "int64"}, str(2**63), "/", "range"),
    "uint64 negative": ({"type": "uint64"}, "-1", "/", "type"),
    "int128 endless": ({"type": "int128"}, "9" * 5000, "/", "range"),
    "decimal exponent": ({"type": "decimal"}, "1e5", "/", "type"),
    "decimal number": ({"type": "decimal"}, 1.5, "/", "type"),
    "float range": ({"type": "float"}, 1e39, "/", "range"),
    "date": ({"type": "date"}, "2024-02-30", "/", "format"),
    "datetime without zone": ({"type": "datetime"}, "2024-02-03T00:00:00", "/", "format"),
    "time": ({"type": "time"}, "9:00 AM", "/", "format"),
    "duration empty": ({"type": "duration"}, "PT", "/", "format"),
    "uuid": ({"type": "uuid"}, "0" * 32, "/", "format"),
    "uri": ({"type": "uri"}, "a b", "/", "format"),
    "jsonpointer": ({"type": "jsonpointer"}, "a/b", "/", "format"),
    "binary": ({"type": "binary"}, "?", "/", "contentEncoding"),
    "set": ({"type": "set", "items": WHOLE}, [1, 1], "/", "uniqueItems"),
    "array item": ({"type": "array", "items": WHOLE}, [1, "x"], "/1", "type"),
    "map value": ({"type": "map", "values": WHOLE}, {"a/b": "x"}, "/a~1b", "type"),
    "tuple length": (READ["tuple"][0], ["1"], "/", "tuple"),
    "tuple item": (READ["tuple"][0], ["x", "x"], "/0", "type"),
    "choice two": (READ["choice"][0], {"a": "x", "b": "1"}, "/", "choices"),
    "choice unknown": (READ["choice"][0], {"c": "x"}, "/", "choices"),
    "choice value": (READ["choice"][0], {"a": 1}, "/a", "type"),
    "union": ({"type": ["string", "int32"]}, True, "/", "type"),
    "nullable tells of the type": ({"type": ["null", "int8"]}, 300, "/", "range"),
    "required": (
        {"type": "object", "properties": {"a": TEXT}, "required": ["a"]},
        {},
        "/",
        "required",
    ),
    "closed": (
        {"type": "object", "properties": {"a": TEXT}, "additionalProperties": False},
        {"b": 1},
        "/",
        "additionalProperties",
    ),
    "additional": (
        {"type": "object", "properties": {"a": TEXT}, "additionalProperties": WHOLE},
        {"b": "x"},
        "/b",
        "type",
    ),
    "enum": ({**TEXT, "enum": ["a", "b"]}, "c", "/", "enum"),
    "const": ({**TEXT, "const": "a"}, "c", "/", "const"),
    "minLength": ({**TEXT, "minLength": 2}, "\U0001f600", "/", "minLength"),
    "maxLength": ({**TEXT, "maxLength": 2}, "abc", "/", "maxLength"),
    "pattern": ({**TEXT, "pattern": "^a"}, "b", "/", "pattern"),
    "format": ({**TEXT, "format": "ipv4"}, "b", "/", "format"),
    "minimum": ({**WHOLE, "minimum": 5}, 4, "/", "minimum"),
    "maximum of int64": (
        {"type": "int64", "maximum": "9223372036854775806"},
        str(2**63 - 1),
        "/",
        "maximum",
    ),
    "exclusiveMinimum": (
        {"type": "decimal", "exclusiveMinimum": "0.1"},
        "0.1",
        "/",
        "exclusiveMinimum",
    ),
    "exclusiveMaximum": ({"type": "double", "exclusiveMaximum": 1}, 1.0, "/", "exclusiveMaximum"),
    "multipleOf": ({"type": "number", "multipleOf": 0.1}, 0.35, "/", "multipleOf"),
    "minItems": ({"type": "array", "items": WHOLE, "minItems": 1}, [], "/", "minItems"),
    "maxItems": ({"type": "set", "items": WHOLE, "maxItems": 1}, [1, 2], "/", "maxItems"),
    "uniqueItems": (
        {"type": "array", "items": {"type": "any"}, "uniqueItems": True},
        [{"a": 1}, {"a": 1.0}],
        "/",
        "uniqueItems",
    ),
    "contains": (
        {"type": "array", "items": {"type": "any"}, "contains": TEXT},
        [1],
        "/",
        "contains",
    ),
    "minContains": (
        {"type": "array", "items": WHOLE, "contains": WHOLE, "minContains": 2},
        [1],
        "/",
        "contains",
    ),
    "maxContains": (
        {"type": "array", "items": WHOLE, "contains": WHOLE, "maxContains": 1},
        [1, 2],
        "/",
        "maxContains",
    ),
    "minEntries": ({"type": "map", "values": WHOLE, "minEntries": 1}, {}, "/", "minEntries"),
    "keyNames": (
        {"type": "map", "values": WHOLE, "keyNames": {**TEXT, "pattern": "^[a-z]+$"}},
        {"A": 1},
        "/",
        "keyNames",
    ),
    "patternKeys": (
        {"type": "map", "values": {"type": "any"}, "patternKeys": {"^x": WHOLE}},
        {"xa": "1"},
        "/xa",
        "patternKeys",
    ),
    "has": ({"type": "map", "values": {"type": "any"}, "has": WHOLE}, {"a": "1"}, "/", "has"),
    "dependentRequired": (
        {"type": "object", "properties": {"a": TEXT, "b": TEXT}, "dependentRequired": {"a": ["b"]}},
        {"a": ""},
        "/",
        "dependentRequired",
    ),
    "allOf": ({**WHOLE, "allOf": [{**WHOLE, "minimum": 1}]}, 0, "/", "minimum"),
    "anyOf": ({"anyOf": [TEXT, WHOLE]}, True, "/", "anyOf"),
    "oneOf none": ({"oneOf": [TEXT, WHOLE]}, True, "/", "oneOf"),
    "oneOf two": ({"oneOf": [{"type": "number"}, WHOLE]}, 1, "/", "oneOf"),
    "not": ({"not": TEXT}, "x", "/", "not"),
    "then": ({"if": {**WHOLE, "minimum": 5}, "then": {**WHOLE, "maximum": 9}}, 10, "/", "maximum"),
    "else": ({"if": TEXT, "then": {"type": "any"}, "else": WHOLE}, True, "/", "type"),
    "untyped condition": (
        {"if": {"required": ["a"]}, "then": {"properties": {"b": WHOLE}, "required": ["b"]}},
        {"a": 1},
        "/",
        "required",
    ),
}


@pytest.mark.parametrize(("schema", "value", "path", "rule"), BROKEN.values(), ids=BROKEN)
def test_a_wrong_value_is_refused_with_its_place(schema, value, path, rule):
    compiled = load(schema)
    with pytest.raises(MessageError) as caught:
        compiled.decode(encode(value))
    problem = caught.value.problems[0]
    assert (problem.path, problem.rule) == (path, rule)
    assert problem.message
    assert compiled.check(value) == caught.value.problems
    assert not compiled.is_valid(value)


FINS = {
    "type": "object",
    "properties": {"name": TEXT, "fins": WHOLE, "legs": WHOLE},
    "required": [["name", "fins"], ["name", "legs"]],
}


@pytest.mark.parametrize(
    ("value", "valid"),
    [
        ({"name": "", "fins": 1}, True),
        ({"name": "", "legs": 1}, True),
        ({"name": ""}, False),
        ({"fins": 1}, False),
        ({"name": "", "fins": 1, "legs": 1}, False),
    ],
)
def test_exactly_one_of_alternative_sets_must_be_there(value, valid):
    assert load(FINS).is_valid(value) is valid


INLINE = {
    "type": "choice",
    "$extends": "#/definitions/Base",
    "selector": "kind",
    "choices": {"A": {"type": {"$ref": "#/definitions/A"}}},
    "definitions": {
        "Base": {"type": "object", "abstract": True, "properties": {"x": TEXT}},
        "A": {
            "type": "object",
            "$extends": "#/definitions/Base",
            "properties": {"n": {"type": "int64"}},
            "additionalProperties": False,
        },
    },
}


def test_an_inline_choice_is_named_by_its_selector():
    compiled = load(INLINE)
    value = compiled.decode(b'{"kind":"A","x":"","n":"5"}')
    assert value == {"kind": "A", "x": "", "n": 5}
    assert compiled.decode(compiled.encode(value)) == value
    assert compiled.check({"kind": "B"})[0].rule == "selector"
    assert compiled.check({"x": ""})[0].rule == "selector"
    assert compiled.check({"kind": "A", "y": 1})[0].rule == "additionalProperties"


def test_keywords_of_an_extension_not_in_use_are_annotations():
    schema = {
        "$id": "urn:t",
        "name": "T",
        **TEXT,
        "minLength": 2,
        "pattern": "(?=a)",
        "maxLength": 3,
    }
    compiled = compile_schema("JsonStructure", schema)
    assert compiled.is_valid("x")
    assert compiled.check("xxxx")[0].rule == "maxLength"


def test_limits_beside_a_reference_add_to_those_of_its_type():
    schema = {
        "type": "object",
        "properties": {"a": {"type": {"$ref": "#/definitions/A"}, "maxLength": 4}},
        "definitions": {"A": {**TEXT, "minLength": 2, "enum": ["a", "ab", "abcd", "abcde"]}},
    }
    compiled = load(schema)
    assert compiled.is_valid({"a": "ab"})
    assert [p.rule for p in compiled.check({"a": "a"})] == ["minLength"]
    assert [p.rule for p in compiled.check({"a": "abcde"})] == ["maxLength"]
    assert [p.rule for p in compiled.check({"a": "abc"})] == ["enum"]


@pytest.mark.parametrize(
    "payload",
    [b"\x00\x00\x00\x00\x07" + b'"x"', b"\x03\x00" + b"u" * 16 + b'"x"', b'"x"'],
    ids=["confluent", "glue", "plain"],
)
def test_prefixes_of_registries_are_left_out(payload):
    assert load(TEXT).decode(payload) == "x"


@pytest.mark.parametrize(
    "value",
    [b"x", {1, 2}, {"a": b"x"}, {1: 2}, float("nan"), float("inf"), Decimal(1), object()],
    ids=["bytes", "set", "bytes inside", "number as key", "nan", "infinity", "decimal", "object"],
)
def test_what_json_cannot_write_is_no_value(value):
    compiled = load({"type": "any"})
    assert not compiled.is_valid(value)
    with pytest.raises(MessageError):
        compiled.encode(value)


def test_a_lone_surrogate_cannot_be_written():
    with pytest.raises(MessageError):
        load(TEXT).encode("\ud800")
