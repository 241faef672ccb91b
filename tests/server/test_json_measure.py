"""What a JSON text holds is counted without reading it, wherever its pieces begin and end."""

from __future__ import annotations

import gc
import json
import time
import tracemalloc
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heraldry.server.json_measure import Measure, measure_json

TEXTS = st.text('a"\\:,[]{}é€😀', max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**6), 10**6) | TEXTS,
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3)
        | st.dictionaries(st.text('k"\\:{', max_size=3), inner, min_size=1, max_size=3)
    ),
    max_leaves=12,
)


def last(text: bytes, piece: int = 65536) -> Measure:
    *_, found = measure_json(text, piece)
    return found


def counted(value: Any, level: int = 1) -> tuple[int, int, int]:
    """Values, members and depth of a value."""
    if not isinstance(value, dict | list):
        return 1, 0, level - 1
    inner = value.values() if isinstance(value, dict) else value
    below = [counted(one, level + 1) for one in inner]
    members = len(value) if isinstance(value, dict) else 0
    values = 1 + sum(one[0] for one in below)
    return values, members + sum(one[1] for one in below), max([level, *(one[2] for one in below)])


@settings(max_examples=150, deadline=None)
@given(value=VALUES, piece=st.integers(1, 40), ascii_=st.booleans())
def test_it_counts_what_is_there(value: Any, piece: int, ascii_: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii_).encode()
    found = last(text, piece)
    assert (found.values, found.members, found.depth) == counted(value)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(b"[" + b'"ab",' * 200_000 + b'""]', id="texts"),
        pytest.param(b"[" + b'{"a":1},' * 100_000 + b"{}]", id="objects"),
        pytest.param(b"[" + b"{}," * 200_000 + b"{}]", id="empty-objects"),
        pytest.param(b"[" + b"[1]," * 200_000 + b"1]", id="arrays"),
        pytest.param(b"[" + b"1.5," * 200_000 + b"1]", id="numbers"),
        pytest.param(b'["' + b"a" * 5_000_000 + b'"]', id="text"),
        pytest.param(b'["' + b"a" * 5_000_000 + "😀".encode() + b'"]', id="wide-text"),
        pytest.param(b'["' + b"a" * 5_000_000 + b'\\ud83d\\ude00"]', id="escaped-text"),
        pytest.param(
            b"{" + b",".join(b'"%d":"x"' % one for one in range(200_000)) + b"}", id="members"
        ),
    ],
)
def test_it_knows_what_reading_takes(text: bytes) -> None:
    gc.collect()
    tracemalloc.start()
    try:
        value = msgspec.json.decode(text)
        taken = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert value
    assert taken / 1.6 < last(text).memory < taken * 2.6


def test_what_is_too_much_is_known_before_the_end() -> None:
    first = next(iter(measure_json(b"[" + b"1," * 10_000_000)))
    assert 10_000 < first.values < 100_000


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(b'["' + b'\\"' * 32_767, id="escaped-quotes"),
        pytest.param((b'","x' + b'\\"' * 32_766) * 20, id="escaped-quotes-in-each-piece"),
        pytest.param(b'["' + b"\\" * 65_000, id="backslashes"),
    ],
)
def test_a_string_without_an_end_is_gone_through_once(text: bytes) -> None:
    started = time.process_time()
    last(text)
    assert time.process_time() - started < 1  # where each quote begins a search: 10 s a piece
