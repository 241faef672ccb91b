"""Writing to a store: rows are gathered, and go to the database in bulk.

They go there before a question that only the database can answer, and at the end. What was just
saved is found without it, so that an import asks and saves a thousand times and writes once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from heraldry.store.connection import Connection
from heraldry.store.facts import Fact, facts, fold
from heraldry.store.paths import Paths
from heraldry.store.query import Filter, Leaves, Order, Page
from heraldry.store.reading import Memory, SqlReader
from heraldry.store.records import CHANGE, ENTITY, change_record, record_of, state_content
from heraldry.store.rows import Change, Row, State

COUNTERS = ("revision", "entity", "document", "change", "path", "stamp")
_UPDATE = f"UPDATE entity SET {', '.join(f'{name} = ?' for name in ENTITY[1:])} WHERE key = ?"
_FACT = ("key", "path", "kind", "text", "rest", "number")
_REPLACE_FACT = (
    f"INSERT INTO fact ({', '.join(_FACT)}) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (key, path) "
    "DO UPDATE SET kind = excluded.kind, text = excluded.text, rest = excluded.rest, "
    "number = excluded.number"
)
_SAVE_STATE = (
    "INSERT INTO state (one, content) VALUES (1, ?) "
    "ON CONFLICT (one) DO UPDATE SET content = excluded.content"
)
_GATHERED = 20_000
"""So many rows are gathered; what they become in the database takes memory besides."""
_AT_ONCE = 10_000
"""So many records are added by one call."""
_BELOW = "folded = ? OR (folded > ? AND folded < ?)"


def _go_on() -> None:
    """Nobody watches."""


@dataclass(slots=True)
class Counters:
    """The numbers given last; they are kept with every commit."""

    revision: int
    entity: int
    document: int
    change: int
    path: int
    stamp: int


class SqlWriter(SqlReader):
    """A transaction; its reads see its own writes."""

    def __init__(
        self, connection: Connection, memory: Memory, paths: Paths, counters: Sequence[int]
    ) -> None:
        super().__init__(connection, memory)
        self._paths = paths
        self._counters = Counters(*counters)
        self._changed = False
        self._state: State | None = None
        self._given: set[int] = set()
        self._saved: dict[int, Row] = {}
        self._places: dict[str, int] = {}
        self._below: defaultdict[tuple[int, str], set[int]] = defaultdict(set)
        self._borrowing: set[int] = set()
        self._documents: dict[int, bytes] = {}
        self._dropped: set[int] = set()
        self._noted: list[Change] = []
        self._proceed: Callable[[], None] = _go_on

    # What is written

    def next_key(self) -> int:
        """A key for a new entity."""
        self._counters.entity += 1
        self._given.add(self._counters.entity)
        return self._counters.entity

    def save(self, row: Row) -> None:
        """Insert an entity, or replace the one with this key."""
        self._proceed()
        before = self._saved.get(row.key)
        if before is not None:
            self._drop_document(before, row)
        self._saved[row.key] = row
        self._places[fold(row.xid)] = row.key
        self._below[row.parent, row.type].add(row.key)
        if row.xref:
            self._borrowing.add(row.key)
        if len(self._saved) >= _GATHERED:
            self.flush()

    def remove(self, row: Row) -> list[tuple[str, str]]:
        """Delete an entity with all below it; (type, xid) of everything that was deleted."""
        self._proceed()
        self.flush()
        self._changed = True
        folded = fold(row.xid)
        values = (folded, folded + "/", folded + "0")
        found = self._connection.all(
            f"SELECT type, xid, document, borrowed FROM entity WHERE {_BELOW} ORDER BY folded",
            values,
        )
        self._dropped |= {one[2] for one in found if one[2] and not one[3]}
        self._connection.run(
            f"DELETE FROM fact WHERE key IN (SELECT key FROM entity WHERE {_BELOW})", values
        )
        self._connection.run(f"DELETE FROM entity WHERE {_BELOW}", values)
        return [(one[0], one[1]) for one in found]

    def save_document(self, content: bytes) -> int:
        """Keep a document; its key."""
        self._counters.document += 1
        self._documents[self._counters.document] = content
        return self._counters.document

    def save_state(self, state: State) -> None:
        """Replace the state of the registry."""
        self._state = state

    def note(self, change: Change) -> None:
        """Add a change to the journal."""
        self._noted.append(change)

    def watch(self, proceed: Callable[[], None]) -> None:
        """Call this for every entity, and while they go to the database."""
        self._proceed = proceed

    # What only the database can answer, unless everything asked for is new

    def children(
        self,
        parents: Sequence[int],
        type: str,
        *,
        keys: Collection[int] | None = None,
    ) -> Iterator[Row]:
        """The entities of one type in these parents."""
        if self._all_new(parents):
            return iter(self._new_children(parents, type, keys))
        self.flush()
        return super().children(parents, type, keys=keys)

    def page(
        self,
        parent: int,
        type: str,
        order: Order,
        page: Page,
        *,
        keys: Collection[int] | None = None,
    ) -> tuple[list[Row], str]:
        """One page of a collection."""
        self.flush()
        return super().page(parent, type, order, page, keys=keys)

    def ordered(
        self,
        parent: int,
        type: str,
        order: Order,
        *,
        keys: Collection[int] | None = None,
    ) -> Iterator[Row]:
        """A whole collection in an order."""
        self.flush()
        return super().ordered(parent, type, order, keys=keys)

    def count(
        self,
        parents: Sequence[int],
        type: str,
        *,
        keys: Collection[int] | None = None,
    ) -> dict[int, int]:
        """How many entities of a type each parent has."""
        if self._all_new(parents):
            found = {one: self._new_children([one], type, keys) for one in parents}
            return {parent: len(rows) for parent, rows in found.items()}
        self.flush()
        return super().count(parents, type, keys=keys)

    def leaves(self, filter: Filter, under: str) -> Leaves:
        """What survives a filter."""
        self.flush()
        return super().leaves(filter, under)

    def rows(self, type: str) -> Iterator[Row]:
        """All entities of a type, by key."""
        self.flush()
        return super().rows(type)

    def borrowers(self, xid: str) -> list[Row]:
        """The resources whose ``xref`` is this xid."""
        found = [row for row in super().borrowers(xid) if row.key not in self._saved]
        saved = [self._saved[key] for key in self._borrowing]
        return found + [row for row in saved if row.xref == xid]

    def journal(self, after: int, limit: int) -> list[Change]:
        """Changes with a greater sequence than ``after``."""
        self.flush()
        return super().journal(after, limit)

    # What is known before the database is asked

    def state(self) -> State:
        """The registry itself."""
        return self._state or super().state()

    def find(self, xid: str, *, any_case: bool = False) -> Row | None:
        """The entity of an xid."""
        key = self._places.get(fold(xid))
        if key is None:
            return super().find(xid, any_case=any_case)
        row = self._saved[key]
        return row if any_case or row.xid == xid else None

    def by_key(self, keys: Collection[int]) -> dict[int, Row]:
        """Entities by their keys."""
        if not self._saved:
            return super().by_key(keys)
        found = super().by_key([key for key in keys if key not in self._saved])
        return found | {key: self._saved[key] for key in keys if key in self._saved}

    def document(self, key: int) -> bytes:
        """The bytes of a document."""
        known = self._documents.get(key)
        return super().document(key) if known is None else known

    def documents(self, keys: Collection[int]) -> dict[int, bytes]:
        """The bytes of many documents."""
        known = {key: self._documents[key] for key in keys if key in self._documents}
        return super().documents([key for key in keys if key not in known]) | known

    def _all_new(self, parents: Sequence[int]) -> bool:
        """Whether all children of these parents must be among what was saved."""
        return all(parent in self._saved and parent in self._given for parent in parents)

    def _new_children(
        self,
        parents: Iterable[int],
        type: str,
        keys: Collection[int] | None,
    ) -> list[Row]:
        found: list[Row] = []
        for parent in dict.fromkeys(parents):
            rows = [self._saved[key] for key in self._below.get((parent, type), ())]
            kept = rows if keys is None else [row for row in rows if row.key in keys]
            found += sorted(kept, key=lambda row: fold(row.id))
        return found

    # To the database

    def finish(self) -> None:
        """Write everything, and the counters."""
        self.flush()
        if self._state is not None:
            self._changed = True
            self._counters.stamp = self._counters.revision + 1
            content = state_content(self._state)
            self._connection.run(_SAVE_STATE, (content,))
        if self._changed:
            self._counters.revision += 1
            numbers = [getattr(self._counters, name) for name in COUNTERS]
            names = ", ".join(f"{name} = ?" for name in COUNTERS)
            self._connection.run(f"UPDATE counter SET {names}", numbers)

    def save_first(self, state: State) -> None:
        """Begin a new registry."""
        self.save_state(state)
        self.finish()

    def flush(self) -> None:
        """Write what was gathered."""
        if self._saved:
            self._flush_rows()
        if self._documents:
            self._changed = True
            kept = [item for item in self._documents.items() if item[0] not in self._dropped]
            self._insert("document", ("key", "content"), kept)
            self._documents.clear()
        if self._dropped:
            gone = [(key,) for key in self._dropped]
            self._connection.many("DELETE FROM document WHERE key = ?", gone)
            self._dropped.clear()
        if self._noted:
            self._changed = True
            first = self._counters.change + 1
            records = [change_record(one, first + at) for at, one in enumerate(self._noted)]
            self._insert("journal", CHANGE, records)
            self._counters.change += len(records)
            self._noted.clear()

    def _flush_rows(self) -> None:
        self._changed = True
        saved, self._saved = self._saved, {}
        self._places.clear()
        self._below.clear()
        self._borrowing.clear()
        known = super().by_key([key for key in saved if key not in self._given])
        new = [record_of(row) for key, row in saved.items() if key not in known]
        self._given -= saved.keys()
        old = [record_of(saved[key]) for key in known]
        if new:
            self._insert("entity", ENTITY, new)
        if old:
            self._connection.many(_UPDATE, [(*record[1:], record[0]) for record in old])
        self._flush_facts(saved, known)
        for key, before in known.items():
            self._drop_document(before, saved[key])

    def _flush_facts(self, saved: dict[int, Row], known: dict[int, Row]) -> None:
        fresh: list[tuple[Any, ...]] = []
        changed: list[tuple[Any, ...]] = []
        gone: list[tuple[int, int]] = []
        for key, row in saved.items():
            self._proceed()
            now = facts(row)
            before = facts(known[key]) if key in known else {}
            numbers = self._numbers(row.type, now.keys() | before.keys())
            into = changed if before else fresh
            into += [self._record(key, numbers[m], f) for m, f in now.items() if before.get(m) != f]
            gone += [(key, numbers[mark]) for mark in before.keys() - now.keys()]
        if fresh:
            self._insert("fact", _FACT, fresh)
        if changed:
            self._connection.many(_REPLACE_FACT, changed)
        if gone:
            self._connection.many("DELETE FROM fact WHERE key = ? AND path = ?", gone)

    def _insert(self, table: str, columns: Sequence[str], records: Sequence[Sequence[Any]]) -> None:
        for start in range(0, len(records), _AT_ONCE):
            self._proceed()
            self._connection.insert(table, columns, records[start : start + _AT_ONCE])

    def _record(self, key: int, path: int, fact: Fact) -> tuple[Any, ...]:
        kind, text, rest, number = fact
        exact = None if number is None else self._connection.exact(number)
        return (key, path, kind, text, rest, exact)

    def _numbers(self, type: str, marks: Iterable[str]) -> dict[str, int]:
        found, self._counters.path = self._paths.number(
            self._connection, type, marks, self._counters.path
        )
        return found

    def _drop_document(self, before: Row, now: Row) -> None:
        if before.document and before.document != now.document and not before.borrowed:
            self._dropped.add(before.document)
