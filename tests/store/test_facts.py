"""The filter index: which facts an entity has."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heraldry.errors import RegistryError
from heraldry.store.facts import (
    BOOLEAN,
    COMPOUND,
    HEAD,
    LONGEST,
    MOST,
    NUMBER,
    TEXT,
    Fact,
    facts,
    fits,
    fold,
    mark_of,
    normal_number,
    number_of,
    short_mark,
)
from heraldry.store.query import ANY, EACH, Step
from heraldry.store.rows import Kind, Row


def row(attributes: dict[str, Any]) -> Row:
    return Row(
        key=1,
        parent=0,
        kind=Kind.GROUP,
        type="dirs",
        xid="/dirs/D1",
        id="D1",
        attributes=attributes,
    )


def test_every_value_is_a_fact_at_its_path() -> None:
    found = facts(
        row(
            {
                "name": "Ünï",
                "epoch": 3,
                "ok": False,
                "none": None,
                "labels": {"a.b": ""},
                "list": [{"x": 1.5}, []],
                "#internal": 1,
            }
        )
    )
    assert found == {
        mark_of(["#id"]): Fact(TEXT, "d1", "", None),
        mark_of(["#xid"]): Fact(TEXT, "/dirs/d1", "", None),
        mark_of(["name"]): Fact(TEXT, "ünï", "", None),
        mark_of(["epoch"]): Fact(NUMBER, "", "", 3),
        mark_of(["ok"]): Fact(BOOLEAN, "false", "", None),
        mark_of(["labels"]): Fact(COMPOUND, "", "", None),
        mark_of(["labels", "a.b"]): Fact(TEXT, "", "", None),
        mark_of(["list"]): Fact(COMPOUND, "", "", None),
        mark_of(["list", 0]): Fact(COMPOUND, "", "", None),
        mark_of(["list", 0, "x"]): Fact(NUMBER, "", "", 1.5),
        mark_of(["list", 1]): Fact(COMPOUND, "", "", None),
    }


def test_a_long_text_is_cut_for_the_index() -> None:
    fact = facts(row({"x": "Ab" * HEAD}))[mark_of(["x"])]
    assert (fact.text, fact.rest) == (("ab" * HEAD)[:HEAD], ("ab" * HEAD)[HEAD:])


@pytest.mark.parametrize(
    "attributes",
    [
        pytest.param({"x": [0] * MOST}, id="one-list"),
        pytest.param({"x": [[0] * 1000] * 100}, id="lists-in-a-list"),
        pytest.param({f"x{number}": 0 for number in range(MOST + 1)}, id="attributes"),
        pytest.param({"x": {"k" * LONGEST: [0]}}, id="long-key"),
        pytest.param({"x": {"k" * 1000: {"k" * 1000: 0}}}, id="long-path"),
    ],
)
def test_an_entity_cannot_fill_the_index_without_bound(attributes: dict[str, Any]) -> None:
    with pytest.raises(RegistryError) as caught:
        facts(row(attributes))
    assert caught.value.subject == "/dirs/D1"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("10", 10),
        ("-0.5", -0.5),
        ("1e3", 1000.0),
        ("9223372036854775807", 2**63 - 1),
        ("9223372036854775808", float(2**63)),
        ("9" * 5000, sys.float_info.max),
        ("-1e999", -sys.float_info.max),
        ("+1", None),
        ("1_0", None),
        ("١", None),
        ("nan", None),
        ("inf", None),
        ("", None),
        (" 1", None),
    ],
)
def test_numbers_in_texts(text: str, number: float | None) -> None:
    found = number_of(text)
    assert found == number
    assert type(found) is type(number)


def test_huge_numbers_stay_in_order() -> None:
    assert normal_number(10**400) == sys.float_info.max
    assert normal_number(-(10**400)) == -sys.float_info.max


STEPS = st.lists(st.one_of(st.text(max_size=8), st.integers(0, 99)), min_size=1, max_size=5)


@given(STEPS, st.data())
def test_a_mark_fits_its_own_path_and_every_wildcard_of_it(
    steps: list[Step], data: st.DataObject
) -> None:
    kinds = [ANY if isinstance(step, str) else EACH for step in steps]
    wild = tuple(
        kind if data.draw(st.booleans()) else step for kind, step in zip(kinds, steps, strict=True)
    )
    other = tuple(EACH if kind == ANY else ANY for kind in kinds)
    assert fits(mark_of(steps), tuple(steps))
    assert fits(mark_of(steps), wild)
    assert not fits(mark_of(steps), other)
    assert not fits(mark_of(steps), (*wild, ANY))


@given(STEPS, STEPS)
def test_marks_differ_where_paths_do(one: list[Step], other: list[Step]) -> None:
    assert (mark_of(one) == mark_of(other)) == (one == other)


def test_a_very_long_mark_is_known_by_its_digest() -> None:
    long, longer = mark_of(["x" * 500]), mark_of(["x" * 501])
    assert len(short_mark(long)) < 100
    assert short_mark(long) != short_mark(longer)
    assert short_mark(mark_of(["x"])) == mark_of(["x"])


@given(st.text())
def test_folding_is_done_once_and_for_all_cases(text: str) -> None:
    assert fold(fold(text)) == fold(text)
    assert fold(text.upper()) == fold(text.upper().lower()) or not text.isascii()
    assert "\0" not in fold(text)
