"""XML Schema as a payload format: compiling, decoding, encoding, rows and samples."""

from __future__ import annotations

import json
import pickle
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from heraldry.errors import MessageError, SchemaError
from heraldry.schemas.columns import Fixed, ListOf, MapOf, Scalar, Struct
from heraldry.schemas.formats import compile as compile_schema
from heraldry.schemas.formats import references_of
from heraldry.schemas.source import Reference
from tests.schemas.xsd.documents import document, element, facet, order, restricted
from tests.schemas.xsd.generated import schemas_and_values

NIL = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:nil="true"'

# type, text, value, column
SCALARS = {
    "string": ("xs:string", " a  b ", " a  b ", Scalar("string")),
    "token": ("xs:token", " a  b ", "a b", Scalar("string")),
    "int": ("xs:int", " 7 ", 7, Scalar("integer")),
    "integer": ("xs:integer", "-123", -123, Scalar("integer")),
    "unsignedLong": ("xs:unsignedLong", str(2**64 - 1), 2**64 - 1, Fixed(20, 0)),
    "decimal": ("xs:decimal", "1.50", Decimal("1.5"), Fixed(38, 18)),
    "double": ("xs:double", "-INF", float("-inf"), Scalar("number")),
    "float": ("xs:float", "1e3", 1000.0, Scalar("number")),
    "boolean": ("xs:boolean", "1", True, Scalar("boolean")),
    "dateTime": (
        "xs:dateTime", "2024-02-03T04:05:06.5Z", datetime(2024, 2, 3, 4, 5, 6, 500000, UTC),
        Scalar("timestamp"),
    ),
    "local dateTime": (
        "xs:dateTime", "2024-02-03T04:05:06", datetime(2024, 2, 3, 4, 5, 6), Scalar("timestamp"),
    ),
    "fine dateTime": (
        "xs:dateTime", "2024-02-03T04:05:06.123456789Z", "2024-02-03T04:05:06.123456789Z",
        Scalar("timestamp"),
    ),
    "date": ("xs:date", "2024-02-03+01:00", date(2024, 2, 3), Scalar("date")),
    "time": ("xs:time", "04:05:06", "04:05:06", Scalar("string")),
    "duration": ("xs:duration", "P1DT2H", "P1DT2H", Scalar("string")),
    "gYear": ("xs:gYear", "2024", "2024", Scalar("string")),
    "hexBinary": ("xs:hexBinary", "0aff", b"\x0a\xff", Scalar("binary")),
    "base64Binary": ("xs:base64Binary", " Cv8= ", b"\x0a\xff", Scalar("binary")),
    "anyURI": ("xs:anyURI", "urn:x", "urn:x", Scalar("string")),
    "QName": ("xs:QName", "xml:a", "{http://www.w3.org/XML/1998/namespace}a", Scalar("string")),
}  # fmt: skip


@pytest.mark.parametrize("name", SCALARS)
def test_a_text_becomes_a_typed_value_and_comes_back(name: str) -> None:
    kind, text, value, column = SCALARS[name]
    schema = compile_schema("XSD/1.0", order(element("a", kind)))
    decoded = schema.decode(f"<order><a>{text}</a></order>".encode())
    assert decoded == {"a": value}
    assert schema.decode(schema.encode(decoded)) == decoded
    assert schema.columns[0].type == column
    assert isinstance(schema.to_row(decoded), dict)


JSON_SPELLINGS = {
    "dateTime": ("xs:dateTime", "2024-02-03T04:05:06Z", datetime(2024, 2, 3, 4, 5, 6, 0, UTC)),
    "date": ("xs:date", "2024-02-03", date(2024, 2, 3)),
    "decimal": ("xs:decimal", "1.5", Decimal("1.5")),
    "decimal as a number": ("xs:decimal", 1.5, Decimal("1.5")),
    "integer as a number": ("xs:int", 3.0, 3),
    "bytes": ("xs:hexBinary", "Cv8=", b"\x0a\xff"),
    "infinity": ("xs:double", "INF", float("inf")),
}


@pytest.mark.parametrize("name", JSON_SPELLINGS)
def test_the_json_spelling_of_a_value_is_written_as_the_value(name: str) -> None:
    kind, spelled, value = JSON_SPELLINGS[name]
    schema = compile_schema("XSD", order(element("a", kind)))
    assert schema.check({"a": spelled}) == ()
    assert schema.decode(schema.encode({"a": spelled})) == {"a": value}


