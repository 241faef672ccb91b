"""Memory for lines: used again and again, because new memory costs more than the copy into it."""

from __future__ import annotations

import sys

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

SPARE = 64
"""So many zero bytes stand behind the lines: compiled code reads them where they are."""

_MOST = 2**31 - 1
_UNUSED = 2
"""References to memory that nobody looks at: our own, and that of the one who counts."""


class LineMemory:
    """Joins the parts of a column of lines; what was joined before stays as long as it is held."""

    def __init__(self) -> None:
        self._memory = np.empty(0, np.uint8)

    def joined(self, column: pa.ChunkedArray) -> pa.Array:
        """The lines as one array."""
        parts = [_part(chunk) for chunk in column.chunks]
        size = sum(int(offsets[-1] - offsets[0]) for offsets, _ in parts)
        if column.null_count or size > _MOST or not pa.types.is_binary(column.type):
            whole = column.combine_chunks()
            return whole.chunk(0) if isinstance(whole, pa.ChunkedArray) else whole
        data, places = self._room(size + SPARE), np.zeros(len(column) + 1, np.int32)
        row = at = 0
        for offsets, values in parts:
            first, last, count = int(offsets[0]), int(offsets[-1]), len(offsets) - 1
            data[at : at + last - first] = values[first:last]
            places[row : row + count + 1] = offsets + np.int32(at - first)
            row, at = row + count, at + last - first
        data[at:] = 0
        buffers = [None, pa.py_buffer(places), pa.py_buffer(data)]
        return pa.Array.from_buffers(pa.binary(), len(column), buffers)

    def _room(self, size: int) -> NDArray[np.uint8]:
        if len(self._memory) < size or sys.getrefcount(self._memory) > _UNUSED:
            self._memory = np.empty(size + size // 8, np.uint8)
        return self._memory[:size]


def _part(chunk: pa.Array) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    """Where the lines of a part begin and end, and its bytes."""
    _, places, values = chunk.buffers()
    if not len(chunk) or values is None:
        return np.zeros(len(chunk) + 1, np.int32), np.empty(0, np.uint8)
    offsets = np.frombuffer(places, np.int32)[chunk.offset : chunk.offset + len(chunk) + 1]
    return offsets, np.frombuffer(values, np.uint8)
