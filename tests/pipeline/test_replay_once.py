"""Replay and redelivery: a message that comes both ways lands once, whoever was first."""

from __future__ import annotations

import threading
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest

from heraldry.dialects.load import load_bytes
from heraldry.pipeline import replay as replaying
from heraldry.pipeline.identities.decided import folder_of
from heraldry.pipeline.lake import checkpoints
from heraldry.pipeline.lake.ledger import Ledger
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.lake.tables import open_warehouse
from heraldry.pipeline.landing import replay_chunk
from heraldry.pipeline.landing.letter_windows import LetterWindows
from heraldry.pipeline.landing.relanding import COLUMNS
from heraldry.pipeline.letters import deadletters
from heraldry.pipeline.replay import ReplayJob, ReplaySettings
from tests.pipeline.letters.lettering import land_lines, replays, table_column
from tests.pipeline.test_replay import FIRST, SECOND, counts, message, run

ORDERS = "default/shop/order"
REFUNDS = "default/shop/refund"


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    """Ten letters of a job that keeps identities: two of every cause."""
    lines = [message(n, n % 5) for n in range(10)]
    land_lines(tmp_path, FIRST, lines, source="file-0", once=True)
    return tmp_path


def test_a_redelivery_after_the_replay_is_repeated(warehouse: Path) -> None:
    assert counts(run(warehouse)) == (6, 4, 0, 0)
    again = land_lines(warehouse, SECOND, [message(1, 1), message(11, 1)], batch=1, once=True)
    assert again.repeated == 1
    assert Counter(table_column(warehouse, REFUNDS, "ce_id")) == {"m-1": 1, "m-6": 1, "m-11": 1}


def test_a_letter_of_a_message_that_was_replayed_is_repeated(warehouse: Path) -> None:
    run(warehouse)
    assert land_lines(warehouse, FIRST, [message(1, 1)], batch=1, once=True).repeated == 1


def test_a_replay_after_the_redelivery_is_repeated(warehouse: Path) -> None:
    land_lines(warehouse, SECOND, [message(1, 1)], batch=1, once=True)
    report = run(warehouse)
    assert (counts(report), report.repeated) == ((5, 4, 0, 0), 1)
    assert sorted(map(str, table_column(warehouse, REFUNDS, "ce_id"))) == ["m-1", "m-6"]
    (told,) = (row for row in replays(warehouse).to_pylist() if row["outcome"] == "repeated")
    assert (told["table"], told["attempt"], told["definition"]) == (
        None,
        1,
        "/messagegroups/shop/messages/refund",
    )
    # it is done with, and so no open letter
    assert sum(group.count for group in deadletters.groups(str(warehouse))) == 4
    assert counts(run(warehouse)) == (0, 4, 0, 0)


def test_a_table_of_which_nothing_is_left(warehouse: Path) -> None:
    land_lines(warehouse, SECOND, [message(1, 1), message(6, 1)], batch=1, once=True)
    report = run(warehouse, where=("definition!=nothing",))
    assert (report.landed, report.repeated) == (4, 2)
    assert report.tables == {"default.shop.order": 2, "default.shop.belt": 2}


def test_repeats_land_where_that_is_wanted(warehouse: Path) -> None:
    land_lines(warehouse, SECOND, [message(1, 1)], batch=1, once=True)
    report = run(warehouse, repeats=True)
    assert (counts(report), report.repeated) == ((6, 4, 0, 0), 0)
    assert len(table_column(warehouse, REFUNDS, "ce_id")) == 3
    # what landed so is known all the same
    assert land_lines(warehouse, SECOND, [message(6, 1)], batch=2, once=True).repeated == 1


def test_letters_of_one_message_land_once(warehouse: Path) -> None:
    """A letter that the window had forgotten is there twice, in one chunk or in two."""
    for name in (warehouse / "_checkpoint" / "heraldry" / "identities").iterdir():
        name.unlink()
    land_lines(warehouse, FIRST, [message(1, 1), message(11, 1)], batch=1, once=True)
    assert run(warehouse, dry_run=True).repeated == 1
    report = run(warehouse)
    assert (report.landed, report.repeated) == (7, 1)
    assert Counter(table_column(warehouse, REFUNDS, "ce_id")) == {"m-1": 1, "m-6": 1, "m-11": 1}


