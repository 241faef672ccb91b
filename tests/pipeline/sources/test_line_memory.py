"""Lines are joined in memory that is used again, never while somebody still looks at it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from heraldry.pipeline.sources.line_memory import SPARE, LineMemory

parts = st.lists(st.lists(st.binary(max_size=12), max_size=5), max_size=5)


def chunked(found: list[list[bytes]]) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(part, pa.binary()) for part in found], pa.binary())


@given(st.lists(parts, min_size=1, max_size=4))
def test_what_is_joined_is_what_was_given(rounds: list[list[list[bytes]]]) -> None:
    memory = LineMemory()
    for found in rounds:
        joined = memory.joined(chunked(found))
        joined.validate(full=True)
        assert joined.to_pylist() == [line for part in found for line in part]


def test_slices_are_joined_by_their_own_lines() -> None:
    whole = pa.array([b"one", b"two", b"three", b"four"], pa.binary())
    column = pa.chunked_array([whole.slice(1, 2), whole.slice(3)])
    assert LineMemory().joined(column).to_pylist() == [b"two", b"three", b"four"]


def test_zeros_stand_behind_the_lines() -> None:
    memory = LineMemory()
    memory.joined(chunked([[b"x" * 500]]))
    joined = memory.joined(chunked([[b"ab"], [b"c"]]))
    assert joined.buffers()[2].to_pybytes() == b"abc" + bytes(SPARE)


def test_memory_is_used_again_only_when_it_is_let_go() -> None:
    memory = LineMemory()
    first = memory.joined(chunked([[b"first"]]))
    place = first.buffers()[2].address
    second = memory.joined(chunked([[b"second"]]))
    assert second.buffers()[2].address != place
    assert first.to_pylist() == [b"first"]
    view = np.frombuffer(second.buffers()[2], np.uint8)
    place = second.buffers()[2].address
    del second
    assert memory.joined(chunked([[b"third"]])).buffers()[2].address != place
    assert view[:6].tobytes() == b"second"


def test_lines_that_are_let_go_leave_their_memory() -> None:
    memory = LineMemory()
    place = memory.joined(chunked([[b"a long line, then shorter ones"]])).buffers()[2].address
    assert memory.joined(chunked([[b"short"]])).buffers()[2].address == place


def test_lines_that_are_null_stay_null() -> None:
    column = pa.chunked_array([pa.array([b"a", None], pa.binary())])
    assert LineMemory().joined(column).to_pylist() == [b"a", None]
