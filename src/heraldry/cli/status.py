"""``heraldry status``: how a warehouse and its jobs fare, also while none of them runs."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from heraldry.cli.output import count, plural, table, visible, width, wrap, write_json
from heraldry.cli.settings import checkpoints, example, option
from heraldry.errors import WarehouseError

if TYPE_CHECKING:
    from heraldry.pipeline.lake.ledger import DeprecatedRows
    from heraldry.pipeline.watching.status import JobStatus, ReplayStatus, Status, Sum

_EVERY = 2.0
_ALARM = 0.1
_OUTCOMES = ("landed", "refused", "masked", "repeated")
_NAMED = 5
"""So many rules and definitions of dead letters are named to people, the most frequent first."""


@click.command(
    "status",
    short_help="How a warehouse and its jobs fare.",
    epilog=example("heraldry status --warehouse lake --watch"),
)
@option("warehouse", required=True)
@checkpoints()
@click.option(
    "--last",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    metavar="N",
    help="Over how many batches the share of dead letters is taken.",
)
@click.option("--watch", is_flag=True, help="Look again every two seconds, until interrupted.")
@option("format")
def command(
    warehouse: str, checkpoint: tuple[str, ...], last: int, watch: bool, output: str
) -> None:
    """Show the jobs of a warehouse, its tables and its open dead letters.

    All of it is read from the warehouse; no job needs to run. Of a job that keeps its progress
    elsewhere, name the --checkpoint to see whether it runs.
    """
    from heraldry.pipeline.watching.status import status

    refuse_missing(checkpoint)
    while True:
        found = status(warehouse, checkpoint, last)
        if output == "json":
            write_json(as_json(found))
        else:
            if watch and sys.stdout.isatty():
                click.clear()
            _write(found, datetime.now(UTC))
        if not watch:
            return
        sys.stdout.flush()
        time.sleep(_EVERY)


def refuse_missing(checkpoints: Sequence[str]) -> None:
    """WarehouseError for a typed checkpoint that no job has begun; variables hold one for jobs."""
    from heraldry.pipeline.lake.ledger import Ledger

    source = click.get_current_context().get_parameter_source("checkpoint")
    for place in checkpoints if source is ParameterSource.COMMANDLINE else ():
        if Ledger.find(place) is None:
            raise WarehouseError(place, "there is no such checkpoint", "name that of a job")


def as_json(found: Status) -> dict[str, Any]:
    """Everything as one object."""
    return {
        "warehouse": found.warehouse,
        "jobs": [_job_json(job) for job in found.jobs],
        "replays": _replays_json(found.replays),
        "tables": [
            {"table": one.name, "rows": one.rows, "changed": one.changed} for one in found.tables
        ],
        "dead_letters": {
            "open": found.letters,
            "rules": [{"rule": rule, "count": number} for rule, number in found.rules],
            "nearest": [{"definition": xid, "count": number} for xid, number in found.nearest],
        },
        "deprecated": [_deprecated_json(xid, one) for xid, one in found.deprecated],
    }


def _deprecated_json(xid: str, one: DeprecatedRows) -> dict[str, Any]:
    notice = {
        "removal": one.removal,
        "alternative": one.alternative,
        "documentation": one.documentation,
    }
    said = {name: text for name, text in notice.items() if text}
    return {"definition": xid, "rows": one.rows, **said}


def _job_json(job: JobStatus) -> dict[str, Any]:
    return {
        "job": job.job,
        "checkpoint": job.checkpoint,
        "running": job.running,
        "pending": job.pending,
        "batch": job.batch,
        "committed": job.committed,
        "run": job.run,
        "catalog": job.catalog,
        "newest": job.newest,
        "lag": job.lag,
        "recent": _sum_json(job.recent),
        "total": _sum_json(job.total),
    }


def _replays_json(replays: ReplayStatus) -> dict[str, Any]:
    return {
        "replays": replays.number,
        "last": replays.last,
        "running": replays.running,
        "pending": replays.pending,
        **{name: replays.outcomes.get(name, 0) for name in _OUTCOMES},
    }


def _sum_json(total: Sum) -> dict[str, Any]:
    return {
        "batches": total.batches,
        "read": total.read,
        "landed": total.landed,
        "dead": total.dead,
        "repeated": total.repeated,
        "seconds": round(total.seconds, 3),
        "dead_share": round(total.dead_share, 6),
    }


def _write(found: Status, now: datetime) -> None:
    from heraldry.pipeline.landing.deprecated import told

    for job in found.jobs:
        _write_job(job, now)
    rows = [(one.name, count(one.rows), "rows", _ago(one.changed, now)) for one in found.tables]
    for line in table(rows, right=[1]):
        click.echo(_cut(line))
    _write_letters(found)
    _write_replays(found.replays, now)
    for xid, one in found.deprecated:
        head, _, rest = visible(told(xid, one)).partition("; ")
        click.echo(_cut(head))
        if rest:
            click.echo(_cut(f"  {rest}"))
    if not found.jobs:
        click.echo(f"no job has landed anything in {found.warehouse}")


def _write_letters(found: Status) -> None:
    """The open letters by rule and by the definition that they came nearest to: all of them."""
    letters = plural(found.letters, "open dead letter")
    rules = [f"{rule} {count(number)}" for rule, number in found.rules[:_NAMED]]
    if others := sum(number for _, number in found.rules[_NAMED:]):
        rules.append(f"{count(others)} by other rules")
    click.echo(wrap(f"{letters}: {', '.join(rules)}" if rules else letters, ""))
    for xid, number in found.nearest[:_NAMED]:
        click.echo(_cut(f"  {count(number)} near {xid}"))
    if others := sum(number for _, number in found.nearest[_NAMED:]):
        click.echo(f"  {count(others)} near other definitions")


def _write_replays(replays: ReplayStatus, now: datetime) -> None:
    """One line for all replays, where there were any; the usual outcomes also where none had it."""
    if not (replays.number or replays.running or replays.pending is not None):
        return
    told = [count(replays.number)] + ([f"last {_ago(replays.last, now)}"] if replays.last else [])
    for name in _OUTCOMES:
        number = replays.outcomes.get(name, 0)
        if number or name in ("landed", "refused"):
            told.append(f"{count(number)} {name}")
    if replays.running:
        told.append("one is running")
    elif replays.pending is not None:
        told.append(f"number {replays.pending} is to be finished by the next")
    click.echo(wrap(f"replays: {', '.join(told)}", ""))


def _cut(line: str) -> str:
    return line if len(line) <= width() else line[: width() - 1] + "…"


def _write_job(job: JobStatus, now: datetime) -> None:
    state = {True: "running", False: "not running", None: "not known whether it runs"}[job.running]
    click.secho(job.job, bold=True, nl=False)
    click.echo(f"  {state}")
    pairs = [("last batch", "none yet")]
    if job.batch is not None:
        recent = job.recent
        balance = f"{count(job.total.read)} in = {count(job.total.landed)} landed"
        balance += f" + {plural(job.total.dead, 'dead letter')}"
        balance += f" + {count(job.total.repeated)} repeated" if job.total.repeated else ""
        over = plural(recent.batches, "batch", "batches")
        alarm = click.style(f"{recent.dead_share:.1%}", fg="red", bold=True)
        share = alarm if recent.dead_share > _ALARM else f"{recent.dead_share:.1%}"
        pairs = [
            ("last batch", f"{job.batch}, {_ago(job.committed, now)}"),
            ("all batches", balance),
            ("dead letters", f"{share} of the last {over}"),
            ("newest event", _ago(job.newest, now)),
            ("lag", "unknown" if job.lag is None else count(job.lag)),
            ("catalog", job.catalog[:12] or "unknown"),
        ]
    if job.pending is not None:
        pairs.append(("pending", f"batch {job.pending} is prepared and not committed"))
    for line in table(pairs, indent="  "):
        click.echo(line)
    click.echo()


def _ago(moment: datetime | None, now: datetime) -> str:
    from heraldry.cli.progress_panel import age

    return "unknown" if moment is None else f"{age((now - moment).total_seconds())} ago"
