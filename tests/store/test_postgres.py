"""What only PostgreSQL can do wrong: connections that end, and others who hold the lock."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import cast

import psycopg
import pytest

from heraldry.errors import StoreBusyError, StoreError, StoreFullError
from heraldry.store import postgres as module
from heraldry.store.opening import open_store
from heraldry.store.reading import SqlReader
from heraldry.store.store import Store
from tests.live.servers.postgres import PASSWORD, Postgres
from tests.store.registries import DIRS, FIRST, add_group, ids


@pytest.fixture
def store(postgres: Postgres) -> Iterator[Store]:
    with closing(open_store(postgres.emptied(), FIRST)) as found:
        yield found


def end_all_connections(postgres: Postgres) -> None:
    with psycopg.connect(postgres.address) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
            "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )


def test_a_connection_that_ended_while_idle_is_replaced(store: Store, postgres: Postgres) -> None:
    with store.write() as tx:
        add_group(tx, "d1")
    store.revision()
    end_all_connections(postgres)
    with store.read() as tx:
        assert ids(list(tx.rows(DIRS))) == ["d1"]
    with store.write() as tx:
        add_group(tx, "d2")


def test_a_connection_that_ends_within_a_transaction_undoes_it(
    store: Store, postgres: Postgres
) -> None:
    def write() -> None:
        with store.write() as tx:
            add_group(tx, "d1", {"new": {"path": 1}})
            tx.count([0], DIRS)
            end_all_connections(postgres)

    def read() -> None:
        with store.read() as tx:
            tx.state()
            end_all_connections(postgres)
            tx.state()

    for how in (write, read):
        with pytest.raises(StoreBusyError, match="no connection") as caught:
            how()
        assert PASSWORD not in str(caught.value)
    with store.write() as tx:
        assert list(tx.rows(DIRS)) == []
        add_group(tx, "d1", {"new": {"path": 1}})


def test_a_writer_does_not_wait_for_ever(
    postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_PATIENCE", 1.0)
    address = postgres.emptied()
    with (
        closing(open_store(address, FIRST)) as store,
        closing(open_store(address, FIRST)) as other,
        store.write(),
    ):
        for late in (store, other):
            with (
                pytest.raises(StoreBusyError, match="others have been writing for 1 s"),
                late.write(),
            ):
                pass


def test_both_sides_notice_a_host_that_is_gone(store: Store) -> None:
    with store.write() as tx:
        connection = cast("SqlReader", tx)._connection
        assert connection.all("SHOW tcp_keepalives_idle") == [("10",)]
        known = cast("module.PostgresConnection", connection)._psycopg.info.get_parameters()
        assert (known["keepalives_idle"], known["tcp_user_timeout"]) == ("10", "25000")


def test_a_database_that_is_full_is_told_as_such_once(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    full = "DO $$ BEGIN RAISE EXCEPTION 'no space' USING ERRCODE = 'disk_full'; END $$"

    def write() -> None:
        with store.write() as tx:
            add_group(tx, "lost")
            tx.count([0], DIRS)
            cast("SqlReader", tx)._connection.run(full)

    for _ in range(3):
        with pytest.raises(StoreFullError, match="no space"):
            write()
    assert len(caplog.records) == 1
    with store.write() as tx:
        add_group(tx, "kept")
    with store.read() as tx:
        assert ids(list(tx.rows(DIRS))) == ["kept"]


def test_a_user_who_may_not_create_tables_is_told_so(postgres: Postgres) -> None:
    address = postgres.emptied()
    with psycopg.connect(address) as connection:
        connection.execute("DROP ROLE IF EXISTS guest")
        connection.execute("CREATE ROLE guest LOGIN PASSWORD 'guest'")
    guest = address.replace("ada:correct%20horse", "guest:guest")
    with pytest.raises(StoreError, match="must own the schema 'heraldry'"):
        open_store(guest, FIRST)
