"""``heraldry maintain``: few files instead of many, and none that nobody needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from heraldry.cli.output import count, plural, wrap, write_json
from heraldry.cli.setting import HOURS, FiniteRange
from heraldry.cli.settings import checkpoints, example, option
from heraldry.cli.status import refuse_missing

if TYPE_CHECKING:
    from heraldry.pipeline.maintain import Kept, Maintained

_UNITS = ("B", "kB", "MB", "GB", "TB")
_STEP = 1000


@click.command(
    "maintain",
    short_help="Compact tables and remove what nobody needs.",
    epilog=example("heraldry maintain --warehouse lake --dry-run"),
)
@option("warehouse", required=True)
@click.option(
    "--table",
    "tables",
    multiple=True,
    metavar="NAME",
    help="Only this table, by its name DATABASE.GROUP.MESSAGE; repeatable.",
)
@checkpoints()
@click.option("--compact", is_flag=True, help="Only make few files of many small ones.")
@click.option("--vacuum", is_flag=True, help="Only remove files of old versions or without owner.")
@click.option(
    "--retention",
    type=FiniteRange(0, HOURS),
    default=168.0,
    show_default=True,
    metavar="HOURS",
    help="How long files of old versions are kept for those who still read them.",
)
@click.option("--dry-run", is_flag=True, help="Change nothing; say what would be done.")
@option("format")
def command(
    warehouse: str,
    tables: tuple[str, ...],
    checkpoint: tuple[str, ...],
    compact: bool,
    vacuum: bool,
    retention: float,
    dry_run: bool,
    output: str,
) -> None:
    """Keep the tables of a warehouse in order, also while jobs are landing.

    Small files are made into few, ordered as --cluster-by asked for. Files of versions older than
    the retention go, and so do files that no table knows: what killed tasks have left. Files that
    a batch will still commit stay, as do all of the last 24 hours that no table knows.
    """
    from heraldry.pipeline.maintain import Upkeep, maintain

    refuse_missing(checkpoint)
    done = maintain(
        Upkeep(
            warehouse=warehouse,
            tables=tables,
            checkpoints=checkpoint,
            compact=compact or not vacuum,
            vacuum=vacuum or not compact,
            retention=retention,
            dry_run=dry_run,
        )
    )
    if output == "json":
        write_json(as_json(done, dry_run=dry_run))
    else:
        _write(done, dry_run=dry_run)


def as_json(done: Maintained, *, dry_run: bool) -> dict[str, Any]:
    """What was done, as one object."""
    return {
        "dry_run": dry_run,
        "manifests": done.manifests,
        "tables": [
            {
                "table": kept.table,
                "path": kept.path,
                "compacted": kept.compacted,
                "into": kept.into,
                "removed": kept.removed,
                "unowned": kept.unowned,
                "freed": kept.freed,
                "left": kept.left,
            }
            for kept in done.tables
        ],
    }


def _write(done: Maintained, *, dry_run: bool) -> None:
    busy = [kept for kept in done.tables if _deeds(kept)]
    for kept in busy:
        click.secho(kept.table, bold=True)
        for deed in _deeds(kept):
            click.echo(wrap(deed, "  "))
    if done.manifests:
        click.echo(f"{plural(done.manifests, 'manifest')} of past batches removed")
    freed = size_text(sum(kept.freed for kept in done.tables))
    told = f"{plural(len(done.tables), 'table')}, {count(len(busy))} in need, {freed} freed"
    click.echo(f"{told} (dry run: nothing was changed)" if dry_run else told)


def _deeds(kept: Kept) -> list[str]:
    found = []
    if kept.compacted:
        found.append(f"{plural(kept.compacted, 'file')} made into {count(kept.into)}")
    if kept.removed:
        found.append(f"{plural(kept.removed, 'file')} of old versions removed")
    if kept.unowned:
        found.append(f"{plural(kept.unowned, 'file')} without an owner removed")
    return found + ([kept.left] if kept.left else [])


def size_text(size: float) -> str:
    """A number of bytes for people: ``1.5 MB``."""
    for unit in _UNITS[:-1]:
        if size < _STEP:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= _STEP
    return f"{size:.1f} {_UNITS[-1]}"
