"""Documents that stay elsewhere and are read through the registry: ``<RESOURCE>proxyurl``.

The attribute is an extension of the reference server. Nothing is fetched because a document names
it: only from addresses that whoever runs the registry allows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from heraldry.errors import IncompleteError, RegistryError

Fetch = Callable[[str, str], bytes]
"""Gives the bytes at an address, asked for by an entity; ``bad_request`` says why not."""


class Proxy:
    """Fetches for one request, and knows whether it did: such a reply must not be kept.

    Where a request comes with what was ``fetched`` for it, nothing is waited for: what it still
    needs is ``missing``.
    """

    def __init__(
        self, fetch: Fetch | None, limit: int, fetched: Mapping[str, bytes | RegistryError] | None
    ) -> None:
        self._fetch, self._fetched = fetch, fetched
        self._left = limit
        self._missing: dict[str, str] = {}
        self.used = False

    def document(self, address: str, subject: str) -> bytes:
        """The document at an address; ``bad_request`` where it cannot be had."""
        self.used = True
        if self._fetch is None:
            told = f'"{address}" is not among the addresses that documents may be read from'
            raise RegistryError("bad_request", subject, {"error_detail": told})
        if not self._left:
            told = "too many documents are kept elsewhere"
            raise RegistryError("bad_request", subject, {"error_detail": told})
        self._left -= 1
        if self._fetched is None:
            return self._fetch(address, subject)
        document = self._fetched.get(address)
        if document is None:
            self._missing[address] = subject
            return b""
        if isinstance(document, RegistryError):
            raise document
        return document

    def inlined(self, address: str, subject: str) -> bytes | None:
        """The document at an address, to be shown among attributes; None where it cannot be."""
        try:
            return self.document(address, subject)
        except RegistryError:
            return None

    def check(self) -> None:
        """``IncompleteError`` where a reply lacks documents."""
        if self._missing:
            raise IncompleteError(tuple(self._missing.items()))
