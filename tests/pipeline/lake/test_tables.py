"""The tables of a warehouse, as they are listed."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from heraldry.errors import WarehouseError
from heraldry.pipeline.lake import delta
from heraldry.pipeline.lake.arrangement import Arrangement
from heraldry.pipeline.lake.layout import path_part
from heraldry.pipeline.lake.ledger import Ledger
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.lake.tables import open_warehouse, sample_rows, spark_type, tables
from heraldry.pipeline.landing.parquet import ParquetWriter

SCHEMA = pa.schema(
    [
        ("a", pa.int64()),
        ("at", pa.timestamp("us", "UTC")),
        ("lines", pa.list_(pa.struct([("sku", pa.string()), ("qty", pa.int64())]))),
        ("raw", pa.binary()),
        ("ok", pa.bool_()),
        ("day", pa.date32()),
        ("x", pa.float64()),
    ]
)


def add_table(warehouse: Path, *name: str, rows: int = 0) -> str:
    path = "/".join(path_part(part) for part in name)
    configuration = {"heraldry.definition": f"/{name[-1]}", "heraldry.name": json.dumps(name)}
    storage = Storage.open(str(warehouse))
    table = delta.create_table(storage, path, SCHEMA, configuration)
    content = pa.Table.from_pylist([{"a": n} for n in range(rows)], schema=SCHEMA)
    delta.commit_files(table, ParquetWriter(storage, 0).write(path, content), "job", 0)
    return str(warehouse / path)


def test_no_warehouse(tmp_path: Path) -> None:
    with pytest.raises(WarehouseError, match="land something there first"):
        tables(str(tmp_path / "none"))


@pytest.mark.parametrize(
    "mark",
    ["_checkpoint", "_checkpoints", "_batches", "_dead_letters", "db/group/message/_delta_log"],
)
def test_a_warehouse_is_known_by_what_a_job_leaves(tmp_path: Path, mark: str) -> None:
    with pytest.raises(WarehouseError, match="there is no such warehouse"):
        open_warehouse(str(tmp_path))
    (tmp_path / mark).mkdir(parents=True)
    assert open_warehouse(str(tmp_path)).url == str(tmp_path)


@pytest.mark.parametrize("place", [".", "file", "sea/lake", "sea/lake/shop", "sea/lake/shop/a"])
def test_what_is_above_and_in_a_warehouse_is_none(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("x")
    add_table(tmp_path / "sea", "lake", "shop", "a", rows=1)
    with pytest.raises(WarehouseError, match="there is no such warehouse"):
        open_warehouse(str(tmp_path / place))


def test_a_job_that_has_landed_nothing_yet(tmp_path: Path) -> None:
    Ledger.open(str(tmp_path / "_checkpoint"))
    assert tables(str(tmp_path)) == ()


def test_tables_by_name(tmp_path: Path) -> None:
    second = add_table(tmp_path, "lake", "shop", "b.c", rows=3)
    first = add_table(tmp_path, "lake", "shop", "a", rows=2)
    third = add_table(tmp_path, "sea", "x", "y")
    found = tables(str(tmp_path))
    assert [(one.path, one.rows) for one in found] == [(first, 2), (second, 3), (third, 0)]
    assert found[1].name == ("lake", "shop", "b.c")
    assert found[1].definition == "/b.c"
    assert found[0].columns == (
        ("a", "bigint"),
        ("at", "timestamp"),
        ("lines", "array<struct<sku:string,qty:bigint>>"),
        ("raw", "binary"),
        ("ok", "boolean"),
        ("day", "date"),
        ("x", "double"),
    )


def test_what_is_no_table_of_ours(tmp_path: Path) -> None:
    add_table(tmp_path, "lake", "shop", "a")
    delta.create_table(Storage.open(str(tmp_path)), "_dead_letters", SCHEMA, {})
    delta.create_table(Storage.open(str(tmp_path)), "lake/shop/foreign", SCHEMA, {})
    (tmp_path / "_checkpoint" / "a" / "b").mkdir(parents=True)
    (tmp_path / "lake" / "shop" / "uncommitted").mkdir()
    (tmp_path / "lake" / "file").write_text("x")
    assert [one.name for one in tables(str(tmp_path))] == [("lake", "shop", "a")]


def test_some_rows(tmp_path: Path) -> None:
    path = add_table(tmp_path, "lake", "shop", "a", rows=5)
    assert [row["a"] for row in sample_rows(path, 2)] == [0, 1]
    assert len(sample_rows(path, 10)) == 5
    with pytest.raises(WarehouseError, match="no table here"):
        sample_rows(str(tmp_path), 1)


def test_rows_of_a_table_with_partitions(tmp_path: Path) -> None:
    storage, day = Storage.open(str(tmp_path)), Arrangement((("day", "date"),))
    configuration = {"heraldry.definition": "/x", "heraldry.name": json.dumps(["d", "g", "m"])}
    rows = pa.table({"a": [1, 2], "day": [date(2026, 11, 16), None]})
    files = ParquetWriter(storage, 0).write("d/g/m", rows, day)
    told = {**configuration, **day.configuration}
    table = delta.create_table(storage, "d/g/m", pa.schema([("a", pa.int64())]), told)
    delta.commit_files(table, files, "job", 0)
    (found,) = tables(str(tmp_path))
    assert (found.rows, found.partitions) == (2, ("day",))
    assert found.columns == (("a", "bigint"), ("day", "date"))
    sample = sample_rows(found.path, 5)
    assert sorted(sample, key=lambda row: int(row["a"])) == rows.to_pylist()


@pytest.mark.parametrize(
    ("kind", "key", "shown"),
    [
        pytest.param(pa.string(), "a", "a", id="text"),
        pytest.param(pa.int64(), -1, "-1", id="whole number"),
        pytest.param(pa.bool_(), True, "true", id="truth"),
        pytest.param(pa.float64(), float("nan"), "NaN", id="no number"),
        pytest.param(pa.date32(), date(2026, 11, 16), '"2026-11-16"', id="date"),
        pytest.param(pa.struct([("a", pa.int64())]), {"a": 1}, '{"a":1}', id="record"),
    ],
)
def test_keys_of_maps_are_names(tmp_path: Path, kind: pa.DataType, key: Any, shown: str) -> None:
    rows = pa.table({"by": pa.array([[(key, {"x": [float("inf")]})]], map_of(kind))})
    storage = Storage.open(str(tmp_path))
    table = delta.create_table(storage, "d/g/m", rows.schema, {})
    delta.commit_files(table, ParquetWriter(storage, 0).write("d/g/m", rows), "job", 0)
    assert sample_rows(str(tmp_path / "d/g/m"), 1) == [{"by": {shown: {"x": ["Infinity"]}}}]


def map_of(kind: pa.DataType) -> pa.DataType:
    return pa.map_(kind, pa.struct([("x", pa.list_(pa.float64()))]))


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("long", "bigint"),
        ("string", "string"),
        ({"type": "array", "elementType": "integer"}, "array<int>"),
        ({"type": "map", "keyType": "string", "valueType": "short"}, "map<string,smallint>"),
        ({"type": "struct", "fields": [{"name": "a", "type": "byte"}]}, "struct<a:tinyint>"),
    ],
    ids=["bigint", "string", "array", "map", "struct"],
)
def test_types_as_spark_writes_them(kind: Any, expected: str) -> None:
    assert spark_type(kind) == expected
