"""Opening catalogs: what the commands that read one share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from heraldry.cli.output import progress
from heraldry.cli.settings import option

if TYPE_CHECKING:
    from heraldry.client.registry_catalog import Catalogs
    from heraldry.messages.catalog import MessageCatalog

_CACHE = "heraldry.catalog-cache"


def _keep(ctx: click.Context, parameter: click.Parameter, folder: str | None) -> None:
    ctx.meta[_CACHE] = folder


def cache_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """The option that says where copies of fetched catalogs are kept."""
    return option("catalog-cache", expose_value=False, callback=_keep)(command)


def fetch_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options about what may be fetched for a catalog, and where copies are kept."""
    return option("allow")(cache_option(command))


def catalog_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that name a catalog, and what may be fetched for it."""
    return option("catalog", required=True)(fetch_options(command))


def catalogs() -> Catalogs:
    """Loads catalogs by path and address; says on standard error where it takes an old copy."""
    from heraldry.client.registry_catalog import Catalogs

    folder = click.get_current_context().meta.get(_CACHE)
    return Catalogs(
        cache=Path(folder) if folder else None, tell=lambda text: progress(f"heraldry: {text}")
    )


def open_catalog(
    paths: Sequence[str], allow: tuple[str, ...], *, whole: bool = False
) -> MessageCatalog:
    """The catalog of some paths and addresses, with the base messages that may be fetched.

    With ``whole``, a server of theirs that is away is an error.
    """
    from heraldry.client.resolver import Resolver
    from heraldry.messages.catalog import MessageCatalog

    resolver = Resolver(allow=allow)
    resolve = resolver.resolve_all if whole else resolver.resolve
    return MessageCatalog(resolve(catalogs().load(*paths)))
