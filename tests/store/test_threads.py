"""Several threads on one store."""

from __future__ import annotations

import threading
from dataclasses import replace

from heraldry.store.rows import Row
from heraldry.store.store import Store
from tests.store.registries import DIRS, FILES, File, add_group, fill, got, ids


def test_writers_wait_for_each_other(store: Store) -> None:
    def add(number: int) -> None:
        for _ in range(20):
            with store.write() as tx:
                (row,) = tx.children([0], DIRS)
                total = row.attributes["epoch"] + 1
                tx.save(replace(row, attributes={"epoch": total, f"by{number}": total}))

    with store.write() as tx:
        add_group(tx, "d1", {"epoch": 0})
    threads = [threading.Thread(target=add, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with store.read() as tx:
        assert got(tx, "/dirs/d1").attributes["epoch"] == 80


def test_readers_and_streams_may_move_between_threads(store: Store) -> None:
    names = {f"n{number:04}": File() for number in range(1500)}
    d1, *_ = fill(store, {"d1": names})
    found: list[Row] = []
    with store.read() as tx:
        stream = tx.children([d1.key], FILES)
        found += [next(stream) for _ in range(10)]
        thread = threading.Thread(target=lambda: found.extend(stream))
        thread.start()
        thread.join()
    assert ids(found) == list(names)
