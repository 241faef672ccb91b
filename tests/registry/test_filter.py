"""The flag filter: which entities a reply shows."""

from __future__ import annotations

from typing import Any

import pytest

from heraldry.dialects.xreg_1_0.wire import RC2
from heraldry.errors import RegistryError
from heraldry.registry.registry import Registry
from tests.registry.asking import ask, refused
from tests.registry.library import library, pruned


@pytest.fixture(scope="module")
def shelf() -> Registry:
    return library()


def files(shelf: Registry, *filters: str, **more: Any) -> set[str]:
    """The files that a filter leaves in the whole registry; every filter is one alternative."""
    given = tuple(tuple(one.split(",")) for one in filters)
    try:
        tree = ask(shelf, "get", "/", filter=given, inline=("dirs.files",), **more)
    except RegistryError as error:
        if error.name != "not_found":
            raise
        return set()
    return {file for group in tree["dirs"].values() for file in group["files"]}


@pytest.mark.parametrize(
    ("expression", "left"),
    [
        pytest.param("dirs.files.draft", {"f1"}, id="present"),
        pytest.param("dirs.files.draft=null", {"f2", "f3"}, id="absent"),
        pytest.param("dirs.files.draft!=null", {"f1"}, id="not absent"),
        pytest.param("dirs.files.draft<>null", {"f1"}, id="not absent, other sign"),
        pytest.param("dirs.files.name=two", {"f1", "f3"}, id="case is ignored"),
        pytest.param("dirs.files.name!=two", {"f2"}, id="unequal"),
        pytest.param("dirs.files.draft!=true", {"f2", "f3"}, id="unequal holds where absent"),
        pytest.param("dirs.files.name<>TWO", {"f2"}, id="unequal, other sign"),
        pytest.param("dirs.files.name=", set(), id="the empty text"),
        pytest.param("dirs.files.pages<20", {"f2"}, id="numbers as numbers"),
        pytest.param("dirs.files.pages<=20", {"f1", "f2"}, id="at most"),
        pytest.param("dirs.files.pages>20", {"f3"}, id="more"),
        pytest.param("dirs.files.pages>=20.0", {"f1", "f3"}, id="at least"),
        pytest.param("dirs.files.pages=7", {"f2"}, id="number"),
        pytest.param("dirs.files.draft=true", {"f1"}, id="boolean"),
        pytest.param("dirs.files.draft=TRUE", set(), id="booleans are exact"),
        pytest.param("dirs.files.draft>false", {"f1"}, id="false is below true"),
        pytest.param("dirs.files.seen=2024-05-01T10:00:00Z", {"f1"}, id="timestamp"),
        pytest.param("dirs.files.seen=2024-05-01T12:00:00+02:00", {"f1"}, id="in another zone"),
        pytest.param("dirs.files.seen<2024-05-01T12:00:01+02:00", {"f1"}, id="earlier"),
        pytest.param("dirs.files.nothing", set(), id="unknown attribute"),
        pytest.param("dirs.files.nothing!=x", {"f1", "f2", "f3"}, id="unknown is not equal"),
        pytest.param("dirs.files.nothing=null", {"f1", "f2", "f3"}, id="unknown is absent"),
        pytest.param("dirs.files.labels=x", set(), id="no value of a map"),
    ],
)
@pytest.mark.covers("FL-31", "FL-32", "FL-33", "FL-35")
def test_operators(shelf: Registry, expression: str, left: set[str]) -> None:
    assert files(shelf, expression) == left


@pytest.mark.covers("FL-34")
@pytest.mark.parametrize(
    ("expression", "left"),
    [
        ("dirs.files.name=t*", {"f1", "f2", "f3"}),
        ("dirs.files.name=*O", {"f1", "f3"}),
        ("dirs.files.name=t*e*", {"f2"}),
        ("dirs.files.name=*", {"f1", "f2", "f3"}),
        ("dirs.files.draft=*", {"f1"}),
        ("dirs.files.draft!=*", {"f2", "f3"}),
        ("dirs.files.name!=t*o", {"f2"}),
        (r"dirs.files.name=t\*", set()),
        (r"dirs.files.name>t\*", {"f1", "f2", "f3"}),
    ],
)
def test_wildcards(shelf: Registry, expression: str, left: set[str]) -> None:
    assert files(shelf, expression) == left


