"""``heraldry demo``: a whole day of luggage, from the catalog to the tables, in one command."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from heraldry.cli.demo_registry import registry
from heraldry.cli.output import count, plural, shorten, width, wrap, write_json
from heraldry.cli.settings import example, option
from heraldry.errors import PipelineError, UsageError

if TYPE_CHECKING:
    from heraldry.cli.demo_stream import Stream
    from heraldry.model.catalog import Catalog
    from heraldry.pipeline.deadletters import LetterGroup
    from heraldry.pipeline.report import LandReport
    from heraldry.pipeline.tables import TableInfo

DATABASE = "airport"
CATALOG = "airport.xreg.json"
MARKER = "made-by-heraldry-demo.txt"
BATCHES = 6
REASONS = 12
SAMPLES = 2
_INDENT = " " * 13


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The demo's folders: the warehouse, and inside it what the demo brought along."""

    warehouse: Path

    @property
    def own(self) -> Path:
        """The folder of the catalog and the stream; ``_`` first keeps it out of the tables."""
        return self.warehouse / "_demo"

    @property
    def marker(self) -> Path:
        """The file that says this folder may be removed."""
        return self.own / MARKER

    @property
    def catalog(self) -> Path:
        """The copy of the example catalog."""
        return self.own / CATALOG

    @property
    def registry(self) -> Path:
        """The database of the registry."""
        return self.own / "registry.db"

    @property
    def stream(self) -> Path:
        """The folder of the messages."""
        return self.own / "stream"


@click.command(
    "demo",
    short_help="All of it at once, with an airport's luggage.",
    epilog=example("heraldry demo --to build/demo --messages 20000"),
)
@click.option(
    "--to",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("build/demo"),
    show_default=True,
    metavar="DIR",
    help="Where the demo lives: its warehouse, with the catalog and the stream in _demo.",
)
@click.option(
    "--messages",
    type=click.IntRange(min=1),
    default=120_000,
    show_default=True,
    metavar="N",
    help="How many messages to make.",
)
@click.option(
    "--seed", type=int, default=1, show_default=True, help="The same seed makes the same stream."
)
@click.option("--keep", is_flag=True, help="Add another day to what an earlier run landed.")
@option("master")
@option("format")
def command(to: Path, messages: int, seed: int, keep: bool, master: str, output: str) -> None:
    """Make a day of airport luggage, good and flawed messages, and land it in tables.

    A run starts afresh: it removes what an earlier demo left in DIR, and nothing else.
    """
    place = Place(warehouse=to)
    prepare(place, keep=keep)
    text = output == "text"
    with registry(place.registry, place.catalog) as address:
        catalog = _open(place, address)
        if text:
            _write_catalog(address, catalog)
    stream = _make(place, messages, seed)
    if text:
        _write_stream(stream)
    report = _land(catalog, place, stream, master)
    from heraldry.pipeline import deadletters, tables

    found, groups = tables.tables(str(to)), deadletters.groups(str(to))
    if text:
        _write_tables(found)
        _write_letters(groups)
        _write_end(report, place)
    else:
        write_json(_as_json(report, place, stream, found, groups))


def prepare(place: Place, *, keep: bool) -> None:
    """Make the folder ready: afresh, unless it is to be kept; never touch what is not ours."""
    if place.warehouse.exists() and any(place.warehouse.iterdir()):
        if not place.marker.is_file():
            reason = f"{place.warehouse} holds something that is not a demo"
            raise UsageError(reason, "name another folder with --to")
        if not keep:
            shutil.rmtree(place.warehouse)
    place.own.mkdir(parents=True, exist_ok=True)
    place.marker.write_text(
        "Written by `heraldry demo`, which removes this folder to begin anew.\n"
    )
    place.catalog.write_bytes(example_catalog())


def example_catalog() -> bytes:
    """The example catalog: packed beside this module, or in the examples of a checkout."""
    packed = Path(__file__).with_name(CATALOG)
    checkout = Path(__file__).parents[3] / "examples" / "airport" / CATALOG
    return (packed if packed.is_file() else checkout).read_bytes()


def _open(place: Place, address: str) -> Catalog:
    from heraldry.client.registry_catalog import Catalogs

    return Catalogs(cache=place.own / "cache").load(address)


