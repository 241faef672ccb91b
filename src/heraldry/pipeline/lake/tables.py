"""The tables of a warehouse: what is there, how many rows, which columns."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec
import pyarrow as pa

from heraldry.errors import WarehouseError
from heraldry.pipeline.lake.checkpoints import NOTED
from heraldry.pipeline.lake.delta import files_named, open_table, row_count, table_files
from heraldry.pipeline.lake.layout import (
    BATCH_LEDGER,
    CHECKPOINT,
    DEAD_LETTERS,
    DEFINITION_KEY,
    NAME_KEY,
    part_of,
)
from heraldry.pipeline.lake.storage import Storage

_SPARK_NAMES = {"long": "bigint", "integer": "int", "short": "smallint", "byte": "tinyint"}
_MARKS = frozenset({CHECKPOINT, NOTED, BATCH_LEDGER, DEAD_LETTERS})
"""The folders that a job begins in its warehouse before anything else, or leaves there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableInfo:
    """One table of one definition; columns are pairs of name and Spark type."""

    definition: str
    name: tuple[str, ...]
    path: str
    rows: int
    columns: tuple[tuple[str, str], ...]
    partitions: tuple[str, ...] = ()


def tables(warehouse: str) -> tuple[TableInfo, ...]:
    """Every table of a warehouse, by name; the dead letters are not one of them."""
    storage = open_warehouse(warehouse)
    found = (_info(storage, path) for path in table_paths(storage))
    return tuple(sorted((info for info in found if info is not None), key=lambda info: info.name))


def open_warehouse(warehouse: str) -> Storage:
    """A warehouse that is there: a job has begun in it, or it has a table in its place.

    Any other folder is none. One that has tables by other tools alone is known by them, which is
    looked for last: on object storage a warehouse of ours takes one listing.
    """
    storage = Storage.open(warehouse)
    if not (_MARKS.intersection(_names(storage, "")) or _has_table(storage)):
        raise WarehouseError(warehouse, "there is no such warehouse", "land something there first")
    return storage


def _has_table(storage: Storage) -> bool:
    return any(storage.exists(f"{path}/_delta_log") for path in table_paths(storage))


def table_paths(storage: Storage) -> Iterator[str]:
    """Tables stand three folders deep; what starts with ``_`` is the warehouse's own."""
    for database in _folders(storage, ""):
        for group in _folders(storage, database):
            yield from _folders(storage, group)


def databases(storage: Storage) -> set[str]:
    """The databases of a warehouse: those that have a table."""
    found: set[str] = set()
    for path in table_paths(storage):
        name = part_of(path.partition("/")[0])
        if name not in found and storage.exists(f"{path}/_delta_log"):
            found.add(name)
    return found


def sample_rows(path: str, limit: int) -> list[dict[str, Any]]:
    """Some rows of a table, as JSON can hold them: maps are objects.

    Numbers that JSON lacks are the words ``NaN``, ``Infinity`` and ``-Infinity``, as Protobuf has
    them: nobody may take them for a value that is not there.
    """
    storage = Storage.open(path)
    table = open_table(storage, "")
    if table is None:
        raise WarehouseError(path, "there is no table here")
    files = table_files(storage, table)
    with files_named(storage, files.files):
        rows = files.head(limit)
    kinds = {field.name: field.type for field in rows.schema}
    return [
        {name: _shown(value, kinds[name]) for name, value in row.items()}
        for row in rows.to_pylist()
    ]


def _shown(value: Any, kind: pa.DataType) -> Any:
    """A value of a type as JSON can hold it."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, dict):
        return {field.name: _shown(value[field.name], field.type) for field in kind}
    if not isinstance(value, list):
        return value
    if pa.types.is_map(kind):
        return {
            _name(_shown(key, kind.key_type)): _shown(one, kind.item_type) for key, one in value
        }
    return [_shown(one, kind.value_type) for one in value]


def _name(key: Any) -> str:
    """A key of a map as the name of a member, which only texts are."""
    return key if isinstance(key, str) else msgspec.json.encode(key, enc_hook=str).decode()


def spark_type(kind: Any) -> str:
    """A Delta type as Spark writes it: ``array<struct<sku:string,qty:bigint>>``."""
    if isinstance(kind, str):
        return _SPARK_NAMES.get(kind, kind)
    if kind["type"] == "array":
        return f"array<{spark_type(kind['elementType'])}>"
    if kind["type"] == "map":
        return f"map<{spark_type(kind['keyType'])},{spark_type(kind['valueType'])}>"
    inner = ",".join(f"{field['name']}:{spark_type(field['type'])}" for field in kind["fields"])
    return f"struct<{inner}>"


def _names(storage: Storage, path: str) -> list[str]:
    try:
        return storage.names(path)
    except NotADirectoryError:
        return []


def _folders(storage: Storage, path: str) -> Iterator[str]:
    for name in _names(storage, path):
        if not name.startswith(("_", ".")):
            yield f"{path}/{name}" if path else name


def _info(storage: Storage, path: str) -> TableInfo | None:
    table = open_table(storage, path)
    if table is None:
        return None
    configuration = table.metadata().configuration
    if DEFINITION_KEY not in configuration:
        return None
    fields = json.loads(table.schema().to_json())["fields"]
    return TableInfo(
        definition=configuration[DEFINITION_KEY],
        name=tuple(json.loads(configuration[NAME_KEY])),
        path=storage.join(path),
        rows=row_count(table),
        columns=tuple((field["name"], spark_type(field["type"])) for field in fields),
        partitions=tuple(table.metadata().partition_columns),
    )
