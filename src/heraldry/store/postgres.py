"""A registry in PostgreSQL, in the schema ``heraldry``: any number of servers may share it."""

from __future__ import annotations

import logging
import select
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final, LiteralString

import psycopg
import psycopg_pool
from psycopg import IsolationLevel, errors, sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from heraldry.errors import StoreBusyError, StoreError, StoreFullError
from heraldry.store.connection import Values
from heraldry.store.migrating import first_of, migrations, pending
from heraldry.store.paths import Paths
from heraldry.store.reading import Memory, SqlReader
from heraldry.store.rows import State
from heraldry.store.writing import COUNTERS, SqlWriter

_LOG: Final = logging.getLogger("heraldry.store")
_SCHEMA: Final = "heraldry"
_LOCK: Final = 0x48455241
"""The advisory lock of those who bring the tables to a new layout."""
_READERS, _WRITERS = 16, 1
_PATIENCE: Final = 30.0
"""So many seconds a writer waits for others, and again for those of other processes."""
_REACH: Final = 5.0
"""So many seconds a request waits for a connection, and the pool tries to make one."""
_GONE: Final = ("08", "57", "53300")
"""States of SQL: the connection failed, the server stops or starts, it has too many clients."""
_SIGNS_OF_LIFE: Final = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3}
"""A host that went without a word is noticed after 25 seconds, and not after hours."""
_PIECES: Final = 16
"""So many pieces of a document are asked for together."""
_BULK: Final = 100
"""From so many rows on, COPY is faster."""


@lru_cache(maxsize=2048)
def _placed(sql: str) -> LiteralString:
    """A statement with the placeholders of psycopg; ours holds no other ``?`` and no ``%``."""
    return sql.replace("?", "%s")


class PostgresConnection:
    """One connection to a PostgreSQL database."""

    join = "JOIN"
    fence = "OFFSET 0"

    def __init__(self, connection: psycopg.Connection[tuple[Any, ...]]) -> None:
        self._psycopg = connection
        self._cursor = connection.cursor(binary=True)

    def all(self, sql: str, values: Values = ()) -> list[tuple[Any, ...]]:
        """Every row a question has."""
        return self._cursor.execute(_placed(sql), values).fetchall()

    def run(self, sql: str, values: Values = ()) -> None:
        """Carry out a statement."""
        self._cursor.execute(_placed(sql), values)

    def many(self, sql: str, rows: Iterable[Values]) -> None:
        """Carry out a statement once per row of values, without waiting for each."""
        self._cursor.executemany(_placed(sql), rows)

    def insert(self, table: str, columns: Sequence[str], rows: Sequence[Values]) -> None:
        """Add rows, many of them by COPY."""
        names = ", ".join(columns)
        if len(rows) < _BULK:
            marks = ", ".join("?" * len(columns))
            self.many(f"INSERT INTO {table} ({names}) VALUES ({marks})", rows)
            return
        with self._cursor.copy(_placed(f"COPY {table} ({names}) FROM STDIN")) as copy:
            for row in rows:
                copy.write_row(row)

    def document(self, key: int, size: int) -> Iterator[bytes]:
        """The content of a document in pieces of a size; several are asked for at a time.

        To find any part, the database may have to unpack all that is before it.
        """
        start, length = 1, size * _PIECES
        query = "SELECT substring(content FROM ? FOR ?) FROM document WHERE key = ?"
        while chunk := bytes(self.all(query, (start, length, key))[0][0]):
            yield from (chunk[offset : offset + size] for offset in range(0, len(chunk), size))
            start += length

    def among(self, column: str) -> str:
        """A condition: the column is one of the numbers of the next bound value."""
        return f"{column} = ANY(?::bigint[])"

    def listed(self, numbers: Iterable[int]) -> list[int]:
        """Numbers as one value to be bound."""
        return list(numbers)

    def exact(self, number: float) -> Decimal:
        """A number as PostgreSQL's ``numeric``."""
        return Decimal(repr(number))


