"""The landing job, readable from top to bottom: source, decode, match, validate, land.

Spark reads the source and keeps its offsets; every micro-batch is judged and written by Python
workers in one pass, prepared in the ledger, then committed table by table exactly once.
"""

from __future__ import annotations

import json
import os
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec
import pyarrow.parquet as pq
from pyspark.errors import StreamingQueryException

from heraldry.dialects.dump import dump
from heraldry.errors import HeraldryError, PipelineError, UsageError, WarehouseError
from heraldry.messages.judge import Judge
from heraldry.model.catalog import Catalog
from heraldry.model.inherit import definitions
from heraldry.model.xid import Xid
from heraldry.pipeline import delta
from heraldry.pipeline.kernel import path as kernel
from heraldry.pipeline.lander import WorkOrder
from heraldry.pipeline.layout import (
    CHECKPOINT,
    DEAD_LETTERS,
    NAME_KEY,
    layout_of,
    path_part,
    refuse_shared_tables,
    table_name,
)
from heraldry.pipeline.ledger import Ledger, Manifest, ManifestFile
from heraldry.pipeline.report import BatchReport, LandReport
from heraldry.pipeline.session import open_session
from heraldry.pipeline.settings import LandSettings
from heraldry.pipeline.sources.files import check_folder, read_files
from heraldry.pipeline.worker import RESULT, land_partition

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

_COMMITTERS = 8
_CAUSE = re.compile(r"[A-Za-z_.]+(Error|Exception|Warning): ")
OnBatch = Callable[[BatchReport], None]
OnEvent = Callable[[str], None]


def land(
    catalog: Catalog,
    settings: LandSettings,
    on_batch: OnBatch = lambda report: None,
    on_event: OnEvent = lambda text: None,
) -> LandReport:
    """Land everything that is there, once over repeated runs; with ``stream`` until stopped."""
    job = LandJob(catalog, settings, on_batch, on_event)
    with job.ledger.locked():
        job.finish()
        job.fit_tables()
        return job.run(open_session(settings.master))


@dataclass(slots=True)
class Totals:
    """What the run has done so far."""

    read: int = 0
    landed: int = 0
    dead: int = 0
    batches: int = 0
    started: float = field(default_factory=time.monotonic)

    def add(self, report: BatchReport) -> None:
        """Count a batch."""
        self.read += report.read
        self.landed += report.landed
        self.dead += report.dead
        self.batches += 1

    def report(self) -> LandReport:
        """The sum."""
        return LandReport(
            read=self.read,
            landed=self.landed,
            dead=self.dead,
            batches=self.batches,
            seconds=time.monotonic() - self.started,
        )


