"""Commits to many tables: once, whoever else writes, and without reading what is known."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from deltalake import DeltaTable, Schema

from heraldry.errors import WarehouseError
from heraldry.pipeline.lake import delta
from heraldry.pipeline.lake.arrangement import Arrangement
from heraldry.pipeline.lake.commits import CHECKPOINT_EVERY, Committer
from heraldry.pipeline.lake.data_file import DataFile
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.landing.parquet import ParquetWriter

PATH = "d/g/m"
CONFIGURATION = {"heraldry.definition": "/x", "heraldry.name": json.dumps(["d", "g", "m"])}


@pytest.fixture
def storage(tmp_path: Path) -> Storage:
    return Storage.open(str(tmp_path))


def write(storage: Storage, *numbers: int) -> list[DataFile]:
    return ParquetWriter(storage, 0).write(PATH, pa.table({"n": list(numbers)}))


def opened(storage: Storage) -> DeltaTable:
    table = delta.open_table(storage, PATH)
    assert table is not None
    return table


def numbers(storage: Storage) -> list[int]:
    found: list[int] = sorted(delta.table_rows(storage, opened(storage))["n"].to_pylist())
    return found


def test_the_first_commit_makes_the_table(storage: Storage) -> None:
    assert Committer(storage, "job").commit(PATH, CONFIGURATION, write(storage, 1, 2), 0) == 0
    table = opened(storage)
    assert table.metadata().name == "d.g.m"
    assert table.metadata().description == "/x"
    assert table.metadata().configuration == CONFIGURATION
    assert table.transaction_version("job") == 0
    assert numbers(storage) == [1, 2]
    assert pl.read_delta(storage.join(PATH))["n"].to_list() == [1, 2]


def test_a_table_is_made_before_its_rows(storage: Storage) -> None:
    (file,) = write(storage, 1)
    committer = Committer(storage, "job")
    assert committer.make(PATH, CONFIGURATION, file)
    assert opened(storage).version() == 0
    assert numbers(storage) == []
    assert committer.make(PATH, CONFIGURATION, file)
    assert Committer(storage, "other").make(PATH, CONFIGURATION, file)
    assert committer.commit(PATH, CONFIGURATION, [file], 0) == 1
    assert opened(storage).metadata().configuration == CONFIGURATION
    assert numbers(storage) == [1]


def test_a_table_that_others_make_while_ours_is_a_draft(storage: Storage) -> None:
    (file,) = write(storage, 1)
    first, second = Committer(storage, "job"), Committer(storage, "other")
    assert first.draft(PATH, CONFIGURATION, file)
    assert second.draft(PATH, CONFIGURATION, file)
    assert second.make(PATH, CONFIGURATION, file)
    assert first.make(PATH, CONFIGURATION, file)
    assert not second.draft(PATH, CONFIGURATION, file)
    assert not Committer(storage, "third").draft(PATH, CONFIGURATION, file)
    assert storage.names(f"{PATH}/_delta_log") == [f"{0:020d}.json"]


def test_a_draft_that_a_kill_left_is_no_table(storage: Storage) -> None:
    (file,) = write(storage, 1)
    assert Committer(storage, "job").draft(PATH, CONFIGURATION, file)
    assert delta.open_table(storage, PATH) is None
    again = Committer(storage, "job")
    assert again.draft(PATH, CONFIGURATION, file)
    assert again.make(PATH, CONFIGURATION, file)
    assert again.commit(PATH, CONFIGURATION, [file], 0) == 1
    assert numbers(storage) == [1]


def test_the_first_entry_has_its_content_before_its_name(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without it a power cut would leave a table that nobody can read, or make."""
    done: list[str] = []
    fsync, link = os.fsync, os.link

    def settle(file: int) -> None:
        done.append("content")
        fsync(file)

    def name(*names: str) -> None:
        done.append("name")
        link(*names)

    monkeypatch.setattr(os, "fsync", settle)
    monkeypatch.setattr(os, "link", name)
    committer = Committer(storage, "job")
    for batch in range(2):
        committer.commit(PATH, CONFIGURATION, write(storage, batch), batch)
    assert done == ["content", "name", "name"]


