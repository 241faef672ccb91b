"""Deciding and committing: what a power cut may not take is on the disk first."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

from heraldry.errors import PipelineError
from heraldry.pipeline.lake import delta
from heraldry.pipeline.lake.commits import Committer
from heraldry.pipeline.lake.layout import NAME_KEY
from heraldry.pipeline.lake.ledger import Ledger, Manifest, ManifestFile
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.landing.committing import commit_manifest, decide
from heraldry.pipeline.landing.parquet import ParquetWriter

PATH = "db/g/m"


def test_files_are_on_the_disk_before_a_manifest_names_them_and_commits_before_it_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = Storage.open(str(tmp_path / "lake"))
    ledger = Ledger.open(str(tmp_path / "state"))
    committer = Committer(storage, ledger.job)
    manifest = manifest_of(storage, 1, 2)

    def state(self: Storage) -> None:
        known = ledger.manifest(0)
        entry = tmp_path / f"lake/db/g/m/_delta_log/{0:020d}.json"
        settled.append((self, known.committed if known else None, entry.exists()))

    settled: list[tuple[Storage, bool | None, bool]] = []
    monkeypatch.setattr(Storage, "settle", state)
    assert decide(committer, ledger, manifest, ())
    # Not decided yet; Spark keeps the offsets of the batch beside the ledger.
    drafted, *before = settled
    assert drafted == (storage, None, False)  # no name before its content
    assert before == [(storage, None, True), (ledger.storage, None, True)]
    assert numbers(storage) == []
    commit_manifest(committer, ledger, manifest)
    assert settled[3:] == [(storage, False, True)]  # committed, and not done yet
    assert ledger.pending() is None
    assert numbers(storage) == [1, 2]


def test_many_new_tables_are_settled_in_one_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage, ledger = Storage.open(str(tmp_path / "lake")), Ledger.open(str(tmp_path / "state"))
    found = [manifest_of(storage, 1, path=f"db/g/t{number}") for number in range(20)]
    files = tuple(file for one in found for file in one.files)
    tables = {path: told for one in found for path, told in one.tables.items()}
    manifest = Manifest(batch=0, files=files, tables=tables)
    logs: list[list[str]] = []

    def state(self: Storage) -> None:
        if self == storage:
            logs.append([path.suffix for path in tmp_path.glob("lake/db/g/*/_delta_log/.*")])

    monkeypatch.setattr(Storage, "settle", state)
    committer = Committer(storage, ledger.job)
    assert decide(committer, ledger, manifest, ())
    assert logs == [[".draft"] * 20, []]
    commit_manifest(committer, ledger, manifest)
    again = Manifest(batch=1, files=files, tables=tables)
    logs.clear()
    assert decide(committer, ledger, again, ())
    assert len(logs) == 1, "no table is new"


def manifest_of(storage: Storage, *rows: int, path: str = PATH) -> Manifest:
    (file,) = ParquetWriter(storage, 0).write(path, pa.table({"a": list(rows)}))
    told = ManifestFile(table=path, name=file.name, rows=file.rows, size=file.size)
    return Manifest(batch=0, files=(told,), tables={path: {NAME_KEY: json.dumps(path.split("/"))}})


def numbers(storage: Storage, path: str = PATH) -> list[int] | None:
    table = delta.open_table(storage, path)
    return None if table is None else delta.table_rows(storage, table)["a"].to_pylist()


def test_a_batch_that_another_driver_has_judged_is_not_committed(tmp_path: Path) -> None:
    """Two that each took the other for dead: what the last one wrote does not count."""
    storage, ledger = Storage.open(str(tmp_path / "lake")), Ledger.open(str(tmp_path / "state"))
    mine, other = manifest_of(storage, 1, path="db/g/x"), manifest_of(storage, 1, path="db/g/y")
    assert decide(Committer(storage, ledger.job), ledger, mine, ())
    ledger.storage.delete("heraldry/batches/000000000000.json")  # not there yet as other looked
    assert decide(Committer(storage, ledger.job), ledger, other, ())
    with pytest.raises(PipelineError, match="another job has gone on with this checkpoint"):
        commit_manifest(Committer(storage, ledger.job), ledger, mine)
    commit_manifest(Committer(storage, ledger.job), ledger, other)
    assert numbers(storage, "db/g/x") == []
    assert numbers(storage, "db/g/y") == [1]


def test_what_is_done_already_may_be_finished_again(tmp_path: Path) -> None:
    """A driver hung amid its commits; another has finished them."""
    storage, ledger = Storage.open(str(tmp_path / "lake")), Ledger.open(str(tmp_path / "state"))
    manifest = manifest_of(storage, 1, 2)
    assert decide(Committer(storage, ledger.job), ledger, manifest, ())
    for _ in range(2):
        commit_manifest(Committer(storage, ledger.job), ledger, manifest)
    assert numbers(storage) == [1, 2]
