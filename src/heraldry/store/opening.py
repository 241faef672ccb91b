"""Open the store that an address names.

with closing(open_store("sqlite:heraldry.db", first)) as store: ...
"""

from __future__ import annotations

from heraldry.errors import MissingExtraError, StoreError
from heraldry.store.rows import State
from heraldry.store.store import Store


def open_store(url: str, first: State | None, *, reserve: int = 0) -> Store:
    """The store at ``sqlite:FILE``, ``sqlite::memory:`` or ``postgresql://...``.

    ``first`` is saved where the database is new; where it is None, a new one is refused.
    ``sqlite:FILE?synchronous=full`` waits for the disk at every commit. ``reserve``: so many bytes
    of the disk of a file are set aside, so that deletes work when it is full.
    """
    scheme, separator, rest = url.partition(":")
    if scheme == "sqlite" and rest:
        return _open_sqlite(rest, first, reserve)
    if scheme in ("postgresql", "postgres") and rest:
        return _open_postgres(url, first)
    # The address may hold a password, so it is not repeated.
    raise StoreError(
        f"{scheme}:" if separator else "the store's address",
        "no such kind of store",
        "sqlite:FILE or postgresql://USER@HOST/DATABASE",
    )


def _open_sqlite(rest: str, first: State | None, reserve: int) -> Store:
    file, _, options = rest.partition("?")
    if options not in ("", "synchronous=full", "synchronous=normal"):
        known = "synchronous=full or synchronous=normal"
        raise StoreError(f"sqlite:{file}", f"no such option: {options}", known)
    try:
        from heraldry.store.sqlite import SqliteStore
    except ModuleNotFoundError as error:
        raise _missing(error, "apsw", "server") from error
    return SqliteStore(file, first, full=options == "synchronous=full", reserve=reserve)


def _open_postgres(url: str, first: State | None) -> Store:
    try:
        from heraldry.store.postgres import PostgresStore
    except ModuleNotFoundError as error:
        raise _missing(error, "psycopg", "postgres") from error
    return PostgresStore(url, first)


def _missing(error: ModuleNotFoundError, module: str, extra: str) -> Exception:
    """What to say of a driver that is not installed; another missing module is our own fault."""
    return MissingExtraError(extra, module) if (error.name or "").startswith(module) else error
