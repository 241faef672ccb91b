"""Whether the definitions of a catalog can have tables, by plan and catalog alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from heraldry.dialects.load import load_bytes
from heraldry.errors import WarehouseError
from heraldry.model.catalog import Catalog
from heraldry.pipeline.lake.layout import TablePlan
from heraldry.pipeline.landing.landable import refuse_unlandable

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
    refuse_unlandable(found, plan, str(tmp_path / "lake"), only)
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
        refuse_unlandable(found, plan, str(tmp_path / "lake"))
    assert told in str(refused.value)
    assert not (tmp_path / "lake").exists()
