"""Dot notation: texts become paths and paths texts."""

from __future__ import annotations

import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heraldry.model.dotpath import ANY, EACH, parse_path, text_of, value_at

pytestmark = pytest.mark.covers("FL-31")

names = st.text(min_size=1).filter(lambda name: "'" not in name or '"' not in name)
steps = st.one_of(names, st.integers(0, 10**9 - 1), st.just(ANY), st.just(EACH))


@pytest.mark.parametrize(
    ("text", "path"),
    [
        pytest.param("name", ("name",), id="name"),
        pytest.param(".name", ("name",), id="leading-dot"),
        pytest.param("['my.name']", ("my.name",), id="quoted"),
        pytest.param('["birth.date"]', ("birth.date",), id="double-quoted"),
        pytest.param("[2]", (2,), id="index"),
        pytest.param('["2"]', ("2",), id="digits-as-name"),
        pytest.param("employee.name", ("employee", "name"), id="two-names"),
        pytest.param("stack[3]", ("stack", 3), id="item"),
        pytest.param(
            *("employee['joe'].addresses[0].state", ("employee", "joe", "addresses", 0, "state")),
            id="mixed",
        ),
        pytest.param("labels.*", ("labels", ANY), id="any-member"),
        pytest.param("reviewers[*].x", ("reviewers", EACH, "x"), id="any-item"),
        pytest.param("a['*']", ("a", "*"), id="star-as-name"),
        pytest.param("ab-c.d:e", ("ab-c", "d:e"), id="signs"),
        pytest.param("""a["it's"]""", ("a", "it's"), id="quote-in-quotes"),
    ],
)
def test_paths(text, path):
    assert parse_path(text) == path
    assert parse_path(text_of(path)) == path


@pytest.mark.parametrize(
    "text",
    [
        *("", ".", "a.", "a..b", "a[", "a]", "a[]", "a['']", "a['b]", "a[b]", "a[-1]", "a[1x]"),
        *("a b", "a'b'", "a['b'", "a[0]b", "bad*", "*bad", "a.b*", "a[**]", "~a", "a[1", "a.[0]"),
    ],
)
def test_what_is_no_path(text):
    with pytest.raises(ValueError, match=r"empty|unexpected"):
        parse_path(text)


@given(st.lists(steps, min_size=1).map(tuple))
def test_the_text_of_a_path_is_read_as_that_path(path):
    assert parse_path(text_of(path)) == path


@given(st.text())
def test_any_text_is_a_path_or_an_error_with_a_reason(text):
    try:
        path = parse_path(text)
    except ValueError as error:
        assert str(error)  # noqa: PT017
    else:
        assert parse_path(text_of(path)) == path


def test_values_at_paths():
    values = {"a": {"b.c": [1, {"d": 2}]}, "n": None}
    assert value_at(values, parse_path("a['b.c'][1].d")) == 2
    for text in ("x", "a.b", "a['b.c'][2]", "a[0]", "n.x", "a['b.c'].d"):
        assert value_at(values, parse_path(text)) is None


@pytest.mark.parametrize("piece", ["a.", "[0]", "['a']", "a", "['", ".*", "[", "9"])
def test_long_texts_take_no_more_than_linear_time(piece):
    start = time.perf_counter()
    with suppress(ValueError):
        parse_path(piece * 100_000)
    assert time.perf_counter() - start < 2
