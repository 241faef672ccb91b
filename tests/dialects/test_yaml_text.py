"""YAML documents: JSON values, keys and versions as texts, no bombs."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from heraldry.dialects.limits import DEFAULT, Limits
from heraldry.dialects.yaml_text import read_yaml
from heraldry.errors import DocumentError

TEXT = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), max_size=6)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=10,
)


def of(text: str) -> Any:
    return read_yaml(text.encode(), "f.yaml", DEFAULT)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("1.0: x", {"1.0": "x"}, id="number-as-key"),
        pytest.param("on: yes", {"on": "yes"}, id="words"),
        pytest.param("a: 2024-01-31T12:00:00Z", {"a": "2024-01-31T12:00:00Z"}, id="timestamp"),
        pytest.param("a: 2024-01-31", {"a": "2024-01-31"}, id="date"),
        pytest.param("versionid: 1.0", {"versionid": "1.0"}, id="version"),
        pytest.param("ancestor: 010", {"ancestor": "010"}, id="ancestor"),
        pytest.param("messageid: 5", {"messageid": "5"}, id="id"),
        pytest.param("versionid: null", {"versionid": None}, id="absent-id"),
        pytest.param("specversion: {value: 1.0}", {"specversion": {"value": "1.0"}}, id="value"),
        pytest.param("schema: {id: 1.5}", {"schema": {"id": 1.5}}, id="not-inside-schemas"),
        pytest.param("qos: 1\nretain: false", {"qos": 1, "retain": False}, id="scalars"),
        pytest.param("a: ~\nb:\nc: 'null'", {"a": None, "b": None, "c": "null"}, id="null"),
        pytest.param("a: 0x10\nb: 0o17\nc: -5", {"a": 16, "b": 15, "c": -5}, id="integers"),
        pytest.param("a: 1.5\nb: 1e3\nc: .5", {"a": 1.5, "b": 1000.0, "c": 0.5}, id="floats"),
        pytest.param("a: 007\nb: 0", {"a": "007", "b": 0}, id="leading-zeros"),
        pytest.param("a: 12:30\nb: 1_000", {"a": "12:30", "b": "1_000"}, id="no-yaml-1.1"),
        pytest.param("a: !!str 5\nb: !!int 5", {"a": "5", "b": 5}, id="tags"),
        pytest.param("a: &x {b: 1}\nc: *x", {"a": {"b": 1}, "c": {"b": 1}}, id="alias"),
        pytest.param(
            "a: &x {b: 1, c: 2}\nd: {<<: *x, b: 3}",
            {"a": {"b": 1, "c": 2}, "d": {"b": 3, "c": 2}},
            id="merge-key",
        ),
        pytest.param("'<<': 5", {"<<": 5}, id="quoted-merge-key"),
        pytest.param("a: |\n  x\n  y\n", {"a": "x\ny\n"}, id="block"),
        pytest.param("", None, id="empty"),
    ],
)
def test_reads_json_values(text: str, expected: Any) -> None:
    assert of(text) == expected


@pytest.mark.parametrize(
    ("text", "location", "reason"),
    [
        pytest.param("a: 1\nb: [", "line 3", "not YAML", id="syntax"),
        pytest.param("a: 1\nb: 2\na: 3", "line 3", "'a' is given twice", id="twice"),
        pytest.param("a: 1\n---\nb: 2", "line 2", "second YAML document", id="documents"),
        pytest.param("? [a]\n: 1", "line 1", "text keys only", id="key"),
        pytest.param("? *x\n: 1", "line 1", "no earlier anchor", id="unknown-alias"),
        pytest.param("a: &x [*x]", "line 1", "no earlier anchor", id="recursion"),
        pytest.param("a: !!python/name:os.system x", "line 1", "no counterpart", id="tag"),
        pytest.param("a: {<<: 5}", "line 1", "must name a mapping", id="merge"),
        pytest.param("[" * 101, "line 1", "deeper than 100 levels", id="depth"),
        pytest.param("a: 1e999", "line 1", "out of range", id="infinite"),
        pytest.param("a: " + "1" * 5000, "line 1", "out of range", id="endless"),
    ],
)
def test_says_what_is_wrong_and_where(text: str, location: str, reason: str) -> None:
    with pytest.raises(DocumentError) as caught:
        of(text)
    assert caught.value.location == location
    assert reason in caught.value.reason


def test_an_alias_bomb_does_not_go_off() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i + 1}: &a{i + 1} [" + ", ".join([f"*a{i}"] * 10) + "]" for i in range(30)]
    with pytest.raises(DocumentError, match="more than 5,000,000 values with aliases expanded"):
        of("\n".join(lines))
    with pytest.raises(DocumentError, match="more than 3 values"):
        read_yaml(b"[1, 2, 3, 4]", "", Limits(expanded=3))


@given(JSON)
def test_json_is_yaml(value: Any) -> None:
    assert of(json.dumps(value, ensure_ascii=False)) == value


# A writer of YAML 1.1 leaves 1e3 unquoted for a text, which is a number since YAML 1.2.
WRITTEN = st.text("abno ~:#{}[]'\"-,|>&*!%@\n", max_size=5) | st.sampled_from(
    ["null", "true", "yes", "007", "1.0", "1_000", "12:30", "<<", "=", "2024-01-31", "0x1", "5"]
)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | WRITTEN,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WRITTEN, inner, max_size=3),
        max_leaves=10,
    )
)
def test_reads_what_yaml_writes(value: Any) -> None:
    assert of(yaml.safe_dump(value, allow_unicode=True)) == value
