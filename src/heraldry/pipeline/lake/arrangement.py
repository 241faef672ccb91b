"""How the rows of a table are arranged: in which partitions, and in which order in a file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any
from urllib.parse import quote

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

PARTITION_KEY = "heraldry.partition"
CLUSTER_KEY = "heraldry.cluster"
_NULL = "__HIVE_DEFAULT_PARTITION__"
_LONGEST = 200
_TYPES: dict[str, pa.DataType] = {
    "string": pa.string(),
    "long": pa.int64(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
}
_MADE = {"_day": "date", "_hour": "string"}
"""Columns that are made of when a message was sent, or else received."""


class Arrangement(msgspec.Struct, frozen=True):
    """``partitions`` are columns with their Delta types, ``cluster`` the columns to sort by."""

    partitions: tuple[tuple[str, str], ...] = ()
    cluster: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, partition_by: Sequence[str], cluster_by: Sequence[str], schema: pa.Schema
    ) -> Arrangement:
        """What a table with these columns does of what was asked.

        It skips columns that it has not, and those whose type does not do: :func:`unsuited`.
        """
        partitions: list[tuple[str, str]] = []
        for asked in partition_by:
            if (made := made_column(asked)) is not None:
                partitions.append((made, _MADE[made]))
            elif (name := _spelling(asked, schema)) is not None:
                kind = _partition_type(schema.field(name).type)
                partitions += [] if kind is None else [(name, kind)]
        found = [name for asked in cluster_by if (name := _spelling(asked, schema)) is not None]
        plain = [name for name in found if not pa.types.is_nested(schema.field(name).type)]
        return cls(tuple(dict.fromkeys(partitions)), tuple(dict.fromkeys(plain)))

    @classmethod
    def read(cls, configuration: Mapping[str, str]) -> Arrangement:
        """What a table says of itself."""
        partitions = json.loads(configuration.get(PARTITION_KEY, "{}"))
        return cls(
            tuple(partitions.items()), tuple(json.loads(configuration.get(CLUSTER_KEY, "[]")))
        )

    @property
    def configuration(self) -> dict[str, str]:
        """What a table keeps of it."""
        told = {}
        if self.partitions:
            told[PARTITION_KEY] = json.dumps(dict(self.partitions))
        if self.cluster:
            told[CLUSTER_KEY] = json.dumps(self.cluster)
        return told

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that rows are divided by."""
        return tuple(name for name, _ in self.partitions)

    @property
    def fields(self) -> tuple[pa.Field, ...]:
        """The columns that rows are divided by, with their types."""
        return tuple(pa.field(name, _TYPES[kind]) for name, kind in self.partitions)

    @property
    def made(self) -> tuple[str, ...]:
        """The columns that no message has: the day, the hour."""
        return tuple(name for name in self.names if name in _MADE)

    def derived(self, table: pa.Table) -> dict[str, pa.Array]:
        """The columns made of when a message was sent, or else received: its day, its hour."""
        if not self.made or "_received" not in table.column_names:
            return {}
        instant = table["_received"]
        if "ce_time" in table.column_names:
            instant = pc.coalesce(table["ce_time"], instant)
        return {
            name: instant.cast(pa.date32())
            if _MADE[name] == "date"
            else pc.strftime(instant, format="%Y-%m-%dT%H")
            for name in self.made
        }

    def split(self, table: pa.Table) -> Iterator[tuple[dict[str, str | None], pa.Array | None]]:
        """The partitions of some rows: the values of each, and its rows in their order.

        None as rows are all of them, as they are.
        """
        present = [name for name in self.names if name in table.column_names]
        keys = [*present, *(name for name in self.cluster if name in table.column_names)]
        if not keys:
            yield dict.fromkeys(self.names), None
            return
        order = pc.sort_indices(table, sort_keys=[(key, "ascending") for key in keys])
        if not present:
            yield dict.fromkeys(self.names), order
            return
        values = table.select(present).take(order).combine_chunks()
        starts = _starts(values)
        for begin, end in zip(starts, [*starts[1:], table.num_rows], strict=True):
            row = {name: values[name][begin].as_py() for name in present}
            yield (
                {name: partition_text(row.get(name)) for name in self.names},
                order.slice(begin, end - begin),
            )


PLAIN = Arrangement()
"""No partitions, and rows in the order in which they came."""


def made_column(asked: str) -> str | None:
    """The column that is made for ``day`` or ``hour``; None for the name of any other column."""
    made = f"_{asked.removeprefix('_')}"
    return made if made in _MADE else None


def unsuited(
    partition_by: Sequence[str], cluster_by: Sequence[str], schema: pa.Schema
) -> tuple[str, str]:
    """Why rows with these columns cannot be arranged as asked, and advice; else empty texts."""
    for asked in partition_by:
        name = None if made_column(asked) else _spelling(asked, schema)
        if name is not None and _partition_type(schema.field(name).type) is None:
            reason = f"rows cannot be partitioned by {name}, which is {schema.field(name).type}"
            return reason, "choose texts, integers, booleans or dates"
    for asked in cluster_by:
        name = _spelling(asked, schema)
        if name is not None and pa.types.is_nested(schema.field(name).type):
            reason = f"rows cannot be ordered by {name}, which is {schema.field(name).type}"
            return reason, "choose columns with plain values"
    return "", ""


def partition_folder(values: Mapping[str, str | None]) -> str:
    """The folder of a partition: ``_day=2026-11-16/shop=a%20b/``, or nothing."""
    return "".join(f"{_escaped(name)}={_folder(value)}/" for name, value in values.items())


def _starts(values: pa.Table) -> list[int]:
    """Where another partition begins, in rows that are sorted by partition."""
    rows = values.num_rows
    if rows < 2:
        return list(range(rows))
    change = None
    for column in values.columns:
        before, after = column.slice(0, rows - 1), column.slice(1)
        same = pc.or_(
            pc.fill_null(pc.equal(before, after), False),
            pc.and_(pc.is_null(before), pc.is_null(after)),
        )
        differs = pc.invert(same)
        change = differs if change is None else pc.or_(change, differs)
    found: list[int] = pc.add(pc.indices_nonzero(change), 1).to_pylist()
    return [0, *found]


def _spelling(asked: str, schema: pa.Schema) -> str | None:
    """The name of a column, which is told by any case."""
    return next((name for name in schema.names if name.lower() == asked.lower()), None)


def _partition_type(kind: pa.DataType) -> str | None:
    """The Delta type of a column that rows can be divided by."""
    return next((known for known, arrow in _TYPES.items() if arrow == kind), None)


def partition_text(value: Any) -> str | None:
    """A value of a partition as Delta writes it, which takes an empty text for null."""
    if value is None or isinstance(value, str):
        return value or None
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.isoformat() if isinstance(value, date) else str(value)


def _folder(value: str | None) -> str:
    """A value as a folder's name; a long one ends with a digest, for the log has the whole."""
    if value is None:
        return _NULL
    encoded = _escaped(value)
    if len(encoded) <= _LONGEST:
        return encoded
    return f"{encoded[:_LONGEST].rstrip('%')}-{hashlib.sha256(value.encode()).hexdigest()[:16]}"


def _escaped(text: str) -> str:
    # delta-rs cannot rewrite files below a folder with a tilde.
    return quote(text, safe="").replace("~", "%7E")
