"""A stream of NATS JetStream: ``nats+jetstream://host:port/STREAM``, read by its sequences.

The offsets are sequences of the stream, kept by Spark in the checkpoint; the stream itself keeps
no consumer of ours, and acknowledging is not needed. What the options of an endpoint do:

- ``stream``: what is read; without it the one stream that has the subject.
- ``subjectfilter``, else ``subject``: which messages of it; all unless given.

Source options: ``starting`` (``earliest``, ``latest`` or a sequence), ``partitions`` (so many
parts of a batch), ``on_loss=continue`` (messages that the stream has dropped before they were
read do not stop the job). Where a job begins is found out once, and kept in its checkpoint.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import AbstractContextManager, aclosing, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow

from heraldry.errors import (
    DeniedError,
    MissingExtraError,
    PipelineError,
    TransportError,
    UsageError,
)
from heraldry.messages.raw_line import raw_line
from heraldry.messages.template import Template
from heraldry.messages.transports.address import addresses
from heraldry.messages.transports.options import text
from heraldry.messages.transports.secrets import Credentials, from_environment
from heraldry.messages.transports.transport import Connection
from heraldry.model.endpoint import Endpoint
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.settings import LandSettings
from heraldry.pipeline.sources.lines import Lines
from heraldry.pipeline.sources.opening_options import goes_on, refuse_strange, whole_option
from heraldry.pipeline.sources.query_lag import query_lag
from heraldry.pipeline.sources.source import Guarantee, Lag, ReaderFactory, Tell, unheard
from heraldry.pipeline.sources.stream_begin import StreamBegin

try:
    from heraldry.messages.transports.nats import PORTS
    from heraldry.messages.transports.nats_range import (
        AGAIN_SECONDS,
        RangeReader,
        StreamState,
        patiently,
        readable_stream,
        stream_state,
    )
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] != "nats":
        raise
    raise MissingExtraError("nats", "nats") from None

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

FORMAT = "heraldry_jetstream"
SCHEMA = "value binary, sequence bigint, stored timestamp"
_ARROW = pa.schema(
    [("value", pa.binary()), ("sequence", pa.int64()), ("stored", pa.timestamp("us", "UTC"))]
)
_ANEW = "it was made anew: so must the checkpoint"
_KNOWN = ("starting", "partitions", "on_loss")
_LAST = 2**63 - 1
_PER_BATCH = 500_000
_ROWS, _BYTES = 5000, 16 * 2**20
_SMALLEST = 2000
_PARTS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """All that a worker must know; ``credentials`` travel with it, and show in nothing.

    ``asked`` says whether ``starting`` was, or is what goes without saying.
    """

    endpoint: Endpoint
    credentials: Credentials = field(repr=False)
    stream: str
    subject: str | None
    starting: str
    asked: bool
    goes_on: bool
    limit: int
    parts: int
    checkpoint: str

    def connection(self) -> Connection:
        """How to connect; nothing is published."""
        return _connection(self.endpoint, self.credentials)


class JetStreamSource:
    """The messages of one stream, all of them or those of a subject."""

    database: str | None = None
    packages: tuple[str, ...] = ()
    guarantee = Guarantee(
        replayable=True,
        repeats=False,
        ordered="within the stream",
        identity="stream and sequence",
    )

    def __init__(self, endpoint: Endpoint, settings: LandSettings, checkpoint: str) -> None:
        given = settings.source_options
        refuse_strange(given, _KNOWN)
        own = Connection(endpoint=endpoint, usage="consumer")
        subject = _filter(text(own, "subjectfilter") or text(own, "subject"))
        stream = text(own, "stream")
        if not (stream or subject):
            told = f"{endpoint.xid} names no stream"
            raise UsageError(told, "add the option stream, or a subject")
        place = Place(
            endpoint=endpoint,
            credentials=from_environment(endpoint),
            stream=stream or "",
            subject=None if subject == ">" else subject,
            starting=_starting(given.get("starting", "earliest")),
            asked="starting" in given,
            goes_on=goes_on(given),
            limit=settings.max_per_batch or _PER_BATCH,
            parts=whole_option(given, "partitions", 1, 10_000) or _PARTS,
            checkpoint=Storage.open(checkpoint).url,
        )
        # Before Spark starts: a wrong name or address is said at once, or a right that is missing.
        state = asyncio.run(readable_stream(place.connection(), place.stream, subject or ">"))
        self._place = replace(place, stream=state.stream)
        self._told = given.get("starting")
        check_loss(self._place, state)
        first = addresses(place.connection(), PORTS)[0]
        self.name = str(replace(first, path=state.stream))
        self._spark: SparkSession | None = None

    def open(self, tell: Tell = unheard) -> AbstractContextManager[None]:
        """Each batch has its own connections; ``tell`` hears of a begin that comes too late."""
        begin = StreamBegin(self._place.checkpoint)
        kept = begin.starting()
        if kept is not None and self._told not in (None, kept) and begin.is_planned():
            late = f"starting={self._told} is for a new job, this one began with starting={kept}"
            tell(f"{late} (begin anew: with a new checkpoint)")
        return nullcontext()

    def read(self, spark: SparkSession) -> DataFrame:
        """The stream of messages."""
        self._spark = spark
        # A class of its own, which Spark then sends by value: credentials are no options.
        own = type("OwnStream", (JetStreamDataSource,), {"place": self._place})
        spark.dataSource.register(own)
        return spark.readStream.format(FORMAT).load()

    def reader(self) -> ReaderFactory:
        """Messages as lines."""
        return partial(JetStreamLines, self.name, self._place.stream)

    def lag(self, end: Any) -> Lag:
        """What the stream had beyond the batch, as it was planned."""
        return query_lag(self._spark, end, lambda read, last: last["sequence"] - read["sequence"])


class JetStreamLines:
    """Takes lines as they were written where they were read."""

    def __init__(self, source: str, stream: str) -> None:
        self._source, self._stream = source, stream

    def lines(self, batches: Sequence[pa.RecordBatch]) -> Lines:
        """The messages of some batches."""
        values, numbers, times = (
            pa.concat_arrays([batch.column(name) for batch in batches]) for name in _ARROW.names
        )
        codes = pa.repeat(pa.scalar(0, pa.int32()), len(values))
        sources = pa.DictionaryArray.from_arrays(codes, pa.array([self._source], pa.string()))
        positions = pa.compute.binary_join_element_wise(
            self._stream, numbers.cast(pa.string()), "/"
        )
        return Lines(values, sources, positions, times)


class JetStreamDataSource(DataSource):
    """The format of Spark that reads a stream; ``place`` is set by the class that is registered."""

    place: Place

    @classmethod
    def name(cls) -> str:
        """What the format is called."""
        return FORMAT

    def schema(self) -> str:
        """A line, its sequence, and when it was stored."""
        return SCHEMA

    def streamReader(self, schema: StructType) -> JetStreamReader:  # noqa: N802 - Spark's name
        """The stream."""
        del schema
        return JetStreamReader(self.place)


class Range(InputPartition):
    """The messages from one sequence up to another, both included; when they were planned."""

    def __init__(self, begin: int, end: int, seen: str = "") -> None:
        super().__init__((begin, end))
        self.begin, self.end, self.seen = begin, end, seen


class JetStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Plans batches in the driver; :meth:`read` runs in the workers.

    An offset is the last sequence that was read, and when its stream was seen: sequences say
    nothing of a stream that was made anew since. Offsets of earlier versions have no such time.
    """

    def __init__(self, place: Place) -> None:
        self._place = place
        self._target: int | None = None
        self._last = 0

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802
        """Where a new job begins: Spark asks again until a batch is done, and is told the same.

        Where it was told to start elsewhere, that counts until a batch is planned.
        """
        begin = StreamBegin(self._place.checkpoint)
        other = begin.starting() not in (None, self._place.starting)
        if other and self._place.asked and not begin.is_planned():
            begin.forget()
        return begin.offset() or begin.keep(self._place.starting, self._starting())

    def _starting(self) -> dict[str, Any]:
        state = self._state()
        match self._place.starting:
            case "earliest":
                begin = max(0, state.first - 1)
            case "latest":
                begin = state.last
            case sequence:
                begin = max(int(sequence), state.first) - 1
        return {"sequence": begin, "seen": state.seen}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """So many messages in a batch."""
        return ReadMaxRows(self._place.limit)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """Read what is there now, and then end."""
        self._target = self._state().last

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802
        """How far the next batch goes."""
        begin, state = start["sequence"], self._state()
        check_loss(self._place, state, begin, start.get("seen", ""))
        end = state.last if self._target is None else min(state.last, self._target)
        if isinstance(limit, ReadMaxRows):
            # Where the stream has dropped messages, those that are left count from the first.
            end = min(end, max(begin, state.first - 1) + limit.max_rows)
        # Nothing new is the same offset, since another one is a batch. But where the server tells
        # a later time of making, that it is the same stream can be seen now, and not for ever.
        same = end <= begin and state.created <= start.get("seen", state.created)
        return start if same else {"sequence": max(begin, end), "seen": state.seen}

    def reportLatestOffset(self) -> dict[str, int]:  # noqa: N802
        """The end of the stream, as it was last looked at."""
        return {"sequence": self._last}

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        """Parts of about the same length."""
        begin, last = start["sequence"] + 1, end["sequence"]
        if last < begin - 1:
            told = f"a batch of {self._place.stream} ends at {last}, but begins behind {begin - 1}"
            raise PipelineError("read a stream", f"{told} (begin anew: with a new checkpoint)")
        size = max(_SMALLEST, -(-(last - begin + 1) // self._place.parts))
        seen = end.get("seen", "")
        return [Range(one, min(one + size - 1, last), seen) for one in range(begin, last + 1, size)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The lines of a part; where the server goes away, on from the last message."""
        assert isinstance(partition, Range)
        begin, patience = partition.begin, time.monotonic() + AGAIN_SECONDS
        with asyncio.Runner() as runner:
            while True:
                batches = self._batches(begin, partition)
                try:
                    while (batch := runner.run(_next(batches))) is not None:
                        yield batch
                        begin = batch.column("sequence")[-1].as_py() + 1
                        patience = time.monotonic() + AGAIN_SECONDS
                    return
                except DeniedError:
                    raise
                except TransportError:
                    if time.monotonic() > patience:
                        raise
                    time.sleep(1)
                finally:
                    runner.run(_close(batches))

    async def _batches(self, begin: int, part: Range) -> AsyncGenerator[pa.RecordBatch]:
        place = self._place
        rows: list[tuple[bytes, int, int]] = []
        async with RangeReader(place.connection()) as reader:
            check_loss(place, await reader.state(place.stream), begin - 1, part.seen)
            messages = reader.read(place.stream, place.subject, begin, part.end)
            async with aclosing(messages):
                async for some in messages:
                    rows += [(raw_line(one.message), one.sequence, one.stored) for one in some]
                    if len(rows) >= _ROWS or sum(len(row[0]) for row in rows) >= _BYTES:
                        yield _batch(rows)
                        rows = []
        if rows:
            yield _batch(rows)

    def _state(self) -> StreamState:
        place = self._place
        state = asyncio.run(
            patiently(lambda: stream_state(place.connection(), place.stream, place.subject or ">"))
        )
        self._last = state.last
        return state


def check_loss(place: Place, state: StreamState, read: int | None = None, seen: str = "") -> None:
    """PipelineError where the stream no longer has what comes next, unless it may go on.

    A gap says nothing of whether it was to be landed. So a stream that makes gaps by itself is
    not read at all, unless it may go on: what it drops nobody would notice. Only by a message in
    the place of one that was read can a stream that was made anew be told from one that drops
    its oldest.
    """
    if read is not None and state.last < read:
        told = f"{place.stream} ends at {state.last}, but {read} was read from it"
        raise PipelineError("read a stream", f"{told} ({_ANEW})")
    if read and state.first <= read and state.is_anew(seen):
        told = f"{place.stream} is of {state.created}, but {read} was read from it before"
        raise PipelineError("read a stream", f"{told} ({_ANEW})")
    if place.goes_on:
        return
    if state.thins is not None:
        told = f"{place.stream} may drop messages between others unread: {state.thins}"
        advice = "to land what it still has: --source-option on_loss=continue"
        raise PipelineError("read a stream", f"{told} ({advice})")
    if read is not None and state.first > read + 1:
        told = f"{place.stream} has dropped its messages {read + 1} to {state.first - 1} unread"
        advice = "to go on without them: --source-option on_loss=continue"
        raise PipelineError("read a stream", f"{told} ({advice})")


async def _next(batches: AsyncGenerator[pa.RecordBatch]) -> pa.RecordBatch | None:
    return await anext(batches, None)


async def _close(batches: AsyncGenerator[pa.RecordBatch]) -> None:
    await batches.aclose()


def _batch(rows: list[tuple[bytes, int, int]]) -> pa.RecordBatch:
    columns = zip(*rows, strict=True)
    arrays = [pa.array(one, kind) for one, kind in zip(columns, _ARROW.types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=_ARROW)


def _connection(endpoint: Endpoint, credentials: Credentials) -> Connection:
    def secrets(_endpoint: Endpoint) -> Credentials:
        return credentials

    return Connection(endpoint=endpoint, usage="producer", secrets=secrets)


def _filter(given: str | None) -> str | None:
    """A subject filter; a token whose placeholder has no value may be anything."""
    if given is None:
        return None
    tokens = [Template.parse(token, None) for token in given.split(".")]
    return ".".join("*" if token.placeholders else token.text for token in tokens)


def _starting(given: str) -> str:
    if given in ("earliest", "latest") or (given.isdecimal() and 0 < int(given) <= _LAST):
        return given
    raise UsageError(
        f"a job cannot start at {given!r}", "write starting=earliest, latest or a sequence"
    )
