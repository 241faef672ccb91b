"""Room on a disk that is set aside for deletes: they need some of it to be written.

A database of SQLite grows by every write, by those that delete as well: they go to its log first.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Final

SIZE: Final = 4 * 1024 * 1024
"""Enough for some hundreds of entities to be deleted at once."""
_BLOCK: Final = 64 * 1024


class Reserve:
    """A file of no content beside a database; ``size`` 0: there is none."""

    def __init__(self, database: str, size: int) -> None:
        self.size = size
        self._file = Path(f"{database}-reserve")

    def take(self) -> bool:
        """Set the room aside, if it is not yet; ``False``: the disk is too full for it."""
        try:
            if not self.size or (self._file.is_file() and self._file.stat().st_size == self.size):
                return True
            with self._file.open("wb") as file:
                for _ in range(0, self.size, _BLOCK):
                    file.write(os.urandom(_BLOCK))  # what compresses well would set nothing aside
        except OSError as error:
            self.release()
            return error.errno not in (errno.ENOSPC, errno.EDQUOT)
        return True

    def release(self) -> None:
        """Give the room free."""
        self._file.unlink(missing_ok=True)

    def free(self) -> int:
        """How many bytes of the disk are free."""
        disk = os.statvfs(self._file.parent)
        return disk.f_bavail * disk.f_frsize
