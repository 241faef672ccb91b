"""Letters for other tools: the original messages as lines, or as Kafka records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import BinaryIO

import pyarrow.compute as pc

from heraldry.pipeline.lake.tables import open_warehouse
from heraldry.pipeline.letters.deadletters import letter_batches
from heraldry.pipeline.letters.foreign import one_line, wrap

_COLUMNS = (
    "line",
    "masked",
    "source",
    "position",
    "stage",
    "rule",
    "definition",
    "path",
    "message",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """How many messages were written, and how many letters no longer hold theirs."""

    written: int
    masked: int


def export_letters(
    warehouse: str,
    target: BinaryIO,
    *,
    where: pc.Expression | None = None,
    closed: bool = False,
    connect: bool = False,
) -> Exported:
    """Write the messages of letters, one a line; masked ones are no messages that anyone sent."""
    written = masked = 0
    found = letter_batches(open_warehouse(warehouse), list(_COLUMNS), where=where, closed=closed)
    for batch in found:
        for row in batch.to_pylist():
            if row["masked"]:
                masked += 1
                continue
            target.write((wrap(row) if connect else one_line(row["line"])) + b"\n")
            written += 1
    return Exported(written=written, masked=masked)
