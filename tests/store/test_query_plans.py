"""How the databases find what is asked for: by indexes, however large the registry is."""

from __future__ import annotations

from typing import Any

import pytest

from heraldry.store.connection import Connection, Values
from heraldry.store.query import ANY, Filter, Order, Page
from heraldry.store.reading import Memory, SqlReader
from heraldry.store.store import Store
from tests.store.registries import DIRS, FILES, VERSIONS, File, fill
from tests.store.test_filters import term

EQUAL = (
    term("version", ("labels", "stage"), "equal", "dev"),
    term("version", "size", "equal", "7"),
    term("resource", "name", "equal", "file 3"),
)
FILTERS: dict[str, Filter] = {
    "three-equal": (EQUAL,),
    "any-member": ((term("version", ("labels", ANY), "equal", "dev"),),),
    "over-levels": ((term("group", "#id", "equal", "d1"), term("meta", "readonly", "present")),),
    "start-of-a-text": ((term("resource", "name", "equal", "file 1*"),),),
    "less": ((term("version", "size", "less", "3"),),),
    "one-positive": ((EQUAL[0], term("version", "size", "unequal", "7")),),
}


class Spy:
    """A connection that asks for the plan of every statement."""

    def __init__(self, inner: Any) -> None:
        self._inner, self.plans = inner, list[str]()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def all(self, sql: str, values: Values = ()) -> list[tuple[Any, ...]]:
        how = "EXPLAIN QUERY PLAN " if "Sqlite" in type(self._inner).__name__ else "EXPLAIN "
        self.plans += [str(record[-1]) for record in self._inner.all(how + sql, values)]
        return list(self._inner.all(sql, values))

    def whole_tables(self) -> list[str]:
        found = ("SCAN e", "SCAN f", "SCAN r", "SCAN v", "Seq Scan on entity", "Seq Scan on fact")
        return [line for line in self.plans if any(one in line for one in found)]


@pytest.fixture
def spy(store: Store) -> Any:
    files = {
        f"f{n}": File(
            versions={
                f"v{m}": {"name": f"File {n}", "labels": {"stage": "dev"}, "size": m}
                for m in range(3)
            },
            meta={"readonly": False},
        )
        for n in range(20)
    }
    fill(store, {"d1": files, "d2": files})
    with store.read() as tx:
        assert isinstance(tx, SqlReader)
        connection: Connection = tx._connection
        yield Spy(connection)


@pytest.mark.parametrize("under", ["/", "/dirs", "/dirs/d1", "/dirs/d1/files/f1"])
@pytest.mark.parametrize("asked", [pytest.param(one, id=name) for name, one in FILTERS.items()])
def test_no_filter_goes_through_all_entities(spy: Spy, asked: Filter, under: str) -> None:
    SqlReader(spy, Memory()).leaves(asked, under)
    assert spy.plans
    assert spy.whole_tables() == []


def test_no_other_question_does(spy: Spy) -> None:
    reader = SqlReader(spy, Memory())
    group = reader.find("/dirs/d1")
    assert group is not None
    files = list(reader.children([group.key], FILES))
    list(reader.children([file.key for file in files], VERSIONS))
    list(reader.children([group.key], FILES, keys=[files[0].key]))
    reader.count([file.key for file in files], VERSIONS)
    reader.page(group.key, FILES, Order(path=("name",), level="resource"), Page(limit=3))
    reader.by_key([group.key])
    reader.borrowers("/dirs/d1/files/f1")
    next(reader.rows(DIRS))
    reader.journal(0, 10)
    assert spy.whole_tables() == []
