"""The flag sort: the order of a collection."""

from __future__ import annotations

from typing import Any

import pytest

from heraldry.dialects.xreg_1_0.wire import RC2
from heraldry.registry.registry import Registry
from tests.registry.asking import ask, refused, registry
from tests.registry.library import MODEL, library

DIRS: dict[str, Any] = {
    "a": {"name": "x", "size": 10, "tags": ["z"]},
    "b": {"name": "X", "size": 9, "tags": ["y"], "labels": {"stage": "prod"}},
    "C": {"size": 100, "labels": {"stage": "dev"}},
    "d": {"name": "w"},
}
FILES: dict[str, Any] = {
    "f1": {"name": "old", "draft": True},
    "f2": {
        "meta": {"shelf": "a", "defaultversionid": "v9", "defaultversionsticky": True},
        "versions": {"v9": {"name": "zz"}, "v8": {"name": "aa"}},
    },
    "f3": {"draft": False, "meta": {"shelf": "b"}},
}


@pytest.fixture(scope="module")
def shelf() -> Registry:
    made = registry(MODEL)
    ask(made, "put", "/", {"dirs": DIRS | {"a": DIRS["a"] | {"files": FILES}}})
    return made


@pytest.mark.covers("FL-70", "FL-71", "FL-72", "FL-33")
@pytest.mark.parametrize(
    ("path", "sort", "ids"),
    [
        pytest.param("/dirs", None, "a b C d", id="by id, ignoring case"),
        pytest.param("/dirs", "dirid", "a b C d", id="by id"),
        pytest.param("/dirs", "dirid=desc", "d C b a", id="by id, descending"),
        pytest.param("/dirs", "xid=desc", "d C b a", id="by xid"),
        pytest.param("/dirs", "name", "C d a b", id="absent lowest, ties by id"),
        pytest.param("/dirs", "name=asc", "C d a b", id="ascending said"),
        pytest.param("/dirs", "name=desc", "b a d C", id="ties in the same direction"),
        pytest.param("/dirs", "size", "d b a C", id="numbers"),
        pytest.param("/dirs", "labels.stage=desc", "b C d a", id="inside a map"),
        pytest.param("/dirs", "tags[0]", "C d b a", id="item of an array"),
        pytest.param("/dirs", "unknown", "a b C d", id="unknown"),
        pytest.param("/dirs/a/files", "name", "f3 f1 f2", id="default version's attribute"),
        pytest.param("/dirs/a/files", "draft", "f2 f3 f1", id="booleans"),
        pytest.param("/dirs/a/files", "meta.shelf=desc", "f3 f2 f1", id="of meta"),
        pytest.param("/dirs/a/files", "fileid=desc", "f3 f2 f1", id="resource's id"),
        pytest.param("/dirs/a/files", "versionid=desc", "f2 f3 f1", id="default version's id"),
        pytest.param("/dirs/a/files/f2/versions", "name", "v8 v9", id="versions"),
        pytest.param("/dirs/a/files/f2/versions", "isdefault=desc", "v9 v8", id="isdefault"),
        pytest.param("/dirs/a/files/f2/versions", "versionid=desc", "v9 v8", id="version's id"),
    ],
)
def test_order(shelf: Registry, path: str, sort: str | None, ids: str) -> None:
    assert list(ask(shelf, "get", path, sort=sort)) == ids.split()


@pytest.mark.covers("FL-70")
def test_names_of_the_generation(shelf: Registry) -> None:
    made = library()
    path = "/dirs/d1/files/f1/versions"
    assert list(ask(made, "get", path, sort="ancestor=desc", wire=RC2)) == ["v2", "v1"]


@pytest.mark.covers("FL-70")
@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/dirs/a",
        "/dirs/a/files/f1$details",
        "/dirs/a/files/f1/meta",
        "/export",
        "/dirs/a/files/f2/versions/v8$details",
    ],
)
def test_only_collections(shelf: Registry, path: str) -> None:
    error = refused(shelf, "get", path, sort="epoch")
    assert (error.name, error.subject) == ("sort_noncollection", path)


@pytest.mark.covers("FL-70")
@pytest.mark.parametrize(
    ("path", "sort"),
    [
        ("/dirs", ""),
        ("/dirs", "=desc"),
        ("/dirs", "name=up"),
        ("/dirs", "name="),
        ("/dirs", "na me"),
        ("/dirs", "labels"),
        ("/dirs", "tags"),
        ("/dirs", "tags[*]"),
        ("/dirs", "files"),
        ("/dirs", "files.name"),
        ("/dirs", "filescount"),
        ("/dirs/a/files", "versions.name"),
        ("/dirs/a/files", "meta"),
    ],
)
def test_bad_key(shelf: Registry, path: str, sort: str) -> None:
    error = refused(shelf, "get", path, sort=sort)
    assert (error.name, error.subject, error.arguments["value"]) == ("bad_sort", path, sort)


@pytest.mark.covers("FL-71")
def test_with_a_filter(shelf: Registry) -> None:
    found = ask(shelf, "get", "/dirs", sort="size=desc", filter=(("size>9",),))
    assert list(found) == ["C", "a"]


@pytest.mark.covers("FL-72")
def test_inlined_collections_are_by_id(shelf: Registry) -> None:
    found = ask(shelf, "get", "/dirs", sort="name=desc", inline=("files",))
    assert list(found["a"]["files"]) == ["f1", "f2", "f3"]
