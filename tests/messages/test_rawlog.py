"""The raw log: what was synced is there exactly once, in order, whatever happens to the writer."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heraldry.errors import RawLogError
from heraldry.messages.rawlog import MARK, Mark, RawLog, segment_path, segments
from heraldry.messages.rawlog_writer import RawLogWriter, SegmentLimits

SMALL = SegmentLimits(size=60, messages=5)


def lines(begin: int, end: int, size: int = 0) -> list[bytes]:
    return [b'{"n":%d}' % number + b"x" * size for number in range(begin, end)]


def filled(folder: Path, count: int, limits: SegmentLimits = SMALL, *, group: int = 1) -> None:
    with RawLogWriter(folder, limits=limits) as log:
        for begin in range(log.end, count, group):
            log.append(lines(begin, min(begin + group, count)))
            log.sync()


def everything(folder: Path) -> list[bytes]:
    log = RawLog(folder)
    return list(log.read(log.begin(), log.end()))


def test_what_is_synced_is_read_by_number(tmp_path):
    filled(tmp_path, 23)
    log = RawLog(tmp_path)
    assert (log.begin(), log.end()) == (0, 23)
    assert [path.name for path in sorted(tmp_path.glob("*.jsonl"))] == [
        f"{number:012d}.jsonl" for number in (0, 5, 10, 15, 20)
    ]
    for begin, end in [(0, 23), (3, 4), (4, 6), (7, 7), (22, 23), (0, 5), (5, 10)]:
        assert list(log.read(begin, end)) == lines(begin, end)


def test_nothing_is_seen_before_it_is_synced(tmp_path):
    with RawLogWriter(tmp_path) as log:
        log.append(lines(0, 3))
        assert RawLog(tmp_path).end() == 0
        assert log.sync() == 3
        assert RawLog(tmp_path).end() == 3
        log.append(lines(3, 4))
    assert RawLog(tmp_path).end() == 3


def test_a_reader_follows_a_writer(tmp_path):
    reader = RawLog(tmp_path)
    with RawLogWriter(tmp_path, limits=SMALL) as log:
        for number in range(40):
            log.append(lines(number, number + 1))
            log.sync()
            assert list(reader.read(number, number + 1)) == lines(number, number + 1)


def test_pieces_have_about_the_size_that_is_asked_for(tmp_path):
    with RawLogWriter(tmp_path) as log:
        log.append(lines(0, 20_000, 100))
        log.sync()
    pieces = RawLog(tmp_path).pieces(17, 19_990, 500_000)
    assert len(pieces) in (4, 5)
    assert all(piece.end - piece.begin < 800_000 for piece in pieces)
    again = [line for piece in pickle.loads(pickle.dumps(pieces)) for line in piece.lines()]
    assert again == lines(17, 19_990, 100)
    assert pieces[0].first == 17
    assert len(RawLog(tmp_path).pieces(17, 19_990)) == 1


def test_a_line_longer_than_what_is_read_at_once(tmp_path):
    long = [b"a" * 1_000_000, b"b", b"c" * 600_000]
    with RawLogWriter(tmp_path) as log:
        log.append(long)
        log.sync()
    assert everything(tmp_path) == long
    assert list(RawLog(tmp_path).read(1, 3)) == long[1:]


def test_one_writer_at_a_time(tmp_path):
    with (
        RawLogWriter(tmp_path),
        pytest.raises(RawLogError, match="another process writes this log"),
        RawLogWriter(tmp_path),
    ):
        pass
    with RawLogWriter(tmp_path):
        pass


def test_the_lock_dies_with_its_process(tmp_path):
    program = (
        "import os, signal, sys; from heraldry.messages.rawlog_writer import RawLogWriter\n"
        "with RawLogWriter(sys.argv[1]) as log:\n"
        "    log.append([b'1', b'2']); log.sync(); log.append([b'3'])\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    ended = subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=False)
    assert ended.returncode == -9
    filled(tmp_path, 2)
    assert everything(tmp_path) == [b"1", b"2"]


@pytest.mark.parametrize(
    ("tail", "kept"),
    [
        pytest.param(b'{"n":3', [], id="torn-line"),
        pytest.param(b"3\n4", [b"3"], id="whole-line-nobody-was-told-of"),
        pytest.param(b"\0" * 5000, [], id="blocks-never-written"),
        pytest.param(b"3\n\0\0\0\n5\n", [b"3"], id="a-hole-before-whole-lines"),
    ],
)
@pytest.mark.parametrize("mark", ["there", "absent", "spoilt"])
def test_a_torn_end_is_cut(tmp_path, tail, kept, mark):
    filled(tmp_path, 3, group=3)
    with segment_path(tmp_path, 0).open("ab") as segment:
        segment.write(tail)
    if mark == "absent":
        (tmp_path / MARK).unlink()
    elif mark == "spoilt":
        (tmp_path / MARK).write_bytes(b"\0" * 95)
    with RawLogWriter(tmp_path) as log:
        log.append([b"next"])
        log.sync()
    assert everything(tmp_path) == [*lines(0, 3), *kept, b"next"]


def test_a_segment_that_lost_durable_bytes_is_refused(tmp_path):
    filled(tmp_path, 3)
    os.truncate(segment_path(tmp_path, 0), 10)
    with pytest.raises(RawLogError, match="has lost 14 bytes"), RawLogWriter(tmp_path):
        pass


@pytest.mark.parametrize("line", [b"a\nb", b"a\n", b"\0"])
def test_a_line_with_a_line_end_is_refused(tmp_path, line):
    with RawLogWriter(tmp_path) as log:
        log.append([line])
        with pytest.raises(RawLogError, match="line end"):
            log.sync()
        log.append([b"good"])
        assert log.sync() == 1


def test_a_full_disk_keeps_nothing_of_the_group(tmp_path, monkeypatch):
    full = [False]
    write = os.write

    def limited(handle, data):
        if full[0]:
            if len(data) <= 5:
                raise OSError(28, "No space left on device")
            return write(handle, data[:5])
        return write(handle, data)

    monkeypatch.setattr(os, "write", limited)
    with RawLogWriter(tmp_path, limits=SMALL) as log:
        for number in range(12):
            log.append(lines(number, number + 1))
            full[0] = True
            with pytest.raises(RawLogError, match="No space left on device"):
                log.sync()
            full[0] = False
            assert RawLog(tmp_path).end() == number
            log.append(lines(number, number + 1))
            assert log.sync() == number + 1
    assert everything(tmp_path) == lines(0, 12)
    filled(tmp_path, 14)
    assert everything(tmp_path) == lines(0, 14)


@pytest.mark.parametrize("undone", ["ftruncate", "lseek"])
def test_what_cannot_be_undone_is_undone_before_the_next_group(tmp_path, monkeypatch, undone):
    """Else the next group stands behind half a group, and the mark cuts it short."""
    working = {name: getattr(os, name) for name in ("fsync", undone)}

    def fail(*_given):
        raise OSError(5, "Input/output error")

    with RawLogWriter(tmp_path) as log:
        log.append(lines(0, 2))
        log.sync()
        log.append([b"refused"])
        for name in working:
            monkeypatch.setattr(os, name, fail)
        with pytest.raises(RawLogError, match="Input/output error"):
            log.sync()
        monkeypatch.setattr(os, "fsync", working["fsync"])
        log.append([b"refused as well"])
        with pytest.raises(RawLogError, match="Input/output error"):
            log.sync()
        assert everything(tmp_path) == lines(0, 2)
        monkeypatch.setattr(os, undone, working[undone])
        log.append(lines(2, 4))
        assert log.sync() == 4
        assert everything(tmp_path) == lines(0, 4)
    filled(tmp_path, 6)
    assert everything(tmp_path) == lines(0, 6)


def test_what_cannot_be_undone_does_not_stay_in_a_full_segment(tmp_path, monkeypatch):
    working = {name: getattr(os, name) for name in ("pwrite", "ftruncate")}

    def fail(*_given):
        raise OSError(5, "Input/output error")

    with RawLogWriter(tmp_path, limits=SMALL) as log:
        log.append(lines(0, 4))
        log.sync()
        log.append([b"refused"])
        for name in working:
            monkeypatch.setattr(os, name, fail)
        with pytest.raises(RawLogError, match="Input/output error"):
            log.sync()
        for name, real in working.items():
            monkeypatch.setattr(os, name, real)
        for number in (4, 5):
            log.append(lines(number, number + 1))
            assert log.sync() == number + 1
    assert everything(tmp_path) == lines(0, 6)
    assert segment_path(tmp_path, 0).read_bytes() == b"".join(b"%s\n" % x for x in lines(0, 5))


def next_descriptor(path: Path) -> int:
    """The least number that no open file has."""
    handle = os.open(path, os.O_RDONLY)
    os.close(handle)
    return handle


def test_a_segment_that_cannot_be_begun_holds_no_files_open(tmp_path):
    filled(tmp_path, 5)
    blocked = segment_path(tmp_path, 5).with_suffix(".times")
    blocked.mkdir()
    with RawLogWriter(tmp_path, limits=SMALL) as log:
        before = next_descriptor(tmp_path)
        for _ in range(3):
            log.append(lines(5, 7))
            with pytest.raises(RawLogError, match="cannot be written"):
                log.sync()
        assert next_descriptor(tmp_path) == before
        blocked.rmdir()
        log.append(lines(5, 7))
        assert log.sync() == 7
    assert everything(tmp_path) == lines(0, 7)


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RawLogError, match="cannot be written"), RawLogWriter(tmp_path / "file"):
        pass


def test_purging_keeps_what_the_slowest_reader_needs(tmp_path):
    filled(tmp_path, 23)
    log = RawLog(tmp_path)
    log.advance("slow", 7, 9)
    log.advance("quick", 0, 0)
    log.commit("quick", 20)
    assert log.begin() == 0  # one step behind
    log.commit("quick", 23)
    assert log.begin() == 5
    assert (log.progress("slow"), log.progress("quick")) == ((7, 9), (23, 23))
    assert log.unread() == 14
    assert list(log.read(7, 23)) == lines(7, 23)
    with pytest.raises(RawLogError, match="from 3 on are not there any more"):
        log.pieces(3, 23)
    log.advance("slow", 23, 23)
    log.commit("quick", 23)
    assert log.begin() == 5  # the same number again is no step
    filled(tmp_path, 26)
    log.commit("quick", 26)
    assert log.begin() == 20
    assert everything(tmp_path) == lines(20, 26)


def test_the_last_segment_always_stays(tmp_path):
    filled(tmp_path, 23)
    RawLog(tmp_path).purge(23)
    assert segments(tmp_path) == [20]


def test_a_reader_may_go_back_to_its_last_step(tmp_path):
    """Its own progress may be a step older than what it committed here, however often."""
    filled(tmp_path, 23)
    log = RawLog(tmp_path)
    for number in (5, 10, 15, 15, 15):
        log.commit("reader", number)
    assert list(log.read(10, 15)) == lines(10, 15)


def test_a_log_that_was_begun_anew_is_noticed(tmp_path):
    filled(tmp_path, 3)
    with pytest.raises(RawLogError, match="has 3 messages, and not yet 10"):
        RawLog(tmp_path).pieces(5, 10)


def test_numbers_go_on_where_all_segments_were_removed(tmp_path):
    filled(tmp_path, 3)
    segment_path(tmp_path, 0).unlink()
    filled(tmp_path, 5)
    assert (RawLog(tmp_path).begin(), everything(tmp_path)) == (3, lines(3, 5))


def test_a_log_has_one_name_and_one_source(tmp_path):
    with RawLogWriter(tmp_path, source="mqtt://broker:1883/a") as log:
        name = log.name
    with RawLogWriter(tmp_path, source="mqtt://broker:1883/a") as log:
        assert log.name == name
    assert RawLog(tmp_path).source() == "mqtt://broker:1883/a"
    with (
        pytest.raises(RawLogError, match="holds the messages of mqtt://broker:1883/a"),
        RawLogWriter(tmp_path, source="mqtt://broker:1883/b"),
    ):
        pass


@pytest.mark.parametrize("again", ["mqtt://broker/A", "MQTT://Broker:1883/A"])
def test_a_source_is_the_same_however_it_is_spelled(tmp_path, again):
    with RawLogWriter(tmp_path, source="mqtt://broker:1883/A"):
        pass
    with RawLogWriter(tmp_path, source=again):
        pass
    with pytest.raises(RawLogError, match="holds"), RawLogWriter(tmp_path, source=f"{again}a"):
        pass


def test_a_broker_that_moved_is_written_into_the_file_that_is_named(tmp_path):
    with RawLogWriter(tmp_path, source="mqtt://old:1883/a"):
        pass
    new, file = "mqtt://new:1883/a", tmp_path / "source"
    with (
        pytest.raises(RawLogError, match=rf"name another folder for {new}.*write it into {file}"),
        RawLogWriter(tmp_path, source=new),
    ):
        pass
    file.write_text(f"{new}\n")
    with RawLogWriter(tmp_path, source=new):
        pass


def test_a_reader_says_who_it_is_until_it_says_another(tmp_path):
    filled(tmp_path, 9)
    log = RawLog(tmp_path)
    assert log.slowest() is None
    log.advance("a", 0, 2, "/lake/a b")
    log.advance("b", 0, 5)
    log.commit("a", 3)
    assert log.progress("a") == (3, 3)
    slow = log.slowest()
    assert (slow.place, slow.path, slow.read) == ("/lake/a b", f"{tmp_path}/readers/a", 3)
    log.advance("a", 9, 9, "/lake/c")
    assert str(log.slowest()) == f"a reader; if it never comes back, remove {tmp_path}/readers/b"
    log.advance("b", 9, 9)
    assert log.unread() == 0


def lost(folder: Path, mark: bytes | None) -> None:
    """What a power cut does to a mark that was not flushed: an older one, no blocks, or none."""
    if mark is None:
        (folder / MARK).unlink()
    else:
        (folder / MARK).write_bytes(mark)


@pytest.mark.parametrize(
    "mark", [None, b"", Mark(number=3, segment=0, size=24).write()], ids=["gone", "empty", "older"]
)
def test_a_mark_that_a_power_cut_took_is_mended_by_who_writes(tmp_path, mark):
    filled(tmp_path, 8)
    lost(tmp_path, mark)
    log = RawLog(tmp_path)
    with pytest.raises(RawLogError, match="begin its heraldry intake first"):
        log.pieces(5, 8)
    filled(tmp_path, 8)
    assert list(log.read(5, 8)) == lines(5, 8)


def test_a_mark_of_no_blocks_is_mended_by_who_writes(tmp_path):
    filled(tmp_path, 8)
    lost(tmp_path, b"\0" * 95)
    with pytest.raises(RawLogError, match=r"cannot be read .begin its heraldry intake first"):
        RawLog(tmp_path).end()
    (tmp_path / "other").mkdir()
    lost(tmp_path / "other", b"what")
    with pytest.raises(RawLogError, match="is this the folder of a raw log"):
        RawLog(tmp_path / "other").end()


@pytest.mark.parametrize(
    "text", [b"", b"1 2 3 4\n", b"\0" * 95, Mark(number=1, segment=2, size=3).write()[:-1]]
)
def test_what_is_no_mark(text):
    assert Mark.read(text) is None


@given(st.integers(0, 10**12), st.integers(0, 10**12), st.integers(0, 10**12))
def test_marks_are_read_as_they_were_written(number, segment, size):
    mark = Mark(number=number, segment=segment, size=size)
    assert Mark.read(mark.write()) == mark


text = st.binary(max_size=40).map(lambda one: one.replace(b"\n", b"").replace(b"\0", b""))
steps = st.lists(
    st.one_of(
        st.lists(text, max_size=6),  # a group that is synced
        # a group under way when the writer dies: so much of it came to the disk
        st.tuples(st.lists(text, min_size=1, max_size=6), st.floats(0, 1)),
    ),
    max_size=30,
)


@settings(max_examples=150)
@given(steps)
def test_every_synced_line_is_kept_once_and_in_order(given_steps):
    with TemporaryDirectory() as name:
        folder = Path(name)
        synced: list[bytes] = []
        for step in given_steps:
            with RawLogWriter(folder, limits=SegmentLimits(size=80, messages=7)) as log:
                known = everything(folder)
                assert known[: len(synced)] == synced
                synced = known  # whole lines of a torn group stay, and then for ever
                if isinstance(step, list):
                    log.append(step)
                    log.sync()
                    synced = [*synced, *step]
                    continue
                log.append(step[0])
            torn = b"".join(line + b"\n" for line in step[0])
            with segment_path(folder, segments(folder)[-1]).open("ab") as segment:
                segment.write(torn[: int(len(torn) * step[1])])
        assert everything(folder)[: len(synced)] == synced
