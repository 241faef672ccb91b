"""Parquet files of one table: compact, and fast to write."""

from __future__ import annotations

import os
import uuid
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from heraldry.pipeline.delta import DataFile

_SAMPLE = 256


class ParquetWriter:
    """Writes the files of a batch; remembers per table which columns repeat their values."""

    def __init__(self, warehouse: str, batch: int) -> None:
        self._warehouse = warehouse
        self._batch = batch
        self._repeating: dict[str, list[str]] = {}

    def write(self, path: str, table: pa.Table) -> DataFile:
        """Write one file into a table's folder, under a name that no retry can take."""
        folder = os.path.join(self._warehouse, path)
        os.makedirs(folder, exist_ok=True)
        name = f"part-{self._batch:08d}-{uuid.uuid4()}.parquet"
        target = os.path.join(folder, name)
        columns: Any = self._dictionaries(path, table) or False
        # Statistics help readers skip; the Arrow schema would only repeat the table's own.
        pq.write_table(
            table, target, compression="zstd", use_dictionary=columns, store_schema=False
        )
        return DataFile(name=name, rows=table.num_rows, size=os.path.getsize(target))

    def _dictionaries(self, path: str, table: pa.Table) -> list[str]:
        """Columns worth a dictionary: those whose first values mostly repeat."""
        if path not in self._repeating:
            found: list[str] = []
            for field, column in zip(table.schema, table.columns, strict=True):
                head = column.slice(0, _SAMPLE).combine_chunks()
                _collect(field.name, head, found)
            self._repeating[path] = found
        return self._repeating[path]


def _collect(name: str, array: pa.Array, found: list[str]) -> None:
    kind = array.type
    if pa.types.is_struct(kind):
        for field, child in zip(kind, array.flatten(), strict=True):
            _collect(f"{name}.{field.name}", child, found)
    elif pa.types.is_list(kind):
        _collect(f"{name}.list.element", array.flatten(), found)
    elif _is_text(kind) and len(array) >= 2 * pc.count_distinct(array).as_py() > 0:
        found.append(name)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_dictionary(kind))
