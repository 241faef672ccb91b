"""Delta tables by delta-rs: create, commit the files of a batch exactly once, and read."""

from __future__ import annotations

import functools
import json
import operator
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TypeVar
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake import CommitProperties, DeltaTable, Schema, Transaction
from deltalake.exceptions import CommitFailedError, DeltaError, TableNotFoundError
from deltalake.transaction import AddAction
from pyarrow import dataset, fs

from heraldry.errors import WarehouseError
from heraldry.pipeline.lake.arrangement import Arrangement
from heraldry.pipeline.lake.data_file import DataFile
from heraldry.pipeline.lake.layout import COLUMNS_KEY, DEFINITION_KEY, NAME_KEY, SCHEMA_KEY
from heraldry.pipeline.lake.log_mending import mend_log
from heraldry.pipeline.lake.storage import Storage

_TRIES = 5
T = TypeVar("T")


def tried(attempt: Callable[[], T]) -> T:
    """What an attempt gives: one that another's commit has foiled is made again, from reading on.

    delta-rs puts off a commit behind those that only add rows, but not behind another schema.
    """
    for _ in range(_TRIES):
        with suppress(CommitFailedError):
            return attempt()
    return attempt()


def open_table(storage: Storage, path: str) -> DeltaTable | None:
    """The Delta table at a path of a warehouse, or None where there is none."""
    address, options = storage.delta(path)
    # Asking delta-rs for a table that is not there costs most of making one.
    if storage.is_local and not os.path.isdir(os.path.join(storage.url, path, "_delta_log")):
        return None
    try:
        return DeltaTable(address, storage_options=dict(options))
    except TableNotFoundError:
        return None
    except (DeltaError, OSError) as error:
        if mend_log(storage, path):
            return open_table(storage, path)
        # Its text goes on with a stack of Rust.
        reason = f"the Delta table cannot be read: {str(error).partition(chr(10))[0]}"
        raise WarehouseError(address, reason, "restore its _delta_log, or move it away") from error


def create_table(
    storage: Storage, path: str, schema: pa.Schema, configuration: Mapping[str, str]
) -> DeltaTable:
    """Create a table without rows for files with these columns; it says what it is the table of.

    Its partitions, which no file has as columns, stand in the configuration. Who is first makes
    it: the result may be another's table.
    """
    name = configuration.get(NAME_KEY)
    address, options = storage.delta(path)
    with suppress(CommitFailedError):
        return DeltaTable.create(
            address,
            table_schema(schema, configuration),
            mode="ignore",
            partition_by=list(Arrangement.read(configuration).names) or None,
            storage_options=dict(options),
            name=".".join(json.loads(name)) if name else None,
            description=configuration.get(DEFINITION_KEY),
            configuration=kept(configuration),
            raise_if_key_not_exists=False,
            # Tried again, it would make the table of the first anew, in a second commit.
            commit_properties=CommitProperties(max_commit_retries=0),
        )
    return DeltaTable(address, storage_options=dict(options))


def table_schema(schema: pa.Schema, configuration: Mapping[str, str]) -> Schema:
    """All columns of a table that is made for files with these."""
    if SCHEMA_KEY in configuration:
        return Schema.from_json(configuration[SCHEMA_KEY])
    partitions = Arrangement.read(configuration).fields
    names = {found.name for found in partitions}
    return Schema.from_arrow(pa.schema([*(f for f in schema if f.name not in names), *partitions]))


def is_made_for(table: DeltaTable, schema: pa.Schema, configuration: Mapping[str, str]) -> bool:
    """Whether a table is the one that would be made for files with these columns."""
    metadata = table.metadata()
    return (
        table.schema() == table_schema(schema, configuration)
        and tuple(metadata.partition_columns) == Arrangement.read(configuration).names
        and metadata.configuration.get(COLUMNS_KEY) == configuration.get(COLUMNS_KEY)
    )


def kept(configuration: Mapping[str, str]) -> dict[str, str]:
    """The part of a configuration that a table keeps."""
    return {key: text for key, text in configuration.items() if key != SCHEMA_KEY}


def is_committed(table: DeltaTable, job: str, batch: int) -> bool:
    """Whether a table has a job's batch already, by its transaction identifiers."""
    done = table.transaction_version(job)
    return done is not None and done >= batch


