"""Where and when lines were read, and times beyond the calendar."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest

from heraldry.pipeline.landing.places import INSTANT, Places, moment
from heraldry.pipeline.sources.lines import Lines

FIRST, LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def microseconds(instant: datetime) -> int:
    return (instant - EPOCH) // timedelta(microseconds=1)


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (1, EPOCH + timedelta(microseconds=1)),
        (microseconds(FIRST), FIRST),
        (microseconds(LAST), LAST),
        (microseconds(FIRST) - 1, FIRST),
        (2**63 - 1, LAST),
    ],
    ids=["a moment", "the first", "the last", "before the first", "after the last"],
)
def test_microseconds_become_a_moment(told: int, expected: datetime) -> None:
    assert moment(told) == expected


def test_a_time_of_the_broker_that_has_no_date_is_none() -> None:
    """A producer that tells microseconds as milliseconds is in the year 55,000."""
    told = [microseconds(FIRST), microseconds(LAST), microseconds(FIRST) - 1, 17 * 10**17, None]
    texts = pa.array(["a"] * len(told))
    times = pa.array(told, pa.int64()).cast(INSTANT)
    lines = Lines(texts.cast(pa.binary()), texts.dictionary_encode(), texts, times)
    places = Places(lines, pa.array(range(len(told)), pa.int64()), 0, EPOCH)
    assert places.times.to_pylist() == [FIRST, LAST, None, None, None]
