"""Files as a source: which are read, once each, and how a bound on messages is one on bytes."""

from __future__ import annotations

import bz2
import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql.streaming.datasource import ReadAllAvailable

from heraldry.errors import PipelineError, UsageError
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.settings import LandSettings
from heraldry.pipeline.sources import files
from heraldry.pipeline.sources.file_reading import ENDINGS, LINES
from heraldry.pipeline.sources.file_sizes import bytes_for
from heraldry.pipeline.sources.files import FilesSource, check_folder
from heraldry.pipeline.sources.stored_files import StoredFilesReader

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

EVERY = LINES + ENDINGS
LINE = b"x" * 99 + b"\n"
SETTINGS = LandSettings(source="files", warehouse="w")


def test_a_bound_on_bytes(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(LINE * 10)
    assert bytes_for(str(tmp_path), EVERY, 5) == 500


@pytest.mark.parametrize("name", ["A.JSONL", "A.Jsonl.GZ"])
def test_a_bound_whatever_the_case_of_an_ending(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(gzip.compress(LINE * 10) if "GZ" in name else LINE * 10)
    assert 0 < bytes_for(str(tmp_path), EVERY, 10) <= 1000


def test_a_bound_without_any_file(tmp_path: Path) -> None:
    assert bytes_for(str(tmp_path), EVERY, 5) == 2560


def test_a_bound_is_never_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"\n")
    (tmp_path / "b.jsonl").write_bytes(b"")
    assert bytes_for(str(tmp_path), EVERY, 1) == 1


def test_a_long_line_counts_as_one(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"x" * 200_000)
    assert bytes_for(str(tmp_path), EVERY, 2) == 2 * 64 * 1024


def test_a_bound_on_packed_bytes(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "a.jsonl.gz"
    path.parent.mkdir()
    path.write_bytes(gzip.compress(LINE * 600))
    bound = bytes_for(str(tmp_path), EVERY, 600)
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
    assert bytes_for(str(tmp_path), EVERY, 5) == 500


def test_a_file_that_goes_away(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").symlink_to(tmp_path / "gone")
    assert bytes_for(str(tmp_path), EVERY, 1) == 512


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no folder"):
        FilesSource(str(tmp_path / "none"), SETTINGS)


def test_a_bound_on_rows_of_parquet(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"value": [b"x"] * 1000}), path)
    assert bytes_for(str(tmp_path), EVERY, 500) == path.stat().st_size // 2


def test_forms_that_are_bounded_apart(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(LINE * 10)
    assert bytes_for(str(tmp_path), ENDINGS, 5) == 2560
    (tmp_path / "a.json").write_bytes(b"{}")
    assert bytes_for(str(tmp_path), ENDINGS, 5) == 10
    (tmp_path / "a.parquet").write_bytes(b"none")
    assert bytes_for(str(tmp_path), ENDINGS, 5) == 10


def test_a_bound_holds_for_the_shortest_lines(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(LINE * 10)
    (tmp_path / "b.jsonl").write_bytes(b"{}\n" * 10)
    assert bytes_for(str(tmp_path), EVERY, 5) == 15


@pytest.mark.parametrize("name", ["a*", "b[1]", "c{d}", "e?"])
def test_a_folder_that_is_a_pattern_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    with pytest.raises(UsageError, match="pattern"):
        check_folder(str(tmp_path / name))


def test_a_folder_below_a_pattern_is_refused_however_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a[1]" / "inbox").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "a[1]" / "inbox")
    monkeypatch.chdir(tmp_path / "a[1]")
    for name in ("inbox", ".", "../link"):
        with pytest.raises(UsageError, match=r"a\[1\].*pattern.*rename the folder that has"):
            check_folder(name)


def test_a_link_with_the_name_of_a_pattern_is_read(tmp_path: Path) -> None:
    """Spark is given the folder that it leads to."""
    (tmp_path / "inbox").mkdir()
    (tmp_path / "a[1]").symlink_to(tmp_path / "inbox")
    check_folder(str(tmp_path / "a[1]"))


def test_an_option_that_says_neither_is_refused(tmp_path: Path) -> None:
    settings = LandSettings(source="files", warehouse="w", source_options={"on_loss": "yes"})
    with pytest.raises(UsageError, match="on_loss is 'yes': write fail or continue"):
        FilesSource(str(tmp_path), settings)


def stored(tmp_path: Path, size: int = 1000, **more: str) -> StoredFilesReader:
    """The stream of a folder as of one on object storage."""
    folder, checkpoint = str(tmp_path / "in"), str(tmp_path / "checkpoint")
    options = {"folder": folder, "checkpoint": checkpoint, "bytes": str(size), "parts": "2"}
    return StoredFilesReader(options | more)


def planned(reader: StoredFilesReader, begin: int, end: int) -> list[list[str]]:
    """The names of the files of every part of a batch."""
    parts = reader.partitions({"files": begin}, {"files": end})
    return [[source.rpartition("/")[2] for source in part.value] for part in parts]


def test_files_of_a_store_keep_the_order_in_which_they_were_seen(tmp_path: Path) -> None:
    folder = Storage.open(str(tmp_path / "in"))
    for name in ("b.jsonl", "_a.jsonl", "_drafts/a.jsonl", "a.txt"):
        folder.write(name, b"1\n2")
    reader = stored(tmp_path)
    assert reader.latestOffset({"files": 0}, ReadAllAvailable()) == {"files": 1}
    folder.write("a.json", b"3")
    assert reader.latestOffset({"files": 1}, ReadAllAvailable()) == {"files": 2}
    for again in (reader, stored(tmp_path)):
        assert planned(again, 0, 2) == [["b.jsonl"], ["a.json"]]
        assert planned(again, 1, 1) == []
    (part,) = reader.partitions({"files": 0}, {"files": 1})
    rows = [row for batch in reader.read(part) for row in batch.to_pylist()]
    assert [(row["value"], row["block"], row["number"]) for row in rows] == [
        (b"1", 0, 0),
        (b"2", 0, 1),
    ]


def test_a_file_of_a_store_that_is_gone_stops_every_run_until_it_may_go_on(tmp_path: Path) -> None:
    folder = Storage.open(str(tmp_path / "in"))
    for name in ("a.jsonl", "b.jsonl", "c.jsonl"):
        folder.write(name, name.encode())
    assert stored(tmp_path).latestOffset({"files": 0}, ReadAllAvailable()) == {"files": 3}
    folder.delete("b.jsonl")

    def read(reader: StoredFilesReader) -> list[bytes]:
        parts = reader.partitions({"files": 0}, {"files": 3})
        batches = [batch for part in parts for batch in reader.read(part)]
        return [row["value"] for batch in batches for row in batch.to_pylist()]

    for _ in range(2):
        with pytest.raises(PipelineError, match=r"b\.jsonl is gone \(put it back, or go on"):
            read(stored(tmp_path))
    first, gone, last = read(stored(tmp_path, goes_on="true"))
    assert (first, last) == (b"a.jsonl", b"c.jsonl")
    assert b"unreadable" in gone
    assert b"b.jsonl" in gone


def test_a_batch_of_a_store_ends_at_a_whole_file(tmp_path: Path) -> None:
    folder = Storage.open(str(tmp_path / "in"))
    for number in range(5):
        folder.write(f"{number}.jsonl", b"x" * 60)
    reader = stored(tmp_path, size=100)
    reader.prepareForTriggerAvailableNow()
    folder.write("later.jsonl", b"x")
    ends = [0]
    while (end := reader.latestOffset({"files": ends[-1]}, ReadAllAvailable())["files"]) > ends[-1]:
        ends.append(end)
    assert ends == [0, 2, 4, 5]


def test_a_run_that_was_overtaken_lists_no_more(tmp_path: Path) -> None:
    """It hung, another run took its checkpoint over: its list would replace that of the other."""
    folder = Storage.open(str(tmp_path / "in"))
    folder.write("a.jsonl", b"1")
    hung, other = stored(tmp_path), stored(tmp_path)
    assert other.latestOffset({"files": 0}, ReadAllAvailable()) == {"files": 1}
    folder.write("b.jsonl", b"2")
    with pytest.raises(PipelineError, match="another job has gone on with this checkpoint"):
        hung.latestOffset({"files": 0}, ReadAllAvailable())
    assert planned(stored(tmp_path), 0, 1) == [["a.jsonl"]]


@pytest.mark.parametrize(
    "draft",
    [
        pytest.param(b"", id="nothing-yet"),
        pytest.param(b'[["b.jsonl",3],["c.js', id="half"),
        pytest.param(b'[["b.jsonl",1]]', id="whole"),
    ],
)
def test_a_list_whose_writer_was_killed_is_written_anew(tmp_path: Path, draft: bytes) -> None:
    """A local checkpoint is written by a draft and a rename; the draft counts for nothing."""
    folder = Storage.open(str(tmp_path / "in"))
    folder.write("a.jsonl", b"1")
    assert stored(tmp_path).latestOffset({"files": 0}, ReadAllAvailable()) == {"files": 1}
    folder.write("b.jsonl", b"2")
    lists = tmp_path / "checkpoint" / "heraldry" / "files"
    (lists / "000000000001.json.draft").write_bytes(draft)
    for _ in range(2):
        again = stored(tmp_path)
        assert again.latestOffset({"files": 0}, ReadAllAvailable()) == {"files": 2}
        assert [name for part in planned(again, 0, 2) for name in part] == ["a.jsonl", "b.jsonl"]
    assert sorted(one.name for one in lists.iterdir()) == ["000000000000.json", "000000000001.json"]


Read = tuple[str, str, bytes]


def landed(spark: SparkSession, source: FilesSource, checkpoint: Path | str) -> list[list[Read]]:
    """What a job would read, batch by batch: the file's name, the position and the line."""
    batches: list[list[Read]] = []
    factory = source.reader()

    def number(parts: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        reader = factory()
        for part in parts:
            lines = reader.lines([part])
            columns = [lines.sources.cast(pa.string()), lines.positions, lines.values]
            yield pa.RecordBatch.from_arrays(columns, names=["source", "position", "value"])

    def keep(rows: DataFrame, _: int) -> None:
        found = rows.mapInArrow(number, "source string, position string, value binary").collect()
        batches.append(sorted((row[0].rpartition("/")[2], row[1], bytes(row[2])) for row in found))

    query = source.read(spark).writeStream.foreachBatch(keep)
    query = query.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True)
    query.start().awaitTermination()
    return batches


def test_every_form_is_read_once(spark: SparkSession, tmp_path: Path) -> None:
    folder, checkpoint = tmp_path / "in put", tmp_path / "checkpoint"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.jsonl").write_bytes(b"1\n2\n")
    (folder / "b.ndjson").write_bytes(b"3")
    (folder / "deep" / "c d.jsonl.gz").write_bytes(gzip.compress(b"4\n5"))
    (folder / "e.json").write_bytes(b"[6, 7]")
    pq.write_table(pa.table({"value": [b"8", b"9"]}), folder / "f.parquet", row_group_size=1)
    (folder / "g.jsonl.gz").write_bytes(gzip.compress(b"10\n11\n12")[:-9])
    for name in ("_h.parquet", ".h.jsonl", "h.txt", "h.jsonl.part"):
        (folder / name).write_bytes(b"not read")
    source = FilesSource(str(folder), SETTINGS)
    (batch,) = landed(spark, source, checkpoint)
    *rest, broken = [one for one in batch if one[0] == "g.jsonl.gz"]
    assert [one for one in batch if one[0] != "g.jsonl.gz"] == [
        ("a.jsonl", "0+0", b"1"),
        ("a.jsonl", "0+1", b"2"),
        ("b.ndjson", "0+0", b"3"),
        ("c%20d.jsonl.gz", "0+0", b"4"),
        ("c%20d.jsonl.gz", "0+1", b"5"),
        ("e.json", "0+0", b"6"),
        ("e.json", "0+1", b"7"),
        ("f.parquet", "0+0", b"8"),
        ("f.parquet", "1+0", b"9"),
    ]
    assert [value for _, _, value in rest] == [b"10", b"11"][: len(rest)]
    assert b"unreadable" in broken[2]
    (folder / "later.parquet").write_bytes((folder / "f.parquet").read_bytes())
    (folder / "later.jsonl").write_bytes(b"13\n")
    (second,) = landed(spark, source, checkpoint)
    assert [one[0] for one in second] == ["later.jsonl", "later.parquet", "later.parquet"]


def test_a_bound_makes_batches(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for number in range(4):
        pq.write_table(pa.table({"value": [b"x"] * 10}), folder / f"{number}.parquet")
    bounded = LandSettings(source="files", warehouse="w", max_per_batch=20)
    batches = landed(spark, FilesSource(str(folder), bounded), tmp_path / "checkpoint")
    assert [len(batch) for batch in batches] == [20, 20]


@pytest.mark.parametrize("name", ["a.jsonl", "a.json"])
def test_a_file_that_goes_away_amid_a_batch(spark: SparkSession, tmp_path: Path, name: str) -> None:
    """Spark has listed it by then; also the workers would look for it."""
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "b.jsonl").write_bytes(b"2")
    found: list[bytes] = []

    def keep(rows: DataFrame, _: int) -> None:
        (folder / name).unlink(missing_ok=True)
        found.extend(bytes(row[0]) for row in rows.collect())

    def run(given: str) -> None:
        (folder / name).write_bytes(b"1")
        options = {"on_loss": given}
        settings = LandSettings(source="files", warehouse="w", source_options=options)
        rows = FilesSource(str(folder), settings).read(spark)
        query = rows.writeStream.foreachBatch(keep).trigger(availableNow=True)
        query.option("checkpointLocation", str(tmp_path / given)).start().awaitTermination()

    with pytest.raises(StreamingQueryException, match=f"{name}.* (is gone|does not exist)"):
        run("fail")
    assert found == []
    run("continue")
    assert found == [b"2"]


ODD = "in pút #1%41+a:b"
"""What an address could take for something else; but for a pattern, which is refused."""


@pytest.mark.parametrize("name", ["plain", ODD], ids=["plain", "odd"])
def test_a_folder_is_on_this_machine_whatever_a_cluster_has(
    elsewhere: SparkSession, tmp_path: Path, name: str
) -> None:
    folder = tmp_path / name
    folder.mkdir()
    (folder / "a.jsonl").write_bytes(b"1\n")
    (folder / "b.json").write_bytes(b"2")
    source, checkpoint = FilesSource(str(folder), SETTINGS), f"file://{tmp_path}/checkpoint"
    (batch,) = landed(elsewhere, source, checkpoint)
    assert batch == [("a.jsonl", "0+0", b"1"), ("b.json", "0+0", b"2")]


@pytest.mark.parametrize("name", ["plain", ODD], ids=["plain", "odd"])
def test_a_checkpoint_goes_on_that_was_begun_with_a_bare_path(
    spark: SparkSession, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is read again, and sources have the names that they had."""
    folder, checkpoint = tmp_path / name, tmp_path / "checkpoint"
    folder.mkdir()
    found: list[str] = []

    def run(number: int) -> list[str]:
        (folder / f"{number}.jsonl").write_bytes(b"1\n")
        (folder / f"{number}.json").write_bytes(b"2")
        rows = FilesSource(str(folder), SETTINGS).read(spark)
        writer = rows.writeStream.foreachBatch(
            lambda rows, _: found.extend(row["source"] for row in rows.collect())
        )
        query = writer.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True)
        query.start().awaitTermination()
        return [found.pop(0) for _ in range(len(found))]

    with monkeypatch.context() as before:
        before.setattr(files, "address", str)
        first = run(0)
    second = run(1)
    assert sorted(name.rpartition("/")[2] for name in first) == ["0.json", "0.jsonl"]
    assert sorted(name.replace("/0.", "/1.") for name in first) == sorted(second)


def test_endings_in_any_case(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "A.JSONL").write_bytes(b"1\n")
    (folder / "B.NdJson").write_bytes(b"2")
    (folder / "C.Jsonl.GZ").write_bytes(gzip.compress(b"3\n"))
    (folder / "D.Json").write_bytes(b"[4]")
    pq.write_table(pa.table({"value": [b"5"]}), folder / "E.PARQUET")
    (folder / "F.TXT").write_bytes(b"not read")
    (batch,) = landed(spark, FilesSource(str(folder), SETTINGS), tmp_path / "checkpoint")
    assert [value for _, _, value in batch] == [b"1", b"2", b"3", b"4", b"5"]


def test_endings_in_any_case_of_a_store(tmp_path: Path) -> None:
    folder = Storage.open(str(tmp_path / "in"))
    folder.write("A.JSONL", b"1")
    folder.write("B.JSONL.BZ2", bz2.compress(b"2"))
    reader = stored(tmp_path)
    assert reader.latestOffset({"files": 0}, ReadAllAvailable()) == {"files": 2}
    parts = reader.partitions({"files": 0}, {"files": 2})
    rows = [row for part in parts for batch in reader.read(part) for row in batch.to_pylist()]
    assert sorted(row["value"] for row in rows) == [b"1", b"2"]


@pytest.mark.parametrize("name", ["a.parquet", "a.jsonl.gz", "a.json", "a.jsonl"])
def test_an_empty_file_of_a_store_waits_until_it_has_bytes(tmp_path: Path, name: str) -> None:
    folder = Storage.open(str(tmp_path / "in"))
    folder.write(name, b"")
    reader = stored(tmp_path)
    assert reader.latestOffset({"files": 0}, ReadAllAvailable()) == {"files": 0}
    folder.write(name, b"1")
    assert reader.latestOffset({"files": 0}, ReadAllAvailable()) == {"files": 1}
    assert planned(reader, 0, 1) == planned(stored(tmp_path), 0, 1) == [[name]]


def test_an_empty_file_of_a_folder_counts_as_read(spark: SparkSession, tmp_path: Path) -> None:
    """Why it is told: Spark drops it before anybody could hold it back or make a letter of it."""
    folder, checkpoint = tmp_path / "in", tmp_path / "checkpoint"
    folder.mkdir()
    names = ("a.json", "a.jsonl", "a.jsonl.gz")
    for name in names:
        (folder / name).touch()
    heard: list[str] = []
    source = FilesSource(str(folder), SETTINGS)
    with source.open(heard.append):
        (told,) = heard
        assert all(name in told for name in names)
        assert landed(spark, source, checkpoint) == [[]]
    for name in names:
        (folder / name).write_bytes(gzip.compress(b"1") if name.endswith(".gz") else b"1")
    assert landed(spark, source, checkpoint) == []