@pytest.mark.covers("FL-31")
@pytest.mark.parametrize(
    ("expression", "left"),
    [
        pytest.param("dirs.files.labels.stage=dev", {"f1"}, id="member of a map"),
        pytest.param("dirs.files.labels['a.b']=x", {"f1"}, id="name with a dot"),
        pytest.param('dirs.files.labels["a.b"]=x', {"f1"}, id="in the other quotes"),
        pytest.param("dirs.files.labels.*=x", {"f1"}, id="any member"),
        pytest.param("dirs.files.alpha.b=2", {"f2"}, id="inside an object"),
        pytest.param("dirs.tags[1]=blue", {"f1", "f2"}, id="item of an array"),
        pytest.param("dirs.tags[0]=blue", set(), id="another item"),
        pytest.param("dirs.tags[*]=blue", {"f1", "f2"}, id="any item"),
        pytest.param("dirs.tags.*=blue", set(), id="items are no members"),
        pytest.param("dirs.files.labels[*]=x", set(), id="members are no items"),
        pytest.param("dirs.files.meta.shelf=TOP", {"f1"}, id="meta"),
        pytest.param("dirs.files.meta.defaultversionid=v2", {"f1"}, id="default version's id"),
        pytest.param("dirs.files.meta.readonly=false", {"f1", "f2", "f3"}, id="defaults"),
        pytest.param("dirs.files.fileid=f2", {"f2"}, id="id"),
        pytest.param("dirs.files.versionid=v2", {"f1"}, id="the default version's own id"),
        pytest.param("dirs.files.versions.versionid=v1", {"f1"}, id="of any version"),
        pytest.param("dirs.files.versions.fileid=f1", {"f1"}, id="resource's id in a version"),
        pytest.param("dirs.files.meta.fileid=f1", {"f1"}, id="resource's id in meta"),
        pytest.param("dirs.files.xid=/dirs/d1/files/f1", {"f1"}, id="xid"),
        pytest.param("dirs.files.meta.xid=/dirs/d1/files/f1/meta", {"f1"}, id="xid of meta"),
        pytest.param(
            "dirs.files.self=http://reg.example/dirs/d1/files/f1$details", {"f1"}, id="self"
        ),
        pytest.param("dirs.files.isdefault=true", {"f1", "f2", "f3"}, id="always the default"),
        pytest.param("dirs.files.versions.isdefault=false", {"f1"}, id="not the default"),
        pytest.param("dirs.files.versionscount", {"f1", "f2", "f3"}, id="count is there"),
        pytest.param("dirs.files.versionscount=null", set(), id="and never absent"),
        pytest.param("dirs.dirid=d2", {"f3"}, id="of the group"),
        pytest.param("dirs.size>5", {"f3"}, id="attribute of the group"),
        pytest.param("registryid=reg", {"f1", "f2", "f3"}, id="of the registry"),
        pytest.param("owner.team=BLUE", {"f1", "f2", "f3"}, id="inside the registry"),
        pytest.param("labels.stage=prod", set(), id="the registry fails"),
        pytest.param("dirs.files.ancestorid=v1", {"f1"}, id="ancestor"),
    ],
)
def test_paths(shelf: Registry, expression: str, left: set[str]) -> None:
    assert files(shelf, expression) == left


@pytest.mark.covers("FL-31", "VE-05")
def test_names_of_the_generation(shelf: Registry) -> None:
    assert files(shelf, "dirs.files.ancestor=v1", wire=RC2) == {"f1"}
    assert files(shelf, "dirs.files.ancestorid=v1", wire=RC2) == {"f1"}


@pytest.mark.covers("FL-30", "FL-36")
@pytest.mark.parametrize(
    ("filters", "left"),
    [
        pytest.param(["dirs.files.name=two,dirs.files.pages>50"], {"f3"}, id="and"),
        pytest.param(["dirs.files.name=three", "dirs.files.pages>50"], {"f2", "f3"}, id="or"),
        pytest.param(["dirs.dirid=d1,dirs.files.name=two"], {"f1"}, id="and over levels"),
        pytest.param(["dirs.dirid=d1", "dirs.files.name=two"], {"f1", "f2", "f3"}, id="or, levels"),
        pytest.param(["dirs.files.name=two,dirs.notes.noteid=n1"], set(), id="disjoint leaves"),
        pytest.param(["registryid=reg,dirs.files.name=three"], {"f2"}, id="registry and below"),
        pytest.param(["registryid=x", "dirs.files.name=three"], {"f2"}, id="or below"),
        pytest.param([" dirs.files.name=three ,"], {"f2"}, id="spaces and empty ones"),
    ],
)  # fmt: skip
def test_and_or(shelf: Registry, filters: list[str], left: set[str]) -> None:
    assert files(shelf, *filters) == left


@pytest.mark.covers("FL-36")
@pytest.mark.parametrize(
    ("expression", "shown"),
    [
        (
            "dirs.files.versions.versionid=v1",
            {"dirs": {"d1": {"files": {"f1": {"meta": {}, "versions": {"v1": {}}}}, "notes": {}}}}
            | {"racks": {}},
        ),
        (
            "dirs.files.versions.pages>5,dirs.dirid=d1",
            {
                "dirs": {
                    "d1": {
                        "files": {
                            "f1": {"meta": {}, "versions": {"v2": {}}},
                            "f2": {"meta": {}, "versions": {"1": {}}},
                        },
                        "notes": {},
                    }
                },
                "racks": {},
            },
        ),
        ("dirs.dirid=d3", {"dirs": {"d3": {"files": {}, "notes": {}}}, "racks": {}}),
    ],
    ids=["one version", "children of matches only", "a leaf without children"],
)
def test_tree(shelf: Registry, expression: str, shown: Any) -> None:
    given = (tuple(expression.split(",")),)
    assert pruned(ask(shelf, "get", "/", filter=given, inline=())) == shown


