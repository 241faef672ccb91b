"""The lag of a batch: what its source still held behind it, and not what it has just landed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from heraldry.dialects.load import load_bytes
from heraldry.messages.rawlog_writer import RawLogWriter
from heraldry.pipeline.job import land
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.landing.report import BatchReport
from heraldry.pipeline.settings import LandSettings
from heraldry.pipeline.sources.query_lag import batch_end, query_lag
from heraldry.pipeline.sources.raw_log import RawLogSource
from heraldry.pipeline.sources.source import Lag
from heraldry.pipeline.watching.observer import JobInfo, Silent
from heraldry.pipeline.watching.status import status
from tests.suites.streams import WIDE, event, line

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def orders(begin: int, end: int) -> list[bytes]:
    return [line(event("order", {"id": str(n), "total": n}, id=f"o{n}")) for n in range(begin, end)]


def fill(folder: Path, begin: int, end: int) -> None:
    with RawLogWriter(folder) as log:
        log.append(orders(begin, end))
        log.sync()


def lags(source: str, lake: Path) -> list[tuple[int, int | None]]:
    """What each batch of a run read, and what it left."""
    found = []

    class Seen(Silent):
        def batch(self, info: JobInfo, report: BatchReport) -> None:
            found.append((report.read, report.lag))

    settings = LandSettings(source=source, warehouse=str(lake), max_per_batch=4)
    land(load_bytes(WIDE, "c"), settings, [Seen()])
    return found


@pytest.mark.slow
def test_the_lag_of_a_raw_log_is_what_a_batch_leaves(spark: SparkSession, tmp_path: Path) -> None:
    log, lake = tmp_path / "log", tmp_path / "lake"
    fill(log, 0, 10)
    assert lags(f"raw-log:{log}", lake) == [(4, 6), (4, 2), (2, 0)]
    assert [job.lag for job in status(str(lake)).jobs] == [0]
    fill(log, 10, 15)
    assert lags(f"raw-log:{log}", lake) == [(4, 1), (1, 0)]


@pytest.mark.slow
def test_a_folder_tells_no_lag(spark: SparkSession, tmp_path: Path) -> None:
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    (inbox / "a.jsonl").write_bytes(b"\n".join(orders(0, 3)))
    assert lags(f"files:{inbox}", tmp_path / "lake") == [(3, None)]


@pytest.mark.slow
def test_the_query_that_runs_tells_what_it_saw(spark: SparkSession, tmp_path: Path) -> None:
    """As Kafka and JetStream are asked, from within a batch, also the first one."""
    log, checkpoint = tmp_path / "log", tmp_path / "checkpoint"
    fill(log, 0, 10)
    settings = LandSettings(source="raw-log:x", warehouse="lake", max_per_batch=4)
    source = RawLogSource(str(log), settings, str(checkpoint))
    found: list[Any] = []

    def take(frame: DataFrame, batch: int) -> None:
        frame.collect()
        end = batch_end(Storage.open(str(checkpoint)), batch)
        behind = query_lag(spark, end, lambda read, last: last["number"] - read["number"])
        found.append((end["number"], behind.messages))

    query = (
        source.read(spark)
        .writeStream.foreachBatch(take)
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination(60)
    assert found == [(4, 6), (8, 2), (10, 0)]
    assert query_lag(spark, {"number": 4}, lambda read, last: 1) == Lag()  # none runs any more


def test_no_session_tells_no_lag() -> None:
    assert query_lag(None, {"number": 4}, lambda read, last: 1) == Lag()


@pytest.mark.parametrize(
    ("noted", "end"),
    [
        (b'v1\n{"batchWatermarkMs":0}\n{"number":4}', {"number": 4}),
        (b'v1\n{"batchWatermarkMs":0}\n{"logOffset":0}\n{"logOffset":1}', None),
        (b'v1\n{"batchWatermarkMs":0}\n-', None),
        (b"", None),
        (None, None),
    ],
    ids=["one source", "two sources", "no offset", "empty", "not there"],
)
def test_where_a_batch_ends(tmp_path: Path, noted: bytes | None, end: object) -> None:
    if noted is not None:
        (tmp_path / "offsets").mkdir()
        (tmp_path / "offsets" / "7").write_bytes(noted)
    assert batch_end(Storage.open(str(tmp_path)), 7) == end
