"""What is known of rows besides their content: where and when their lines were read."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc

from heraldry.pipeline.lake.layout import REPEATED
from heraldry.pipeline.sources.lines import Lines

INSTANT = pa.timestamp("us", "UTC")
FIRST, LAST = (
    pa.scalar(found.replace(tzinfo=UTC), INSTANT) for found in (datetime.min, datetime.max)
)
"""The instants that have a date, from year 1 to year 9999."""


def moment(microseconds: int) -> datetime:
    """The instant so many microseconds after 1970, or the nearest that has a date."""
    held = min(max(microseconds, FIRST.value), LAST.value)
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=held)


class Places:
    """The places of some rows; columns are made for all rows at once, as calls cost more than rows.

    ``columns`` are those of ``layout.PLACE``: batch, source, position, and when it was received.
    """

    def __init__(self, lines: Lines, rows: pa.Array, batch: int, received: datetime) -> None:
        self._lines, self._rows = lines, rows
        self._sources = lines.sources.take(rows).cast(REPEATED)
        self.positions = lines.positions.take(rows)
        if lines.received is None:
            when = pa.repeat(pa.scalar(received, INSTANT), len(rows))
        else:
            when = lines.received.take(rows).cast(INSTANT)
        number = pa.repeat(pa.scalar(batch, pa.int64()), len(rows))
        self.columns = [number, self._sources, self.positions, when]

    @cached_property
    def sources(self) -> pa.Array:
        """The names of the sources."""
        return self._sources.cast(pa.string())

    @cached_property
    def times(self) -> pa.Array:
        """The broker's own times; null where it told none, or one that has no date."""
        told = self._lines.times
        if told is None:
            return pa.nulls(len(self._rows), INSTANT)
        times = told.take(self._rows).cast(INSTANT)
        # A producer may tell any number, and what reads tables has no date for some of them.
        dated = pc.and_(pc.greater_equal(times, FIRST), pc.less_equal(times, LAST))
        return pc.if_else(dated, times, pa.scalar(None, INSTANT))

    @cached_property
    def ids(self) -> pa.Array:
        """``SOURCE#POSITION``, so that reading again gives the same."""
        return pc.binary_join_element_wise(self.sources, self.positions, "#")

    def attributes(self, begin: int, count: int) -> dict[str, pa.Array]:
        """Attributes that the places of some messages tell: what is no event has no others."""
        told = {"ce_id": self.ids, "ce_source": self.sources, "ce_time": self.times}
        return {name: column.slice(begin, count) for name, column in told.items()}
