"""One micro-batch: judged and written by the workers, prepared, then committed exactly once.

What fails before the manifest is written leaves nothing but files without an owner: the batch is
tried again as a whole. What fails after it is only finished.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from heraldry.errors import PipelineError
from heraldry.pipeline.identities.once import Once, keep_once
from heraldry.pipeline.lake.commits import Committer
from heraldry.pipeline.lake.fitting import TableFits, fit_tables
from heraldry.pipeline.lake.layout import TablePlan
from heraldry.pipeline.lake.ledger import Ledger, Manifest, ManifestFile
from heraldry.pipeline.landing.batches import report_of
from heraldry.pipeline.landing.breaker import Breaker
from heraldry.pipeline.landing.committing import commit_manifest, decide, until_decided
from heraldry.pipeline.landing.deprecated import deprecated_rows
from heraldry.pipeline.landing.lander import WorkOrder
from heraldry.pipeline.landing.places import moment
from heraldry.pipeline.landing.report import BatchReport
from heraldry.pipeline.landing.worker import SCHEMA, land_partition
from heraldry.pipeline.letters.nearest import bounded, nearest
from heraldry.pipeline.sources.query_lag import batch_end

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from heraldry.pipeline.identities.duplicates import Window
    from heraldry.pipeline.landing.catalog_watch import CatalogWatch, Watched
    from heraldry.pipeline.settings import LandSettings
    from heraldry.pipeline.sources.source import Source


@dataclass(slots=True, kw_only=True)
class BatchLander:
    """Lands the micro-batches of one job, one after the other."""

    settings: LandSettings
    committer: Committer
    ledger: Ledger
    source: Source
    watch: CatalogWatch
    plan: TablePlan
    run: str
    breaker: Breaker
    window: Window | None
    cores: Callable[[], int] | None = None
    """How many tasks run at a time; None where that cannot be known."""
    tell: Callable[[str], object] = lambda text: None
    """Takes what tables do not do of what the plan asks, each line once."""
    _told: set[str] = field(default_factory=set)
    _fits: tuple[str, TableFits] = ("", TableFits())
    """How tables differ from what the catalog of a digest would make of them."""

    def land(self, rows: DataFrame, batch: int) -> BatchReport:
        """Land a batch, or finish one that was prepared before."""
        manifest = self.ledger.manifest(batch)
        if manifest is None:
            warehouse = self.committer.storage.url
            manifest = until_decided(warehouse, partial(self._prepare, rows, batch))
        if not manifest.committed:
            commit_manifest(self.committer, self.ledger, manifest)
        return report_of(manifest)

    def _prepare(self, rows: DataFrame, batch: int) -> Manifest | None:
        """Judge and write a batch, the one pass over the data; None where that does not count."""
        started = time.monotonic()
        watched = self.watch.current()
        order = self._order(watched, batch)
        judged = self._few(rows).mapInArrow(land_partition(order, self.source.reader()), SCHEMA)
        told = [row.asDict() for row in judged.collect()]
        written = [row for row in told if row["path"]]
        # A replay of this job's letters may not decide in between.
        with nullcontext() if self.window is None else self.ledger.deciding():
            once = self._once(batch, written)
            manifest = self._manifest(watched, batch, written, once, time.monotonic() - started)
            report = report_of(manifest)
            check_sum(report, sum(row["rows"] for row in told if not row["path"]))
            self.breaker.check(report)
            known = self.fit(watched).tables
            if decide(self.committer, self.ledger, manifest, known):
                return manifest
        self._fits = ("", TableFits())  # the tables are others by now
        return None

    def _manifest(
        self,
        watched: Watched,
        batch: int,
        written: list[dict[str, Any]],
        once: Once,
        seconds: float,
    ) -> Manifest:
        """All that is to be known of a batch."""
        kept = {file.table for file in once.files}
        gone = Counter(rule for letters in once.letters for rule in letters["rule"].to_pylist())
        near = sum(map(nearest, once.letters), Counter[str]())
        end = batch_end(self.ledger.storage, batch)
        tables = {row["path"]: json.loads(row["table"]) for row in written if row["path"] in kept}
        return Manifest(
            batch=batch,
            files=once.files,
            tables=tables,
            run=self.run,
            catalog=watched.digest,
            seconds=seconds,
            repeated=once.repeated,
            reasons=dict(_sum(written, "reasons") - gone),
            nearest=bounded(_sum(written, "nearest") - near),
            newest=_newest(written),
            lag=None if end is None else self.source.lag(end).messages,
            deprecated=deprecated_rows(watched.catalog, once.files, tables, datetime.now(UTC)),
        )

    def _few(self, rows: DataFrame) -> DataFrame:
        """As many partitions as there are cores: each writes a file for every table it meets."""
        return rows if self.cores is None else rows.coalesce(self.cores())

    def _once(self, batch: int, written: list[dict[str, Any]]) -> Once:
        """The files of a batch without what had come before, where the source may repeat."""
        files = tuple(map(_file, written))
        if self.window is None:
            return Once(files=files)
        digests = {row["file"]: row["identities"] for row in written}
        return keep_once(self.committer.storage, self.window, batch, files, digests)

    def _order(self, watched: Watched, batch: int) -> WorkOrder:
        return WorkOrder(
            catalog=watched.document,
            external=watched.external,
            digest=watched.digest,
            storage=self.committer.storage,
            job=self.ledger.job,
            batch=batch,
            received=datetime.now(UTC),
            plan=self.plan,
            fits=self.fit(watched).fits,
            only=self.settings.only,
            mask=self.settings.mask,
            foreign=self.settings.foreign,
            identities=self.window is not None,
        )

    def fit(self, watched: Watched, *, going_on: bool = True) -> TableFits:
        """Fit the tables to the catalog, whenever it is another one."""
        digest, fits = self._fits
        if digest != watched.digest:
            only = self.settings.only
            fits = fit_tables(
                self.committer.storage, watched.catalog, self.plan, only=only, going_on=going_on
            )
            self._fits = (watched.digest, fits)
            for one in fits.told:
                if one not in self._told:
                    self._told.add(one)
                    self.tell(one)
        return fits


def check_sum(report: BatchReport, given: int) -> None:
    """One in, one out: PipelineError for a batch whose lines are not all in its files, once."""
    if report.read != given:
        reason = f"its files hold {report.read:,} of {given:,} messages; nothing was committed"
        raise PipelineError(f"landed batch {report.batch}", reason)


def _file(row: dict[str, Any]) -> ManifestFile:
    return ManifestFile(
        table=row["path"],
        name=row["file"],
        rows=row["rows"],
        size=row["size"],
        partition=row["partition"],
        stats=row["stats"],
        definition=row["definition"],
    )


def _sum(written: list[dict[str, Any]], counts: str) -> Counter[str]:
    found: Counter[str] = Counter()
    for row in written:
        found.update(json.loads(row[counts]))
    return found


def _newest(written: list[dict[str, Any]]) -> datetime | None:
    """The latest event time."""
    times = [row["newest"] for row in written if row["newest"] is not None]
    return moment(max(times)) if times else None
