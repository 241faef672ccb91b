"""A registry in a SQLite file: many readers, one writer, over all threads and processes."""

from __future__ import annotations

import logging
import shutil
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import apsw
import msgspec

from heraldry.errors import StoreBusyError, StoreError, StoreFullError
from heraldry.store.connection import Values
from heraldry.store.migrating import first_of, migrations, pending
from heraldry.store.paths import Paths
from heraldry.store.reading import Memory, SqlReader
from heraldry.store.reserve import Reserve
from heraldry.store.rows import State
from heraldry.store.writing import COUNTERS, SqlWriter

APPLICATION: Final = 0x48455241  # "HERA": what PRAGMA application_id tells of our files
_PATIENCE: Final = 30_000
"""So many milliseconds a writer waits for those of other processes."""
_IDLE: Final = 24
"""So many connections wait for the next reader."""
_SOME: Final = 256 * 1024
"""With less room than that on its disk, a database cannot be written."""
_LOG: Final = logging.getLogger("heraldry.store")
_encode = msgspec.json.Encoder().encode


class SqliteConnection:
    """One connection to a SQLite file."""

    join = "CROSS JOIN"  # SQLite then keeps the order that is written
    fence = ""

    def __init__(self, file: str) -> None:
        self._apsw = apsw.Connection(file, statementcachesize=300)
        self._apsw.set_busy_timeout(_PATIENCE)
        self._read_from: set[apsw.Blob] = set()

    def all(self, sql: str, values: Values = ()) -> list[tuple[Any, ...]]:
        """Every row a question has."""
        return self._apsw.execute(sql, values).fetchall()

    def run(self, sql: str, values: Values = ()) -> None:
        """Carry out a statement, or several without values."""
        self._apsw.execute(sql, values or None).fetchall()

    def many(self, sql: str, rows: Iterable[Values]) -> None:
        """Carry out a statement once per row of values."""
        self._apsw.executemany(sql, rows).fetchall()

    def insert(self, table: str, columns: Sequence[str], rows: Sequence[Values]) -> None:
        """Add rows."""
        marks = ", ".join("?" * len(columns))
        self.many(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", rows)

    def document(self, key: int, size: int) -> Iterator[bytes]:
        """The content of a document in pieces of a size."""
        blob = self._apsw.blob_open("main", "document", "content", key, False)
        self._read_from.add(blob)
        try:
            while piece := blob.read(size):
                yield piece
        finally:
            # Where the collector ends this, on any thread, the connection may be at work again.
            if blob in self._read_from:
                self._read_from.remove(blob)
                blob.close()

    def rest(self) -> None:
        """End the transaction of a reader, and with it what was not read to its end."""
        while self._read_from:
            self._read_from.pop().close()
        if self.in_transaction:
            self.run("ROLLBACK")

    def among(self, column: str) -> str:
        """A condition: the column is one of the numbers of the next bound value."""
        return f"{column} IN (SELECT value FROM json_each(?))"

    def listed(self, numbers: Iterable[int]) -> str:
        """Numbers as one value to be bound."""
        return _encode(list(numbers)).decode()

    def exact(self, number: float) -> int | float:
        """SQLite compares integers and floats exactly as they are."""
        return number

    def checkpoint(self) -> None:
        """Move the log to the database and make it short, without waiting for readers."""
        self._apsw.set_busy_timeout(0)
        try:
            self.run("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            self._apsw.set_busy_timeout(_PATIENCE)

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction has begun and not ended."""
        return self._apsw.in_transaction

    def close(self) -> None:
        """Let go of the file."""
        self._apsw.close()


class SqliteStore:
    """One registry in one file.

    A commit survives the end of the process, however it ends. ``full``: the end of the machine,
    too; otherwise a power failure may undo the last commits, and never tears one.
    """

    reads_block = False

    def __init__(
        self, file: str, first: State | None, *, full: bool = False, reserve: int = 0
    ) -> None:
        self._synchronous = "FULL" if full else "NORMAL"
        self._name = f"sqlite:{file}"
        self._remove: Callable[[], object] | None = None
        if file == ":memory:":
            file, reserve = self._temporary(), 0
        self._file = file
        self._memory, self._paths = Memory(), Paths()
        self._writing = threading.Lock()
        self._idle: list[SqliteConnection] = []
        self._closed = False
        self._reserve = Reserve(file, reserve)
        self._full = False
        with self._told():
            self._writer = self._opened(first)
        if not self._reserve.take():
            self._note_full()

    def _temporary(self) -> str:
        """A file in memory, where the system has such files.

        SQLite's own databases in memory let nobody read beside a writer.
        """
        shared = Path("/dev/shm")
        folder = tempfile.mkdtemp("heraldry", dir=shared if shared.is_dir() else None)
        self._remove = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        return str(Path(folder, "registry.db"))

    def _opened(self, first: State | None) -> SqliteConnection:
        """The connection that writes; files beside the database need room even to be opened."""
        try:
            return self._open_writer(first)
        except (apsw.FullError, apsw.IOError, apsw.CantOpenError):
            if not self._reserve.size or self._reserve.free() > _SOME:
                raise
            self._reserve.release()
            return self._open_writer(first)

    def _open_writer(self, first: State | None) -> SqliteConnection:
        connection = SqliteConnection(self._file)
        try:
            self._log_ahead(connection)
            # FULL would make a write as slow as the disk: 3 ms on a busy one, three times the rest.
            connection.run(f"PRAGMA synchronous = {'OFF' if self._remove else self._synchronous}")
            connection.run("PRAGMA cache_size = -65536")
            self._migrate(connection, first)
        except BaseException:
            connection.close()
            raise
        return connection

    def _log_ahead(self, connection: SqliteConnection) -> None:
        ((mode,),) = connection.all("PRAGMA journal_mode = WAL")
        if mode != "wal":
            said = "readers and a writer cannot share it here"
            raise StoreError(self._name, said, "put it on a local disk")

    def _migrate(self, connection: SqliteConnection, first: State | None) -> None:
        """Bring the file to the layout of this version, in one transaction."""
        if self._layout(connection) == len(migrations("sqlite")):
            return
        with self._transaction(connection):
            done = self._layout(connection)
            for text in pending("sqlite", done, self._name):
                connection.run(text)
            connection.run(f"PRAGMA user_version = {len(migrations('sqlite'))}")
            connection.run(f"PRAGMA application_id = {APPLICATION}")
            if not done:
                self._writer_on(connection).save_first(first_of(first, self._name))

    def _layout(self, connection: SqliteConnection) -> int:
        ((application,),) = connection.all("PRAGMA application_id")
        ((layout,),) = connection.all("PRAGMA user_version")
        ((tables,),) = connection.all("SELECT count(*) FROM sqlite_master")
        if application != APPLICATION and (application or tables):
            raise StoreError(self._name, "this is a database of another program", "name a new file")
        return int(layout)

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Tell of what SQLite cannot do as a StoreError."""
        try:
            yield
        except apsw.BusyError as error:
            raise StoreBusyError(
                self._name, f"another process has been writing for {_PATIENCE // 1000} s"
            ) from error
        except apsw.CantOpenError as error:
            raise StoreError(
                self._name, "it cannot be opened", "the folder must exist and be writable"
            ) from error
        except apsw.NotADBError as error:
            raise StoreError(self._name, "this is no SQLite database", "name a new file") from error
        except apsw.Error as error:
            raise StoreError(self._name, str(error)) from error

    @contextmanager
    def _transaction(self, connection: SqliteConnection) -> Iterator[None]:
        connection.run("BEGIN IMMEDIATE")
        try:
            yield
            connection.run("COMMIT")
        except BaseException:
            self._paths.forget(all_of_them=True)
            if connection.in_transaction:  # a full disk may have ended it
                connection.run("ROLLBACK")
            raise

    def _writer_on(self, connection: SqliteConnection) -> SqlWriter:
        (counters,) = connection.all(f"SELECT {', '.join(COUNTERS)} FROM counter")
        return SqlWriter(connection, self._memory, self._paths, counters)

    @contextmanager
    def write(self, *, frees: bool = False) -> Iterator[SqlWriter]:
        """A transaction: committed at the end, or nothing of it where an error leaves it."""
        with self._writing, self._told(), self._room(frees):
            try:
                with self._transaction(self._writer):
                    writer = self._writer_on(self._writer)
                    yield writer
                    writer.finish()
            except (apsw.FullError, apsw.IOError) as error:
                if isinstance(error, apsw.IOError) and self._reserve.free() > _SOME:
                    raise
                self._note_full()
                raise self._is_full() from error

    @contextmanager
    def _room(self, frees: bool) -> Iterator[None]:
        """On a full disk, what was set aside is for writes that free room."""
        if not self._full:
            yield
        elif frees:
            self._reserve.release()
            self._shorten_log()
            try:
                yield
            finally:
                self._shorten_log()
                self._reserve.take()
        else:
            if self._reserve.size:
                self._expect_room()
            yield
            self._note_room()

    def _note_full(self) -> None:
        self._shorten_log()
        if not self._full:
            self._full = True
            _LOG.warning("%s", self._is_full())

    def _note_room(self) -> None:
        self._full = False
        self._reserve.take()
        _LOG.warning("%s: there is room again", self._name)

    def _is_full(self) -> StoreFullError:
        return StoreFullError(
            self._name, "its disk is full", "Nothing but deletes is taken until there is room."
        )

    def _expect_room(self) -> None:
        """Refuse a write unless there is room on the disk, or within the database."""
        ((pages,),) = self._writer.all("PRAGMA freelist_count")
        ((size,),) = self._writer.all("PRAGMA page_size")
        free = self._reserve.free()
        # A log that was made short leaves room, too, but not enough to go on.
        if free < _SOME or free + pages * size < 2 * self._reserve.size:
            raise self._is_full()

    def _shorten_log(self) -> None:
        """Move what the log holds to the database, as far as nobody reads it just now."""
        with suppress(apsw.Error):
            self._writer.checkpoint()

    @contextmanager
    def read(self) -> Iterator[SqlReader]:
        """A consistent snapshot, until the context ends."""
        with self._told():
            connection = self._reader()
            try:
                connection.run("BEGIN")
                yield SqlReader(connection, self._memory)
            finally:
                connection.rest()
                self._give_back(connection)

    def _reader(self) -> SqliteConnection:
        # Not one per thread: what is streamed may be read on by another thread.
        try:
            return self._idle.pop()
        except IndexError:
            connection = SqliteConnection(self._file)
            connection.run("PRAGMA query_only = 1")
            return connection

    def _give_back(self, connection: SqliteConnection) -> None:
        if len(self._idle) < _IDLE and not self._closed:
            self._idle.append(connection)
        else:
            connection.close()

    def revision(self) -> int:
        """A number that changes with every committed write, also of other processes."""
        with self._told():
            connection = self._reader()
            try:
                ((revision,),) = connection.all("SELECT revision FROM counter")
                return int(revision)
            finally:
                self._give_back(connection)

    def close(self) -> None:
        """Let go of the file."""
        self._closed = True
        while self._idle:
            self._idle.pop().close()
        self._writer.close()
        if self._remove:
            self._remove()
