"""What a schema needs is gathered from its catalog: by every name the catalog knows it by."""

from __future__ import annotations

import json
from typing import Any

import pytest

from heraldry.dialects.load import load_bytes
from heraldry.errors import SchemaError
from heraldry.model.catalog import Catalog
from heraldry.model.schema_reference import Resolved
from heraldry.schemas import formats, references
from heraldry.schemas.references import gather

JSON = "JSONSchema/2020-12"
XSD = "http://www.w3.org/2001/XMLSchema"
STRUCTURE = "https://json-structure.org/meta/core/v0/#"
PRICE = {"type": "number"}
OLD_PRICE = {"type": "integer"}


def catalog(**groups: dict[str, Any]) -> Catalog:
    """Schemas by group and id; each is the document of its only version, or has ``versions``."""
    made = {
        group: {
            "schemas": {
                name: one if "versions" in one else {"versionid": "1", "format": JSON, **one}
                for name, one in schemas.items()
            }
        }
        for group, schemas in groups.items()
    }
    whole = {"self": "https://registry.example/", "schemagroups": made}
    return load_bytes(json.dumps(whole).encode(), "catalog.json")


def refers(*names: str) -> dict[str, Any]:
    return {"schema": {"properties": {str(n): {"$ref": one} for n, one in enumerate(names)}}}


def gathered(whole: Catalog, group: str, name: str) -> dict[str, Any]:
    """The documents that a schema of the catalog needs, by the names they are named by."""
    schema = whole.groups["schemagroups"][group].resources["schemas"][name]
    version = schema.versions[schema.default]
    needed = gather(
        whole,
        Resolved(
            format=str(version.attributes["format"]),
            document=version.attributes["schema"],
            xid=str(schema.xid),
            versionid=version.id,
        ),
    )
    assert len({one.name for one in needed}) == len(needed)
    return {one.name: json.loads(one.content) for one in needed}


VERSIONS = {
    "meta": {"defaultversionid": "2"},
    "versions": {
        "1": {"versionid": "1", "format": JSON, "schema": OLD_PRICE},
        "2": {"versionid": "2", "format": JSON, "schema": PRICE, "ancestor": "1"},
    },
}


@pytest.mark.parametrize(
    ("name", "document"),
    [
        pytest.param("/schemagroups/shop/schemas/price", PRICE, id="xid"),
        pytest.param("/schemagroups/shop/schemas/price/versions/1", OLD_PRICE, id="version"),
        pytest.param("https://registry.example/schemagroups/shop/schemas/price", PRICE, id="self"),
        pytest.param(
            "https://registry.example/schemagroups/shop/schemas/price/versions/1",
            OLD_PRICE,
            id="self of a version",
        ),
        pytest.param("price", PRICE, id="id in the same group"),
        pytest.param("./price", PRICE, id="relative id"),
        pytest.param("price/versions/1", OLD_PRICE, id="id and version"),
        pytest.param("schemagroups/shop/schemas/price", PRICE, id="xid without its slash"),
        pytest.param("/schemagroups/bank/schemas/fee", {"type": "null"}, id="another group"),
    ],
)
def test_a_document_is_found_by_its_names(name: str, document: dict[str, Any]) -> None:
    whole = catalog(
        shop={"order": refers(name), "price": VERSIONS},
        bank={"fee": {"schema": {"type": "null"}}},
    )
    assert gathered(whole, "shop", "order") == {name: document}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("fee", id="an id of another group"),
        pytest.param("/schemagroups/shop/schemas/nope", id="no schema"),
        pytest.param("/schemagroups/shop/schemas/price/versions/9", id="no version"),
        pytest.param("https://other.example/schemagroups/shop/schemas/price", id="another host"),
        pytest.param("../../bank/schemas/fee", id="a path"),
        pytest.param("file:///etc/hosts", id="a file"),
        pytest.param("http://169.254.169.254/latest/meta-data", id="a metadata address"),
        pytest.param("/schemagroups/bank/schemas/elsewhere", id="kept elsewhere"),
        pytest.param("#/properties", id="the document itself"),
    ],
)
def test_what_the_catalog_does_not_have_is_left_out(name: str) -> None:
    whole = catalog(
        shop={"order": refers(name), "price": VERSIONS},
        bank={
            "fee": {"schema": {"type": "null"}},
            "elsewhere": {"schemaurl": "https://other.example/fee.json"},
        },
    )
    assert gathered(whole, "shop", "order") == {}


