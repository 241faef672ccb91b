"""What holds for every message type and every value of it."""

from __future__ import annotations

import pickle
from random import Random
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from heraldry.errors import MessageError
from heraldry.schemas import formats
from heraldry.schemas.columns import Column, ColumnType, Fixed, ListOf, MapOf, Scalar, Struct
from tests.schemas.protobuf.generated import FORMAT, schemas_and_values

import pyarrow as pa  # isort: skip

_ARROW = {
    "string": pa.string(),
    "json": pa.string(),
    "integer": pa.int64(),
    "number": pa.float64(),
    "boolean": pa.bool_(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "date": pa.date32(),
    "binary": pa.binary(),
}
FEW = settings(max_examples=50, suppress_health_check=[HealthCheck.too_slow], deadline=None)


def _arrow(kind: ColumnType) -> pa.DataType:
    if isinstance(kind, Scalar):
        return _ARROW[kind.name]
    if isinstance(kind, Fixed):
        return pa.decimal128(kind.precision, kind.scale)
    if isinstance(kind, ListOf):
        return pa.list_(_field(kind.item))
    if isinstance(kind, MapOf):
        return pa.map_(pa.string(), _field(kind.value))
    assert isinstance(kind, Struct)
    return pa.struct([_field(one) for one in kind.fields])


def _field(column: Column) -> pa.Field:
    return pa.field(column.name, _arrow(column.type), nullable=column.nullable)


@FEW
@given(schemas_and_values())
def test_a_value_survives_the_wire_and_fits_its_columns(pair: tuple[str, Any]):
    document, value = pair
    schema = formats.compile(FORMAT, document)
    assert schema.check(value) == ()
    assert schema.decode(schema.encode(value)) == value
    row = schema.to_row(value)
    assert isinstance(row, dict), row
    table = pa.Table.from_pylist([row], schema=pa.schema([_field(one) for one in schema.columns]))
    table.validate(full=True)
    for column in schema.columns:
        assert column.nullable or row[column.name] is not None


@FEW
@given(schemas_and_values())
def test_a_value_survives_json(pair: tuple[str, Any]):
    document, value = pair
    schema = formats.compile(FORMAT, document)
    try:
        text = schema.encode(value, "application/json")
    except MessageError:
        # The type of an Any is not known, so it cannot be opened.
        assert "google.protobuf.Any" in document
    else:
        assert schema.decode(text, "application/vnd.x+json; charset=utf-8") == value


@FEW
@given(schemas_and_values(), st.integers())
def test_samples_are_valid_and_the_same_from_one_seed(pair: tuple[str, Any], seed: int):
    schema = pickle.loads(pickle.dumps(formats.compile(FORMAT, pair[0])))
    made = schema.sample(Random(seed), {})
    assert made == schema.sample(Random(seed), {})
    assert schema.decode(schema.encode(made)) == made


@FEW
@given(schemas_and_values(), st.binary(max_size=60))
def test_any_bytes_are_a_value_or_a_message_error(pair: tuple[str, Any], data: bytes):
    schema = formats.compile(FORMAT, pair[0])
    for content_type in (None, "application/protobuf", "application/json"):
        try:
            value = schema.decode(data, content_type)
        except MessageError as error:
            problems = error.problems
        else:
            problems = ()
            assert schema.is_valid(value)
            assert isinstance(schema.to_row(value), dict)
        assert all(problem.path.startswith("/") for problem in problems)
