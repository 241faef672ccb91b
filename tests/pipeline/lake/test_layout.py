"""Where a definition lands, and in which columns."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heraldry.dialects.load import load_bytes
from heraldry.errors import WarehouseError
from heraldry.messages.judge import Judge
from heraldry.model.xid import Xid
from heraldry.pipeline.lake.arrangement import Arrangement
from heraldry.pipeline.lake.layout import (
    Fit,
    TableLayout,
    TablePlan,
    arrow_type,
    layout_of,
    path_part,
    refuse_shared_tables,
    root_of,
)
from heraldry.schemas.columns import Column, ListOf, Scalar, Struct
from tests.suites.streams import WIDE, document, kind, record, xid

TEXT = {"type": "string"}


def layout(message: str, catalog: bytes = WIDE, *, keep_payload: bool = False) -> TableLayout:
    compiled = Judge(load_bytes(catalog, "catalog")).compiled(xid(message))
    return layout_of(compiled, "lake", keep_payload=keep_payload)


def of_members(*names: str, **more: Any) -> TableLayout:
    one = kind("one", record(**dict.fromkeys(names, TEXT)), **more)
    return layout("one", document({"one": dict(one.definition)}))


def test_table_says_what_it_is_of() -> None:
    found = layout("order")
    assert found.name == ("lake", "shop", "order")
    assert found.path == "lake/shop/order"
    assert found.configuration == {
        "heraldry.definition": xid("order"),
        "heraldry.name": json.dumps(["lake", "shop", "order"]),
        "heraldry.columns": json.dumps({"ce_extensions": "attributes.*"}),
    }


def test_columns_of_a_table() -> None:
    names = layout("order").schema.names
    assert names[:4] == ["id", "total", "count", "paid"]
    assert [name for name in names if name.startswith("ctx_")] == ["ctx_shop", "ctx_order"]
    assert names[-6:] == ["_definition", "_version", "_batch", "_source", "_position", "_received"]
    assert {"ce_id", "ce_source", "ce_type", "ce_time", "ce_extensions"} < set(names)


def test_types_of_columns() -> None:
    schema = layout("order").schema
    line = pa.struct([("sku", pa.string()), ("qty", pa.int64()), ("price", pa.float64())])
    assert schema.field("placed").type == pa.timestamp("us", "UTC")
    assert schema.field("day").type == pa.date32()
    assert schema.field("lines").type == pa.list_(line)
    assert schema.field("ce_time").type == pa.timestamp("us", "UTC")
    assert all(field.nullable for field in schema)


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (Scalar("string"), pa.string()),
        (Scalar("binary"), pa.binary()),
        (Scalar("json"), pa.string()),
        (Scalar("boolean"), pa.bool_()),
        (ListOf(Column(name="element", key="", type=Scalar("date"))), pa.list_(pa.date32())),
        (
            Struct((Column(name="a_b", key="a b", type=Scalar("integer")),)),
            pa.struct([("a_b", pa.int64())]),
        ),
    ],
    ids=["string", "binary", "json", "boolean", "list", "record"],
)
def test_arrow_types(column: Any, expected: pa.DataType) -> None:
    assert arrow_type(column) == expected


@pytest.mark.parametrize(
    ("message", "keep", "kept"),
    [
        ("order", False, False),
        ("order", True, True),
        ("raw", False, True),
        ("dangling", False, True),
    ],
    ids=["schema", "by option", "no schema", "dangling schema"],
)
def test_payload_is_kept(message: str, keep: bool, kept: bool) -> None:
    found = layout(message, keep_payload=keep)
    assert found.keeps_payload is kept
    assert ("_payload" in found.schema.names) is kept


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        (["ce_id"], ["ce_id_2"]),
        (["CE_ID"], ["CE_ID_2"]),
        (["_batch"], ["_batch_2"]),
        (["_payload"], ["_payload_2"]),
        (["ctx_shop"], ["ctx_shop_2"]),
        (["ce_id", "ce_id_2"], ["ce_id_2", "ce_id_2_2"]),
        (["a b", "A_B"], ["a_b", "A_B_2"]),
    ],
    ids=["envelope", "case", "system", "payload", "placeholder", "taken too", "among members"],
)
def test_members_give_way(members: list[str], expected: list[str]) -> None:
    assert [name for _, name in of_members(*members).payload] == expected


def test_placeholders_keep_their_names_apart() -> None:
    found = of_members("name", source="{shop}/{Shop}")
    assert found.placeholders == (("shop", "ctx_shop"), ("Shop", "ctx_Shop_2"))


@pytest.mark.parametrize("message", ["order", "odd", "inner", "choice", "extended", "raw"])
def test_names_are_unique_ignoring_case(message: str) -> None:
    names = [name.lower() for name in layout(message, keep_payload=True).schema.names]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ("orders", "orders"),
        ("a.b-c~d", "a.b-c~7Ed"),
        ("a/b", "a~2Fb"),
        ("a b:c@d", "a~20b~3Ac@d"),
        ("100%", "100~25"),
        ("_orders", "~5Forders"),
        ("a_b", "a_b"),
        (".", "~2E"),
        ("..", "~2E~2E"),
        ("ü", "~C3~BC"),
    ],
    ids=["plain", "safe", "slash", "reserved", "percent", "ours", "inside", "dot", "dots", "utf-8"],
)
def test_folders(part: str, expected: str) -> None:
    assert path_part(part) == expected


@given(st.text(min_size=1, max_size=10), st.text(min_size=1, max_size=10))
def test_folders_are_safe_and_tell_parts_apart(one: str, other: str) -> None:
    folder = path_part(one)
    assert "/" not in folder
    assert folder not in (".", "..")
    assert not folder.startswith("_")
    assert (folder == path_part(other)) == (one == other)


def test_two_definitions_must_not_share_a_table() -> None:
    xids = [
        Xid.parse(f"/{groups}/Shop/messages/order") for groups in ("endpoints", "messagegroups")
    ]
    with pytest.raises(WarehouseError, match=r"would land in the same table lake\.shop\.order"):
        refuse_shared_tables("warehouse", xids, "lake")
    refuse_shared_tables("warehouse", xids[:1], "lake")
    refuse_shared_tables("warehouse", xids, "lake", lambda xid: xids[0])


def based(**bases: str) -> bytes:
    """A catalog of messages with these bases."""
    told = {
        name: dict(kind(name).definition) | ({"basemessage": base} if base else {})
        for name, base in bases.items()
    }
    return document(told)


@pytest.mark.parametrize(
    ("bases", "root"),
    [
        ({"one": ""}, "one"),
        ({"one": "two", "two": ""}, "two"),
        ({"one": "two", "two": "three", "three": ""}, "three"),
        ({"one": "two/versions/1", "two": ""}, "two"),
        ({"one": "none"}, "one"),
        ({"one": "two", "two": "none"}, "two"),
        ({"one": "https://example.com/messages/x"}, "one"),
        ({"one": "two", "two": "one"}, "one"),
        ({"one": "one"}, "one"),
    ],
    ids=[
        "none",
        "base",
        "base of a base",
        "a version",
        "dangling",
        "dangling end",
        "elsewhere",
        "circle",
        "itself",
    ],
)
def test_roots(bases: dict[str, str], root: str) -> None:
    told = {name: base if "://" in base or not base else xid(base) for name, base in bases.items()}
    catalog = load_bytes(based(**told), "catalog")
    assert str(root_of(catalog, Xid.parse(xid("one")))) == xid(root)


def test_a_base_in_another_group() -> None:
    one = dict(kind("one").definition) | {"basemessage": "/endpoints/e/messages/two"}
    catalog = json.loads(document({"one": one}))
    catalog["endpoints"] = {"e": {"messages": {"two": dict(kind("two").definition)}}}
    loaded = load_bytes(json.dumps(catalog).encode(), "catalog")
    plan = TablePlan(database="lake", with_base=True)
    found = plan.layout(loaded, Judge(loaded).compiled(xid("one")))
    assert found.name == ("lake", "e", "two")
    assert found.definition == xid("one")
    assert found.configuration["heraldry.definition"] == "/endpoints/e/messages/two"


def arranged(*members: str, **plan: Any) -> TableLayout:
    catalog = load_bytes(
        document({"one": dict(kind("one", record(**dict.fromkeys(members, TEXT))).definition)}),
        "catalog",
    )
    return TablePlan(database="lake", **plan).layout(catalog, Judge(catalog).compiled(xid("one")))


def test_partitions_take_their_names() -> None:
    found = arranged("_day", "_DAY", "a", partition_by=("day", "A", "none"), cluster_by=("a",))
    assert found.arrangement == Arrangement((("_day", "date"), ("a", "string")), ("a",))
    assert [name for _, name in found.payload] == ["_day_3", "_DAY_2", "a"]
    assert json.loads(found.configuration["heraldry.partition"]) == {"_day": "date", "a": "string"}
    assert json.loads(found.configuration["heraldry.cluster"]) == ["a"]


@pytest.mark.parametrize(
    ("plan", "told"),
    [
        ({"partition_by": ("many",)}, "cannot be partitioned by many"),
        ({"partition_by": ("ce_time",)}, "cannot be partitioned by ce_time"),
        ({"cluster_by": ("many",)}, "cannot be ordered by many"),
    ],
    ids=["list", "instant", "order"],
)
def test_columns_that_arrange_nothing(plan: dict[str, Any], told: str) -> None:
    """A new table cannot be made; one that exists goes on as it is arranged."""
    listed = record(many={"type": "array", "items": TEXT})
    catalog = load_bytes(document({"one": dict(kind("one", listed).definition)}), "catalog")
    found = TablePlan(**plan).layout(catalog, Judge(catalog).compiled(xid("one")))
    assert found.arrangement == Arrangement()
    with pytest.raises(WarehouseError, match=told):
        found.refuse_unsuited()
    found.fitted(Fit(arrangement=Arrangement((("a", "string"),)))).refuse_unsuited()


def test_rows_are_stored_under_the_names_of_the_table() -> None:
    found = layout("order").fitted(Fit(renames={"id": "id_2"}))
    row = {"id": "x", "_received": datetime(2026, 11, 16, 8, tzinfo=UTC)}
    table = found.stored(pa.Table.from_pylist([row], schema=found.schema))
    assert table.column_names[:2] == ["id_2", "total"]
    assert table.num_columns == len(found.schema)


def test_day_and_hour_are_those_of_the_message() -> None:
    found = arranged("a", partition_by=("day", "hour"))
    received = datetime(2026, 11, 16, 8, 30, tzinfo=UTC)
    rows = [
        {"ce_time": time, "_received": received}
        for time in (datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC), None)
    ]
    table = found.stored(pa.Table.from_pylist(rows, schema=found.schema))
    assert table["_day"].to_pylist() == [date(1969, 12, 31), date(2026, 11, 16)]
    assert table["_hour"].to_pylist() == ["1969-12-31T23", "2026-11-16T08"]
