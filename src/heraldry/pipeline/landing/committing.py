"""Deciding a batch, then committing it: every table once, its row in the batch ledger, done."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from heraldry.errors import WarehouseError
from heraldry.pipeline.lake.commits import Committer
from heraldry.pipeline.lake.data_file import DataFile
from heraldry.pipeline.lake.ledger import Ledger, Manifest, ManifestFile
from heraldry.pipeline.landing import batches

_COMMITTERS = 8
_JUDGED = 3
T = TypeVar("T")


def until_decided(warehouse: str, judge: Callable[[], T | None]) -> T:
    """What judging a batch gave that was decided.

    It gives None where somebody else has made a table meanwhile. Each time all tables of the batch
    are there afterwards, so that hardly ever more than a second time is needed.
    """
    for _ in range(_JUDGED):
        found = judge()
        if found is not None:
            return found
    reason = f"tables of a batch were made otherwise by others, {_JUDGED} times while it was judged"
    raise WarehouseError(warehouse, reason, "run again")


def decide(
    committer: Committer, ledger: Ledger, manifest: Manifest, known: Collection[str]
) -> bool:
    """Write the manifest of a batch, once nothing that it rests on can be lost by a power cut.

    Those are its files and its tables, and in the checkpoint the offsets that Spark has planned it
    by: planned anew it would have other messages, and the manifest would stand for them. False
    where nothing is decided, as somebody has made one of the tables that were not ``known`` when
    the batch was judged: its rows may not be for that table.
    """
    if not _make_tables(committer, manifest, known):
        return False
    committer.storage.settle()
    ledger.storage.settle()
    ledger.prepare(manifest)
    return True


def commit_manifest(committer: Committer, ledger: Ledger, manifest: Manifest) -> Mapping[str, int]:
    """Commit every table of a batch; done ones are skipped by their transaction log.

    The result is the version of each table that holds the batch, by the table's path.
    """
    ledger.confirm(manifest)
    files: dict[str, list[DataFile]] = {path: [] for path in manifest.tables}
    for file in manifest.files:
        files[file.table].append(_data_file(file))
    with ThreadPoolExecutor(_COMMITTERS) as pool:
        versions = pool.map(
            lambda path: _commit_table(committer, manifest, path, files[path]), manifest.tables
        )
        found = dict(zip(manifest.tables, versions, strict=True))
    batches.record(committer, manifest, found)
    committer.storage.settle()  # a batch that is done is never looked at again
    ledger.commit(manifest)
    return found


def _make_tables(committer: Committer, manifest: Manifest, known: Collection[str]) -> bool:
    """Make the tables of a batch that nobody had when it was judged: whether they are for it."""
    first = {file.table: file for file in reversed(manifest.files) if file.table not in known}
    # The warehouse's own have the same columns for everybody.
    paths = [path for path in first if not path.startswith("_")]
    told = [(path, manifest.tables[path], _data_file(first[path])) for path in paths]
    with ThreadPoolExecutor(_COMMITTERS) as pool:
        if any(list(pool.map(lambda one: committer.draft(*one), told))):
            committer.storage.settle()
        return all(list(pool.map(lambda one: committer.make(*one), told)))


def _data_file(file: ManifestFile) -> DataFile:
    return DataFile(
        name=file.name,
        rows=file.rows,
        size=file.size,
        partition=file.partition,
        stats=file.stats,
    )


def _commit_table(
    committer: Committer, manifest: Manifest, path: str, files: Sequence[DataFile]
) -> int:
    return committer.commit(path, manifest.tables[path], files, manifest.batch)
