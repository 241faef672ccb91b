"""Reading a store: every question of the protocol, on a connection that is in a transaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Final

from heraldry.errors import StoreError
from heraldry.store.connection import Connection
from heraldry.store.facts import fold
from heraldry.store.leaves import find_leaves
from heraldry.store.paging import cursor_of, order_statement, page_statement
from heraldry.store.query import Filter, Leaves, Order, Page
from heraldry.store.records import CHANGE, ROW, change_of, row_of, state_of
from heraldry.store.rows import Change, Row, State

BATCH: Final = 500
"""So many rows are read at a time."""
_FEW: Final = 1000
"""For so many keys or fewer, the entities are looked up by them."""

_FIND = f"SELECT {ROW} FROM entity e WHERE e.folded = ?"
_CHILDREN = (
    f"SELECT {ROW}, e.place FROM entity e WHERE e.parent = ? AND e.type = ? AND e.place > ? "
    "ORDER BY e.place LIMIT ?"
)
_OF_TYPE = f"SELECT {ROW} FROM entity e WHERE e.type = ? AND e.key > ? ORDER BY e.key LIMIT ?"
_COUNT = "SELECT count(*) FROM entity WHERE parent = ? AND type = ?"
_BORROWERS = f"SELECT {ROW} FROM entity e WHERE e.xref = ? AND e.xref <> '' ORDER BY e.key"
_JOURNAL = f"SELECT {', '.join(CHANGE)} FROM journal WHERE sequence > ? ORDER BY sequence LIMIT ?"


class Memory:
    """What a store remembers between transactions: the state as it was last read."""

    def __init__(self) -> None:
        self.state: tuple[int, State] | None = None


class SqlReader:
    """A snapshot of a registry."""

    def __init__(self, connection: Connection, memory: Memory) -> None:
        self._connection, self._memory = connection, memory
        self._by_key = f"SELECT {ROW} FROM entity e WHERE {connection.among('e.key')}"

    def state(self) -> State:
        """The registry itself: the same object as long as nobody saves another."""
        ((stamp,),) = self._connection.all("SELECT stamp FROM counter")
        known = self._memory.state
        if known is None or known[0] != stamp:
            ((content,),) = self._connection.all("SELECT content FROM state")
            known = self._memory.state = (stamp, state_of(content))
        return known[1]

    def find(self, xid: str, *, any_case: bool = False) -> Row | None:
        """The entity of an xid."""
        found = self._connection.all(_FIND, (fold(xid),))
        return row_of(found[0]) if found and (any_case or found[0][4] == xid) else None

    def children(
        self,
        parents: Sequence[int],
        type: str,
        *,
        keys: Collection[int] | None = None,
    ) -> Iterator[Row]:
        """The entities of one type in these parents, read in batches."""
        if len(parents) == 1 and keys is None:
            return self._children(parents[0], type)
        return self._in_order(parents, type, keys)

    def _children(self, parent: int, type: str) -> Iterator[Row]:
        place = ""
        while True:
            found = self._connection.all(_CHILDREN, (parent, type, place, BATCH))
            for record in found:
                yield row_of(record[:-1])
            if len(found) < BATCH:
                return
            place = found[-1][-1]

    def _in_order(
        self,
        parents: Sequence[int],
        type: str,
        keys: Collection[int] | None,
    ) -> Iterator[Row]:
        below: dict[int, list[int]] = {}
        for parent, key in self._family(parents, type, keys):
            below.setdefault(parent, []).append(key)
        ordered = [key for parent in dict.fromkeys(parents) for key in below.get(parent, ())]
        yield from self._by_keys(ordered)

    def _by_keys(self, keys: Sequence[int]) -> Iterator[Row]:
        """The entities of keys, in their order."""
        for start in range(0, len(keys), BATCH):
            batch = keys[start : start + BATCH]
            rows = self.by_key(batch)
            yield from (rows[key] for key in batch if key in rows)

    def _family(
        self,
        parents: Sequence[int],
        type: str,
        keys: Collection[int] | None,
    ) -> Iterable[tuple[Any, ...]]:
        """(parent, key) of the entities of a type in these parents, by id within a parent."""
        connection = self._connection
        select = "SELECT parent, key FROM entity WHERE type = ? AND"
        if keys is not None and len(keys) <= _FEW:
            # The sign keeps a database from going through all children of the parents.
            where = f"{connection.among('key')} AND {connection.among('+parent')}"
            listed = (connection.listed(keys), connection.listed(parents))
            return connection.all(f"{select} {where} ORDER BY parent, place", (type, *listed))
        if len(parents) == 1:
            where, of = "parent = ?", parents[0]
        else:
            where, of = connection.among("parent"), connection.listed(parents)
        found = connection.all(f"{select} {where} ORDER BY parent, place", (type, of))
        if keys is None:
            return found
        wanted = keys if isinstance(keys, set | frozenset | dict) else frozenset(keys)
        return (record for record in found if record[1] in wanted)

    def page(
        self,
        parent: int,
        type: str,
        order: Order,
        page: Page,
        *,
        keys: Collection[int] | None = None,
    ) -> tuple[list[Row], str]:
        """One page of a collection in an order, and the cursor of the next."""
        sql, values, columns = page_statement(self._connection, parent, type, order, page, keys)
        found = self._connection.all(sql, values)
        rows = [row_of(record[:-columns]) for record in found[: page.limit]]
        more = len(found) > page.limit
        return rows, cursor_of(found[page.limit - 1][-columns:]) if more else ""

    def ordered(
        self,
        parent: int,
        type: str,
        order: Order,
        *,
        keys: Collection[int] | None = None,
    ) -> Iterator[Row]:
        """A whole collection in an order: sorted once, as keys, and read in batches."""
        sql, values = order_statement(self._connection, parent, type, order, keys)
        return self._by_keys([record[0] for record in self._connection.all(sql, values)])

    def count(
        self,
        parents: Sequence[int],
        type: str,
        *,
        keys: Collection[int] | None = None,
    ) -> dict[int, int]:
        """How many entities of a type each parent has."""
        if keys is not None:
            return dict(Counter(record[0] for record in self._family(parents, type, keys)))
        if len(parents) == 1:
            ((number,),) = self._connection.all(_COUNT, (parents[0], type))
            return {parents[0]: number}
        among = self._connection.among("parent")
        sql = f"SELECT parent, count(*) FROM entity WHERE type = ? AND {among} GROUP BY parent"
        return dict(self._connection.all(sql, (type, self._connection.listed(parents))))

    def leaves(self, filter: Filter, under: str) -> Leaves:
        """What survives a filter among the entities at or below an xid."""
        return find_leaves(self._connection, filter, under)

    def rows(self, type: str) -> Iterator[Row]:
        """All entities of a type in the whole registry, by key."""
        after = 0
        while True:
            found = self._connection.all(_OF_TYPE, (type, after, BATCH))
            yield from map(row_of, found)
            if len(found) < BATCH:
                return
            after = found[-1][0]

    def by_key(self, keys: Collection[int]) -> dict[int, Row]:
        """Entities by their keys."""
        if not keys:
            return {}
        found = self._connection.all(self._by_key, (self._connection.listed(keys),))
        return {record[0]: row_of(record) for record in found}

    def borrowers(self, xid: str) -> list[Row]:
        """The resources whose ``xref`` is this xid."""
        return [row_of(record) for record in self._connection.all(_BORROWERS, (xid,))]

    def document(self, key: int) -> bytes:
        """The bytes of a document."""
        found = self._connection.all("SELECT content FROM document WHERE key = ?", (key,))
        if not found:
            raise StoreError("the store", f"document {key} is missing")
        return bytes(found[0][0])

    def documents(self, keys: Collection[int]) -> dict[int, bytes]:
        """The bytes of many documents, by their keys."""
        among = self._connection.among("key")
        sql = f"SELECT key, content FROM document WHERE {among}"
        found = self._connection.all(sql, (self._connection.listed(keys),))
        return {key: bytes(content) for key, content in found}

    def document_sizes(self, keys: Collection[int]) -> dict[int, int]:
        """How many bytes documents have, by their keys."""
        sql = f"SELECT key, length(content) FROM document WHERE {self._connection.among('key')}"
        return dict(self._connection.all(sql, (self._connection.listed(keys),)))

    def document_pieces(self, key: int, size: int) -> Iterator[bytes]:
        """The bytes of a document in pieces of a size, read as they are asked for."""
        return self._connection.document(key, size)

    def journal(self, after: int, limit: int) -> list[Change]:
        """Changes with a greater sequence than ``after``, in order."""
        return [change_of(record) for record in self._connection.all(_JOURNAL, (after, limit))]
