"""Whatever the schema: values survive, samples are valid, and no value raises anything."""

from __future__ import annotations

import json
import pickle
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st
from json_structure import (  # type: ignore[import-untyped]
    InstanceValidator,
    SchemaValidator,
)

from heraldry.errors import MessageError
from heraldry.schemas.formats import compile as compile_schema
from tests.schemas.json_structure.generated import FORMAT, schemas_and_values

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4)
    | st.sampled_from(["1", "2024-01-01", "AA==", "PT1H", "1.5", b"x"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["a", "A", "_", "B"]), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(schemas_and_values())
def test_a_value_survives_and_fits_its_columns(pair):
    document, value = pair
    schema = compile_schema(FORMAT, document)
    assert schema.check(value) == ()
    assert schema.decode(schema.encode(value)) == value
    assert list(schema.to_row(value)) == [column.name for column in schema.columns]
    assert pickle.loads(pickle.dumps(schema)).check(value) == ()


@settings(max_examples=60, deadline=None)
@given(schemas_and_values(), st.integers(0, 9))
def test_a_sample_is_valid_and_repeatable(pair, seed):
    schema = compile_schema(FORMAT, pair[0])
    value = schema.sample(Random(seed), {})
    assert schema.sample(Random(seed), {}) == value
    assert schema.decode(schema.encode(value)) == value
    assert isinstance(schema.to_row(value), dict)


@settings(max_examples=100, deadline=None)
@given(schemas_and_values(), VALUES)
def test_any_value_is_judged_without_an_exception(pair, value):
    schema = compile_schema(FORMAT, pair[0])
    problems = schema.check(value)
    assert schema.is_valid(value) == (problems == ())
    assert all(problem.path.startswith("/") and problem.rule for problem in problems)
    row = schema.to_row(value)
    assert isinstance(row, dict) or {problem.rule for problem in row} == {"column"}
    if not problems:
        assert schema.check(schema.decode(schema.encode(value))) == ()


def oracle_text(document, text):
    """What the format's own validator says of a JSON text; it changes what it is given."""
    return InstanceValidator(json.loads(json.dumps(document))).validate(json.loads(text))


def disputed(document):
    """Types of which the reference validator asks something else than the specification.

    A URI must have a scheme, a time no offset, a JSON pointer a '#'; the numbers of an enum of
    int64 must not be texts.
    """
    text = json.dumps(document)
    return any(f'"{kind}"' in text for kind in ("uri", "time", "jsonpointer", "enum"))


@settings(max_examples=80, deadline=None)
@given(schemas_and_values(), schemas_and_values())
def test_the_reference_validator_agrees(pair, other):
    (document, value), (_, foreign) = pair, other
    schema = compile_schema(FORMAT, document)
    if disputed(document):
        return
    assert [
        str(e) for e in SchemaValidator(extended=True).validate(json.loads(json.dumps(document)))
    ] == []
    assert oracle_text(document, schema.encode(value)) == []
    text = compile_schema(FORMAT, other[0]).encode(foreign)
    try:
        schema.decode(text)
    except MessageError as error:
        refused = {problem.rule for problem in error.problems}
    else:
        refused = set()
    # The reference checks neither base64 nor the length of texts nor the calendar nor the range
    # of a float, and takes true and false for numbers.
    lenient = {"contentEncoding", "maxLength", "format", "range"}
    if not refused & lenient and b"true" not in text and b"false" not in text:
        assert bool(refused) == bool(oracle_text(document, text))


def test_hints_go_into_members_where_they_are_valid():
    members = {"id": {"type": "int64"}, "name": {"type": "string"}, "age": {"type": "int8"}}
    document = {"$id": "urn:t", "name": "T", "type": "object", "properties": members}
    schema = compile_schema(FORMAT, document)
    value = schema.sample(Random(0), {"id": "7", "name": "Ann", "age": "300", "other": 1})
    assert (value["id"], value["name"]) == (7, "Ann")
    assert value["age"] != 300
    assert "other" not in value