def test_over_small_chunks(warehouse: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (warehouse / "_checkpoint" / "heraldry" / "identities").iterdir():
        name.unlink()
    land_lines(warehouse, FIRST, [message(1, 1)], batch=1, source="file-1", once=True)
    monkeypatch.setattr(replay_chunk, "_CHUNK", 1)
    assert run(warehouse, dry_run=True).repeated == 1
    report = run(warehouse)
    assert (report.landed, report.repeated) == (6, 1)
    assert {row["replay"] for row in replays(warehouse).to_pylist()} == {1, 2}


def test_jobs_know_nothing_of_each_other(warehouse: Path, tmp_path: Path) -> None:
    """Two jobs may land the same messages, each for itself: so may the replay of their letters."""
    other = str(tmp_path / "progress")
    storage = open_warehouse(str(warehouse))
    lines = [message(n, 1) for n in (1, 6, 11)]
    land_lines(warehouse, FIRST, lines, batch=0, source="other", once=True, checkpoint=other)
    checkpoints.note(storage, Ledger.open(other))
    report = run(warehouse)
    assert (report.landed, report.repeated) == (9, 0)
    # each finds what was replayed of its own letters
    assert land_lines(warehouse, SECOND, [message(11, 1)], batch=1, once=True).repeated == 0
    again = [message(6, 1), message(11, 1)]
    done = land_lines(warehouse, SECOND, again, batch=1, once=True, checkpoint=other)
    assert done.repeated == 2


@pytest.mark.parametrize("elsewhere", [False, True], ids=["near", "elsewhere"])
def test_a_job_that_makes_its_first_batch_as_the_replay_begins(
    tmp_path: Path, elsewhere: bool
) -> None:
    """Its letters are asked for and remembered like those of jobs that were there before."""
    warehouse = tmp_path / "lake"
    warehouse.mkdir()
    checkpoint = str(tmp_path / "progress") if elsewhere else None
    storage = Storage.open(str(warehouse))
    settings = ReplaySettings(warehouse=str(warehouse))
    lines = [message(1, 1), message(6, 1)]
    with checkpoints.replaying(storage) as ledger:
        job = ReplayJob(load_bytes(SECOND, "catalog"), settings, ledger, lambda told: None)
        land_lines(warehouse, FIRST, lines, batch=0, once=True, checkpoint=checkpoint)
        land_lines(warehouse, SECOND, lines[1:], batch=1, once=True, checkpoint=checkpoint)
        if checkpoint:
            checkpoints.note(storage, Ledger.open(checkpoint))
        job.run()
    assert (job.report.landed, job.report.repeated) == (1, 1)
    again = land_lines(warehouse, SECOND, lines, batch=2, once=True, checkpoint=checkpoint)
    assert again.repeated == 2
    assert Counter(table_column(warehouse, REFUNDS, "ce_id")) == {"m-1": 1, "m-6": 1}


def test_a_job_that_begins_between_two_chunks(
    warehouse: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Jobs that are known already do not keep it from being seen."""
    other = str(tmp_path_factory.mktemp("progress"))
    storage = open_warehouse(str(warehouse))
    lines = [message(n, 1) for n in (21, 26)]
    with checkpoints.replaying(storage) as ledger:
        windows = LetterWindows(storage, ledger)
        known = letters_of(warehouse)
        assert set(windows.owners(known).values()) == {Ledger.open(f"{warehouse}/_checkpoint").job}
        land_lines(warehouse, FIRST, lines, batch=0, source="other", once=True, checkpoint=other)
        checkpoints.note(storage, Ledger.open(other))
        owners = windows.owners(letters_of(warehouse))
        assert {owners["other", f"0+{n}"] for n in range(2)} == {Ledger.open(other).job}
        assert len(owners) == known.num_rows + 2
        with windows.deciding(owners.values()):
            pass


def letters_of(warehouse: Path) -> pa.Table:
    batches = deadletters.letter_batches(Storage(str(warehouse)), list(COLUMNS))
    return pa.Table.from_batches(batches).combine_chunks()


def test_a_job_without_identities(tmp_path: Path) -> None:
    land_lines(tmp_path, FIRST, [message(1, 1), message(1, 1)])
    report = run(tmp_path)
    assert (report.landed, report.repeated) == (2, 0)


def test_a_dry_run_asks_and_leaves_nothing(warehouse: Path) -> None:
    land_lines(warehouse, SECOND, [message(1, 1)], batch=1, once=True)
    before = files(warehouse)
    report = run(warehouse, dry_run=True)
    assert (counts(report), report.repeated) == ((5, 4, 0, 0), 1)
    assert files(warehouse) == before
    run(warehouse)
    before = files(warehouse)
    run(warehouse, dry_run=True)
    assert files(warehouse) == before


def test_killed_before_it_was_decided(warehouse: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Identities without a manifest do not count: the message may still come either way."""
    with monkeypatch.context() as patched:
        patched.setattr(Ledger, "prepare", _killed)
        with pytest.raises(KeyboardInterrupt):
            run(warehouse)
    ledger = Ledger.open(f"{warehouse}/_checkpoint")
    assert (warehouse / "_checkpoint" / "replay" / folder_of(ledger.job)).is_dir()
    assert land_lines(warehouse, SECOND, [message(1, 1)], batch=1, once=True).repeated == 0
    report = run(warehouse)
    assert (report.landed, report.repeated) == (5, 1)
    assert sorted(map(str, table_column(warehouse, REFUNDS, "ce_id"))) == ["m-1", "m-6"]


def test_killed_after_it_was_decided(warehouse: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(replaying, "commit_manifest", _killed)
        with pytest.raises(KeyboardInterrupt):
            run(warehouse)
    assert land_lines(warehouse, SECOND, [message(1, 1)], batch=1, once=True).repeated == 1
    report = run(warehouse)
    assert (report.finished, report.landed, report.repeated) == (1, 0, 0)
    assert sorted(map(str, table_column(warehouse, REFUNDS, "ce_id"))) == ["m-1", "m-6"]


def test_a_job_whose_batch_was_not_decided(
    warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(Ledger, "prepare", _killed)
        with pytest.raises(KeyboardInterrupt):
            land_lines(warehouse, SECOND, [message(1, 1)], batch=1, once=True)
    assert counts(run(warehouse)) == (6, 4, 0, 0)
    assert land_lines(warehouse, SECOND, [message(1, 1)], batch=1, once=True).repeated == 1


def test_beside_a_job_that_is_sent_the_same(
    warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever decides first, the other one finds it."""
    lines = [message(n, 0) for n in range(100, 160)]
    land_lines(warehouse, FIRST, lines, batch=1, source="file-1", once=True)
    monkeypatch.setattr(replay_chunk, "_CHUNK", 7)
    failed: list[Exception] = []

    def land() -> None:
        try:
            for number, begin in enumerate(range(0, 60, 6)):
                some = lines[begin : begin + 6]
                land_lines(warehouse, SECOND, some, batch=2 + number, once=True)
        except Exception as error:  # noqa: BLE001 - told below
            failed.append(error)

    thread = threading.Thread(target=land)
    thread.start()
    for _ in range(12):
        run(warehouse, limit=6, where=("source=file-1",))
    thread.join()
    report = run(warehouse)
    assert failed == []
    assert report.repeated <= 60
    ids = Counter(table_column(warehouse, ORDERS, "ce_id"))
    assert set(ids.values()) == {1}
    assert len(ids) == 62


def test_a_job_whose_progress_is_elsewhere(warehouse: Path) -> None:
    """It cannot be asked from here, which is said."""
    (warehouse / "_checkpoints").mkdir()
    (warehouse / "_checkpoints" / "heraldry-far").write_text("/far/progress")
    told: list[str] = []
    replaying.replay(
        load_bytes(SECOND, "catalog"), ReplaySettings(warehouse=str(warehouse)), told.append
    )
    assert told[0] == "/far/progress is not here: repeats of that job's letters are not found"


def _killed(*given: object) -> None:
    raise KeyboardInterrupt


def kill_before_deciding(monkeypatch: pytest.MonkeyPatch, warehouse: Path) -> None:
    """A replay that has remembered what it is about to land, and ends there."""

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as dying:
        dying.setattr(Ledger, "prepare", die)
        with pytest.raises(KeyboardInterrupt):
            run(warehouse)


def test_what_was_not_decided_is_not_repeated(
    warehouse: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next replay has the number of the killed one, but only the letters of another job."""
    other = str(tmp_path / "progress")
    lines = [message(n, 1) for n in (21, 26)]
    land_lines(warehouse, FIRST, lines, batch=0, source="other", once=True, checkpoint=other)
    checkpoints.note(open_warehouse(str(warehouse)), Ledger.open(other))
    kill_before_deciding(monkeypatch, warehouse)
    assert run(warehouse, where=("source=file-0",)).landed == 6
    report = run(warehouse, where=("source=other",))
    assert (report.landed, report.repeated) == (2, 0)
    assert Counter(table_column(warehouse, REFUNDS, "ce_id")) == {
        "m-1": 1,
        "m-6": 1,
        "m-21": 1,
        "m-26": 1,
    }
