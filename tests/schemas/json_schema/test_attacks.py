"""Attacks on the checker: none stalls it, and what only looks like one still works."""

from __future__ import annotations

import pytest

from heraldry.errors import MessageError, SchemaError
from heraldry.schemas.formats import compile as compile_schema
from heraldry.schemas.json_schema.pattern_size import size_of
from tests.schemas.json_schema.hostile import EXCLUSIVE, FORMAT, TREE

# The promise is a second; a busy machine is given more.
SECONDS = 3.0


def nested(levels, leaf):
    for _ in range(levels):
        leaf = {"x": leaf}
    return leaf


def test_alternatives_that_multiply_are_checked_as_deep_as_time_allows():
    schema = compile_schema(FORMAT, EXCLUSIVE.replace('"type": "object"', '"type": "array"'))
    assert schema.is_valid([])
    schema = compile_schema(FORMAT, TREE)
    assert schema.is_valid(nested(10, {}))
    assert [problem.path for problem in schema.check(nested(8, 1))] == ["/x"]
    (problem,) = schema.check(nested(60, 1))
    assert (problem.path, problem.rule) == ("/", "work")
    assert not schema.is_valid(nested(60, 1))


# An expression: an operator over expressions, each operator with a member of its own.
OPERATORS = ("and", "or", "not")
EXPRESSION = {
    "definitions": {
        "e": {"anyOf": [{"type": "string"}, *({"$ref": f"#/definitions/{o}"} for o in OPERATORS)]},
        **{
            one: {
                "type": "object",
                "properties": {one: {"type": "array", "items": {"$ref": "#/definitions/e"}}},
                "required": [one],
                "additionalProperties": False,
            }
            for one in OPERATORS
        },
    },
    "$ref": "#/definitions/e",
}  # fmt: skip
PART = {
    "definitions": {
        "part": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "parts": {"type": "array", "items": {"$ref": "#/definitions/part"}},
            },
        }
    },
    "$ref": "#/definitions/part",
}


def test_an_honest_expression_may_be_deep():
    schema = compile_schema(FORMAT, EXPRESSION)
    value = "x"
    for level in range(90):
        value = {OPERATORS[level % 3]: [value]}
    assert schema.is_valid(value)
    assert not schema.is_valid({"and": [value, 5]})


def test_an_honest_tree_may_be_large_and_says_what_is_wrong():
    schema = compile_schema(FORMAT, PART)
    part: dict[str, object] = {"name": "x", "parts": []}
    for _ in range(4):
        part = {"name": "x", "parts": [part] * 12}
    assert schema.is_valid(part)
    value = {"name": "x", "parts": [part, {"name": 5}]}
    assert [problem.path for problem in schema.check(value)] == ["/parts/1/name"]


def test_a_large_honest_list_is_checked_whatever_its_size():
    schema = compile_schema(
        FORMAT,
        {"items": {"properties": {f"p{n}": {"anyOf": [{"type": "null"}, {"type": "string"}]}
                                  for n in range(20)}}},
    )  # fmt: skip
    payload = b"[" + b'{"p0":"a","p1":null,"p2":"bcd"},' * 100_000 + b"{}]"
    assert len(schema.decode(payload)) == 100_001
    with pytest.raises(MessageError) as caught:
        schema.decode(payload.replace(b"{}]", b'{"p1":5}]'))
    assert [problem.path for problem in caught.value.problems] == ["/100000/p1"]


def test_many_problems_are_the_first_ones():
    schema = compile_schema(FORMAT, {"items": {"type": "string"}})
    assert len(schema.check([1] * 1_000)) == 20
    assert [problem.path for problem in schema.check([1] * 100_000)] == ["/0"]


def test_large_schemas_are_refused_with_their_limit():
    with pytest.raises(SchemaError, match="more than 20000 sub-schemas"):
        compile_schema(FORMAT, {"properties": {f"p{n}": {} for n in range(20_001)}})
    with pytest.raises(SchemaError, match="more than 40000 objects and arrays"):
        compile_schema(FORMAT, {"enum": [[n] for n in range(40_001)]})
    with pytest.raises(SchemaError, match="more than 30000 members and items"):
        compile_schema(FORMAT, {"enum": list(range(30_002))})
    with pytest.raises(SchemaError, match="more than 4194304 bytes"):
        compile_schema(FORMAT, b" " * (4 * 1024 * 1024) + b"{}")


@pytest.mark.parametrize(
    ("pattern", "positions"),
    [
        pytest.param("^abc$", 3, id="letters"),
        pytest.param("[a-z]{5}", 5, id="class"),
        pytest.param("(a|bc){10}", 30, id="group"),
        pytest.param("(a{2}b){3,4}c", 13, id="repeat in a repeat"),
        pytest.param("a{2}{3}", 6, id="repeat of a repeat"),
        pytest.param(r"\{5}\p{L}{2}", 5, id="escapes"),
        pytest.param(r"[\]{9}]{2}", 2, id="bracket in a class"),
        pytest.param("a{,3}b{0}", 4, id="without a number"),
        pytest.param("a{99999999999999}", 10**9, id="too many"),
        pytest.param("((((", 0, id="open"),
    ],
)
def test_the_size_of_a_pattern(pattern, positions):
    assert size_of(pattern).positions == positions
