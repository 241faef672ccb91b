"""What runs in Spark's Python workers: lines in, Parquet files per table out."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pyarrow as pa

from heraldry.pipeline.landing.lander import RESULT, Lander, WorkOrder
from heraldry.pipeline.sources.lines import Lines
from heraldry.pipeline.sources.source import LineReader, ReaderFactory

SCHEMA = (
    "path string, table string, file string, rows bigint, size bigint, partition string,"
    " stats string, newest bigint, reasons string, nearest string, identities binary,"
    " definition string"
)
"""What a partition says of every file it wrote: ``lander.RESULT`` in Spark's words."""


def land_partition(
    order: WorkOrder, opened: ReaderFactory
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The function for ``mapInArrow``: it lands a partition and says which files it wrote."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        lander = Lander(order)
        reader = opened()
        held: list[pa.RecordBatch] = []
        size = given = 0

        def take() -> pa.RecordBatch | None:
            nonlocal given
            lines = _read(reader, held)
            given += len(lines.values)
            return lander.take(lines)

        with _uncollected():
            for batch in batches:
                held.append(batch)
                size += batch.nbytes
                if size >= lander.appetite:
                    if (written := take()) is not None:
                        yield written
                    size = 0
            if held and (written := take()) is not None:
                yield written
            yield lander.finish()
            yield _count(given)

    return run


def _count(lines: int) -> pa.RecordBatch:
    """How many lines there were: what the files hold must add up to that."""
    row = {name: [None] for name in RESULT.names} | {"path": [""], "rows": [lines]}
    return pa.RecordBatch.from_pydict(row, schema=RESULT)


def _read(reader: LineReader, batches: list[pa.RecordBatch]) -> Lines:
    """The lines of some batches, which are let go: nothing is held twice."""
    lines = reader.lines(batches)
    batches.clear()
    return lines


@contextmanager
def _uncollected() -> Iterator[None]:
    """Keep the garbage collector away: batches make many objects and hardly any cycles.

    What was made before, the catalog above all, stays for good and is never looked at again. A
    worker lives for many partitions, so memory that Arrow keeps for itself is given back. It takes
    what numpy and Python have let go of: a pool of its own would stand beside theirs.
    """
    pa.set_memory_pool(pa.system_memory_pool())
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.collect()
        pa.default_memory_pool().release_unused()
