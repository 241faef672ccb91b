"""The letters that one manifest of a replay decides."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from heraldry.pipeline.landing.relanding import Place

_CHUNK = 50_000
_CHUNK_BYTES = 64 * 1024 * 1024


class Chunk:
    """Letters that are replayed together: bounded, and no two of one place."""

    def __init__(self) -> None:
        self.judged: list[pa.RecordBatch] = []
        self.masked: list[str] = []
        self.held: list[pa.RecordBatch] = []
        self._places: set[Place] = set()
        self._bytes = 0

    @property
    def is_full(self) -> bool:
        """Whether it is time to replay it."""
        return len(self._places) >= _CHUNK or self._bytes >= _CHUNK_BYTES

    def add(self, batch: pa.RecordBatch) -> int:
        """Take letters, and hold back those whose place is taken: how many were taken."""
        places = zip(batch["source"].to_pylist(), batch["position"].to_pylist(), strict=True)
        fresh = []
        for place in places:
            fresh.append(place not in self._places)
            self._places.add(place)
        mask = pa.array(fresh, pa.bool_())
        taken = batch.filter(mask)
        self.judged.append(taken)
        self._bytes += taken.nbytes
        if taken.num_rows < batch.num_rows:
            self.held.append(batch.filter(pc.invert(mask)))
        return int(taken.num_rows)