class PostgresStore:
    """One registry in one database."""

    reads_block = True

    def __init__(self, url: str, first: State | None) -> None:
        self._name = "postgresql:"
        self._full = False
        with self._told():
            self._name = _without_password(url)
            self._memory, self._paths = Memory(), Paths()
            with psycopg.connect(url, connect_timeout=10) as connection:
                self._migrate(connection, first)
        self._writing = threading.Lock()
        self._readers = _pool(url, _READERS, _for_reading)
        self._writers = _pool(url, _WRITERS, _for_writing)

    def _migrate(
        self, connection: psycopg.Connection[tuple[Any, ...]], first: State | None
    ) -> None:
        """Bring the tables to the layout of this version, in one transaction."""
        own = PostgresConnection(connection)
        own.run("SELECT pg_advisory_xact_lock(?)", (_LOCK,))
        if not own.all("SELECT 1 FROM pg_namespace WHERE nspname = ?", (_SCHEMA,)):
            own.run(f"CREATE SCHEMA {_SCHEMA}")
        own.run(f"SET search_path TO {_SCHEMA}")
        done = self._layout(own)
        missing = pending("postgres", done, self._name)
        if not missing:
            return
        for text in missing:
            connection.execute(text)
        own.run("UPDATE migration SET number = ?", (len(migrations("postgres")),))
        if not done:
            self._writer_on(own).save_first(first_of(first, self._name))

    @staticmethod
    def _layout(connection: PostgresConnection) -> int:
        ((table,),) = connection.all("SELECT to_regclass('migration') IS NOT NULL")
        if not table:
            connection.run("CREATE TABLE migration (number integer NOT NULL)")
            connection.run("INSERT INTO migration VALUES (0)")
        ((number,),) = connection.all("SELECT number FROM migration")
        return int(number)

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Tell of what the database cannot do as a StoreError, which never holds the password."""
        try:
            yield
        except psycopg_pool.PoolTimeout as error:
            raise StoreBusyError(self._name, "the database does not answer or is busy") from error
        except errors.InsufficientPrivilege as error:
            raise StoreError(
                self._name, _first_line(error), f"the user must own the schema {_SCHEMA!r}"
            ) from error
        except errors.DiskFull as error:
            full = StoreFullError(self._name, _first_line(error), "Its database has no room.")
            if not self._full:
                self._full = True
                _LOG.warning("%s", full)
            raise full from error
        except errors.LockNotAvailable as error:
            raise self._late() from error
        except psycopg.Error as error:
            if _is_gone(error):
                raise StoreBusyError(self._name, f"no connection: {_first_line(error)}") from error
            raise StoreError(self._name, _first_line(error)) from error

    def _late(self) -> StoreBusyError:
        return StoreBusyError(self._name, f"others have been writing for {_PATIENCE:.0f} s")

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Let in one writer of this process at a time.

        What the paths know must not be used before a failed writer has made them forget it.
        """
        if not self._writing.acquire(timeout=_PATIENCE):
            raise self._late()
        try:
            yield
        finally:
            self._writing.release()

    def _writer_on(self, connection: PostgresConnection) -> SqlWriter:
        # The lock on this row lets in one writer at a time.
        (counters,) = connection.all(f"SELECT {', '.join(COUNTERS)} FROM counter FOR UPDATE")
        return SqlWriter(connection, self._memory, self._paths, counters)

    @contextmanager
    def write(self, *, frees: bool = False) -> Iterator[SqlWriter]:
        """A transaction: committed at the end, or nothing of it where an error leaves it."""
        with self._told(), self._alone(), self._writers.connection() as connection:
            try:
                writer = self._writer_on(PostgresConnection(connection))
                yield writer
                writer.finish()
                connection.commit()
                self._full = False
            except BaseException:
                self._paths.forget(all_of_them=True)
                raise

    @contextmanager
    def read(self) -> Iterator[SqlReader]:
        """A consistent snapshot, until the context ends."""
        with (
            self._told(),
            self._readers.connection() as connection,
            connection.transaction(),
        ):
            yield SqlReader(PostgresConnection(connection), self._memory)

    def revision(self) -> int:
        """A number that changes with every committed write, also of other processes."""
        with self._told(), self._readers.connection() as connection:
            ((revision,),) = PostgresConnection(connection).all("SELECT revision FROM counter")
            return int(revision)

    def close(self) -> None:
        """Let go of the database."""
        self._readers.close()
        self._writers.close()


def _without_password(url: str) -> str:
    """The address of a database as it may be shown."""
    try:
        known = {k: v for k, v in conninfo_to_dict(url).items() if not k.endswith("password")}
    except psycopg.Error:
        # What libpq says of it repeats the address.
        raise StoreError(
            "postgresql:", "the address cannot be read", "postgresql://USER@HOST/DATABASE"
        ) from None
    return "postgresql: " + make_conninfo("", **known)


def _first_line(error: psycopg.Error) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def _is_gone(error: psycopg.Error) -> bool:
    """Whether a connection failed, and not a statement: its end has no state, or one of these."""
    state = error.sqlstate or ""
    if not state:
        return isinstance(error, psycopg.OperationalError)
    return state.startswith(_GONE)


def _pool(url: str, most: int, configure: Any) -> psycopg_pool.ConnectionPool[Any]:
    return psycopg_pool.ConnectionPool(
        url,
        min_size=0,
        max_size=most,
        open=True,
        configure=configure,
        check=_check,
        timeout=_REACH,
        reconnect_timeout=_REACH,
        kwargs={"connect_timeout": 10, "tcp_user_timeout": 25_000, **_SIGNS_OF_LIFE},
    )


def _check(connection: psycopg.Connection[Any]) -> None:
    """Ask a connection whether it is alive only where its silence is broken: it costs a round."""
    waiting = select.poll()
    waiting.register(connection.fileno(), select.POLLIN)
    if waiting.poll(0):
        psycopg_pool.ConnectionPool.check_connection(connection)


def _for_reading(connection: psycopg.Connection[Any]) -> None:
    _set_up(connection)
    connection.autocommit = True  # so that a single question needs no transaction
    connection.isolation_level = IsolationLevel.REPEATABLE_READ
    connection.read_only = True


def _for_writing(connection: psycopg.Connection[Any]) -> None:
    _set_up(connection)
    # PostgreSQL looks for the same signs: a server of ours that is lost must not hold the lock.
    for name, value in _SIGNS_OF_LIFE.items():
        connection.execute(sql.SQL("SET {} TO {}").format(sql.SQL(f"tcp_{name}"), value))
    connection.commit()


def _set_up(connection: psycopg.Connection[Any]) -> None:
    connection.execute(f"SET search_path TO {_SCHEMA}")
    connection.execute(f"SET lock_timeout TO '{_PATIENCE:.0f}s'")
    # Every statement here starts from few entities and goes by indexes; the planner would not
    # know it before it has statistics, so after an import.
    for other in ("seqscan", "hashjoin", "mergejoin"):
        connection.execute(sql.SQL("SET enable_{} TO off").format(sql.SQL(other)))
    connection.execute("SET jit TO off")  # takes longer than any of them
    connection.commit()
