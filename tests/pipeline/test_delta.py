"""Delta tables: made once, committed to once per batch, widened but never changed."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from heraldry.errors import WarehouseError
from heraldry.pipeline import delta
from heraldry.pipeline.layout import path_part
from heraldry.pipeline.parquet import ParquetWriter

SCHEMA = pa.schema([("a", pa.int64()), ("b", pa.struct([("c", pa.string())]))])
CONFIGURATION = {"heraldry.definition": "/x", "heraldry.name": json.dumps(["d", "g", "m"])}


def write(folder: Path, rows: int, batch: int = 0) -> delta.DataFile:
    table = pa.Table.from_pylist([{"a": n, "b": {"c": "x"}} for n in range(rows)], schema=SCHEMA)
    return ParquetWriter(str(folder.parent), batch).write(folder.name, table)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    delta.create_table(str(tmp_path / "table"), SCHEMA, CONFIGURATION)
    return tmp_path / "table"


def opened(folder: Path) -> DeltaTable:
    table = delta.open_table(str(folder))
    assert table is not None
    return table


def test_no_table(tmp_path: Path) -> None:
    assert delta.open_table(str(tmp_path)) is None
    assert delta.open_table(str(tmp_path / "none")) is None


def test_a_table_knows_what_it_is_of(folder: Path) -> None:
    metadata = opened(folder).metadata()
    assert metadata.name == "d.g.m"
    assert metadata.description == "/x"
    assert CONFIGURATION.items() <= metadata.configuration.items()
    assert delta.row_count(opened(folder)) == 0


def test_creating_again_changes_nothing(folder: Path) -> None:
    delta.commit_files(opened(folder), [write(folder, 3)], "job", 0)
    table = delta.create_table(str(folder), SCHEMA, CONFIGURATION)
    assert delta.row_count(table) == 3


def test_a_batch_is_committed_once(folder: Path) -> None:
    files = [write(folder, 3), write(folder, 4)]
    assert delta.commit_files(opened(folder), files, "job", 0)
    assert not delta.commit_files(opened(folder), files, "job", 0)
    assert delta.row_count(opened(folder)) == 7
    assert opened(folder).to_pyarrow_table().num_rows == 7
    assert opened(folder).version() == 1


def test_batches_follow_one_another(folder: Path) -> None:
    for batch in (0, 1, 5):
        assert delta.commit_files(opened(folder), [write(folder, 1, batch)], "job", batch)
    assert not delta.commit_files(opened(folder), [write(folder, 1, 4)], "job", 4)
    assert opened(folder).transaction_version("job") == 5
    assert delta.row_count(opened(folder)) == 3


def test_jobs_count_by_themselves(folder: Path) -> None:
    assert delta.commit_files(opened(folder), [write(folder, 1)], "job", 7)
    assert delta.commit_files(opened(folder), [write(folder, 1)], "other", 0)
    assert delta.row_count(opened(folder)) == 2


def test_files_nobody_committed_are_not_there(folder: Path) -> None:
    write(folder, 3)
    assert delta.row_count(opened(folder)) == 0
    assert opened(folder).to_pyarrow_table().num_rows == 0


def test_a_table_widens(folder: Path) -> None:
    delta.commit_files(opened(folder), [write(folder, 2)], "job", 0)
    delta.widen_table(str(folder), SCHEMA.append(pa.field("c", pa.timestamp("us", "UTC"))))
    table = opened(folder).to_pyarrow_table()
    assert table.column_names == ["a", "b", "c"]
    assert table["c"].to_pylist() == [None, None]
    assert CONFIGURATION.items() <= opened(folder).metadata().configuration.items()


def test_a_table_that_fits_is_left_alone(folder: Path) -> None:
    delta.widen_table(str(folder), SCHEMA)
    delta.widen_table(str(folder), pa.schema([SCHEMA.field("a")]))
    assert opened(folder).version() == 0
    delta.widen_table(str(folder.parent / "none"), SCHEMA)


@pytest.mark.parametrize(
    "field",
    [
        pa.field("a", pa.string()),
        pa.field("a", pa.float64()),
        pa.field("b", pa.string()),
        pa.field("b", pa.struct([("c", pa.int64())])),
        pa.field("b", pa.struct([("c", pa.string()), ("d", pa.string())])),
    ],
    ids=["string", "number", "record", "inner type", "inner member"],
)
def test_a_column_keeps_its_type(folder: Path, field: pa.Field) -> None:
    with pytest.raises(WarehouseError, match=f"of another type or name: {field.name} is ") as found:
        delta.widen_table(str(folder), pa.schema([field, pa.field("new", pa.string())]))
    assert "another --database" in str(found.value)
    assert opened(folder).version() == 0


def test_a_column_that_differs_in_case_only(folder: Path) -> None:
    """Spark and Delta do not tell such names apart: no table may get both."""
    with pytest.raises(WarehouseError):
        delta.widen_table(str(folder), pa.schema([pa.field("A", pa.string())]))


@pytest.mark.parametrize("part", ["a/b", "_x", "ü", "a b:c", "100%", "~"], ids=ascii)
def test_folders_of_odd_names(tmp_path: Path, part: str) -> None:
    """delta-rs decodes percent signs in paths: no folder of ours has one."""
    name = path_part(part)
    folder = tmp_path / name
    delta.create_table(str(folder), SCHEMA, CONFIGURATION)
    delta.commit_files(opened(folder), [write(folder, 2)], "job", 0)
    assert opened(folder).to_pyarrow_table().num_rows == 2
    assert (folder / "_delta_log").is_dir()
    assert [path.name for path in tmp_path.iterdir()] == [name]
