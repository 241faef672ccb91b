"""Rows: values in their columns, or problems of the rule ``column``."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from heraldry.schemas.formats import compile as compile_schema


def row(schema, value, name="JSONSchema/Draft-07"):
    document = {"type": "object", "properties": {"a": schema}}
    compiled = compile_schema(name, document)
    assert compiled.is_valid({"a": value})
    made = compiled.to_row({"a": value})
    return made["a"] if isinstance(made, dict) else made


@pytest.mark.parametrize(
    ("schema", "value", "made"),
    [
        pytest.param({"type": "string"}, "x", "x", id="string"),
        pytest.param({"type": "integer"}, 1, 1, id="integer"),
        pytest.param({"type": "integer"}, 1.0, 1, id="integral float"),
        pytest.param({"type": "integer"}, 2.0**53 - 1, 2**53 - 1, id="largest integral float"),
        pytest.param({"type": "integer"}, 2**63 - 1, 2**63 - 1, id="largest"),
        pytest.param({"type": "integer"}, -(2**63), -(2**63), id="smallest"),
        pytest.param({"type": "number"}, 1, 1.0, id="number from an integer"),
        pytest.param({"type": "number"}, 2**64, 2.0**64, id="number beyond 64 bits"),
        pytest.param({"type": "boolean"}, True, True, id="boolean"),
        pytest.param(
            {"type": "string", "format": "date"}, "2020-02-29", date(2020, 2, 29), id="date"
        ),
        pytest.param(
            {"type": "string", "format": "date-time"},
            "2020-02-29T01:00:00+01:00",
            datetime(2020, 2, 29, tzinfo=UTC),
            id="timestamp",
        ),
        pytest.param({}, {"b": [1, 2**70, "ü"]}, '{"b":[1,1180591620717411303424,"ü"]}', id="json"),
        pytest.param({}, {"b": 1, "a": 2}, '{"b":1,"a":2}', id="json keeps the order"),
        pytest.param({}, None, None, id="null"),
        pytest.param({"type": ["string", "null"]}, None, None, id="null string"),
        pytest.param(
            {"type": "array", "items": {"type": "number"}}, [1, 2.5], [1.0, 2.5], id="list"
        ),
        pytest.param(
            {"type": "array", "items": {"type": ["integer", "null"]}},
            [1, None],
            [1, None],
            id="list with null",
        ),
        pytest.param(
            {"type": "object", "properties": {"x.y": {"type": "integer"}, "z": {}}},
            {"x.y": 1, "other": 2},
            {"x_y": 1, "z": None},
            id="record",
        ),
    ],
)
def test_values(schema, value, made):
    found = row(schema, value)
    assert found == made
    assert type(found) is type(made)


TIME = {"type": "string", "format": "date-time"}


@pytest.mark.parametrize(
    ("schema", "value", "path", "message"),
    [
        pytest.param(
            {"type": "integer"}, 2**63, "/a", "does not fit a 64-bit integer column", id="int"
        ),
        pytest.param({"type": "integer"}, 1e300, "/a", "is too large to be told", id="float"),
        pytest.param(
            {"type": "integer"}, -(2.0**53), "/a", "is too large to be told exactly", id="inexact"
        ),
        pytest.param(
            {"type": "number"}, 10**400, "/a", "does not fit a 64-bit number column", id="number"
        ),
        pytest.param(TIME, "2016-12-31T23:59:60Z", "/a", "has no representation", id="leap second"),
        pytest.param(TIME, "0000-01-01T00:00:00Z", "/a", "has no representation", id="year zero"),
        pytest.param(
            {"type": "array", "items": TIME},
            ["2020-01-01T00:00:00Z", "0000-01-01T00:00:00Z"],
            "/a/1",
            "has no representation",
            id="in a list",
        ),
        pytest.param(
            {"type": "object", "properties": {"b/c": {"type": "integer"}}},
            {"b/c": 2**64},
            "/a/b~1c",
            "does not fit",
            id="in a record",
        ),
        pytest.param(
            {"properties": {"b": {"type": "integer"}}},
            5,
            "/a",
            "does not fit its column",
            id="no object",
        ),
    ],
)
def test_what_does_not_fit_its_column(schema, value, path, message):
    (problem,) = row(schema, value)
    assert (problem.path, problem.rule) == (path, "column")
    assert problem.message.startswith(message)
    assert problem.found


def test_a_format_that_is_an_annotation_may_not_fit():
    (problem,) = row(TIME, "yesterday", name="JSONSchema/2020-12")
    assert problem.message == "is not an RFC 3339 timestamp"


def test_every_problem_is_told():
    document = {"type": "object", "properties": {k: {"type": "integer"} for k in "abc"}}
    problems = compile_schema("JSONSchema", document).to_row({"a": 2**64, "b": 1, "c": 2**65})
    assert [problem.path for problem in problems] == ["/a", "/c"]


def test_absent_members_are_null_and_others_ignored():
    document = {"type": "object", "properties": {k: {"type": "integer"} for k in "ab"}}
    assert compile_schema("JSONSchema", document).to_row({"b": 1, "z": 2}) == {"a": None, "b": 1}


def test_null_never_stands_in_a_column_that_forbids_it():
    document = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    schema = compile_schema("JSONSchema", document)
    assert not schema.columns[0].nullable
    for value in ({}, {"a": None}, None):
        (problem,) = schema.to_row(value)
        assert problem.rule == "column"


def test_the_column_value():
    schema = compile_schema("JSONSchema", {"type": "array", "items": {"type": "integer"}})
    assert schema.to_row([1, 2]) == {"value": [1, 2]}
    assert schema.to_row([1, 2**64])[0].path == "/1"
    assert compile_schema("JSONSchema", {}).to_row({"a": 1}) == {"value": '{"a":1}'}
    assert compile_schema("JSONSchema", {}).to_row(None) == {"value": None}
