"""Catalogs by path or address: a registry's is fetched as one document and kept for later.

An address is fetched because the user named it. Where the registry is down or does not answer,
the copy of the last time is used, and said to be old.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from heraldry.client.address import Refused, parse
from heraldry.client.cache import Kept, ReplyCache, default_folder
from heraldry.client.registry import Patience, RegistryClient, server_address
from heraldry.dialects.limits import DEFAULT, Limits
from heraldry.dialects.load import SUFFIXES, load_bytes, load_each, load_files
from heraldry.dialects.merge import merge
from heraldry.errors import ClientError, DocumentError, TransportError, UsageError
from heraldry.model.catalog import Catalog

Tell = Callable[[str], None]
"""Takes one line about a copy that may be old."""

_VIEWS = ("/export", "/?doc&inline=*")
"""The whole registry as one document (VW-03), and the same where a server has no export."""
_PATIENCE = Patience(answer=60.0, size=DEFAULT.size)
ELSEWHERE = frozenset((400, 404, 405, 501))
"""How a server says that it has no such view of the registry."""


def is_address(place: str | Path) -> bool:
    """Whether a place is an address of a server and not a path."""
    return str(place).lower().startswith(("http://", "https://"))


def warn(text: str) -> None:
    """Say it as a Python warning, which shows on standard error."""
    warnings.warn(text, UserWarning, stacklevel=6)  # as if said where heraldry.open is called


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogs:
    """Loads catalogs from paths and addresses; what was fetched is kept in ``cache``."""

    cache: Path | None = None
    """The folder of the copies; ``None``: the user's cache folder."""
    tell: Tell = warn
    patience: Patience = _PATIENCE

    def load(self, *places: str | Path, limits: Limits = DEFAULT) -> Catalog:
        """One catalog of all places; the same xid in two of them is an error."""
        if not any(map(is_address, places)):
            return merge(load_files(*places, limits=limits))
        loaded: list[tuple[str, Catalog]] = []
        for place in places:
            if is_address(place):
                loaded.append((str(place), self._fetched(str(place), limits)))
            else:
                loaded += load_files(place, limits=limits)
        return merge(loaded)

    def load_each(self, *places: str | Path) -> Iterator[tuple[str, Catalog | DocumentError]]:
        """Every document by itself, or the error where it cannot be read."""
        for place in places:
            if not is_address(place):
                yield from load_each(place)
                continue
            try:
                yield str(place), self._fetched(str(place), DEFAULT)
            except DocumentError as error:
                yield str(place), error

    def _fetched(self, address: str, limits: Limits) -> Catalog:
        return load_bytes(self.document(address), address, limits)

    def document(self, address: str) -> bytes:
        """The document at an address, fresh or, where nothing answers, of the last time."""
        server, paths = wanted(address)
        with RegistryClient(server, patience=self.patience, cache=self.copies) as client:
            try:
                return _first(client, paths)
            except (TransportError, ClientError) as error:
                if isinstance(error, ClientError) and error.code < 500:
                    raise
                newest = self.kept(client, paths)
                if newest is None:
                    raise
                self.tell(f"{error}; using the copy of {newest.at}")
                return newest.content

    @property
    def copies(self) -> ReplyCache:
        """Where what was fetched is kept."""
        return ReplyCache(self.cache or default_folder())

    def kept(self, client: RegistryClient, paths: tuple[str, ...]) -> Kept | None:
        """The newest copy of what is at some paths of a server, or None."""
        found = [one for path in paths if (one := self.copies.find(client.url(path)))]
        return max(found, key=lambda one: one.at, default=None)


def _first(client: RegistryClient, paths: tuple[str, ...]) -> bytes:
    for path in paths[:-1]:
        try:
            return client.get(path).content
        except ClientError as error:
            if error.code not in ELSEWHERE:
                raise
    return client.get(paths[-1]).content


def wanted(address: str) -> tuple[str, tuple[str, ...]]:
    """The server, and the paths to try: a file as it is, a registry as a whole."""
    found = parse(address)
    if isinstance(found, Refused):
        shown = "the address" if "@" in address else address
        raise UsageError(f"{shown} cannot be fetched", found.reason)
    if found.query or found.path.endswith(("/export", *SUFFIXES)):
        return found.origin, (str(found.document).removeprefix(found.origin),)
    return server_address(str(found.document)), _VIEWS
