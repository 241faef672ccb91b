"""``heraldry upsert``: add or change an entity of a registry."""

from __future__ import annotations

from typing import Any

import click

from heraldry.cli.registry_changes import Change, carry_out, change_options
from heraldry.cli.settings import example


@click.command(
    "upsert",
    short_help="Add or change an entity of a registry.",
    epilog=example("heraldry upsert /messagegroups/orders -d @group.json"),
)
@change_options
def command(server: str, output: str, **asked: Any) -> None:
    """Create what is at PATH, or change it where it is there.

    PATH is an entity (missing parents are made, too) or a collection, whose data has entities by
    id. Only the attributes that are given change, unless --replace is. The data of a resource with
    a document is that document; with --details, --set or --del it is metadata. Data comes first,
    then --del, then --set. A VALUE is a number, true, false, null, JSON, or else a string; '"5"'
    is a string.
    """
    carry_out(server, output, Change(before="either", **asked))
