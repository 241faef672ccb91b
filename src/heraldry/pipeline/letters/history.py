"""What became of replayed letters: a Delta table of its own, only ever added to."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from heraldry.pipeline.lake import delta
from heraldry.pipeline.lake.layout import NAME_KEY
from heraldry.pipeline.lake.storage import Storage

REPLAYS = "_replays"
CONFIGURATION = {NAME_KEY: json.dumps([REPLAYS])}
SCHEMA = pa.schema(
    [
        ("letter", pa.string()),
        ("replay", pa.int64()),
        ("attempt", pa.int64()),
        ("outcome", pa.string()),
        ("stage", pa.string()),
        ("rule", pa.string()),
        ("message", pa.string()),
        ("definition", pa.string()),
        ("table", pa.string()),
        ("at", pa.timestamp("us", "UTC")),
        ("catalog", pa.string()),
        ("foreign", pa.bool_()),
        ("received", pa.timestamp("us", "UTC")),
    ]
)
"""The columns; ``foreign``: the message inside was judged. It is null in rows of old, which were
judged as they are. ``received`` is the letter's own, null in rows of old.
"""
LANDED, REFUSED, MASKED, REPEATED = "landed", "refused", "masked", "repeated"
_CLOSED = pa.array([LANDED, REPEATED])
_KNOWN = ["letter", "replay", "outcome", "catalog", "foreign", "received"]


@dataclass(frozen=True, slots=True)
class History:
    """All attempts of a warehouse, as far as a replay must know them."""

    rows: pa.Table

    @classmethod
    def read(cls, storage: Storage) -> History:
        """The history of a warehouse; empty where nothing was replayed."""
        table = delta.open_table(storage, REPLAYS)
        if table is None:
            return cls(SCHEMA.empty_table())
        found = {one.name for one in table.schema().fields}
        rows = delta.table_rows(storage, table, [name for name in _KNOWN if name in found])
        for lacking in (SCHEMA.field(name) for name in _KNOWN if name not in found):
            rows = rows.append_column(lacking, pa.nulls(len(rows), lacking.type))
        return cls(rows.select(_KNOWN))

    def with_rows(self, rows: pa.Table) -> History:
        """The history with what was just added to it."""
        return History(pa.concat_tables([self.rows.select(_KNOWN), rows.select(_KNOWN)]))

    @property
    def last(self) -> int:
        """The number of the last replay; 0 before the first."""
        return pc.max(self.rows["replay"]).as_py() or 0

    def letters(self, outcome: str) -> pa.Array:
        """The ids of letters that once had an outcome."""
        rows = self.rows.filter(pc.equal(self.rows["outcome"], outcome))
        return _array(rows["letter"].unique())

    @property
    def outcomes(self) -> dict[str, int]:
        """How many letters had which outcome last; of one that was tried again, no other counts."""
        keyed = self.rows.append_column("key", _keys(self.rows)).sort_by("replay")
        last = keyed.group_by("key", use_threads=False).aggregate([("outcome", "last")])
        counted = last.group_by("outcome_last").aggregate([([], "count_all")])
        names, numbers = counted["outcome_last"].to_pylist(), counted["count_all"].to_pylist()
        return dict(sorted(zip(names, numbers, strict=True)))

    @property
    def closed(self) -> pa.Array:
        """The letters that are done with, for :func:`among`: their message is in a table."""
        done = pc.is_in(self.rows["outcome"], value_set=_CLOSED)
        return _array(_keys(self.rows.filter(done)).unique())

    def refused(self, catalog: str, attempts: int, *, foreign: bool) -> pa.Array:
        """Those that a catalog refused so many times, or more, read in one of two ways.

        They are for :func:`among`. Rows of old count for every letter of their id.
        """
        way = pc.equal(pc.coalesce(self.rows["foreign"], pa.scalar(False)), foreign)
        same = pc.and_(way, pc.equal(self.rows["catalog"], catalog))
        rows = self.rows.filter(pc.and_(same, pc.equal(self.rows["outcome"], REFUSED)))
        keyed = rows.append_column("key", _keys(rows)).group_by(["letter", "key"])
        counted = keyed.aggregate([([], "count_all")])
        bare = pc.equal(counted["letter"], counted["key"])
        old = counted.filter(bare)
        at = pc.index_in(counted["letter"], value_set=_array(old["letter"]))
        before = pc.coalesce(old["count_all"].take(at), pa.scalar(0, pa.int64()))
        times = pc.add(counted["count_all"], pc.if_else(bare, pa.scalar(0, pa.int64()), before))
        return _array(counted["key"].filter(pc.greater_equal(times, attempts)))

    def attempts(self, letters: pa.Array) -> dict[str, int]:
        """How often each of some letters was judged again."""
        tried = pc.not_equal(self.rows["outcome"], MASKED)
        some = pc.and_(tried, pc.is_in(self.rows["letter"], value_set=letters))
        counted = self.rows.filter(some).group_by("letter").aggregate([([], "count_all")])
        return dict(
            zip(counted["letter"].to_pylist(), counted["count_all"].to_pylist(), strict=True)
        )


def among(letters: pa.RecordBatch, known: pa.Array) -> pa.Array:
    """Which letters a history knows.

    A place that comes again, as in a topic that was made anew, makes another letter of the same
    id, which the time of receipt tells apart. What is compared is one letter's own time in both
    tables: no two clocks. Rows of old, without that time, mean every letter of the id.
    """
    ids, keys = letters["letter"], _keys(letters)
    # What is sought is hashed each time: the letters of a batch, and not a whole history.
    met = known.filter(pc.is_in(known, value_set=pa.concat_arrays([ids, keys])))
    return pc.or_(pc.is_in(ids, value_set=met), pc.is_in(keys, value_set=met))


def replays_of(storage: Storage, letter: str, received: datetime | None) -> list[dict[str, Any]]:
    """Every attempt with one letter, the first one first."""
    table = delta.open_table(storage, REPLAYS)
    if table is None:
        return []
    rows = delta.table_rows(storage, table, where=pc.field("letter") == letter)
    found: list[dict[str, Any]] = rows.sort_by("replay").to_pylist()
    return [row for row in found if row.pop("received", None) in (None, received)]


def _keys(letters: pa.Table | pa.RecordBatch) -> pa.Array | pa.ChunkedArray:
    """``ID@MICROSECONDS``, or the id alone where it is not known when the letter was received."""
    micros = letters["received"].cast(pa.int64()).cast(pa.string())
    return pc.binary_join_element_wise(letters["letter"], micros, "@", null_handling="skip")


def _array(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
