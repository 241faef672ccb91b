"""Landing without Spark: what a worker does with lines, read back and set beside the judge."""

from __future__ import annotations

import json
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from heraldry.dialects.load import load_bytes
from heraldry.messages.judge import Judge
from heraldry.messages.verdict import Accepted, Rejected
from heraldry.pipeline.fast.path import FastPath
from heraldry.pipeline.lake.layout import (
    DEAD_LETTERS,
    DEFINITION_KEY,
    TableLayout,
    TablePlan,
    layout_of,
)
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.landing.lander import Lander, WorkOrder
from heraldry.pipeline.letters.letter import letter
from heraldry.pipeline.sources.lines import Lines

RECEIVED = datetime(2026, 11, 16, 8, 30, tzinfo=UTC)
SENT = datetime(2026, 11, 15, 12, tzinfo=UTC)
"""The broker's time of the first line; every other is a second later."""
PLACE = frozenset(("_batch", "_source", "_position", "_received"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A catalog and the options of a job."""

    catalog: bytes
    only: tuple[str, ...] = ()
    keep_payload: bool = False
    compiled: bool = True
    """Whether compiled code may take lines, where it is installed."""

    def order(self, warehouse: Path) -> WorkOrder:
        """What the workers of a job are told."""
        return WorkOrder(
            catalog=self.catalog,
            external=b"{}",
            digest="d",
            storage=Storage(str(warehouse)),
            job="job",
            plan=TablePlan(keep_payload=self.keep_payload),
            only=self.only,
            batch=7,
            received=RECEIVED,
        )


@cache
def judge_of(setting: Setting) -> Judge:
    """A judge of its own, apart from the worker's."""
    return Judge(load_bytes(setting.catalog, "catalog"), only=setting.only)


def lander_of(setting: Setting, warehouse: Path) -> Lander:
    """A worker that has seen no line yet: what it learned from others must not count."""
    lander = Lander(setting.order(warehouse))
    crew = lander._crew = copy(lander._crew)
    crew.fast = FastPath(crew.judge)
    if not setting.compiled:
        crew.kernel = None
    return lander


def lines_of(values: Sequence[bytes], source: str = "file", first: int = 0) -> Lines:
    """Lines with places that count them."""
    positions = [f"0+{first + number}" for number in range(len(values))]
    sources = pa.array([source] * len(values), pa.string()).dictionary_encode()
    times = [SENT + timedelta(seconds=first + number) for number in range(len(values))]
    return Lines(
        pa.array(values, pa.binary()),
        sources,
        pa.array(positions, pa.string()),
        pa.array(times, pa.timestamp("ms", "UTC")),
    )


@dataclass(frozen=True, slots=True)
class Landed:
    """Where one line ended: the definition's xid, or None for a dead letter, and its row."""

    definition: str | None
    row: str


def read_back(warehouse: Path, result: pa.RecordBatch) -> list[tuple[str, Landed]]:
    """Every row written, with its position; the files are taken away."""
    found = []
    for file in result.to_pylist():
        path = warehouse / file["path"] / file["file"]
        rows = pq.read_table(path).to_pylist()
        assert len(rows) == file["rows"]
        assert path.stat().st_size == file["size"]
        path.unlink()
        definition = json.loads(file["table"]).get(DEFINITION_KEY)
        assert (definition is None) == (file["path"] == DEAD_LETTERS)
        found += [_landed(definition, row) for row in rows]
    return found


def _landed(definition: str | None, row: dict[str, Any]) -> tuple[str, Landed]:
    prefix = "" if definition is None else "_"
    position = row.pop(f"{prefix}position")
    assert row.pop(f"{prefix}batch") == 7
    assert row.pop(f"{prefix}source") == "file"
    assert row.pop(f"{prefix}received") == RECEIVED
    if definition is None:
        for name in ("time", "letter", "catalog"):
            row.pop(name)
    # The text tells 1 from 1.0 and 0.0 from -0.0.
    return position, Landed(definition, repr(row))


def expected(setting: Setting, line: bytes, number: int = 0) -> Landed:
    """Where the judge alone would have a line of :func:`lines_of` end."""
    verdict = judge_of(setting).judge(line)
    if isinstance(verdict, Rejected):
        return Landed(None, repr(letter(line, verdict)))
    definition = str(verdict.match.definition.xid)
    compiled = judge_of(setting).compiled(definition)
    layout = layout_of(compiled, "default", keep_payload=setting.keep_payload)
    schema = pa.schema([field for field in layout.schema if field.name not in PLACE])
    table = pa.Table.from_pylist([_row(layout, verdict, number)], schema=schema)
    return Landed(definition, repr(table.to_pylist()[0]))


def _row(layout: TableLayout, verdict: Accepted, number: int) -> dict[str, Any]:
    row: dict[str, Any] = {name: verdict.row[column.name] for column, name in layout.payload}
    row |= verdict.envelope
    if verdict.native:
        row |= {name: told for name, told in _told(layout, number) if row[name] is None}
    row |= {column: verdict.match.values.get(name) for name, column in layout.placeholders}
    row |= {"_definition": layout.definition, "_version": layout.version}
    return row | ({"_payload": verdict.payload} if layout.keeps_payload else {})


def _told(layout: TableLayout, number: int) -> tuple[tuple[str, Any], ...]:
    """What the place tells of a message that is no event."""
    return (
        ("ce_id", f"file#0+{number}"),
        ("ce_source", "file"),
        ("ce_type", layout.definition),
        ("ce_time", SENT + timedelta(seconds=number)),
    )


def assert_agreement(setting: Setting, warehouse: Path, lines: Sequence[bytes]) -> None:
    """A worker lands every line once, where the judge would, in the same row or letter."""
    result = lander_of(setting, warehouse).land(lines_of(lines))
    found = read_back(warehouse, result)
    positions = sorted(position for position, _ in found)
    assert positions == sorted(f"0+{number}" for number in range(len(lines)))
    landed = dict(found)
    for number, line in enumerate(lines):
        assert landed[f"0+{number}"] == expected(setting, line, number), line[:2000]
