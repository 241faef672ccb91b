"""No message and no option makes a batch that can never land."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from heraldry.errors import PipelineError
from tests.pipeline.test_job import Yard, order
from tests.suites.streams import event, line

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.slow

MANY = [order(number) for number in range(2001)]


@pytest.fixture
def yard(tmp_path: Path, spark: SparkSession) -> Yard:
    assert spark is not None
    (tmp_path / "inbox").mkdir()
    return Yard(tmp_path / "inbox", tmp_path / "lake")


@pytest.fixture(params=["Asia/Tokyo", "America/New_York"], ids=["east", "west"])
def _zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A local time that is not UTC."""
    with monkeypatch.context() as here:
        here.setenv("TZ", request.param)
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("_zone")
def test_the_first_and_the_last_instant_land(yard: Yard) -> None:
    for text in ("0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"):
        told = event("order", {"id": text, "total": 1}, id=text, time=text)
        yard.put(f"{text[:4]}.jsonl", [line(told)])
    report, batches = yard.land_batches(max_per_batch=1)
    assert (report.landed, report.dead, report.batches) == (2, 0, 2)
    expected = {datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)}
    assert {batch.newest for batch in batches} == expected
    assert {row["ce_time"] for row in yard.rows("default", "shop", "order")} == expected


def test_what_is_usual_outlives_a_run(yard: Yard) -> None:
    bad = [*(order(number) for number in range(80)), *[b"garbage"] * 120]
    yard.put("a.jsonl", bad)
    with pytest.raises(PipelineError, match="60% of batch 0 would be dead letters"):
        yard.land()
    yard.land(breaker=None)
    yard.put("b.jsonl", bad)
    report = yard.land()
    assert (report.landed, report.dead) == (80, 120)


def test_a_table_that_would_begin_with_too_many_partitions(yard: Yard) -> None:
    yard.put("a.jsonl", MANY)
    with pytest.raises(PipelineError) as refused:
        yard.land(partition_by=("id",))
    assert str(refused.value) == (
        "the pipeline stopped while it landed a batch: default/shop/order: a batch would make"
        " 2,001 partitions by id (leave out --partition-by, or name a column with fewer values)"
    )
    assert yard.land().landed == len(MANY), "the advice can be followed"


def test_a_table_that_exists_takes_any_number_of_partitions(yard: Yard) -> None:
    yard.put("a.jsonl", [order(1)])
    yard.land(partition_by=("id",))
    yard.put("b.jsonl", MANY)
    assert yard.land(partition_by=("id",)).landed == len(MANY)
    assert yard.counts()["default.shop.order"] == 1 + len(MANY)