FULL = document(
    '<xs:element name="order"><xs:complexType><xs:sequence>'
    '<xs:element name="item" maxOccurs="unbounded"><xs:complexType><xs:sequence>'
    + restricted("sku", "xs:string", facet("pattern", r"[A-Z]{2}\d+"))
    + element("n", "xs:int", 'nillable="true"')
    + '</xs:sequence><xs:attribute name="id" type="xs:int" use="required"/></xs:complexType>'
    '</xs:element><xs:element name="price"><xs:complexType><xs:simpleContent>'
    '<xs:extension base="xs:decimal"><xs:attribute name="currency" default="EUR"/>'
    "</xs:extension></xs:simpleContent></xs:complexType></xs:element>"
    '<xs:choice><xs:element name="a" type="xs:int"/><xs:element name="b" type="xs:int"/>'
    '</xs:choice><xs:element name="note" minOccurs="0"><xs:complexType mixed="true"><xs:sequence>'
    '<xs:element name="em" minOccurs="0" type="xs:string"/></xs:sequence></xs:complexType>'
    '</xs:element><xs:any namespace="##other" processContents="lax" minOccurs="0" '
    'maxOccurs="unbounded"/></xs:sequence><xs:attribute name="price" type="xs:NMTOKENS"/>'
    '<xs:anyAttribute namespace="##other" processContents="lax"/></xs:complexType></xs:element>',
    'targetNamespace="urn:t" elementFormDefault="qualified"',
)
PAYLOAD = (
    '<t:order xmlns:t="urn:t" xmlns:o="urn:o" price="x y" o:z="1"><t:item id="3"><t:sku>AB1</t:sku>'
    f'<t:n>1</t:n></t:item><t:item id="4"><t:sku>AB2</t:sku><t:n {NIL}/></t:item>'
    "<t:price>1.50</t:price><t:b>2</t:b><t:note>so <t:em>so</t:em></t:note><!-- c -->"
    '<o:x q="t:foo"/></t:order>'
)


def test_structure_becomes_records_and_what_has_none_stays_xml() -> None:
    schema = compile_schema("XSD", FULL)
    value = schema.decode(PAYLOAD.encode())
    assert value == {
        "@price": ["x", "y"],
        "any_attributes": {"{urn:o}z": "1"},
        "item": [{"id": 3, "sku": "AB1", "n": 1}, {"id": 4, "sku": "AB2", "n": None}],
        "price": {"currency": "EUR", "value": Decimal("1.5")},
        "b": 2,
        "note": '<t:note xmlns:t="urn:t">so <t:em>so</t:em></t:note>',
        "any": ['<o:x xmlns:o="urn:o" xmlns:t="urn:t" q="t:foo"></o:x>'],
    }
    assert schema.decode(schema.encode(value)) == value
    row = schema.to_row(value)
    assert isinstance(row, dict)
    assert row["a"] is None
    types = {column.name: (column.type, column.nullable) for column in schema.columns}
    assert types["b"] == (Scalar("integer"), True)
    assert isinstance(types["item"][0], ListOf)
    assert isinstance(types["price"][0], Struct)
    assert isinstance(types["any_attributes"][0], MapOf)
    assert types["note"] == (Scalar("string"), True)


# what is replaced in the payload, by what; path and rule of the first problem
WRONG = {
    "pattern": ("AB2", "abc", "/item/1/sku", "xs:pattern"),
    "attribute type": ('id="4"', 'id="x"', "/item/1/id", "xs:int"),
    "attribute missing": (' id="4"', "", "/item/1/id", "missing-attribute"),
    "attribute unknown": ('id="4"', 'id="4" k="1"', "/item/1/@k", "unexpected-attribute"),
    "text type": ("1.50", "cheap", "/price/value", "xs:decimal"),
    "element unknown": ("<t:b>", "<t:q/><t:b>", "/q", "unexpected-element"),
    "element missing": ("<t:price>1.50</t:price>", "", "/price", "missing-element"),
    "child missing": ("<t:n>1</t:n>", "", "/item/0/n", "missing-element"),
    "other root": ("t:order", "t:bill", "/", "root-element"),
    "not XML": ("</t:order>", "", "/", "xml"),
    "doctype": ("<t:order ", "<!DOCTYPE order><t:order ", "/", "xml"),
}


@pytest.mark.parametrize("name", WRONG)
def test_an_invalid_payload_has_located_problems_without_the_value(name: str) -> None:
    was, now, path, rule = WRONG[name]
    with pytest.raises(MessageError) as caught:
        compile_schema("XSD", FULL).decode(PAYLOAD.replace(was, now).encode())
    problem = caught.value.problems[0]
    assert (problem.path, problem.rule) == (path, rule)
    assert "cheap" not in problem.message


