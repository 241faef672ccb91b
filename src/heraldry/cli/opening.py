"""Opening catalogs: what the commands that read one share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from heraldry.cli.settings import option

if TYPE_CHECKING:
    from heraldry.messages.catalog import MessageCatalog


def catalog_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that name a catalog, and what may be fetched for it."""
    return option("catalog", required=True)(option("allow")(command))


def open_catalog(paths: Sequence[str], allow: tuple[str, ...]) -> MessageCatalog:
    """The catalog of some paths, with the base messages that may be fetched."""
    from heraldry.client.resolver import Resolver
    from heraldry.messages.catalog import open as open_

    return open_(*paths, resolver=Resolver(allow=allow))
