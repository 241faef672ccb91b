"""What only SQLite can do wrong: others who hold the file."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from heraldry.errors import StoreError
from heraldry.store import sqlite as module
from heraldry.store.opening import open_store
from tests.store.registries import DIRS, FIRST, add_group, ids


def test_a_writer_does_not_wait_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PATIENCE", 1000)
    address = f"sqlite:{tmp_path / 'registry.db'}"
    with (
        closing(open_store(address, FIRST)) as store,
        closing(open_store(address, FIRST)) as other,
        store.write(),
        pytest.raises(StoreError, match="another process has been writing for 1 s"),
        other.write(),
    ):
        pass


def test_a_reader_may_outlive_the_store(tmp_path: Path) -> None:
    store = open_store(f"sqlite:{tmp_path / 'registry.db'}", FIRST)
    with store.read() as tx:
        assert tx.state() == FIRST
        store.close()
        assert list(tx.rows(DIRS)) == []


def test_readers_beside_each_other_and_beside_a_writer(tmp_path: Path) -> None:
    address = f"sqlite:{tmp_path / 'registry.db'}"
    with closing(open_store(address, FIRST)) as store:
        with store.write() as writer:
            add_group(writer, "d1")
            writer.count([0], DIRS)
            with store.read() as one, store.read() as two:
                assert list(one.rows(DIRS)) == list(two.rows(DIRS)) == []
        with store.read() as tx:
            assert ids(list(tx.rows(DIRS))) == ["d1"]


@pytest.mark.parametrize(
    ("options", "level"), [("", 1), ("?synchronous=normal", 1), ("?synchronous=full", 2)]
)
def test_how_long_a_commit_waits_for_the_disk(tmp_path: Path, options: str, level: int) -> None:
    with closing(open_store(f"sqlite:{tmp_path / 'registry.db'}{options}", FIRST)) as store:
        assert isinstance(store, module.SqliteStore)
        assert store._writer.all("PRAGMA synchronous") == [(level,)]
    assert (tmp_path / "registry.db").is_file()


def test_an_option_that_is_not_known(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no such option: cache=shared"):
        open_store(f"sqlite:{tmp_path / 'registry.db'}?cache=shared", FIRST)
