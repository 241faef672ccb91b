"""The landing job, readable from top to bottom: source, decode, match, validate, land.

Spark reads the source and keeps its offsets; every micro-batch is judged and written by Python
workers in one pass, prepared in the ledger, then committed table by table exactly once.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from pyspark import SparkConf
from pyspark.errors import StreamingQueryException

from heraldry.errors import PipelineError
from heraldry.model.catalog import Catalog
from heraldry.pipeline.identities.decided import Replayed
from heraldry.pipeline.identities.duplicates import IDENTITIES, Window
from heraldry.pipeline.kernel import path as kernel
from heraldry.pipeline.lake.checkpoints import away, note
from heraldry.pipeline.lake.commits import Committer
from heraldry.pipeline.lake.delta import add_columns
from heraldry.pipeline.lake.layout import CHECKPOINT, DEAD_LETTERS, TablePlan
from heraldry.pipeline.lake.ledger import Ledger
from heraldry.pipeline.lake.plans import keep_plan
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.landing import batches
from heraldry.pipeline.landing.batch import BatchLander
from heraldry.pipeline.landing.breaker import Breaker
from heraldry.pipeline.landing.catalog_watch import AskedMeanwhile, CatalogWatch, fixed
from heraldry.pipeline.landing.committing import commit_manifest
from heraldry.pipeline.landing.doubts import doubts_told
from heraldry.pipeline.landing.landable import refuse_unknown_columns, refuse_unlandable
from heraldry.pipeline.landing.report import LandReport
from heraldry.pipeline.landing.totals import Totals
from heraldry.pipeline.letters.letter import SCHEMA
from heraldry.pipeline.letters.masking import Masker
from heraldry.pipeline.run_id import new_run_id
from heraldry.pipeline.settings import LandSettings
from heraldry.pipeline.sources.opening import open_source
from heraldry.pipeline.spark.failures import failure_of
from heraldry.pipeline.spark.progress_folder import ProgressFolder, progress_folder
from heraldry.pipeline.spark.query import NOT_STARTED, start_query
from heraldry.pipeline.spark.remote import RemoteQuery, open_remote
from heraldry.pipeline.spark.remote_lander import alone
from heraldry.pipeline.spark.session import open_session
from heraldry.pipeline.spark.stopping import end_on_term, hold_signals, stop_on_signal
from heraldry.pipeline.watching.observer import JobInfo, Observer
from heraldry.pipeline.watching.observers import Observers

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

_PAUSE = 1


def land(
    catalog: Catalog | CatalogWatch, settings: LandSettings, observers: Sequence[Observer] = ()
) -> LandReport:
    """Land everything that is there, once over repeated runs; with ``stream`` until stopped."""
    watch = catalog if isinstance(catalog, CatalogWatch) else CatalogWatch(fixed(catalog), 0.0)
    job = LandJob(watch, settings, observers)
    with job.ledger.locked():
        job.finish()
        return job.run()


class LandJob:
    """One run of the pipeline over one source, one catalog and one warehouse."""

    def __init__(
        self, watch: CatalogWatch, settings: LandSettings, observers: Sequence[Observer]
    ) -> None:
        self._settings = settings
        Masker.of(settings.mask)  # a rule that could fit nothing is told before anything is read
        self._storage = Storage.open(settings.warehouse)
        checkpoint = settings.checkpoint or self._storage.join(CHECKPOINT)
        catalog = watch.current().catalog
        self._source = open_source(
            settings.source, catalog=catalog, settings=settings, checkpoint=checkpoint
        )
        plan = self._plan()
        unknown = refuse_unknown_columns(
            catalog, plan, self._storage, settings.only, settings.optional_columns
        )
        self.ledger = Ledger.open(checkpoint)
        if settings.checkpoint:
            self.ledger.bind(self._storage.url)
            note(self._storage, self.ledger)
        self._totals = Totals()
        self._failure: BaseException | None = None
        self._begun = self._landing = False
        run = new_run_id()
        self._lander = BatchLander(
            settings=settings,
            committer=Committer(self._storage, self.ledger.job),
            ledger=self.ledger,
            source=self._source,
            watch=watch,
            plan=plan,
            run=run,
            breaker=Breaker(settings.breaker, self.ledger),
            window=None,  # to be read under the lock
        )
        info = JobInfo(
            job=self.ledger.job,
            run=run,
            source=self._source.name,
            warehouse=self._storage.url,
            catalog=watch.current().digest,
            stream=settings.stream,
        )
        self._observers = Observers(info, observers)
        self._lander.tell = self._observers.event
        for one in unknown:
            self._observers.event(one)

    def _plan(self) -> TablePlan:
        """Which tables the job lands in, and how it arranges their rows."""
        settings = self._settings
        return TablePlan(
            database=settings.database or self._source.database or "default",
            keep_payload=settings.keep_payload,
            with_base=settings.with_base,
            partition_by=settings.partition_by,
            cluster_by=settings.cluster_by,
        )

    def _window(self) -> Window | None:
        """The identities of what came before, where the source may repeat or it is wanted."""
        dedupe = self._settings.dedupe
        if dedupe == "off" or (dedupe == "auto" and not self._source.guarantee.repeats):
            return None
        size, beside = self._settings.dedupe_window, Replayed(self._storage, self.ledger.job)
        return Window.open(self.ledger.storage, IDENTITIES, size, beside)

    def finish(self) -> None:
        """Commit what a killed run left prepared, before a changed catalog changes its tables.

        All that other runs change is read here: the lock is held.
        """
        with alone(self.ledger):
            pending = self.ledger.pending()
            if pending is not None:
                commit_manifest(self._lander.committer, self.ledger, pending)
            self._lander.window = self._window()
        # Before anything is read: what cannot be landed by this catalog is told at once. A later
        # one that cannot is no reason to stop at once: there is one to go on with.
        watch = self._lander.watch
        watch.accept_by(self._refuse_unlandable)
        self._lander.fit(watch.current(), going_on=False)
        # Before the first letter: whoever replays it lands it as this job would.
        keep_plan(self._storage, self.ledger.job, self._lander.plan)
        add_columns(self._storage, DEAD_LETTERS, SCHEMA)
        add_columns(self._storage, batches.BATCHES, batches.SCHEMA)

    def _refuse_unlandable(self, catalog: Catalog) -> None:
        refuse_unlandable(catalog, self._lander.plan, self._storage, self._settings.only)

    def run(self) -> LandReport:
        """Land, and wait: for the end of what is there, or with ``stream`` for a signal."""
        self._observers.started()
        failure: BaseException | None = None
        try:
            doubts = doubts_told(self._lander.watch, self._settings.only, self._observers.event)
            with end_on_term(), doubts:
                found = self._land()
            failure = None if found is None else failure_of(found)
        except BaseException as error:
            failure = error
            raise
        finally:
            self._observers.ended(self._totals.report(), failure)
        if failure is not None:
            raise failure  # nothing was lost: the checkpoint knows what was not committed
        return self._totals.report()

    def _land(self) -> BaseException | None:
        """Open the source, start Spark and the query: why that failed, or None."""
        remote, master = self._settings.remote, self._settings.master
        there = RemoteQuery(self._lander, self._totals, self._observers) if remote else None
        # Before Spark starts: a server that is away is told at once.
        with self._source.open(self._observers.event):
            if remote:
                spark = open_remote(remote)
            else:
                spark = open_session(master, packages=self._source.packages)
            with hold_signals():
                place = f"{spark.version} on {remote or spark.sparkContext.master}"
            self._observers.event(f"Spark {place}")
            for one in away(self._storage) if self._lander.window is not None else ():
                told = "messages that its replays have landed are not known here"
                self._observers.event(f"{one} is not here: {told}")
            if kernel.available() and not remote:
                # Compiled once and kept on disk: the workers then load it.
                kernel.warm()
            if there is not None:
                return there.run(spark)
            with progress_folder(self.ledger) as progress:
                return self._await(spark, progress)

    def _await(self, spark: SparkSession, progress: ProgressFolder) -> BaseException | None:
        """Wait for the query's end: why it failed, or None."""
        try:
            with hold_signals():
                if not is_elastic(spark.sparkContext.getConf()):
                    # Asked at every batch: the machines of a cluster come and go.
                    self._lander.cores = lambda: spark.sparkContext.defaultParallelism
                rows = self._source.read(spark)
            batch = partial(self._batch, progress)
            query = start_query(rows, batch, progress.location, self._settings)
        except NOT_STARTED as error:
            return failure_of(error, "opened its source", self._source.packages)
        with stop_on_signal(query) as told:
            try:
                self._watch(spark, query, progress)
            except StreamingQueryException as error:
                self._failure = self._failure or error
        self._totals.stopped = told.is_set()
        if self._failure is None:
            progress.keep()
        # What failed because it was told to stop is tried again by the next run.
        return None if told.is_set() else self._failure

    def _batch(self, progress: ProgressFolder, rows: DataFrame, batch: int) -> None:
        """One micro-batch; whatever fails here stops the query, and the batch is tried again."""
        try:
            with alone(self.ledger):
                self._begun = self._landing = True
                progress.keep()  # a batch that is decided must have its offsets
                report = self._lander.land(rows, batch)
            self._totals.add(report)
            self._observers.batch(report)
        except BaseException as error:
            # What fails because the query was stopped for a failure is not the reason.
            self._failure = self._failure or error
            raise
        finally:
            self._landing = False

    def _watch(self, spark: SparkSession, query: StreamingQuery, progress: ProgressFolder) -> None:
        """Wait for the end of the query, and tell meanwhile how far its batch is.

        The catalog is asked for meanwhile, too: a stream that is silent has no batch to do so.
        One thread talks to Spark: each has a connection of its own, which nobody would close.
        """
        with AskedMeanwhile(self._lander.watch) as asked:
            while not query.awaitTermination(_PAUSE):
                # A batch that has begun has its catalog: it is finished, and the next one asks.
                if asked.failure is not None and not self._landing:
                    self._failure = self._failure or asked.failure
                    query.stop()
                    progress.keep()  # as the batch that would have asked
                    return
                if not self._begun:
                    with suppress(PipelineError):  # the first batch tells, where it still fails
                        progress.begin()
                self._tell_parts(spark)

    def _tell_parts(self, spark: SparkSession) -> None:
        tracker = spark.sparkContext.statusTracker()
        for stage in tracker.getActiveStageIds():
            info = tracker.getStageInfo(stage)
            if info is not None and info.numTasks > 1:
                told = f"{info.numCompletedTasks}/{info.numTasks} parts of the batch"
                self._observers.event(told)


def is_elastic(conf: SparkConf) -> bool:
    """Whether Spark asks for more executors while tasks wait for one.

    How many cores there are then says nothing: few while it is idle, and a batch of as few tasks
    would never let it grow. Local mode takes no notice of the setting.
    """
    if conf.get("spark.master", "").startswith("local"):
        return False
    return conf.get("spark.dynamicAllocation.enabled", "false").strip().lower() == "true"
