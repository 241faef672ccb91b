"""Dead letters as they are kept: grouped by cause, one by one, or in batches."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import dataset

from heraldry.errors import UsageError
from heraldry.pipeline.lake.delta import files_named, open_table, row_count
from heraldry.pipeline.lake.layout import DEAD_LETTERS
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.lake.tables import open_warehouse
from heraldry.pipeline.letters.history import History, among, replays_of
from heraldry.pipeline.letters.letter import SCHEMA, letter_ids

_GROUP = ("stage", "rule", "definition", "path", "message")
_SHORTEST_ID = 6
_AT_ONCE = 10_000
_TOLD_BY = ("letter", "source", "position", "received")
_WHOLE = (("count_all", "sum"), ("received_min", "min"), ("received_max", "max"))


@dataclass(frozen=True, slots=True, kw_only=True)
class LetterGroup:
    """Letters with the same cause."""

    stage: str
    rule: str
    definition: str | None
    path: str
    message: str
    count: int
    first: datetime
    last: datetime


def groups(
    warehouse: str, *, where: pc.Expression | None = None, closed: bool = False
) -> tuple[LetterGroup, ...]:
    """Letters by cause, the most frequent first; ``closed``: also those that landed later."""
    names = list(_GROUP)
    parts = [
        pa.Table.from_batches([batch])
        .group_by(names)
        .aggregate([([], "count_all"), ("received", "min"), ("received", "max")])
        for batch in letter_batches(
            open_warehouse(warehouse), [*_GROUP, "received"], where=where, closed=closed
        )
    ]
    if not parts:
        return ()
    whole = pa.concat_tables(parts).group_by(names).aggregate(list(_WHOLE))
    found = [_group(row) for row in whole.to_pylist()]
    return tuple(sorted(found, key=lambda g: (-g.count, g.stage, g.rule, g.path, g.message)))


def letters(
    warehouse: str,
    limit: int | None = None,
    *,
    where: pc.Expression | None = None,
    closed: bool = False,
    newest: bool = False,
) -> Iterator[dict[str, Any]]:
    """The letters themselves in order of arrival, each with the original message as ``line``.

    No more files are read than it takes for ``limit`` letters.
    """
    left = limit
    found = letter_batches(
        open_warehouse(warehouse), SCHEMA.names, where=where, closed=closed, newest=newest
    )
    for batch in found if limit != 0 else ():
        for row in batch.slice(0, left).to_pylist():
            yield shown(row)
        if left is not None:
            left -= batch.num_rows
            if left <= 0:
                return


def count_letters(
    warehouse: str, *, where: pc.Expression | None = None, closed: bool = False
) -> int:
    """How many letters there are; where all of them count, their table's log knows."""
    storage = open_warehouse(warehouse)
    if where is None and (closed or not len(History.read(storage).closed)):
        table = open_table(storage, DEAD_LETTERS)
        return 0 if table is None else row_count(table)
    found = letter_batches(storage, ["rule"], where=where, closed=closed)
    return sum(batch.num_rows for batch in found)


def find_letter(warehouse: str, start: str) -> dict[str, Any]:
    """The one letter whose id begins so, with what became of it; UsageError where none is."""
    storage = open_warehouse(warehouse)
    if len(start) < _SHORTEST_ID:
        raise UsageError(f"{start!r} is too short for the id of a letter", "six characters or more")
    found = []
    for batch in letter_batches(storage, SCHEMA.names, closed=True):
        some = batch.filter(pc.starts_with(batch["letter"], start))
        found += some.to_pylist()
    if len({row["letter"] for row in found}) != 1:
        told = "is no letter" if not found else "is the beginning of several letters"
        raise UsageError(f"{start!r} {told}", "heraldry dead-letters --rows -o json has the ids")
    # Of a place that came again the last one counts.
    last = max(found, key=lambda row: row["received"])
    became = replays_of(storage, last["letter"], last["received"])
    return shown(last) | {"replays": became}


def letter_batches(
    storage: Storage,
    columns: Sequence[str],
    *,
    where: pc.Expression | None = None,
    closed: bool = False,
    newest: bool = False,
) -> Iterator[pa.RecordBatch]:
    """Letters in order of arrival, file by file; only open ones unless ``closed``."""
    table = open_table(storage, DEAD_LETTERS)
    if table is None:
        return
    landed = None if closed else History.read(storage).closed
    identified = "letter" in columns or (landed is not None and len(landed) > 0)
    wanted = list(dict.fromkeys([*columns, *(_TOLD_BY * identified)]))
    system, root = storage.filesystem()
    for name in _files(table, newest=newest):
        path = f"{root}/{DEAD_LETTERS}/{name}"
        with files_named(storage, [path]):
            file = dataset.dataset(path, schema=SCHEMA, format="parquet", filesystem=system)
            batches: Iterator[pa.RecordBatch] = file.to_batches(
                columns=wanted,
                filter=where,
                batch_size=_AT_ONCE,
                batch_readahead=1,
                fragment_readahead=1,
            )
            for batch in _reversed(batches) if newest else batches:
                chosen = _with_ids(batch) if identified else batch
                if landed is not None and len(landed):
                    chosen = chosen.filter(pc.invert(among(chosen, landed)))
                if chosen.num_rows:
                    yield chosen.select(list(columns))


def _files(table: Any, *, newest: bool) -> list[str]:
    """The files of a table in the order of their commits, by the log alone."""
    actions = pa.table(table.get_add_actions(flatten=True))
    names, times = actions["path"].to_pylist(), actions["modification_time"].to_pylist()
    return [name for _, name in sorted(zip(times, names, strict=True), reverse=newest)]


def _reversed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in reversed(list(batches)):
        yield batch.take(pa.array(range(batch.num_rows - 1, -1, -1), pa.int64()))


def _with_ids(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Letters from before there were ids get one by their place alone."""
    column = batch["letter"]
    if not column.null_count:
        return batch
    ids = pc.coalesce(column, letter_ids("", batch["source"], batch["position"]))
    return batch.set_column(batch.schema.get_field_index("letter"), "letter", ids)


def _group(row: dict[str, Any]) -> LetterGroup:
    return LetterGroup(
        **{name: row[name] for name in _GROUP},
        count=row["count_all_sum"],
        first=row["received_min_min"],
        last=row["received_max_max"],
    )


def shown(row: dict[str, Any]) -> dict[str, Any]:
    """A letter as JSON can hold it: bytes that are no text become base64."""
    line: bytes = row.pop("line")
    row["problems"] = msgspec.json.decode(row["problems"])
    row["near"] = msgspec.json.decode(row["near"])
    row["masked"] = bool(row["masked"])
    for name in ("received", "time"):
        if row[name] is not None:
            row[name] = row[name].isoformat().replace("+00:00", "Z")
    try:
        row["line"] = line.decode()
    except UnicodeDecodeError:
        row["line_base64"] = base64.b64encode(line).decode()
    return row