BAD_VALUES = {
    "unknown member": ({"a": 1, "z": 1}, "/z", "unexpected-member"),
    "wrong type": ({"a": "x"}, "/a", "xs:int"),
    "not an object": (3, "/", "type"),
    "missing": ({}, "/a", "missing-element"),
    "too large": ({"a": 10**10}, "/a", "xs:int"),
    "absurd": ({"a": 10**9000}, "/a", "xs:int"),
    "null": ({"a": None}, "/a", "missing-element"),
}


@pytest.mark.parametrize("name", BAD_VALUES)
def test_an_invalid_value_has_located_problems(name: str) -> None:
    value, path, rule = BAD_VALUES[name]
    schema = compile_schema("XSD", order(element("a", "xs:int")))
    assert not schema.is_valid(value)
    problem = schema.check(value)[0]
    assert problem.path == path
    assert problem.rule in (rule, "xs:maxInclusive")
    with pytest.raises(MessageError):
        schema.encode(value)


def test_a_character_that_xml_cannot_hold_is_a_problem() -> None:
    schema = compile_schema("XSD", order(element("a")))
    assert [p.rule for p in schema.check({"a": "x\x00"})] == ["character"]
    assert schema.decode(schema.encode({"a": "x\r\n<&>\"' \t"})) == {"a": "x\r\n<&>\"' \t"}


def test_both_engines_agree_on_what_a_prefix_hides() -> None:
    schema = compile_schema("XSD", order(element("a", "xs:int")))
    assert schema.decode(b"\x00\x00\x00\x00\x07<order><a>1</a></order>") == {"a": 1}


def test_a_document_in_utf_16_is_read() -> None:
    schema = compile_schema("XSD", order(element("a")))
    text = '<?xml version="1.0" encoding="UTF-16"?><order><a>é</a></order>'
    assert schema.decode(text.encode("utf-16")) == {"a": "é"}


TWO = document(
    '<xs:element name="a" type="xs:int"/><xs:element name="b"><xs:complexType><xs:sequence>'
    '<xs:element ref="t:a"/></xs:sequence></xs:complexType></xs:element>'
    '<xs:element name="c" type="xs:date"/>',
    'targetNamespace="urn:t" xmlns:t="urn:t"',
)


@pytest.mark.parametrize("link", ["c", "/c", "#c", "{urn:t}c", "/t:c", "/x:c",
                                  "//xs:element[@name='c']"])  # fmt: skip
def test_a_link_names_an_element(link: str) -> None:
    assert compile_schema("XSD", TWO, link).decode(b'<c xmlns="urn:t">2024-01-02</c>') == date(
        2024, 1, 2
    )


def test_without_a_link_the_element_is_the_only_one_that_can_be_meant() -> None:
    assert compile_schema("XSD", TWO, name="My.b").columns[0].name == "a"
    with pytest.raises(SchemaError, match="a, b, c"):
        compile_schema("XSD", TWO)
    with pytest.raises(SchemaError, match="no global element"):
        compile_schema("XSD", TWO, "d")
    without_c = TWO.replace('<xs:element name="c" type="xs:date"/>', "")
    assert compile_schema("XSD", without_c).columns[0].name == "a"
    with pytest.raises(SchemaError, match="declares no global element"):
        compile_schema("XSD", document(""))


def test_other_documents_come_from_the_catalog_only() -> None:
    main = document(
        '<xs:include schemaLocation="b.xsd"/><xs:import namespace="urn:c" schemaLocation="c"/>'
        '<xs:element name="a"><xs:complexType><xs:sequence><xs:element name="x" type="t"/>'
        '<xs:element name="y" type="c:u"/></xs:sequence></xs:complexType></xs:element>',
        'xmlns:c="urn:c"',
    )
    one = document('<xs:simpleType name="t"><xs:restriction base="xs:int"/></xs:simpleType>')
    two = document(
        '<xs:simpleType name="u"><xs:restriction base="xs:date"/></xs:simpleType>',
        'targetNamespace="urn:c"',
    )
    assert references_of("XSD", main) == ("b.xsd", "c")
    known = (Reference("b.xsd", one.encode()), Reference("c", two.encode()))
    schema = compile_schema("XSD", main, references=known)
    assert schema.decode(b"<a><x>1</x><y>2024-01-02</y></a>") == {"x": 1, "y": date(2024, 1, 2)}
    assert pickle.loads(pickle.dumps(schema)).columns == schema.columns
    with pytest.raises(SchemaError, match="'c' is not in the catalog, and nothing is fetched"):
        compile_schema("XSD", main, references=known[:1])


