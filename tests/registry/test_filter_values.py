"""Terms that are settled here are settled as the store would."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heraldry.registry.filtering_scope import row_facts
from heraldry.registry.filtering_values import holds
from heraldry.registry.registry import Registry
from heraldry.store.query import ANY, EACH, Term
from heraldry.store.rows import Kind, Row
from tests.registry.asking import registry

TEXTS = st.text(alphabet="aAbB*\\% _0.", max_size=5)
SCALARS = st.one_of(
    TEXTS,
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([0.5, 2.0, -1.5, 10**18, "true", "2", "ß", "SS"]),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=2), st.dictionaries(st.sampled_from("ab"), inner, max_size=2)
    ),
    max_leaves=4,
)
PATHS = st.lists(st.sampled_from(["a", "b", 0, 1, ANY, EACH]), max_size=2).map(lambda p: ("x", *p))
GIVEN = st.one_of(
    TEXTS, st.sampled_from(["true", "false", "2", "2.0", "-1.5", "1e0", "*", "a*", "ss", ""])
)


@pytest.fixture(scope="module")
def empty() -> Registry:
    return registry()


def found_by_store(made: Registry, row: Row, term: Term) -> bool:
    with made.store.write() as tx:
        tx.save(row)
        found = row.key in tx.leaves(((term,),), "/").groups
        tx.remove(row)
    return found


@pytest.mark.covers("FL-32", "FL-33", "FL-34", "FL-35")
@settings(max_examples=300, deadline=None)
@given(
    value=VALUES,
    path=PATHS,
    text=GIVEN,
    test=st.sampled_from(
        ["present", "absent", "equal", "unequal", "less", "at_most", "more", "at_least"]
    ),
)
def test_agrees_with_the_store(
    empty: Registry, value: Any, path: Any, text: str, test: Any
) -> None:
    attributes = {"x": value, "epoch": 1}
    row = Row(
        key=77, parent=0, kind=Kind.GROUP, type="dirs", xid="/dirs/d", id="d", attributes=attributes
    )
    term = Term(level="group", type="dirs", path=path, test=test, value=text)
    assert holds(term, row_facts(row)) == found_by_store(empty, row, term)


@pytest.mark.parametrize(
    ("value", "text", "fits"),
    [
        ("abc", "a*c", True),
        ("abc", "*", True),
        ("", "*", True),
        ("ab", "a*ab", False),
        ("a*c", r"a\*c", True),
        ("abc", r"a\*c", False),
        ("aXbXc", "a*b*c", True),
        ("ac", "a*b*c", False),
        ("a" * 5000, "*a" * 200 + "b", False),
    ],
)
@pytest.mark.covers("FL-34")
def test_wildcards(value: str, text: str, fits: bool) -> None:
    term = Term(level="group", type="dirs", path=("x",), test="equal", value=text)
    assert holds(term, {"x": value}) is fits
