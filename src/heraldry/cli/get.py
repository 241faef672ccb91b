"""``heraldry get``: what a registry has at a path."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click
import msgspec

from heraldry.cli.output import one_line, shorten, table, width
from heraldry.cli.registry_paths import EntityPath, connect, server_option
from heraldry.cli.settings import example, option
from heraldry.errors import ClientError

if TYPE_CHECKING:
    from heraldry.client.registry_answer import Answer

_ELSEWHERE = 303
_COLUMNS = ("name", "versionid", "epoch", "modifiedat")


@click.command(
    "get",
    short_help="What a registry has at a path.",
    epilog=example("heraldry get /messagegroups -i messages -f messages.protocol=KAFKA"),
)
@click.argument("path", metavar="[PATH]", default="/")
@server_option
@click.option(
    "--filter",
    "-f",
    "filters",
    multiple=True,
    metavar="EXPR[,EXPR]",
    help="Keep what all expressions fit; repeated: what fits one of the filters.",
)
@click.option(
    "--inline", "-i", multiple=True, metavar="PATH", help="Show this collection, too; * is all."
)
@click.option("--sort", metavar="NAME[=desc]", help="Order a collection by an attribute.")
@click.option("--doc", is_flag=True, help="The document view: each thing once, to be kept.")
@click.option("--details", "-m", is_flag=True, help="The metadata, not the document.")
@click.option("--binary", is_flag=True, help="Documents as base64.")
@click.option("--collections", is_flag=True, help="The collections alone, all inlined.")
@option(
    "format",
    type=click.Choice(["json", "table"]),
    default="json",
    envvar=None,
    help="JSON as the registry has it, or a table for people.",
)
def command(
    path: str,
    server: str,
    filters: tuple[str, ...],
    inline: tuple[str, ...],
    sort: str | None,
    doc: bool,
    details: bool,
    binary: bool,
    collections: bool,
    output: str,
) -> None:
    """Show an entity, a collection or a document of a registry.

    PATH is an xid such as /messagegroups/orders, with or without the first slash; / is the
    registry. Flags may also follow it as a query. A document is written as it is. A collection
    that the server gives in pages comes whole.
    """
    flags: dict[str, str | tuple[str, ...] | None] = {}
    for name, wanted in (("doc", doc), ("binary", binary), ("collections", collections)):
        if wanted:
            flags[name] = None
    if filters:
        flags["filter"] = filters
    if inline:
        flags["inline"] = ",".join(inline)
    if sort:
        flags["sort"] = sort
    with connect(server) as client:
        asked = EntityPath.parse(path, client.server)
        _write(client.collection(asked.asked(details=details), flags), asked, output)


def _write(answer: Answer, path: EntityPath, output: str) -> None:
    if answer.code == _ELSEWHERE:
        place = answer.headers.get("location", "")
        told = f"the document is kept at {place}, and not fetched from there"
        raise ClientError(answer.url, answer.code, {"title": told})
    if answer.is_document:
        click.echo(answer.content, nl=False)
        sys.stdout.flush()
    elif output == "json":
        answer.json()  # an answer that is none must not pass for one
        click.echo(msgspec.json.format(answer.content, indent=2).decode())
    else:
        for line in table([*_rows(answer.json(), path)]):
            click.echo(line)


def _rows(value: Any, path: EntityPath) -> Iterator[tuple[str, ...]]:
    """A collection as one row per entity, anything else as one row per attribute."""
    if not isinstance(value, Mapping):
        yield (one_line(value),)
    elif path.is_collection:
        yield ("id", *_COLUMNS)
        for id_, entity in value.items():
            yield (id_, *(one_line(entity.get(name, "-")) for name in _COLUMNS))
    else:
        room = max(width() - max(map(len, value), default=0) - 2, 20)
        for name, one in value.items():
            yield name, shorten(one_line(one), room)
