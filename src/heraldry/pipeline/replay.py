"""Replay: letters are judged again by a mended catalog, and land exactly once.

A replay goes as a batch does: files, one manifest, one commit per table. What became of each
letter is one more table of the same manifest, so that a letter and its history never differ.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from heraldry.errors import PipelineError, WarehouseError
from heraldry.messages.identity import identity_of_line
from heraldry.messages.judge import NOT_SELECTED, Judge
from heraldry.messages.verdict import Rejected
from heraldry.model.catalog import Catalog
from heraldry.pipeline.identities.digests import NONE, digest
from heraldry.pipeline.identities.duplicates import Rows
from heraldry.pipeline.lake import checkpoints, delta
from heraldry.pipeline.lake.commits import Committer
from heraldry.pipeline.lake.fitting import TableFits, fit_tables
from heraldry.pipeline.lake.layout import TablePlan, table_name
from heraldry.pipeline.lake.ledger import Ledger, Manifest, ManifestFile
from heraldry.pipeline.lake.tables import open_warehouse
from heraldry.pipeline.landing.catalog_watch import Watched
from heraldry.pipeline.landing.committing import commit_manifest, decide, until_decided
from heraldry.pipeline.landing.lander import WorkOrder
from heraldry.pipeline.landing.letter_plans import LetterPlans
from heraldry.pipeline.landing.letter_windows import LetterWindows
from heraldry.pipeline.landing.parquet import ParquetWriter
from heraldry.pipeline.landing.relanding import COLUMNS, Outcome, Place, Relanded, reland
from heraldry.pipeline.landing.replay_chunk import Chunk
from heraldry.pipeline.landing.replay_report import ReplayReport
from heraldry.pipeline.letters.alternatives import definition_meant
from heraldry.pipeline.letters.deadletters import letter_batches
from heraldry.pipeline.letters.foreign import unwrapped
from heraldry.pipeline.letters.history import (
    CONFIGURATION,
    LANDED,
    MASKED,
    REFUSED,
    REPEATED,
    REPLAYS,
    History,
    among,
)
from heraldry.pipeline.letters.history import SCHEMA as HISTORY
from heraldry.pipeline.letters.letter import SCHEMA
from heraldry.pipeline.letters.where import asks, where

_LETTERS = pa.schema([SCHEMA.field(name) for name in COLUMNS])
_PLACES = ("letter", "source", "position", "received", "masked")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplaySettings:
    """The settings of a replay; the command line has an option for each."""

    warehouse: str
    where: tuple[str, ...] = ()
    """Terms of which all must hold: ``letters.where``. Letters that ``--only`` made are left out,
    unless a term asks for them by their rule or their id."""
    database: str | None = None
    limit: int | None = None
    """Judge at most so many letters."""
    max_attempts: int = 3
    """A letter that one catalog refused so often is not tried again with it."""
    keep_payload: bool = False
    with_base: bool = False
    partition_by: tuple[str, ...] = ()
    cluster_by: tuple[str, ...] = ()
    """As for landing; what is not given is as the job of each letter has it."""
    foreign: bool = False
    """The letters are dead letters of other tools: land the messages inside them."""
    repeats: bool = False
    """Also land letters whose message has landed meanwhile."""
    dry_run: bool = False


def replay(
    catalog: Catalog,
    settings: ReplaySettings,
    on_event: Callable[[str], None] = lambda text: None,
) -> ReplayReport:
    """Judge open letters again; those that are accepted land, once over any number of runs."""
    started = time.monotonic()
    storage = open_warehouse(settings.warehouse)
    with checkpoints.replaying(storage, dry_run=settings.dry_run) as ledger:
        job = ReplayJob(catalog, settings, ledger, on_event)
        job.run()
    job.report.seconds = time.monotonic() - started
    return job.report


class ReplayJob:
    """One run over the open letters of one warehouse with one catalog."""

    def __init__(
        self,
        catalog: Catalog,
        settings: ReplaySettings,
        ledger: Ledger,
        on_event: Callable[[str], None],
    ) -> None:
        self._catalog, self._settings, self._on_event = catalog, settings, on_event
        terms = partial(where, definition=partial(definition_meant, settings.warehouse))
        apart = not (asks(settings.where, "rule") or asks(settings.where, "letter"))
        rule = NOT_SELECTED.rule
        self._where = terms((*settings.where, *([f"rule!={rule}"] if apart else ())))
        self._unwanted = terms((*settings.where, f"rule={rule}")) if apart else None
        self._storage = open_warehouse(settings.warehouse)
        self._watched = Watched.of(catalog)
        names = (one.name for one in fields(TablePlan))
        given = {name: told for name in names if (told := getattr(settings, name))}
        self._plans = LetterPlans(catalog, self._storage, given, foreign=settings.foreign)
        self._fits: dict[TablePlan, TableFits] = {}
        self._told: set[str] = set()
        self._left = settings.limit
        self._ledger = ledger
        self._committer = Committer(self._storage, ledger.job)
        self._windows = LetterWindows(self._storage, None if settings.dry_run else ledger)
        self.report = ReplayReport()

    def run(self) -> None:
        """Finish what was killed, then take letters chunk by chunk."""
        self._finish()
        for place in checkpoints.away(self._storage):
            self._on_event(f"{place} is not here: repeats of that job's letters are not found")
        self._plans.check(self._fresh())
        if self._unwanted is not None:
            left_out = letter_batches(self._storage, ["rule"], where=self._unwanted)
            self.report.left_out = sum(batch.num_rows for batch in left_out)
        chunk = Chunk()
        for batch in letter_batches(self._storage, list(COLUMNS), where=self._where):
            self._sort_out(batch, chunk)
            if chunk.is_full:
                chunk = self._next(chunk)
            if self._left == 0:
                break
        while chunk.judged or chunk.masked:
            chunk = self._next(chunk)

    def _finish(self) -> None:
        """What is decided is committed first, as it was decided."""
        pending = self._ledger.pending()
        if pending is not None and not self._settings.dry_run:
            commit_manifest(self._committer, self._ledger, pending)
            self.report.finished += 1
        elif pending is not None:
            reason = "a replay that was killed, or still runs, is not finished yet"
            raise WarehouseError(self._storage.url, reason, "run it once without --dry-run")
        self._windows.forget_undecided()
        if not self._settings.dry_run:
            delta.add_columns(self._storage, REPLAYS, HISTORY)
        self._know(History.read(self._storage))

    def _know(self, history: History) -> None:
        """Take a history: what landed meanwhile or was refused too often is not judged again."""
        most, foreign = self._settings.max_attempts, self._settings.foreign
        refused = history.refused(self._watched.digest, most, foreign=foreign)
        self._done = pa.concat_arrays([history.closed, refused])
        self._history = history

    def _fresh(self) -> Iterator[pa.RecordBatch]:
        """The letters that will be judged, without their lines; nothing is counted."""
        left = self._left
        for batch in letter_batches(self._storage, list(_PLACES), where=self._where):
            tired = among(batch, self._done)
            some = batch.filter(pc.invert(pc.or_(tired, _masked(batch)))).slice(0, left)
            left = None if left is None else left - some.num_rows
            yield some
            if left == 0:
                return

    def _sort_out(self, batch: pa.RecordBatch, chunk: Chunk) -> None:
        """Put aside what is not judged: masked letters, and those tried too often."""
        tired = among(batch, self._done)
        self.report.skipped += pc.sum(tired).as_py() or 0
        batch = batch.filter(pc.invert(tired))
        masked = _masked(batch)
        chunk.masked += batch.filter(masked)["letter"].to_pylist()
        batch = batch.filter(pc.invert(masked)).slice(0, self._left)
        if batch.num_rows:
            taken = chunk.add(batch)
            self._left = None if self._left is None else self._left - taken

    def _next(self, chunk: Chunk) -> Chunk:
        """Replay a chunk; what it held back begins the next one."""
        letters = pa.Table.from_batches(chunk.judged, schema=_LETTERS).combine_chunks()
        if self._settings.foreign:
            lines = unwrapped(letters["line"].combine_chunks())
            letters = letters.set_column(letters.column_names.index("line"), "line", lines)
        self.report.masked += len(chunk.masked)
        masked = chunk.masked
        # One manifest has one plan: another may want other partitions of the same table.
        for plan, some in self._plans.split(letters) or [(TablePlan(), letters)]:
            if self._settings.dry_run:
                self.report.add(self._judged(plan, some))
            else:
                self._replay(plan, some, masked)
            masked = []
        following = Chunk()
        for batch in chunk.held:
            self._sort_out(batch, following)
        return following

    def _judged(self, plan: TablePlan, letters: pa.Table) -> dict[Place, Outcome]:
        """The outcomes that letters would have; nothing is written."""
        judge = Judge(self._catalog)
        found: dict[Place, Outcome] = {}
        for row in letters.to_pylist():
            verdict = judge.judge(row["line"])
            place = (row["source"], row["position"])
            if isinstance(verdict, Rejected):
                found[place] = Outcome(verdict.definition, rule=verdict.problems[0].rule)
            else:
                xid = verdict.match.definition.xid
                name = table_name(plan.root(self._catalog, xid), plan.database)
                found[place] = Outcome(str(xid), ".".join(name))
        return self._judged_once(letters, found)

    def _judged_once(self, letters: pa.Table, found: dict[Place, Outcome]) -> dict[Place, Outcome]:
        """The outcomes of letters that would land, but for those whose message has."""
        owners = self._windows.owners(letters)
        if not owners:
            return found
        places = list(found)
        lines = letters["line"].to_pylist()
        digests = (
            digest(identity_of_line(line)) if found[place].table else NONE
            for place, line in zip(places, lines, strict=True)
        )
        told = {"": b"".join(digests)}
        drop = self._repeated(told, {"": places}, owners)
        again = {places[row] for rows in drop.values() for row in rows.tolist()}
        return {
            place: Outcome(one.definition, repeated=True) if place in again else one
            for place, one in found.items()
        }

    def _repeated(
        self,
        digests: Mapping[str, bytes],
        places: Mapping[str, Sequence[Place]],
        owners: Mapping[Place, str],
    ) -> Mapping[str, Rows]:
        """The rows of files that are not to land; also where all may, they are remembered."""
        found = self._windows.repeated(self._number(), digests, places, owners)
        return {} if self._settings.repeats else found

    def _number(self) -> int:
        """The number of the next replay: one that a table has seen would count as committed."""
        return max(self._history.last, self._ledger.last or 0) + 1

    def _replay(self, plan: TablePlan, letters: pa.Table, masked: list[str]) -> None:
        started = time.monotonic()
        told = set(self._history.letters(MASKED).to_pylist())
        masked = [letter for letter in masked if letter not in told]
        if not (letters.num_rows or masked):
            return
        attempt = partial(self._decided, plan, letters, masked, started)
        manifest, outcomes, rows = until_decided(self._storage.url, attempt)
        commit_manifest(self._committer, self._ledger, manifest)
        self.report.add(outcomes)
        self._know(self._history.with_rows(rows))
        self._on_event(f"replay {manifest.batch}: judged {letters.num_rows:,}")

    def _decided(
        self, plan: TablePlan, letters: pa.Table, masked: list[str], started: float
    ) -> tuple[Manifest, Mapping[Place, Outcome], pa.Table] | None:
        """Judge a chunk and decide it: its manifest, outcomes and history; None: judge it again."""
        number = self._number()
        owners = self._windows.owners(letters)
        found = Relanded()
        if letters.num_rows:
            found = reland(self._order(number, plan, identities=bool(owners)), letters)
        if len(found.outcomes) != letters.num_rows:
            reason = f"{letters.num_rows} letters had {len(found.outcomes)} outcomes"
            raise PipelineError("replayed letters", reason)
        with self._windows.deciding(owners.values()):
            drop = self._repeated(found.digests, found.places, owners)
            found = found.without(self._storage, drop)
            rows = self._rows(number, letters, found.outcomes, masked)
            manifest = self._manifest(number, found, rows, time.monotonic() - started)
            # Masked letters have no table: where there are no others, none is looked at.
            known = self._fitted(plan).tables if letters.num_rows else ()
            if decide(self._committer, self._ledger, manifest, known):
                return manifest, found.outcomes, rows
        self._fits.pop(plan, None)
        return None

    def _manifest(self, number: int, found: Relanded, rows: pa.Table, seconds: float) -> Manifest:
        return Manifest(
            batch=number,
            files=(*found.files, *self._written(number, rows)),
            tables={**found.tables, REPLAYS: CONFIGURATION},
            catalog=self._watched.digest,
            seconds=seconds,
            repeated=sum(one.repeated for one in found.outcomes.values()),
        )

    def _fitted(self, plan: TablePlan) -> TableFits:
        """How tables differ from a plan; another one may make tables of the same database."""
        if plan not in self._fits:
            self._fits[plan] = fit_tables(self._storage, self._catalog, plan)
            for told in self._fits[plan].told:
                if told not in self._told:
                    self._told.add(told)
                    self._on_event(told)
        others = {one: fits for one, fits in self._fits.items() if one.database != plan.database}
        self._fits = {**others, plan: self._fits[plan]}
        return self._fits[plan]

    def _order(self, number: int, plan: TablePlan, *, identities: bool) -> WorkOrder:
        return WorkOrder(
            catalog=self._watched.document,
            external=self._watched.external,
            digest=self._watched.digest,
            storage=self._storage,
            job=self._ledger.job,
            batch=-number,
            received=datetime.now(UTC),
            plan=plan,
            fits=self._fitted(plan).fits,
            identities=identities,
        )

    def _rows(
        self,
        number: int,
        letters: pa.Table,
        outcomes: Mapping[Place, Outcome],
        masked: list[str],
    ) -> pa.Table:
        """The history of a chunk."""
        attempts = self._history.attempts(letters["letter"].combine_chunks())
        known = {"replay": number, "at": datetime.now(UTC), "catalog": self._watched.digest}
        known["foreign"] = self._settings.foreign
        rows: list[dict[str, Any]] = [
            known | {"letter": one, "outcome": MASKED, "attempt": 0} for one in masked
        ]
        names = ("letter", "source", "position", "received")
        columns = (letters[name].to_pylist() for name in names)
        for letter, source, position, received in zip(*columns, strict=True):
            one = outcomes[source, position]
            rows.append(
                known
                | {
                    "letter": letter,
                    "received": received,
                    "attempt": attempts.get(letter, 0) + 1,
                    "outcome": _outcome(one),
                    "definition": one.definition,
                    "table": one.table,
                    "stage": one.stage,
                    "rule": one.rule,
                    "message": one.message,
                }
            )
        return pa.Table.from_pylist(rows, schema=HISTORY)

    def _written(self, number: int, rows: pa.Table) -> Iterator[ManifestFile]:
        for file in ParquetWriter(self._storage, -number).write(REPLAYS, rows):
            yield ManifestFile(
                table=REPLAYS, name=file.name, rows=file.rows, size=file.size, stats=file.stats
            )


def _masked(letters: pa.RecordBatch) -> pa.Array:
    return pc.coalesce(letters["masked"], pa.scalar(False))


def _outcome(one: Outcome) -> str:
    if one.repeated:
        return REPEATED
    return REFUSED if one.table is None else LANDED
