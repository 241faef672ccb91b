"""Databases of earlier layouts are brought up to date; later ones are refused."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import apsw
import psycopg
import pytest

from heraldry.errors import StoreError
from heraldry.store.migrating import migrations
from heraldry.store.opening import open_store
from heraldry.store.sqlite import APPLICATION
from tests.live.servers.postgres import Postgres
from tests.store.registries import DIRS, FIRST, add_group, ids

LATEST = len(migrations("sqlite"))


def sqlite_of(file: Path, layout: int) -> None:
    """A file as the migrations up to a number leave it."""
    with closing(apsw.Connection(str(file))) as connection:
        for text in migrations("sqlite")[:layout]:
            connection.execute(text)
        if layout:
            connection.execute(f"PRAGMA user_version = {layout}")
            connection.execute(f"PRAGMA application_id = {APPLICATION}")


def postgres_of(address: str, layout: int) -> None:
    """A schema as the migrations up to a number leave it."""
    with psycopg.connect(address) as connection:
        connection.execute("CREATE SCHEMA heraldry")
        connection.execute("SET search_path TO heraldry")
        connection.execute("CREATE TABLE migration (number integer NOT NULL)")
        connection.execute("INSERT INTO migration VALUES (%s)", (layout,))
        for text in migrations("postgres")[:layout]:
            connection.execute(text)


def use(address: str) -> None:
    """A registry can be written and read."""
    with closing(open_store(address, FIRST)) as store:
        with store.write() as tx:
            tx.save_state(FIRST)
            add_group(tx, "d1")
        with store.read() as tx:
            assert ids(list(tx.rows(DIRS))) == ["d1"]


def test_both_dialects_have_the_same_migrations() -> None:
    assert len(migrations("postgres")) == LATEST > 0


@pytest.mark.parametrize("layout", range(LATEST + 1))
def test_a_file_of_every_layout_is_opened(tmp_path: Path, layout: int) -> None:
    file = tmp_path / "registry.db"
    sqlite_of(file, layout)
    use(f"sqlite:{file}")
    with closing(apsw.Connection(str(file))) as connection:
        assert connection.pragma("user_version") == LATEST


@pytest.mark.parametrize("layout", range(LATEST + 1))
def test_a_schema_of_every_layout_is_opened(postgres: Postgres, layout: int) -> None:
    address = postgres.emptied()
    postgres_of(address, layout)
    use(address)
    with psycopg.connect(address) as connection:
        assert connection.execute("SELECT number FROM heraldry.migration").fetchall() == [(LATEST,)]


def test_a_file_of_a_later_version_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "registry.db"
    sqlite_of(file, LATEST)
    with closing(apsw.Connection(str(file))) as connection:
        connection.execute(f"PRAGMA user_version = {LATEST + 1}")
    with pytest.raises(StoreError, match=r"later version of heraldry.*upgrade heraldry"):
        open_store(f"sqlite:{file}", FIRST)


def test_a_schema_of_a_later_version_is_refused(postgres: Postgres) -> None:
    address = postgres.emptied()
    postgres_of(address, LATEST)
    with psycopg.connect(address) as connection:
        connection.execute("UPDATE heraldry.migration SET number = number + 1")
    with pytest.raises(StoreError, match=r"later version of heraldry.*upgrade heraldry"):
        open_store(address, FIRST)


def test_a_database_of_another_program_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "other.db"
    with closing(apsw.Connection(str(file))) as connection:
        connection.execute("CREATE TABLE theirs (x)")
    with pytest.raises(StoreError, match="another program"):
        open_store(f"sqlite:{file}", FIRST)
    with closing(apsw.Connection(str(file))) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("theirs",)]
