"""``heraldry export``: a registry as a folder fit for Git."""

from __future__ import annotations

from pathlib import Path

import click

from heraldry.cli.output import plural, write_json
from heraldry.cli.registry_paths import connect, server_option
from heraldry.cli.settings import example, option


@click.command(
    "export",
    short_help="Write a registry to a folder fit for Git.",
    epilog=example("heraldry export catalog --server http://localhost:8080"),
)
@click.argument("folder", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))
@server_option
@click.option("--full", is_flag=True, help="Also what the registry sets: epochs, times, addresses.")
@option("specversion", default=None, help="The version to write. [default: as the server speaks]")
@option("format")
def command(folder: Path, server: str, full: bool, specversion: str | None, output: str) -> None:
    """Write a whole registry to DIR: a small file per entity, documents as files of their own.

    The same content gives the same files, so that a difference in Git is a difference in the
    catalog. Files of entities that are gone are removed; other files are left alone. `heraldry
    import DIR` reads it back, and every command that takes a catalog reads DIR as one.
    """
    from heraldry.dialects.folder_writing import shapes_of, write_folder

    with connect(server) as client:
        flags = {"specversion": specversion} if specversion else {}
        document = client.get("/export", {"binary": None, **flags}).json()
        shapes = shapes_of(client.get("/model").json())
        files = write_folder(document, shapes, folder, full=full)
        if output == "json":
            write_json({"server": client.server, "folder": str(folder), "files": files})
        else:
            click.echo(f"{plural(files, 'file')} in {folder}")
