"""Replay and a real job of one warehouse: each finds what the other has landed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from heraldry.pipeline.lake.tables import tables
from tests.pipeline.letters.lettering import table_column
from tests.pipeline.test_job import Yard
from tests.pipeline.test_replay import FIRST, SECOND, message, run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.slow


@pytest.fixture
def yard(tmp_path: Path, spark: SparkSession) -> Yard:
    assert spark is not None
    (tmp_path / "inbox").mkdir()
    return Yard(tmp_path / "inbox", tmp_path / "lake")


def test_what_comes_both_ways_lands_once(yard: Yard) -> None:
    yard.put("a.jsonl", [message(0, 0), message(1, 1)])
    assert yard.land(FIRST, dedupe="on", breaker=None).dead == 2
    assert run(yard.warehouse, where=("rule=type",)).landed == 1
    # the one that was replayed comes again, the other one before its replay
    yard.put("b.jsonl", [message(0, 0), message(1, 1)])
    again = yard.land(SECOND, dedupe="on")
    assert (again.landed, again.repeated) == (1, 1)
    report = run(yard.warehouse)
    assert (report.landed, report.repeated) == (0, 1)
    for name, token in (("order", "m-0"), ("refund", "m-1")):
        assert Counter(table_column(yard.warehouse, f"default/shop/{name}", "ce_id")) == {token: 1}


def test_letters_land_in_the_tables_of_their_job(yard: Yard) -> None:
    yard.put("a.jsonl", [message(0, 0), message(1, 1)])
    given: dict[str, Any] = {"database": "till", "partition_by": ("day",), "keep_payload": True}
    assert yard.land(FIRST, breaker=None, **given).dead == 2
    assert run(yard.warehouse).tables == {"till.shop.order": 1, "till.shop.refund": 1}
    assert table_column(yard.warehouse, "till/shop/refund", "_payload") == [b'{"amount": 1}']
    # the job goes on in the same table
    yard.put("b.jsonl", [message(2, 1)])
    assert yard.land(SECOND, **given).landed == 1
    found = tables(str(yard.warehouse))
    assert {one.name: (one.rows, one.partitions) for one in found} == {
        ("till", "shop", "order"): (1, ("_day",)),
        ("till", "shop", "refund"): (2, ("_day",)),
    }
