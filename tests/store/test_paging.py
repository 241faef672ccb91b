"""Pages and orders of a collection."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Callable
from typing import Any

import pytest

from heraldry.errors import RegistryError
from heraldry.store.facts import HEAD
from heraldry.store.query import Order, Page
from heraldry.store.rows import Row
from heraldry.store.store import Store
from tests.store.registries import DIRS, FILES, VERSIONS, File, add_file, add_group, ids

LONG = "x" * HEAD
VALUES: dict[str, Any] = {
    "a": {"x": 10},
    "B": {"x": 9.5},
    "c": {"x": "10"},
    "D": {"x": "B"},
    "e": {"x": "a"},
    "f": {"x": True},
    "G": {"x": False},
    "h": {},
    "i": {"x": LONG + "b"},
    "j": {"x": LONG + "A"},
    "k": {"x": 9.5},
    "l": {"x": -(10**30)},
    "m": {"x": {"deep": 1}},
    "n": {"x": ""},
}
ASCENDING = ["h", "m", "G", "f", "l", "B", "k", "a", "n", "c", "e", "D", "j", "i"]


def every_page(
    store: Store, parent: int, type_: str, order: Order, limit: int, keys: Any = None
) -> list[str]:
    found: list[Row] = []
    after = None
    with store.read() as tx:
        while after != "":
            rows, after = tx.page(parent, type_, order, Page(limit=limit, after=after), keys=keys)
            assert len(rows) <= limit
            found += rows
    return ids(found)


@pytest.fixture
def group(store: Store) -> int:
    """A directory with a file per value, which its default version and its meta have."""
    with store.write() as tx:
        group = add_group(tx, "d1")
        for id_, attributes in VALUES.items():
            versions = {"0": {"x": "other"}, "1": attributes}
            add_file(tx, group, id_, File(versions=versions, meta=attributes))
        for id_, attributes in VALUES.items():
            add_group(tx, "s" + id_, attributes, "shops")
    return group.key


ORDERS: list[tuple[str, Callable[[int], tuple[int, str, Order]]]] = [
    ("group", lambda _: (0, "shops", Order(path=("x",), level="group"))),
    ("resource", lambda group: (group, FILES, Order(path=("x",), level="resource"))),
    ("meta", lambda group: (group, FILES, Order(path=("x",), level="meta"))),
]


@pytest.mark.parametrize("limit", [1, 2, 5, 14, 100, 2**64 - 1])
@pytest.mark.parametrize("asked", [pytest.param(how, id=name) for name, how in ORDERS])
@pytest.mark.parametrize("descending", [False, True], ids=["ascending", "descending"])
@pytest.mark.covers("FL-71", "PG-06", "PG-01")
def test_sorted_pages(
    store: Store, group: int, asked: Callable[[int], Any], limit: int, descending: bool
) -> None:
    parent, type_, order = asked(group)
    order = Order(path=order.path, level=order.level, descending=descending)
    found = [one.removeprefix("s") for one in every_page(store, parent, type_, order, limit)]
    assert found == (ASCENDING[::-1] if descending else ASCENDING)


@pytest.mark.covers("FL-72", "PG-06")
def test_without_a_key_pages_go_by_id_without_case(store: Store, group: int) -> None:
    by_id = sorted(VALUES, key=str.lower)
    assert every_page(store, group, FILES, Order(), 4) == by_id
    assert every_page(store, group, FILES, Order(descending=True), 4) == by_id[::-1]
    assert every_page(store, group, FILES, Order(path=("nowhere",), level="meta"), 3) == by_id
    assert every_page(store, group, FILES, Order(path=("#id",), level="resource"), 3) == by_id


def test_pages_keep_to_the_keys(store: Store, group: int) -> None:
    with store.read() as tx:
        keys = [row.key for row in tx.children([group], FILES) if row.id in "aBcD"]
    order = Order(path=("x",), level="resource", descending=True)
    assert every_page(store, group, FILES, order, 3, keys) == ["D", "c", "a", "B"]
    assert every_page(store, group, FILES, Order(), 3, []) == []


@pytest.mark.parametrize("asked", [pytest.param(how, id=name) for name, how in ORDERS])
@pytest.mark.parametrize("descending", [False, True], ids=["ascending", "descending"])
@pytest.mark.covers("FL-71")
def test_a_whole_collection_has_the_order_of_its_pages(
    store: Store, group: int, asked: Callable[[int], Any], descending: bool
) -> None:
    parent, type_, order = asked(group)
    order = Order(path=order.path, level=order.level, descending=descending)
    with store.read() as tx:
        keys = [row.key for row in tx.children([parent], type_)][::2]
        found = [ids(list(tx.ordered(parent, type_, order, keys=some))) for some in (None, keys)]
    assert found[0] == every_page(store, parent, type_, order, 3)
    assert found[1] == every_page(store, parent, type_, order, 3, keys)


def test_a_whole_collection_is_sorted_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with store.write() as tx:
        for number in range(1_200):
            add_group(tx, f"d{number:04}", {"x": -number})
    asked: list[str] = []
    with store.read() as tx:
        connection: Any = tx._connection  # type: ignore[attr-defined]
        ask = connection.all

        def counted(sql: str, values: Any = ()) -> Any:
            asked.append(sql)
            return ask(sql, values)

        monkeypatch.setattr(connection, "all", counted)
        found = ids(list(tx.ordered(0, DIRS, Order(path=("x",), level="group"))))
        monkeypatch.undo()
    assert found == [f"d{number:04}" for number in reversed(range(1_200))]
    assert sum("ORDER BY" in sql for sql in asked) == 1


def test_a_writer_sees_what_it_has_written_in_order(store: Store, group: int) -> None:
    with store.write() as tx:
        add_group(tx, "sz", {"x": 9.7}, "shops")
        order = Order(path=("x",), level="group")
        assert "sz" in ids(list(tx.ordered(0, "shops", order)))


def test_versions_by_whether_they_are_the_default(store: Store, group: int) -> None:
    with store.read() as tx:
        file = next(tx.children([group], FILES))
    order = Order(path=("#isdefault",), level="version", descending=True)
    assert every_page(store, file.key, VERSIONS, order, 1) == ["1", "0"]


def test_a_page_goes_on_where_the_last_one_ended_though_that_entity_is_gone(
    store: Store, group: int
) -> None:
    with store.read() as tx:
        rows, after = tx.page(group, FILES, Order(), Page(limit=3))
    with store.write() as tx:
        tx.remove(rows[-1])
        rows, _ = tx.page(group, FILES, Order(), Page(limit=2, after=after))
    assert ids(rows) == ["D", "e"]


def encoded(text: bytes) -> str:
    return urlsafe_b64encode(text).decode()


@pytest.mark.parametrize(
    "cursor",
    [
        pytest.param("", id="empty"),
        pytest.param("%%%", id="no-base64"),
        pytest.param("ä", id="no-ascii"),
        pytest.param(encoded(b"{}"), id="no-list"),
        pytest.param(encoded(b"[1]"), id="no-text"),
        pytest.param(encoded(b'["a\\u0000"]'), id="nul"),
        pytest.param(encoded(b'["a","b"]'), id="too-many"),
        pytest.param(encoded(b'[3,null,"","","a"]'), id="other-order"),
        pytest.param(encoded(b"[" * 5000), id="deep"),
    ],
)
@pytest.mark.parametrize("path", [(), ("x",)], ids=["by-id", "by-value"])
@pytest.mark.covers("PG-03")
def test_a_cursor_that_no_page_gave_is_refused(
    store: Store, group: int, cursor: str, path: tuple[str, ...]
) -> None:
    with store.read() as tx:
        page = Page(limit=1, after=cursor)
        with pytest.raises(RegistryError) as caught:
            tx.page(group, FILES, Order(path=path, level="resource"), page)
    assert caught.value.name == "bad_request"


def test_a_cursor_with_a_huge_number_is_a_place_like_any_other(store: Store, group: int) -> None:
    cursor = encoded(b"[2," + b"9" * 400 + b',"","","a"]')
    with store.read() as tx:
        page = Page(limit=1, after=cursor)
        tx.page(group, FILES, Order(path=("x",), level="resource"), page)


def test_groups_page_like_any_collection(store: Store, group: int) -> None:
    assert every_page(store, 0, DIRS, Order(), 1) == ["d1"]
