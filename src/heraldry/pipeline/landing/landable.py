"""Whether the definitions of a catalog can have tables: asked before the catalog takes effect."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

from heraldry.errors import UsageError
from heraldry.messages.match import Matcher
from heraldry.model.inherit import definitions
from heraldry.pipeline.lake import delta
from heraldry.pipeline.lake.arrangement import made_column
from heraldry.pipeline.lake.fitting import landing_layouts
from heraldry.pipeline.lake.layout import TablePlan, refuse_shared_tables

if TYPE_CHECKING:
    from heraldry.model.catalog import Catalog
    from heraldry.model.xid import Xid
    from heraldry.pipeline.lake.storage import Storage

_NEAR = 3


def refuse_unlandable(
    catalog: Catalog, plan: TablePlan, storage: Storage, only: Collection[str] = ()
) -> None:
    """WarehouseError where definitions share a table, or a new one cannot be arranged as planned.

    By plan and catalog alone, but for a table whose definition has a column of a type that does
    not do: one that exists goes on as it is arranged. Nothing is written. Layouts are made only
    where the plan names columns, as most of the cost is theirs.
    """
    xids = _landing(catalog, only)
    roots = {xid: plan.root(catalog, xid) for xid in xids}
    refuse_shared_tables(storage.url, xids, plan.database, roots.__getitem__)
    if not _named(plan):
        return
    for layout in landing_layouts(Matcher(catalog), plan, xids):
        if not (layout.is_suited or storage.exists(f"{layout.path}/_delta_log")):
            layout.refuse_unsuited()


def refuse_unknown_columns(
    catalog: Catalog,
    plan: TablePlan,
    storage: Storage,
    only: Collection[str] = (),
    optional: Collection[str] = (),
    others: Iterable[TablePlan] = (),
) -> tuple[str, ...]:
    """UsageError where the plan names a column that no definition and no table of them has.

    What is found among the ``optional`` names is told instead; the tables of ``others`` count,
    too. To be asked as a job starts: what a definition has lost since then is no mistake of
    whoever named it.
    """
    wanted = _named(plan)
    if not wanted:
        return ()
    known: dict[str, str] = {}
    for names in _known(catalog, (plan, *others), storage, _landing(catalog, only)):
        known |= {name.lower(): name for name in names}
        if all(name.lower() in known for name in wanted):
            return ()
    told = []
    for name in wanted:
        if name.lower() in known:
            continue
        near = [known[one] for one in get_close_matches(name.lower(), known, n=_NEAR)]
        reason = f"no table has a column {name} to arrange its rows by"
        if name not in optional:
            advice = f"there is {', '.join(near)}" if near else "heraldry columns shows what it has"
            raise UsageError(reason, advice)
        told.append(reason)
    return tuple(told)


def _landing(catalog: Catalog, only: Collection[str]) -> list[Xid]:
    return [xid for xid in definitions(catalog) if not only or str(xid) in only]


def _known(
    catalog: Catalog, plans: Iterable[TablePlan], storage: Storage, xids: Sequence[Xid]
) -> Iterator[Iterable[str]]:
    """The columns of definitions, then, where that is not enough, those of their tables."""
    matcher, paths = Matcher(catalog), dict[str, None]()
    for plan in plans:
        for layout in landing_layouts(matcher, plan, xids):
            paths[layout.path] = None
            yield layout.schema.names
    for path in paths:
        yield _columns(storage, path)


def _named(plan: TablePlan) -> list[str]:
    """The columns of definitions that a plan names: a day or an hour all tables have."""
    names = (name for name in plan.partition_by if made_column(name) is None)
    return list(dict.fromkeys((*names, *plan.cluster_by)))


def _columns(storage: Storage, path: str) -> list[str]:
    """The columns of a table, where there is one."""
    table = delta.open_table(storage, path) if storage.exists(f"{path}/_delta_log") else None
    return [] if table is None else [found.name for found in table.schema().fields]
