"""``heraldry tables``: what has landed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from heraldry.cli.output import count, one_line, plural, shorten, table, width, wrap, write_json
from heraldry.cli.settings import example, option
from heraldry.errors import UsageError

if TYPE_CHECKING:
    from heraldry.pipeline.lake.tables import TableInfo


@click.command(
    "tables",
    short_help="What has landed.",
    epilog=example("heraldry tables --warehouse lake --rows 2"),
)
@option("warehouse", required=True)
@click.option(
    "--rows", type=click.IntRange(min=0), default=0, metavar="N", help="Also show N rows of each."
)
@click.option(
    "--cut",
    is_flag=True,
    help="Only show which version of each table to read, for every batch to be in all or none.",
)
@option("format")
def command(warehouse: str, rows: int, cut: bool, output: str) -> None:
    """List the tables of a warehouse: definition, place, rows and columns."""
    from heraldry.pipeline.lake.tables import sample_rows, tables

    if cut and rows:
        raise UsageError("--rows is for the tables as they are now", "leave it out, or --cut")
    if cut:
        _write_cut(warehouse, output)
        return
    found = tables(warehouse)
    samples = [sample_rows(info.path, rows) if rows else [] for info in found]
    if output == "json":
        items = [as_json(info) for info in found]
        for item, sample in zip(items, samples, strict=True):
            if rows:
                item["sample"] = sample
        write_json(items)
        return
    for info, sample in zip(found, samples, strict=True):
        _write(info, sample)
    total = sum(info.rows for info in found)
    click.echo(f"{plural(total, 'row')} in {plural(len(found), 'table')}")


def as_json(info: TableInfo) -> dict[str, Any]:
    """One table as an object."""
    return {
        "definition": info.definition,
        "table": ".".join(info.name),
        "name": list(info.name),
        "path": info.path,
        "rows": info.rows,
        "columns": [{"name": name, "type": kind} for name, kind in info.columns],
        "partitions": list(info.partitions),
    }


def _write_cut(warehouse: str, output: str) -> None:
    from heraldry.pipeline.landing.consistent_cut import cut

    found = cut(warehouse)
    if output == "json":
        write_json([{"table": t.table, "path": t.path, "version": t.version} for t in found])
        return
    for line in table([(t.table, f"version {t.version}", t.path) for t in found]):
        click.echo(line)


def _write(info: TableInfo, sample: list[dict[str, Any]]) -> None:
    click.secho(".".join(info.name), bold=True, nl=False)
    click.echo(f"  {plural(info.rows, 'row')}")
    click.echo(f"  {info.path}")
    click.echo(f"  {info.definition}")
    if info.partitions:
        click.echo(f"  partitioned by {', '.join(info.partitions)}")
    for name, kind in info.columns:
        click.echo(f"    {name}  {shorten(kind, max(width() - len(name) - 6, 20))}")
    for number, row in enumerate(sample, 1):
        click.echo(wrap(f"row {count(number)}: {row_text(row)}", "    "))
    click.echo()


def row_text(row: dict[str, Any]) -> str:
    """The values of a row that are there, the system's own columns left out."""
    shown = {
        name: value for name, value in row.items() if value is not None and not name.startswith("_")
    }
    return "  ".join(f"{name}={shorten(one_line(value), 60)}" for name, value in shown.items())
