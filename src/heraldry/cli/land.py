"""``heraldry land``: a whole stream into typed tables, every message accounted for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from heraldry.cli.landing import landing_options, landing_settings, observed, watch_catalog
from heraldry.cli.opening import catalog_options
from heraldry.cli.output import balance, count, plural, table, write_json
from heraldry.cli.settings import example, option

if TYPE_CHECKING:
    from collections.abc import Mapping

    from heraldry.pipeline.landing.report import LandReport


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
@click.option(
    "--foreign",
    is_flag=True,
    help="The source holds dead letters of other tools: land the messages inside them.",
)
@landing_options
@option("format")
def command(catalog: tuple[str, ...], allow: tuple[str, ...], output: str, **given: Any) -> None:
    """Land a stream of messages: one typed table per definition, and the dead letters.

    Takes everything that is there, once, over any number of runs, and ends; with --stream it
    goes on. Each message lands in exactly one table or in the dead letters, with reasons; dead
    letters do not change the exit code. Changes of the catalog take effect at the next batch.
    """
    from heraldry.pipeline.job import land

    grace = given.pop("catalog_grace")
    with (
        observed(given) as (progress, observers),
        watch_catalog(catalog, allow, grace, observers) as watch,
    ):
        settings = landing_settings(given, watch.current().catalog)
        report = land(watch, settings, observers)
    if output == "json":
        write_json(summary(report, settings.warehouse))
    else:
        _write(report, progress.tables, settings.warehouse)


def summary(report: LandReport, warehouse: str) -> dict[str, object]:
    """What a run did, as one object."""
    return {
        "read": report.read,
        "landed": report.landed,
        "dead": report.dead,
        "repeated": report.repeated,
        "batches": report.batches,
        "seconds": round(report.seconds, 3),
        "reasons": dict(report.reasons),
        "nearest": dict(report.nearest),
        "warehouse": warehouse,
    }


def _write(report: LandReport, tables: Mapping[str, int], warehouse: str) -> None:
    rows = [(name, count(gained), "rows") for name, gained in sorted(tables.items())]
    for line in table(rows, right=[1]):
        click.echo(line)
    click.echo(
        f"{plural(report.batches, 'batch', 'batches')} in {report.seconds:.1f} s into {warehouse}"
    )
    click.echo(balance(report))
