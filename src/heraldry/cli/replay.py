"""``heraldry replay``: dead letters are judged again, and land where the catalog was mended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from heraldry.cli.letter_text import none_fits
from heraldry.cli.opening import catalog_options, open_catalog
from heraldry.cli.output import count, plural, progress, table, wrap, write_json
from heraldry.cli.settings import Decorator, example, option

if TYPE_CHECKING:
    from heraldry.pipeline.landing.replay_report import ReplayReport

WHERE = click.option(
    "--where",
    multiple=True,
    metavar="TERMS",
    help="Only letters that all terms fit: rule=type, definition=/messagegroups/orders/*, "
    "source=GLOB, batch>=7, since=2h, message~TEXT. Repeatable.",
)


def _option(name: str, told: str) -> Decorator:
    """An option of tables; variables hold it for jobs, and letters of others would go astray."""
    return option(name, envvar=None, help=told)


@click.command(
    "replay",
    short_help="Dead letters once more, with a mended catalog.",
    epilog=example("heraldry replay --catalog examples/orders --warehouse lake --where rule=type"),
)
@catalog_options
@option("warehouse", required=True)
@WHERE
@click.option("--dry-run", is_flag=True, help="Judge, tell the outcome, and write nothing.")
@click.option(
    "--limit", type=click.IntRange(min=0), metavar="N", help="Judge at most so many letters."
)
@click.option(
    "--max-attempts",
    type=click.IntRange(min=1),
    default=3,
    show_default=True,
    metavar="N",
    help="Leave letters alone that this very catalog has refused so often.",
)
@click.option(
    "--foreign",
    is_flag=True,
    help="The letters are dead letters of other tools: land the messages inside them.",
)
@click.option("--repeats", is_flag=True, help="Also land letters whose message has landed since.")
@_option("database", "The database of all letters, instead of that of the job of each.")
@_option("keep-payload", "Keep the raw payloads of all letters; else as the job of each does.")
@_option(
    "with-base",
    "Land variants of all letters in the table of their base; else as the job of each does.",
)
@_option(
    "partition-by",
    "Partition tables that are made for letters so; else as the job of each does. Repeatable.",
)
@_option("cluster-by", "Sort the rows of all letters so; else as the job of each does. Repeatable.")
@option("format")
def command(
    catalog: tuple[str, ...],
    allow: tuple[str, ...],
    warehouse: str,
    where: tuple[str, ...],
    dry_run: bool,
    limit: int | None,
    max_attempts: int,
    foreign: bool,
    repeats: bool,
    database: str | None,
    keep_payload: bool,
    with_base: bool,
    partition_by: tuple[str, ...],
    cluster_by: tuple[str, ...],
    output: str,
) -> None:
    """Judge dead letters again by the catalog as it is now, and land those that it accepts.

    A letter lands by the database and the other table options of its job; those given here win.
    Every letter lands at most once, over any number of runs; a run that was killed is finished by
    the next one. Letters are never changed or removed: what became of each stands in the table
    _replays. Letters that stay refused do not change the exit code.

    Letters of the rule not-selected, which --only made, are left out unless --where asks for them
    by rule or letter.
    """
    from heraldry.pipeline.replay import ReplaySettings, replay

    settings = ReplaySettings(
        warehouse=warehouse,
        where=where,
        database=database,
        limit=limit,
        max_attempts=max_attempts,
        keep_payload=keep_payload,
        with_base=with_base,
        partition_by=partition_by,
        cluster_by=cluster_by,
        foreign=foreign,
        repeats=repeats,
        dry_run=dry_run,
    )
    report = replay(open_catalog(catalog, allow, whole=True).catalog, settings, on_event=progress)
    if output == "json":
        write_json(as_json(report, dry_run=dry_run))
    else:
        if where and limit != 0 and not (report.selected or report.left_out):
            _write_none_fits(warehouse, where)
        _write(report, dry_run=dry_run)


def as_json(report: ReplayReport, *, dry_run: bool) -> dict[str, Any]:
    """What a replay did, as one object."""
    return {
        "selected": report.selected,
        "landed": report.landed,
        "refused": report.refused,
        "masked": report.masked,
        "skipped": report.skipped,
        "repeated": report.repeated,
        "left_out": report.left_out,
        "finished": report.finished,
        "dry_run": dry_run,
        "seconds": round(report.seconds, 3),
        "tables": dict(sorted(report.tables.items())),
        "rules": dict(sorted(report.rules.items())),
    }


def _write_none_fits(warehouse: str, where: tuple[str, ...]) -> None:
    from heraldry.pipeline.letters.alternatives import alternatives
    from heraldry.pipeline.letters.where import named_columns

    found = alternatives(warehouse, named_columns(where))
    if found.letters:
        click.echo(wrap(none_fits(found), ""))


def _write(report: ReplayReport, *, dry_run: bool) -> None:
    rows = [(name, count(gained), "rows") for name, gained in sorted(report.tables.items())]
    rows += [(f"[{rule}]", count(n), "refused") for rule, n in sorted(report.rules.items())]
    for text in table(rows, right=[1]):
        click.echo(text)
    if report.finished:
        click.echo(f"finished {plural(report.finished, 'replay')} that had been cut short")
    if report.left_out:
        told = plural(report.left_out, "letter")
        click.echo(f"{told} left out: --only kept them out of tables (--where rule=not-selected)")
    if report.masked:
        click.echo("masked letters cannot be replayed: read their source again")
    if report.repeated:
        click.echo("repeated letters did not land: their message has, since it was refused")
    if report.skipped:
        click.echo("skipped letters were tried too often with this catalog (--max-attempts)")
    click.echo(
        f"{plural(report.selected, 'letter')} = {count(report.landed)} landed"
        f" + {count(report.refused)} refused + {count(report.masked)} masked"
        f" + {count(report.skipped)} skipped + {count(report.repeated)} repeated"
        + (" (nothing was written)" if dry_run else "")
    )
