"""What every payload format promises, on schemas and values made up for each of them."""

from __future__ import annotations

import math
import pickle
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from heraldry.dialects.load import load
from heraldry.errors import MessageError
from heraldry.messages.compile import compile_definition, compile_schema
from heraldry.model.catalog import Catalog
from heraldry.model.definition import Definition
from heraldry.model.inherit import definitions
from heraldry.model.problem import Problem
from heraldry.model.xid import Xid
from heraldry.pipeline.lake.layout import arrow_type
from heraldry.schemas import formats
from heraldry.schemas.columns import Column, ColumnType, ListOf, MapOf, Struct
from heraldry.schemas.names import legal_names
from heraldry.schemas.payload_schema import PayloadSchema

FORMATS = ("json_schema", "avro", "protobuf", "xsd", "json_structure")
SAMPLES = (
    "contoso-erp-jsons07",
    "inkjet-proto3",
    "lightbulb-avro",
    "mqtt-sparkplugB",
    "smartoven-xsd",
    "vacuumcleaner-avro",
    "watchkam-jsons07",
    "waterboiler-mqtt5-jsons07",
    "windgenerator-kafka-avro",
)
PREFIXES = [
    pytest.param(b"\x00\x00\x00\x01\x02", id="confluent"),
    pytest.param(b"\x03\x00" + bytes(range(16)), id="glue"),
]
FRAMED: dict[str, tuple[Any, Any]] = {
    "json_schema": ({"type": "object"}, {"a": 1}),
    "avro": (
        {"type": "record", "name": "R", "fields": [{"name": "a", "type": "string"}]},
        {"a": "text"},
    ),
    "protobuf": ('syntax = "proto3"; message R { string a = 1; }', {"a": "text"}),
    "xsd": (
        '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="r">'
        '<xs:complexType><xs:sequence><xs:element name="a" type="xs:string"/></xs:sequence>'
        "</xs:complexType></xs:element></xs:schema>",
        {"a": "text"},
    ),
    "json_structure": (
        {
            "$schema": "https://json-structure.org/meta/core/v0/#",
            "$id": "urn:example:r",
            "name": "R",
            "type": "object",
            "properties": {"a": {"type": "string"}},
        },
        {"a": "text"},
    ),
}
"""By format: a schema and a value of it, to be sent with the prefix of a registry."""

quick = settings(max_examples=30, suppress_health_check=list(HealthCheck))


@pytest.fixture(params=FORMATS)
def made(request: pytest.FixtureRequest) -> Any:
    """The module that makes up schemas of one format, with valid values."""
    return import_module(f"tests.schemas.{request.param}.generated")


def compiled(made: Any, document: Any) -> PayloadSchema:
    return formats.compile(made.FORMAT, document)


