"""Parquet files: one per table and flush, under names no retry can take."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from heraldry.errors import WarehouseError
from heraldry.pipeline.identities.digests import IDENTITY, as_column
from heraldry.pipeline.lake.arrangement import PLAIN, Arrangement
from heraldry.pipeline.lake.data_file import DataFile
from heraldry.pipeline.lake.delta import create_table
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.landing.parquet import MOST_PARTITIONS, ParquetWriter


def table(rows: int) -> pa.Table:
    return pa.table(
        {
            "same": ["x"] * rows,
            "own": [str(n) for n in range(rows)],
            "number": list(range(rows)),
            "inner": [{"same": "x", "own": str(n)} for n in range(rows)],
            "list": [["x", "x"] for _ in range(rows)],
        }
    )


def write(
    folder: Path, table: pa.Table, arranged: Arrangement = PLAIN, batch: int = 1
) -> list[DataFile]:
    """Write a table to the path ``a``."""
    return ParquetWriter(Storage.open(str(folder)), batch).write("a", table, arranged)


def encodings(path: Path) -> dict[str, bool]:
    group = pq.ParquetFile(path).metadata.row_group(0)
    columns = [group.column(n) for n in range(group.num_columns)]
    return {column.path_in_schema: column.has_dictionary_page for column in columns}


def test_a_file_is_as_told(tmp_path: Path) -> None:
    storage = Storage.open(str(tmp_path))
    (written,) = ParquetWriter(storage, 12).write("a/b/c", table(10))
    path = tmp_path / "a" / "b" / "c" / written.name
    assert written.name.startswith("part-00000012-")
    assert (written.rows, written.size) == (10, path.stat().st_size)
    assert pq.read_table(path).to_pylist() == table(10).to_pylist()


def test_every_file_has_a_name_of_its_own(tmp_path: Path) -> None:
    names = {write(tmp_path, table(1))[0].name for _ in range(5)}
    assert len(names) == 5


def test_what_repeats_gets_a_dictionary(tmp_path: Path) -> None:
    (written,) = write(tmp_path, table(1200))
    assert encodings(tmp_path / "a" / written.name) == {
        "same": True,
        "own": False,
        "number": False,
        "inner.same": True,
        "inner.own": False,
        "list.list.element": True,
    }


def test_types_survive(tmp_path: Path) -> None:
    schema = pa.schema(
        [
            ("at", pa.timestamp("us", "UTC")),
            ("day", pa.date32()),
            ("raw", pa.binary()),
            ("records", pa.list_(pa.struct([("a", pa.int64())]))),
        ]
    )
    empty = pa.Table.from_pylist([{"at": None, "records": [None, {"a": None}]}], schema=schema)
    (written,) = write(tmp_path, empty)
    found = pq.read_table(tmp_path / "a" / written.name)
    assert found.to_pylist() == empty.to_pylist()
    assert found.schema.field("at").type == pa.timestamp("us", "UTC")


def test_odd_column_names(tmp_path: Path) -> None:
    odd = pa.table({"a`b": ["x", "x"], "ü": ["y", "y"]})
    (written,) = write(tmp_path, odd)
    assert pq.read_table(tmp_path / "a" / written.name).to_pylist() == odd.to_pylist()


def test_what_readers_skip_files_by(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heraldry.pipeline.landing.parquet._FEW", 1)
    at = datetime(2026, 11, 16, 8, 30, 0, 123456, tzinfo=UTC)
    rows = pa.table(
        {
            "n": [3, None, -1],
            "text": ["b", "a", "c"],
            "long": ["x" * 65, "y", "z"],
            "at": pa.array([at, at - timedelta(days=1), None], pa.timestamp("us", "UTC")),
            "day": [date(2026, 11, 16), None, None],
            "real": [0.5, float("nan"), 1.0],
            "inner": [{"n": 1}, None, None],
            "inner.n": [7, 8, 9],
            "none": pa.array([None, None, None], pa.string()),
        }
    )
    (written,) = write(tmp_path, rows)
    assert json.loads(written.stats) == {
        "numRecords": 3,
        "minValues": {
            "n": -1,
            "text": "a",
            "at": "2026-11-15T08:30:00.123456Z",
            "day": "2026-11-16",
        },
        "maxValues": {
            "n": 3,
            "text": "c",
            "at": "2026-11-16T08:30:00.123456Z",
            "day": "2026-11-16",
        },
        "nullCount": {"n": 1, "text": 0, "long": 0, "at": 1, "day": 2, "none": 3},
    }


@pytest.mark.parametrize(
    ("rows", "told"), [(999, set()), (1000, {"own", "number", "same"})], ids=["few", "many"]
)
def test_files_tell_bounds_of_what_has_an_order(tmp_path: Path, rows: int, told: set[str]) -> None:
    """What is no number would be skipped by them, as it is between none."""
    real = {"real": [float("nan")] * rows, "inner.own": [1] * rows}
    full = pa.table({**{name: table(rows)[name] for name in table(1).column_names}, **real})
    (written,) = write(tmp_path, full)
    group = pq.ParquetFile(tmp_path / "a" / written.name).metadata.row_group(0)
    columns = (group.column(n) for n in range(group.num_columns))
    assert {one.path_in_schema for one in columns if one.statistics is not None} == told


DAY = Arrangement((("day", "date"), ("shop", "string")), ("n",))
ROWS = [
    {"n": 2, "day": date(2026, 11, 16), "shop": "a b/ü~"},
    {"n": 1, "day": date(2026, 11, 16), "shop": "a b/ü~"},
    {"n": 5, "day": None, "shop": None},
    {"n": 4, "day": date(2026, 11, 15), "shop": ""},
    {"n": 3, "day": date(2026, 11, 16), "shop": "x" * 300},
]
SCHEMA = pa.schema([("n", pa.int64()), ("day", pa.date32()), ("shop", pa.string())])


def test_a_file_per_partition(tmp_path: Path) -> None:
    written = write(tmp_path, pa.Table.from_pylist(ROWS, schema=SCHEMA), DAY)
    found = {}
    for file in written:
        rows = pq.ParquetFile(tmp_path / "a" / file.name).read()
        assert rows.column_names == ["n"]
        assert rows.num_rows == file.rows
        values = json.loads(file.partition)
        found[values["day"], values["shop"]] = rows["n"].to_pylist()
    assert found == {
        ("2026-11-16", "a b/ü~"): [1, 2],
        ("2026-11-16", "x" * 300): [3],
        ("2026-11-15", None): [4],
        (None, None): [5],
    }
    folders = [file.name.rpartition("/")[0] for file in written]
    assert "day=2026-11-16/shop=a%20b%2F%C3%BC%7E" in folders
    none = "__HIVE_DEFAULT_PARTITION__"
    assert f"day={none}/shop={none}" in folders


def test_rows_are_ordered_within_a_file(tmp_path: Path) -> None:
    order = Arrangement((), ("shop", "n", "gone"))
    (written,) = write(tmp_path, pa.Table.from_pylist(ROWS, schema=SCHEMA), order)
    rows = pq.read_table(tmp_path / "a" / written.name)
    assert rows["n"].to_pylist() == [4, 1, 2, 3, 5]


def test_a_partition_that_rows_have_no_value_for(tmp_path: Path) -> None:
    rows = pa.table({"n": [1]})
    (written,) = write(tmp_path, rows, Arrangement((("day", "date"),)))
    assert json.loads(written.partition) == {"day": None}


@pytest.mark.parametrize(
    ("kind", "values", "texts"),
    [
        ("long", [-1, 2], ["-1", "2"]),
        ("boolean", [False, True], ["false", "true"]),
        ("string", ["a", None], ["a", None]),
    ],
    ids=["integer", "boolean", "text"],
)
def test_values_of_partitions(tmp_path: Path, kind: str, values: list[Any], texts: Any) -> None:
    rows = pa.table({"n": values, "m": [1, 2]})
    written = write(tmp_path, rows, Arrangement((("n", kind),)))
    assert [json.loads(file.partition)["n"] for file in written] == texts


MANY = pa.table({"n": list(range(MOST_PARTITIONS + 1)), "m": [0] * (MOST_PARTITIONS + 1)})


def test_a_table_does_not_begin_with_too_many_partitions(tmp_path: Path) -> None:
    with pytest.raises(WarehouseError, match="would make 2,001 partitions by n") as refused:
        write(tmp_path, MANY, Arrangement((("n", "long"),)))
    assert "leave out --partition-by" in refused.value.advice
    assert not (tmp_path / "a").exists()


def test_a_table_that_exists_takes_any_number_of_partitions(tmp_path: Path) -> None:
    arranged = Arrangement((("n", "long"),))
    create_table(Storage.open(str(tmp_path)), "a", MANY.schema, arranged.configuration)
    assert len(write(tmp_path, MANY, arranged)) == MOST_PARTITIONS + 1


def test_identities_go_beside_their_rows(tmp_path: Path) -> None:
    rows = pa.Table.from_pylist(ROWS, schema=SCHEMA)
    digests = [bytes([row["n"]]) * 16 for row in ROWS]
    rows = rows.append_column(IDENTITY, as_column(b"".join(digests)))
    for file in write(tmp_path, rows, DAY):
        numbers = pq.ParquetFile(tmp_path / "a" / file.name).read()["n"].to_pylist()
        assert file.identities == b"".join(bytes([n]) * 16 for n in numbers)
