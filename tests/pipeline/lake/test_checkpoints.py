"""Ledgers of a warehouse: a place that cannot be read stops nobody else."""

from __future__ import annotations

from pathlib import Path

from heraldry.pipeline.lake.checkpoints import away, ledgers, note
from heraldry.pipeline.lake.ledger import Ledger
from heraldry.pipeline.lake.storage import Storage


def test_a_noted_place_that_cannot_be_read_is_away(tmp_path: Path) -> None:
    warehouse = Storage.open(str(tmp_path / "lake"))
    usual = Ledger.open(warehouse.join("_checkpoint"))
    near = Ledger.open(str(tmp_path / "near"))
    gone = Ledger.open(str(tmp_path / "gone" / "below"))
    for ledger in (near, gone):
        note(warehouse, ledger)
    assert {one.job for one in ledgers(warehouse)} == {usual.job, near.job, gone.job}
    (tmp_path / "gone").rename(tmp_path / "moved")
    (tmp_path / "gone").write_text("no folder")
    assert {one.job for one in ledgers(warehouse)} == {usual.job, near.job}
    assert away(warehouse) == [gone.storage.url]
