"""Landing lines: each is judged and written into the table of its definition, or a letter."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import Any

import msgspec
import pyarrow as pa

from heraldry.dialects.load import load_bytes
from heraldry.messages.judge import Judge
from heraldry.messages.verdict import Accepted, Rejected
from heraldry.model.catalog import External
from heraldry.pipeline import deadletters, fast
from heraldry.pipeline.kernel import path as kernel
from heraldry.pipeline.layout import DEAD_LETTERS, PAYLOAD, TableLayout, layout_of
from heraldry.pipeline.parquet import ParquetWriter

_RESULT = pa.schema(
    [
        ("path", pa.string()),
        ("table", pa.string()),
        ("file", pa.string()),
        ("rows", pa.int64()),
        ("size", pa.int64()),
    ]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkOrder:
    """All that a worker needs to know; small but for the catalog, which workers keep.

    ``external`` are the base messages that were fetched for the catalog, as JSON: a worker
    fetches nothing.
    """

    catalog: bytes
    external: bytes
    warehouse: str
    database: str
    only: tuple[str, ...]
    keep_payload: bool
    batch: int
    received: datetime


@dataclass(frozen=True, slots=True)
class Lines:
    """Some lines with their places, in the order in which they were read."""

    values: pa.Array
    sources: pa.Array
    positions: pa.Array


class Parts:
    """The tables that lines land in, in pieces; the letters; both with the rows they came from."""

    def __init__(self) -> None:
        self.tables: dict[str, tuple[TableLayout, list[pa.Table], list[pa.Array]]] = {}
        self.letters: list[dict[str, Any]] = []
        self.letter_rows: list[int] = []

    def add(self, layout: TableLayout, table: pa.Table, rows: Any) -> None:
        """Add rows of one definition; several paths may have some of it."""
        _, tables, places = self.tables.setdefault(layout.definition, (layout, [], []))
        tables.append(table)
        places.append(pa.array(rows, pa.int64()))


class Lander:
    """Judges lines and writes them, each into the table of its definition or the dead letters."""

    def __init__(self, order: WorkOrder) -> None:
        self._order = order
        self._crew = _crew(order.catalog, order.external, order.only)
        self._writer = ParquetWriter(order.warehouse, order.batch)

    def land(self, lines: Lines) -> pa.RecordBatch:
        """Land some lines: the files written, with the table of each."""
        parts = Parts()
        rest = self._by_kernel(lines, parts)
        rest = self._by_fast_path(lines, rest, parts)
        self._by_judge(lines, rest, parts)
        files: dict[str, list[Any]] = {name: [] for name in _RESULT.names}
        for layout, tables, places in parts.tables.values():
            rows = pa.concat_arrays(places)
            table = self._place(pa.concat_tables(tables), lines, rows, layout.schema)
            self._write(files, layout, table)
        if parts.letters:
            table = pa.Table.from_pylist(parts.letters, schema=_LETTER)
            rows = pa.array(parts.letter_rows, pa.int64())
            self._write(files, None, self._place(table, lines, rows, deadletters.SCHEMA))
        return pa.RecordBatch.from_pydict(files, schema=_RESULT)

    def _by_kernel(self, lines: Lines, parts: Parts) -> Sequence[int]:
        """Compiled code takes what it can; the numbers of the other rows."""
        if self._crew.kernel is None or self._order.keep_payload:
            return range(len(lines.values))
        taken, rest = self._crew.kernel.take(lines.values)
        for group in taken:
            layout = self._layout(group.compiled.xid)
            columns = [*group.payload.columns, *group.envelope, *group.placeholders]
            parts.add(layout, layout.content_table(columns, len(group.rows)), group.rows)
        numbers: list[int] = rest.tolist()
        return numbers

    def _by_fast_path(self, lines: Lines, rows: Sequence[int], parts: Parts) -> list[int]:
        """Whole batches in Python; the numbers of the rows that only the judge can decide."""
        values = lines.values.take(pa.array(rows, pa.int64())).to_pylist()
        taken, rest = self._crew.fast.take(values)
        for group in taken:
            if group.rows:
                layout = self._layout(group.compiled.xid)
                table = self._crew.fast.to_table(layout, group)
                parts.add(layout, table, [rows[row] for row in group.rows])
        return [rows[row] for row in sorted(rest)]

    def _by_judge(self, lines: Lines, rows: list[int], parts: Parts) -> None:
        """One line after the other, with the reasons of those that do not land."""
        accepted: dict[str, list[tuple[int, Accepted]]] = {}
        for row in rows:
            line: bytes = lines.values[row].as_py()
            verdict = self._crew.judge.judge(line)
            if isinstance(verdict, Rejected):
                parts.letters.append(deadletters.letter(line, verdict))
                parts.letter_rows.append(row)
            else:
                xid = str(verdict.match.definition.xid)
                accepted.setdefault(xid, []).append((row, verdict))
        for xid, found in accepted.items():
            layout = self._layout(xid)
            table = _slow_table(layout, [verdict for _, verdict in found])
            parts.add(layout, table, [row for row, _ in found])

    def _place(self, table: pa.Table, lines: Lines, index: pa.Array, schema: pa.Schema) -> pa.Table:
        """Add what is known of every line besides its content, and order the columns."""
        count = len(index)
        known = {
            "batch": pa.repeat(pa.scalar(self._order.batch, pa.int64()), count),
            "source": lines.sources.take(index).cast(pa.string()),
            "position": lines.positions.take(index),
            "received": pa.repeat(
                pa.scalar(self._order.received, pa.timestamp("us", "UTC")), count
            ),
        }
        prefix = "" if schema is deadletters.SCHEMA else "_"
        for name, column in known.items():
            table = table.append_column(prefix + name, column)
        return table.select(schema.names).cast(schema)

    def _layout(self, xid: str) -> TableLayout:
        return self._crew.layout(xid, self._order.database, self._order.keep_payload)

    def _write(
        self, files: dict[str, list[Any]], layout: TableLayout | None, table: pa.Table
    ) -> None:
        path = layout.path if layout else DEAD_LETTERS
        written = self._writer.write(path, table)
        values = (
            path,
            json.dumps(layout.configuration if layout else {}),
            written.name,
            written.rows,
            written.size,
        )
        for name, value in zip(_RESULT.names, values, strict=True):
            files[name].append(value)


class Crew:
    """The judge, the fast path and the layouts for one catalog; a worker process keeps them."""

    def __init__(self, catalog: bytes, external: bytes, only: tuple[str, ...]) -> None:
        fetched = msgspec.json.decode(external, type=dict[str, External])
        self.judge = Judge(replace(load_bytes(catalog, "catalog"), external=fetched), only=only)
        self.kernel = kernel.KernelPath(self.judge) if kernel.available() else None
        self.fast = fast.FastPath(self.judge)
        self._layouts: dict[tuple[str, str, bool], TableLayout] = {}

    def layout(self, xid: str, database: str, keep_payload: bool) -> TableLayout:
        """The layout of a definition's table, made once."""
        key = (xid, database, keep_payload)
        if key not in self._layouts:
            compiled = self.judge.matcher.definition(xid)
            self._layouts[key] = layout_of(compiled, database, keep_payload=keep_payload)
        return self._layouts[key]


@lru_cache(maxsize=2)
def _crew(catalog: bytes, external: bytes, only: tuple[str, ...]) -> Crew:
    return Crew(catalog, external, only)


_LETTER = pa.schema(
    [f for f in deadletters.SCHEMA if f.name not in ("batch", "source", "position", "received")]
)


def _slow_table(layout: TableLayout, accepted: list[Accepted]) -> pa.Table:
    """The columns of what the judge accepted, one by one."""
    rows = []
    for verdict in accepted:
        row = {name: verdict.row.get(column.name) for column, name in layout.payload}
        row |= verdict.envelope
        row |= {column: verdict.match.values.get(name) for name, column in layout.placeholders}
        row |= {"_definition": layout.definition, "_version": layout.version}
        if layout.keeps_payload:
            row[PAYLOAD.name] = verdict.payload
        rows.append(row)
    return pa.Table.from_pylist(rows, schema=layout.content)
