"""Delta tables by delta-rs: create, widen, and commit the files of a batch exactly once."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Schema, Transaction
from deltalake.exceptions import DeltaError, TableNotFoundError
from deltalake.transaction import AddAction
from pyarrow import dataset

from heraldry.errors import WarehouseError
from heraldry.pipeline.layout import DEFINITION_KEY, NAME_KEY


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFile:
    """A Parquet file written for one table, not yet part of it."""

    name: str
    rows: int
    size: int


def open_table(path: str) -> DeltaTable | None:
    """The Delta table at a path, or None where there is none."""
    try:
        return DeltaTable(path)
    except TableNotFoundError:
        return None
    except DeltaError as error:
        # Its text goes on with a stack of Rust.
        reason = f"the Delta table cannot be read: {str(error).partition(chr(10))[0]}"
        raise WarehouseError(path, reason, "restore its _delta_log, or move it away") from error


def create_table(path: str, schema: pa.Schema, configuration: Mapping[str, str]) -> DeltaTable:
    """Create a table without rows; what it is the table of stands in its configuration."""
    name = configuration.get(NAME_KEY)
    return DeltaTable.create(
        path,
        schema,
        mode="ignore",
        name=".".join(json.loads(name)) if name else None,
        description=configuration.get(DEFINITION_KEY),
        configuration=dict(configuration),
        raise_if_key_not_exists=False,
    )


def commit_files(table: DeltaTable, files: Sequence[DataFile], job: str, batch: int) -> bool:
    """Add a batch's files in one commit; False where this job's batch is already there.

    The transaction identifier of the Delta protocol makes the commit happen once, however often
    a batch is tried again.
    """
    done = table.transaction_version(job)
    if done is not None and done >= batch:
        return False
    now = int(time.time() * 1000)
    actions: list[Any] = [
        AddAction(
            path=file.name,
            size=file.size,
            partition_values={},
            modification_time=now,
            data_change=True,
            stats=json.dumps({"numRecords": file.rows}),
        )
        for file in files
    ]
    table.create_write_transaction(
        actions,
        mode="append",
        schema=table.schema(),
        commit_properties=CommitProperties(app_transactions=[Transaction(job, batch)]),
    )
    return True


def widen_table(path: str, schema: pa.Schema) -> None:
    """Fit an existing table to a definition: columns may be added, none may change its type."""
    table = open_table(path)
    if table is None:
        return
    wanted = Schema.from_arrow(schema).fields
    # Spark does not tell names by their case: a table must never get both spellings.
    present = {field.name.lower(): field for field in table.schema().fields}
    changed = [
        f"{_column_text(present[field.name.lower()])}, now {_column_text(field)}"
        for field in wanted
        if field.name.lower() in present
        and _column_text(present[field.name.lower()]) != _column_text(field)
    ]
    if changed:
        reason = "the table has columns of another type or name: " + "; ".join(changed)
        raise WarehouseError(path, reason, "land into another --database or warehouse")
    added = [field for field in wanted if field.name.lower() not in present]
    if added:
        table.alter.add_columns(added)


def table_files(table: DeltaTable) -> dataset.Dataset:
    """The rows of a table, read from its files as plain ones.

    deltalake's own file system is Python called from Arrow's threads. One of them that lets go of a
    file while the interpreter shuts down aborts the process; over plain files none needs Python.
    """
    return dataset.dataset(table.file_uris(), schema=pa.schema(table.schema()), format="parquet")


def row_count(table: DeltaTable) -> int:
    """The rows of a table, from its log alone."""
    actions = pa.table(table.get_add_actions(flatten=True))
    return int(sum(count or 0 for count in actions.column("num_records").to_pylist()))


def _column_text(field: Any) -> str:
    """Name and type of a column, without nullability, which never differs between our tables."""
    return f"{field.name} is {json.dumps(json.loads(field.to_json())['type'], sort_keys=True)}"
