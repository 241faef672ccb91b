"""Warehouses with dead letters, made without Spark: as a job's batches would leave them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from heraldry.pipeline.identities.decided import Replayed
from heraldry.pipeline.identities.duplicates import IDENTITIES, Window
from heraldry.pipeline.identities.once import Once, keep_once
from heraldry.pipeline.lake import delta
from heraldry.pipeline.lake.commits import Committer
from heraldry.pipeline.lake.layout import DEAD_LETTERS, TablePlan
from heraldry.pipeline.lake.ledger import Ledger, Manifest, ManifestFile
from heraldry.pipeline.lake.plans import keep_plan
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.landing.committing import commit_manifest
from heraldry.pipeline.landing.lander import Lander, WorkOrder
from heraldry.pipeline.landing.parquet import ParquetWriter
from heraldry.pipeline.letters.letter import PLACE, SCHEMA, letter_ids
from heraldry.pipeline.letters.masking import Masker
from tests.pipeline.landing.without_spark import RECEIVED, lines_of

JOB = "heraldry-test"


def land_lines(
    warehouse: Path,
    catalog: bytes,
    lines: Sequence[bytes],
    *,
    batch: int = 0,
    received: datetime = RECEIVED,
    source: str = "file",
    once: bool = False,
    checkpoint: str | None = None,
    plan: TablePlan | None = None,
    only: tuple[str, ...] = (),
) -> Manifest:
    """Land lines as one batch of a job does: rows into tables, the rest into letters.

    With ``once`` the job keeps identities, and leaves out what comes again; a job without a
    ``plan`` is one from before plans were kept.
    """
    storage = Storage(str(warehouse))
    ledger = Ledger.open(checkpoint or f"{warehouse}/_checkpoint")
    if plan is not None:
        keep_plan(storage, ledger.job, plan)
    order = WorkOrder(
        catalog=catalog,
        external=b"{}",
        digest="first",
        storage=storage,
        job=ledger.job if once or plan is not None else JOB,
        batch=batch,
        received=received,
        plan=plan or TablePlan(),
        identities=once,
        only=only,
    )
    written = Lander(order).land(lines_of(lines, source)).to_pylist()
    files = tuple(
        ManifestFile(
            table=row["path"],
            name=row["file"],
            rows=row["rows"],
            size=row["size"],
            partition=row["partition"],
        )
        for row in written
    )
    tables = {row["path"]: json.loads(row["table"]) for row in written}
    with ledger.deciding():
        left = Once(files=files)
        if once:
            beside = Replayed(storage, ledger.job)
            window = Window.open(ledger.storage, IDENTITIES, 1000, beside)
            digests = {row["file"]: row["identities"] for row in written}
            left = keep_once(storage, window, batch, files, digests)
        kept = {file.table for file in left.files}
        manifest = Manifest(
            batch=batch,
            files=left.files,
            tables={path: told for path, told in tables.items() if path in kept},
            repeated=left.repeated,
        )
        ledger.prepare(manifest)
    commit_manifest(Committer(storage, ledger.job), ledger, manifest)
    return manifest


def mask_letters(warehouse: Path, rules: Sequence[str], *, batch: int) -> None:
    """Add the letters of a warehouse once more, masked, as another job's."""
    storage = Storage(str(warehouse))
    table = delta.open_table(storage, DEAD_LETTERS)
    assert table is not None
    rows = pa.Table.from_pylist(delta.table_rows(storage, table).to_pylist(), schema=SCHEMA)
    masker = Masker.of(rules)
    content = [name for name in SCHEMA.names if name not in PLACE]
    masked = pa.Table.from_pylist(
        [masker.letter(row) for row in rows.select(content).to_pylist()],
        schema=pa.schema([SCHEMA.field(name) for name in content]),
    )
    for name in PLACE:
        masked = masked.append_column(name, rows[name])
    sources = pa.array([f"masked-{name}" for name in rows["source"].to_pylist()])
    masked = masked.set_column(masked.schema.get_field_index("source"), "source", sources)
    ids = letter_ids(JOB, sources, rows["position"].combine_chunks())
    masked = masked.set_column(masked.schema.get_field_index("letter"), "letter", ids)
    add_letters(warehouse, masked.select(SCHEMA.names).cast(SCHEMA), batch=batch)


def add_letters(warehouse: Path, rows: pa.Table, *, batch: int) -> None:
    """Commit letters as they are."""
    storage = Storage(str(warehouse))
    table = delta.open_table(storage, DEAD_LETTERS) or delta.create_table(
        storage, DEAD_LETTERS, rows.schema, {}
    )
    files = ParquetWriter(storage, batch).write(DEAD_LETTERS, rows)
    delta.commit_files(table, files, f"{JOB}-added", batch)


def table_column(warehouse: Path, table: str, column: str) -> list[object]:
    """A column of a table by its path; empty where there is no table."""
    storage = Storage(str(warehouse))
    found = delta.open_table(storage, table)
    if found is None:
        return []
    values: list[object] = delta.table_rows(storage, found, [column])[column].to_pylist()
    return values


def replays(warehouse: Path) -> pa.Table:
    """The history, in the order of replays and letters."""
    storage = Storage(str(warehouse))
    found = delta.open_table(storage, "_replays")
    assert found is not None
    rows = delta.table_rows(storage, found)
    return rows.take(pc.sort_indices(rows, [("replay", "ascending"), ("letter", "ascending")]))
