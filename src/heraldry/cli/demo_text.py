"""What the demo says while it goes on."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from heraldry.cli.demo_mend import CABIN
from heraldry.cli.output import balance, count, plural, shorten, width, wrap

if TYPE_CHECKING:
    from heraldry.cli.demo_mend import Mended
    from heraldry.cli.demo_stream import Stream
    from heraldry.model.catalog import Catalog
    from heraldry.pipeline.lake.tables import TableInfo
    from heraldry.pipeline.landing.report import LandReport
    from heraldry.pipeline.letters.deadletters import LetterGroup

REASONS = 12
SAMPLES = 2
_INDENT = " " * 13


def heading(name: str, text: str) -> None:
    """A line with its heading."""
    click.echo(click.style(name.ljust(13), bold=True) + text)


def write_catalog(address: str, catalog: Catalog) -> None:
    """The registry and what it holds."""
    groups = len(catalog.groups.get("messagegroups", {}))
    messages = sum(1 for _ in catalog.resources("messages"))
    schemas = sum(1 for _ in catalog.resources("schemas"))
    holds = f"{plural(groups, 'group')}, {plural(messages, 'message')}, {plural(schemas, 'schema')}"
    heading("Registry", f"{address}/   {holds}")


def write_stream(stream: Stream) -> None:
    """The stream."""
    size = f"{stream.bytes / 1e6:.1f} MB"
    holds = f"{plural(stream.messages, 'message')}, events and MQTT, {size}"
    heading("Stream", f"{stream.folder}   {holds}")


def write_tables(found: tuple[TableInfo, ...]) -> None:
    """Every table with some rows."""
    from heraldry.cli.tables import row_text
    from heraldry.pipeline.lake.tables import sample_rows

    wide = max((len(".".join(info.name)) for info in found), default=0)
    head = "Tables"
    for info in found:
        name = ".".join(info.name).ljust(wide)
        heading(head, f"{name}  {count(info.rows).rjust(9)} rows")
        head = ""
        for row in sample_rows(info.path, SAMPLES):
            click.secho(shorten(f"{_INDENT}  {row_text(row)}", width()), dim=True)


def write_letters(groups: tuple[LetterGroup, ...]) -> None:
    """The dead letters by reason."""
    heading("Dead letters", count(sum(group.count for group in groups)))
    for group in groups[:REASONS]:
        of = f" ({'/'.join(group.definition.split('/')[2::2])})" if group.definition else ""
        place = "" if group.path == "/" else f"{group.path} "
        text = wrap(f"{group.stage}: {place}{group.message}{of}", f"{_INDENT}{' ' * 8}")
        click.echo(f"{_INDENT}{count(group.count).rjust(6)}  {text.lstrip()}")
    if (more := len(groups) - REASONS) > 0:
        rest = sum(group.count for group in groups[REASONS:])
        click.echo(f"{_INDENT}{count(rest).rjust(6)}  for {plural(more, 'more reason')}")


def write_balance(report: LandReport) -> None:
    """The line that adds up."""
    click.secho(balance(report), bold=True)


def write_mended(mended: Mended) -> None:
    """What the mended definition did for its letters."""
    heading("Mended", f"cabin takes {CABIN!r}: schema checkedin has version {mended.version} now")
    report = mended.report
    heading(
        "Replay",
        f"{plural(report.selected, 'letter')} of checkedin = {count(report.landed)} landed"
        f" + {count(report.refused)} refused again",
    )


def write_end(warehouse: Path, registry: Path, catalog: Path) -> None:
    """What to try next."""
    if sys.stdout.isatty():
        click.echo(f"Try: heraldry tables --warehouse {warehouse} --rows 2")
        click.echo(f"     heraldry dead-letters --warehouse {warehouse} --rows 5")
        xid = "/messagegroups/luggage/messages/checkedin"
        click.echo(f"     heraldry serve --db sqlite:{registry}")
        click.echo(f"     heraldry build --catalog {catalog} {xid} --sample")
