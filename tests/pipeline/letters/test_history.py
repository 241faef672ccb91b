"""The history of replays: what was refused too often, by which catalog, and read in which way."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from heraldry.dialects.load import load_bytes
from heraldry.pipeline.lake import delta
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.landing.parquet import ParquetWriter
from heraldry.pipeline.letters import deadletters
from heraldry.pipeline.letters.history import LANDED, REFUSED, REPLAYS, SCHEMA, History, among
from heraldry.pipeline.replay import ReplaySettings, replay
from tests.pipeline.landing.without_spark import RECEIVED
from tests.pipeline.letters.lettering import land_lines, replays, table_column
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


def history_of(outcome: str, *letters: tuple[str, datetime | None]) -> History:
    """What became of some letters; rows of old do not say when those were received."""
    columns = {
        "letter": [letter for letter, _ in letters],
        "outcome": [outcome] * len(letters),
        "catalog": ["c"] * len(letters),
        "received": [received for _, received in letters],
    }
    rest = {name: [None] * len(letters) for name in SCHEMA.names if name not in columns}
    return History(pa.table(columns | rest, schema=SCHEMA))


def without_the_column(lake: Path, name: str = "foreign") -> None:
    """Make the history what it was before it told how letters were read, or which they were."""
    storage = Storage(str(lake))
    rows = replays(lake).drop_columns(name)
    shutil.rmtree(lake / REPLAYS)
    table = delta.create_table(storage, REPLAYS, rows.schema, {})
    delta.commit_files(table, ParquetWriter(storage, 1).write(REPLAYS, rows), "before", 1)


def test_the_last_outcome_of_a_letter_counts(lake: Path) -> None:
    assert History.read(Storage(str(lake))).outcomes == {}
    run(lake)
    assert History.read(Storage(str(lake))).outcomes == {"refused": 2}
    run(lake, foreign=True)
    assert History.read(Storage(str(lake))).outcomes == {"landed": 1, "refused": 1}


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


def letters_of(*letters: tuple[str, datetime | None]) -> pa.RecordBatch:
    kept = [SCHEMA.field("letter"), SCHEMA.field("received")]
    rows = [{"letter": letter, "received": received} for letter, received in letters]
    return pa.RecordBatch.from_pylist(rows, schema=pa.schema(kept))


NEXT = RECEIVED + timedelta(hours=1)


@pytest.mark.parametrize(
    ("closed", "found"),
    [
        ([], [False, False, False]),
        ([("a", RECEIVED)], [True, False, False]),
        ([("a", None)], [True, True, False]),
        ([("b", None), ("a", NEXT)], [False, True, True]),
        ([("c", None), ("b", NEXT), ("c", RECEIVED)], [False, False, False]),
    ],
    ids=["nothing", "one letter", "all of an id", "both", "others"],
)
def test_letters_that_a_history_knows(
    closed: list[tuple[str, datetime | None]], found: list[bool]
) -> None:
    batch = letters_of(("a", RECEIVED), ("a", NEXT), ("b", RECEIVED))
    known = history_of(LANDED, *closed).closed
    assert among(batch, known).to_pylist() == found
    assert among(batch.slice(1), known).to_pylist() == found[1:]
    assert among(batch.slice(3), known).to_pylist() == []


@pytest.mark.parametrize(
    ("refused", "found"),
    [
        ([], [False, False, False]),
        ([("a", None)] * 3, [True, True, False]),
        ([("a", None)] * 2, [False, False, False]),
        ([("a", None)] * 2 + [("a", RECEIVED)], [True, False, False]),
        ([("a", RECEIVED)] + [("a", None)] * 2 + [("b", None)], [True, False, False]),
        ([("a", None), ("a", RECEIVED), ("a", NEXT)], [False, False, False]),
        ([("a", RECEIVED)] * 2 + [("a", NEXT)] * 3, [False, True, False]),
        ([("b", None), ("a", RECEIVED)] * 2, [False, False, False]),
    ],
    ids=["none", "of old", "few", "both", "in any order", "of two", "of another", "of another id"],
)
def test_refusals_of_old_count_for_every_letter_of_the_id(
    refused: list[tuple[str, datetime | None]], found: list[bool]
) -> None:
    batch = letters_of(("a", RECEIVED), ("a", NEXT), ("b", RECEIVED))
    known = history_of(REFUSED, *refused).refused("c", 3, foreign=False)
    assert among(batch, known).to_pylist() == found


def test_the_guard_goes_on_with_a_history_of_old(tmp_path: Path) -> None:
    land_at_one_place(tmp_path, 0, topic="none")
    assert [replayed(tmp_path) for _ in range(2)] == [(0, 1, 0)] * 2
    without_the_column(tmp_path, "received")
    assert [replayed(tmp_path) for _ in range(2)] == [(0, 1, 0), (0, 0, 1)]


def test_a_batch_costs_little_beside_a_long_history() -> None:
    """Less than hashing the history once; the best of some tries, for machines are busy."""
    count = 100_000
    letters = [(f"{number:032x}", RECEIVED) for number in range(count)]
    batch, known = letters_of(*letters[-100:]), history_of(LANDED, *letters).closed
    assert len(known) == count

    def seconds(run: Callable[[], object]) -> float:
        start = time.perf_counter()
        run()
        return time.perf_counter() - start

    sought = min(seconds(lambda: among(batch, known)) for _ in range(5))
    hashed = min(seconds(lambda: pc.is_in(batch["letter"], value_set=known)) for _ in range(5))
    assert sought < hashed


# --- a place that comes again, as in a topic that was deleted and made anew

ANEW = document({"belt": BELT, "scan": BELT | {"protocoloptions": {"topic": "scans"}}})
NOTHING = document({"nothing": BELT | {"protocoloptions": {"topic": "nothing"}}})


def land_at_one_place(
    lake: Path, batch: int, received: datetime = RECEIVED, topic: str = "belts"
) -> None:
    """A letter of one job at the place that all of them have."""
    metadata = {"topic": topic, "key": str(batch)}
    sent = line({"protocol": "KAFKA", "metadata": metadata, "payload": {"speed": batch}})
    land_lines(lake, NOTHING, [sent], batch=batch, received=received)


def replayed(lake: Path, **more: Any) -> tuple[int, int, int]:
    settings = ReplaySettings(warehouse=str(lake), **more)
    report = replay(load_bytes(ANEW, "catalog"), settings)
    return report.landed, report.refused, report.skipped


@pytest.mark.parametrize(
    "times",
    [(0, 1), (1, 0), (0, 10**6), (10**6, 0), (10**6, 10**6 + 1)],
    ids=["later", "earlier", "clock ahead", "clock ahead at first", "clock always ahead"],
)
def test_a_letter_at_a_place_that_comes_again_is_open(
    tmp_path: Path, times: tuple[int, int]
) -> None:
    """Whatever the clocks of jobs and replays say: each letter lands once."""
    for batch, hours in enumerate(times):
        land_at_one_place(tmp_path, batch, RECEIVED + timedelta(hours=hours))
        assert [len(list(deadletters.letters(str(tmp_path)))) for _ in range(2)] == [1, 1]
        assert replayed(tmp_path, dry_run=True) == (1, 0, 0)
        assert [replayed(tmp_path) for _ in range(2)] == [(1, 0, 0), (0, 0, 0)]
        assert list(deadletters.letters(str(tmp_path))) == []
    assert sorted(map(int, table_column(tmp_path, "default/shop/belt", "speed"))) == [0, 1]
    assert len(set(replays(tmp_path)["letter"].to_pylist())) == 1


def test_two_letters_of_one_id_both_land(tmp_path: Path) -> None:
    for batch in range(2):
        land_at_one_place(tmp_path, batch, RECEIVED + timedelta(hours=batch))
    assert replayed(tmp_path, dry_run=True) == (2, 0, 0)
    assert replayed(tmp_path) == (2, 0, 0)
    assert replayed(tmp_path) == (0, 0, 0)


def test_the_guard_counts_for_one_letter_of_an_id(tmp_path: Path) -> None:
    land_at_one_place(tmp_path, 0, topic="none")
    assert [replayed(tmp_path) for _ in range(4)] == [(0, 1, 0)] * 3 + [(0, 0, 1)]
    land_at_one_place(tmp_path, 1, RECEIVED + timedelta(hours=1))
    assert [replayed(tmp_path) for _ in range(2)] == [(1, 0, 1), (0, 0, 1)]


def test_a_history_of_old_closes_letters_by_their_id(tmp_path: Path) -> None:
    land_at_one_place(tmp_path, 0)
    assert replayed(tmp_path) == (1, 0, 0)
    without_the_column(tmp_path, "received")
    assert replayed(tmp_path) == (0, 0, 0)
    land_at_one_place(tmp_path, 1, RECEIVED + timedelta(hours=1), topic="scans")
    assert replayed(tmp_path) == (0, 0, 0)


def test_one_letter_of_an_id_is_told_in_full(tmp_path: Path) -> None:
    """It is the newest, with what became of that one."""
    land_at_one_place(tmp_path, 0)
    assert replayed(tmp_path) == (1, 0, 0)
    land_at_one_place(tmp_path, 1, RECEIVED + timedelta(hours=1))
    (number,) = set(replays(tmp_path)["letter"].to_pylist())
    found = deadletters.find_letter(str(tmp_path), number[:8])
    assert (found["batch"], found["replays"]) == (1, [])
    replayed(tmp_path)
    (told,) = deadletters.find_letter(str(tmp_path), number)["replays"]
    assert (told["outcome"], told["replay"]) == ("landed", 2)