def test_conditions_of_1_1_are_checked() -> None:
    schema = compile_schema(
        "XSD/1.1",
        order(element("a", "xs:int") + element("b", "xs:int"), '<xs:assert test="a lt b"/>'),
    )
    assert schema.decode(b"<order><a>1</a><b>2</b></order>") == {"a": 1, "b": 2}
    with pytest.raises(MessageError) as caught:
        schema.decode(b"<order><a>3</a><b>2</b></order>")
    assert caught.value.problems[0].rule == "xs:assert"
    with pytest.raises(SchemaError):
        compile_schema("XSD/1.0", order(element("a"), '<xs:assert test="a"/>'))


SHAPES = {
    "repeated choice": order(element("a") + element("b"), group="choice").replace(
        "<xs:choice>", '<xs:choice maxOccurs="9">'
    ),
    "anything": document('<xs:element name="order"/>'),
    "same name twice": order(element("a") + element("b") + element("a")),
}


@pytest.mark.parametrize("name", SHAPES)
def test_what_no_record_can_hold_is_one_column_of_xml(name: str) -> None:
    schema = compile_schema("XSD", SHAPES[name])
    value = schema.decode(b"<order><a>1</a><b>2</b><a>3</a></order>")
    assert value == "<order><a>1</a><b>2</b><a>3</a></order>"
    assert schema.encode(value).decode() == value
    assert schema.to_row(value) == {"value": value}


def test_a_recursive_part_is_json() -> None:
    body = (
        '<xs:complexType name="t"><xs:sequence><xs:element name="v" type="xs:int"/>'
        '<xs:element name="n" type="t" minOccurs="0" maxOccurs="unbounded"/></xs:sequence>'
        '</xs:complexType><xs:element name="order" type="t"/>'
    )
    schema = compile_schema("XSD", document(body))
    value = schema.decode(b"<order><v>1</v><n><v>2</v></n><n><v>3</v></n></order>")
    assert value == {"v": 1, "n": [{"v": 2}, {"v": 3}]}
    assert schema.to_row(value) == {"v": 1, "n": ['{"v":2}', '{"v":3}']}
    assert schema.is_valid(schema.sample(Random(1), {}))


def test_a_value_beyond_its_column_is_a_problem_of_the_row() -> None:
    schema = compile_schema("XSD", order(element("a", "xs:integer")))
    row = schema.to_row(schema.decode(f"<order><a>{2**70}</a></order>".encode()))
    assert isinstance(row, tuple)
    assert (row[0].path, row[0].rule) == ("/a", "column")


def test_a_sample_is_the_same_for_the_same_seed_and_takes_hints() -> None:
    schema = compile_schema("XSD", FULL)
    for seed in range(20):
        value = schema.sample(Random(seed), {"price": {"value": "3.5"}, "b": "wrong", "zz": 1})
        assert value == schema.sample(Random(seed), {"price": {"value": 3.5}})
        assert value["price"]["value"] == Decimal("3.5")
        assert schema.decode(schema.encode(value)) == value


def test_the_schemas_of_the_sample_catalog_give_columns(reference: Path) -> None:
    text = (reference / "catalogs/xregistry-samples/smartoven-xsd.xreg.json").read_text()
    found: dict[str, Any] = {}
    for group in json.loads(text)["schemagroups"].values():
        for name, resource in group["schemas"].items():
            for version in resource["versions"].values():
                schema = compile_schema(version["format"], version["schema"], name=name)
                found[name] = [(one.name, one.type) for one in schema.columns]
                assert schema.is_valid(schema.sample(Random(0), {}))
    assert len(found) == 5
    assert found["Fabrikam.SmartOven.TimerSetEventData"] == [
        ("tenantid", Scalar("string")),
        ("deviceid", Scalar("string")),
        ("timerType", Scalar("string")),
        ("duration", Scalar("integer")),
    ]


@settings(max_examples=30, suppress_health_check=list(HealthCheck))
@given(schemas_and_values())
def test_every_valid_value_comes_back(case: tuple[str, Any]) -> None:
    schema = compile_schema("XSD/1.0", case[0])
    assert schema.check(case[1]) == ()
    assert schema.decode(schema.encode(case[1])) == case[1]
    assert isinstance(schema.to_row(case[1]), dict)
    assert schema.is_valid(schema.sample(Random(0), {}))
