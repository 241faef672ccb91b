"""A warehouse that batches are written to without a job."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pyarrow as pa

from heraldry.pipeline.lake import delta
from heraldry.pipeline.lake.commits import Committer
from heraldry.pipeline.lake.layout import DEAD_LETTERS, DEFINITION_KEY, NAME_KEY
from heraldry.pipeline.lake.ledger import Ledger, Manifest, ManifestFile
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.landing import batches
from heraldry.pipeline.landing.parquet import ParquetWriter
from heraldry.pipeline.letters.letter import SCHEMA
from tests.pipeline.watching.observing import DIGEST, NOON

PLACED = "default/orders/order.placed"
NAME = ["default", "orders", "order.placed"]
CONFIGURATION = {DEFINITION_KEY: "/messagegroups/orders/messages/order.placed"}


def configuration() -> dict[str, str]:
    return CONFIGURATION | {NAME_KEY: json.dumps(NAME)}


class Warehouse:
    """A warehouse with one table that batches are written to without a job."""

    def __init__(self, folder: Path) -> None:
        self.path = str(folder / "lake")
        self.storage = Storage.open(self.path)
        self.ledger = Ledger.open(self.storage.join("_checkpoint"))
        self.rows = pa.table({"id": pa.array(["a", "b", "c"])})
        delta.create_table(self.storage, PLACED, self.rows.schema, configuration())

    def manifest(self, number: int, dead: int = 0, repeated: int = 0, **changes: Any) -> Manifest:
        """A batch of three rows, some letters and some repeats."""
        files = [ManifestFile(table=PLACED, name=f"{number}.parquet", rows=3, size=1)]
        if dead:
            files.append(ManifestFile(table=DEAD_LETTERS, name="l", rows=dead, size=1))
        given = {"run": "r", "catalog": DIGEST, "seconds": 0.5, "newest": NOON, "lag": 7}
        return Manifest(
            batch=number,
            files=tuple(files),
            tables={PLACED: configuration(), DEAD_LETTERS: {}},
            repeated=repeated,
            **(given | changes),
        )

    def land(self, manifest: Manifest, job: str | None = None) -> None:
        written = ParquetWriter(self.storage, manifest.batch).write(PLACED, self.rows)
        table = delta.open_table(self.storage, PLACED)
        delta.commit_files(table, written, job or self.ledger.job, manifest.batch)
        batches.record(Committer(self.storage, job or self.ledger.job), manifest, {PLACED: 1})

    def letters(self, rules: list[str], definitions: Sequence[str] = ()) -> None:
        known = {"stage": "validate", "path": "/", "message": "m", "line": b"{}", "batch": 0}
        known |= {"problems": "[]", "near": "[]", "source": "s", "received": NOON}
        rows = [
            known | {"rule": rule, "position": str(n), "definition": definition}
            for n, (rule, definition) in enumerate(zip_longest(rules, definitions))
        ]
        table = pa.Table.from_pylist(rows, schema=SCHEMA)
        letters = delta.create_table(self.storage, DEAD_LETTERS, SCHEMA, {})
        written = ParquetWriter(self.storage, 0).write(DEAD_LETTERS, table)
        delta.commit_files(letters, written, "letters", 0)
