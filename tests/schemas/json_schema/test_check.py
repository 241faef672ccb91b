"""What a check says: where, by which keyword, without the value found."""

from __future__ import annotations

import pytest

from heraldry.schemas.formats import compile as compile_schema

CASES = {
    "type": ({"type": "number"}, "x", "is not of type number", "number"),
    "type:several": ({"type": ["number", "null"]}, "x", "is not of type", None),
    "required": ({"required": ["w"]}, {}, "misses the required property 'w'", "w"),
    "enum": ({"enum": ["a", "b"]}, 3, "is not one of the allowed values", '["a","b"]'),
    "const": ({"const": 1}, 3, "is not the one allowed value", "1"),
    "minimum": ({"minimum": 5}, 3, "is less than the minimum of 5", "5"),
    "maximum": ({"maximum": 1.5}, 3, "is greater than the maximum of 1.5", "1.5"),
    "exclusiveMinimum": ({"exclusiveMinimum": 5}, 5, "is not greater than", "5"),
    "exclusiveMaximum": ({"exclusiveMaximum": 5}, 5, "is not less than", "5"),
    "multipleOf": ({"multipleOf": 2}, 3, "is not a multiple of 2", "2"),
    "minLength": ({"minLength": 2}, "x", "has fewer characters than 2", "2"),
    "maxLength": ({"maxLength": 2}, "xyz", "has more characters than 2", "2"),
    "minItems": ({"minItems": 2}, [1], "has fewer items than 2", "2"),
    "maxItems": ({"maxItems": 0}, [1], "has more items than 0", "0"),
    "uniqueItems": ({"uniqueItems": True}, [1, 1], "has equal items", None),
    "contains": ({"contains": {"type": "string"}}, [1], "has no item of the kind", None),
    "minProperties": ({"minProperties": 2}, {"a": 1}, "has fewer properties than 2", "2"),
    "maxProperties": ({"maxProperties": 0}, {"a": 1}, "has more properties than 0", "0"),
    "pattern": ({"pattern": "^a$"}, "b", "does not match the pattern", "^a$"),
    "format": ({"format": "date-time"}, "b", "is not a valid date-time", "date-time"),
    "additionalProperties": (
        {"additionalProperties": False},
        {"a": 1},
        "has properties the schema does not allow",
        None,
    ),
    "propertyNames": (
        {"propertyNames": {"maxLength": 1}},
        {"abc": 1},
        "has a property whose name",
        None,
    ),
    "additionalItems": (
        {"items": [{}], "additionalItems": False},
        [1, 2],
        "has more items than 1",
        "1",
    ),
    "anyOf": ({"anyOf": [{"type": "string"}, {"minimum": 5}]}, 3, "fits none", None),
    "oneOf": ({"oneOf": [{"type": "string"}, {"minimum": 5}]}, 3, "fits none", None),
    "oneOf:both": ({"oneOf": [{"type": "integer"}, {"minimum": 1}]}, 3, "fits more than one", None),
    "not": ({"not": {"type": "integer"}}, 3, "is of a kind", '{"type":"integer"}'),
    "falseSchema": ({"items": False}, [3], "is not allowed here", None),
    "dependencies": ({"dependencies": {"a": ["b"]}}, {"a": 1}, "misses the required", "b"),
}


@pytest.mark.parametrize("rule", CASES)
def test_problems_by_keyword(rule):
    document, value, message, expected = CASES[rule]
    schema = compile_schema("JSONSchema/Draft-07", document)
    (problem,) = schema.check(value)
    assert problem.rule == rule.partition(":")[0]
    assert problem.message.startswith(message)
    if expected is not None:
        assert problem.expected == expected
    assert not schema.is_valid(value)


@pytest.mark.parametrize(
    ("document", "value", "rule"),
    [
        pytest.param(
            {"unevaluatedProperties": False}, {"a": 1}, "unevaluatedProperties", id="members"
        ),
        pytest.param(
            {"prefixItems": [{}], "unevaluatedItems": False}, [1, 2], "unevaluatedItems", id="items"
        ),
        pytest.param(
            {"dependentRequired": {"a": ["b"]}}, {"a": 1}, "dependentRequired", id="dependent"
        ),
        pytest.param(
            {"contains": {"type": "null"}, "minContains": 2}, [None], "minContains", id="min"
        ),
        pytest.param(
            {"contains": {"type": "null"}, "maxContains": 0, "minContains": 0},
            [None],
            "maxContains",
            id="max",
        ),
    ],
)
def test_problems_of_the_newer_drafts(document, value, rule):
    (problem,) = compile_schema("JSONSchema/2020-12", document).check(value)
    assert problem.rule == rule


def test_the_value_found_is_apart_from_the_message():
    schema = compile_schema("JSONSchema/Draft-07", {"properties": {"a": {"type": "number"}}})
    one, two = schema.check({"a": "left"})[0], schema.check({"a": "right"})[0]
    assert one.message == two.message
    assert (one.found, two.found) == ('"left"', '"right"')


def test_additional_members_are_named_in_what_was_found():
    schema = compile_schema("JSONSchema", {"additionalProperties": False, "properties": {"a": {}}})
    assert schema.check({"a": 1, "b": 2, "c": 3})[0].found == '["b","c"]'


def test_long_values_are_cut():
    (problem,) = compile_schema("JSONSchema", {"type": "number"}).check("x" * 1000)
    assert len(problem.found) == 80
    assert problem.found.endswith("…")


@pytest.mark.parametrize(
    ("value", "path"),
    [
        pytest.param({"a": [{"b/c~": "x"}]}, "/a/0/b~1c~0", id="escaped"),
        pytest.param({"a": 1}, "/a", id="member"),
        pytest.param(1, "/", id="whole"),
    ],
)
def test_paths_are_json_pointers(value, path):
    item = {"properties": {"b/c~": {"type": "number"}}}
    document = {"type": "object", "properties": {"a": {"type": "array", "items": item}}}
    (problem,) = compile_schema("JSONSchema", document).check(value)
    assert problem.path == path


def test_at_most_twenty_problems_and_always_the_same():
    document = {"type": "array", "items": {"type": "string"}, "maxItems": 3}
    schema = compile_schema("JSONSchema", document)
    problems = schema.check(list(range(100)))
    assert len(problems) == 20
    assert all(schema.check(list(range(100))) == problems for _ in range(5))


def test_a_valid_value_has_no_problems():
    assert compile_schema("JSONSchema", {"type": "integer"}).check(1) == ()


def test_formats_are_asserted_up_to_draft_7_and_annotations_later():
    document = {"format": "date-time"}
    assert not compile_schema("JSONSchema/Draft-07", document).is_valid("x")
    assert compile_schema("JSONSchema/2020-12", document).is_valid("x")
