"""The history of replays: what was refused too often, by which catalog, and read in which way."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from heraldry.dialects.load import load_bytes
from heraldry.pipeline.lake import delta
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.landing.parquet import ParquetWriter
from heraldry.pipeline.letters.history import REPLAYS, SCHEMA, History
from heraldry.pipeline.replay import ReplaySettings, replay
from tests.pipeline.letters.lettering import land_lines, replays
from tests.suites.streams import DRAFT_07, NUMBER, document, line, record

BELT = {
    "protocol": "KAFKA",
    "protocoloptions": {"topic": "belts"},
    "dataschemaformat": DRAFT_07,
    "dataschema": record(speed=NUMBER),
}
CATALOG = document({"belt": BELT})
FOREIGN = {"topic": "connect-dlq", "headers": {"__connect.errors.topic": "belts"}}
# Of a topic that nobody described, and so refused in either way.
LOST = {"topic": "connect-dlq", "headers": {"__connect.errors.topic": "lost"}}


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    """A warehouse with two letters of Kafka Connect, one of which holds a good message."""
    lines = [
        line({"protocol": "KAFKA", "metadata": metadata, "payload": {"speed": 1}})
        for metadata in (FOREIGN, LOST)
    ]
    land_lines(tmp_path, CATALOG, lines)
    return tmp_path


def run(lake: Path, *, foreign: bool = False, dry_run: bool = False) -> tuple[int, int, int]:
    """A replay: how many letters landed, were refused, and were skipped."""
    settings = ReplaySettings(warehouse=str(lake), foreign=foreign, dry_run=dry_run)
    report = replay(load_bytes(CATALOG, "catalog"), settings)
    return report.landed, report.refused, report.skipped


def without_the_column(lake: Path) -> None:
    """Make the history what it was before it told how letters were read."""
    storage = Storage(str(lake))
    rows = replays(lake).drop_columns("foreign")
    shutil.rmtree(lake / REPLAYS)
    table = delta.create_table(storage, REPLAYS, rows.schema, {})
    delta.commit_files(table, ParquetWriter(storage, 1).write(REPLAYS, rows), "before", 1)


def test_the_guard_counts_each_way_of_reading(lake: Path) -> None:
    assert [run(lake) for _ in range(4)] == [(0, 2, 0)] * 3 + [(0, 0, 2)]
    assert [run(lake, foreign=True) for _ in range(4)] == [(1, 1, 0)] + [(0, 1, 0)] * 2 + [
        (0, 0, 1)
    ]
    ways = replays(lake)["foreign"].to_pylist()
    assert (ways.count(False), ways.count(True)) == (6, 4)


@pytest.mark.parametrize("dry_run", [True, False], ids=["dry-run", "replay"])
def test_a_history_of_old_counts_for_letters_as_they_are(lake: Path, dry_run: bool) -> None:
    for _ in range(3):
        run(lake)
    without_the_column(lake)
    assert run(lake, dry_run=dry_run) == (0, 0, 2)
    assert run(lake, foreign=True, dry_run=dry_run) == (1, 1, 0)
    assert replays(lake).num_rows == (6 if dry_run else 8)
    if not dry_run:
        assert sorted(replays(lake)["foreign"].to_pylist(), key=str) == [None] * 6 + [True] * 2


def test_a_history_of_old_is_read(lake: Path) -> None:
    run(lake)
    without_the_column(lake)
    history = History.read(Storage(str(lake)))
    assert history.last == 1
    assert history.with_rows(SCHEMA.empty_table()).rows.equals(history.rows)
    digest = replays(lake)["catalog"][0].as_py()
    found = [len(history.refused(digest, 1, foreign=way)) for way in (False, True)]
    assert found == [2, 0]
    assert len(history.refused(digest, 2, foreign=False)) == 0
