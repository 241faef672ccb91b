"""The numbers that paths of attributes have in the filter index."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from heraldry.errors import RegistryError
from heraldry.model.dotpath import text_of
from heraldry.store.connection import Connection
from heraldry.store.facts import fits, mark_of, short_mark
from heraldry.store.query import ANY, EACH, Step

_KNOWN_AT_MOST = 50_000
LOOKED_AT: Final = 200_000
"""So many paths one question may look at to find those that its wildcards stand for."""


class Paths:
    """The numbers known to the writers of one store, which work one after the other."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], int] = {}

    def number(
        self,
        connection: Connection,
        type: str,
        marks: Iterable[str],
        last: int,
    ) -> tuple[dict[str, int], int]:
        """The numbers of the marks of a type, new ones made after ``last``; the last one then."""
        found: dict[str, int] = {}
        for mark in marks:
            number = self._known.get((type, mark))
            if number is None:
                number = self.find(connection, type, mark)
                if number is None:
                    last = number = last + 1
                    connection.run(
                        "INSERT INTO path (number, type, mark, steps) VALUES (?, ?, ?, ?)",
                        (number, type, short_mark(mark), mark),
                    )
                self._known[type, mark] = number
            found[mark] = number
        return found, last

    @staticmethod
    def find(connection: Connection, type: str, mark: str) -> int | None:
        """The number of a mark, if any entity has it."""
        found = connection.all(
            "SELECT number FROM path WHERE type = ? AND mark = ?", (type, short_mark(mark))
        )
        return found[0][0] if found else None

    def forget(self, *, all_of_them: bool) -> None:
        """Drop what is known: after a rollback, as new numbers are void, or to stay small."""
        if all_of_them or len(self._known) > _KNOWN_AT_MOST:
            self._known.clear()


def number_of_path(connection: Connection, type: str, path: tuple[Step, ...]) -> int | None:
    """The number of a path without wildcards, if any entity has it."""
    return Paths.find(connection, type, mark_of(path))


class AskedPaths:
    """The paths of one question; all its wildcards together look at a bounded number of them."""

    def __init__(self, connection: Connection, under: str) -> None:
        self._connection, self._under = connection, under
        self._left = LOOKED_AT

    def numbers(self, type: str, path: tuple[Step, ...]) -> list[int]:
        """The numbers of all paths that a path, maybe with ``ANY`` or ``EACH``, stands for."""
        wild = next((at for at, step in enumerate(path) if step in (ANY, EACH)), None)
        if wild is None:
            found = number_of_path(self._connection, type, path)
            return [] if found is None else [found]
        start = mark_of(path[:wild])
        between = (start, start + "\U0010ffff")
        # A mark that was too long is known by its digest, behind "#".
        candidates = self._connection.all(
            "SELECT number, steps FROM path WHERE type = ? AND (mark >= ? AND mark < ? "
            "OR mark >= '#' AND mark < '$' AND steps >= ? AND steps < ?) LIMIT ?",
            (type, *between, *between, self._left + 1),
        )
        self._left -= len(candidates)
        if self._left < 0:
            said = f"the wildcards in its paths stand for more than {LOOKED_AT} paths"
            raise RegistryError(
                "bad_filter", self._under, {"value": text_of(path), "error_detail": said}
            )
        return [number for number, steps in candidates if fits(steps, path)]
