"""Spark's own progress: in the checkpoint, or mirrored, and cut anywhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import StreamingQueryException

from heraldry.errors import PipelineError, WarehouseError
from heraldry.pipeline.lake.ledger import Ledger, Manifest
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.spark.progress_folder import (
    MirroredFolder,
    progress_folder,
    spark_location,
)
from tests.suites.progress_folders import (
    CutOffError,
    MirroredFolderBehaviour,
    Watched,
    content,
    put,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class TestOverAFolder(MirroredFolderBehaviour):
    """The store is a folder."""

    @pytest.fixture
    def storage(self, tmp_path: Path) -> Storage:
        return Storage.open(str(tmp_path / "store"))


def test_a_local_checkpoint_is_spark_s_own(tmp_path: Path) -> None:
    storage = Storage.open(str(tmp_path / "checkpoint"))
    with progress_folder(Ledger(storage, "job")) as progress:
        progress.keep()
        assert progress.location == f"file://{storage.url}"
    assert not storage.exists("")


def decided(folder: Path, batches: int) -> Ledger:
    """A checkpoint with so many batches that were decided."""
    ledger = Ledger.open(str(folder))
    for batch in range(batches):
        ledger.prepare(Manifest(batch=batch, files=(), tables={}))
    return ledger


@pytest.mark.parametrize("left", [(), ("0",), ("2",)], ids=["nothing", "others", "a later one"])
def test_progress_that_is_gone_is_told(tmp_path: Path, left: tuple[str, ...]) -> None:
    """Spark would number its batches anew, and those that are decided would be taken for them."""
    ledger = decided(tmp_path, 2)
    put(tmp_path, *(f"offsets/{name}" for name in left))
    with pytest.raises(WarehouseError, match=r"batch 1 is decided here, .*offsets/1\) is gone"):
        spark_location(ledger)
    put(tmp_path, "offsets/1")
    assert spark_location(ledger) == f"file://{tmp_path}"


def test_progress_of_a_store_that_is_gone_is_told_before_it_is_copied(tmp_path: Path) -> None:
    ledger = decided(tmp_path, 1)
    (tmp_path / "offsets").mkdir()
    (tmp_path / "offsets" / "0").touch()
    with pytest.raises(WarehouseError, match="restore the checkpoint"), progress_folder(ledger):
        pass


SOUND = ("metadata", "sources/0/0", "sources/0/1", "offsets/0", "offsets/1", "commits/0")


@pytest.mark.parametrize(
    ("batches", "more", "empty", "gone"),
    [
        (2, ["commits/1"], ["commits/1"], {"commits/1"}),
        (2, ["commits/1", "offsets/2"], ["commits/1"], {"commits/1"}),
        (2, ["commits/1", "offsets/2"], ["offsets/2"], {"offsets/2"}),
        (2, ["offsets/2"], ["offsets/1"], set()),
        (2, ["sources/0/2", "offsets/2"], ["sources/0/2"], {"sources/0/2", "offsets/2"}),
        (2, ["sources/0/2.compact"], ["sources/0/2.compact"], {"sources/0/2.compact"}),
        (2, [], [], set()),
        (2, [], ["metadata"], set()),
        (0, [], ["offsets/1"], {"offsets/0", "offsets/1", "commits/0"}),
        (0, [], ["metadata"], {"metadata", "offsets/0", "offsets/1", "commits/0"}),
    ],
    ids=[
        "a batch that is done",
        "one before another",
        "offsets of none",
        "offsets of a decided batch",
        "files of a batch",
        "files of many",
        "nothing",
        "metadata that was settled",
        "offsets of the first",
        "the very first",
    ],
)
def test_what_a_power_cut_has_emptied_goes(
    tmp_path: Path, batches: int, more: list[str], empty: list[str], gone: set[str]
) -> None:
    ledger = decided(tmp_path, batches)
    put(tmp_path, *SOUND, *more)
    for path in empty:
        (tmp_path / path).write_text("")
    before = set(content(tmp_path))
    with suppress(WarehouseError):
        spark_location(ledger)
    sums = {f"{path.rpartition('/')[0]}/.{path.rpartition('/')[2]}.crc".strip("/") for path in gone}
    assert before - set(content(tmp_path)) == gone | sums


def test_a_store_that_cannot_be_written_to_is_told(tmp_path: Path) -> None:
    storage = Storage.open(str(tmp_path / "store"))
    storage.write("offsets", b"no folder")
    progress = MirroredFolder(storage, tmp_path)
    put(tmp_path, "metadata", "offsets/0")
    with pytest.raises(PipelineError, match=r"while it kept its progress in .*store"):
        progress.keep()


@pytest.mark.parametrize("name", ["plain", "my läke #1?"], ids=["plain", "odd"])
def test_progress_is_on_this_machine_whatever_a_cluster_has(
    elsewhere: SparkSession, tmp_path: Path, name: str
) -> None:
    ledger = Ledger.open(str(tmp_path / name))
    (tmp_path / "in").mkdir()
    for number in range(2):
        (tmp_path / "in" / f"{number}").write_text("x")
        rows = elsewhere.readStream.format("text").load(f"file://{tmp_path}/in")
        writer = rows.writeStream.foreachBatch(lambda rows, _: None).trigger(availableNow=True)
        with progress_folder(ledger) as progress:
            writer = writer.option("checkpointLocation", progress.location)
            writer.start().awaitTermination()
        assert ledger.storage.names("offsets")[-1] == str(number)
        ledger.prepare(Manifest(batch=number, files=(), tables={}))
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["in", name])


class Job:
    """A query that decides every batch once, as a landing job does; its folder is lost each run."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self._spark, self._folder = spark, folder
        self._inbox, self._runs = folder / "in", 0
        self.decided: dict[int, list[str]] = {}

    def run(self, store: Storage) -> None:
        """Read what is there, two files a batch, until a change of the store fails."""
        self._runs += 1
        folder = self._folder / f"run-{self._runs}"
        folder.mkdir()
        progress = MirroredFolder(store, folder)
        progress.restore()

        def batch(rows: DataFrame, number: int) -> None:
            progress.keep()
            if number not in self.decided:
                self.decided[number] = [row.value for row in rows.collect()]

        rows = self._spark.readStream.format("text").option("maxFilesPerTrigger", "2")
        writer = rows.load(str(self._inbox)).writeStream.foreachBatch(batch)
        writer = writer.option("checkpointLocation", progress.location)
        writer.trigger(availableNow=True).start().awaitTermination()
        progress.keep()

    def feed(self, *names: str) -> None:
        """Files that hold their names."""
        self._inbox.mkdir(exist_ok=True)
        for name in names:
            (self._inbox / name).write_text(name)

    def found(self) -> Counter[str]:
        return Counter(value for values in self.decided.values() for value in values)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_cut_after_any_change_each_file_is_read_once(spark: SparkSession, tmp_path: Path) -> None:
    """Whatever was copied, the next run goes on from it, also with files that came since."""

    def job(name: str) -> tuple[Job, Callable[[int], Watched]]:
        folder = tmp_path / name
        folder.mkdir()
        made = Job(spark, folder)
        made.feed("a", "b", "c", "d")
        return made, lambda limit: Watched(str(folder / "store"), limit=limit)

    whole, store = job("whole")
    watched = store(10**9)
    whole.run(watched)
    assert whole.found() == Counter("abcd")
    assert len(watched.changes) == 7, watched.changes
    for cut in range(len(watched.changes)):
        broken, store = job(f"cut-{cut}")
        with pytest.raises((StreamingQueryException, CutOffError)):
            broken.run(store(cut))
        broken.feed("e")
        broken.run(store(10**9))
        assert broken.found() == Counter("abcde"), f"cut after {watched.changes[:cut]}"


def test_spark_does_without_checksums_and_purges_what_was_restored(
    spark: SparkSession, tmp_path: Path
) -> None:
    """A folder made anew has no checksums; what Spark removes there goes from the store."""
    spark.conf.set("spark.sql.streaming.minBatchesToRetain", "2")
    try:
        job, store = Job(spark, tmp_path), Storage.open(str(tmp_path / "store"))
        for number in range(6):
            job.feed(f"file-{number}")
            job.run(store)
    finally:
        spark.conf.unset("spark.sql.streaming.minBatchesToRetain")
    assert job.found() == Counter(f"file-{number}" for number in range(6))
    assert store.names("offsets")[-1] == "5"
    assert len(store.names("offsets")) < 6
    assert not any(file.path.rpartition("/")[2].startswith(".") for file in store.walk(""))
