"""Whether the definitions of a catalog can have tables: asked before the catalog takes effect."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import pyarrow as pa

from heraldry.messages.match import Matcher
from heraldry.model.inherit import definitions
from heraldry.pipeline.lake.arrangement import Arrangement
from heraldry.pipeline.lake.layout import TablePlan, refuse_shared_tables

if TYPE_CHECKING:
    from heraldry.model.catalog import Catalog

_NO_COLUMNS = pa.schema([])


def refuse_unlandable(
    catalog: Catalog, plan: TablePlan, warehouse: str, only: Collection[str] = ()
) -> None:
    """WarehouseError where definitions share a table, or a table cannot be arranged as planned.

    By plan and catalog alone: nothing of the warehouse is read or written. Layouts are made only
    where the plan names columns, as most of the cost is theirs.
    """
    xids = [xid for xid in definitions(catalog) if not only or str(xid) in only]
    roots = {xid: plan.root(catalog, xid) for xid in xids}
    refuse_shared_tables(warehouse, xids, plan.database, roots.__getitem__)
    if not _names_columns(plan):
        return
    matcher = Matcher(catalog)
    for xid in map(str, xids):
        # One that is its own base, or that no message can be of, lands nothing.
        if xid in matcher.positions and (one := matcher.definition(xid)).unusable is None:
            plan.layout(catalog, one)


def _names_columns(plan: TablePlan) -> bool:
    """Whether rows are arranged by columns of their definitions: a day or an hour all have."""
    made = (Arrangement.of((one,), (), _NO_COLUMNS, "").made for one in plan.partition_by)
    return bool(plan.cluster_by) or not all(made)
