"""The numbered migrations: what a database must go through to be as this version expects it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from heraldry.errors import StoreError
from heraldry.store.rows import State

_FOLDER = Path(__file__).parent / "migrations"


@cache
def migrations(dialect: str) -> tuple[str, ...]:
    """The text of every migration of a dialect, in order; the first has the number 1."""
    files = sorted(_FOLDER.glob(f"[0-9]*.{dialect}.sql"))
    return tuple(file.read_text(encoding="utf-8") for file in files)


def pending(dialect: str, done: int, database: str) -> tuple[str, ...]:
    """The migrations a database still needs; a database of a later version is refused."""
    known = migrations(dialect)
    if done > len(known):
        raise StoreError(
            database,
            f"it was written by a later version of heraldry (its layout is {done}, "
            f"this version knows {len(known)})",
            "upgrade heraldry",
        )
    return known[done:]


def first_of(first: State | None, database: str) -> State:
    """What a new registry starts with; without it, nothing is to be made of a database."""
    if first is None:
        raise StoreError(database, "it holds no registry", "name the database of a registry")
    return first
