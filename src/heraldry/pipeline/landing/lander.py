"""Landing lines: each is judged and written into the table of its definition, or a letter."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from operator import itemgetter
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from heraldry.dialects.load import load_bytes
from heraldry.messages.judge import Judge
from heraldry.messages.verdict import Accepted, Rejected
from heraldry.model.catalog import External
from heraldry.pipeline.fast import path as fast
from heraldry.pipeline.identities.digests import IDENTITY, as_column, digests_of_lines
from heraldry.pipeline.kernel import path as kernel
from heraldry.pipeline.kernel.groups import Refused
from heraldry.pipeline.lake.arrangement import PLAIN
from heraldry.pipeline.lake.layout import DEAD_LETTERS, PAYLOAD, Fit, TableLayout, TablePlan
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.landing.parquet import ParquetWriter
from heraldry.pipeline.landing.pieces import Piece, tables_of
from heraldry.pipeline.landing.places import Places
from heraldry.pipeline.letters.foreign import unwrapped
from heraldry.pipeline.letters.letter import PLACE, SCHEMA, letter, letter_ids
from heraldry.pipeline.letters.masking import Masker
from heraldry.pipeline.letters.nearest import nearest
from heraldry.pipeline.sources.lines import Lines

_MANY = 100
_HOLD_BYTES, _HOLD_BYTES_MANY = 40 * 1024 * 1024, 512 * 1024 * 1024
"""Rows of so many bytes of lines are held at most; with many tables more, as files cost most."""
_JUDGE_BYTES, _JUDGE_BYTES_MANY = 8 * 1024 * 1024, 256 * 1024 * 1024

RESULT = pa.schema(
    [
        ("path", pa.string()),
        ("table", pa.string()),
        ("file", pa.string()),
        ("rows", pa.int64()),
        ("size", pa.int64()),
        ("partition", pa.string()),
        ("stats", pa.string()),
        ("newest", pa.int64()),
        ("reasons", pa.string()),
        ("nearest", pa.string()),
        ("identities", pa.binary()),
        ("definition", pa.string()),
    ]
)
"""What is said of every file written: ``identities`` are those of its rows, 16 bytes each.

``newest`` is in microseconds since 1970: Spark would make a local time of an instant, and the first
and the last days of the calendar have none in some zones. ``definition`` is that of its rows, where
the table is named after another one.

A row without a path is no file: its ``rows`` are the lines that a partition was given.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkOrder:
    """All that a worker needs to know; small but for the catalog, which workers keep.

    ``external`` are the base messages that were fetched for the catalog, as JSON: a worker
    fetches nothing. ``digest`` is the catalog's, ``job`` the name of the ledger. ``fits`` says, by
    definition, how tables differ from what the catalog alone would make of them. ``mask`` are the
    rules for dead letters; ``foreign`` lines are dead letters of other tools.
    """

    catalog: bytes
    external: bytes
    digest: str
    storage: Storage
    job: str
    batch: int
    received: datetime
    plan: TablePlan = field(default_factory=TablePlan)
    fits: Mapping[str, Fit] = field(default_factory=dict)
    only: tuple[str, ...] = ()
    mask: tuple[str, ...] = ()
    foreign: bool = False
    identities: bool = False


class Parts:
    """What becomes of lines: pieces of tables, and letters with the rows they came from."""

    def __init__(self) -> None:
        self.pieces: list[Piece] = []
        self.letters: list[dict[str, Any]] = []
        self.letter_rows: list[int] = []


