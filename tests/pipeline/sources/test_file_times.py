"""Timestamps of all shapes have a time zone and no nanoseconds, and are the same instants."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest

from heraldry.pipeline.sources.file_times import in_utc


def instant(number: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=number)


def nested(kind: pa.DataType) -> dict[str, tuple[pa.Array, Any]]:
    """Columns of three rows that hold the instants 1, 2 and 3, and what is in them."""
    scale = 1000 if kind.unit == "ns" else 1
    flat = pa.array([1 * scale, 2 * scale, None, 3 * scale], kind)
    packed = flat.dictionary_encode()
    one, two, three = map(instant, (1, 2, 3))
    pairs = pa.FixedSizeListArray.from_arrays(flat, 2)
    lists = [[one, two], [None, three]]
    return {
        "alone": (flat, [one, two, None, three]),
        "a dictionary": (packed, [one, two, None, three]),
        "a list": (pa.ListArray.from_arrays([0, 2, 4], flat), lists),
        "a large list": (pa.LargeListArray.from_arrays([0, 2, 4], flat), lists),
        "a list of one length": (pairs, lists),
        "lists of one length in a list": (
            pa.ListArray.from_arrays([0, 1, 2], pairs),
            [[one] for one in lists],
        ),
        "a list of a dictionary": (pa.ListArray.from_arrays([0, 2, 4], packed), lists),
        "a record of a dictionary": (
            pa.StructArray.from_arrays([packed], ["at"]),
            [{"at": one} for one in (one, two, None, three)],
        ),
        "a map": (
            pa.MapArray.from_arrays([0, 1, 2], pa.array(["a", "b"]), flat.slice(0, 2)),
            [[("a", one)], [("b", two)]],
        ),
    }


@pytest.mark.parametrize("skipped", [0, 1], ids=["all rows", "a slice"])
@pytest.mark.parametrize("kind", [pa.timestamp("us"), pa.timestamp("ns")], ids=str)
@pytest.mark.parametrize("shape", nested(pa.timestamp("us")))
def test_every_shape_is_in_utc(shape: str, kind: pa.DataType, skipped: int) -> None:
    column, wanted = nested(kind)[shape]
    batch = pa.RecordBatch.from_arrays([column], ["a"]).slice(skipped)
    found = in_utc(batch).column("a")
    assert found.to_pylist() == wanted[skipped:]
    assert "timestamp[us, tz=UTC]" in str(found.type)


def test_what_needs_nothing_is_the_same_batch() -> None:
    batch = pa.RecordBatch.from_pydict(
        {"at": pa.array([1], pa.timestamp("us", "Asia/Tokyo")), "n": pa.array([1])}
    )
    assert in_utc(batch) is batch
