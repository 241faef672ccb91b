"""A registry as its database has it: whether entities, filter index, journal and counters agree."""

from __future__ import annotations

from collections import Counter, defaultdict
from contextlib import closing
from typing import Any, cast

from heraldry.store.facts import facts
from heraldry.store.opening import open_store
from heraldry.store.reading import SqlReader
from heraldry.store.rows import Change, Kind, Row
from heraldry.store.store import Store
from tests.store.registries import FIRST

TYPES = ("dirs", "dirs/files", "dirs/files/versions")


class Inside:
    """Looks into the database of a registry; the journal is read on from look to look."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._sequence = 0
        self._entries: Counter[str] = Counter()
        """How many changes each entity has had since it was created."""

    def check(self) -> None:
        """Everything that a request writes must have been written."""
        with closing(open_store(self._address, FIRST)) as store:
            self._check(store)

    def _check(self, store: Store) -> None:
        with store.read() as tx:
            rows = {row.key: row for type_ in TYPES for row in tx.rows(type_)}
            epoch = tx.state().attributes["epoch"]
            changes = tx.journal(self._sequence, 10**6)
            ask = cast("SqlReader", tx)._connection.all
            _check_family(rows)
            _check_index(rows, ask("SELECT key, path, kind, text, rest, number FROM fact"), ask)
            ((entity, change, path),) = ask("SELECT entity, change, path FROM counter")
            assert entity >= max(rows, default=0)
            assert path == (ask("SELECT max(number) FROM path")[0][0] or 0)
        self._replay(changes)
        assert change == self._sequence
        assert epoch == 1 + self._entries["/"]
        described = {xid: count for xid, count in self._entries.items() if xid != "/"}
        assert described.keys() == {row.xid for row in rows.values()}
        for row in rows.values():
            if row.kind is not Kind.RESOURCE:  # it also tells of changes of its default version
                assert row.attributes["epoch"] == described[row.xid], row.xid

    def _replay(self, changes: list[Change]) -> None:
        for change in changes:
            self._sequence += 1
            assert change.sequence == self._sequence
            if change.action == "deleted":
                del self._entries[change.xid]
            else:
                assert (change.action == "created") == (change.xid not in self._entries) or (
                    change.xid == "/"
                )
                self._entries[change.xid] += 1


def _check_family(rows: dict[int, Row]) -> None:
    for row in rows.values():
        if row.kind is Kind.GROUP:
            assert row.parent == 0
        else:
            assert row.xid.startswith(f"{rows[row.parent].xid}/")
        if row.kind is Kind.RESOURCE:
            assert rows[row.default].parent == row.key


def _check_index(rows: dict[int, Row], records: list[tuple[Any, ...]], ask: Any) -> None:
    """The filter index holds exactly what the entities have."""
    marks = dict(ask("SELECT number, steps FROM path"))
    found: defaultdict[int, dict[str, tuple[Any, ...]]] = defaultdict(dict)
    for key, path, *fact in records:
        found[key][marks[path]] = tuple(fact)
    assert found == {key: facts(row) for key, row in rows.items()}
