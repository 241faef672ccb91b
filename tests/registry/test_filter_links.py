"""Under a filter: counts and addresses of collections stand for what is left of them."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

import pytest

from heraldry.registry.registry import Registry
from tests.registry.asking import ask
from tests.registry.library import BASE, library


@pytest.fixture(scope="module")
def shelf() -> Registry:
    return library()


def links(value: Any, *names: str) -> tuple[str, int]:
    """What a collection's address asks for, and its count, in an entity deep in a reply."""
    *path, last = names
    for name in path:
        value = value[name]
    return value[f"{last}url"].partition("?")[2], value[f"{last}count"]


@pytest.mark.covers("CO-05", "KD-25", "FL-38")
@pytest.mark.parametrize(
    ("filters", "where", "query", "count"),
    [
        pytest.param([], ["dirs"], "", 3, id="no filter"),
        pytest.param(["dirs.files.name=two"], ["dirs"], "filter=files.name=two", 2, id="below"),
        pytest.param(
            ["dirs.files.name=two"], ["dirs", "d1", "files"], "filter=name=two", 1, id="own"
        ),
        pytest.param(
            ["dirs.files.name=two"], ["dirs", "d1", "notes"], "filter=excludeall", 0, id="emptied"
        ),
        pytest.param(["dirs.files.name=two"], ["racks"], "filter=excludeall", 0, id="was empty"),
        pytest.param(
            ["dirs.files.name=two"],
            ["dirs", "d1", "files", "f1", "versions"],
            "",
            2,
            id="settled above",
        ),
        pytest.param(["labels.stage=dev"], ["dirs"], "", 3, id="settled by the registry"),
        pytest.param(
            ["labels.stage=dev,dirs.files.name=two"],
            ["dirs"],
            "filter=files.name=two",
            2,
            id="and with the registry",
        ),
        pytest.param(
            ["labels.stage=x", "dirs.files.name=two"],
            ["dirs"],
            "filter=files.name=two",
            2,
            id="or with the registry",
        ),
        pytest.param(
            ["dirs.dirid=d1,dirs.files.name=two"],
            ["dirs"],
            "filter=dirid=d1,files.name=two",
            1,
            id="and",
        ),
        pytest.param(
            ["dirs.dirid=d1,dirs.files.name=two"],
            ["dirs", "d1", "files"],
            "filter=name=two",
            1,
            id="and, settled by the group",
        ),
        pytest.param(
            ["dirs.dirid=d1", "dirs.files.name=two"],
            ["dirs"],
            "filter=dirid=d1&filter=files.name=two",
            2,
            id="or",
        ),
        pytest.param(
            ["dirs.dirid=d1", "dirs.files.name=two"],
            ["dirs", "d1", "files"],
            "",
            2,
            id="or, the group satisfies one",
        ),
        pytest.param(
            ["dirs.dirid=d1", "dirs.files.name=two"],
            ["dirs", "d2", "files"],
            "filter=name=two",
            1,
            id="or, the group fails one",
        ),
        pytest.param(
            ["dirs.files.versions.pages<5"],
            ["dirs", "d1", "files", "f1", "versions"],
            "filter=pages%3C5",
            1,
            id="of versions",
        ),
        pytest.param(
            ["dirs.files.meta.shelf=top"],
            ["dirs"],
            "filter=files.meta.shelf=top",
            1,
            id="meta",
        ),
        pytest.param(
            ["dirs.files.labels['a.b']=x"],
            ["dirs"],
            "filter=files.labels%5B'a.b'%5D=x",
            1,
            id="quoted name",
        ),
        pytest.param(
            ["dirs.files.name!=a b&c"],
            ["dirs", "d2", "files"],
            "filter=name!=a%20b%26c",
            1,
            id="reserved characters",
        ),
    ],
)
def test_link(
    shelf: Registry, filters: list[str], where: list[str], query: str, count: int
) -> None:
    given = tuple(tuple(one.split(",")) for one in filters)
    reply = ask(shelf, "get", "/", filter=given, inline=())
    assert links(reply, *where) == (query, count)


@pytest.mark.covers("CO-05", "FL-36")
@pytest.mark.parametrize(
    "filters",
    [
        ("dirs.files.name=two",),
        ("dirs.dirid=d1", "dirs.files.name=two"),
        ("dirs.dirid=d1,dirs.files.pages>5",),
        ("dirs.files.versions.pages<5", "dirs.notes.noteid=n1"),
        ("dirs.files.meta.shelf=top",),
    ],
)
def test_following_a_link_shows_the_same(shelf: Registry, filters: tuple[str, ...]) -> None:
    given = tuple(tuple(one.split(",")) for one in filters)
    reply = ask(shelf, "get", "/", filter=given, inline=())
    _follow(shelf, reply)


def _follow(shelf: Registry, entity: dict[str, Any]) -> None:
    for name, entries in entity.items():
        if not isinstance(entries, dict) or f"{name}url" not in entity or name == "meta":
            continue
        path, _, query = entity[f"{name}url"].removeprefix(BASE).partition("?")
        texts = [part.removeprefix("filter=") for part in query.split("&") if part]
        given = tuple(tuple(unquote(one) for one in text.split(",")) for text in texts)
        assert ask(shelf, "get", path, filter=given, inline=()) == entries
        for one in entries.values():
            _follow(shelf, one)


@pytest.mark.covers("CO-05", "FL-21")
def test_pointers_have_no_filter(shelf: Registry) -> None:
    given = (("dirs.files.name=two",),)
    reply = ask(shelf, "get", "/", filter=given, inline=("dirs",), doc=True)
    assert reply["dirsurl"] == "#/dirs"
    assert reply["dirs"]["d1"]["filesurl"] == f"{BASE}/dirs/d1/files?filter=name=two"
    assert reply["dirs"]["d1"]["notesurl"] == f"{BASE}/dirs/d1/notes?filter=excludeall"
