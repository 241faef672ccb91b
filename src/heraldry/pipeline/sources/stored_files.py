"""Files on object storage as a stream: listed and read through Arrow, without Hadoop's clients.

Spark's own file source would need jars for every store. Here the driver lists the folder and
writes the files that are new into a log in the checkpoint; offsets are numbers of files in that
log, so a batch can be read again. Workers read the files by their addresses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import msgspec
import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit, SupportsTriggerAvailableNow

from heraldry.errors import PipelineError
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.sources.file_reading import SCHEMA, is_read, read_file

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

FORMAT = "heraldry_stored_files"
LOG = "heraldry/files"
"""Where the log is in the checkpoint."""
_AT_ONCE = 16
_LARGEST = 64 * 1024 * 1024


class LoggedFile(msgspec.Struct, frozen=True, array_like=True):
    """One file below the folder, and its bytes."""

    path: str
    size: int


class FileLog:
    """The files of a folder in the order in which they were first seen, kept for ever.

    A file counts by its name alone, but not while it is empty; names that begin with ``.`` or
    ``_`` are others' business.
    """

    def __init__(self, folder: Storage, kept: Storage, path: str) -> None:
        self._folder, self._kept, self._path = folder, kept, path
        self.files: list[LoggedFile] = []
        # A draft is left out: whoever wrote it was killed, and its files are new again.
        names = [f"{path}/{name}" for name in kept.names(path) if name.endswith(".json")]
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            for data in pool.map(kept.read, names):
                self.files += msgspec.json.decode(data or b"[]", type=list[LoggedFile])
        self._seen = {file.path for file in self.files}

    def look(self) -> int:
        """Note the files that are new; how many are known now."""
        found = (one for one in self._folder.walk("") if one.path not in self._seen)
        wanted = (one for one in found if one.size and is_read(one.path))
        fresh = sorted(wanted, key=lambda one: one.modified)
        if fresh:
            files = [LoggedFile(one.path, one.size) for one in fresh]
            path = f"{self._path}/{len(self.files):012d}.json"
            if self._kept.stat(path) is not None:
                # This run hung, lost its lease, and woke up: what it lists counts no more.
                reason = "another job has gone on with this checkpoint"
                raise PipelineError("listed a folder", reason)
            self._kept.write(path, msgspec.json.encode(files))
            self.files += files
            self._seen.update(one.path for one in fresh)
        return len(self.files)


class StoredFilesDataSource(DataSource):
    """The format of Spark that reads a folder on object storage."""

    @classmethod
    def name(cls) -> str:
        """What the format is called."""
        return FORMAT

    def schema(self) -> str:
        """A line, its file, and its place there."""
        return SCHEMA

    def streamReader(self, schema: StructType) -> StoredFilesReader:  # noqa: N802 - Spark's name
        """The stream."""
        del schema
        return StoredFilesReader(self.options)


class FilesPartition(InputPartition):
    """Some files that one task reads."""

    def __init__(self, sources: Sequence[str]) -> None:
        super().__init__(tuple(sources))
        self.sources = tuple(sources)


class StoredFilesReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Plans batches in the driver; :meth:`read` runs in the workers, which reach the same store."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._folder = Storage.open(options["folder"])
        kept = Storage.open(options["checkpoint"])
        self._log = FileLog(self._folder, kept, LOG)
        self._bytes, self._parts = int(options["bytes"]), int(options["parts"])
        self._goes_on = options.get("goes_on") == "true"
        self._target: int | None = None

    def initialOffset(self) -> dict[str, int]:  # noqa: N802
        """Before the first file."""
        return {"files": 0}

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """Read what is there now, and then end."""
        self._target = self._log.look()

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:  # noqa: N802
        """How far the next batch goes: so many bytes, rounded up to whole files."""
        del limit
        begin = start["files"]
        end = self._log.look() if self._target is None else self._target
        size = 0
        for number in range(begin, end):
            if size >= self._bytes:
                return {"files": number}
            size += self._log.files[number].size
        return {"files": max(begin, end)}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> list[InputPartition]:
        """As many parts as there are cores, or more where they would be large."""
        files = self._log.files[start["files"] : end["files"]]
        whole = sum(file.size for file in files)
        largest = min(whole // self._parts + 1, _LARGEST)
        parts: list[InputPartition] = []
        held: list[str] = []
        size = 0
        for file in files:
            if held and size + file.size > largest:
                parts.append(FilesPartition(held))
                held, size = [], 0
            held.append(self._folder.join(file.path))
            size += file.size
        return [*parts, FilesPartition(held)] if held else parts

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The lines of some files."""
        assert isinstance(partition, FilesPartition)
        for source in partition.sources:
            yield from read_file(source, goes_on=self._goes_on)