def test_documents_are_followed_from_where_they_are() -> None:
    whole = catalog(
        shop={"order": refers("/schemagroups/bank/schemas/fee")},
        bank={"fee": refers("currency"), "currency": {"schema": {"type": "string"}}},
    )
    assert list(gathered(whole, "shop", "order")) == ["/schemagroups/bank/schemas/fee", "currency"]


def test_cycles_end() -> None:
    whole = catalog(shop={"a": refers("b"), "b": refers("c", "a"), "c": refers("b", "c")})
    assert sorted(gathered(whole, "shop", "a")) == ["a", "b", "c"]


def test_one_name_of_two_documents_is_refused() -> None:
    whole = catalog(
        shop={"order": refers("money", "/schemagroups/bank/schemas/fee"), "money": {"schema": {}}},
        bank={"fee": refers("money"), "money": {"schema": {"type": "string"}}},
    )
    with pytest.raises(SchemaError, match="'money' means one document here and another one there"):
        gathered(whole, "shop", "order")


def test_the_number_of_documents_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(references, "REFERENCE_LIMIT", 3)
    names = [f"part{number}" for number in range(4)]
    parts = {name: {"schema": {"title": name}} for name in names}
    assert len(gathered(catalog(shop={"whole": refers(*names[:3]), **parts}), "shop", "whole")) == 3
    with pytest.raises(SchemaError, match="more than 3 other documents"):
        gathered(catalog(shop={"whole": refers(*names), **parts}), "shop", "whole")


def test_an_inline_schema_has_no_group() -> None:
    whole = catalog(shop={"price": VERSIONS})
    for name, found in (("/schemagroups/shop/schemas/price", 1), ("price", 0)):
        inline = Resolved(format=JSON, document=refers(name)["schema"])
        assert len(gather(whole, inline)) == found


# --- the same names in every format


def structure(name: str, **more: Any) -> dict[str, Any]:
    head = {"$schema": STRUCTURE, "$id": f"https://example.com/{name}", "name": name.title()}
    return {**head, "type": "object", **more}


FORMATS = {
    JSON: (
        lambda name: {"properties": {"price": {"$ref": name}}},
        {"type": "object", "properties": {"amount": {"type": "integer"}}},
    ),
    "Avro/1.12": (
        lambda name: {"type": "record", "name": "Order", "fields": [{"name": "p", "type": name}]},
        {"type": "record", "name": "Price", "fields": [{"name": "amount", "type": "long"}]},
    ),
    "Protobuf/3": (
        lambda name: f'syntax = "proto3"; import "{name}"; message Order {{ Price p = 1; }}',
        'syntax = "proto3"; message Price { int64 amount = 1; }',
    ),
    "XSD/1.0": (
        lambda name: (
            f'<xs:schema xmlns:xs="{XSD}"><xs:include schemaLocation="{name}"/>'
            '<xs:element name="order" type="Price"/></xs:schema>'
        ),
        f'<xs:schema xmlns:xs="{XSD}"><xs:complexType name="Price"><xs:sequence>'
        '<xs:element name="amount" type="xs:long"/></xs:sequence></xs:complexType></xs:schema>',
    ),
    "JsonStructure/draft-02": (
        lambda name: structure(
            "order",
            properties={"p": {"type": {"$ref": "#/definitions/Price"}}},
            definitions={"$importdefs": name},
        ),
        structure(
            "prices",
            properties={"p": {"type": "string"}},
            definitions={
                "Price": {
                    "type": "object",
                    "name": "Price",
                    "properties": {"amount": {"type": "int64"}},
                }
            },
        ),
    ),
}


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize(
    "name",
    [
        "/schemagroups/shop/schemas/price",
        "/schemagroups/shop/schemas/price/versions/1",
        "https://registry.example/schemagroups/shop/schemas/price",
        "price",
        "./price",
    ],
)
def test_every_format_finds_the_other_document(format_: str, name: str) -> None:
    make, price = FORMATS[format_]
    order = Resolved(format=format_, document=make(name), xid="/schemagroups/shop/schemas/order")
    whole = catalog(shop={"price": {"format": format_, "schema": price}})
    found = gather(whole, order)
    assert [one.name for one in found] == [name]
    assert formats.compile(format_, order.document, references=found).columns


@pytest.mark.parametrize("format_", FORMATS)
def test_every_format_names_what_is_missing(format_: str) -> None:
    name = "/schemagroups/shop/schemas/gone"
    order = Resolved(format=format_, document=FORMATS[format_][0](name))
    found = gather(catalog(shop={"price": VERSIONS}), order)
    assert found == ()
    with pytest.raises(SchemaError, match=name):
        formats.compile(format_, order.document, references=found)
