"""The table of formats: what is supported, how a document may be given, what is cached."""

from __future__ import annotations

import pickle
import subprocess
import sys
from types import MappingProxyType

import pytest

from heraldry.errors import SchemaError
from heraldry.schemas.formats import compile as compile_schema
from heraldry.schemas.formats import supported


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        pytest.param("JSONSchema/Draft-07", True, id="as in the specification"),
        pytest.param("JsonSchema/draft-07", True, id="other case"),
        pytest.param("jsonschema", True, id="without a version"),
        pytest.param("Avro/1.11", True, id="avro"),
        pytest.param("Protobuf/3", True, id="protobuf"),
        pytest.param("XMLSchema/1.1", True, id="xsd by its other name"),
        pytest.param("JsonStructure/draft-02", True, id="json structure"),
        pytest.param("Thrift/0.20", False, id="thrift"),
        pytest.param("", False, id="empty"),
    ],
)
def test_supported(name, answer):
    assert supported(name) is answer


def test_an_unsupported_format_says_so():
    with pytest.raises(SchemaError, match="not supported; the payload is carried as it is"):
        compile_schema("Thrift/0.20", "struct Order {}")


@pytest.mark.parametrize(
    "document",
    [
        pytest.param({"type": "integer"}, id="mapping"),
        pytest.param(MappingProxyType({"type": "integer"}), id="read-only mapping"),
        pytest.param('{"type": "integer"}', id="text"),
        pytest.param(b'{"type": "integer"}', id="bytes"),
        pytest.param(b'\xef\xbb\xbf{"type": "integer"}', id="bytes with a byte order mark"),
    ],
)
def test_a_document_may_be_a_text_or_a_value(document):
    schema = compile_schema("JSONSchema/Draft-07", document)
    assert schema.source.format == "JSONSchema/Draft-07"
    assert schema.is_valid(1)
    assert not schema.is_valid("1")


def test_boolean_schemas():
    assert compile_schema("JSONSchema", True).is_valid({"any": 1})
    assert not compile_schema("JSONSchema", False).is_valid(1)


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(None, id="null"),
        pytest.param(5, id="number"),
        pytest.param([], id="array"),
        pytest.param("no json", id="text that is not JSON"),
        pytest.param("\ud800", id="lone surrogate"),
        pytest.param(b"\xff", id="no UTF-8"),
        pytest.param(object(), id="object"),
        pytest.param("[" * 3000, id="deep"),
    ],
)
def test_what_is_no_document(document):
    with pytest.raises(SchemaError):
        compile_schema("JSONSchema/Draft-07", document)


def test_equal_documents_are_compiled_once():
    one = compile_schema("JSONSchema/Draft-07", {"type": "string", "maxLength": 3})
    assert compile_schema("JSONSchema/Draft-07", {"type": "string", "maxLength": 3}) is one
    assert compile_schema("JSONSchema/Draft-07", {"type": "string", "maxLength": 4}) is not one


def test_the_order_of_members_is_the_order_of_columns():
    one, two = {"b": {"type": "string"}}, {"a": {"type": "string"}}
    for properties in ({**one, **two}, {**two, **one}):
        schema = compile_schema("JSONSchema", {"type": "object", "properties": properties})
        assert [column.name for column in schema.columns] == list(properties)


def test_a_schema_pickles():
    schema = compile_schema(
        "JSONSchema/Draft-07", {"$defs": {"a": {"type": "integer"}}}, "#/$defs/a"
    )
    copy = pickle.loads(pickle.dumps(schema))
    assert copy.columns == schema.columns
    assert copy.check("x") == schema.check("x")


@pytest.mark.parametrize(
    ("format_", "module", "extra"),
    [
        pytest.param("Avro/1.12", "fastavro", "avro", id="avro"),
        pytest.param("Protobuf/3", "google.protobuf", "protobuf", id="protobuf"),
        pytest.param("XSD/1.0", "lxml", "xsd", id="xsd"),
    ],
)
def test_a_missing_extra_is_named(format_, module, extra):
    """In a process of its own, because the library is there."""
    program = f"""
import sys
sys.modules[{module!r}] = None
from heraldry.errors import MissingExtraError
from heraldry.schemas import formats
try:
    formats.compile({format_!r}, "x")
except MissingExtraError as error:
    sys.exit(str(error))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.stderr.strip().endswith(f"pip install 'heraldry[{extra}]'"), done.stderr