class Lander:
    """Judges lines and writes them, each into the table of its definition or the dead letters."""

    def __init__(self, order: WorkOrder) -> None:
        self._order = order
        self._crew = _crew(order.catalog, order.external, order.only)
        self._writer = ParquetWriter(order.storage, order.batch)
        self._layouts: dict[str, TableLayout] = {}
        self._masker = Masker.of(order.mask)
        self._rows: dict[str, list[pa.Table]] = {}
        self._held = 0

    def land(self, lines: Lines) -> pa.RecordBatch:
        """Land some lines: the files written, with the table of each."""
        written = self.take(lines)  # all of them, where they are too much to hold
        return self.finish() if written is None else written

    def take(self, lines: Lines) -> pa.RecordBatch | None:
        """Judge some lines and hold their rows; files are written where that is too much to hold.

        Few large files cost far less than many small ones, to write and to read.
        """
        if self._order.foreign:
            lines = replace(lines, values=unwrapped(lines.values))
        parts = Parts()
        rest = self._by_kernel(lines, parts)
        rest = self._by_fast_path(lines, rest, parts)
        self._by_judge(lines, rest, parts)
        order = self._order
        found = tables_of(
            parts.pieces, lines, order.batch, order.received, identities=order.identities
        )
        for definition, table in found:
            self._rows.setdefault(definition, []).append(table)
        if parts.letters:
            self._rows.setdefault("", []).append(self._letters(lines, parts))
        self._held += lines.values.nbytes
        limit = _HOLD_BYTES_MANY if self._many else _HOLD_BYTES
        return self.finish() if self._held >= limit else None

    def finish(self) -> pa.RecordBatch:
        """Write what is held: the files, with the table of each."""
        files: dict[str, list[Any]] = {name: [] for name in RESULT.names}
        for definition, tables in self._rows.items():
            table = pa.concat_tables(tables)
            layout = self._layout(definition) if definition else None
            self._write(files, layout, layout.stored(table) if layout else table)
        self._crew.busy = len(self._rows)
        self._rows.clear()
        self._held = 0
        return pa.RecordBatch.from_pydict(files, schema=RESULT)

    @property
    def appetite(self) -> int:
        """How many bytes of lines are best judged at once."""
        return _JUDGE_BYTES_MANY if self._many else _JUDGE_BYTES

    @property
    def _many(self) -> bool:
        """Whether lines go to many tables, or those of the last partition did."""
        return max(len(self._rows), self._crew.busy) >= _MANY

    def _letters(self, lines: Lines, parts: Parts) -> pa.Table:
        """The letters in the order of their lines."""
        found = sorted(zip(parts.letter_rows, parts.letters, strict=True), key=itemgetter(0))
        letters = [self._masker.letter(one) if self._masker else one for _, one in found]
        table = pa.Table.from_pylist(letters, schema=_LETTER)
        rows = pa.array([row for row, _ in found], pa.int64())
        order = self._order
        places = Places(lines, rows, order.batch, order.received)
        ids = letter_ids(order.job, places.sources, places.positions)
        catalog = pa.repeat(order.digest, len(rows))
        number, _, positions, received = places.columns
        place = [number, places.sources, positions, received, places.times]
        columns = [*table.columns, *place, ids, catalog]
        table = pa.Table.from_arrays(columns, schema=SCHEMA)
        if order.identities:
            digests = digests_of_lines(lines.values.take(rows).to_pylist())
            table = table.append_column(IDENTITY, as_column(digests))
        return table

    def _by_kernel(self, lines: Lines, parts: Parts) -> Sequence[int]:
        """Compiled code takes what it can; the numbers of the other rows."""
        if self._crew.kernel is None or self._order.plan.keep_payload:
            return range(len(lines.values))
        taken = self._crew.kernel.take(lines.values)
        for group in taken.groups:
            layout = self._layout(group.compiled.xid)
            columns = [*group.payload, *group.envelope, *group.placeholders]
            columns += layout.own_columns(len(group.rows))
            index = pa.array(group.rows, pa.int64())
            parts.pieces.append(Piece(layout, columns, index, group.native))
        rest: list[int] = taken.rest.tolist()
        for refused in taken.refused:
            rest += self._refuse(lines, refused, parts)
        return sorted(rest)

    def _refuse(self, lines: Lines, refused: Refused, parts: Parts) -> Iterator[int]:
        """Letters for payloads that are not valid; the numbers of rows with another reason."""
        payloads = refused.data.to_arrow(pa.binary()).to_pylist()
        found = zip(refused.rows.tolist(), payloads, refused.stated.tolist(), strict=True)
        for row, payload, stated in found:
            line: bytes = lines.values[row].as_py()
            kind = "application/json" if stated else None
            verdict = self._crew.judge.refuse(line, refused.compiled, payload, kind)
            if verdict is None:
                yield row
                continue
            parts.letters.append(letter(line, verdict))
            parts.letter_rows.append(row)

    def _by_fast_path(self, lines: Lines, rows: Sequence[int], parts: Parts) -> list[int]:
        """Whole batches in Python; the numbers of the rows that only the judge can decide."""
        values = lines.values.take(pa.array(rows, pa.int64())).to_pylist()
        taken, rest = self._crew.fast.take(values)
        for group in taken:
            if group.rows:
                layout = self._layout(group.compiled.xid)
                columns = self._crew.fast.to_columns(layout, group)
                index = pa.array([rows[row] for row in group.rows], pa.int64())
                parts.pieces.append(Piece(layout, columns, index))
        return [rows[row] for row in sorted(rest)]

    def _by_judge(self, lines: Lines, rows: list[int], parts: Parts) -> None:
        """One line after the other, with the reasons of those that do not land."""
        accepted: dict[tuple[str, bool], list[tuple[int, Accepted]]] = {}
        for row in rows:
            line: bytes = lines.values[row].as_py()
            verdict = self._crew.judge.judge(line)
            if isinstance(verdict, Rejected):
                parts.letters.append(letter(line, verdict))
                parts.letter_rows.append(row)
            else:
                xid = str(verdict.match.definition.xid)
                accepted.setdefault((xid, verdict.native), []).append((row, verdict))
        for (xid, native), found in accepted.items():
            layout = self._layout(xid)
            table = _slow_table(layout, [verdict for _, verdict in found])
            index = pa.array([row for row, _ in found], pa.int64())
            parts.pieces.append(Piece(layout, table.columns, index, native))

    def _layout(self, xid: str) -> TableLayout:
        found = self._layouts.get(xid)
        if found is None:
            found = self._crew.layout(xid, self._order.plan)
            if (fit := self._order.fits.get(xid)) is not None:
                found = found.fitted(fit)
            found.refuse_unsuited()
            self._layouts[xid] = found
        return found

    def _write(
        self, files: dict[str, list[Any]], layout: TableLayout | None, table: pa.Table
    ) -> None:
        path = layout.path if layout else DEAD_LETTERS
        newest = pc.max(table["ce_time"]).value if "ce_time" in table.column_names else None
        reasons = Counter(table["rule"].to_pylist()) if layout is None else {}
        near = nearest(table) if layout is None else {}
        arrangement = layout.arrangement if layout else PLAIN
        guest = layout.definition if layout and layout.owner != layout.definition else ""
        for written in self._writer.write(path, table, arrangement):
            values = (
                path,
                json.dumps(layout.configuration if layout else {}),
                written.name,
                written.rows,
                written.size,
                written.partition,
                written.stats,
                newest,
                json.dumps(reasons),
                json.dumps(near),
                written.identities,
                guest,
            )
            for name, value in zip(RESULT.names, values, strict=True):
                files[name].append(value)
            reasons, near = {}, {}  # they are those of all files together


class Crew:
    """The judge, the fast path and the layouts for one catalog; a worker process keeps them.

    ``busy`` is how many tables the last partition had rows for.
    """

    def __init__(self, catalog: bytes, external: bytes, only: tuple[str, ...]) -> None:
        fetched = msgspec.json.decode(external, type=dict[str, External])
        self.judge = Judge(replace(load_bytes(catalog, "catalog"), external=fetched), only=only)
        self.kernel = kernel.KernelPath(self.judge) if kernel.available() else None
        self.fast = fast.FastPath(self.judge)
        self.busy = 0
        self._layouts: dict[tuple[str, TablePlan], TableLayout] = {}

    def layout(self, xid: str, plan: TablePlan) -> TableLayout:
        """The layout of a definition's table by the catalog alone, made once."""
        key = (xid, plan)
        if key not in self._layouts:
            compiled = self.judge.matcher.definition(xid)
            self._layouts[key] = plan.layout(self.judge.matcher.catalog, compiled)
        return self._layouts[key]


@lru_cache(maxsize=2)
def _crew(catalog: bytes, external: bytes, only: tuple[str, ...]) -> Crew:
    return Crew(catalog, external, only)


_LETTER = pa.schema([f for f in SCHEMA if f.name not in PLACE])


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
