"""Lines of files: every one has its place, by the block it stands in and its number there."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from heraldry.pipeline.sources.line_memory import LineMemory
from heraldry.pipeline.sources.lines import Lines


class LineCounter:
    """Gives every line its place: the byte its block starts at, and its number in the block."""

    def __init__(self) -> None:
        self._last: tuple[str, int] | None = None
        self._count = 0
        self._memory = LineMemory()

    def lines(self, batches: Sequence[pa.RecordBatch]) -> Lines:
        """Number the lines; a partition reads one block after the other, each in order.

        Lines of files that are read by their path have their ``number`` already.
        """
        table = pa.Table.from_batches(list(batches))
        sources = _array(table["source"].dictionary_encode())
        blocks = _array(table["block"]).to_numpy(zero_copy_only=False)
        codes = sources.indices.to_numpy(zero_copy_only=False)
        starts = np.flatnonzero((codes[1:] != codes[:-1]) | (blocks[1:] != blocks[:-1])) + 1
        bounds = [0, *starts.tolist(), len(codes)] if len(codes) else []
        numbers = np.arange(len(codes), dtype=np.int64)
        for begin, end in pairwise(bounds):
            key = (sources.dictionary[int(codes[begin])].as_py(), int(blocks[begin]))
            if key != self._last:
                self._last, self._count = key, 0
            numbers[begin:end] += self._count - begin
            self._count += end - begin
        known = pa.array(numbers)
        if "number" in table.column_names:
            known = pc.coalesce(_array(table["number"]), known)
        positions = pc.binary_join_element_wise(
            pa.array(blocks).cast(pa.string()), known.cast(pa.string()), "+"
        )
        return Lines(self._memory.joined(table["value"]), sources, positions)


def _array(column: pa.ChunkedArray) -> pa.Array:
    """A column as one array."""
    whole = column.combine_chunks()
    return whole.chunk(0) if isinstance(whole, pa.ChunkedArray) else whole
