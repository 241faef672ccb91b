"""A replay whose tables are made by others while it judges."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from heraldry.pipeline import replay as replaying
from heraldry.pipeline.lake.layout import TablePlan
from heraldry.pipeline.landing.relanding import Relanded, reland
from tests.pipeline.letters.lettering import land_lines, replays, table_column
from tests.pipeline.test_replay import FIRST, SECOND, counts, message, run

PATH = "default/shop/refund"
OTHER = TablePlan(partition_by=("ce_id",))


@pytest.mark.parametrize("once", [False, True], ids=["no identities", "identities"])
def test_a_table_that_a_job_makes_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, once: bool
) -> None:
    """The letters are judged again for the table that is there now, and none counts as repeated."""
    land_lines(tmp_path, FIRST, [message(n, 1) for n in range(3)], once=once, plan=TablePlan())
    judged: list[int] = []

    def beside(*given: Any) -> Relanded:
        found = reland(*given)
        if not judged:
            lines, place = [message(9, 1)], f"{tmp_path}/_checkpoint-b"
            land_lines(tmp_path, SECOND, lines, plan=OTHER, checkpoint=place, source="b")
        judged.append(1)
        return found

    monkeypatch.setattr(replaying, "reland", beside)
    report = run(tmp_path)
    assert (counts(report), report.repeated, len(judged)) == ((3, 0, 0, 0), 0, 2)
    assert sorted(map(str, table_column(tmp_path, PATH, "ce_id"))) == ["m-0", "m-1", "m-2", "m-9"]
    assert replays(tmp_path)["outcome"].to_pylist() == ["landed"] * 3
    assert counts(run(tmp_path))[0] == 0
