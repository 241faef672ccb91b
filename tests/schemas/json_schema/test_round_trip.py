"""Whatever the schema: what is encoded is decoded, and a reference changes nothing."""

from __future__ import annotations

import json
import pickle
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from heraldry.schemas.formats import compile as compile_schema
from heraldry.schemas.source import Reference
from tests.schemas.json_schema.generated import FORMAT, schemas_and_values
from tests.schemas.json_schema.test_properties import assert_fits


@settings(max_examples=80, deadline=None)
@given(schemas_and_values())
def test_what_is_encoded_is_decoded(pair):
    document, value = pair
    schema = compile_schema(FORMAT, document)
    assert schema.check(value) == ()
    payload = schema.encode(value)
    assert schema.decode(payload) == value
    assert schema.decode(b"\x00\x00\x00\x00\x07" + payload) == value
    row = schema.to_row(value)
    if isinstance(row, dict):
        for column in schema.columns:
            assert_fits(column, row[column.name])
    assert pickle.loads(pickle.dumps(schema)).columns == schema.columns


@settings(max_examples=60, deadline=None)
@given(schemas_and_values(), st.integers(0, 9))
def test_a_schema_means_the_same_from_another_document(pair, seed):
    document, value = pair
    content = json.dumps(document).encode()
    direct = compile_schema(FORMAT, document)
    other = compile_schema(
        FORMAT,
        {"$id": "https://example.com/home", "allOf": [{"$ref": "/schemagroups/g/schemas/s"}]},
        references=(Reference("/schemagroups/g/schemas/s", content),),
    )
    assert other.columns == direct.columns
    assert other.is_valid(value)
    for candidate in (None, 5, "x", [], {}, [value], {"a": value}):
        assert other.is_valid(candidate) == direct.is_valid(candidate)
    assert other.sample(Random(seed), {}) == direct.sample(Random(seed), {})
