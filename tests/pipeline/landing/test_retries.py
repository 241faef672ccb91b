"""A task that Spark runs again writes other files than the try before."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from heraldry.pipeline.landing.lander import WorkOrder
from heraldry.pipeline.landing.worker import land_partition
from heraldry.pipeline.sources.lines import Lines
from tests.pipeline.landing.without_spark import Setting, lines_of
from tests.suites.streams import WIDE, event, line

VALUES = [line(event("scan", {"tag": str(n), "weight": 2.5}, id=str(n))) for n in range(20)]


class Reader:
    """Hands over the same lines, whatever it is given."""

    def lines(self, batches: object) -> Lines:
        return lines_of(VALUES)


def tried(order: WorkOrder) -> list[dict[str, object]]:
    batch = pa.RecordBatch.from_pydict({"value": VALUES})
    return [row for out in land_partition(order, Reader)(iter([batch])) for row in out.to_pylist()]


def test_two_tries_of_a_task_share_no_file(tmp_path: Path) -> None:
    order = Setting(catalog=WIDE).order(tmp_path)
    first, second = tried(order), tried(order)
    assert [row["rows"] for row in first] == [row["rows"] for row in second]
    names = [row["file"] for row in first + second if row["path"]]
    assert len(set(names)) == len(names)
    assert {path.name for path in tmp_path.rglob("*.parquet")} == set(names)
