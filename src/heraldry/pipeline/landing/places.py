"""What is known of every row besides its content: where and when its line was read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from heraldry.pipeline.identities.digests import IDENTITY
from heraldry.pipeline.sources.lines import Lines


def placed(table: pa.Table, lines: Lines, rows: pa.Array, prefix: str) -> pa.Table:
    """Rows with the places of the lines they came from."""
    table = table.append_column(f"{prefix}source", lines.sources.take(rows))
    table = table.append_column(f"{prefix}position", lines.positions.take(rows))
    if lines.received is not None:
        table = table.append_column(f"{prefix}received", lines.received.take(rows))
    return table


def completed(table: pa.Table, known: Mapping[str, Any], schema: pa.Schema) -> pa.Table:
    """Rows with what is the same for all of them, unless they say it, and in a table's order."""
    for name, value in known.items():
        if name not in table.column_names:
            scalar = pa.scalar(value, schema.field(name).type)
            table = table.append_column(name, pa.repeat(scalar, table.num_rows))
    if IDENTITY in table.column_names:
        schema = schema.append(table.schema.field(IDENTITY))
    columns = [table[name] for name in schema.names]
    kinds = zip(columns, schema.types, strict=True)
    # most are of their type already, and asking costs less than casting
    fitting = [one if one.type == kind else one.cast(kind) for one, kind in kinds]
    return pa.Table.from_arrays(fitting, schema=schema)
