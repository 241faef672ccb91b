"""``heraldry update``: change an entity of a registry."""

from __future__ import annotations

from typing import Any

import click

from heraldry.cli.registry_changes import Change, carry_out, change_options
from heraldry.cli.settings import example


@click.command(
    "update",
    short_help="Change an entity of a registry.",
    epilog=example("heraldry update /messagegroups/orders --set labels.stage=live"),
)
@change_options
def command(server: str, output: str, **asked: Any) -> None:
    """Change what is at PATH; it must be there.

    PATH is an entity or a collection, whose data has entities by id. Only the attributes that are
    given change, unless --replace is. The data of a resource with a document is that document;
    with --details, --set or --del it is metadata. Data comes first, then --del, then --set. A
    VALUE is a number, true, false, null, JSON, or else a string; '"5"' is a string.
    """
    carry_out(server, output, Change(before="present", **asked))
