"""Filters: by example, and any filter over any registry as a plain evaluation has it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from heraldry.errors import RegistryError
from heraldry.store.facts import HEAD
from heraldry.store.opening import open_store
from heraldry.store.query import ANY, EACH, Filter, Leaves, Level, Step, Term, Test
from heraldry.store.rows import Row
from heraldry.store.store import Store
from tests.store.brute_force import surviving
from tests.store.registries import DIRS, FILES, FIRST, VERSIONS, File, add_file, add_group
from tests.stores import KINDS

TYPES: dict[Level, str] = {
    "group": DIRS,
    "resource": FILES,
    "meta": FILES,
    "version": VERSIONS,
}
LONG = "x" * HEAD


def term(level: Level, path: str | tuple[Step, ...], test: Test, value: str = "") -> Term:
    steps = (path,) if isinstance(path, str) else path
    return Term(level=level, type=TYPES[level], path=steps, test=test, value=value)


@pytest.fixture(scope="module", params=KINDS)
def store(request: pytest.FixtureRequest, tmp_path_factory: Any) -> Iterator[Store]:
    """One store for all examples: they are many."""
    match request.param:
        case "file":
            address = f"sqlite:{tmp_path_factory.mktemp('store') / 'registry.db'}"
        case "memory":
            address = "sqlite::memory:"
        case _:
            address = request.getfixturevalue("postgres").emptied()
    with closing(open_store(address, FIRST)) as found:
        yield found


Tree = dict[str, tuple[dict[str, Any], dict[str, File]]]


def replace_all(store: Store, tree: Tree) -> list[Row]:
    """Put a tree in the place of whatever is there; all rows."""
    with store.write() as tx:
        for row in list(tx.rows(DIRS)) + list(tx.rows("shops")):
            tx.remove(row)
        for name, (attributes, files) in tree.items():
            group = add_group(tx, name, attributes)
            for id_, file in files.items():
                add_file(tx, group, id_, file)
        add_group(tx, "empty", {"name": "a shop"}, "shops")
    with store.read() as tx:
        return [row for type_ in (DIRS, FILES, VERSIONS, "shops") for row in tx.rows(type_)]


def names(rows: list[Row], leaves: Leaves) -> list[str]:
    kept = leaves.groups | leaves.resources | leaves.versions
    return sorted(row.xid.removeprefix("/dirs/") for row in rows if row.key in kept)


EXAMPLE: Tree = {
    "d1": (
        {"name": "First", "epoch": 10, "labels": {"stage": "Prod"}},
        {
            "f1": File(
                versions={
                    "v1": {"name": "old", "size": 9, "labels": {"a": "x"}},
                    "v2": {"name": "New*", "size": 10.5, "ok": True, "list": ["p", "q"]},
                },
                meta={"readonly": False},
            ),
            "f2": File(versions={"v1": {"name": LONG + "Tail", "ok": False, "size": -1}}),
        },
    ),
    "d2": ({"name": ""}, {"dangling": File(xref="/dirs/dx/files/fx")}),
    "d3": ({"epoch": 2, "labels": {}}, {}),
}
F1 = ["d1", "d1/files/f1"]
V1, V2 = "d1/files/f1/versions/v1", "d1/files/f1/versions/v2"
F2 = ["d1", "d1/files/f2", "d1/files/f2/versions/v1"]
D1 = [*F1, V1, V2, *F2[1:]]


@pytest.mark.parametrize(
    ("terms", "expected"),
    [
        pytest.param(
            [term("version", "name", "equal", "OLD")],
            [*F1, V1],
            id="ignores-case",
            marks=pytest.mark.covers("FL-33"),
        ),
        pytest.param(
            [term("resource", "name", "equal", r"new\*")],
            [*F1, V1, V2],
            id="a-resource-is-its-default-version-and-keeps-all-below",
            marks=pytest.mark.covers("FL-34", "FL-36"),
        ),
        pytest.param(
            [term("resource", "name", "equal", "old")],
            [],
            id="a-resource-is-not-its-other-versions",
            marks=pytest.mark.covers("RS-06"),
        ),
        pytest.param(
            [term("meta", "readonly", "equal", "false")], [*F1, V1, V2], id="meta-boolean"
        ),
        pytest.param([term("meta", "readonly", "equal", "FALSE")], [], id="booleans-are-exact"),
        pytest.param(
            [term("version", "size", "less", "10")],
            sorted([*F1, V1, *F2[1:]]),
            id="numbers-are-no-texts",
            marks=pytest.mark.covers("FL-33"),
        ),
        pytest.param([term("version", "size", "equal", "10.50")], [*F1, V2], id="numeric-equal"),
        pytest.param([term("version", "size", "equal", "1*")], [], id="no-wildcard-in-numbers"),
        pytest.param(
            [term("version", "name", "equal", "*" + "x" * 30 + "tail")], F2, id="wildcard-at-start"
        ),
        pytest.param([term("version", "name", "equal", LONG + "TAIL")], F2, id="long-text"),
        pytest.param([term("version", "name", "equal", LONG)], [], id="only-the-head-of-it"),
        pytest.param([term("version", "name", "more", LONG + "tai")], F2, id="long-more"),
        pytest.param([term("version", "name", "more", LONG + "tail")], [], id="long-not-more"),
        pytest.param(
            [term("group", "name", "equal", "")],
            ["d2", "d2/files/dangling"],
            id="empty-text",
            marks=pytest.mark.covers("FL-32"),
        ),
        pytest.param(
            [term("group", "name", "equal", "*")],
            [*D1, "d2", "d2/files/dangling"],
            id="a-star-is-presence",
            marks=pytest.mark.covers("FL-34"),
        ),
        pytest.param(
            [term("group", "name", "absent")],
            ["d3"],
            id="an-empty-group-is-a-leaf",
            marks=pytest.mark.covers("FL-32", "FL-36"),
        ),
        pytest.param(
            [term("resource", "nowhere", "unequal", "x")],
            [*D1, "d2", "d2/files/dangling"],
            id="unequal-holds-for-the-absent",
            marks=pytest.mark.covers("FL-32", "FL-35"),
        ),
        pytest.param(
            [term("version", "nowhere", "equal", "x")],
            [],
            id="unknown-attribute",
            marks=pytest.mark.covers("FL-35"),
        ),
        pytest.param([term("group", "labels", "present")], [*D1, "d3"], id="presence-of-a-map"),
        pytest.param([term("version", ("list", 1), "equal", "Q")], [*F1, V2], id="index"),
        pytest.param([term("version", ("list", EACH), "equal", "q")], [*F1, V2], id="any-item"),
        pytest.param([term("group", ("labels", ANY), "equal", "prod")], D1, id="any-member"),
        pytest.param([term("version", ("list", ANY), "equal", "q")], [], id="no-member-but-items"),
        pytest.param([term("group", ("labels", EACH), "equal", "prod")], [], id="no-item"),
        pytest.param([term("version", "#id", "equal", "V2")], [*F1, V2], id="id-of-version"),
        pytest.param([term("resource", "#id", "equal", "f2")], F2, id="id-of-resource"),
        pytest.param([term("group", "#xid", "equal", "/dirs/d3")], ["d3"], id="xid"),
        pytest.param(
            [term("version", "#isdefault", "equal", "false")], [*F1, V1], id="not-default"
        ),
        pytest.param(
            [term("version", "#isdefault", "unequal", "false"), term("group", "#id", "present")],
            sorted([*F1, V2, *F2[1:]]),
            id="default",
        ),
        pytest.param([term("version", "#isdefault", "equal", "maybe")], [], id="no-boolean"),
        pytest.param(
            [term("version", "name", "equal", "old"), term("group", "name", "equal", "first")],
            [*F1, V1],
            id="and-over-levels",
            marks=pytest.mark.covers("FL-30", "FL-36"),
        ),
        pytest.param(
            [term("version", "name", "equal", "old"), term("version", "#id", "equal", "v2")],
            [],
            id="and-of-disjoint",
            marks=pytest.mark.covers("FL-30", "FL-36"),
        ),
    ],
)
def test_terms(store: Store, terms: list[Term], expected: list[str]) -> None:
    rows = replace_all(store, EXAMPLE)
    with store.read() as tx:
        found = names(rows, tx.leaves((tuple(terms),), "/"))
    assert found == expected


@pytest.mark.covers("FL-30")
def test_any_of_the_lists_may_hold(store: Store) -> None:
    rows = replace_all(store, EXAMPLE)
    lists = ((term("version", "name", "equal", "old"),), (term("group", "#id", "equal", "d3"),))
    with store.read() as tx:
        assert names(rows, tx.leaves(lists, "/")) == [*F1, V1, "d3"]
        assert names(rows, tx.leaves((), "/")) == []
        every = tx.leaves(((),), "/")
    assert every.groups | every.resources | every.versions == {row.key for row in rows}


@pytest.mark.parametrize(
    ("under", "expected"),
    [
        ("/dirs", [*F1, V2, *F2[1:]]),
        ("/dirs/d1", [*F1, V2, *F2[1:]]),
        ("/dirs/d2", []),
        ("/dirs/d1/files", [*F1, V2, *F2[1:]]),
        ("/dirs/d1/files/f1", [*F1, V2]),
        ("/dirs/d1/files/f1/versions", [*F1, V2]),
        ("/dirs/d1/files/f1/versions/v2", [*F1, V2]),
        ("/dirs/d1/files/f1/versions/v1", []),
        ("/dirs/gone", []),
        ("/shops", []),
    ],
)
def test_scope(store: Store, under: str, expected: list[str]) -> None:
    rows = replace_all(store, EXAMPLE)
    with store.read() as tx:
        asked = ((term("version", "ok", "present"),),)
        assert names(rows, tx.leaves(asked, under)) == sorted(expected)


@pytest.mark.parametrize(
    ("value", "matches"),
    [
        ("100%", True),
        ("100_", False),
        ("1*%", True),
        ("*0%", True),
        ("%", False),
        ("*%*", True),
        ("*_*", False),
        (r"*\\*", False),
    ],
)
@pytest.mark.covers("FL-34")
def test_signs_of_the_database_are_plain_text(store: Store, value: str, matches: bool) -> None:
    rows = replace_all(store, {"d1": ({"name": "100%"}, {})})
    with store.read() as tx:
        found = tx.leaves(((term("group", "name", "equal", value),),), "/")
    assert names(rows, found) == (["d1"] if matches else [])


@pytest.mark.parametrize("value", ["a\0b", "\ud800", "9" * 5000, "1e999", "-1e999", "*" * 2000])
def test_odd_values_are_no_error(store: Store, value: str) -> None:
    replace_all(store, EXAMPLE)
    with store.read() as tx:
        for test in ("equal", "unequal"):
            tx.leaves(((term("version", "size", test, value),),), "/")
        tx.leaves(((term("version", "size", "less", value.replace("*", "")),),), "/")


def test_wildcards_of_a_filter_look_at_a_bounded_number_of_paths(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace_all(store, EXAMPLE)
    anywhere = term("version", ("labels", ANY), "present")
    with store.read() as tx:
        tx.leaves(((anywhere,),), "/")
        monkeypatch.setattr("heraldry.store.paths.LOOKED_AT", 0)
        with pytest.raises(RegistryError) as caught:
            tx.leaves(((anywhere,),), "/dirs")
    assert (caught.value.name, caught.value.subject) == ("bad_filter", "/dirs")
    assert caught.value.arguments["value"] == "labels.*"


def test_a_filter_has_a_size(store: Store) -> None:
    one = term("version", "name", "unequal", "x")
    with store.read() as tx:
        tx.leaves(((one,) * 199, (one,)), "/")
        with pytest.raises(RegistryError) as caught:
            tx.leaves(((one,) * 200, (one,)), "/")
    assert caught.value.name == "bad_filter"


TEXTS = st.sampled_from(
    [
        "",
        "a",
        "A",
        "ab",
        "aB",
        "b*",
        "10",
        "9",
        "-1",
        "true",
        "ß",
        "SS",
        "é",
        "a\\",
        "%",
        LONG + "y",
    ]
)
SCALARS = st.one_of(TEXTS, st.booleans(), st.integers(-2, 11), st.sampled_from([0.5, 9.0, 1e30]))
NAMES = st.sampled_from(["a", "b", "c.d"])
VALUES = st.one_of(
    SCALARS,
    st.dictionaries(NAMES, SCALARS, max_size=2),
    st.lists(SCALARS, max_size=2),
    st.dictionaries(NAMES, st.dictionaries(NAMES, SCALARS, max_size=2), max_size=2),
)
ATTRIBUTES = st.dictionaries(st.sampled_from(["x", "y"]), VALUES, max_size=2)
FILE = st.builds(
    lambda versions, meta: File(versions=versions, meta=meta),
    st.dictionaries(st.sampled_from(["1", "2", "v"]), ATTRIBUTES, max_size=3),
    ATTRIBUTES,
)
TREES = st.dictionaries(
    st.sampled_from(["d1", "D2"]),
    st.tuples(ATTRIBUTES, st.dictionaries(st.sampled_from(["f", "G"]), FILE, max_size=2)),
    max_size=2,
)
WANTED = st.one_of(
    TEXTS, st.sampled_from(["*", "a*", "*b", r"b\*", "0.5", "9.0", "1E30", "false", "*a*", LONG])
)
PATHS = st.one_of(
    st.sampled_from([("#id",), ("#xid",)]),
    st.tuples(st.sampled_from(["x", "y", "z"])),
    st.tuples(st.sampled_from(["x", "y"]), st.sampled_from(["a", "c.d", 0, 1, ANY, EACH])),
    st.tuples(
        st.sampled_from(["x", "y"]),
        st.sampled_from(["a", ANY, EACH]),
        st.sampled_from(["b", ANY, EACH]),
    ),
)
TESTS: list[Test] = [
    *("present", "absent", "equal", "unequal", "less", "at_most", "more", "at_least"),
]


@st.composite
def terms(draw: st.DrawFn) -> Term:
    level: Level = draw(st.sampled_from(list(TYPES)))
    test = draw(st.sampled_from(TESTS))
    path = draw(PATHS)
    if level == "version" and draw(st.integers(0, 7)) == 0:
        path = ("#isdefault",)
    value = draw(WANTED)
    if test not in ("equal", "unequal"):
        value = value.replace("*", "")
    return term(level, path, test, value)


FILTERS = st.lists(st.lists(terms(), max_size=3).map(tuple), max_size=2).map(tuple)
SCOPES = ["/", "/dirs", "/dirs/d1", "/dirs/d1/files", "/dirs/d1/files/f"]


@pytest.mark.covers("FL-30", "FL-32", "FL-33", "FL-34", "FL-35", "FL-36")
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tree=TREES, filters=st.lists(FILTERS, min_size=5, max_size=15))
def test_any_filter_is_right(store: Store, tree: Tree, filters: list[Filter]) -> None:
    rows = replace_all(store, tree)
    with store.read() as tx:
        for one in filters:
            for under in SCOPES:
                assert tx.leaves(one, under) == surviving(rows, one, under)
