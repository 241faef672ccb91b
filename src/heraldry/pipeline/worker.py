"""What runs in Spark's Python workers: lines in, Parquet files per table out."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from heraldry.pipeline.lander import Lander, Lines, WorkOrder

RESULT = "path string, table string, file string, rows bigint, size bigint"
"""What a partition says of every file it wrote."""

_FLUSH_BYTES = 64 * 1024 * 1024


def land_partition(
    order: WorkOrder,
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The function for ``mapInArrow``: it lands a partition and says which files it wrote."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        lander = Lander(order)
        counter = LineCounter()
        held: list[pa.RecordBatch] = []
        size = 0
        with _uncollected():
            for batch in batches:
                held.append(batch)
                size += batch.nbytes
                if size >= _FLUSH_BYTES:
                    yield lander.land(counter.lines(held))
                    held, size = [], 0
            if held:
                yield lander.land(counter.lines(held))

    return run


@contextmanager
def _uncollected() -> Iterator[None]:
    """Keep the garbage collector away: batches make many objects and hardly any cycles.

    What was made before, the catalog above all, stays for good and is never looked at again. A
    worker lives for many partitions, so memory that Arrow keeps for itself is given back.
    """
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.collect()
        pa.default_memory_pool().release_unused()


class LineCounter:
    """Gives every line its place: the byte its block starts at, and its number in the block."""

    def __init__(self) -> None:
        self._last: tuple[str, int] | None = None
        self._count = 0

    def lines(self, batches: list[pa.RecordBatch]) -> Lines:
        """Number the lines; a partition reads one block after the other, each in order."""
        table = pa.Table.from_batches(batches).combine_chunks()
        sources = _array(table["source"]).dictionary_encode()
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
        positions = pc.binary_join_element_wise(
            pa.array(blocks).cast(pa.string()), pa.array(numbers).cast(pa.string()), "+"
        )
        return Lines(_array(table["value"]), sources, positions)


def _array(column: pa.ChunkedArray) -> pa.Array:
    """A column as one array."""
    whole = column.combine_chunks()
    return whole.chunk(0) if isinstance(whole, pa.ChunkedArray) else whole
