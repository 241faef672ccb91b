"""A consistent cut: which version of each table to read, so that every batch is whole or not there.

A batch commits to each of its tables in turn and then to the batch ledger. A version of a table
holds the batches that its log has transaction identifiers of, whoever committed and whatever
maintenance has done since. So each table is read as it is now, or as it was before the first batch
that the ledger does not know; what others have committed there since is then left out of their
other tables, too.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from heraldry.errors import WarehouseError
from heraldry.pipeline.lake import delta
from heraldry.pipeline.lake.checkpoints import ledgers
from heraldry.pipeline.lake.plans import kept_plans
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.lake.tables import open_warehouse
from heraldry.pipeline.landing.batches import batches

_NONE = -1
_COLUMNS = ("job", "batch", "tables")

Recorded = Mapping[str, Mapping[str, Collection[int]]]
"""The batches of each job that a table's path has, by the ledger."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableVersion:
    """The version of a table that belongs to a cut; tables without a name are named by path."""

    table: str
    path: str
    version: int


def cut(warehouse: str) -> tuple[TableVersion, ...]:
    """The newest consistent cut of a warehouse, by table.

    Every batch of a job, and of a replay, is in all of its tables at these versions or in none; one
    that the ledger does not know is in none. A table that would have nothing else is left out.
    """
    storage = open_warehouse(warehouse)
    # In this order: what is recorded has its commits, and who commits has told its name before.
    last, recorded = _recorded(storage)
    opened = {path: delta.open_table(storage, path) for path in sorted(recorded)}
    found = {path: table for path, table in opened.items() if table is not None}
    jobs = {*last, *kept_plans(storage), *(ledger.job for ledger in ledgers(storage))}
    newest = {path: _held(table, jobs) for path, table in found.items()}
    names = {path: table.metadata().name or path for path, table in found.items()}
    held = dict(newest)
    while True:
        for path, table in list(found.items()):
            held[path] = _go_back(storage.join(path), table, held[path], last)
            if not held[path]:
                del found[path]
        lacking = {path: _lacking(recorded[path], newest[path], held[path], last) for path in held}
        if not any(lacking.values()):
            break
        for first in lacking.values():
            last |= {job: min(last[job], batch - 1) for job, batch in first.items()}
    return tuple(
        TableVersion(table=names[path], path=storage.join(path), version=table.version())
        for path, table in sorted(found.items())
    )


def _recorded(storage: Storage) -> tuple[dict[str, int], Recorded]:
    """The last batch of each job in the ledger, and the batches that each table has."""
    last: dict[str, int] = {}
    found: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for row in batches(storage).select(_COLUMNS).to_pylist():
        job, batch = row["job"], row["batch"]
        last[job] = max(batch, last.get(job, _NONE))
        for path in json.loads(row["tables"]):
            found[path][job].append(batch)
    return last, found


def _held(table: DeltaTable, jobs: Collection[str]) -> dict[str, int]:
    """The last batch of each job that a version of a table holds."""
    told = ((job, table.transaction_version(job)) for job in jobs)
    return {job: batch for job, batch in told if batch is not None}


def _go_back(
    path: str, table: DeltaTable, held: Mapping[str, int], last: Mapping[str, int]
) -> dict[str, int]:
    """Take a table to its newest version without batches after the last ones: what that holds.

    Nothing, where there is no such version, or only one without rows of any batch.
    """
    jobs = list(held)
    found = dict(held)
    while any(batch > last.get(job, _NONE) for job, batch in found.items()):
        if not table.version():
            return {}
        try:
            table.load_as_version(table.version() - 1)
        except DeltaError as error:
            reason = "the versions before a batch that was not finished are gone"
            raise WarehouseError(path, reason, "run the job that was stopped") from error
        found = _held(table, jobs)
    return found


def _lacking(
    recorded: Mapping[str, Collection[int]],
    newest: Mapping[str, int],
    held: Mapping[str, int],
    last: Mapping[str, int],
) -> dict[str, int]:
    """The first batch of each job that a table has, and not in the version of the cut.

    A table that was moved away and made anew has nothing of what it had before, in any version.
    """
    found: dict[str, int] = {}
    for job, numbers in recorded.items():
        end = min(last[job], newest.get(job, _NONE))
        after = [number for number in numbers if held.get(job, _NONE) < number <= end]
        if after:
            found[job] = min(after)
    return found
