"""The flags inline and collections: what a reply holds inside its entities."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any, cast

import pytest

from heraldry.dialects.xreg_1_0.wire import RC2
from heraldry.registry.limits import Limits
from heraldry.registry.read import show
from heraldry.registry.registry import Registry
from heraldry.registry.request import Flags, Request, Target
from tests.registry.asking import ask, refused
from tests.registry.library import BASE, library, pruned


@pytest.fixture(scope="module")
def shelf() -> Registry:
    return library()


F1 = {"meta": {}, "versions": {"v1": {}, "v2": {}}}
F2 = {"meta": {}, "versions": {"1": {}}}
D1 = {"files": {"f1": F1, "f2": F2}, "notes": {"n1": F2}}
D2 = {"files": {"f3": F2}, "notes": {}}
D3: dict[str, Any] = {"files": {}, "notes": {}}
ALL = {"dirs": {"d1": D1, "d2": D2, "d3": D3}, "racks": {}}


@pytest.mark.covers("FL-50", "FL-51", "FL-52", "CO-03", "RS-05")
@pytest.mark.parametrize(
    ("path", "inline", "shown"),
    [
        pytest.param("/", None, {}, id="nothing"),
        pytest.param("/", (), ALL, id="no value is everything"),
        pytest.param("/", ("*",), ALL, id="star"),
        pytest.param("/", ("dirs",), {"dirs": {"d1": {}, "d2": {}, "d3": {}}}, id="one level"),
        pytest.param("/", ("racks", "*"), ALL, id="star beside a name"),
        pytest.param("/", ("racks",), {"racks": {}}, id="an empty collection is there"),
        pytest.param("/", ("dirs.*",), {"dirs": ALL["dirs"]}, id="everything below"),
        pytest.param(
            "/",
            ("dirs.files.versions",),
            {
                "dirs": {
                    "d1": {
                        "files": {
                            "f1": {"versions": {"v1": {}, "v2": {}}},
                            "f2": {"versions": {"1": {}}},
                        }
                    },
                    "d2": {"files": {"f3": {"versions": {"1": {}}}}},
                    "d3": {"files": {}},
                }
            },
            id="parents come along",
        ),
        pytest.param("/dirs", ("notes",), {"d1": {"notes": {"n1": {}}}, "d2": {"notes": {}}}
                     | {"d3": {"notes": {}}}, id="relative to the collection"),
        pytest.param("/dirs/d1", ("files.meta",), {"files": {"f1": {"meta": {}}}}
                     | {"files": {"f1": {"meta": {}}, "f2": {"meta": {}}}}, id="in a group"),
        pytest.param("/dirs/d1/files/f1$details", ("versions", "meta"), F1, id="in a resource"),
        pytest.param("/dirs/d1/files/f1/meta", (), {}, id="meta has nothing to inline"),
    ],
)  # fmt: skip
def test_inline(shelf: Registry, path: str, inline: Any, shown: Any) -> None:
    assert pruned(ask(shelf, "get", path, inline=inline)) == shown


@pytest.mark.covers("FL-53", "KD-28")
@pytest.mark.parametrize(
    ("path", "value", "name"),
    [
        ("/", "shelves", "inline_noninlineable"),
        ("/", "Dirs", "inline_noninlineable"),
        ("/", "shelves.files", "inline_noninlineable"),
        ("/", "dirs.d1", "inline_noninlineable"),
        ("/", "dirs*", "bad_inline"),
        ("/", "*.files", "bad_inline"),
        ("/", "dirs..files", "bad_inline"),
        ("/", ".*", "bad_inline"),
        ("/dirs", "dirs", "inline_noninlineable"),
        ("/dirs/d1/files/f1$details", "filebase64", "inline_noninlineable"),
        ("/", "name", "inline_noninlineable"),
        ("/", "dirs.name", "inline_noninlineable"),
        ("/", "dirs.files.meta.labels", "inline_noninlineable"),
        ("/", "dirs.files.meta.*", "inline_noninlineable"),
        ("/", "dirs.files.file.*", "inline_noninlineable"),
        ("/", "model.*", "inline_noninlineable"),
        ("/dirs/d1/notes", "note", "inline_noninlineable"),
    ],
)
def test_what_cannot_be_inlined(shelf: Registry, path: str, value: str, name: str) -> None:
    error = refused(shelf, "get", path, inline=("*", value))
    said = error.arguments.get("value") or error.arguments["name"]
    assert (error.name, error.subject) == (name, path)
    assert said == value or said.endswith(f".{value}")


@pytest.mark.covers("KD-28")
@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/dirs", "other"),
        ("/dirs/d1", "other"),
        ("/dirs/d1/files", "dirs.files.other"),
        ("/dirs/d1/files/f1$details", "dirs.files.other"),
        ("/dirs/d1/files/f1/versions", "dirs.files.versions.other"),
    ],
)
def test_what_cannot_be_inlined_is_named(shelf: Registry, path: str, name: str) -> None:
    assert refused(shelf, "get", path, inline=("other",)).arguments == {"name": name}


@pytest.mark.covers("FL-03")
def test_collections_shows_nothing_else(shelf: Registry) -> None:
    registry = ask(shelf, "get", "/", collections=True)
    assert list(registry) == ["dirsurl", "dirs", "dirscount", "racksurl", "racks", "rackscount"]
    assert pruned(registry) == ALL
    assert registry["dirs"]["d1"]["dirid"] == "d1"
    group = ask(shelf, "get", "/dirs/d1", collections=True)
    assert list(group) == ["filesurl", "files", "filescount", "notesurl", "notes", "notescount"]
    assert pruned(group) == D1


@pytest.mark.covers("FL-03")
@pytest.mark.parametrize(
    "path",
    [
        "/dirs",
        "/dirs/d1/files",
        "/dirs/d1/files/f1$details",
        "/dirs/d1/files/f1/meta",
        "/dirs/d1/files/f1/versions",
        "/dirs/d1/files/f1/versions/v1",
    ],
)
def test_collections_only_on_what_has_some(shelf: Registry, path: str) -> None:
    error = refused(shelf, "get", path, collections=True)
    assert (error.name, error.subject, error.arguments) == (
        "bad_flag",
        path,
        {"flag": "collections"},
    )


@pytest.mark.covers("FL-53")
def test_too_large() -> None:
    shelf = library()
    shelf.limits = Limits(inline=500)
    assert ask(shelf, "get", "/dirs/d3")
    error = refused(shelf, "get", "/", inline=())
    assert (error.name, error.subject) == ("too_large", "/")
    assert ask(shelf, "get", "/export")["dirs"], "an export has no such limit"


@pytest.mark.covers("CO-01", "CO-03")
def test_collection_attributes_stand_together(shelf: Registry) -> None:
    shown = ask(shelf, "get", "/dirs/d1", inline=("files",))
    names = list(shown)
    place = names.index("filesurl")
    assert names[place : place + 3] == ["filesurl", "files", "filescount"]
    shown = ask(shelf, "get", "/dirs/d1", inline=("files",), wire=RC2)
    assert list(shown)[place : place + 3] == ["filesurl", "filescount", "files"]
    assert (shown["filesurl"], shown["filescount"]) == (f"{BASE}/dirs/d1/files", 2)


@pytest.mark.covers("GN-05")
def test_no_part_of_an_entity_is_left_out() -> None:
    shelf = library()
    with shelf.store.write() as tx:
        row = tx.find("/dirs/d1/files/f1/versions/v2")
        assert row is not None
        tx.save(replace(row, document=9999))
    error = refused(shelf, "get", "/dirs/d1/files/f1$details", inline=("file",))
    assert error.name == "data_retrieval_error"
    assert refused(shelf, "get", "/dirs/d1/files/f1").name == "data_retrieval_error"


class Counted:
    """A snapshot that remembers what it was asked."""

    def __init__(self, tx: Any) -> None:
        self._tx, self.asked = tx, Counter[str]()

    def __getattr__(self, name: str) -> Any:
        def question(*values: Any, **more: Any) -> Any:
            self.asked[name] += 1
            return getattr(self._tx, name)(*values, **more)

        return question


@pytest.mark.covers("CO-03")
def test_many_parents_share_their_questions() -> None:
    """What a tree costs does not grow with the number of its collections."""
    shelf = library()
    group = {"files": {f"f{i}": {"file": {"i": i}} for i in range(30)}}
    ask(shelf, "post", "/dirs", {f"g{i}": group for i in range(20)})
    request = Request(action="get", target=Target.parse("/"), flags=Flags(inline=()))
    with shelf.store.read() as tx:
        counted = Counted(tx)
        session = replace(shelf.session(tx, request), tx=cast("Any", counted))
        text = b"".join(show(session, request.target).pieces or ())
    assert text.count(b'"versionscount":') == 604
    assert counted.asked.total() < 60
    assert counted.asked["find"] == counted.asked["document"] == 0