def _make(place: Place, messages: int, seed: int) -> Stream:
    from heraldry.cli.demo_stream import write

    day = sum(1 for _ in place.stream.glob("day-*")) + 1
    files = max(1, min(12, messages))
    return write(place.stream / f"day-{day}", messages, seed + day - 1, files)


def _land(catalog: Catalog, place: Place, stream: Stream, master: str) -> LandReport:
    from heraldry.cli.progress import Progress
    from heraldry.pipeline.job import land
    from heraldry.pipeline.settings import LandSettings

    settings = LandSettings(
        source=f"files:{place.stream}",
        warehouse=str(place.warehouse),
        database=DATABASE,
        master=master,
        max_per_batch=max(1, stream.messages // BATCHES),
    )
    with Progress() as progress:
        report = land(catalog, settings, on_batch=progress.batch, on_event=progress.event)
    if report.read != stream.messages or report.read != report.landed + report.dead:
        counted = f"{count(report.landed)} landed and {count(report.dead)} dead letters"
        raise PipelineError("counted", f"{count(stream.messages)} messages became {counted}")
    return report


def _heading(name: str, text: str) -> None:
    click.echo(click.style(name.ljust(13), bold=True) + text)


def _write_catalog(address: str, catalog: Catalog) -> None:
    groups = len(catalog.groups.get("messagegroups", {}))
    messages = sum(1 for _ in catalog.resources("messages"))
    schemas = sum(1 for _ in catalog.resources("schemas"))
    holds = f"{plural(groups, 'group')}, {plural(messages, 'message')}, {plural(schemas, 'schema')}"
    _heading("Registry", f"{address}/   {holds}")


def _write_stream(stream: Stream) -> None:
    size = f"{stream.bytes / 1e6:.1f} MB"
    holds = f"{plural(stream.messages, 'message')} in {plural(stream.files, 'file')}, {size}"
    _heading("Stream", f"{stream.folder}   {holds}")


def _write_tables(found: tuple[TableInfo, ...]) -> None:
    from heraldry.cli.tables import row_text
    from heraldry.pipeline.tables import sample_rows

    wide = max((len(".".join(info.name)) for info in found), default=0)
    head = "Tables"
    for info in found:
        name = ".".join(info.name).ljust(wide)
        _heading(head, f"{name}  {count(info.rows).rjust(9)} rows")
        head = ""
        for row in sample_rows(info.path, SAMPLES):
            click.secho(shorten(f"{_INDENT}  {row_text(row)}", width()), dim=True)


def _write_letters(groups: tuple[LetterGroup, ...]) -> None:
    _heading("Dead letters", count(sum(group.count for group in groups)))
    for group in groups[:REASONS]:
        of = f" ({'/'.join(group.definition.split('/')[2::2])})" if group.definition else ""
        place = "" if group.path == "/" else f"{group.path} "
        text = wrap(f"{group.stage}: {place}{group.message}{of}", f"{_INDENT}{' ' * 8}")
        click.echo(f"{_INDENT}{count(group.count).rjust(6)}  {text.lstrip()}")
    if (more := len(groups) - REASONS) > 0:
        rest = sum(group.count for group in groups[REASONS:])
        click.echo(f"{_INDENT}{count(rest).rjust(6)}  for {plural(more, 'more reason')}")


def _write_end(report: LandReport, place: Place) -> None:
    from heraldry.cli.land import balance

    click.secho(balance(report), bold=True)
    if sys.stdout.isatty():
        click.echo(f"Try: heraldry tables --warehouse {place.warehouse} --rows 2")
        click.echo(f"     heraldry dead-letters --warehouse {place.warehouse} --rows 5")
        xid = "/messagegroups/luggage/messages/checkedin"
        click.echo(f"     heraldry serve --db sqlite:{place.registry}")
        click.echo(f"     heraldry build --catalog {place.catalog} {xid} --sample")


def _as_json(
    report: LandReport,
    place: Place,
    stream: Stream,
    found: tuple[TableInfo, ...],
    groups: tuple[LetterGroup, ...],
) -> dict[str, Any]:
    from heraldry.cli import dead_letters, tables
    from heraldry.cli.land import summary

    return summary(report, str(place.warehouse)) | {
        "catalog": str(place.catalog),
        "stream": stream,
        "tables": [tables.as_json(info) for info in found],
        "dead_letters": [dead_letters.as_json(group) for group in groups],
    }
