"""How the rows of all that land in one table are arranged: as asked, or as the table has it.

A table has one arrangement, whatever its definitions have. It keeps its partitions for ever, while
its definitions gain, lose and retype columns: that is told. What contradicts a table from its
beginning on is a mistake of whoever asks for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from heraldry.errors import WarehouseError
from heraldry.pipeline.lake.arrangement import Arrangement, made_column
from heraldry.pipeline.lake.layout import SYSTEM, TableLayout, TablePlan


def arranged(
    plan: TablePlan, layouts: Sequence[TableLayout], renames: Mapping[str, Mapping[str, str]]
) -> Arrangement:
    """One arrangement for all layouts of a table, under the table's names, in the plan's order.

    A column is that of the first layout which has it. Rows of the others have null in it.
    """
    partitions: dict[str, tuple[str, str]] = {}
    cluster: dict[str, str] = {}
    for one in layouts:
        names = renames[one.definition]
        for name, kind in one.arrangement.partitions:
            partitions.setdefault(name.lower(), (names.get(name, name), kind))
        for name in one.arrangement.cluster:
            cluster.setdefault(name.lower(), names.get(name, name))
    by, order = _asked(plan.partition_by), _asked(plan.cluster_by)
    return Arrangement(
        tuple(partitions[name] for name in by if name in partitions),
        tuple(cluster[name] for name in order if name in cluster),
    )


def differences(
    own: Arrangement, asked: Arrangement, layouts: Sequence[TableLayout]
) -> Iterator[str]:
    """What a table that exists does not do of what was asked."""
    table = ".".join(layouts[0].name)
    known = {name.lower() for name in own.names}
    missing = [name for name in asked.names if name.lower() not in known]
    if missing:
        has = f"its partitions by {', '.join(own.names)}" if own.partitions else "no partitions"
        yield f"{table} keeps {has}: its rows are not divided by {', '.join(missing)}"
    for reason in dict.fromkeys(one.unsuited[0] for one in layouts if one.unsuited[0]):
        yield f"{table} stays arranged as it is: {reason}"


def refuse_contradiction(
    place: str, plan: TablePlan, columns: Sequence[str], own: Arrangement, asked: Arrangement
) -> None:
    """WarehouseError where a table could have been made as is asked, and was made otherwise.

    No contradiction are partitions by a column that the table, with these columns, has gained
    since it was made, or that its definitions have no more: the same plan may have made it.
    """
    has, wanted = ([name.lower() for name in one.names] for one in (own, asked))
    others = set(has) - set(wanted) - set(_asked(plan.partition_by))
    missed = (set(wanted) - set(has)) & _first_columns(columns)
    moved = [name for name in has if name in wanted] != [name for name in wanted if name in has]
    if wanted and (others or missed or moved):
        told = f"is partitioned by {', '.join(own.names)}" if has else "has no partitions"
        reason = f"the table {told}, and was asked to be by {', '.join(asked.names)}"
        advice = "leave out --partition-by, or land into another --database or warehouse"
        raise WarehouseError(place, reason, advice)


def _first_columns(columns: Sequence[str]) -> set[str]:
    """The columns that a table could have had partitions by as it was made, in lower case.

    It is made with those of the system last; what it gains comes behind them.
    """
    names = [name.lower() for name in columns]
    start = names.index(SYSTEM.names[0]) if SYSTEM.names[0] in names else 0
    made = {name for told in ("day", "hour") if (name := made_column(told)) is not None}
    return {*names[:start], *SYSTEM.names, *made}


def _asked(names: Sequence[str]) -> list[str]:
    """The columns that a plan names, in lower case, each once."""
    return list(dict.fromkeys((made_column(name) or name).lower() for name in names))