def test_a_later_entry_that_a_power_cut_has_emptied(storage: Storage, tmp_path: Path) -> None:
    """Its batch is not done: it is committed again, behind it."""
    Committer(storage, "job").commit(PATH, CONFIGURATION, write(storage, 0), 0)
    (tmp_path / PATH / "_delta_log" / f"{1:020d}.json").touch()
    committer = Committer(storage, "job")
    for batch in (1, 2):
        assert committer.commit(PATH, CONFIGURATION, write(storage, batch), batch) == batch + 1
    assert numbers(storage) == [0, 1, 2]
    assert pl.read_delta(storage.join(PATH))["n"].sort().to_list() == [0, 1, 2]


HINTS = {"its own": 3, "the one before": 2, "none": None, "nonsense": b"\0\0"}


@pytest.mark.parametrize("hint", HINTS.values(), ids=[f"hint of {name}" for name in HINTS])
@pytest.mark.parametrize("left", [b"", b"PAR1 not whole", None], ids=["empty", "cut", "gone"])
def test_a_checkpoint_that_a_power_cut_has_taken(
    storage: Storage, tmp_path: Path, left: bytes | None, hint: int | bytes | None
) -> None:
    """The hint may have replaced one that was on the disk; its checkpoint has a name of its own."""
    committer, log = Committer(storage, "job"), tmp_path / PATH / "_delta_log"
    for batch in range(4):
        committer.commit(PATH, CONFIGURATION, write(storage, batch), batch)
        opened(storage).create_checkpoint()
    lost = log / f"{3:020d}.checkpoint.parquet"
    lost.unlink() if left is None else lost.write_bytes(left)
    told = json.dumps({"version": hint, "size": 4}).encode() if isinstance(hint, int) else hint
    (log / "_last_checkpoint").unlink()
    if told is not None:
        (log / "_last_checkpoint").write_bytes(told)
    (log / f"{3:020d}.checkpoint.parquet#1").write_bytes(b"somebody writes")
    assert delta.open_table(Storage(storage.join(PATH)), "") is not None
    again = Committer(storage, "job")
    assert again.commit(PATH, CONFIGURATION, write(storage, 4), 4) == 4
    assert numbers(storage) == [0, 1, 2, 3, 4]
    assert pl.read_delta(storage.join(PATH))["n"].sort().to_list() == [0, 1, 2, 3, 4]
    opened(storage).create_checkpoint()
    assert numbers(storage) == [0, 1, 2, 3, 4]
    assert (log / f"{3:020d}.checkpoint.parquet#1").exists()


@pytest.mark.parametrize("name", ["checkpoint.parquet", "checkpoint.0-1-2.json"])
def test_a_log_that_is_broken_otherwise_is_told_and_kept(
    storage: Storage, tmp_path: Path, name: str
) -> None:
    """Checkpoints of the second form may be JSON: no form but Parquet is looked into."""
    committer, log = Committer(storage, "job"), tmp_path / PATH / "_delta_log"
    for batch in range(2):
        committer.commit(PATH, CONFIGURATION, write(storage, batch), batch)
    opened(storage).create_checkpoint()
    (log / f"{1:020d}.checkpoint.parquet").rename(log / f"{1:020d}.{name}")
    (log / f"{2:020d}.json").write_text("nonsense\n")
    before = sorted(log.iterdir())
    with pytest.raises(WarehouseError, match="the Delta table cannot be read"):
        delta.open_table(storage, PATH)
    assert sorted(log.iterdir()) == before


def test_a_table_of_others_is_not_made_again(storage: Storage) -> None:
    (file,) = write(storage, 1)
    others = pa.schema([("n", pa.int64()), ("m", pa.string())])
    delta.create_table(storage, PATH, others, CONFIGURATION)
    committer = Committer(storage, "job")
    for _ in range(2):
        assert not committer.make(PATH, CONFIGURATION, file)
    assert opened(storage).version() == 0


def test_a_batch_is_committed_once(storage: Storage) -> None:
    files = write(storage, 1)
    committer = Committer(storage, "job")
    assert committer.commit(PATH, CONFIGURATION, files, 3) == 0
    assert committer.commit(PATH, CONFIGURATION, files, 3) == 0
    assert Committer(storage, "job").commit(PATH, CONFIGURATION, files, 3) == 0
    assert Committer(storage, "other").commit(PATH, CONFIGURATION, write(storage, 2), 3) == 1
    assert numbers(storage) == [1, 2]


