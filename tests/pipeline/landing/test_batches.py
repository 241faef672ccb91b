"""The batch ledger: one row per batch, written last, so that a reader can take a cut."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa

from heraldry.pipeline.lake import delta
from heraldry.pipeline.lake.commits import Committer
from heraldry.pipeline.lake.layout import DEAD_LETTERS, NAME_KEY
from heraldry.pipeline.lake.ledger import Ledger, Manifest, ManifestFile
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.landing import batches
from heraldry.pipeline.landing.batches import report_of
from heraldry.pipeline.landing.committing import commit_manifest
from heraldry.pipeline.landing.parquet import ParquetWriter

NEWEST = datetime(2026, 11, 16, 8, 30, tzinfo=UTC)


def manifest(storage: Storage, batch: int) -> Manifest:
    files = []
    for path, rows in (("default/g/m", 3), (DEAD_LETTERS, 2)):
        written = ParquetWriter(storage, batch).write(path, pa.table({"n": list(range(rows))}))
        files += [ManifestFile(table=path, name=f.name, rows=f.rows, size=f.size) for f in written]
    names = {"default/g/m": {NAME_KEY: json.dumps(["default", "g", "m"])}, DEAD_LETTERS: {}}
    return Manifest(
        batch=batch,
        files=tuple(files),
        tables=names,
        run="run",
        catalog="digest",
        seconds=1.5,
        repeated=4,
        reasons={"type": 2},
        newest=NEWEST,
        lag=9,
    )


def test_a_report_adds_up(tmp_path: Path) -> None:
    report = report_of(manifest(Storage.open(str(tmp_path)), 5))
    assert (report.read, report.landed, report.dead, report.repeated) == (9, 3, 2, 4)
    assert report.tables == {"default.g.m": 3}
    assert report.reasons == {"type": 2}


def test_a_batch_has_one_row_with_the_version_of_each_table(tmp_path: Path) -> None:
    storage = Storage.open(str(tmp_path / "lake"))
    ledger = Ledger.open(str(tmp_path / "checkpoint"))
    assert batches.batches(storage).num_rows == 0
    committer = Committer(storage, ledger.job)
    for batch in (0, 1):
        prepared = manifest(storage, batch)
        ledger.prepare(prepared)
        versions = commit_manifest(committer, ledger, prepared)
        assert versions == {"default/g/m": batch, DEAD_LETTERS: batch}
        commit_manifest(committer, ledger, prepared)
    rows = batches.batches(storage).to_pylist()
    assert [row["batch"] for row in rows] == [0, 1]
    assert rows[1] | {"committed": None} == {
        "job": ledger.job,
        "batch": 1,
        "run": "run",
        "committed": None,
        "seconds": 1.5,
        "read": 9,
        "landed": 3,
        "dead": 2,
        "repeated": 4,
        "catalog": "digest",
        "newest": NEWEST,
        "lag": 9,
        "tables": '{"default/g/m": 1, "_dead_letters": 1}',
        "rows": '{"default.g.m": 3}',
        "deprecated": None,
    }
    table = delta.open_table(storage, "default/g/m")
    assert table is not None
    assert delta.row_count(table) == 6
