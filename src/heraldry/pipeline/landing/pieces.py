"""Pieces of tables: the accepted rows of one definition, whichever way they were judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc

from heraldry.pipeline.identities.digests import (
    IDENTITY,
    as_column,
    digests_of_events,
    digests_of_lines,
)
from heraldry.pipeline.lake.layout import TableLayout
from heraldry.pipeline.landing.places import Places
from heraldry.pipeline.sources.lines import Lines

_EVENT = ("ce_source", "ce_id")


@dataclass(frozen=True, slots=True)
class Piece:
    """Rows of one definition: the columns of ``layout.content``, and the numbers of their lines.

    ``native`` messages are no events: the place of each tells the attributes that are null.
    """

    layout: TableLayout
    columns: list[pa.Array]
    rows: pa.Array
    native: bool = False


def tables_of(
    pieces: Sequence[Piece], lines: Lines, batch: int, received: datetime, *, identities: bool
) -> Iterator[tuple[str, pa.Table]]:
    """The rows of every piece with their places, and their identities where those are wanted."""
    if not pieces:
        return
    rows = pa.concat_arrays([piece.rows for piece in pieces])
    places = Places(lines, rows, batch, received)
    begin = 0
    for piece in pieces:
        layout, count = piece.layout, len(piece.rows)
        columns, schema = list(piece.columns), layout.held
        if piece.native:
            _fill(columns, layout, places.attributes(begin, count))
        at = len(columns) - layout.keeps_payload
        columns[at:at] = [column.slice(begin, count) for column in places.columns]
        if identities:
            found = as_column(_identities(piece, lines))
            columns.append(found)
            schema = schema.append(pa.field(IDENTITY, found.type))
        yield layout.definition, pa.Table.from_arrays(columns, schema=schema)
        begin += count


def _fill(columns: list[pa.Array], layout: TableLayout, told: Mapping[str, pa.Array]) -> None:
    """Fill in what the definition did not give messages; their type is then its xid."""
    kind = pa.scalar(layout.definition)
    for name, value in {**told, "ce_type": kind}.items():
        number = layout.content.get_field_index(name)
        column = columns[number]
        if column.null_count == len(column) and value is not kind:
            columns[number] = value
        elif column.null_count:
            columns[number] = pc.coalesce(column, value)


def _identities(piece: Piece, lines: Lines) -> bytes:
    """The digests of the rows of a piece, one after the other."""
    if piece.native:
        return digests_of_lines(lines.values.take(piece.rows).to_pylist())
    found = [piece.columns[piece.layout.content.get_field_index(name)] for name in _EVENT]
    sources, ids = (pa.chunked_array(column).combine_chunks() for column in found)
    return digests_of_events(
        sources, ids, lambda row: lines.values[piece.rows[row].as_py()].as_py()
    )
