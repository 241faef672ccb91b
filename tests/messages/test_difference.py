"""The difference of two catalogs says what becomes of messages and of tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heraldry.dialects.load import load
from heraldry.errors import UsageError
from heraldry.messages.compile import compile_definition
from heraldry.messages.difference import difference
from heraldry.messages.table_columns import table_columns
from heraldry.model.catalog import Catalog
from heraldry.model.inherit import definitions
from heraldry.schemas.changes import Change
from heraldry.schemas.columns import Column
from heraldry.schemas.impact import ColumnChange
from tests.messages.airport import SCHEMA, document, xid
from tests.messages.versions import EVENT, RECORD, attributes, catalog, messages, own

SCHEMA_XID = "/schemagroups/luggage/schemas/bag"


def test_added_and_removed_definitions() -> None:
    found = difference(messages(loaded=EVENT), messages(stowed=EVENT))
    assert [(one.xid, one.entity, one.kind, one.breaking) for one in found] == [
        (xid("stowed"), "message", "added", False),
        (xid("loaded"), "message", "removed", True),
    ]


def test_a_definition_that_recognises_nothing_any_more() -> None:
    (change,) = own(EVENT, {**EVENT, "basemessage": xid("loaded")})[:1]
    assert (change.rule, change.backward) == ("became-unusable", "breaking")
    assert "basemessage is circular" in change.message


# --- payloads and tables


def with_schema(schema: Any, **more: Any) -> dict[str, Any]:
    return {**EVENT, "dataschemaformat": "JSONSchema/draft-07", "dataschema": schema, **more}


def pounds() -> dict[str, Any]:
    """The schema with a weight in whole numbers, and with a new member."""
    schema: dict[str, Any] = json.loads(json.dumps(SCHEMA))
    schema["properties"] |= {"weight": {"type": "integer"}, "note": {"type": "string"}}
    return schema


def test_the_payload_and_its_table() -> None:
    (found,) = difference(
        messages(loaded=with_schema(SCHEMA)), messages(loaded=with_schema(pounds()))
    )
    assert (found.own, found.breaking, found.mode) == ((), True, "backward")
    assert any(one.backward == "breaking" and "weight" in one.message for one in found.payload)
    assert [(one.kind, one.column, one.breaking) for one in found.table] == [
        ("narrowed", "weight", True),
        ("added", "note", False),
    ]


def test_columns_of_placeholders_and_attributes() -> None:
    new = attributes(
        source={"value": "/airports/{iata}", "type": "uritemplate"}, priority={"type": "integer"}
    )
    (found,) = difference(messages(loaded=EVENT), messages(loaded=new))
    assert [(one.kind, one.column, one.new) for one in found.table] == [
        ("added", "ce_priority", "integer"),
        ("added", "ctx_iata", "string"),
        ("removed", "ctx_airport", None),
    ]
    assert found.breaking


def test_a_schema_that_is_gone() -> None:
    lost = {**EVENT, "dataschemaxid": SCHEMA_XID, "dataschemaformat": "JSONSchema/draft-07"}
    (found,) = difference(messages(loaded=with_schema(SCHEMA)), messages(loaded=lost))
    assert found.payload == (
        Change(
            rule="schema-lost",
            old=None,
            new=None,
            message="Payloads are no longer checked and land raw: the schema is not in the "
            f"catalog (the catalog has no schema {SCHEMA_XID}).",
            backward="safe",
            forward="undecided",
        ),
    )
    assert (
        ColumnChange(
            kind="added",
            column="_payload",
            old=None,
            new="binary",
            breaking=False,
            message="The table gets the column '_payload' (binary); "
            "rows already there have null in it.",
        )
        in found.table
    )


@pytest.mark.parametrize(
    ("old", "new", "rule", "backward", "forward"),
    [
        pytest.param(
            EVENT, with_schema(SCHEMA), "schema-gained", "breaking", "safe", id="a schema at last"
        ),
        pytest.param(
            with_schema({"type": 5}),
            with_schema(SCHEMA),
            "schema-gained",
            "undecided",
            "safe",
            id="a schema that compiles at last",
        ),
        pytest.param(
            with_schema(SCHEMA), EVENT, "schema-lost", "safe", "breaking", id="no schema any more"
        ),
        pytest.param(
            with_schema(SCHEMA),
            with_schema({"type": 5}),
            "schema-lost",
            "safe",
            "undecided",
            id="it does not compile",
        ),
        pytest.param(
            with_schema("a", dataschemaformat="Oops/1"),
            with_schema("b", dataschemaformat="Oops/1"),
            "schema-unreadable",
            "undecided",
            "undecided",
            id="a format nobody knows",
        ),
        pytest.param(
            with_schema({"type": 5}),
            with_schema("b", dataschemaformat="Oops/1"),
            "schema-unreadable",
            "undecided",
            "undecided",
            id="from bad to worse",
        ),
    ],
)
def test_schemas_that_cannot_be_compared(
    old: dict[str, Any], new: dict[str, Any], rule: str, backward: str, forward: str
) -> None:
    (found,) = difference(messages(loaded=old), messages(loaded=new))
    (change,) = found.payload
    assert (change.rule, change.backward, change.forward) == (rule, backward, forward)


# --- schemas of the catalog


def bags(schema: Any, *declared: str, compatibility: str = "", xid_: str = "bag") -> Catalog:
    """A catalog with one schema, and messages that refer to it."""
    one: dict[str, Any] = {"format": "JSONSchema/draft-07", "schema": schema}
    if compatibility:
        one = {"meta": {"compatibility": compatibility}, "versions": {"1": one}}
    refer = {**EVENT, "dataschemaxid": SCHEMA_XID, "dataschemaformat": "JSONSchema/draft-07"}
    whole = document(**dict.fromkeys(declared, refer))
    whole["schemagroups"] = {"luggage": {"schemas": {xid_: one}}}
    return catalog(whole)


def test_a_schema_that_no_definition_uses() -> None:
    (found,) = difference(bags(SCHEMA), bags(pounds()))
    assert (found.xid, found.entity, found.kind) == (SCHEMA_XID, "schema", "changed")
    assert [one.column for one in found.table] == ["weight", "note"]
    assert found.breaking


def test_a_schema_is_told_once_with_its_definition() -> None:
    found = difference(bags(SCHEMA, "loaded"), bags(pounds(), "loaded"))
    assert [(one.xid, one.entity) for one in found] == [(xid("loaded"), "message")]


def test_schemas_come_and_go() -> None:
    found = difference(bags(SCHEMA), bags(SCHEMA, xid_="case"))
    assert [(one.xid.rpartition("/")[2], one.kind, one.breaking) for one in found] == [
        ("case", "added", False),
        ("bag", "removed", True),
    ]


@pytest.mark.parametrize(
    ("stated", "given", "mode", "broken"),
    [
        pytest.param("", None, "backward", False, id="nothing said"),
        pytest.param("FULL", None, "full", True, id="the schema says"),
        pytest.param("forward_transitive", None, "forward_transitive", True, id="transitive"),
        pytest.param("forward", "Backward", "backward", False, id="the caller says"),
        pytest.param("oops", None, "backward", False, id="a word that is no mode"),
    ],
)
def test_the_mode_decides(stated: str, given: str | None, mode: str, broken: bool) -> None:
    # Readers of the old version refuse a longer tag; the table takes it.
    short = {"type": "object", "properties": {"tag": {"type": "string", "maxLength": 3}}}
    longer = {"type": "object", "properties": {"tag": {"type": "string", "maxLength": 9}}}
    old, new = (bags(one, "loaded", compatibility=stated) for one in (short, longer))
    (found,) = difference(old, new, given)
    assert (found.mode, found.breaking) == (mode, broken)


def test_a_mode_that_is_none() -> None:
    with pytest.raises(UsageError, match="'sideways' is not a compatibility: use one of backward"):
        difference(messages(), messages(), "sideways")


@given(st.lists(st.sampled_from(["one", "two", "three", "four"]), unique=True))
def test_equal_catalogs_do_not_differ(names: list[str]) -> None:
    whole = messages(**{name: with_schema(pounds()) for name in names})
    assert difference(whole, whole) == ()


@pytest.mark.parametrize("name", ["airport", "formats", "orders"])
def test_the_examples_do_not_differ_from_themselves(examples: Path, name: str) -> None:
    assert difference(load(examples / name), load(examples / name)) == ()


# --- the table is that of the warehouse

CLASHES: dict[str, Any] = {
    "type": "object",
    "properties": {"ce_id": {}, "CTX_airport": {}, "_batch": {}, "_payload": {}, "a.b": {}},
}


@pytest.mark.parametrize(
    "declared",
    [
        pytest.param(EVENT, id="no schema"),
        pytest.param(RECORD, id="no envelope"),
        pytest.param(with_schema(pounds()), id="schema"),
        pytest.param(with_schema(CLASHES), id="names that are taken"),
        pytest.param(with_schema({"type": "array"}), id="not a record"),
    ],
)
def test_columns_are_those_of_the_layout(declared: dict[str, Any]) -> None:
    layout = pytest.importorskip("heraldry.pipeline.lake.layout")
    whole = messages(loaded=declared)
    (found,) = definitions(whole)
    compiled = compile_definition(whole, found)
    schema = layout.layout_of(compiled, "default", keep_payload=False).schema
    system = set(layout.SYSTEM.names)
    expected = [(one.name, one.type) for one in schema if one.name not in system]

    def landed(column: Column) -> tuple[str, Any]:
        return column.name, layout.arrow_type(column.type)

    assert [landed(column) for column in table_columns(compiled)] == expected


def test_the_value_tells_what_is_undecided() -> None:
    (found,) = difference(
        messages(loaded=with_schema("a", dataschemaformat="Oops/1")),
        messages(loaded=with_schema("b", dataschemaformat="Oops/1")),
    )
    assert (found.breaking, found.undecided) == (False, True)


# --- Protobuf in JSON

BEFORE = "string tag = 1; Kind kind = 2;"


def telemetry(fields: str, kinds: str = "A = 0; B = 1;", content_type: str = "") -> Catalog:
    text = f'syntax = "proto3"; enum Kind {{ {kinds} }} message Bag {{ {fields} }}'
    more = {"datacontenttype": content_type} if content_type else {}
    return messages(loaded={**EVENT, "dataschemaformat": "Protobuf/3", "dataschema": text, **more})


@pytest.mark.parametrize(
    ("fields", "kinds", "rule", "backward", "forward"),
    [
        pytest.param(
            "string label = 1; Kind kind = 2;",
            "A = 0; B = 1;",
            "name-changed",
            "breaking",
            "breaking",
            id="a field is renamed",
        ),
        pytest.param(
            "string tag = 1;", "A = 0; B = 1;", "field-removed", "breaking", "safe", id="one goes"
        ),
        pytest.param(
            f"{BEFORE} int32 n = 3;",
            "A = 0; B = 1;",
            "field-added",
            "safe",
            "breaking",
            id="one comes",
        ),
        pytest.param(BEFORE, "A = 0;", "enum-value-removed", "breaking", "safe", id="a value goes"),
        pytest.param(
            BEFORE,
            "A = 0; B = 1; C = 2;",
            "enum-value-added",
            "safe",
            "breaking",
            id="a value comes",
        ),
        pytest.param(
            "bytes tag = 1; Kind kind = 2;",
            "A = 0; B = 1;",
            "type-changed",
            "undecided",
            "breaking",
            id="another spelling",
        ),
    ],
)
def test_names_count_where_protobuf_is_json(
    fields: str, kinds: str, rule: str, backward: str, forward: str
) -> None:
    pytest.importorskip("google.protobuf")
    kind = "application/json"
    (found,) = difference(telemetry(BEFORE, content_type=kind), telemetry(fields, kinds, kind))
    (change,) = [one for one in found.payload if one.rule == rule]
    assert (change.backward, change.forward) == (backward, forward)
    (found,) = difference(telemetry(BEFORE), telemetry(fields, kinds))
    (change,) = [one for one in found.payload if one.rule == rule]
    assert change.backward == "safe"
