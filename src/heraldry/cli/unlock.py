"""``heraldry unlock``: make a registry changeable again, in its database."""

from __future__ import annotations

import click

from heraldry.cli.output import write_json
from heraldry.cli.settings import example, option


@click.command(
    "unlock",
    short_help="Make a registry changeable again.",
    epilog=example("heraldry unlock --db sqlite:catalog.db"),
)
@option("db", help="Where the registry is kept: sqlite:FILE or postgresql://...")
@click.option("--reset", is_flag=True, help="Give it all capabilities of a new registry.")
@option("format")
def command(db: str, reset: bool, output: str) -> None:
    """Undo what capabilities forbid: entities, model and capabilities can be changed again.

    A registry whose capabilities are not mutable takes no request that would change them back.
    This does it in the database; servers that run on it see it at their next request. Other
    capabilities stay, unless --reset is given.
    """
    from heraldry.cli.serve_registry import existing_registry
    from heraldry.registry.unlocking import unlock

    with existing_registry(db) as registry:
        changed = unlock(registry, reset=reset)
    if output == "json":
        write_json({"changed": changed})
    else:
        click.echo(f"changed {', '.join(changed)}" if changed else "nothing was locked")
