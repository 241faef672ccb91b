"""The files of a folder, in every form: ``files:DIR``, or ``files:s3://bucket/path``.

Plain lines (``.jsonl``, ``.ndjson``) are read by Spark's text reader, which splits large files;
packed lines, JSON, Parquet and Avro by their path in the workers (``file_reading``). Spark's own
file source keeps the log of what was read. A file must appear whole: write it under another
name, or one that starts with ``.`` or ``_``, and rename it. A folder on object storage is read
by :mod:`stored_files`.

Source option: ``on_loss=continue`` (a file that is gone before it was read does not stop the job).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from heraldry.errors import UsageError
from heraldry.pipeline.lake.layout import CHECKPOINT
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.settings import LandSettings
from heraldry.pipeline.sources.file_lines import LineCounter
from heraldry.pipeline.sources.file_reading import ENDINGS, LINES, SCHEMA, read_paths
from heraldry.pipeline.sources.file_sizes import GUESS, bytes_for
from heraldry.pipeline.sources.left_alone import EmptyFiles, below, tell_left_alone
from heraldry.pipeline.sources.opening_options import goes_on
from heraldry.pipeline.sources.source import Guarantee, Lag, ReaderFactory, Tell, unheard
from heraldry.pipeline.sources.stored_files import FORMAT, LOG, StoredFilesDataSource

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_SCHEMAS = {
    "text": "value string",
    "binaryFile": "path string, modificationTime timestamp, length bigint, content binary",
}
_PARTS = 8
"""Into how many tasks a batch from object storage is split at least, where it has so many files."""
_DEFAULT_BYTES = 512 * 1024 * 1024
KNOWN = ("on_loss",)
"""The source options of files."""


class FilesSource:
    """The files of one folder; each is read once, by its name."""

    database: str | None = None
    packages: tuple[str, ...] = ()
    guarantee = Guarantee(
        replayable=True, repeats=False, ordered="within a file", identity="file and place in it"
    )

    def __init__(self, folder: str, settings: LandSettings) -> None:
        check_folder(folder)
        self.name = f"files:{folder}"
        self._folder, self._limit = folder, settings.max_per_batch
        self._goes_on = goes_on(settings.source_options)
        self._empty: EmptyFiles | None = None
        self._checkpoint = settings.checkpoint or Storage.open(settings.warehouse).join(CHECKPOINT)

    @contextmanager
    def open(self, tell: Tell = unheard) -> Iterator[None]:
        """Files need nothing to be held; what will not be read of a folder is told."""
        with suppress(OSError):  # whoever reads them tells
            if "://" not in self._folder:
                tell_left_alone(below(self._folder), tell)
                self._empty = EmptyFiles(self._folder, tell)
                self._empty.look()
            elif not Storage.open(self._checkpoint).names(LOG):  # else some are known
                stored = Storage.open(self._folder).walk("")
                tell_left_alone((file.path for file in stored), tell)
        try:
            yield
        finally:
            self._empty = None

    def read(self, spark: SparkSession) -> DataFrame:
        """The stream of lines with their places: ``value`` binary, ``source``, ``block``, number.

        The number of messages of a file is not known before it is read, so a bound on messages
        becomes one on bytes by the shortest mean length of messages, rounded up to whole files.
        """
        if "://" in self._folder:
            return self._stored(spark)
        lines = self._files(spark, "text", LINES).selectExpr(
            "cast(value as binary) as value",
            "_metadata.file_path as source",
            "_metadata.file_block_start as block",
            "cast(null as bigint) as number",
        )
        others = self._files(spark, "binaryFile", ENDINGS)
        # Without its content a file is but a path: the workers open it.
        paths = others.selectExpr("_metadata.file_path as source")
        return lines.union(paths.mapInArrow(partial(read_paths, goes_on=self._goes_on), SCHEMA))

    def reader(self) -> ReaderFactory:
        """Lines by their block and number; asked for before every batch."""
        if self._empty is not None:
            self._empty.look()
        return LineCounter

    def lag(self, end: Any) -> Lag:
        """A folder does not tell."""
        return Lag()

    def _stored(self, spark: SparkSession) -> DataFrame:
        """The stream of a folder on object storage; how long its messages are is only guessed."""
        spark.dataSource.register(StoredFilesDataSource)
        limit = self._limit * GUESS if self._limit else _DEFAULT_BYTES
        return (
            spark.readStream.format(FORMAT)
            .option("folder", self._folder)
            .option("checkpoint", self._checkpoint)
            .option("bytes", str(limit))
            .option("parts", str(_PARTS))
            .option("goes_on", "true" if self._goes_on else "false")
            .load()
        )

    def _files(self, spark: SparkSession, kind: str, endings: tuple[str, ...]) -> DataFrame:
        folder = str(Path(self._folder).resolve())  # Spark has a working directory of its own
        limit = bytes_for(folder, endings, self._limit) if self._limit else _DEFAULT_BYTES
        return (
            spark.readStream.format(kind)
            .schema(_SCHEMAS[kind])
            .option("lineSep", "\n")
            .option("pathGlobFilter", pattern(endings))
            .option("recursiveFileLookup", "true")
            .option("maxBytesPerTrigger", str(limit))
            # A file counts as new by its name alone, however old its date says it is.
            .option("maxFileAge", "36500d")
            # Gone amid a batch; what is gone before it Spark leaves out, whatever this says.
            .option("ignoreMissingFiles", "true" if self._goes_on else "false")
            .load(address(folder))
        )


def address(folder: str) -> str:
    """A folder of this machine as Spark is told of it: its full path, with its scheme.

    On a cluster a bare path may mean another file system. As it is: Hadoop takes a percent sign
    for one.
    """
    return f"file://{folder}"


def pattern(endings: tuple[str, ...]) -> str:
    """Names that end so in any case, as Hadoop writes patterns."""
    every = ("".join(f"[{c}{c.upper()}]" if c.isalpha() else c for c in one) for one in endings)
    return f"*{{{','.join(every)}}}"


def refuse_own(folder: str, place: str, option: str) -> None:
    """Refuse to read a folder that the job writes into: its own files would be messages again."""
    own = Storage.open(place).url
    if "://" in folder:
        seen = _is_seen(own, Storage.open(folder).url)
    else:  # as it is named, and as it is: either may be read
        seen = any(_is_seen(way(own), way(folder)) for way in (os.path.abspath, os.path.realpath))
    if seen:
        told = f"{option} {place} is in the folder that is read: its files would be messages again"
        raise UsageError(told, "put it elsewhere, or below a name that begins with _")


def _is_seen(place: str, folder: str) -> bool:
    """Whether a place is a folder, or lies in it below names that are read."""
    path = PurePosixPath(place)
    if not path.is_relative_to(folder):
        return False
    parts = path.relative_to(folder).parts
    # Spark takes _a=b for the value of a partition.
    return not any(one.startswith(".") or (one[0] == "_" and "=" not in one) for one in parts)


def check_folder(folder: str) -> None:
    """Refuse what is not a folder that Spark reads as it is named, nor one on object storage."""
    if "://" in folder:
        Storage.open(folder)
        return
    if not Path(folder).is_dir():
        raise UsageError(f"there is no folder {folder!r}", "--from files:DIR names a folder")
    # Spark is given the full path, so a folder above may be what it takes for a pattern.
    path = str(Path(folder).resolve())
    if set(path) & set("*?[]{}\\"):
        told = f"Spark would read {path!r} as a pattern"
        raise UsageError(told, "rename the folder that has one of *?[]{}\\ in its name")
