"""The lineage of a job that Spark runs: every event is one of OpenLineage's, and it adds up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from heraldry.dialects.load import load_bytes
from heraldry.pipeline.job import land
from heraldry.pipeline.lake.tables import tables
from heraldry.pipeline.settings import LandSettings
from heraldry.pipeline.watching.lineage import Lineage
from tests.pipeline.watching.lineage_checks import check_by_classes, check_landing_facet
from tests.suites.streams import WIDE, event, line

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.slow


def written(folder: Path) -> Path:
    """Two files: six orders, and two scans of which one is flawed."""
    inbox = folder / "inbox"
    inbox.mkdir()
    orders = [event("order", {"id": str(one), "total": one}, id=f"o{one}") for one in range(6)]
    scans = [event("scan", {"tag": "t", "weight": one}, id=f"s{one}") for one in (1.5, "heavy")]
    for name, events in (("orders", orders), ("scans", scans)):
        (inbox / f"{name}.jsonl").write_bytes(b"".join(line(one) + b"\n" for one in events))
    return inbox


def by_name(event: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {Path(one["name"]).name: one for one in event["outputs"]}


def test_every_event_of_a_job_is_one_of_openlineage(spark: SparkSession, tmp_path: Path) -> None:
    assert spark is not None
    lake, file = tmp_path / "lake", tmp_path / "lineage.jsonl"
    settings = LandSettings(
        source=f"files:{written(tmp_path)}", warehouse=str(lake), master="local[2]"
    )
    lineage = Lineage(str(file), tell=pytest.fail, every=0, environ={})
    land(load_bytes(WIDE, "catalog"), settings, [lineage])
    events = [json.loads(one) for one in file.read_text().splitlines()]
    assert [one["eventType"] for one in events] == ["START", "RUNNING", "COMPLETE"]
    for one in events:
        check_by_classes(one)
        check_landing_facet(one)
    told = by_name(events[1])
    rows = {name: one["outputFacets"]["outputStatistics"]["rowCount"] for name, one in told.items()}
    assert rows == {"order": 6, "scan": 1, "_dead_letters": 1}
    for info in tables(str(lake)):
        fields = told[info.name[-1]]["facets"]["schema"]["fields"]
        assert tuple((one["name"], one["type"]) for one in fields) == info.columns
    (check,) = events[-1]["inputs"][0]["inputFacets"]["dataQualityAssertions"]["assertions"]
    assert (check["success"], check["actual"]) == (False, "1")
    assert check["params"] == {"valid": 7, "deadLetters": {"type": 1}}
