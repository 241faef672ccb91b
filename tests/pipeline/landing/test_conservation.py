"""One in, exactly one out: whatever the lines are and however they are cut into flushes."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from heraldry.pipeline.landing.lander import Lander
from heraldry.pipeline.landing.worker import land_partition
from heraldry.pipeline.sources.file_lines import LineCounter
from tests.pipeline.landing.without_spark import Setting, expected, lander_of, lines_of, read_back
from tests.suites.flawed_lines import events, native_lines
from tests.suites.streams import EVENT_KINDS, TEXT, WIDE, document, event, kind, line, record

SETTING = Setting(catalog=WIDE)
anything = events(EVENT_KINDS) | native_lines() | st.binary(max_size=20)


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("warehouse")


@pytest.fixture(autouse=True)
def _collecting() -> Iterator[None]:
    """A worker ends the collection of garbage for its process, which here is the tests'."""
    yield
    gc.enable()


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(anything, min_size=5, max_size=25), st.lists(st.integers(0, 25), max_size=4))
def test_every_line_ends_in_one_place(
    warehouse: Path, stream: list[bytes], cuts: list[int]
) -> None:
    lander = lander_of(SETTING, warehouse)
    bounds = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    found: Counter[str] = Counter()
    for begin, end in pairwise(bounds):
        result = lander.land(lines_of(stream[begin:end], first=begin))
        found.update(position for position, _ in read_back(warehouse, result))
    assert found == Counter(f"0+{number}" for number in range(len(stream)))


def batch(rows: list[tuple[str, int]]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict(
        {
            "value": pa.array([b"x"] * len(rows), pa.binary()),
            "source": pa.array([source for source, _ in rows], pa.string()),
            "block": pa.array([block for _, block in rows], pa.int64()),
        }
    )


blocks = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from((0, 64, 128)), st.integers(1, 5)),
    max_size=8,
    unique_by=lambda block: block[:2],
)


@settings(max_examples=100, deadline=None)
@given(blocks, st.data())
def test_places_are_unique_and_in_order(
    parts: list[tuple[str, int, int]], data: st.DataObject
) -> None:
    """A partition reads block after block; batches and flushes cut it anywhere."""
    rows = [(source, block) for source, block, count in parts for _ in range(count)]
    counter = LineCounter()
    places: list[tuple[str, str]] = []
    flushes = 0
    while rows:
        flush, least = [], int(flushes > 4)  # only the first few may be empty
        for size in data.draw(st.lists(st.integers(least, 6), min_size=1, max_size=3)):
            flush.append(batch(rows[:size]))
            rows = rows[size:]
        lines = counter.lines(flush)
        flushes += 1
        places += zip(lines.sources.to_pylist(), lines.positions.to_pylist(), strict=True)
    expected = [
        (source, f"{block}+{number}") for source, block, count in parts for number in range(count)
    ]
    assert places == expected


def test_a_partition_without_lines(tmp_path: Path) -> None:
    land = land_partition(SETTING.order(tmp_path), LineCounter)
    for batches in ([], [batch([])]):
        told = [row for result in land(iter(batches)) for row in result.to_pylist()]
        assert [(row["path"], row["rows"]) for row in told] == [("", 0)]


def test_a_partition_in_flushes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A flush for every batch: more files, the same rows."""
    monkeypatch.setattr("heraldry.pipeline.landing.lander._JUDGE_BYTES", 1)
    monkeypatch.setattr("heraldry.pipeline.landing.lander._HOLD_BYTES", 1)
    values = [line(event("order", {"id": str(n), "total": n})) for n in range(30)]
    batches = [
        pa.RecordBatch.from_pydict(
            {"value": values[n : n + 10], "source": ["file"] * 10, "block": [0] * 10}
        )
        for n in (0, 10, 20)
    ]
    results = list(land_partition(SETTING.order(tmp_path), LineCounter)(iter(batches)))
    *results, last, count = results
    assert [len(result) for result in results] == [1, 1, 1]
    assert len(last) == 0
    assert [(row["path"], row["rows"]) for row in count.to_pylist()] == [("", 30)]
    folder = tmp_path / results[0]["path"][0].as_py()
    places = [
        position
        for file in folder.iterdir()
        for position in pa.parquet.read_table(file)["_position"].to_pylist()
    ]
    assert sorted(places) == sorted(f"0+{number}" for number in range(30))


def test_rows_held_over_many_lines_stay_as_they_were_judged(tmp_path: Path) -> None:
    """What is judged later must not touch the columns of rows that wait to be written."""
    values = [
        line(event("order", {"id": f"o{n}", "total": n + 0.5, "tags": [f"t{n}"] * (n % 4)}))
        for n in range(300)
    ]
    lander = lander_of(SETTING, tmp_path)
    for first in range(0, 300, 50):
        assert lander.take(lines_of(values[first : first + 50], first=first)) is None
    found = read_back(tmp_path, lander.finish())
    landed = dict(found)
    assert len(found) == len(landed) == 300
    for number, one in enumerate(values):
        assert landed[f"0+{number}"] == expected(SETTING, one)


@pytest.mark.parametrize("wanted", [True, False], ids=["with identities", "without"])
def test_no_member_of_a_payload_is_taken_for_identities(tmp_path: Path, *, wanted: bool) -> None:
    names = ("_identity", "identity", " identity")
    order = kind("order", record(**dict.fromkeys(names, TEXT)))
    setting = Setting(catalog=document({"order": dict(order.definition)}))
    work = replace(setting.order(tmp_path), identities=wanted)
    value = line(event("order", {name: f"my {name}" for name in names}))
    ((_, found),) = read_back(tmp_path, Lander(work).land(lines_of([value])))
    assert found == expected(setting, value)
    assert all(f"'my {name}'" in found.row for name in names)