@pytest.mark.covers("FL-37")
@pytest.mark.parametrize(
    ("path", "expression", "found"),
    [
        ("/", "name=LIBRARY", True),
        ("/", "name=x", False),
        ("/", "dirs.dirid=x", False),
        ("/dirs/d1", "dirid=d1", True),
        ("/dirs/d1", "dirid=d2", False),
        ("/dirs/d1", "files.fileid=f1", True),
        ("/dirs/d1", "files.fileid=f3", False),
        ("/dirs/d1/files/f1$details", "name=two", True),
        ("/dirs/d1/files/f1$details", "name=one", False),
        ("/dirs/d1/files/f1$details", "versions.name=one", True),
        ("/dirs/d1/files/f1$details", "versions.name=x", False),
        ("/dirs/d1/files/f1$details", "meta.shelf=top", True),
        ("/dirs/d1/files/f1", "name=two", True),
        ("/dirs/d1/files/f1", "name=one", False),
        ("/dirs/d1/files/f1/meta", "shelf=top", True),
        ("/dirs/d1/files/f1/meta", "shelf=low", False),
        ("/dirs/d1/files/f1/versions/v1$details", "versionid=v1", True),
        ("/dirs/d1/files/f1/versions/v1$details", "isdefault=true", False),
        ("/dirs/d1/files/f1/versions/v1$details", "fileid=f1", True),
        ("/dirs/d1/files/f1/versions/v1$details", "versionid=v2", False),
    ],
)
def test_entity_must_survive(shelf: Registry, path: str, expression: str, found: bool) -> None:
    if found:
        assert ask(shelf, "get", path, filter=((expression,),))
    else:
        error = refused(shelf, "get", path, filter=((expression,),))
        assert (error.name, error.subject) == ("not_found", path)


@pytest.mark.covers("FL-31", "FL-37")
@pytest.mark.parametrize(
    ("path", "expression", "ids"),
    [
        ("/dirs", "size>5", ["d2"]),
        ("/dirs", "files.name=two", ["d1", "d2"]),
        ("/dirs", "name=x", []),
        ("/dirs/d1/files", "name=two", ["f1"]),
        ("/dirs/d1/files", "versions.name=one", ["f1"]),
        ("/dirs/d2/files", "name=three", []),
        ("/dirs/d1/files/f1/versions", "pages<10", ["v1"]),
        ("/dirs/d1/files/f1/versions", "fileid=f1", ["v1", "v2"]),
        ("/dirs/d1/files/f1/versions", "name=x", []),
    ],
)
def test_collections(shelf: Registry, path: str, expression: str, ids: list[str]) -> None:
    assert list(ask(shelf, "get", path, filter=((expression,),))) == ids


@pytest.mark.covers("FL-31", "FL-32", "FL-34")
@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("dirs..dirid=d1", "dirs..dirid"),
        ("dirs.files.labels['x=1", "dirs.files.labels['x=1"),
        ("dirs.na*me=x", "dirs.na*me"),
        ("=x", ""),
        ("dirs.size<null", "dirs.size<null"),
        ("dirs.size>=2*", "dirs.size>=2*"),
        ("dirs.size!2", "dirs.size!2"),
        pytest.param("['a']" * 5000 + "[", "['a']" * 5000 + "[", id="in linear time"),
    ],
)
def test_bad_expression(shelf: Registry, expression: str, value: str) -> None:
    error = refused(shelf, "get", "/", filter=((expression,),))
    assert (error.name, error.subject, error.arguments["value"]) == ("bad_filter", "/", value)
    assert error.arguments["error_detail"]


class TestExcludeall:
    @pytest.mark.covers("FL-38")
    def test_nothing_of_a_collection(self, shelf: Registry) -> None:
        assert ask(shelf, "get", "/dirs", filter=(("excludeall",),)) == {}
        assert ask(shelf, "get", "/dirs/d1/files", filter=(("excludeall",),)) == {}

    @pytest.mark.covers("FL-38")
    @pytest.mark.parametrize("path", ["/", "/dirs/d1", "/dirs/d1/files/f1$details"])
    def test_no_entity(self, shelf: Registry, path: str) -> None:
        assert refused(shelf, "get", path, filter=(("excludeall",),)).name == "not_found"

    @pytest.mark.covers("FL-38")
    @pytest.mark.parametrize(
        "filters",
        [(("excludeall", "epoch"),), (("epoch", "excludeall"),), (("epoch",), ("excludeall",))],
    )
    def test_stands_alone(self, shelf: Registry, filters: Any) -> None:
        assert refused(shelf, "get", "/dirs", filter=filters).name == "bad_filter"


@pytest.mark.covers("HT-06")
def test_is_passed_over_where_it_is_not_supported() -> None:
    shelf = library()
    ask(shelf, "patch", "/capabilities", {"flags": ["inline"]})
    assert list(ask(shelf, "get", "/dirs", filter=(("size>5",),))) == ["d1", "d2", "d3"]
