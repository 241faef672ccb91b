"""Deciding a batch, then committing it: every table once, its row in the batch ledger, done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from heraldry.pipeline.lake.commits import Committer
from heraldry.pipeline.lake.data_file import DataFile
from heraldry.pipeline.lake.ledger import Ledger, Manifest, ManifestFile
from heraldry.pipeline.landing import batches

_COMMITTERS = 8


def decide(committer: Committer, ledger: Ledger, manifest: Manifest) -> None:
    """Write the manifest of a batch, once nothing that it rests on can be lost by a power cut.

    Those are its files, and in the checkpoint the offsets that Spark has planned it by: planned
    anew it would have other messages, and the manifest would stand for them.
    """
    committer.storage.settle()
    ledger.storage.settle()
    ledger.prepare(manifest)


def commit_manifest(committer: Committer, ledger: Ledger, manifest: Manifest) -> Mapping[str, int]:
    """Commit every table of a batch; done ones are skipped by their transaction log.

    The result is the version of each table that holds the batch, by the table's path.
    """
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
