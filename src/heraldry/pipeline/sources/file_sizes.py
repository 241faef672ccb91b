"""How many bytes of files hold so many messages: an estimate, from a look at some of them."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from heraldry.pipeline.sources.file_reading import fits

_SAMPLE_FILES = 64
GUESS = 512
"""The bytes of a message that nothing is known of."""
_SAMPLE_BYTES = 64 * 1024


def bytes_for(folder: str, endings: tuple[str, ...], messages: int) -> int:
    """How many bytes on disk hold about so many messages, by the file with the shortest ones."""
    lengths = []
    paths = (path for path in Path(folder).rglob("*") if fits(path.name, endings))
    for path in sorted(p for p in paths if not p.name.startswith((".", "_")))[:_SAMPLE_FILES]:
        try:
            count, length = _sample(path)
        except (OSError, EOFError, zlib.error, pa.ArrowException):
            continue  # gone meanwhile, or not what its name says: that is told when it is read
        if length:
            lengths.append(length / count)
    return max(1, int(messages * min(lengths, default=GUESS)))


def _sample(path: Path) -> tuple[int, int]:
    """The messages at the start of a file, and the bytes on disk that they take."""
    size = path.stat().st_size
    match path.suffix.lower():
        case ".parquet":
            return max(1, pq.read_metadata(path).num_rows), size
        case ".gz":
            with gzip.open(path) as handle:
                text = handle.read(_SAMPLE_BYTES)
            return max(1, text.count(b"\n")), int(len(text) * size / max(1, _gzip_size(path)))
        case ".jsonl" | ".ndjson":
            with path.open("rb") as handle:
                text = handle.read(_SAMPLE_BYTES)
            return max(1, text.count(b"\n")), len(text)
    return 1, min(size, GUESS)


def _gzip_size(path: Path) -> int:
    """The unpacked size that a gzip file states at its end."""
    with path.open("rb") as handle:
        handle.seek(-4, 2)
        return int.from_bytes(handle.read(4), "little")
