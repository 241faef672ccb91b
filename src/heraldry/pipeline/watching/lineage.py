"""Lineage: OpenLineage events to a file or a collector, without ever holding up the job.

lineage = Lineage("https://collector.example/api/v1/lineage", tell=print)     # an observer
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from queue import Empty, Full, Queue
from threading import Thread
from typing import Protocol
from urllib.parse import unquote, urlsplit

import msgspec

from heraldry.client.registry import Patience, RegistryClient
from heraldry.errors import HeraldryError, UsageError
from heraldry.pipeline.lake.delta import open_table
from heraldry.pipeline.lake.layout import DEAD_LETTERS
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.lake.tables import spark_type
from heraldry.pipeline.landing.report import BatchReport, LandReport
from heraldry.pipeline.watching.lineage_events import Columns, Moment, Output, run_event
from heraldry.pipeline.watching.observer import JobInfo

MOST_TABLES = 1000
"""An event tells of so many tables, those with the most rows first."""

_WAITING = 100
_ENDPOINT = "/api/v1/lineage"
_PATIENCE = Patience(connect=3.0, answer=10.0, tries=1)


class Target(Protocol):
    """Where events go; what it raises is counted, and the event is lost."""

    def send(self, event: bytes) -> None:
        """Deliver one event."""

    def close(self) -> None:
        """Let go."""


class FileTarget:
    """A file, one event a line."""

    def __init__(self, path: str) -> None:
        try:
            self._file = open(path, "ab")  # noqa: SIM115
        except OSError as error:
            raise UsageError(f"{path} cannot be written", error.strerror or "") from None

    def send(self, event: bytes) -> None:
        """Append a line."""
        self._file.write(event + b"\n")
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class CollectorTarget:
    """A collector by its address; one without a path gets the usual one."""

    def __init__(self, address: str, key: str) -> None:
        if urlsplit(address).path in {"", "/"}:
            address = address.rstrip("/") + _ENDPOINT
        server, _, self._path = address.rpartition("/")
        self._client = RegistryClient(server, patience=_PATIENCE)
        self._headers = {"Content-Type": "application/json"}
        if key:
            self._headers["Authorization"] = f"Bearer {key}"

    def send(self, event: bytes) -> None:
        """Post an event."""
        self._client.send("POST", self._path, event, headers=self._headers)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


def open_target(target: str, environ: Mapping[str, str]) -> Target:
    """A collector for an address, else a file; the key is in ``OPENLINEAGE_API_KEY``."""
    if target.startswith(("http://", "https://")):
        return CollectorTarget(target, environ.get("OPENLINEAGE_API_KEY", ""))
    return FileTarget(target)


class Lineage:
    """An observer that tells a collector; events that it does not take in time are dropped.

    Batches are told of at most every ``every`` seconds, the beginning and the end always. Events
    are made and sent by a thread; ``ended`` waits for it no longer than ``patience`` seconds.
    """

    def __init__(
        self,
        target: str,
        *,
        tell: Callable[[str], object],
        every: float = 10.0,
        patience: float = 5.0,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self._environ = dict(os.environ if environ is None else environ)
        self._target = open_target(target, self._environ)
        self._name, self._tell = target, tell
        self._every, self._patience = every, patience
        self._counts: Counter[str] = Counter()
        self._reasons: Counter[str] = Counter()
        self._tables: Counter[str] = Counter()
        self._touched: set[str] = set()
        self._catalog = ""
        self._last = 0.0
        self.dropped = 0
        self._told = False
        self._queue: Queue[Moment | None] = Queue(_WAITING)
        self._thread = Thread(target=self._deliver, name="lineage", daemon=True)
        self._thread.start()

    def started(self, info: JobInfo) -> None:
        """Tell of the beginning."""
        self._last = time.monotonic()
        self._put(self._moment("START", info, {}))

    def event(self, text: str) -> None:
        """Small events are no lineage."""

    def batch(self, info: JobInfo, report: BatchReport) -> None:
        """Add a batch up, and tell of it where the last time is long enough ago."""
        self._counts.update(
            read=report.read, landed=report.landed, dead=report.dead, repeated=report.repeated
        )
        self._counts["batches"] += 1
        self._reasons.update(report.reasons)
        gained = dict(report.tables) | ({DEAD_LETTERS: report.dead} if report.dead else {})
        self._tables.update(gained)
        self._touched |= gained.keys()
        self._catalog = report.catalog or info.catalog
        if time.monotonic() - self._last >= self._every:
            self._last = time.monotonic()
            tables = {name: self._tables[name] for name in self._touched}
            self._touched = set()
            self._put(self._moment("RUNNING", info, tables))

    def ended(self, info: JobInfo, report: LandReport, error: BaseException | None) -> None:
        """Tell of the end, with all tables of the run, and wait a little until it is told."""
        kind = "COMPLETE" if error is None else "FAIL"
        if report.stopped or isinstance(error, KeyboardInterrupt | SystemExit):
            kind = "ABORT"
        text = str(error) or type(error).__name__
        told = self._moment(kind, info, self._tables, error=text if kind == "FAIL" else "")
        # The end matters more than what was in between.
        for one in (told, None):
            while not self._put(one):
                self._drop_one()
        self._thread.join(self._patience)
        if self._thread.is_alive():
            self._lost(f"not taken within {self._patience:g} s", self._queue.qsize())

    def _moment(
        self, kind: str, info: JobInfo, tables: Mapping[str, int], error: str = ""
    ) -> Moment:
        most = Counter(tables).most_common(MOST_TABLES)
        return Moment(
            kind=kind,
            time=datetime.now(UTC),
            info=info,
            catalog=self._catalog,
            read=self._counts["read"],
            landed=self._counts["landed"],
            dead=self._counts["dead"],
            repeated=self._counts["repeated"],
            batches=self._counts["batches"],
            reasons=dict(self._reasons),
            tables=dict(most),
            left_out=len(tables) - len(most),
            error=error,
        )

    def _put(self, moment: Moment | None) -> bool:
        try:
            self._queue.put_nowait(moment)
        except Full:
            if moment is not None and moment.kind == "RUNNING":
                self._lost("the collector is too slow")
            return False
        return True

    def _drop_one(self) -> None:
        try:
            self._queue.get_nowait()
        except Empty:
            return
        self._lost("the collector is too slow")

    def _lost(self, reason: str, number: int = 1) -> None:
        self.dropped += number
        if not self._told:
            self._told = True
            self._tell(f"lineage: {self._name} does not take every event: {reason}")

    def _deliver(self) -> None:
        """What the thread does: make each event and send it, whatever comes of it."""
        found = _TableFinder()
        while (moment := self._queue.get()) is not None:
            try:
                outputs = found.outputs(moment)
                self._target.send(msgspec.json.encode(run_event(moment, outputs, self._environ)))
            except (HeraldryError, OSError, ValueError) as error:
                self._lost(str(error))
            else:
                found.told(moment, outputs)
        self._target.close()
        if self.dropped:
            self._tell(f"lineage: {self.dropped} events were dropped")


class _TableFinder:
    """Finds the folders and columns of tables by name, and knows whose columns were told."""

    def __init__(self) -> None:
        self._paths: dict[str, str] = {DEAD_LETTERS: DEAD_LETTERS}
        self._told: dict[str, str] = {}

    def outputs(self, moment: Moment) -> list[Output]:
        if not moment.tables:
            return []
        storage = Storage.open(moment.info.warehouse)
        if moment.tables.keys() - self._paths.keys():
            self._paths |= _paths(storage)
        return [
            Output(name=name, path=path, rows=rows, columns=self._columns(storage, path, moment))
            for name, rows in moment.tables.items()
            # one that somebody removed meanwhile has no place
            if (path := self._paths.get(name)) is not None
        ]

    def told(self, moment: Moment, outputs: list[Output]) -> None:
        """These columns have arrived; a changed catalog may bring others."""
        self._told |= {one.path: moment.catalog for one in outputs if one.columns}

    def _columns(self, storage: Storage, path: str, moment: Moment) -> Columns:
        if self._told.get(path) == moment.catalog and moment.catalog:
            return ()
        table = open_table(storage, path)
        if table is None:
            return ()
        fields = json.loads(table.schema().to_json())["fields"]
        return tuple((field["name"], spark_type(field["type"])) for field in fields)


def _paths(storage: Storage) -> dict[str, str]:
    """The folders of all tables by name: database, group and message, as ``layout`` puts them."""
    found = {}
    for database in _own(storage, ""):
        for group in _own(storage, database):
            for message in _own(storage, f"{database}/{group}"):
                parts = (database, group, message)
                name = ".".join(unquote(part.replace("~", "%")) for part in parts)
                found[name] = "/".join(parts)
    return found


def _own(storage: Storage, folder: str) -> list[str]:
    try:
        return [name for name in storage.names(folder) if not name.startswith(("_", "."))]
    except NotADirectoryError:
        return []