def test_batches_follow_one_another_and_others(storage: Storage) -> None:
    """Whatever others commit in between, nothing is lost and nothing is doubled."""
    committer = Committer(storage, "job")
    committer.commit(PATH, CONFIGURATION, write(storage, 0), 0)
    assert committer.commit(PATH, CONFIGURATION, write(storage, 1), 1) == 1
    opened(storage).alter.add_columns(Schema.from_arrow(pa.schema([("m", pa.string())])).fields)
    assert committer.commit(PATH, CONFIGURATION, write(storage, 2), 2) == 3
    opened(storage).optimize.compact()
    assert committer.commit(PATH, CONFIGURATION, write(storage, 3), 3) == 5
    assert numbers(storage) == [0, 1, 2, 3]


def test_two_jobs_at_once(storage: Storage) -> None:
    def land(job: int) -> None:
        committer = Committer(storage, f"job{job}")
        for batch in range(10):
            committer.commit(PATH, CONFIGURATION, write(storage, 100 * job + batch), batch)

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(land, range(3)))
    assert numbers(storage) == [100 * job + batch for job in range(3) for batch in range(10)]
    assert opened(storage).version() == 29


def test_a_table_that_was_removed_is_made_again(storage: Storage) -> None:
    committer = Committer(storage, "job")
    for batch in range(3):
        committer.commit(PATH, CONFIGURATION, write(storage, batch), batch)
    storage.delete_tree(PATH)
    assert committer.commit(PATH, CONFIGURATION, write(storage, 3), 3) == 0
    assert numbers(storage) == [3]


def test_logs_get_checkpoints(storage: Storage, tmp_path: Path) -> None:
    committer = Committer(storage, "job")
    for batch in range(CHECKPOINT_EVERY + 2):
        committer.commit(PATH, CONFIGURATION, write(storage, batch), batch)
    log = tmp_path / PATH / "_delta_log"
    assert len(list(log.glob("*.checkpoint.parquet"))) == 1
    assert not list(log.glob(".*"))
    assert numbers(storage) == list(range(CHECKPOINT_EVERY + 2))


def test_partitions_and_bounds_are_told(storage: Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heraldry.pipeline.landing.parquet._FEW", 1)
    shop = Arrangement((("shop", "string"),))
    rows = pa.table({"n": [1, 2], "shop": ["a b~", None]})
    files = ParquetWriter(storage, 0).write(PATH, rows, shop)
    told = {**CONFIGURATION, **shop.configuration}
    Committer(storage, "job").commit(PATH, told, files, 0)
    assert opened(storage).metadata().partition_columns == ["shop"]
    assert pl.read_delta(storage.join(PATH)).sort("n").to_dicts() == rows.to_pylist()
    assert delta.table_rows(storage, opened(storage)).sort_by("n").to_pylist() == rows.to_pylist()
    actions = pa.table(opened(storage).get_add_actions(flatten=True))
    assert sorted(actions["min.n"].to_pylist()) == [1, 2]


def test_a_table_that_changes_as_delta_rs_commits(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """delta-rs refuses to commit behind a change of the schema that it has not seen."""
    table = delta.create_table(storage, PATH, pa.schema([("n", pa.int64())]), CONFIGURATION)
    table.alter.set_table_properties({"delta.enableChangeDataFeed": "true"})
    commit_files = delta.commit_files
    names = iter("ab")

    def beside(table: DeltaTable, *given: Any) -> int:
        if name := next(names, ""):
            delta.add_columns(storage, PATH, pa.schema([(name, pa.string())]))
        return commit_files(table, *given)

    monkeypatch.setattr(delta, "commit_files", beside)
    assert Committer(storage, "job").commit(PATH, CONFIGURATION, write(storage, 1), 0) == 4
    assert numbers(storage) == [1]


def test_tables_with_features_are_left_to_delta_rs(storage: Storage) -> None:
    columns = pa.schema([("n", pa.int64())])
    table = delta.create_table(storage, PATH, columns, CONFIGURATION)
    table.alter.set_table_properties({"delta.enableChangeDataFeed": "true"})
    committer = Committer(storage, "job")
    assert committer.commit(PATH, CONFIGURATION, write(storage, 1), 0) == 2
    assert committer.commit(PATH, CONFIGURATION, write(storage, 2), 1) == 3
    assert committer.commit(PATH, CONFIGURATION, write(storage, 2), 1) == 3
    assert numbers(storage) == [1, 2]
