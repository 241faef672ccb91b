"""Collections in pages."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from heraldry.registry.limits import Limits
from heraldry.registry.registry import Registry
from tests.registry.asking import ask, refused, registry
from tests.registry.library import MODEL, reply


@pytest.fixture(scope="module")
def shelf() -> Registry:
    made = registry(MODEL)
    groups = {f"d{i:02}": {"name": f"n{i % 3}", "size": i} for i in range(25)}
    ask(made, "put", "/", {"dirs": groups})
    files = {f"f{i}": {"name": f"x{-i}"} for i in range(7)}
    ask(made, "put", "/dirs/d00", {"files": files})
    return made


def pages(shelf: Registry, path: str, limit: int, **flags: Any) -> list[list[str]]:
    """The ids of every page, by following the cursors."""
    found: list[list[str]] = []
    after = ""
    while True:
        answer = reply(shelf, path, limit=limit, after=after, **flags)
        found.append(list(msgspec.json.decode(b"".join(answer.pieces or ()))))
        after = answer.next
        if not after:
            return found
        assert len(found) < 100


@pytest.mark.covers("PG-01", "PG-02", "PG-06", "FL-72")
@pytest.mark.parametrize("limit", [1, 10, 24, 25, 26, 1000])
def test_pages_hold_everything_once(shelf: Registry, limit: int) -> None:
    found = pages(shelf, "/dirs", limit)
    assert all(len(page) <= limit for page in found)
    assert [one for page in found for one in page] == [f"d{i:02}" for i in range(25)]
    assert len(found) == -(-25 // limit)


@pytest.mark.covers("PG-06", "FL-71")
@pytest.mark.parametrize("sort", ["name", "name=desc", "size=desc", "unknown=desc", "dirid=desc"])
def test_pages_in_an_order(shelf: Registry, sort: str) -> None:
    found = pages(shelf, "/dirs", 4, sort=sort)
    assert [one for page in found for one in page] == list(ask(shelf, "get", "/dirs", sort=sort))


@pytest.mark.covers("PG-01")
def test_pages_of_a_filter(shelf: Registry) -> None:
    given = (("name=n1",),)
    found = pages(shelf, "/dirs", 3, filter=given)
    assert [one for page in found for one in page] == list(ask(shelf, "get", "/dirs", filter=given))
    assert reply(shelf, "/dirs", limit=3, filter=given).total == 8


@pytest.mark.covers("PG-04")
def test_total_is_the_same_on_all_pages(shelf: Registry) -> None:
    first = reply(shelf, "/dirs", limit=10)
    last = reply(
        shelf, "/dirs", limit=10, after=reply(shelf, "/dirs", limit=10, after=first.next).next
    )
    assert (first.total, last.total, last.next) == (25, 25, "")


@pytest.mark.covers("PG-05")
def test_not_asked_for(shelf: Registry) -> None:
    answer = reply(shelf, "/dirs")
    assert (answer.next, answer.total) == ("", None)


@pytest.mark.covers("PG-05")
def test_unasked_pages_where_the_registry_has_a_limit() -> None:
    made = registry(MODEL)
    ask(made, "put", "/", {"dirs": {f"d{i}": {} for i in range(5)}})
    made.limits = Limits(page=2)
    answer = reply(made, "/dirs")
    assert answer.next
    assert answer.total == 5
    assert len(pages(made, "/dirs", 100)) == 3


@pytest.mark.covers("PG-05", "CP-08")
def test_passed_over_where_it_is_not_supported() -> None:
    made = registry(MODEL)
    ask(made, "put", "/", {"dirs": {"d1": {}, "d2": {}}})
    ask(made, "patch", "/capabilities", {"pagination": False})
    answer = reply(made, "/dirs", limit=1)
    assert (answer.next, answer.total) == ("", None)


@pytest.mark.covers("PG-05")
def test_entities_have_no_pages(shelf: Registry) -> None:
    assert reply(shelf, "/dirs/d00", limit=1).next == ""


@pytest.mark.covers("PG-01")
@pytest.mark.parametrize("limit", [0, -1])
def test_bad_limit(shelf: Registry, limit: int) -> None:
    assert refused(shelf, "get", "/dirs", limit=limit).name == "bad_request"


@pytest.mark.covers("PG-03")
@pytest.mark.parametrize("after", ["x", "äöü", "bnVsbA", "WzFd"])
def test_bad_cursor(shelf: Registry, after: str) -> None:
    assert refused(shelf, "get", "/dirs", limit=1, after=after).name == "bad_request"
