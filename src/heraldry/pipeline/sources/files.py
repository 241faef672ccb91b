"""Files of JSON lines, plain or gzipped: ``files:DIR``.

Spark's own file source keeps the log of what was read. A file must appear whole: write it under
another name, or one that starts with ``.`` or ``_``, and rename it.
"""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

from heraldry.errors import UsageError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

GLOB = "*.{jsonl,jsonl.gz}"
_DEFAULT_BYTES = 512 * 1024 * 1024
_SAMPLE_FILES = 64
_GUESS = 512
_SAMPLE_BYTES = 64 * 1024


def read_files(spark: SparkSession, folder: str, max_per_batch: int | None) -> DataFrame:
    """The stream of lines with their place: ``value`` binary, ``source``, ``block``.

    The number of messages of a file is not known before it is read, so a bound on messages
    becomes one on bytes by the shortest mean length of lines, rounded up to whole files.
    """
    check_folder(folder)
    folder = str(Path(folder).resolve())  # Spark has a working directory of its own
    limit = _bytes_for(folder, max_per_batch) if max_per_batch else _DEFAULT_BYTES
    lines = (
        spark.readStream.format("text")
        .option("lineSep", "\n")
        .option("pathGlobFilter", GLOB)
        .option("recursiveFileLookup", "true")
        .option("maxBytesPerTrigger", str(limit))
        # A file counts as new by its name alone, however old its date says it is.
        .option("maxFileAge", "36500d")
        .load(folder)
    )
    return lines.selectExpr(
        "cast(value as binary) as value",
        "_metadata.file_path as source",
        "_metadata.file_block_start as block",
    )


def check_folder(folder: str) -> None:
    """Refuse what is not a folder that Spark reads as it is named."""
    if "://" in folder or not Path(folder).is_dir():
        raise UsageError(f"there is no folder {folder!r}", "--from files:DIR names a folder")
    if set(folder) & set("*?[]{}\\"):
        raise UsageError(f"Spark would read {folder!r} as a pattern", "rename the folder")


def _bytes_for(folder: str, messages: int) -> int:
    """How many bytes on disk hold about so many messages, by the file with the shortest lines."""
    lengths = []
    paths = (p for p in Path(folder).rglob("*.jsonl*") if p.name.endswith((".jsonl", ".jsonl.gz")))
    for path in sorted(p for p in paths if not p.name.startswith((".", "_")))[:_SAMPLE_FILES]:
        try:
            count, length = _sample(path)
        except (OSError, EOFError, zlib.error):
            continue  # gone meanwhile, or not what its name says: reading it is Spark's matter
        if length:
            lengths.append(length / count)
    return max(1, int(messages * min(lengths, default=_GUESS)))


def _sample(path: Path) -> tuple[int, int]:
    """The lines at the start of a file, and the bytes on disk that they take."""
    if path.suffix != ".gz":
        with path.open("rb") as handle:
            text = handle.read(_SAMPLE_BYTES)
        return max(1, text.count(b"\n")), len(text)
    with gzip.open(path) as handle:
        text = handle.read(_SAMPLE_BYTES)
    share = path.stat().st_size / max(1, _gzip_size(path))
    return max(1, text.count(b"\n")), int(len(text) * share)


def _gzip_size(path: Path) -> int:
    """The unpacked size that a gzip file states at its end."""
    with path.open("rb") as handle:
        handle.seek(-4, 2)
        return int.from_bytes(handle.read(4), "little")
