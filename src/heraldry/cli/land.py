"""``heraldry land``: a whole stream into typed tables, every message accounted for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from heraldry.cli.opening import catalog_options, open_catalog
from heraldry.cli.output import count, plural, table, write_json
from heraldry.cli.settings import example, option

if TYPE_CHECKING:
    from heraldry.cli.progress import Progress
    from heraldry.pipeline.report import LandReport


@click.command(
    "land",
    short_help="A whole stream into typed tables.",
    epilog=example("heraldry land --catalog examples/airport --from files:inbox --to lake"),
)
@catalog_options
@option("from", required=True)
@option("to", required=True)
@click.option("--stream", is_flag=True, help="Go on as messages arrive, until interrupted.")
@click.option(
    "--only",
    multiple=True,
    metavar="XID",
    help="Land only this definition; messages of others become dead letters. Repeatable.",
)
@option("checkpoint")
@option("database")
@option("master")
@option("max-per-batch")
@option("keep-payload")
@option("interval")
@option("format")
def command(
    catalog: tuple[str, ...],
    allow: tuple[str, ...],
    source: str,
    to: str,
    stream: bool,
    only: tuple[str, ...],
    checkpoint: str | None,
    database: str | None,
    master: str,
    max_per_batch: int | None,
    keep_payload: bool,
    interval: float,
    output: str,
) -> None:
    """Land a stream of messages: one typed table per definition, and the dead letters.

    Takes everything that is there, once, over any number of runs, and ends; with --stream it
    goes on. Each message lands in exactly one table or in the dead letters, with reasons; dead
    letters do not change the exit code.
    """
    from heraldry.cli.progress import Progress
    from heraldry.pipeline.job import land
    from heraldry.pipeline.settings import LandSettings

    opened = open_catalog(catalog, allow)
    settings = LandSettings(
        source=source,
        warehouse=to,
        checkpoint=checkpoint,
        stream=stream,
        only=tuple(opened[xid].xid for xid in only),
        database=database,
        master=master,
        max_per_batch=max_per_batch,
        keep_payload=keep_payload,
        interval=interval,
    )
    with Progress() as progress:
        report = land(opened.catalog, settings, on_batch=progress.batch, on_event=progress.event)
    if output == "json":
        write_json(summary(report, to))
    else:
        _write(report, progress, to)


def summary(report: LandReport, warehouse: str) -> dict[str, object]:
    """What a run did, as one object."""
    return {
        "read": report.read,
        "landed": report.landed,
        "dead": report.dead,
        "batches": report.batches,
        "seconds": round(report.seconds, 3),
        "warehouse": warehouse,
    }


def balance(report: LandReport) -> str:
    """The line that must add up: one in, exactly one out."""
    dead = plural(report.dead, "dead letter")
    return f"{count(report.read)} in = {count(report.landed)} landed + {dead}"


def _write(report: LandReport, progress: Progress, warehouse: str) -> None:
    rows = [(name, count(gained), "rows") for name, gained in sorted(progress.tables.items())]
    for line in table(rows, right=[1]):
        click.echo(line)
    click.echo(
        f"{plural(report.batches, 'batch', 'batches')} in {report.seconds:.1f} s into {warehouse}"
    )
    click.echo(balance(report))
