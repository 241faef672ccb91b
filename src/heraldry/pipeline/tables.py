"""The tables of a warehouse: what is there, how many rows, which columns."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from heraldry.errors import WarehouseError
from heraldry.pipeline.delta import open_table, row_count, table_files
from heraldry.pipeline.layout import DEFINITION_KEY, NAME_KEY

_SPARK_NAMES = {"long": "bigint", "integer": "int", "short": "smallint", "byte": "tinyint"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TableInfo:
    """One table of one definition; columns are pairs of name and Spark type."""

    definition: str
    name: tuple[str, ...]
    path: str
    rows: int
    columns: tuple[tuple[str, str], ...]


def tables(warehouse: str) -> tuple[TableInfo, ...]:
    """Every table of a warehouse, by name; the dead letters are not one of them."""
    if not os.path.isdir(warehouse):
        raise WarehouseError(warehouse, "there is no such warehouse", "land something there first")
    return tuple(sorted(_find(warehouse), key=lambda info: info.name))


def sample_rows(path: str, limit: int) -> list[dict[str, Any]]:
    """Some rows of a table."""
    table = open_table(path)
    if table is None:
        raise WarehouseError(path, "there is no table here")
    rows: list[dict[str, Any]] = table_files(table).head(limit).to_pylist()
    return rows


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


def _find(warehouse: str) -> Iterator[TableInfo]:
    """Tables stand three folders deep; what starts with ``_`` is the warehouse's own."""
    for database in _folders(warehouse):
        for group in _folders(database):
            for path in _folders(group):
                if (info := _info(path)) is not None:
                    yield info


def _folders(path: str) -> Iterator[str]:
    with os.scandir(path) as entries:
        for entry in sorted(entries, key=lambda e: e.name):
            if entry.is_dir() and not entry.name.startswith("_"):
                yield entry.path


def _info(path: str) -> TableInfo | None:
    table = open_table(path)
    if table is None:
        return None
    configuration = table.metadata().configuration
    if DEFINITION_KEY not in configuration:
        return None
    fields = json.loads(table.schema().to_json())["fields"]
    return TableInfo(
        definition=configuration[DEFINITION_KEY],
        name=tuple(json.loads(configuration[NAME_KEY])),
        path=path,
        rows=row_count(table),
        columns=tuple((field["name"], spark_type(field["type"])) for field in fields),
    )
