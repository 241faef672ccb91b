"""Text that is read from a snapshot while it is sent."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import ExitStack


class Streamed(Iterator[bytes]):
    """Pieces with the snapshot they come from, which ends with them or when they are closed."""

    def __init__(self, pieces: Iterator[bytes], snapshot: ExitStack) -> None:
        self._pieces, self._snapshot = pieces, snapshot

    def __next__(self) -> bytes:
        """The next piece."""
        try:
            return next(self._pieces)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let go of the snapshot, after what reads from it."""
        if isinstance(self._pieces, Generator):
            self._pieces.close()
        self._snapshot.close()
