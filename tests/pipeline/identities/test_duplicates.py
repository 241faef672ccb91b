"""Messages that come again: found by identity, over restarts and kills, and taken out of files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from heraldry.errors import WarehouseError
from heraldry.messages.identity import identity_of_line, joined
from heraldry.pipeline.identities.digests import (
    NONE,
    WIDTH,
    digest,
    digests_of_events,
    digests_of_lines,
)
from heraldry.pipeline.identities.duplicates import Window
from heraldry.pipeline.identities.once import keep_once, rewrite
from heraldry.pipeline.identities.runs import Keys
from heraldry.pipeline.lake.data_file import DataFile
from heraldry.pipeline.lake.layout import DEAD_LETTERS
from heraldry.pipeline.lake.ledger import ManifestFile
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.landing.parquet import ParquetWriter
from tests.messages.wires import TEXT
from tests.pipeline.landing.without_spark import Setting, lander_of, lines_of
from tests.suites.flawed_lines import events, native_lines
from tests.suites.streams import EVENT_KINDS, WIDE

FOLDER = "heraldry/identities"
Files = dict[str, bytes]


def keys_of(*names: str | int | None) -> bytes:
    return b"".join(digest(None if name is None else str(name)) for name in names)


def seen(window: Window, batch: int, files: Files, letters: Sequence[str] = ()) -> dict[str, Any]:
    """What is dropped of a batch that is then decided."""
    found = window.repeated(batch, files, letters)
    window.remember(found)
    return {name: rows.tolist() for name, rows in found.drop.items()}


@pytest.fixture
def storage(tmp_path: Path) -> Storage:
    return Storage.open(str(tmp_path))


@pytest.fixture
def window(storage: Storage) -> Window:
    return Window.open(storage, FOLDER, 1000)


def test_nothing_repeats(window: Window) -> None:
    assert seen(window, 0, {"a": keys_of(1, 2), "b": keys_of(3)}) == {}
    assert seen(window, 1, {"a": keys_of(4)}) == {}
    assert len(window) == 4


def test_what_came_in_an_earlier_batch(window: Window) -> None:
    seen(window, 0, {"a": keys_of(1, 2), "b": keys_of(3)})
    assert seen(window, 1, {"c": keys_of(9, 3, 1), "d": keys_of(8)}) == {"c": [1, 2]}
    assert len(window) == 5


def test_what_comes_twice_in_a_batch_stays_once(window: Window) -> None:
    files = {"a": keys_of(1, 2, 1), "b": keys_of(2, 3), "c": keys_of(3, 3)}
    assert seen(window, 0, files) == {"a": [2], "b": [0], "c": [0, 1]}


def test_rows_without_an_identity_never_repeat(window: Window) -> None:
    files = {"a": keys_of(None, None), "b": b""}
    assert seen(window, 0, files) == {}
    assert seen(window, 1, files) == {}
    assert len(window) == 0


def test_a_letter_that_comes_again_is_one_letter(window: Window) -> None:
    assert seen(window, 0, {"l": keys_of(1, 1)}, ["l"]) == {"l": [1]}
    assert seen(window, 1, {"m": keys_of(1)}, ["m"]) == {"m": [0]}


def test_a_letter_of_a_message_that_landed_is_repeated(window: Window) -> None:
    seen(window, 0, {"a": keys_of(1)})
    assert seen(window, 1, {"l": keys_of(1)}, ["l"]) == {"l": [0]}


def test_a_letter_beside_its_message_is_repeated(window: Window) -> None:
    assert seen(window, 0, {"l": keys_of(1), "a": keys_of(1)}, ["l"]) == {"l": [0]}


def test_a_letter_may_land_later_but_once(window: Window) -> None:
    seen(window, 0, {"l": keys_of(1)}, ["l"])
    assert seen(window, 1, {"a": keys_of(1)}) == {}
    assert seen(window, 2, {"a": keys_of(1)}) == {"a": [0]}


def test_a_killed_try_does_not_count(storage: Storage, window: Window) -> None:
    seen(window, 0, {"a": keys_of(1)})
    seen(window, 1, {"a": keys_of(2, 3)})
    again = Window.open(storage, FOLDER, 1000)
    assert seen(again, 1, {"b": keys_of(1, 2)}) == {"b": [0]}
    assert seen(again, 2, {"c": keys_of(3, 2)}) == {"c": [1]}


def test_the_window_survives_a_restart(storage: Storage) -> None:
    for batch in range(20):
        window = Window.open(storage, FOLDER, 1000)
        assert seen(window, batch, {"a": keys_of(*range(batch * 7, batch * 7 + 7))}) == {}
    assert len(storage.names(FOLDER)) < 8
    window = Window.open(storage, FOLDER, 1000)
    assert len(window.repeated(20, {"a": keys_of(*range(150))}).drop["a"]) == 140


def test_the_oldest_are_forgotten(storage: Storage) -> None:
    window = Window.open(storage, FOLDER, 100)
    for batch in range(100):
        seen(window, batch, {"a": keys_of(*range(batch * 10, batch * 10 + 10))})
        assert len(window) <= 135
    for opened in (window, Window.open(storage, FOLDER, 100)):
        drop = opened.repeated(100, {"a": keys_of(*range(1000))}).drop["a"]
        assert set(range(900, 1000)) <= set(drop.tolist())
        assert len(drop) <= 135
    kept = sum(len(storage.read(f"{FOLDER}/{name}") or b"") for name in storage.names(FOLDER))
    assert kept == len(window) * WIDTH


def test_what_a_kill_leaves_of_a_merge_is_tidied(storage: Storage, window: Window) -> None:
    seen(window, 0, {"a": keys_of(1)})
    left = {name: storage.read(f"{FOLDER}/{name}") for name in storage.names(FOLDER)}
    for batch in (1, 2):
        seen(window, batch, {"a": keys_of(batch + 1)})
    names = storage.names(FOLDER)
    for name, data in left.items():
        storage.write(f"{FOLDER}/{name}", data or b"")
    again = Window.open(storage, FOLDER, 1000)
    assert len(again) == 3
    assert storage.names(FOLDER) == names


def test_a_file_that_is_no_run_is_named(storage: Storage) -> None:
    storage.write(f"{FOLDER}/notes.txt", b"left alone")
    Window.open(storage, FOLDER, 10)
    storage.write(f"{FOLDER}/000000000001-000000000001.bin", b"short")
    with pytest.raises(WarehouseError, match="not the identities"):
        Window.open(storage, FOLDER, 10)


def test_keys_that_share_their_first_word() -> None:
    high = np.array([5, 5, 5, 9], np.uint64)
    run = Keys(high, np.array([1, 2, 3, 4], np.uint64))
    wanted = Keys(high[[0, 0, 0, 3, 3]], np.array([3, 1, 7, 4, 5], np.uint64))
    assert wanted.found_in(run).tolist() == [True, True, False, True, False]


@given(
    st.lists(
        st.tuples(
            st.lists(st.lists(st.integers(0, 12) | st.none(), max_size=6), max_size=4),
            st.booleans(),
            st.booleans(),
        ),
        max_size=12,
    )
)
def test_every_identity_is_kept_once_over_kills_and_restarts(
    tmp_path_factory: pytest.TempPathFactory,
    batches: list[tuple[list[list[int | None]], bool, bool]],
) -> None:
    """A killed batch is tried again; the other files of odd numbers are dead letters."""
    storage = Storage.open(str(tmp_path_factory.mktemp("w")))
    window = Window.open(storage, FOLDER, 10_000)
    landed: set[int] = set()
    letters: set[int] = set()
    for batch, (files, killed, restarted) in enumerate(batches):
        digests = {str(number): keys_of(*rows) for number, rows in enumerate(files)}
        odd = {str(number) for number in range(1, len(files), 2)}
        if killed:
            seen(window, batch, {"x": keys_of(*range(13))})
        if killed or restarted:
            window = Window.open(storage, FOLDER, 10_000)
        drop = seen(window, batch, digests, sorted(odd))
        for dead in (False, True):
            for number, rows in enumerate(files):
                if (str(number) in odd) is not dead:
                    continue
                for row, name in enumerate(rows):
                    known = name is not None and name in (landed | letters if dead else landed)
                    assert known == (row in drop.get(str(number), []))
                    if name is not None and not known:
                        (letters if dead else landed).add(name)


def nats(given: str) -> bytes:
    """A message that is known by the id for its broker."""
    metadata = {"subject": "belts", "headers": {"Nats-Msg-Id": given}}
    return json.dumps({"protocol": "NATS", "metadata": metadata}).encode()


@given(st.lists(st.tuples(TEXT | st.none(), TEXT | st.none()), max_size=20))
def test_columns_and_texts_give_one_digest(pairs: list[tuple[str | None, str | None]]) -> None:
    sources, ids = ([pair[side] for pair in pairs] for side in (0, 1))
    found = digests_of_events(
        pa.array(sources, pa.string()), pa.array(ids, pa.string()), lambda row: nats(f"{row}")
    )
    expected = (
        joined(s, i) if s and i else identity_of_line(nats(f"{row}"))
        for row, (s, i) in enumerate(pairs)
    )
    assert found == b"".join(map(digest, expected))


def test_lines_give_the_same_digest() -> None:
    event = {"specversion": "1.0", "id": "1", "source": "/ü", "type": "t"}
    lines = [json.dumps(event).encode(), b"{", b'{"protocol": "KAFKA"}']
    expected = digests_of_events(pa.array(["/ü"]), pa.array(["1"]), lines.__getitem__)
    assert digests_of_lines(lines) == expected + NONE + NONE


TABLE = pa.table(
    {
        "name": pa.array(["a", "a", "b", "a"] * 200),
        "number": pa.array(range(800), pa.int64()),
        "real": pa.array([1.5, float("nan"), None, -2.0] * 200),
        "time": pa.array(range(800), pa.timestamp("us", "UTC")),
        "parts": pa.array([[{"x": "y"}], [], None, [{"x": None}]] * 200),
    }
)


def written(storage: Storage, path: str, table: pa.Table) -> ManifestFile:
    """A file as a worker writes it."""
    file = _one(ParquetWriter(storage, 3).write(path, table))
    return ManifestFile(table=path, name=file.name, rows=file.rows, size=file.size)


def _one(files: list[DataFile]) -> DataFile:
    (file,) = files
    return file


@pytest.mark.parametrize("times", [1, 2], ids=["few rows have no bounds", "many have some"])
def test_a_file_is_written_again_without_some_rows(
    storage: Storage, tmp_path: Path, times: int
) -> None:
    file = written(storage, "d/g/m", pa.concat_tables([TABLE] * times))
    before = pq.ParquetFile(tmp_path / "d/g/m" / file.name)
    left, gone = rewrite(storage, file, np.array([0, 5, 799]))
    assert left is not None
    path = tmp_path / "d/g/m" / left.name
    after = pq.ParquetFile(path)
    kept = before.read().take([row for row in range(800 * times) if row not in (0, 5, 799)])
    assert repr(after.read().to_pylist()) == repr(kept.to_pylist())  # NaN is no other NaN
    assert gone["number"].to_pylist() == [0, 5, 799]
    assert (left.rows, left.size) == (800 * times - 3, path.stat().st_size)
    assert [p.name for p in path.parent.iterdir()] == [left.name]
    assert after.schema == before.schema
    assert after.metadata.metadata == before.metadata.metadata
    for number in range(after.metadata.num_columns):
        one, other = (f.metadata.row_group(0).column(number) for f in (before, after))
        assert one.compression == other.compression
        assert one.has_dictionary_page == other.has_dictionary_page
        assert (one.statistics is None) == (other.statistics is None)
        assert (one.statistics is not None) == (
            times == 2 and one.path_in_schema in ("name", "number", "time")
        )


def test_a_file_keeps_its_partition_and_tells_its_stats(storage: Storage, tmp_path: Path) -> None:
    (tmp_path / "t" / "_day=2026-11-16").mkdir(parents=True)
    stats = {"numRecords": 800, "minValues": {"number": 0}, "nullCount": {"parts": 200, "name": 0}}
    file = ManifestFile(
        table="t",
        name="_day=2026-11-16/part-1.parquet",
        rows=800,
        size=1,
        partition='{"_day":"2026-11-16"}',
        stats=json.dumps(stats),
    )
    pq.write_table(TABLE, tmp_path / "t" / file.name)
    left, _ = rewrite(storage, file, np.array([2, 3]))
    assert left is not None
    assert left.name == "_day=2026-11-16/part-1-once.parquet"
    assert left.partition == file.partition
    told = json.loads(left.stats)
    assert told["numRecords"] == 798
    assert told["nullCount"] == {"parts": 199, "name": 0}
    assert told["minValues"] == {"number": 0}
    assert not told["tightBounds"]


def test_a_file_without_any_row_left_goes(storage: Storage, tmp_path: Path) -> None:
    file = written(storage, "t", TABLE.slice(0, 3))
    assert rewrite(storage, file, np.array([0, 1, 2]))[0] is None
    assert list((tmp_path / "t").iterdir()) == []


def test_read_is_landed_and_dead_and_repeated(storage: Storage, tmp_path: Path) -> None:
    letter = pa.table({"rule": ["json", "required", "json"], "line": [b"1", b"2", b"3"]})
    files = [
        written(storage, "t", TABLE.slice(0, 4)),
        written(storage, "u", TABLE.slice(0, 2)),
        written(storage, DEAD_LETTERS, letter),
    ]
    rows = (keys_of(1, 2, 3, 1), keys_of(2, 1), keys_of(7, 7, None))
    digests = {file.name: keys for file, keys in zip(files, rows, strict=True)}
    window = Window.open(storage, FOLDER, 100)
    once = keep_once(storage, window, 0, files, digests)
    assert [(file.table, file.rows) for file in once.files] == [("t", 3), (DEAD_LETTERS, 2)]
    assert once.repeated == 4
    (gone,) = once.letters
    assert gone["rule"].to_pylist() == ["required"]
    for file in once.files:
        assert pq.read_table(tmp_path / file.table / file.name).num_rows == file.rows
    assert sum(file.rows for file in once.files) + once.repeated == 9


def test_a_batch_without_repeats_keeps_its_files(storage: Storage) -> None:
    file = written(storage, "t", TABLE.slice(0, 2))
    window = Window.open(storage, FOLDER, 100)
    once = keep_once(storage, window, 0, [file], {file.name: keys_of(1, 2)})
    assert (once.files, once.repeated, once.letters) == ((file,), 0, ())


@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "not compiled"])
@given(stream=st.lists(events(EVENT_KINDS) | native_lines(), min_size=1, max_size=12))
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
def test_the_way_that_a_message_takes_does_not_change_its_digest(
    tmp_path_factory: pytest.TempPathFactory, compiled: bool, stream: list[bytes]
) -> None:
    """Compiled, fast, judged or a letter: beside every file stand the digests of its lines."""
    warehouse = tmp_path_factory.mktemp("w")
    lander = lander_of(Setting(catalog=WIDE, compiled=compiled), warehouse)
    lander._order = replace(lander._order, identities=True)
    for file in lander.land(lines_of(stream)).to_pylist():
        rows = pq.read_table(warehouse / file["path"] / file["file"])
        column = "position" if file["path"] == DEAD_LETTERS else "_position"
        numbers = [int(place.removeprefix("0+")) for place in rows[column].to_pylist()]
        assert file["identities"] == digests_of_lines(stream[number] for number in numbers)
