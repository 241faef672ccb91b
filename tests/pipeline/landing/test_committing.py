"""Deciding and committing: what a power cut may not take is on the disk first."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from heraldry.pipeline.lake.commits import Committer
from heraldry.pipeline.lake.layout import NAME_KEY
from heraldry.pipeline.lake.ledger import Ledger, Manifest, ManifestFile
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.landing.committing import commit_manifest, decide
from heraldry.pipeline.landing.parquet import ParquetWriter


def test_files_are_on_the_disk_before_a_manifest_names_them_and_commits_before_it_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = Storage.open(str(tmp_path / "lake"))
    ledger = Ledger.open(str(tmp_path / "state"))
    committer = Committer(storage, ledger.job)
    (file,) = ParquetWriter(storage, 0).write("db/g/m", pa.table({"a": [1, 2]}))
    told = ManifestFile(table="db/g/m", name=file.name, rows=file.rows, size=file.size)
    manifest = Manifest(batch=0, files=(told,), tables={"db/g/m": {NAME_KEY: '["db", "g", "m"]'}})

    def state(self: Storage) -> None:
        known = ledger.manifest(0)
        log = tmp_path / "lake/db/g/m/_delta_log"
        settled.append((self, known.committed if known else None, log.exists()))

    settled: list[tuple[Storage, bool | None, bool]] = []
    monkeypatch.setattr(Storage, "settle", state)
    decide(committer, ledger, manifest)
    # Not decided yet; Spark keeps the offsets of the batch beside the ledger.
    assert settled == [(storage, None, False), (ledger.storage, None, False)]
    commit_manifest(committer, ledger, manifest)
    assert settled[2:] == [(storage, False, True)]  # committed, and not done yet
    assert ledger.pending() is None
