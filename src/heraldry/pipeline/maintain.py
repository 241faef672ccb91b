"""Keeping a warehouse in order: small files made into few, and what nobody needs removed.

All of it is safe beside a running job. A compaction that meets another's commit is tried again,
then left for the next time. Of files that no table knows, those that a prepared batch will still
commit stay, and so does everything that is younger than a day: a running task may own it. Where
not every job can be asked what it will commit, all of them stay.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
from deltalake import ColumnProperties, DeltaTable, WriterProperties
from deltalake.exceptions import CommitFailedError, DeltaError

from heraldry.errors import UsageError, WarehouseError
from heraldry.pipeline.lake import delta
from heraldry.pipeline.lake.arrangement import Arrangement, partition_text
from heraldry.pipeline.lake.checkpoints import away, ledgers
from heraldry.pipeline.lake.ledger import Ledger
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.lake.tables import open_warehouse, table_paths
from heraldry.pipeline.landing.parquet import bounded_columns

RETENTION = 168.0
"""Hours that files of old versions are kept: a week."""
LONGEST_RETENTION = 876_000
"""The most hours that they can be kept: a hundred years."""
SAFE_AGE = timedelta(hours=24)
"""Files that no table knows are left alone so long."""
TARGET = 128 * 1024 * 1024
"""The size that files are made into."""

_TRIES = 3
_KEEP = 100
_TOLD = 5
_LONGEST = 60
"""How many partitions are told of one by one, and how much of a value."""
_BATCHES = "heraldry/batches"
_LOCK = "_checkpoint/maintain/lock"
_Partition = tuple[str | None, ...]
_Filter = tuple[str, str, Any]
_REMEMBERED = "delta.deletedFileRetentionDuration"
"""How long the log of a table tells of files that are out of it: a week, where nothing is said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Upkeep:
    """What is to be done, and for which tables; none named: all."""

    warehouse: str
    tables: tuple[str, ...] = ()
    checkpoints: tuple[str, ...] = ()
    compact: bool = True
    vacuum: bool = True
    retention: float = RETENTION
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What was done with one table, or would be; ``left`` says why something was not.

    ``compacted`` files became ``into``; ``removed`` files of old versions and ``unowned`` ones,
    which no version ever knew, had ``freed`` bytes.
    """

    table: str
    path: str
    compacted: int = 0
    into: int = 0
    removed: int = 0
    unowned: int = 0
    freed: int = 0
    left: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Maintained:
    """The tables that were looked after, and the manifests of past batches that went."""

    tables: tuple[Kept, ...]
    manifests: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Unfinished:
    """The files that batches will still commit; ``unknown`` are jobs that cannot be asked."""

    files: frozenset[str]
    unknown: tuple[str, ...]

    @classmethod
    def of(cls, known: Sequence[Ledger], unknown: Sequence[str]) -> _Unfinished:
        """What some ledgers tell."""
        manifests = [found for ledger in known if (found := ledger.pending()) is not None]
        files = (f"{file.table}/{file.name}" for one in manifests for file in one.files)
        return cls(files=frozenset(files), unknown=tuple(unknown))


def maintain(upkeep: Upkeep) -> Maintained:
    """Look after a warehouse; one at a time does, but a dry run may look on.

    Of two compactions of the same files delta-rs lets both commit: rows would be there twice.
    """
    if not 0 <= upkeep.retention <= LONGEST_RETENTION:
        told = f"files cannot be kept for {upkeep.retention:g} hours"
        raise UsageError(told, f"give a retention from 0 to {LONGEST_RETENTION:,} hours")
    storage = open_warehouse(upkeep.warehouse)
    if upkeep.dry_run:
        return _maintained(storage, upkeep)
    with storage.locked(_LOCK) as free:
        if not free:
            reason = "it is being maintained by another process"
            raise WarehouseError(storage.url, reason, "wait for it")
        return _maintained(storage, upkeep)


def _maintained(storage: Storage, upkeep: Upkeep) -> Maintained:
    known = ledgers(storage, upkeep.checkpoints)
    unfinished = _Unfinished.of(known, away(storage, upkeep.checkpoints))
    found = tuple(_tables(storage, upkeep, unfinished))
    missing = sorted(set(upkeep.tables) - {kept.table for kept in found})
    if missing:
        raise WarehouseError(storage.url, f"there is no table {', '.join(missing)}")
    tidied = sum(_tidy(ledger, dry_run=upkeep.dry_run) for ledger in known) if upkeep.vacuum else 0
    return Maintained(tables=found, manifests=tidied)


def _tables(storage: Storage, upkeep: Upkeep, unfinished: _Unfinished) -> Iterator[Kept]:
    own = (name for name in storage.names("") if name.startswith("_"))
    for path in (*own, *table_paths(storage)):
        known = storage.exists(f"{path}/_delta_log")
        table = delta.open_table(storage, path) if known else None
        if table is None:
            continue
        name = table.metadata().name or path
        if not upkeep.tables or name in upkeep.tables:
            yield _maintain(storage, upkeep, path, table, unfinished)


def _maintain(
    storage: Storage, upkeep: Upkeep, path: str, table: DeltaTable, unfinished: _Unfinished
) -> Kept:
    left: list[str] = []
    compacted = into = 0
    if not upkeep.dry_run:
        _remember(table, upkeep.retention)
    if upkeep.compact:
        due = _due(table)
        if upkeep.dry_run:
            compacted = sum(files for files, _ in due.values())
            into = sum(made for _, made in due.values())
        else:
            compacted, into, left = _compact(table, list(due))
    removed = unowned = freed = 0
    if upkeep.vacuum:
        old, lost = _removable(storage, path, table, upkeep.retention, unfinished.files)
        if lost and unfinished.unknown:
            left += [f"files without an owner stay ({len(lost):,}): {_unknown(unfinished)}"]
            lost = []
        removed, unowned = len(old), len(lost)
        if (old or lost) and not upkeep.dry_run:
            # delta-rs does not wait for the disk: what stands for these files must be there first.
            storage.settle()
        freed = _remove(storage, path, [*old, *lost], dry_run=upkeep.dry_run)
        if not upkeep.dry_run:
            table.cleanup_metadata()
    return Kept(
        table=table.metadata().name or path,
        path=storage.join(path),
        compacted=compacted,
        into=into,
        removed=removed,
        unowned=unowned,
        freed=freed,
        left="; ".join(left),
    )


def _remember(table: DeltaTable, retention: float) -> None:
    """Have a table's log tell of files that are out of it for as long as those are to be kept.

    What it has forgotten would be taken for files that no version ever knew. Who has said otherwise
    in their own words is left alone; where others are writing, the next time does.
    """
    hours, told = math.ceil(retention), table.metadata().configuration.get(_REMEMBERED)
    ours = re.fullmatch(r"interval (\d+) hours", told or f"interval {RETENTION:.0f} hours")
    if ours is not None and int(ours[1]) < hours:
        with suppress(CommitFailedError):
            table.alter.set_table_properties({_REMEMBERED: f"interval {hours} hours"})


def _due(table: DeltaTable) -> dict[_Partition, tuple[int, int]]:
    """The partitions that are compacted: how many files are made into how many.

    One with more than one small file asks for it. Files that are not put in an order are then made
    into fewer in the other partitions, too, where that can be done.
    """
    actions = pa.table(table.get_add_actions(flatten=True))
    names = table.metadata().partition_columns
    columns = [actions[f"partition.{name}"].to_pylist() for name in names]
    sizes: defaultdict[_Partition, list[int]] = defaultdict(list)
    for row, size in enumerate(actions["size_bytes"].to_pylist()):
        sizes[tuple(partition_text(column[row]) for column in columns)].append(size)
    due = {key: found for key, found in sizes.items() if _count_small(found) > 1}
    if _order(table):
        return {key: (len(found), math.ceil(sum(found) / TARGET)) for key, found in due.items()}
    runs = {key: _runs(found) for key, found in sizes.items()} if due else {}
    return {key: (sum(found), len(found)) for key, found in runs.items() if found}


def _count_small(sizes: Sequence[int]) -> int:
    return sum(size < TARGET // 2 for size in sizes)


def _runs(sizes: Sequence[int]) -> list[int]:
    """How many files each new one is made of, where their order stays: of neighbours."""
    runs, room = [0], TARGET
    for size in sizes:
        if size > room:
            runs.append(0)
            room = TARGET
        if size <= room:
            runs[-1] += 1
            room -= size
    return [run for run in runs if run > 1]


def _order(table: DeltaTable) -> list[str]:
    """The columns that files are ordered by; delta-rs does not order by those of partitions."""
    metadata = table.metadata()
    asked = Arrangement.read(metadata.configuration).cluster
    return [name for name in asked if name not in metadata.partition_columns]


def _compact(table: DeltaTable, due: Sequence[_Partition]) -> tuple[int, int, list[str]]:
    """Make few files of many: how many became how many, and what was left as it is, and why.

    At once where that can be, for each commit is read by whoever opens the table. Where it cannot,
    each partition for itself: one that cannot be compacted keeps no other from it.
    """
    done, left = [], []
    names = table.metadata().partition_columns
    for partitions, asked in _together(table, due):
        if len(partitions) > 1:
            try:
                done.append(_optimize(table, asked))
                continue
            except DeltaError:
                table.update_incremental()
        for partition in partitions:
            told = _compact_partition(table, dict(zip(names, partition, strict=True)))
            if isinstance(told, str):
                left.append(told)
            else:
                done.append(told)
    if len(left) > _TOLD:
        left[_TOLD:] = [f"{len(left) - _TOLD:,} more partitions not compacted"]
    return sum(files for files, _ in done), sum(made for _, made in done), left


def _together(
    table: DeltaTable, due: Sequence[_Partition]
) -> Iterator[tuple[Sequence[_Partition], list[_Filter]]]:
    """The partitions that one commit can hold, and the filter for them.

    Full files are left alone, so that all can be asked for; but where files are put in an order,
    every one is written again, and the filter must be for these partitions and no others.
    """
    if not _order(table):
        if due:
            yield due, []
        return
    names = table.metadata().partition_columns
    alike: defaultdict[tuple[_Partition, bool], list[_Partition]] = defaultdict(list)
    for partition in due:
        # No list of values takes null.
        alike[partition[:-1], partition[-1:] == (None,)].append(partition)
    for (first, _), partitions in alike.items():
        last = [one[-1] for one in partitions if one]
        asked = _filters(dict(zip(names, first, strict=False)))
        yield partitions, [*asked, *((name, "in", last) for name in names[-1:])]


def _filters(partition: Mapping[str, str | None]) -> list[_Filter]:
    """A filter for one partition; it takes an empty text for null, as the log does."""
    return [(name, "=", value or "") for name, value in partition.items()]


def _compact_partition(
    table: DeltaTable, partition: Mapping[str, str | None]
) -> tuple[int, int] | str:
    """Compact one partition in the order the table asks for: how many files became how many.

    A text says why it was left as it is.
    """
    place = "".join(f"{name}={(value or '')[:_LONGEST]} " for name, value in partition.items())
    for _ in range(_TRIES):
        try:
            return _optimize(table, _filters(partition))
        except CommitFailedError as error:
            why = f"{place}not compacted, others were writing: {_first_line(error)}"
            table.update_incremental()
        except DeltaError as error:
            return f"{place}not compacted: {_first_line(error)}"
    return why


def _optimize(table: DeltaTable, asked: list[_Filter]) -> tuple[int, int]:
    """Have delta-rs make few files of many, with bounds of the columns that a job tells them of."""
    bounded = bounded_columns(pa.schema(table.schema()))
    writing = WriterProperties(
        compression="ZSTD",
        default_column_properties=ColumnProperties(statistics_enabled="NONE"),
        column_properties={name: ColumnProperties(statistics_enabled="CHUNK") for name in bounded},
    )
    order, where = _order(table), asked or None
    if order:
        told = table.optimize.z_order(
            order, partition_filters=where, target_size=TARGET, writer_properties=writing
        )
    else:
        told = table.optimize.compact(
            partition_filters=where, target_size=TARGET, writer_properties=writing
        )
    return int(told["numFilesRemoved"]), int(told["numFilesAdded"])


def _removable(
    storage: Storage, path: str, table: DeltaTable, retention: float, pending: frozenset[str]
) -> tuple[list[str], list[str]]:
    """Files of versions that are over, and files that no version knows and nobody will commit."""

    def listed(*, everything: bool) -> set[str]:
        hours = math.ceil(retention)  # delta-rs takes whole ones: never fewer than were promised
        return set(
            table.vacuum(
                retention_hours=hours,
                dry_run=True,
                enforce_retention_duration=False,
                full=everything,
            )
        )

    old = listed(everything=False)
    limit = datetime.now(UTC) - max(SAFE_AGE, timedelta(hours=retention))
    lost = [
        name
        for name in sorted(listed(everything=True) - old)
        if f"{path}/{name}" not in pending
        and (found := storage.stat(f"{path}/{name}")) is not None
        and found.modified < limit
    ]
    return sorted(name for name in old if storage.size(f"{path}/{name}") is not None), lost


def _remove(storage: Storage, path: str, names: Sequence[str], *, dry_run: bool) -> int:
    """Remove files: the bytes they had."""
    freed = 0
    for name in names:
        freed += storage.size(f"{path}/{name}") or 0
        if not dry_run:
            storage.delete(f"{path}/{name}")
    return freed


def _unknown(unfinished: _Unfinished) -> str:
    """Why nobody can tell whether files have an owner."""
    places = ", ".join(unfinished.unknown)
    return f"a job that may yet commit them cannot be asked: there is no checkpoint at {places}"


def _tidy(ledger: Ledger, *, dry_run: bool) -> int:
    """Forget the manifests of batches long past."""
    names = [name for name in ledger.storage.names(_BATCHES) if name.endswith(".json")]
    old = names[:-_KEEP]
    for name in old:
        if not dry_run:
            ledger.storage.delete(f"{_BATCHES}/{name}")
    return len(old)


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0]
