"""The batch ledger of a warehouse: a Delta table with one row per batch, written last.

A batch commits to each of its tables in turn, so that only its row here says that it is in all of
them. Replays have rows here as jobs do. What follows for readers is :mod:`consistent_cut`: the
versions in a row may have batches of others in them that are not whole.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime

import msgspec
import pyarrow as pa

from heraldry.pipeline.lake import delta
from heraldry.pipeline.lake.commits import Committer
from heraldry.pipeline.lake.layout import BATCH_LEDGER, DEAD_LETTERS, NAME_KEY
from heraldry.pipeline.lake.ledger import Manifest
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.landing.parquet import ParquetWriter
from heraldry.pipeline.landing.report import BatchReport

BATCHES = BATCH_LEDGER
_INSTANT = pa.timestamp("us", "UTC")
SCHEMA = pa.schema(
    [
        ("job", pa.string()),
        ("batch", pa.int64()),
        ("run", pa.string()),
        ("committed", _INSTANT),
        ("seconds", pa.float64()),
        ("read", pa.int64()),
        ("landed", pa.int64()),
        ("dead", pa.int64()),
        ("repeated", pa.int64()),
        ("catalog", pa.string()),
        ("newest", _INSTANT),
        ("lag", pa.int64()),
        ("tables", pa.string()),
        ("rows", pa.string()),
        ("deprecated", pa.string()),
    ]
)
"""``tables`` is JSON: a table's path and a Delta version of it that has the batch, as a rule the
first; ``rows``: its name and new rows.

``deprecated`` is JSON too: what landed of deprecated definitions; null where nothing did.
"""


def report_of(manifest: Manifest) -> BatchReport:
    """What a batch did, from its manifest alone."""
    rows: dict[str, int] = {}
    dead = 0
    for file in manifest.files:
        if file.table == DEAD_LETTERS:
            dead += file.rows
        elif not file.table.startswith("_"):  # those are the warehouse's own
            name = ".".join(json.loads(manifest.tables[file.table][NAME_KEY]))
            rows[name] = rows.get(name, 0) + file.rows
    landed = sum(rows.values())
    return BatchReport(
        batch=manifest.batch,
        read=landed + dead + manifest.repeated,
        landed=landed,
        dead=dead,
        repeated=manifest.repeated,
        seconds=manifest.seconds,
        tables=rows,
        reasons=manifest.reasons,
        nearest=manifest.nearest,
        catalog=manifest.catalog,
        newest=manifest.newest,
        lag=manifest.lag,
        deprecated=manifest.deprecated,
    )


def record(committer: Committer, manifest: Manifest, versions: Mapping[str, int]) -> None:
    """Write the row of a batch whose tables are all committed; once, however often it is tried."""
    report = report_of(manifest)
    row = {
        "job": committer.job,
        "run": manifest.run,
        "committed": datetime.now(UTC),
        "tables": json.dumps(versions),
        "rows": json.dumps(report.tables),
        "deprecated": None,
    }
    if report.deprecated:
        row["deprecated"] = msgspec.json.encode(report.deprecated).decode()
    row |= {name: getattr(report, name) for name in SCHEMA.names if name not in row}
    writer = ParquetWriter(committer.storage, manifest.batch)
    files = writer.write(BATCHES, pa.Table.from_pylist([row], schema=SCHEMA))
    committer.commit(BATCHES, {}, files, manifest.batch)


def batches(storage: Storage) -> pa.Table:
    """Every batch that was committed whole, in the order of jobs and batches."""
    table = delta.open_table(storage, BATCHES)
    if table is None:
        return SCHEMA.empty_table()
    rows = delta.table_rows(storage, table)
    return rows.sort_by([("job", "ascending"), ("batch", "ascending")])
