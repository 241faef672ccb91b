"""Attributes that the place of a message tells: what is no event gets an id, a source, a time."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from heraldry.pipeline.sources.lines import Lines

_INSTANT = pa.timestamp("us", "UTC")


def with_place(table: pa.Table, lines: Lines, rows: pa.Array, definition: str) -> pa.Table:
    """Fill in what a definition did not give messages that are no events.

    The id is ``SOURCE#POSITION``, so that reading again gives the same; the type is the
    definition's xid, the time the broker's own where it has one.
    """
    sources = lines.sources.take(rows).cast(pa.string())
    told = {
        "ce_id": pc.binary_join_element_wise(sources, lines.positions.take(rows), "#"),
        "ce_source": sources,
        "ce_type": pa.scalar(definition),
    }
    if lines.times is not None:
        told["ce_time"] = lines.times.take(rows).cast(_INSTANT)
    for name, value in told.items():
        number = table.schema.get_field_index(name)
        column = table.column(number)
        if column.null_count:
            table = table.set_column(number, table.field(number), pc.coalesce(column, value))
    return table
