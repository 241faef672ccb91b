"""Parquet files of one table: compact, and fast to write."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from functools import lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from heraldry.errors import WarehouseError
from heraldry.pipeline.identities.digests import split_off
from heraldry.pipeline.lake.arrangement import PLAIN, Arrangement, partition_folder
from heraldry.pipeline.lake.data_file import DataFile
from heraldry.pipeline.lake.storage import Storage

_SAMPLE = 256
_FEW = 1000
"""Files of fewer rows get no bounds and no dictionaries: they would cost a good part of them."""
_LONGEST = 64
_MOST_TABLES = 20_000

MOST_PARTITIONS = 2_000
"""A table does not begin with more partitions in one write: that is a mistake, not a wish."""

_repeating: dict[tuple[str, ...], list[str]] = {}
"""Which columns of a table repeat their values; a worker learns it once, not in every batch."""


class ParquetWriter:
    """Writes the files of a batch."""

    def __init__(self, storage: Storage, batch: int) -> None:
        self._storage = storage
        self._batch = batch

    def write(self, path: str, table: pa.Table, arrangement: Arrangement = PLAIN) -> list[DataFile]:
        """Write rows into a table's folder, one file per partition, each as it is arranged."""
        files = []
        parts = list(arrangement.split(table))
        if len(parts) > MOST_PARTITIONS:
            self._refuse_to_begin(path, len(parts), arrangement)
        for values, order in parts:
            rows = table if order is None else table.take(order)
            rows = rows.drop_columns([name for name in values if name in rows.column_names])
            files.append(self._write(path, rows, values))
        return files

    def _refuse_to_begin(self, path: str, parts: int, arrangement: Arrangement) -> None:
        """Refuse so many partitions of a table that is still to be made, which may have others.

        One that exists keeps its partitions: the batch could never land.
        """
        if self._storage.exists(f"{path}/_delta_log"):
            return
        reason = f"a batch would make {parts:,} partitions by {', '.join(arrangement.names)}"
        advice = "leave out --partition-by, or name a column with fewer values"
        raise WarehouseError(path, reason, advice)

    def _write(self, path: str, table: pa.Table, values: Mapping[str, str | None]) -> DataFile:
        """One file, under a name that no retry can take; identities go beside it, not into it."""
        table, identities = split_off(table)
        name = f"{partition_folder(values)}part-{self._batch:08d}-{uuid.uuid4()}.parquet"
        many = table.num_rows >= _FEW
        columns = _dictionaries(path, table) if many else _once(table.schema)
        bounded = bounded_columns(table.schema) if many else []
        with self._storage.sink(f"{path}/{name}") as sink:
            # What packs closer costs a quarter more to write; compaction does so, once. The Arrow
            # schema would only repeat the table's own.
            with pq.ParquetWriter(
                sink,
                table.schema,
                compression="snappy",
                use_dictionary=columns or False,
                store_schema=False,
                write_statistics=bounded,
            ) as writer:
                writer.write_table(table.combine_chunks())
            size = sink.tell()
        return DataFile(
            name=name,
            rows=table.num_rows,
            size=size,
            partition=json.dumps(values),
            stats=_stats(writer.writer.metadata, bounded) if many else "",
            identities=identities,
        )


def _once(schema: pa.Schema) -> list[str]:
    """Columns whose texts stand once already."""
    return [field.name for field in schema if pa.types.is_dictionary(field.type)]


def _dictionaries(path: str, table: pa.Table) -> list[str]:
    """Columns worth a dictionary: those whose first values mostly repeat."""
    key = (path, *table.column_names)
    known = _repeating.get(key)
    if known is not None:
        return known
    if len(_repeating) >= _MOST_TABLES:
        _repeating.clear()
    found: list[str] = []
    for field, column in zip(table.schema, table.columns, strict=True):
        head = column.slice(0, _SAMPLE).combine_chunks()
        _collect(field.name, head, found)
    _repeating[key] = found
    return found


def bounded_columns(schema: pa.Schema) -> list[str]:
    """The columns that files tell the bounds of, for readers to skip files and parts of them by.

    Those of numbers with a fraction tell none: no bounds have what is no number between them, and
    readers take it for greater than all numbers. A dot in a name looks like a member of a record.
    """
    return [one.name for one in schema if "." not in one.name and _is_bounded(one.type)]


def _stats(metadata: Any, bounded: Sequence[str]) -> str:
    """What readers skip files by: rows, and the bounds and nulls of plain columns."""
    bounds: dict[str, dict[str, Any]] = {"minValues": {}, "maxValues": {}, "nullCount": {}}
    groups = [metadata.row_group(0)] if metadata.num_row_groups == 1 else []
    columns = (group.column(number) for group in groups for number in range(group.num_columns))
    for column in columns:
        name = column.path_in_schema
        found = column.statistics if name in bounded else None
        if found is None:
            continue
        bounds["nullCount"][name] = found.null_count
        if found.has_min_max:
            low, high = _bound(found.min), _bound(found.max)
            if low is not None and high is not None:
                bounds["minValues"][name], bounds["maxValues"][name] = low, high
    return json.dumps({"numRecords": metadata.num_rows, **bounds})


@lru_cache
def _is_bounded(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_integer(kind)
        or pa.types.is_string(kind)
        or pa.types.is_dictionary(kind)
        or pa.types.is_date(kind)
        or pa.types.is_timestamp(kind)
    )


def _bound(value: Any) -> Any:
    """A bound as Delta writes it; None for a text too long to be one."""
    if isinstance(value, datetime):
        return f"{value.replace(tzinfo=None).isoformat(timespec='microseconds')}Z"
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, str):
        return value if len(value) <= _LONGEST else None
    return value


def _collect(name: str, array: pa.Array, found: list[str]) -> None:
    kind = array.type
    if pa.types.is_struct(kind):
        for field, child in zip(kind, array.flatten(), strict=True):
            _collect(f"{name}.{field.name}", child, found)
    elif pa.types.is_list(kind):
        _collect(f"{name}.list.element", array.flatten(), found)
    elif pa.types.is_dictionary(kind) or (pa.types.is_string(kind) and _repeats(array)):
        found.append(name)


def _repeats(array: pa.Array) -> bool:
    """Whether values mostly repeat."""
    return bool(len(array) >= 2 * pc.count_distinct(array).as_py() > 0)
