"""Files by their addresses: what a store fails at is told apart from what is wrong in a file.

Arrow raises the same kind of error for bytes that it cannot make sense of and for bytes that a
store did not hand over. The first become a dead letter; the second must stop the batch, or a
store that is away for a minute would lose whole files. So a file of a store is read through
:class:`_Stored`, whose errors are no ``OSError``.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import unquote, urlsplit

import pyarrow as pa
from pyarrow import fs

from heraldry.errors import PipelineError
from heraldry.pipeline.lake.object_store import filesystem

_AHEAD = 1024 * 1024


def open_file(source: str) -> pa.NativeFile:
    """A file by its address, as Spark and object stores write it; FileNotFoundError if gone."""
    scheme = urlsplit(source).scheme
    if scheme in ("", "file"):
        return fs.LocalFileSystem().open_input_file(unquote(urlsplit(source).path))
    system, path = filesystem(source)
    return open_stored(system, path, source)


def open_stored(system: fs.FileSystem, path: str, source: str) -> pa.NativeFile:
    """A file of a store; PipelineError for all that the store fails at, now and later."""
    with _store_blamed(source):
        raw = _Stored(system.open_input_file(path), source)
    # Parquet asks for what it needs in one go; readers of streams ask for a few bytes at a time,
    # and each would be a request of its own.
    whole = path.lower().endswith(".parquet")
    return pa.PythonFile(raw if whole else io.BufferedReader(raw, _AHEAD), mode="r")


class _Stored(io.RawIOBase):
    """A file of a store, whose failures are the store's and not the file's."""

    def __init__(self, file: pa.NativeFile, source: str) -> None:
        self._file, self._source = file, source

    def readable(self) -> bool:
        """It is there to be read."""
        return True

    def seekable(self) -> bool:
        """From any place."""
        return True

    def tell(self) -> int:
        """Where it is read next."""
        return int(self._file.tell())

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Go on elsewhere."""
        return int(self._file.seek(offset, whence))

    def readinto(self, buffer: Any, /) -> int:
        """Read some bytes; PipelineError where the store does not hand them over."""
        with _store_blamed(self._source):
            return int(self._file.readinto(buffer))

    def close(self) -> None:
        """Free what is held for it."""
        self._file.close()
        super().close()


@contextmanager
def _store_blamed(source: str) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise
    except (OSError, pa.ArrowException) as error:
        told = str(error).partition("\n")[0][:300] or type(error).__name__
        raise PipelineError("read a file", f"{source}: {told}") from error