class LandJob:
    """One run of the pipeline over one source, one catalog and one warehouse."""

    def __init__(
        self, catalog: Catalog, settings: LandSettings, on_batch: OnBatch, on_event: OnEvent
    ) -> None:
        self._catalog = catalog
        self._settings = settings
        self._on_batch = on_batch
        self._on_event = on_event
        self._folder = _source_folder(settings.source)
        self._database = settings.database or "default"
        self._warehouse = _local(settings.warehouse)
        self._totals = Totals()
        self._failure: BaseException | None = None
        checkpoint = settings.checkpoint or os.path.join(self._warehouse, CHECKPOINT)
        self._checkpoint = _local(checkpoint)
        self._document = dump(catalog)
        self._external = msgspec.json.encode(catalog.external)
        self.ledger = Ledger.open(self._checkpoint)
        if settings.checkpoint:
            self.ledger.bind(self._warehouse)

    def finish(self) -> None:
        """Commit what a killed run left prepared, before a changed catalog changes its tables."""
        pending = self.ledger.pending()
        if pending is not None:
            self._commit(pending)

    def fit_tables(self) -> None:
        """Before anything is read: every table that exists must take what its definition lands."""
        xids = [xid for xid in definitions(self._catalog) if self._selected(xid)]
        refuse_shared_tables(self._warehouse, xids, self._database)
        if not os.path.isdir(os.path.join(self._warehouse, path_part(self._database))):
            return
        matcher = Judge(self._catalog).matcher
        for xid in xids:
            parts = (path_part(part) for part in table_name(xid, self._database))
            path = os.path.join(self._warehouse, *parts)
            if not os.path.isdir(os.path.join(path, "_delta_log")):
                continue
            if str(xid) in matcher.positions:  # one that is its own base lands nothing
                compiled = matcher.definition(str(xid))
                keep = self._settings.keep_payload
                layout = layout_of(compiled, self._database, keep_payload=keep)
                delta.widen_table(path, layout.schema)

    def run(self, spark: SparkSession) -> LandReport:
        """Start the query and wait: for its end, or with ``stream`` for a signal."""
        self._on_event(f"Spark {spark.version} on {spark.sparkContext.master}")
        if kernel.available():
            # Compiled once and kept on disk: the workers then load it.
            kernel.warm()
        query = self._start(spark)
        with _stop_on_signal(query) as told, self._progress(spark):
            try:
                query.awaitTermination()
            except StreamingQueryException as error:
                self._failure = self._failure or error
        # What failed because it was told to stop is tried again by the next run.
        if self._failure is not None and not told.is_set():
            self._fail(self._failure)
        return self._totals.report()

    def _start(self, spark: SparkSession) -> StreamingQuery:
        lines = read_files(spark, self._folder, self._settings.max_per_batch)
        writer = (
            lines.writeStream.foreachBatch(self._batch)
            .option("checkpointLocation", self._checkpoint)
            .queryName("heraldry")
        )
        if self._settings.stream:
            return writer.trigger(processingTime=f"{self._settings.interval} seconds").start()
        return writer.trigger(availableNow=True).start()

    def _batch(self, lines: DataFrame, batch: int) -> None:
        """One micro-batch; whatever fails here stops the query, and the batch is tried again."""
        started = time.monotonic()
        try:
            manifest = self.ledger.manifest(batch)
            if manifest is None:
                manifest = self._prepare(lines, batch)
            if not manifest.committed:
                self._commit(manifest)
            report = _report(manifest, time.monotonic() - started)
            self._totals.add(report)
            self._on_batch(report)
        except BaseException as error:
            self._failure = error
            raise

    def _prepare(self, lines: DataFrame, batch: int) -> Manifest:
        """Judge and write a batch: the one pass over the data."""
        order = WorkOrder(
            catalog=self._document,
            external=self._external,
            warehouse=self._warehouse,
            database=self._database,
            only=self._settings.only,
            keep_payload=self._settings.keep_payload,
            batch=batch,
            received=datetime.now(UTC),
        )
        written = lines.mapInArrow(land_partition(order), RESULT).collect()
        tables = {row["path"]: json.loads(row["table"]) for row in written}
        files = tuple(
            ManifestFile(table=row["path"], name=row["file"], rows=row["rows"], size=row["size"])
            for row in written
        )
        manifest = Manifest(batch=batch, files=files, tables=tables)
        self.ledger.prepare(manifest)
        return manifest

    def _commit(self, manifest: Manifest) -> None:
        """Commit every table of a batch; done ones are skipped by their transaction log."""
        with ThreadPoolExecutor(_COMMITTERS) as pool:
            for _ in pool.map(lambda path: self._commit_table(manifest, path), manifest.tables):
                pass
        self.ledger.commit(manifest)

    def _commit_table(self, manifest: Manifest, path: str) -> None:
        files = [
            delta.DataFile(name=file.name, rows=file.rows, size=file.size)
            for file in manifest.files
            if file.table == path
        ]
        folder = os.path.join(self._warehouse, path)
        table = delta.open_table(folder)
        if table is None:
            # The files know their columns; the catalog may have changed since they were written.
            schema = pq.read_schema(os.path.join(folder, files[0].name))
            table = delta.create_table(folder, schema, manifest.tables[path])
        delta.commit_files(table, files, self.ledger.job, manifest.batch)

    def _selected(self, xid: Xid) -> bool:
        return not self._settings.only or str(xid) in self._settings.only

    def _fail(self, error: BaseException) -> None:
        """Nothing was lost: the checkpoint knows what was not committed."""
        cause = self._failure or error
        if isinstance(cause, HeraldryError):
            raise cause
        raise PipelineError("landed a batch", _short(cause)) from cause

    @contextmanager
    def _progress(self, spark: SparkSession) -> Iterator[None]:
        """Tell how far the running batch is, until it is over."""
        done = threading.Event()
        watcher = threading.Thread(target=_watch, args=(spark, done, self._on_event), daemon=True)
        watcher.start()
        try:
            yield
        finally:
            done.set()
            watcher.join(timeout=5)


def _source_folder(source: str) -> str:
    """The folder of a source; wrong ones are refused before anything is started."""
    kind, _, folder = source.partition(":")
    if kind != "files" or not folder:
        raise UsageError(f"cannot read from {source!r}", "a source is files:DIR")
    check_folder(folder)
    return folder


def _local(path: str) -> str:
    """An absolute path; what delta-rs cannot hold, or is not here, is refused."""
    if "://" in path:
        raise WarehouseError(path, "only local folders can be landed in", "name a folder")
    path = os.path.abspath(path)
    if "%" in path:
        reason = "a folder with a percent sign in its path cannot hold Delta tables"
        raise WarehouseError(path, reason, "choose another folder")
    return path


def _report(manifest: Manifest, seconds: float) -> BatchReport:
    tables: dict[str, int] = {}
    dead = 0
    for file in manifest.files:
        if file.table == DEAD_LETTERS:
            dead += file.rows
        else:
            name = ".".join(json.loads(manifest.tables[file.table][NAME_KEY]))
            tables[name] = tables.get(name, 0) + file.rows
    landed = sum(tables.values())
    return BatchReport(
        batch=manifest.batch,
        read=landed + dead,
        landed=landed,
        dead=dead,
        seconds=seconds,
        tables=tables,
    )


def _watch(spark: SparkSession, done: threading.Event, on_event: OnEvent) -> None:
    tracker = spark.sparkContext.statusTracker()
    while not done.wait(0.5):
        for stage in tracker.getActiveStageIds():
            info = tracker.getStageInfo(stage)
            if info is not None and info.numTasks > 1:
                on_event(f"{info.numCompletedTasks}/{info.numTasks} parts of the batch")


@contextmanager
def _stop_on_signal(query: StreamingQuery) -> Iterator[threading.Event]:
    """SIGTERM and SIGINT end a stream; a batch cut short is tried again by the next run."""
    told = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield told
        return

    def stop(*_: object) -> None:
        told.set()
        # Whoever insists is not kept waiting.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        # Every thread talks to Spark by a connection of its own, and ours awaits an answer.
        threading.Thread(target=query.stop, daemon=True).start()

    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield told
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _short(error: BaseException) -> str:
    """What Spark's long stories begin with, and how those of a Python worker end."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if not lines:
        return type(error).__name__
    cause = next((line for line in reversed(lines) if _CAUSE.match(line)), "")
    return f"{lines[0]} {cause}".strip()[:500]
