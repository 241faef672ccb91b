"""Schema references: where a payload's schema is, deep links, and what cannot be resolved."""

from __future__ import annotations

from typing import Any

import pytest

from heraldry.dialects.xreg_1_0 import read
from heraldry.model.catalog import Catalog
from heraldry.model.inherit import materialize
from heraldry.model.schema_reference import (
    Resolved,
    SchemaReference,
    Unresolved,
    find_schema,
    resolve_schema,
)
from heraldry.model.xid import Xid

DRAFT = "JSONSchema/draft-07"
SCHEMAS = {
    "order": {
        "versions": {
            "9": {"format": DRAFT, "schema": {"title": "nine"}},
            "10": {"format": DRAFT, "schema": {"title": "ten"}},
        }
    },
    "a:b": {"format": DRAFT, "schema": {"title": "colon"}},
    "proto": {"versions": {"v1.0": {"format": "Protobuf/3", "schema": "syntax"}}},
    "away": {"format": DRAFT, "schemaurl": "https://example.com/x.json"},
    "empty": {"format": DRAFT},
    "slash/ed": {"format": DRAFT, "schema": {"title": "slash"}},
    "addressed": {
        "self": "https://other.example/schemagroups/s/schemas/addressed",
        "format": DRAFT,
        "schema": {"title": "addressed"},
    },
}
HERE = "/schemagroups/s/schemas/"


def of(**message: Any) -> tuple[Catalog, Resolved | Unresolved]:
    document = {
        "self": "https://example.com/registry/",
        "messagegroups": {"g": {"messages": {"m": message}}},
        "schemagroups": {"s": {"schemas": SCHEMAS}},
    }
    found = read(document, "")
    definition = materialize(found, Xid.parse("/messagegroups/g/messages/m"))
    return found, resolve_schema(found, definition)


@pytest.mark.parametrize(
    ("uri", "title", "versionid"),
    [
        pytest.param(f"{HERE}order", "ten", "10", id="newest-by-number"),
        pytest.param(f"{HERE}order/versions/9", "nine", "9", id="version"),
        pytest.param(f"#{HERE}order/versions/9", "nine", "9", id="pointer"),
        pytest.param(f"#{HERE}order/versions/9/schema", "nine", "9", id="pointer-to-document"),
        pytest.param(f"#{HERE}slash~1ed", "slash", "1", id="escaped-pointer"),
        pytest.param(f"{HERE}a:b", "colon", "1", id="colon-in-id"),
        pytest.param(f"https://example.com/registry{HERE}order", "ten", "10", id="own-url"),
        pytest.param(f"https://other.example{HERE}addressed", "addressed", "1", id="self"),
    ],
)
def test_a_reference_finds_its_schema(uri: str, title: str, versionid: str) -> None:
    _, found = of(dataschemaformat=DRAFT, dataschemauri=uri)
    assert isinstance(found, Resolved), found
    assert (found.document, found.versionid) == ({"title": title}, versionid)
    assert (found.format, found.link) == (DRAFT, "")


@pytest.mark.parametrize(
    ("text", "xid", "link"),
    [
        pytest.param("proto:Payload", "proto/versions/v1.0", "Payload", id="of-resource"),
        pytest.param("proto/versions/v1.0:P", "proto/versions/v1.0", "P", id="of-version"),
        pytest.param("order:messages/X", "order/versions/10", "messages/X", id="with-slash"),
        pytest.param("order#/a/b", "order/versions/10", "/a/b", id="fragment"),
        pytest.param("a:b:Name", "a:b/versions/1", "Name", id="longest-id-first"),
        pytest.param("a:b", "a:b/versions/1", "", id="no-link"),
    ],
)
def test_a_deep_link_is_split_off(text: str, xid: str, link: str) -> None:
    found, _ = of()
    expected = SchemaReference(xid=Xid.parse(HERE + xid), link=link)
    assert find_schema(found, HERE + text) == expected


def test_an_inline_schema_comes_first() -> None:
    _, found = of(dataschemaformat=DRAFT, dataschema={"x": 1}, dataschemaxid=f"{HERE}order")
    assert found == Resolved(format=DRAFT, document={"x": 1})


def test_the_formats_complete_each_other() -> None:
    _, found = of(dataschemaformat="jsonschema", dataschemauri=f"{HERE}order")
    assert isinstance(found, Resolved)
    assert found.format == DRAFT


@pytest.mark.parametrize(
    ("message", "reason", "detail"),
    [
        pytest.param({}, "none", "names no schema", id="none"),
        pytest.param({"dataschemauri": f"{HERE}no"}, "dangling", f"{HERE}no", id="dangling"),
        pytest.param(
            {"dataschemauri": f"{HERE}order/versions/3"}, "dangling", "versions/3", id="version"
        ),
        pytest.param({"dataschemauri": f"{HERE}empty"}, "dangling", "no document", id="empty"),
        pytest.param(
            {"dataschemauri": f"{HERE}away"}, "external", "https://example.com/x", id="schemaurl"
        ),
        pytest.param(
            {"dataschemauri": "https://x.example/s.json"}, "external", "outside", id="absolute"
        ),
        pytest.param(
            {"dataschemauri": f"https://x.example{HERE}order"}, "external", "outside", id="foreign"
        ),
        pytest.param(
            {"dataschema": {}, "dataschemauri": f"{HERE}order"}, "conflict", "exclude", id="both"
        ),
        pytest.param(
            {"dataschemaxid": f"{HERE}order", "dataschemauri": f"{HERE}a:b"},
            "conflict",
            "different schemas",
            id="two-references",
        ),
        pytest.param(
            {"dataschemaformat": "Avro/1.11", "dataschemauri": f"{HERE}order"},
            "conflict",
            "Avro/1.11",
            id="format",
        ),
    ],
)
def test_what_cannot_be_resolved_says_why(
    message: dict[str, Any], reason: str, detail: str
) -> None:
    _, found = of(**message)
    assert isinstance(found, Unresolved)
    assert found.reason == reason
    assert detail in found.detail
