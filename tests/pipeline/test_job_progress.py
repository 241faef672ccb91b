"""Spark's progress beside the ledger: what becomes of a job when it is gone."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from heraldry.errors import WarehouseError
from tests.pipeline.test_job import Yard, order

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.slow


@pytest.fixture
def yard(tmp_path: Path, spark: SparkSession) -> Yard:
    assert spark is not None
    (tmp_path / "inbox").mkdir()
    return Yard(tmp_path / "inbox", tmp_path / "my läke #1")


def landed(yard: Yard) -> list[str]:
    return sorted(row["id"] for row in yard.rows("default", "shop", "order"))


def test_a_job_whose_progress_is_gone_is_refused(yard: Yard) -> None:
    yard.put("a.jsonl", [order(1)])
    yard.land()
    shutil.rmtree(yard.warehouse / "_checkpoint" / "offsets")
    yard.put("b.jsonl", [order(2)])
    with pytest.raises(WarehouseError, match=r"Spark's progress \(offsets/0\) is gone"):
        yard.land()
    assert landed(yard) == ["1"]
