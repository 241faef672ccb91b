"""``heraldry import``: catalog documents and folders into a registry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from heraldry.cli.output import plural, write_json
from heraldry.cli.registry_paths import connect, server_option
from heraldry.cli.settings import example, option
from heraldry.errors import ClientError

if TYPE_CHECKING:
    from heraldry.cli.importing import Imported
    from heraldry.client.registry import RegistryClient


@click.command(
    "import",
    short_help="Read documents or folders into a registry.",
    epilog=example("heraldry import catalog --server http://localhost:8080"),
)
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=click.Path(exists=True))
@server_option
@click.option(
    "--all", "everything", is_flag=True, help="Also its model, capabilities and own attributes."
)
@click.option("--ignore", multiple=True, metavar="WHAT", help="Skip this check; repeatable.")
@option("format")
def command(
    paths: Sequence[str], server: str, everything: bool, ignore: tuple[str, ...], output: str
) -> None:
    """Add the groups of each PATH to a registry, or replace those that are there.

    PATH is a catalog document, a folder of them, or a folder that `heraldry export` wrote. Nothing
    is deleted. Each document is one request: it is taken whole or not at all. With --all the
    registry's own attributes and model are replaced, too, before its groups are read.
    """
    from heraldry.cli.importing import documents

    query = {"ignore": ",".join(ignore)} if ignore else {}
    imported: dict[str, int] = {}
    with connect(server) as client:
        for document in documents(paths):
            flags = query | _flags(client, document.specversion)
            try:
                if everything:
                    client.send("PUT", "/", document.whole, query=flags)
                else:
                    client.send("POST", "/", document.groups, query=flags)
            except ClientError as error:
                raise _advised(error, document) from None
            _count(document.groups, imported)
    if output == "json":
        write_json(imported)
    else:
        click.echo("imported " + (", ".join(_told(imported)) or "nothing"))


def _advised(error: ClientError, document: Imported) -> ClientError:
    """The error, with what helps where the types of a document are unknown to the registry."""
    unknown = str(error.problem.get("type", "")).endswith("#groups_only")
    if not unknown or "modelsource" not in document.registry:
        return error
    advice = f"--all takes the model of {document.file} along"
    return ClientError(error.url, error.code, {**error.problem, "detail": advice})


def _flags(client: RegistryClient, specversion: str) -> dict[str, str]:
    """The flag that says which names a document uses, where the server knows the generation."""
    found = client.find("/capabilities")
    known = found.json().get("specversions", []) if found else []
    return {"specversion": specversion} if specversion in known else {}


def _count(groups: Mapping[str, Any], imported: dict[str, int]) -> None:
    for name, entities in groups.items():
        imported[name] = imported.get(name, 0) + len(entities)


def _told(imported: Mapping[str, int]) -> list[str]:
    return [plural(number, name.removesuffix("s"), name) for name, number in imported.items()]
