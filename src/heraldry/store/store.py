"""The protocol of a store. One behaviour suite runs over all of them: ``tests/store``.

with store.write() as tx:            # one request is one transaction (GN-01)
    key = tx.next_key()
    tx.save(Row(key=key, parent=0, kind=Kind.GROUP, type="dirs", xid="/dirs/d1", id="d1", ...))
    tx.note(Change(...))
with store.read() as tx:             # a consistent snapshot
    tx.find("/dirs/d1")
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from heraldry.store.query import Filter, Leaves, Order, Page
from heraldry.store.rows import Change, Row, State


class Reader(Protocol):
    """A snapshot of a registry."""

    def state(self) -> State:
        """The registry itself."""

    def find(self, xid: str, *, any_case: bool = False) -> Row | None:
        """The entity of an xid; ``any_case``: also one that differs only by case (CA-03)."""

    def children(
        self,
        parents: Sequence[int],
        type: str,
        *,
        keys: Collection[int] | None = None,
    ) -> Iterator[Row]:
        """The entities of one type in these parents: parents as given, then by id ignoring case.

        ``keys`` keeps only these. Rows arrive as they are read: a large collection takes no
        memory.
        """

    def page(
        self,
        parent: int,
        type: str,
        order: Order,
        page: Page,
        *,
        keys: Collection[int] | None = None,
    ) -> tuple[list[Row], str]:
        """One page of a collection in an order, and the cursor of the next (``""``: the last)."""

    def ordered(
        self,
        parent: int,
        type: str,
        order: Order,
        *,
        keys: Collection[int] | None = None,
    ) -> Iterator[Row]:
        """A whole collection in an order, read in batches."""

    def count(
        self,
        parents: Sequence[int],
        type: str,
        *,
        keys: Collection[int] | None = None,
    ) -> dict[int, int]:
        """How many entities of a type each parent has (parents without any may be missing)."""

    def leaves(self, filter: Filter, under: str) -> Leaves:
        """What survives a filter among the entities at or below an xid (``/``: everywhere)."""

    def rows(self, type: str) -> Iterator[Row]:
        """All entities of a type in the whole registry, by key."""

    def by_key(self, keys: Collection[int]) -> dict[int, Row]:
        """Entities by their keys."""

    def borrowers(self, xid: str) -> list[Row]:
        """The resources whose ``xref`` is this xid."""

    def document(self, key: int) -> bytes:
        """The bytes of a document."""

    def documents(self, keys: Collection[int]) -> dict[int, bytes]:
        """The bytes of many documents, by their keys; those that are not there are missing."""

    def document_sizes(self, keys: Collection[int]) -> dict[int, int]:
        """How many bytes documents have, by their keys."""

    def document_pieces(self, key: int, size: int) -> Iterator[bytes]:
        """The bytes of a document in pieces of a size, read as they are asked for."""

    def journal(self, after: int, limit: int) -> list[Change]:
        """Changes with a greater sequence than ``after``, in order."""


class Writer(Reader, Protocol):
    """A transaction; its reads see its own writes."""

    def next_key(self) -> int:
        """A key for a new entity."""

    def save(self, row: Row) -> None:
        """Insert an entity, or replace the one with this key; its filter index goes along."""

    def remove(self, row: Row) -> list[tuple[str, str]]:
        """Delete an entity with all below it; (type, xid) of everything that was deleted.

        Documents go with the versions that own them (not with borrowed ones).
        """

    def save_document(self, content: bytes) -> int:
        """Keep a document; its key. One that no version names any more is dropped by ``save``."""

    def save_state(self, state: State) -> None:
        """Replace the state of the registry."""

    def note(self, change: Change) -> None:
        """Add a change to the journal, in the same transaction."""

    def watch(self, proceed: Callable[[], None]) -> None:
        """Call this again and again while much is written; what it raises ends the transaction."""


class Store(Protocol):
    """A database that holds one registry."""

    reads_block: bool
    """Whether a read may wait for a network: then it must not run on an event loop."""

    def read(self) -> AbstractContextManager[Reader]:
        """A consistent snapshot, until the context ends."""

    def write(self, *, frees: bool = False) -> AbstractContextManager[Writer]:
        """A transaction: committed at the end, or nothing of it where an error leaves it.

        Writers wait for each other, over all processes: one at a time per registry. Where a disk
        is full, one that ``frees`` room may be possible still, and others may be after an error.
        """

    def revision(self) -> int:
        """A number that changes with every committed write, also of other processes."""

    def close(self) -> None:
        """Let go of the database."""
