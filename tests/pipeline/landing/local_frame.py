"""Spark's part of a micro-batch without Spark: partitions of rows, mapped in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

Mapped = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


@dataclass(frozen=True)
class LocalRow:
    """One row of a result."""

    values: dict[str, Any]

    def asDict(self) -> dict[str, Any]:  # noqa: N802
        return self.values


@dataclass(frozen=True)
class LocalFrame:
    """Partitions of Arrow batches; each partition is mapped for itself."""

    partitions: Sequence[Sequence[pa.RecordBatch]]

    def mapInArrow(self, function: Mapped, schema: str) -> LocalFrame:  # noqa: N802
        del schema
        return LocalFrame([list(function(iter(part))) for part in self.partitions])

    def collect(self) -> list[LocalRow]:
        return [
            LocalRow(row) for part in self.partitions for batch in part for row in batch.to_pylist()
        ]


def frame_of(lines: Sequence[bytes], first: int, parts: int, source: str = "file") -> LocalFrame:
    """Lines in partitions; a line's place is its number in the stream."""
    cut = max(1, -(-len(lines) // parts))
    return LocalFrame(
        [
            [_batch(lines[begin : begin + cut], first + begin, source)]
            for begin in range(0, len(lines), cut)
        ]
    )


def _batch(lines: Sequence[bytes], first: int, source: str) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict(
        {
            "value": pa.array(lines, pa.binary()),
            "source": pa.array([source] * len(lines), pa.string()),
            "block": pa.array(range(first, first + len(lines)), pa.int64()),
        }
    )
