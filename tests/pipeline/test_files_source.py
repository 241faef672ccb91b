"""Files of JSON lines: which are read, and how a bound on messages becomes one on bytes."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from heraldry.errors import UsageError
from heraldry.pipeline.sources.files import _bytes_for, check_folder, read_files

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LINE = b"x" * 99 + b"\n"


def test_a_bound_on_bytes(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(LINE * 10)
    assert _bytes_for(str(tmp_path), 5) == 500


def test_a_bound_without_any_file(tmp_path: Path) -> None:
    assert _bytes_for(str(tmp_path), 5) == 2560


def test_a_bound_is_never_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"\n")
    (tmp_path / "b.jsonl").write_bytes(b"")
    assert _bytes_for(str(tmp_path), 1) == 1


def test_a_long_line_counts_as_one(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"x" * 200_000)
    assert _bytes_for(str(tmp_path), 2) == 2 * 64 * 1024


def test_a_bound_on_packed_bytes(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "a.jsonl.gz"
    path.parent.mkdir()
    path.write_bytes(gzip.compress(LINE * 600))
    bound = _bytes_for(str(tmp_path), 600)
    assert bound == pytest.approx(path.stat().st_size, rel=0.1)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("b.jsonl.gz", b"no gzip"),
        ("b.jsonl.gz", b""),
        ("b.jsonl.gz", gzip.compress(LINE * 600)[:40]),
        ("b.jsonl.tmp", LINE * 5000),
        (".b.jsonl", b"\n" * 5000),
        ("_b.jsonl", b"\n" * 5000),
    ],
    ids=["no gzip", "empty gzip", "cut gzip", "unfinished", "hidden", "private"],
)
def test_what_does_not_count(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / "a.jsonl").write_bytes(LINE * 10)
    (tmp_path / name).write_bytes(content)
    assert _bytes_for(str(tmp_path), 5) == 500


def test_a_file_that_goes_away(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").symlink_to(tmp_path / "gone")
    assert _bytes_for(str(tmp_path), 1) == 512


def test_no_folder(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no folder"):
        read_files(spark, str(tmp_path / "none"), None)


def test_a_bound_holds_for_the_shortest_lines(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(LINE * 10)
    (tmp_path / "b.jsonl").write_bytes(b"{}\n" * 10)
    assert _bytes_for(str(tmp_path), 5) == 15


@pytest.mark.parametrize("name", ["a*", "b[1]", "c{d}", "e?"])
def test_a_folder_that_is_a_pattern_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    with pytest.raises(UsageError, match="pattern"):
        check_folder(str(tmp_path / name))
