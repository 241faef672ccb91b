"""``heraldry demo``: a whole day of luggage, from the catalog to the tables, in one command."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from heraldry.cli.demo_mend import Mended, mend
from heraldry.cli.demo_registry import registry
from heraldry.cli.output import count, write_json
from heraldry.cli.settings import example, option
from heraldry.errors import PipelineError, UsageError

if TYPE_CHECKING:
    from heraldry.cli.demo_stream import Stream
    from heraldry.model.catalog import Catalog
    from heraldry.pipeline.lake.tables import TableInfo
    from heraldry.pipeline.landing.report import LandReport
    from heraldry.pipeline.letters.deadletters import LetterGroup

DATABASE = "airport"
CATALOG = "airport.xreg.json"
MARKER = "made-by-heraldry-demo.txt"
BATCHES = 6
GRACE = 60.0


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
def command(
    to: Path, messages: int, seed: int, keep: bool, master: str | None, output: str
) -> None:
    """Make a day of airport luggage, good and flawed messages, and land it in tables.

    Events and MQTT messages are judged by a catalog in a registry. Then a definition is mended
    there, and the dead letters that it had made are replayed. A run starts afresh: it removes
    what an earlier demo left in DIR, and nothing else.
    """
    from heraldry.cli import demo_text
    from heraldry.pipeline.lake import tables
    from heraldry.pipeline.letters import deadletters

    place = Place(warehouse=to)
    prepare(place, keep=keep)
    text = output == "text"
    with registry(place.registry, place.catalog) as address:
        if text:
            demo_text.write_catalog(address, _open(place, address))
        stream = _make(place, messages, seed)
        if text:
            demo_text.write_stream(stream)
        report = _land(address, place, stream, master)
        found, groups = tables.tables(str(to)), deadletters.groups(str(to))
        if text:
            demo_text.write_tables(found)
            demo_text.write_letters(groups)
            demo_text.write_balance(report)
        mended = mend(address, to, DATABASE, place.own / "cache")
    if text:
        demo_text.write_mended(mended)
        demo_text.write_end(place.warehouse, place.registry, place.catalog)
    else:
        write_json(_as_json(report, place, stream, found, groups, mended))


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


def _land(address: str, place: Place, stream: Stream, master: str | None) -> LandReport:
    from heraldry.cli.progress import Progress
    from heraldry.client.catalog_follower import CatalogFollower
    from heraldry.client.registry_catalog import Catalogs
    from heraldry.pipeline.job import land
    from heraldry.pipeline.landing.catalog_watch import CatalogWatch
    from heraldry.pipeline.settings import LandSettings

    settings = LandSettings(
        source=f"files:{place.stream}",
        warehouse=str(place.warehouse),
        database=DATABASE,
        master=master,
        max_per_batch=max(1, stream.messages // BATCHES),
    )
    with Progress() as progress:
        look = CatalogFollower(Catalogs(cache=place.own / "cache"), [address]).look
        report = land(CatalogWatch(look, GRACE, tell=progress.event), settings, [progress])
    if report.read != stream.messages or report.read != report.landed + report.dead:
        counted = f"{count(report.landed)} landed and {count(report.dead)} dead letters"
        raise PipelineError("counted", f"{count(stream.messages)} messages became {counted}")
    return report


def _as_json(
    report: LandReport,
    place: Place,
    stream: Stream,
    found: tuple[TableInfo, ...],
    groups: tuple[LetterGroup, ...],
    mended: Mended,
) -> dict[str, Any]:
    from heraldry.cli import dead_letters, replay, tables
    from heraldry.cli.land import summary

    return summary(report, str(place.warehouse)) | {
        "catalog": str(place.catalog),
        "stream": stream,
        "tables": [tables.as_json(info) for info in found],
        "dead_letters": [dead_letters.as_json(group) for group in groups],
        "replay": replay.as_json(mended.report, dry_run=False),
    }
