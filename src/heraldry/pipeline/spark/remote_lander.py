"""What lands micro-batches beside a Spark Connect server: it travels there by pickle.

The server runs it in a Python process of its own, which lives as long as the query. It needs
nothing of the client but what the checkpoint holds: the ledger, and the catalog of the moment.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import inf
from typing import TYPE_CHECKING

import msgspec

from heraldry.client.catalog_follower import Look
from heraldry.dialects.load import load_bytes
from heraldry.errors import PipelineError
from heraldry.model.catalog import External
from heraldry.pipeline.identities.decided import Replayed
from heraldry.pipeline.identities.duplicates import IDENTITIES, Window
from heraldry.pipeline.kernel import path as kernel
from heraldry.pipeline.lake.commits import Committer
from heraldry.pipeline.lake.layout import TablePlan
from heraldry.pipeline.lake.ledger import Ledger
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.landing.batch import BatchLander
from heraldry.pipeline.landing.breaker import Breaker
from heraldry.pipeline.landing.catalog_watch import CatalogWatch, Watched
from heraldry.pipeline.settings import LandSettings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_CATALOG = "heraldry/catalog"
_LOCK = "heraldry/batch"
_PATIENCE = 120.0

_landers: dict[str, BatchLander] = {}
"""The lander of this process, by run."""


class StoredCatalog(msgspec.Struct, frozen=True):
    """The catalog to judge by, as the client keeps it in the checkpoint."""

    document: bytes
    external: bytes

    def store(self, storage: Storage) -> None:
        """Let the next batch judge by it."""
        storage.write(_CATALOG, msgspec.msgpack.encode(self))

    @classmethod
    def of(cls, watched: Watched) -> StoredCatalog:
        """The catalog of a watch."""
        return cls(watched.document, watched.external)


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteLander:
    """The function of ``foreachBatch`` on a Spark Connect server."""

    settings: LandSettings
    storage: Storage
    ledger: Ledger
    source: bytes
    """The source as it was before it held anything of the client's process."""
    plan: TablePlan
    run: str
    deduped: bool

    @classmethod
    def of(cls, lander: BatchLander) -> RemoteLander:
        """What a lander of this process would do, to be done elsewhere."""
        return cls(
            settings=lander.settings,
            storage=lander.committer.storage,
            ledger=lander.ledger,
            source=pickle.dumps(lander.source),
            plan=lander.plan,
            run=lander.run,
            deduped=lander.window is not None,
        )

    def __call__(self, rows: DataFrame, batch: int) -> None:
        """Land one batch, alone."""
        with alone(self.ledger):
            if self.run not in _landers:
                _landers[self.run] = self._lander()
            _landers[self.run].land(rows, batch)

    def _lander(self) -> BatchLander:
        if kernel.available():
            # Compiled once and kept on disk: the workers of this machine then load it.
            kernel.warm()
        storage, size = self.ledger.storage, self.settings.dedupe_window
        beside = Replayed(self.storage, self.ledger.job)
        return BatchLander(
            settings=self.settings,
            committer=Committer(self.storage, self.ledger.job),
            ledger=self.ledger,
            source=pickle.loads(self.source),
            watch=CatalogWatch(_StoredLook(storage), inf, every=0.0),
            plan=self.plan,
            run=self.run,
            breaker=Breaker(self.settings.breaker, self.ledger),
            window=Window.open(storage, IDENTITIES, size, beside) if self.deduped else None,
        )


@dataclass(slots=True)
class _StoredLook:
    """Looks at the catalog in the checkpoint."""

    storage: Storage
    seen: bytes = field(default=b"")

    def __call__(self) -> Look:
        data = self.storage.read(_CATALOG)
        if data is None or data == self.seen:
            return Look(away="" if data else "the checkpoint has none")
        stored = msgspec.msgpack.decode(data, type=StoredCatalog)
        fetched = msgspec.json.decode(stored.external, type=dict[str, External])
        self.seen = data
        return Look(catalog=replace(load_bytes(stored.document, "catalog"), external=fetched))


@contextmanager
def alone(ledger: Ledger) -> Iterator[None]:
    """Wait for a batch of a query that was stopped: its process may not have noticed yet.

    Whoever comes second then finds its manifest, and does not judge the batch again.
    """
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        with ledger.storage.locked(_LOCK) as free:
            if free:
                yield
                return
        time.sleep(0.2)
    raise PipelineError("waited its turn", "an earlier run is still landing with this checkpoint")
