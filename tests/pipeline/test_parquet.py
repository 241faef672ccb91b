"""Parquet files: one per table and flush, under names no retry can take."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from heraldry.pipeline.parquet import ParquetWriter


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


def encodings(path: Path) -> dict[str, bool]:
    group = pq.ParquetFile(path).metadata.row_group(0)
    columns = [group.column(n) for n in range(group.num_columns)]
    return {column.path_in_schema: column.has_dictionary_page for column in columns}


def test_a_file_is_as_told(tmp_path: Path) -> None:
    written = ParquetWriter(str(tmp_path), 12).write("a/b/c", table(10))
    path = tmp_path / "a" / "b" / "c" / written.name
    assert written.name.startswith("part-00000012-")
    assert (written.rows, written.size) == (10, path.stat().st_size)
    assert pq.read_table(path).to_pylist() == table(10).to_pylist()


def test_every_file_has_a_name_of_its_own(tmp_path: Path) -> None:
    names = {ParquetWriter(str(tmp_path), 1).write("a", table(1)).name for _ in range(5)}
    assert len(names) == 5


def test_what_repeats_gets_a_dictionary(tmp_path: Path) -> None:
    written = ParquetWriter(str(tmp_path), 1).write("a", table(300))
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
    written = ParquetWriter(str(tmp_path), 1).write("a", empty)
    found = pq.read_table(tmp_path / "a" / written.name)
    assert found.to_pylist() == empty.to_pylist()
    assert found.schema.field("at").type == pa.timestamp("us", "UTC")


def test_odd_column_names(tmp_path: Path) -> None:
    odd = pa.table({"a`b": ["x", "x"], "ü": ["y", "y"]})
    written = ParquetWriter(str(tmp_path), 1).write("a", odd)
    assert pq.read_table(tmp_path / "a" / written.name).to_pylist() == odd.to_pylist()
