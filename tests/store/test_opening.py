"""Addresses of stores, and databases that cannot be used."""

from __future__ import annotations

import builtins
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from heraldry.errors import MissingExtraError, StoreError
from heraldry.store.opening import open_store
from tests.live.servers.postgres import PASSWORD, Postgres
from tests.live.servers.server import free_port
from tests.store.registries import FIRST


@pytest.mark.parametrize(
    "address",
    ["", "heraldry.db", "mysql://ada:hunter2@host/db", "sqlite:", "postgresql:", "hunter2"],
)
def test_an_address_of_no_store_is_refused_without_its_secrets(address: str) -> None:
    with pytest.raises(StoreError, match="no such kind of store") as caught:
        open_store(address, FIRST)
    assert "hunter2" not in str(caught.value).replace("hunter2:", "")


def test_a_folder_that_is_missing(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="folder must exist"):
        open_store(f"sqlite:{tmp_path / 'none' / 'registry.db'}", FIRST)


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("no database, " * 100)
    with pytest.raises(StoreError, match="no SQLite database"):
        open_store(f"sqlite:{file}", FIRST)
    assert file.read_text() == "no database, " * 100


def test_a_registry_in_memory_leaves_nothing_behind() -> None:
    def files() -> set[Path]:
        return {path for folder in ("/dev/shm", "/tmp") for path in Path(folder).glob("*heraldry")}

    before = files()
    with closing(open_store("sqlite::memory:", FIRST)) as store, store.read() as tx:
        assert tx.state() == FIRST
    assert files() <= before


@pytest.mark.parametrize(("address", "module"), [("sqlite:x", "apsw"), ("postgresql:x", "psycopg")])
def test_a_driver_that_is_not_installed_is_named(
    monkeypatch: pytest.MonkeyPatch, address: str, module: str
) -> None:
    real = builtins.__import__

    def missing(name: str, *others: Any) -> Any:
        if name.partition(".")[0] == module:
            raise ModuleNotFoundError(f"No module named {module!r}", name=module)
        return real(name, *others)

    for known in ("heraldry.store.sqlite", "heraldry.store.postgres"):
        monkeypatch.delitem(sys.modules, known, raising=False)
    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(MissingExtraError, match=module):
        open_store(address, FIRST)


def test_a_server_that_is_not_there() -> None:
    with pytest.raises(StoreError, match="no connection") as caught:
        open_store(f"postgresql://ada:hunter2@127.0.0.1:{free_port()}/db", FIRST)
    assert "hunter2" not in str(caught.value)


def test_a_wrong_password_is_not_repeated(postgres: Postgres) -> None:
    address = postgres.address.replace("correct%20horse", "hunter2")
    with pytest.raises(StoreError, match="password authentication failed") as caught:
        open_store(address, FIRST)
    assert "hunter2" not in str(caught.value)
    assert "ada" in caught.value.database


def test_a_database_that_does_not_exist(postgres: Postgres) -> None:
    with pytest.raises(StoreError, match="does not exist") as caught:
        open_store(postgres.address.replace("/postgres", "/nowhere"), FIRST)
    assert PASSWORD not in str(caught.value)


def test_an_address_that_cannot_be_read_is_not_repeated() -> None:
    with pytest.raises(StoreError, match="cannot be read") as caught:
        open_store("postgresql://ada:hunter2@host:port:port/db?x", FIRST)
    assert "hunter2" not in str(caught.value)
