"""A raw log as a source: ``raw-log:DIR``, written by ``heraldry intake`` or by a job of its own.

Offsets are numbers of messages, so a batch can be read again, and a message has its number as its
place. What every reader has done with is removed, one batch late.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.errors import PySparkAttributeError
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow

from heraldry.errors import RawLogError, UsageError
from heraldry.messages.rawlog import Piece, RawLog
from heraldry.messages.source_url import normal_source
from heraldry.pipeline.lake.ledger import Ledger
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.settings import LandSettings
from heraldry.pipeline.sources.lines import Lines
from heraldry.pipeline.sources.remembered import Remembered
from heraldry.pipeline.sources.source import Guarantee, Lag, ReaderFactory, Tell, unheard

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

FORMAT = "heraldry_raw_log"
SCHEMA = "value binary, position bigint, taken timestamp"
NAME, BEGIN = "raw_log", "raw_log_begin"
"""What a job remembers the name of its log as, and the number that it began with."""

_ARROW = pa.schema(
    [("value", pa.binary()), ("position", pa.int64()), ("taken", pa.timestamp("us", "UTC"))]
)
_BATCH = 1_000_000
_ROWS = 10_000
_SMALLEST, _LARGEST = 1024 * 1024, 64 * 1024 * 1024


class OneLog:
    """A job reads one log for ever: in another one, its numbers are those of other messages.

    The checkpoint keeps the name of the log. Earlier versions kept none: then it is the log that
    is there, once that is seen to be as long as what was read.
    """

    def __init__(self, log: RawLog, place: str) -> None:
        self._log, self._kept = log, Remembered.of(place, NAME)
        self._name: str | None = None

    def check(self) -> None:
        """RawLogError where the log is not the one that the job has read."""
        self._name = self._name or self._kept.find()
        if self._name is not None:
            self._log.check_name(self._name)

    def keep(self) -> bool:
        """From now on it is this log, where it has begun; whether there was none before."""
        if self._name is not None or (name := self._log.name()) is None:
            return False
        self._name = self._kept.keep(name)
        return True

    def forget(self) -> None:
        """It may be another log: the job has taken nothing from this one."""
        self._kept.forget()
        self._name = None


class RawLogSource:
    """The messages of a raw log that others write; they may come again, as their sources do."""

    database: str | None = None
    packages: tuple[str, ...] = ()
    guarantee = Guarantee(
        replayable=True,
        repeats=True,
        ordered="as they were taken in",
        identity="number in the log",
    )

    def __init__(self, folder: str, settings: LandSettings, checkpoint: str) -> None:
        if not Path(folder).is_dir():
            advice = "begin one: heraldry intake --log DIR"
            raise UsageError(f"there is no raw log at {folder!r}", advice)
        self._log = RawLog(folder)
        self._limit = settings.max_per_batch or _BATCH
        self._reader, self._place = self._named(checkpoint)
        self._checkpoint = Storage.open(checkpoint).url
        self._one = OneLog(self._log, checkpoint)
        # Whether it is read as a log or by way of one: its rows come from the same place.
        self.name = normal_source(self._log.source() or f"raw-log:{self._log.folder}")

    def _named(self, checkpoint: str) -> tuple[str, str]:
        """The reader that a checkpoint is, one for every spelling of its place; and that place."""
        storage = Storage.open(checkpoint)
        place = os.path.realpath(storage.url) if storage.is_local else storage.url
        name = _hashed(place)
        # Earlier versions hashed the place as it was spelled. Only a job that has run has such a
        # name: with a checkpoint that is new it would be that of a job in another folder.
        if Ledger.find(checkpoint) is not None:
            self._log.rename(_hashed(checkpoint), name)
        return name, place

    def open(self, tell: Tell = unheard) -> AbstractContextManager[None]:
        """A log needs nothing to be held; RawLogError where it is another than before."""
        self._one.check()
        return nullcontext()

    def read(self, spark: SparkSession) -> DataFrame:
        """The stream of lines with their numbers, and when they were taken in."""
        spark.dataSource.register(RawLogDataSource)
        return (
            spark.readStream.format(FORMAT)
            .option("folder", str(self._log.folder))
            .option("reader", self._reader)
            .option("place", self._place)
            .option("checkpoint", self._checkpoint)
            .option("limit", str(self._limit))
            .option("parts", str(_cores(spark)))
            .load()
        )

    def reader(self) -> ReaderFactory:
        """Lines by their numbers."""
        return partial(RawLogLines, self.name)

    def lag(self, end: Any = None) -> Lag:
        """What is in the log beyond the batch that is landed; else, what no batch was done with."""
        try:
            read = self._log.progress(self._reader)[1] if end is None else end["number"]
            return Lag(messages=self._log.end() - read)
        except (RawLogError, OSError):
            return Lag()


class RawLogLines:
    """Takes lines as they are; the source is the same for all."""

    def __init__(self, source: str) -> None:
        self._source = source

    def lines(self, batches: Sequence[pa.RecordBatch]) -> Lines:
        """The lines of some batches."""
        values, numbers, times = (
            pa.concat_arrays([batch.column(name) for batch in batches]) for name in _ARROW.names
        )
        codes = pa.repeat(pa.scalar(0, pa.int32()), len(values))
        sources = pa.DictionaryArray.from_arrays(codes, pa.array([self._source], pa.string()))
        return Lines(values, sources, numbers.cast(pa.string()), times)


class RawLogDataSource(DataSource):
    """The format of Spark that reads a raw log."""

    @classmethod
    def name(cls) -> str:
        """What the format is called."""
        return FORMAT

    def schema(self) -> str:
        """A line, its number, and when it was taken in."""
        return SCHEMA

    def streamReader(self, schema: StructType) -> RawLogStreamReader:  # noqa: N802 - Spark's name
        """The stream."""
        del schema
        return RawLogStreamReader(self.options)


class RawLogPartition(InputPartition):
    """One piece of the log."""

    def __init__(self, piece: Piece) -> None:
        super().__init__(piece)
        self.piece = piece


class RawLogStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Plans batches in the driver; :meth:`read` runs in the workers, which see the same folder."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._log = RawLog(options["folder"])
        self._reader, self._place = options["reader"], options.get("place")
        self._one = OneLog(self._log, options["checkpoint"])
        self._begin = Remembered.of(options["checkpoint"], BEGIN)
        self._limit, self._parts = int(options["limit"]), int(options["parts"])
        self._target: int | None = None
        self._read = -1

    def initialOffset(self) -> dict[str, int]:  # noqa: N802
        """The first message that was there; from then on none is removed that is needed here.

        Spark asks again until a batch is done: what has gone meanwhile is missed.
        """
        self._one.check()
        self._one.keep()
        begin = int(self._begin.keep(str(self._log.begin())))
        self._log.advance(self._reader, begin, begin, self._place)
        return {"number": begin}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """So many messages in a batch."""
        return ReadMaxRows(self._limit)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """Read what is there now, and then end."""
        self._target = self._log.end()

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:  # noqa: N802
        """How far the next batch goes."""
        self._one.check()
        begin, end = start["number"], self._log.end()
        if end < begin:
            told = f"has {end} messages, but {begin} were read from it"
            raise self._log.ended(begin, told)
        self._one.keep()
        if begin != self._read:  # the batch before this one is done
            self._read = begin
            done = self._log.progress(self._reader)[0]
            self._log.advance(self._reader, done, begin, self._place)
        if self._target is not None:
            end = max(begin, min(end, self._target))
        if isinstance(limit, ReadMaxRows):
            end = min(end, begin + limit.max_rows)
        return {"number": end}

    def reportLatestOffset(self) -> dict[str, int]:  # noqa: N802
        """The end of the log."""
        return {"number": self._log.end()}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> list[InputPartition]:
        """As many pieces as there are cores, within bounds; also of a batch of the last run."""
        self._one.check()
        begin, stop = start["number"], end["number"]
        whole = sum(piece.end - piece.begin for piece in self._log.pieces(begin, stop))
        size = min(max(whole // self._parts + 1, _SMALLEST), _LARGEST)
        return [RawLogPartition(piece) for piece in self._log.pieces(begin, stop, size)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The lines of a piece."""
        assert isinstance(partition, RawLogPartition)
        piece = partition.piece
        lines, times = piece.lines(), piece.times()
        for begin in range(0, len(lines), _ROWS):
            values = pa.array(lines[begin : begin + _ROWS], pa.binary())
            first = piece.first + begin
            numbers = pa.array(range(first, first + len(values)), pa.int64())
            taken = pa.array(times[begin : begin + _ROWS], _ARROW.field("taken").type)
            yield pa.RecordBatch.from_arrays([values, numbers, taken], schema=_ARROW)

    def commit(self, end: dict[str, int]) -> None:
        """Nothing before this is asked for again."""
        self._log.commit(self._reader, end["number"])


def _hashed(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:16]


def _cores(spark: SparkSession) -> int:
    """How many tasks run at once; a guess where the cluster is far away."""
    try:
        return max(1, spark.sparkContext.defaultParallelism)
    except PySparkAttributeError:
        return 8
