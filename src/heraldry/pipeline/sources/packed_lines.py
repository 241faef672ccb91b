"""Lines of files, packed or plain: read as far as they can be unpacked."""

from __future__ import annotations

import bz2
import gzip
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa

from heraldry.messages.line import MAX_LINE

_CHUNK = 256 * 1024
_READERS: dict[str, Callable[[Any], Any]] = {
    ".gz": lambda file: gzip.GzipFile(fileobj=file),
    ".bz2": lambda file: bz2.BZ2File(file),
    ".zst": lambda file: pa.CompressedInputStream(file, "zstd"),
}
SUFFIXES = tuple(_READERS)
"""How the names of packed files end."""


def read_lines(file: pa.NativeFile, suffix: str) -> Iterator[list[bytes]]:
    """The lines of a file, some at a time; what unpacking raises comes after them.

    Of a line that is too long for any message only the beginning is kept, so that memory has a
    bound: it becomes a dead letter.
    """
    unpacked = _READERS[suffix](file) if suffix in SUFFIXES else file
    read = getattr(unpacked, "read1", unpacked.read)
    held = b""
    while chunk := read(_CHUNK):
        first, *others = chunk.split(b"\n")
        held += first[: max(0, MAX_LINE + 1 - len(held))]
        if others:
            yield [held, *others[:-1]]
            held = others[-1]
    if held:
        yield [held]
