"""Spark's progress beside the ledger: where it is kept, after a power cut, and when it is gone."""

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


def forget(yard: Yard, table: str) -> None:
    """Take the newest entry from a table's log."""
    max((yard.warehouse / table / "_delta_log").glob("*.json")).unlink()


@pytest.mark.parametrize(
    "emptied",
    [("commits/0",), ("commits/0", "offsets/1"), ("sources/0/1",), ()],
    ids=["done", "done and offsets", "files", "nothing"],
)
def test_what_a_power_cut_has_emptied_stops_no_job(yard: Yard, emptied: tuple[str, ...]) -> None:
    """The second batch was planned, and nothing of it decided; the folder has a space."""
    checkpoint = yard.warehouse / "_checkpoint"
    for number in range(2):
        yard.put(f"{number}.jsonl", [order(number)])
        yard.land()
    for path in ("commits/1", "commits/.1.crc", "heraldry/batches/000000000001.json"):
        (checkpoint / path).unlink()
    forget(yard, "default/shop/order")
    forget(yard, "_batches")
    assert landed(yard) == ["0"]
    for path in emptied:
        assert (checkpoint / path).stat().st_size
        (checkpoint / path).write_bytes(b"")
    yard.put("2.jsonl", [order(2)])
    yard.land()
    assert landed(yard) == ["0", "1", "2"]
    assert yard.land().read == 0
    assert [path for path in yard.warehouse.parent.rglob("*") if "%" in path.name] == []


def test_a_job_whose_progress_is_gone_is_refused(yard: Yard) -> None:
    yard.put("a.jsonl", [order(1)])
    yard.land()
    shutil.rmtree(yard.warehouse / "_checkpoint" / "offsets")
    yard.put("b.jsonl", [order(2)])
    with pytest.raises(WarehouseError, match=r"Spark's progress \(offsets/0\) is gone"):
        yard.land()
    assert landed(yard) == ["1"]
