"""What the statements of a store run on: one connection to one database, of either kind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

Values = Sequence[Any]


class Connection(Protocol):
    """Runs statements whose values are bound at ``?``; all names in them are our own."""

    join: str
    """How tables are joined so that the database keeps or finds a good order."""
    fence: str
    """The end of a question inside another, so that the one inside is answered first."""

    def all(self, sql: str, values: Values = ()) -> list[tuple[Any, ...]]:
        """Every row a question has."""

    def run(self, sql: str, values: Values = ()) -> None:
        """Carry out a statement that gives no rows."""

    def many(self, sql: str, rows: Iterable[Values]) -> None:
        """Carry out a statement once per row of values."""

    def insert(self, table: str, columns: Sequence[str], rows: Sequence[Values]) -> None:
        """Add rows by the fastest way the database has."""

    def document(self, key: int, size: int) -> Iterator[bytes]:
        """The content of a document in pieces of a size."""

    def among(self, column: str) -> str:
        """A condition: the column is one of the numbers of the next bound value."""

    def listed(self, numbers: Iterable[int]) -> Any:
        """Numbers as one value to be bound for :meth:`among`."""

    def exact(self, number: float) -> Any:
        """A number as a value to be bound, compared without loss."""
