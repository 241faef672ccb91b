"""A landing job on a Spark Connect server: its query runs there, and is watched from here.

remote = RemoteQuery(lander, totals, observers)      # before the source is opened
failure = remote.run(open_remote("sc://host:15002"))

Both sides see the warehouse and the checkpoint: the client keeps the catalog of the moment in the
checkpoint, the server's side lands by it, and what it did is read from the ledger.
"""

from __future__ import annotations

import socket
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from heraldry.errors import HeraldryError, MissingExtraError, PipelineError, UsageError
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.landing.batch import BatchLander
from heraldry.pipeline.landing.batches import report_of
from heraldry.pipeline.landing.totals import Totals
from heraldry.pipeline.spark.failures import failure_of
from heraldry.pipeline.spark.progress_folder import spark_location
from heraldry.pipeline.spark.query import start_query
from heraldry.pipeline.spark.remote_lander import RemoteLander, StoredCatalog
from heraldry.pipeline.spark.stopping import stop_on_signal
from heraldry.pipeline.watching.observers import Observers

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

_PORT = 15002
_PAUSE = 1


def open_remote(url: str) -> SparkSession:
    """A session on a Spark Connect server, ``sc://host:port``; its settings are the server's."""
    for module in ("grpc", "grpc_status"):
        if find_spec(module) is None:
            raise MissingExtraError("connect", module)
    place = urlsplit(url)
    if place.scheme != "sc" or not place.hostname:
        raise UsageError(f"--remote {url} is no Spark Connect server", "write sc://HOST:PORT")
    server = (place.hostname, place.port or _PORT)
    try:
        # Spark's own client would try for ten minutes before it says that nobody is there.
        socket.create_connection(server, timeout=10).close()
        return SparkSession.builder.remote(url).getOrCreate()
    except (OSError, PySparkException) as error:
        raise PipelineError("asked for {}:{}".format(*server), str(error)) from error


class RemoteQuery:
    """One run of a job on a server elsewhere."""

    def __init__(self, lander: BatchLander, totals: Totals, observers: Observers) -> None:
        self._lander, self._totals, self._observers = lander, totals, observers
        self._remote = RemoteLander.of(lander)
        self._stored: StoredCatalog | None = None
        self._told = self._done()

    def run(self, spark: SparkSession) -> BaseException | None:
        """Start the query and wait for its end: why it failed, or None."""
        lander = self._lander
        self._follow_catalog()
        try:
            rows = lander.source.read(spark)
            # The server's own folder: it writes to a store where it has Hadoop's client for it.
            progress = spark_location(lander.ledger)
            query = start_query(rows, self._remote, progress, lander.settings)
        except PySparkException as error:
            return not_kept(error, lander.ledger.storage, lander.source.packages)
        with stop_on_signal(query) as told:
            failure = self._watch(query)
        self._report()
        self._totals.stopped = told.is_set()
        return None if told.is_set() else failure

    def _watch(self, query: StreamingQuery) -> BaseException | None:
        try:
            while not query.awaitTermination(_PAUSE):
                self._follow_catalog()
                self._report()
        except PySparkException as error:
            return failure_of(error)
        except HeraldryError as error:
            query.stop()
            return error
        return None

    def _follow_catalog(self) -> None:
        """Give the server the catalog that its next batch is judged by."""
        stored = StoredCatalog.of(self._lander.watch.current())
        if stored != self._stored:
            stored.store(self._lander.ledger.storage)
            self._stored = stored

    def _report(self) -> None:
        """Tell of the batches that were committed since the last look."""
        ledger = self._lander.ledger
        while (manifest := ledger.manifest(self._told + 1)) is not None and manifest.committed:
            report = report_of(manifest)
            self._totals.add(report)
            self._observers.batch(report)
            self._told += 1

    def _done(self) -> int:
        """The last batch that Spark has recorded as done: the next is this run's first."""
        names = self._lander.ledger.storage.names("commits")
        return max((int(name) for name in names if name.isdigit()), default=-1)


def not_kept(error: Exception, checkpoint: Storage, packages: Sequence[str] = ()) -> HeraldryError:
    """Why a query did not start; UsageError where a server has no client for the checkpoint."""
    if checkpoint.is_local or "No FileSystem for scheme" not in str(error):
        return failure_of(error, "opened its source", packages)
    reason = f"the Spark Connect server cannot keep its progress in {checkpoint.url}"
    advice = "give --checkpoint DIR that both sides see, or the server Hadoop's client for it"
    return UsageError(reason, advice)