def commit_files(table: DeltaTable, files: Sequence[DataFile], job: str, batch: int) -> int:
    """Add a batch's files in one commit: the version of the table that has them.

    The transaction identifier of the Delta protocol makes the commit happen once, however often
    a batch is tried again.
    """
    if is_committed(table, job, batch):
        return table.version()
    now = int(time.time() * 1000)
    actions: list[Any] = [
        AddAction(
            path=file.name,
            size=file.size,
            partition_values=json.loads(file.partition),
            modification_time=now,
            data_change=True,
            stats=file.stats or json.dumps({"numRecords": file.rows}),
        )
        for file in files
    ]
    table.create_write_transaction(
        actions,
        mode="append",
        schema=table.schema(),
        partition_by=table.metadata().partition_columns or None,
        commit_properties=CommitProperties(app_transactions=[Transaction(job, batch)]),
    )
    table.update_incremental()
    return table.version()


def schema_of_file(storage: Storage, path: str, file: DataFile) -> pa.Schema:
    """The columns of a file that was written for a table."""
    system, root = storage.filesystem()
    with system.open_input_file(f"{root}/{path}/{file.name}") as handle:
        return pq.read_schema(handle)


def add_columns(storage: Storage, path: str, schema: pa.Schema) -> None:
    """Give a table of ours the columns that an earlier version of it did not have.

    Another job may do so at the same moment; then there is nothing left to do.
    """

    def attempt() -> None:
        table = open_table(storage, path)
        if table is None:
            return
        known = {found.name for found in table.schema().fields}
        lacking = [found for found in Schema.from_arrow(schema).fields if found.name not in known]
        if lacking:
            table.alter.add_columns(lacking)

    tried(attempt)


def table_rows(
    storage: Storage, table: DeltaTable, columns: Sequence[str] | None = None, where: Any = None
) -> pa.Table:
    """Rows of a table: some columns of those that a condition of Arrow holds for."""
    found = table_files(storage, table)
    with files_named(storage, found.files):
        return found.to_table(columns=list(columns) if columns else None, filter=where)


@contextmanager
def files_named(storage: Storage, paths: Sequence[str]) -> Iterator[None]:
    """Where files of a table are read: WarehouseError for one that its log names and is gone."""
    try:
        yield
    except FileNotFoundError as error:
        system, _ = storage.filesystem()
        # Not every error says which one it is, and each does it in words of its own.
        infos = system.get_file_info(list(paths))
        gone = [info.path for info in infos if info.type == fs.FileType.NotFound]
        reason = "is gone, though its table names it"
        advice = "put it back, or give up its rows: DeltaTable.repair() of deltalake"
        raise WarehouseError(gone[0] if gone else str(error), reason, advice) from error


def table_files(storage: Storage, table: DeltaTable) -> dataset.FileSystemDataset:
    """The rows of a table, read from its files as plain ones; partitions are in its log only.

    deltalake's own file system is Python called from Arrow's threads. One of them that lets go of a
    file while the interpreter shuts down aborts the process; over plain files none needs Python.
    It also tells addresses, of tables and of files, with percent signs; paths have none.
    """
    system, _ = storage.filesystem()
    _, folder = Storage.at(table.table_uri).filesystem()
    schema, names = pa.schema(table.schema()), table.metadata().partition_columns
    actions = pa.table(table.get_add_actions(flatten=True))
    values = {name: actions.column(f"partition.{name}").to_pylist() for name in names}
    layout = dataset.ParquetFileFormat()
    fragments = [
        layout.make_fragment(
            f"{folder}/{unquote(path)}",
            system,
            _guarantee(schema, {name: column[row] for name, column in values.items()}),
        )
        for row, path in enumerate(actions.column("path").to_pylist())
    ]
    return dataset.FileSystemDataset(fragments, schema, layout, system)


def _guarantee(schema: pa.Schema, values: Mapping[str, Any]) -> Any:
    """What holds for every row of a file, by its partition."""
    terms = [
        pc.field(name).is_null()
        if value is None
        else pc.field(name) == pa.scalar(value, schema.field(name).type)
        for name, value in values.items()
    ]
    return functools.reduce(operator.and_, terms) if terms else None


def row_count(table: DeltaTable) -> int:
    """The rows of a table, from its log alone."""
    actions = pa.table(table.get_add_actions(flatten=True))
    return int(sum(count or 0 for count in actions.column("num_records").to_pylist()))
