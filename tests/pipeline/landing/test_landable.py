"""Whether the definitions of a catalog can have tables, by plan and catalog alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from heraldry.dialects.load import load_bytes
from heraldry.errors import UsageError, WarehouseError
from heraldry.messages.judge import Judge
from heraldry.model.catalog import Catalog
from heraldry.pipeline.lake import delta
from heraldry.pipeline.lake.layout import TablePlan
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.landing.landable import refuse_unknown_columns, refuse_unlandable

ORDERS = "/messagegroups/orders/messages"


def message(name: str, **more: Any) -> dict[str, Any]:
    return {
        "messageid": name,
        "envelope": "CloudEvents/1.0",
        "envelopemetadata": {"type": {"value": name}},
        **more,
    }


def typed(name: str, **kinds: str) -> dict[str, Any]:
    columns = {key: {"type": kind, "items": {"type": "string"}} for key, kind in kinds.items()}
    schema = {"type": "object", "properties": columns}
    return message(name, dataschemaformat="JsonSchema/draft-07", dataschema=schema)


def catalog(*messages: dict[str, Any], beside: dict[str, Any] | None = None) -> Catalog:
    """A message group, and an endpoint of the same id with a message of its own."""
    group = {"messagegroupid": "orders", "messages": {one["messageid"]: one for one in messages}}
    document: dict[str, Any] = {"specversion": "1.0-rc2", "messagegroups": {"orders": group}}
    if beside is not None:
        own = {"endpointid": "orders", "usage": ["producer"], "messages": {"Placed": beside}}
        document["endpoints"] = {"orders": own}
    return load_bytes(json.dumps(document).encode(), "orders")


PLACED = typed("placed", shop="string", total="number")
CIRCULAR = typed("round", total="number") | {"basemessage": f"{ORDERS}/round"}
UNKNOWN = typed("strange", total="number") | {"envelope": "Letters/1.0"}


BESIDE = message("Placed")


@pytest.mark.parametrize(
    ("found", "plan", "only"),
    [
        pytest.param(catalog(PLACED, typed("paid")), TablePlan(), (), id="tables of their own"),
        pytest.param(
            catalog(PLACED, beside=BESIDE), TablePlan(), (f"{ORDERS}/placed",), id="only one of two"
        ),
        pytest.param(
            catalog(PLACED, beside=BESIDE | {"basemessage": f"{ORDERS}/placed"}),
            TablePlan(with_base=True),
            (),
            id="variants of one base",
        ),
        pytest.param(
            catalog(PLACED, typed("paid")),
            TablePlan(partition_by=("day", "SHOP", "none"), cluster_by=("total",)),
            (),
            id="columns that will do",
        ),
        pytest.param(
            catalog(CIRCULAR, UNKNOWN), TablePlan(partition_by=("total",)), (), id="never lands"
        ),
    ],
)
def test_what_can_be_landed(
    found: Catalog, plan: TablePlan, only: tuple[str, ...], tmp_path: Path
) -> None:
    refuse_unlandable(found, plan, Storage(str(tmp_path / "lake")), only)
    assert not (tmp_path / "lake").exists()


@pytest.mark.parametrize(
    ("found", "plan", "told"),
    [
        pytest.param(
            catalog(PLACED, beside=BESIDE),
            TablePlan(),
            "would land in the same table default.orders.placed (select one of them with",
            id="one table for two",
        ),
        pytest.param(
            catalog(PLACED),
            TablePlan(partition_by=("day", "total")),
            "default.orders.placed: rows cannot be partitioned by total, which is double",
            id="partitions",
        ),
        pytest.param(
            catalog(typed("placed", tags="array")),
            TablePlan(cluster_by=("tags",)),
            "default.orders.placed: rows cannot be ordered by tags",
            id="order",
        ),
    ],
)
def test_what_cannot_be_landed(found: Catalog, plan: TablePlan, told: str, tmp_path: Path) -> None:
    with pytest.raises(WarehouseError) as refused:
        refuse_unlandable(found, plan, Storage(str(tmp_path / "lake")))
    assert told in str(refused.value)
    assert not (tmp_path / "lake").exists()


def make(storage: Storage, found: Catalog, plan: TablePlan) -> None:
    """The table of placed orders, as a first batch would make it."""
    one = plan.layout(found, Judge(found).matcher.definition(f"{ORDERS}/placed"))
    delta.create_table(storage, one.path, one.schema, one.configuration)


@pytest.mark.parametrize(
    ("plan", "changed"),
    [
        pytest.param(TablePlan(partition_by=("shop",)), "number", id="partitions"),
        pytest.param(TablePlan(cluster_by=("shop",)), "array", id="order"),
    ],
)
def test_a_table_that_exists_goes_on(plan: TablePlan, changed: str, tmp_path: Path) -> None:
    storage, found = Storage(str(tmp_path)), catalog(typed("placed", shop=changed))
    with pytest.raises(WarehouseError, match="by shop, which is"):
        refuse_unlandable(found, plan, storage)
    make(storage, catalog(typed("placed", shop="string")), plan)
    refuse_unlandable(found, plan, storage)
    with pytest.raises(WarehouseError, match=r"default\.orders\.paid: rows cannot be"):
        refuse_unlandable(catalog(typed("paid", shop=changed)), plan, storage)


@pytest.mark.parametrize(
    "plan",
    [
        pytest.param(TablePlan(), id="nothing named"),
        pytest.param(TablePlan(partition_by=("day", "_hour")), id="day and hour"),
        pytest.param(TablePlan(partition_by=("SHOP",), cluster_by=("ce_id", "_source")), id="any"),
        pytest.param(TablePlan(cluster_by=("former",)), id="in a table only"),
    ],
)
def test_columns_that_some_table_has(plan: TablePlan, tmp_path: Path) -> None:
    storage = Storage(str(tmp_path))
    make(storage, catalog(typed("placed", former="string")), TablePlan())
    assert refuse_unknown_columns(catalog(PLACED, typed("paid")), plan, storage) == ()


def test_columns_of_the_tables_of_other_plans(tmp_path: Path) -> None:
    storage, found = Storage(str(tmp_path)), catalog(PLACED)
    for name in ("berlin", "lisbon"):
        make(storage, catalog(typed("placed", **{name: "string"})), TablePlan(database=name))
    plan = TablePlan(partition_by=("berlin", "shop"), cluster_by=("lisbon",))
    others = [TablePlan(database="berlin"), TablePlan(database="lisbon")]
    assert refuse_unknown_columns(found, plan, storage, others=others) == ()
    with pytest.raises(UsageError, match="a column lisbon to arrange its rows by"):
        refuse_unknown_columns(found, plan, storage, others=others[:1])


@pytest.mark.parametrize(
    ("plan", "only", "told"),
    [
        pytest.param(
            TablePlan(partition_by=("day", "shpo")),
            (),
            "no table has a column shpo to arrange its rows by: there is shop",
            id="misspelled partitions",
        ),
        pytest.param(
            TablePlan(cluster_by=("shop", "qqqq")),
            (),
            "a column qqqq to arrange its rows by: heraldry columns shows what it has",
            id="nothing near",
        ),
        pytest.param(
            TablePlan(cluster_by=("shop",)), (f"{ORDERS}/paid",), "a column shop", id="not selected"
        ),
    ],
)
def test_columns_that_nothing_has(
    plan: TablePlan, only: tuple[str, ...], told: str, tmp_path: Path
) -> None:
    storage, found = Storage(str(tmp_path / "lake")), catalog(PLACED, typed("paid"))
    with pytest.raises(UsageError) as refused:
        refuse_unknown_columns(found, plan, storage, only)
    assert told in str(refused.value)
    names = (*plan.partition_by, *plan.cluster_by)
    (event,) = refuse_unknown_columns(found, plan, storage, only, names)
    assert str(refused.value).startswith(event)
    assert not (tmp_path / "lake").exists()
