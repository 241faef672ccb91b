"""What every source offers: a streaming frame of raw rows, and how a worker makes lines of them.

source = open_source("kafka://broker:9092/orders", catalog, settings)
with source.open(print):               # begins to take in, where the source needs that
    rows = source.read(spark)          # a streaming frame; its columns are the source's own
    ...                                # in a worker: source.reader().lines(batches) -> Lines
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from heraldry.pipeline.sources.lines import Lines

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


Tell = Callable[[str], None]
"""Hears what goes on in a source, in words; from any thread."""


def unheard(text: str) -> None:
    """Nobody listens."""


class LineReader(Protocol):
    """Makes lines of the Arrow batches of one partition; made anew for each partition."""

    def lines(self, batches: Sequence[pa.RecordBatch]) -> Lines:
        """The messages of some batches, in their order: every one as one JSON line."""


class ReaderFactory(Protocol):
    """Travels to the workers by pickle; a class that takes no arguments is one."""

    def __call__(self) -> LineReader:
        """A reader for one partition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarantee:
    """What a source promises: the table in docs/explain/guarantees.md is written from it.

    ``replayable``: can be read again by offset. ``repeats``: may deliver a message again, so
    duplicates are removed by identity unless told otherwise. ``ordered``: within what.
    """

    replayable: bool
    repeats: bool
    ordered: str
    identity: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Lag:
    """How far behind a source is: messages not yet read, where it can tell."""

    messages: int | None = None


class Source(Protocol):
    """One place that messages come from."""

    name: str
    """What ``_source`` says of rows that do not say it themselves; never a credential."""
    database: str | None
    """The database that the source asks for (the id of an endpoint), or None."""
    guarantee: Guarantee
    packages: tuple[str, ...]
    """Maven coordinates that the session must have before it starts."""

    def open(self, tell: Tell = unheard) -> AbstractContextManager[None]:
        """Hold what the source needs while it is read: connections, the raw log, its lock."""

    def read(self, spark: SparkSession) -> DataFrame:
        """The streaming frame; admission by ``max_per_batch``, also with available-now."""

    def reader(self) -> ReaderFactory:
        """How workers make lines of the frame's rows."""

    def lag(self, end: Any) -> Lag:
        """What is left behind the offset that a batch ends at; asked in the batch, never raises."""
