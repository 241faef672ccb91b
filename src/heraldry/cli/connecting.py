"""What `publish` and `consume` share: which endpoint, where, and with which values."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

import click

from heraldry.cli.making import pair
from heraldry.cli.opening import catalog_options, open_catalog
from heraldry.cli.settings import option

if TYPE_CHECKING:
    from heraldry.messages.catalog import MessageEndpoint


def connection_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that name a catalog and one of its endpoints, and complete that."""
    for decorate in (
        click.option(
            "--set",
            "given",
            multiple=True,
            metavar="NAME=VALUE",
            help="A placeholder of the endpoint's options, or of the message. Repeatable.",
        ),
        option("address"),
        option("endpoint", required=True),
        catalog_options,
    ):
        command = decorate(command)
    return command


def open_endpoint(
    catalog: tuple[str, ...],
    allow: tuple[str, ...],
    endpoint: str,
    address: str | None,
    given: tuple[str, ...],
) -> tuple[MessageEndpoint, dict[str, Any]]:
    """The endpoint at work, and what its producer or consumer is opened with."""
    opened = open_catalog(catalog, allow, whole=True).endpoint(endpoint)
    return opened, {"address": address, "values": dict(map(pair, given))}


def run(work: Coroutine[Any, Any, None]) -> None:
    """Run to the end; what it needs is loaded now, so that ``--help`` is quick."""
    import asyncio

    asyncio.run(work)
