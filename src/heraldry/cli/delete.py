"""``heraldry delete``: entities of a registry, with all that is in them."""

from __future__ import annotations

import click

from heraldry.cli.output import write_listing
from heraldry.cli.registry_paths import EntityPath, connect, server_option
from heraldry.cli.registry_values import read_data, read_object
from heraldry.cli.settings import example, option
from heraldry.errors import ClientError, UsageError


@click.command(
    "delete",
    short_help="Delete entities of a registry.",
    epilog=example("heraldry delete /messagegroups/orders/messages/order.placed"),
)
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@server_option
@click.option(
    "--data", "-d", metavar="DATA|@FILE|@-", help="The entities of a collection, by id, as JSON."
)
@click.option("--all", "everything", is_flag=True, help="All entities of a collection.")
@click.option("--epoch", type=int, metavar="N", help="Only if it has this epoch still.")
@click.option("--force", "-f", is_flag=True, help="What is not there is no error.")
@option("format")
def command(
    paths: tuple[str, ...],
    server: str,
    data: str | None,
    everything: bool,
    epoch: int | None,
    force: bool,
    output: str,
) -> None:
    """Delete what is at each PATH, with all that is in it.

    Of a collection, --data names the entities to delete, each with its epoch if that matters;
    --all is needed to delete every one. Each PATH is a request of its own.
    """
    if len(paths) > 1 and (data is not None or epoch is not None):
        raise UsageError("--data and --epoch go with one PATH", "name one")
    body = None if data is None else read_object(read_data(data))
    query = {} if epoch is None else {"epoch": str(epoch)}
    deleted: list[str] = []
    with connect(server) as client:
        asked = [EntityPath.parse(path, client.server) for path in paths]
        for path in asked:
            if path.is_collection and body is None and not everything:
                raise UsageError(f"{path.xid} is a collection", "give --data or --all")
            if body is not None and not path.is_collection:
                raise UsageError(f"{path.xid} is no collection", "--data is of collections")
        for path in asked:
            try:
                client.send("DELETE", path.asked(), body, query=query)
            except ClientError as error:
                if error.code == 404 and force:
                    continue
                raise
            deleted.append(path.xid)
            if output == "text":
                click.echo(f"deleted {path.xid}")
    if output == "json":
        write_listing(deleted)
