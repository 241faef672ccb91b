"""How a warehouse fares, from what is stored alone: jobs, their last batches, tables, letters."""

from __future__ import annotations

import fcntl
import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import itemgetter
from typing import Any

import msgspec

from heraldry.pipeline.lake.checkpoints import replays
from heraldry.pipeline.lake.layout import CHECKPOINT
from heraldry.pipeline.lake.ledger import DeprecatedRows, Ledger
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.lake.tables import open_warehouse, tables
from heraldry.pipeline.landing.batches import batches
from heraldry.pipeline.letters.deadletters import groups, letter_batches
from heraldry.pipeline.letters.history import REPLAYS, History
from heraldry.pipeline.letters.nearest import nearest

_DEPRECATED = dict[str, DeprecatedRows]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sum:
    """Some batches added up; ``read`` is ``landed + dead + repeated``."""

    batches: int
    read: int
    landed: int
    dead: int
    repeated: int
    seconds: float

    @property
    def dead_share(self) -> float:
        """The share of dead letters in what had not come before."""
        return self.dead / max(self.landed + self.dead, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobStatus:
    """One job, by its checkpoint; ``running`` and ``pending`` need one that is known here.

    ``pending`` is a batch that was prepared and waits to be committed: the next run does that
    first. ``recent`` adds up the last batches, ``total`` all of them.
    """

    job: str
    checkpoint: str | None
    running: bool | None
    pending: int | None
    batch: int | None
    committed: datetime | None
    run: str
    catalog: str
    newest: datetime | None
    lag: int | None
    recent: Sum
    total: Sum


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayStatus:
    """All replays of a warehouse; ``outcomes`` are those that letters had last.

    ``running`` and ``pending`` are as those of a job.
    """

    number: int
    last: datetime | None
    running: bool | None
    pending: int | None
    outcomes: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableStatus:
    """A table with its rows, and when a batch last brought some."""

    name: str
    rows: int
    changed: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """A warehouse: ``letters`` are the open ones, ``rules`` their reasons, the most frequent first.

    ``nearest`` are the definitions that they came nearest to, likewise; ``deprecated`` those that
    are so and had rows in the last batches of a job.
    """

    warehouse: str
    jobs: tuple[JobStatus, ...]
    replays: ReplayStatus
    tables: tuple[TableStatus, ...]
    letters: int
    rules: tuple[tuple[str, int], ...]
    nearest: tuple[tuple[str, int], ...]
    deprecated: tuple[tuple[str, DeprecatedRows], ...] = ()


def status(warehouse: str, checkpoints: Sequence[str] = (), last: int = 20) -> Status:
    """Look at a warehouse, its own checkpoint and others that are named."""
    storage = open_warehouse(warehouse)
    rows = batches(storage).to_pylist()
    jobs = [row for row in rows if not _is_replay(row)]
    rules: Counter[str] = Counter()
    for group in groups(warehouse):
        rules[group.rule] += group.count
    return Status(
        warehouse=storage.url,
        jobs=tuple(_jobs(jobs, [storage.join(CHECKPOINT), *checkpoints], last)),
        replays=_replays(storage, [row for row in rows if _is_replay(row)]),
        tables=tuple(_tables(warehouse, rows)),
        letters=rules.total(),
        rules=tuple(rules.most_common()),
        nearest=tuple(_nearest(storage).most_common()),
        deprecated=tuple(_deprecated(jobs, last)),
    )


def _deprecated(rows: list[dict[str, Any]], last: int) -> Iterator[tuple[str, DeprecatedRows]]:
    """What landed of deprecated definitions lately; the notice is that of the newest batch."""
    seen: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    found: dict[str, DeprecatedRows] = {}
    for row in sorted(rows, key=itemgetter("committed"), reverse=True):
        seen[row["job"]] += 1
        if seen[row["job"]] > last or not row.get("deprecated"):
            continue
        for xid, one in msgspec.json.decode(row["deprecated"], type=_DEPRECATED).items():
            counts[xid] += one.rows
            found.setdefault(xid, one)
    for xid, number in sorted(counts.items()):
        yield xid, msgspec.structs.replace(found[xid], rows=number)


def _is_replay(row: Mapping[str, Any]) -> bool:
    """Whether a row of the batch ledger is a replay's: each of them, and no job, has a history."""
    return REPLAYS in json.loads(row["tables"])


def _replays(storage: Storage, rows: list[dict[str, Any]]) -> ReplayStatus:
    ledger = Ledger.find(replays(storage))
    pending = ledger.pending() if ledger is not None else None
    return ReplayStatus(
        number=len(rows),
        last=max((row["committed"] for row in rows), default=None),
        running=is_running(ledger.storage) if ledger is not None else False,
        pending=pending.batch if pending is not None else None,
        outcomes=History.read(storage).outcomes,
    )


def _jobs(rows: list[dict[str, Any]], checkpoints: Sequence[str], last: int) -> Iterator[JobStatus]:
    """Jobs that have a checkpoint here, then others that landed something."""
    ours: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        ours.setdefault(row["job"], []).append(row)
    for checkpoint in checkpoints:
        ledger = Ledger.find(checkpoint)  # looking must not begin one
        if ledger is not None:
            yield _job(ledger.job, ours.pop(ledger.job, []), last, ledger)
    for job, done in ours.items():
        yield _job(job, done, last, None)


def _job(job: str, rows: list[dict[str, Any]], last: int, ledger: Ledger | None) -> JobStatus:
    newest = [row["newest"] for row in rows if row["newest"] is not None]
    final = rows[-1] if rows else {}
    pending = ledger.pending() if ledger is not None else None
    return JobStatus(
        job=job,
        checkpoint=ledger.storage.url if ledger is not None else None,
        running=is_running(ledger.storage) if ledger is not None else None,
        pending=pending.batch if pending is not None else None,
        batch=final.get("batch"),
        committed=final.get("committed"),
        run=final.get("run") or "",
        catalog=final.get("catalog") or "",
        newest=max(newest, default=None),
        lag=final.get("lag"),
        recent=_sum(rows[-last:]),
        total=_sum(rows),
    )


def _sum(rows: list[dict[str, Any]]) -> Sum:
    return Sum(
        batches=len(rows),
        read=sum(row["read"] for row in rows),
        landed=sum(row["landed"] for row in rows),
        dead=sum(row["dead"] for row in rows),
        repeated=sum(row["repeated"] for row in rows),
        seconds=sum(row["seconds"] for row in rows),
    )


def is_running(checkpoint: Storage) -> bool | None:
    """Whether a process holds the lock of a checkpoint; None where that cannot be seen.

    The lock is shared for a moment and never waited for; a job that starts just then waits.
    """
    if not checkpoint.is_local:
        return None
    try:
        with open(os.path.join(checkpoint.url, "heraldry", "lock"), "rb") as handle:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except FileNotFoundError:
        return False
    return False


def _nearest(storage: Storage) -> Counter[str]:
    found: Counter[str] = Counter()
    for batch in letter_batches(storage, ["definition", "near"]):
        found.update(nearest(batch))
    del found[""]  # nothing was near
    return found


def _tables(warehouse: str, rows: list[dict[str, Any]]) -> Iterator[TableStatus]:
    changed: dict[str, datetime] = {}
    for row in sorted(rows, key=lambda row: row["committed"]):
        changed |= dict.fromkeys(json.loads(row["rows"]), row["committed"])
    for info in tables(warehouse):
        name = ".".join(info.name)
        yield TableStatus(name=name, rows=info.rows, changed=changed.get(name))
