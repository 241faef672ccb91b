"""Delta tables: made once, committed to once per batch, and read with their partitions."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from deltalake import DeltaTable

from heraldry.pipeline.lake import delta
from heraldry.pipeline.lake.arrangement import Arrangement
from heraldry.pipeline.lake.data_file import DataFile
from heraldry.pipeline.lake.layout import path_part
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.landing.parquet import ParquetWriter

SCHEMA = pa.schema([("a", pa.int64()), ("b", pa.struct([("c", pa.string())]))])
CONFIGURATION = {"heraldry.definition": "/x", "heraldry.name": json.dumps(["d", "g", "m"])}
TABLE = "table"


def write(storage: Storage, rows: int, batch: int = 0) -> list[DataFile]:
    table = pa.Table.from_pylist([{"a": n, "b": {"c": "x"}} for n in range(rows)], schema=SCHEMA)
    return ParquetWriter(storage, batch).write(TABLE, table)


@pytest.fixture
def storage(tmp_path: Path) -> Storage:
    found = Storage.open(str(tmp_path))
    delta.create_table(found, TABLE, SCHEMA, CONFIGURATION)
    return found


def opened(storage: Storage, path: str = TABLE) -> DeltaTable:
    table = delta.open_table(storage, path)
    assert table is not None
    return table


def test_no_table(tmp_path: Path) -> None:
    storage = Storage.open(str(tmp_path))
    assert delta.open_table(storage, "") is None
    assert delta.open_table(storage, "none") is None


def test_a_table_knows_what_it_is_of(storage: Storage) -> None:
    metadata = opened(storage).metadata()
    assert metadata.name == "d.g.m"
    assert metadata.description == "/x"
    assert CONFIGURATION.items() <= metadata.configuration.items()
    assert delta.row_count(opened(storage)) == 0


def test_creating_again_changes_nothing(storage: Storage) -> None:
    delta.commit_files(opened(storage), write(storage, 3), "job", 0)
    table = delta.create_table(storage, TABLE, SCHEMA, CONFIGURATION)
    assert delta.row_count(table) == 3


def test_a_batch_is_committed_once(storage: Storage) -> None:
    files = [*write(storage, 3), *write(storage, 4)]
    assert delta.commit_files(opened(storage), files, "job", 0) == 1
    assert delta.commit_files(opened(storage), files, "job", 0) == 1
    assert delta.row_count(opened(storage)) == 7
    assert opened(storage).to_pyarrow_table().num_rows == 7
    assert opened(storage).version() == 1


def test_batches_follow_one_another(storage: Storage) -> None:
    for version, batch in enumerate((0, 1, 5), 1):
        written = write(storage, 1, batch)
        assert delta.commit_files(opened(storage), written, "job", batch) == version
    assert delta.commit_files(opened(storage), write(storage, 1, 4), "job", 4) == 3
    assert opened(storage).transaction_version("job") == 5
    assert delta.row_count(opened(storage)) == 3


def test_jobs_count_by_themselves(storage: Storage) -> None:
    assert delta.commit_files(opened(storage), write(storage, 1), "job", 7)
    assert delta.commit_files(opened(storage), write(storage, 1), "other", 0)
    assert delta.row_count(opened(storage)) == 2


def test_files_nobody_committed_are_not_there(storage: Storage) -> None:
    write(storage, 3)
    assert delta.row_count(opened(storage)) == 0
    assert opened(storage).to_pyarrow_table().num_rows == 0


def test_partitions_are_read_from_the_log(tmp_path: Path) -> None:
    arrangement = Arrangement((("day", "date"), ("shop", "string")))
    storage = Storage.open(str(tmp_path))
    rows = [
        {"a": 1, "day": date(2026, 11, 16), "shop": "a b/ü~%41"},
        {"a": 2, "day": None, "shop": "x"},
        {"a": 3, "day": date(2026, 11, 17), "shop": None},
    ]
    fields = [("a", pa.int64()), *((field.name, field.type) for field in arrangement.fields)]
    told = pa.Table.from_pylist(rows, schema=pa.schema(fields))
    files = ParquetWriter(storage, 0).write(TABLE, told, arrangement)
    first = delta.schema_of_file(storage, TABLE, files[0])
    assert first.names == ["a"]
    made = delta.create_table(storage, TABLE, first, {**CONFIGURATION, **arrangement.configuration})
    delta.commit_files(made, files, "job", 0)
    table = opened(storage)
    assert table.metadata().partition_columns == ["day", "shop"]
    assert delta.table_rows(storage, table).sort_by("a").to_pylist() == rows
    assert pl.read_delta(storage.join(TABLE)).sort("a").to_dicts() == rows
    where = pc.field("shop") == "x"
    assert delta.table_rows(storage, table, ["a"], where).to_pylist() == [{"a": 2}]
    assert delta.table_files(storage, table).head(2).num_rows == 2


@pytest.mark.parametrize("part", ["a/b", "_x", "ü", "a b:c", "100%", "~"], ids=ascii)
def test_folders_of_odd_names(tmp_path: Path, part: str) -> None:
    """delta-rs decodes percent signs in paths: no folder of ours has one."""
    name, storage = path_part(part), Storage.open(str(tmp_path))
    delta.create_table(storage, name, SCHEMA, CONFIGURATION)
    rows = pa.Table.from_pylist([{"a": 1}, {"a": 2}], schema=SCHEMA)
    delta.commit_files(opened(storage, name), ParquetWriter(storage, 0).write(name, rows), "job", 0)
    assert delta.table_rows(storage, opened(storage, name)).num_rows == 2
    assert (tmp_path / name / "_delta_log").is_dir()
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_columns_that_another_job_adds_at_the_same_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = Storage.open(str(tmp_path))
    wanted = pa.schema([("a", pa.string()), ("b", pa.int64())])
    delta.create_table(storage, "t", pa.schema([("a", pa.string())]), {})
    late, open_table = [opened(storage, "t")], delta.open_table
    delta.add_columns(storage, "t", wanted)  # the other one
    monkeypatch.setattr(delta, "open_table", lambda *at: late.pop() if late else open_table(*at))
    delta.add_columns(storage, "t", wanted)
    assert [found.name for found in opened(storage, "t").schema().fields] == ["a", "b"]
    assert opened(storage, "t").version() == 1


def test_columns_that_an_earlier_table_lacks(tmp_path: Path) -> None:
    storage = Storage.open(str(tmp_path))
    delta.add_columns(storage, "t", pa.schema([("a", pa.string())]))  # there is no table
    delta.create_table(storage, "t", pa.schema([("a", pa.string())]), {})
    for _ in range(2):
        delta.add_columns(storage, "t", pa.schema([("a", pa.string()), ("b", pa.int64())]))
    table = delta.open_table(storage, "t")
    assert table is not None
    assert [found.name for found in table.schema().fields] == ["a", "b"]
    assert table.version() == 1
