"""When messages were taken in: by groups, over segments, restarts and what a crash leaves."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from heraldry.messages.rawlog import RawLog, segment_path
from heraldry.messages.rawlog_times import read_times, time_record, times_path
from heraldry.messages.rawlog_writer import RawLogWriter, SegmentLimits


def fill(folder: Path, groups: list[int], start: int = 1, limit: int = 1000) -> None:
    """Groups of so many messages, the first at the second ``start``, each a second later."""
    ticks = count(start)
    limits = SegmentLimits(messages=limit)
    with RawLogWriter(folder, limits=limits, clock=lambda: float(next(ticks))) as log:
        for size in groups:
            log.append([b"{}"] * size)
            log.sync()


def seconds(log: RawLog, begin: int, end: int) -> list[int | None]:
    found = [time for piece in log.pieces(begin, end) for time in piece.times()]
    return [None if time is None else time // 1_000_000 for time in found]


def test_every_message_has_the_time_of_its_group(tmp_path: Path) -> None:
    fill(tmp_path, [2, 1, 3])
    assert seconds(RawLog(tmp_path), 0, 6) == [1, 1, 2, 3, 3, 3]
    assert seconds(RawLog(tmp_path), 1, 4) == [1, 2, 3]


@given(st.lists(st.integers(1, 5), min_size=1, max_size=8), st.data())
def test_any_range_of_any_groups(groups: list[int], data: st.DataObject) -> None:
    records = b"".join(
        time_record(sum(groups[:number]), number + 1) for number in range(len(groups))
    )
    expected = [number + 1 for number, size in enumerate(groups) for _ in range(size)]
    begin = data.draw(st.integers(0, len(expected)))
    length = data.draw(st.integers(0, len(expected) - begin))
    with TemporaryDirectory() as folder:
        segment = Path(folder) / "0.jsonl"
        times_path(segment).write_bytes(records)
        assert read_times(segment, begin, length) == expected[begin : begin + length]


def test_over_segments_and_restarts(tmp_path: Path) -> None:
    fill(tmp_path, [2, 2], limit=2)
    fill(tmp_path, [1], start=9, limit=4)
    assert seconds(RawLog(tmp_path), 0, 5) == [1, 1, 2, 2, 9]


def test_a_log_from_before_there_were_times(tmp_path: Path) -> None:
    fill(tmp_path, [2])
    times_path(segment_path(tmp_path, 0)).unlink()
    assert seconds(RawLog(tmp_path), 0, 2) == [None, None]
    fill(tmp_path, [1], start=7)
    assert seconds(RawLog(tmp_path), 0, 3) == [None, None, 7]


def test_what_a_crash_leaves(tmp_path: Path) -> None:
    """Half a record is cut off, a block that was never written has no time."""
    fill(tmp_path, [2])
    with times_path(segment_path(tmp_path, 0)).open("ab") as file:
        file.write(bytes(16) + b"torn")
    assert seconds(RawLog(tmp_path), 0, 2) == [1, 1]
    fill(tmp_path, [1], start=7)
    assert seconds(RawLog(tmp_path), 0, 3) == [1, 1, 7]


def test_they_go_with_their_segment(tmp_path: Path) -> None:
    fill(tmp_path, [1, 1, 1], limit=1)
    log = RawLog(tmp_path)
    log.purge(2)
    assert sorted(path.name for path in tmp_path.glob("*.times")) == ["000000000002.times"]