def same(one: Any, other: Any) -> bool:
    """Equality, but a value that is not a number equals another one."""
    if isinstance(one, float) and isinstance(other, float):
        return one == other or (math.isnan(one) and math.isnan(other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and bool(one == other)


def check_located(problems: tuple[Problem, ...]) -> None:
    assert problems
    for problem in problems:
        assert problem.path.startswith("/"), problem
        assert problem.rule, problem
        assert problem.message, problem


def check_row(schema: PayloadSchema, value: Any) -> None:
    """A row has exactly the columns, every value fits, and Arrow takes it; or problems say why."""
    row = schema.to_row(value)
    if isinstance(row, tuple):
        check_located(row)
        assert {problem.rule for problem in row} == {"column"}
        return
    assert row.keys() == {column.name for column in schema.columns}
    for column in schema.columns:
        check_null(row[column.name], column)
    fields = [(column.name, arrow_type(column.type)) for column in schema.columns]
    assert pa.Table.from_pylist([row], schema=pa.schema(fields)).num_rows == 1


def check_null(value: Any, column: Column) -> None:
    if value is None:
        assert column.nullable, column
    elif isinstance(column.type, ListOf):
        for item in value:
            check_null(item, column.type.item)
    elif isinstance(column.type, MapOf):
        for item in value.values():
            check_null(item, column.type.value)
    elif isinstance(column.type, Struct):
        assert value.keys() == {field.name for field in column.type.fields}
        for field in column.type.fields:
            check_null(value[field.name], field)


def check_names(kind: ColumnType | tuple[Column, ...]) -> None:
    """Names are legal and unique at every level."""
    if isinstance(kind, Struct):
        kind = kind.fields
    if isinstance(kind, tuple):
        names = [column.name for column in kind]
        assert legal_names(names) == tuple(names)
        for column in kind:
            check_names(column.type)
    elif isinstance(kind, ListOf):
        check_names(kind.item.type)
    elif isinstance(kind, MapOf):
        check_names(kind.value.type)


@quick
@given(data=st.data())
def test_decode_is_the_inverse_of_encode(made: Any, data: st.DataObject) -> None:
    document, value = data.draw(made.schemas_and_values())
    schema = compiled(made, document)
    assert schema.check(value) == ()
    assert schema.is_valid(value)
    assert same(schema.decode(schema.encode(value)), value)


@quick
@given(data=st.data())
def test_decoded_values_fit_their_columns(made: Any, data: st.DataObject) -> None:
    document, value = data.draw(made.schemas_and_values())
    schema = compiled(made, document)
    check_names(schema.columns)
    check_row(schema, schema.decode(schema.encode(value)))


@quick
@given(data=st.data(), seed=st.integers(0, 2**32))
def test_samples_are_valid_and_repeatable(made: Any, data: st.DataObject, seed: int) -> None:
    document, _ = data.draw(made.schemas_and_values())
    schema = compiled(made, document)
    sample = schema.sample(Random(seed), {})
    assert schema.check(sample) == ()
    assert same(schema.sample(Random(seed), {}), sample)
    assert same(schema.decode(schema.encode(sample)), sample)


@quick
@given(data=st.data())
def test_a_schema_pickles_and_does_not_differ_from_itself(made: Any, data: st.DataObject) -> None:
    document, value = data.draw(made.schemas_and_values())
    schema = compiled(made, document)
    copy = pickle.loads(pickle.dumps(schema))
    assert (copy.source, copy.columns) == (schema.source, schema.columns)
    assert copy.encode(value) == schema.encode(value)
    assert formats.changes(schema, copy) == ()


@quick
@given(data=st.data(), noise=st.binary(max_size=40))
def test_damaged_payloads_are_refused_with_a_place_or_read(
    made: Any, data: st.DataObject, noise: bytes
) -> None:
    document, value = data.draw(made.schemas_and_values())
    schema = compiled(made, document)
    payload = schema.encode(value)
    cut = data.draw(st.integers(0, len(payload)))
    for damaged in (payload[:cut], payload[:cut] + noise + payload[cut:], noise):
        try:
            read = schema.decode(damaged)
        except MessageError as error:
            check_located(error.problems)
        else:
            assert schema.check(read) == ()
            check_row(schema, read)


@quick
@given(data=st.data())
def test_values_of_another_shape_are_refused_with_a_place(made: Any, data: st.DataObject) -> None:
    document, _ = data.draw(made.schemas_and_values())
    schema = compiled(made, document)
    for strange in (object(), [[object()]], {"no such member": object()}, 10**400, "\ud800"):
        assert not schema.is_valid(strange)
        check_located(schema.check(strange))
        with pytest.raises(MessageError) as caught:
            schema.encode(strange)
        check_located(caught.value.problems)


@pytest.mark.parametrize("prefix", PREFIXES)
def test_the_prefix_of_a_registry_is_left_out(made: Any, prefix: bytes) -> None:
    document, value = FRAMED[made.__name__.split(".")[2]]
    schema = compiled(made, document)
    assert same(schema.decode(prefix + schema.encode(value)), value)


def versions(catalog: Catalog) -> Iterator[Xid]:
    for group in catalog.groups.get("schemagroups", {}).values():
        for schema in group.resources["schemas"].values():
            for version in schema.versions:
                yield Xid.parse(f"{schema.xid}/versions/{version}")


@pytest.mark.parametrize("sample", SAMPLES)
def test_columns_of_real_catalogs(sample: str, reference: Path) -> None:
    """Each schema gives columns that its samples fit, or its missing reference is reported."""
    catalog = load(reference / "catalogs" / "xregistry-samples" / f"{sample}.xreg.json")
    used = [compile_definition(catalog, xid).outcome for xid in definitions(catalog)]
    own = [
        compile_schema(catalog, Definition(xid=xid, dataschemaxid=str(xid)))
        for xid in versions(catalog)
    ]
    assert used
    assert own
    for outcome in (*used, *own):
        if outcome.schema is None:
            assert (sample, outcome.state) == ("mqtt-sparkplugB", "external"), outcome
            assert "sparkplug_b.proto; Heraldry never fetches" in outcome.detail
            continue
        schema = outcome.schema
        assert schema.columns
        check_names(schema.columns)
        for seed in range(20):
            value = schema.decode(schema.encode(schema.sample(Random(seed), {})))
            assert isinstance(schema.to_row(value), dict)
            check_row(schema, value)
