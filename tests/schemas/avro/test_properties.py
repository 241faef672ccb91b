"""Random schemas and values: every encoding gives back what it got, and rows fit columns."""

from __future__ import annotations

import pickle
from random import Random

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from heraldry.errors import MessageError
from heraldry.schemas.avro.reader import Reader
from heraldry.schemas.avro.schema import AvroSchema
from heraldry.schemas.columns import is_whole
from heraldry.schemas.formats import compile as compile_schema
from heraldry.schemas.rows import row_reader
from tests.schemas.avro.generated import FORMAT, schemas_and_values

few = settings(
    max_examples=70, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@few
@given(schemas_and_values())
def test_every_encoding_gives_back_what_it_got(pair):
    document, value = pair
    schema = compile_schema(FORMAT, document)
    assert schema.check(value) == ()
    for content_type in ("avro/binary", "application/json", "avro/single-object"):
        payload = schema.encode(value, content_type)
        assert schema.decode(payload, content_type) == value


@few
@given(schemas_and_values())
def test_both_readers_agree(pair):
    document, value = pair
    schema = compile_schema(FORMAT, document)
    payload = schema.encode(value)
    assert isinstance(schema, AvroSchema)
    assert schema.decode(payload) == Reader(schema.schema).read(payload)


@few
@given(schemas_and_values(), st.data())
def test_a_broken_payload_is_refused_or_decodes_to_a_valid_value(pair, data):
    document, value = pair
    schema = compile_schema(FORMAT, document)
    payload = bytearray(schema.encode(value))
    assume(payload)
    for _ in range(3):
        payload[data.draw(st.integers(0, len(payload) - 1))] = data.draw(st.integers(0, 255))
    payload = payload[: data.draw(st.integers(0, len(payload)))]
    try:
        decoded = schema.decode(bytes(payload), "avro/binary")
    except MessageError as error:
        problems = error.problems
    else:
        problems = schema.check(decoded)
        assert problems == ()
    assert all(problem.path.startswith("/") for problem in problems)


@few
@given(schemas_and_values(), st.binary(max_size=40))
def test_any_bytes_are_refused_or_valid(pair, payload):
    schema = compile_schema(FORMAT, pair[0])
    for content_type in (None, "application/json"):
        try:
            decoded = schema.decode(payload, content_type)
        except MessageError:
            continue
        assert schema.is_valid(decoded)


@few
@given(schemas_and_values())
def test_rows_are_those_of_the_general_reader(pair):
    document, value = pair
    schema = compile_schema(FORMAT, document)
    value = schema.decode(schema.encode(value))
    row = schema.to_row(value)
    assert isinstance(row, dict)
    assert list(row) == [column.name for column in schema.columns]
    if not any(name in str(document) for name in ("-nanos", "'precision': 60", "fields': []")):
        assert row == row_reader(schema.columns)(value)


@few
@given(schemas_and_values(), st.integers(0, 1000))
def test_samples_are_valid_and_the_same_for_the_same_random(pair, seed):
    schema = compile_schema(FORMAT, pair[0])
    value = schema.sample(Random(seed), {})
    assert value == schema.sample(Random(seed), {})
    assert schema.decode(schema.encode(value)) == value
    assert isinstance(schema.to_row(value), dict)


@settings(max_examples=30)
@given(schemas_and_values())
def test_a_schema_pickles_by_its_source(pair):
    schema = compile_schema(FORMAT, pair[0])
    again = pickle.loads(pickle.dumps(schema))
    assert again.source == schema.source
    assert again.columns == schema.columns


@few
@given(schemas_and_values())
def test_a_value_of_no_type_is_refused_where_it_is(pair):
    document, value = pair
    schema = compile_schema(FORMAT, document)
    if is_whole(schema.columns) or not isinstance(value, dict) or not value:
        assume(False)
    key = next(iter(value))
    problems = schema.check({**value, key: {1, 2}})
    assert problems
    assert all(problem.path.startswith("/") for problem in problems)
