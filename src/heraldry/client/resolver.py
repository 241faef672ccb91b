"""The resolver: fetches the base messages that a catalog keeps elsewhere, once, when it is opened.

A catalog names them by absolute URIs (M15). Nothing is fetched without a resolver, and nothing
outside its allow-list; what cannot be had is no error (M17) but a reason that `check` tells.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Coroutine, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from heraldry.client.address import Address, AllowList, Refused, parse
from heraldry.client.base_message import Document, base_message, read_document
from heraldry.client.fetch import NOT_ALLOWED, Fetcher, FetchLimits, open_fetcher
from heraldry.dialects.limits import Limits
from heraldry.errors import TransportError
from heraldry.model.catalog import Catalog, External
from heraldry.model.inherit import external_bases
from heraldry.model.rules_values import is_absolute

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolver:
    """Fetches base messages from addresses that begin with one of ``allow``, and no others.

    A prefix is compared part by part: scheme, host and port are equal, and the path ends there
    or goes on with ``/``. Files are read for a prefix ``file:///...`` only.
    """

    allow: tuple[str, ...]
    limits: FetchLimits = field(default_factory=FetchLimits)

    def __post_init__(self) -> None:
        AllowList.of(self.allow)  # a mistake in it shows at once

    def resolve(self, catalog: Catalog) -> Catalog:
        """The catalog with the base messages of others that its messages need."""
        wanted = tuple(dict.fromkeys(external_bases(catalog)))
        if not self.allow or not wanted:
            return catalog
        return replace(catalog, external=run(self._fetch(wanted)))

    def resolve_all(self, catalog: Catalog) -> Catalog:
        """The same for those who judge for good; TransportError where a server is away.

        Without its base a definition accepts other messages: what lands by it would stay.
        """
        whole = self.resolve(catalog)
        for uri, external in whole.external.items():
            if external.away:
                raise TransportError(uri, f"a base message that cannot be had: {external.reason}")
        return whole

    async def _fetch(self, wanted: Iterable[str]) -> dict[str, External]:
        async with open_fetcher(AllowList.of(self.allow), self.limits) as fetcher:
            return await _Walk(fetcher, self.limits).all(wanted)


@dataclass(slots=True)
class _Walk:
    """One walk along chains of base messages, nearest first; each document is fetched once."""

    fetcher: Fetcher
    limits: FetchLimits
    found: dict[str, External] = field(default_factory=dict)
    documents: dict[Address, Document | Refused] = field(default_factory=dict)

    async def all(self, wanted: Iterable[str]) -> dict[str, External]:
        waiting = deque((uri, 1, False) for uri in wanted)
        while waiting:
            uri, depth, fetched = waiting.popleft()
            if uri in self.found:
                continue
            address = parse(uri)
            self.found[uri] = await self._one(address, depth, fetched)
            base = (self.found[uri].attributes or {}).get("basemessage")
            if isinstance(address, Address) and isinstance(base, str) and is_absolute(base):
                waiting.append((base, depth + 1, address.scheme != "file"))
        return self.found

    async def _one(self, address: Address | Refused, depth: int, fetched: bool) -> External:
        if isinstance(address, Refused):
            return External(reason=address.reason)
        if not self.fetcher.allow.permits(address):
            return External(reason=NOT_ALLOWED)
        if fetched and address.scheme == "file":
            return External(reason="a document of the network does not lead to files")
        if depth > self.limits.depth:
            return External(reason=f"the chain is longer than {self.limits.depth} messages")
        document = await self._document(address.document)
        if isinstance(document, Refused):
            return External(reason=document.reason, away=document.away)
        message = base_message(document, address.fragment, self._limits)
        if isinstance(message, Refused):
            return External(reason=message.reason)
        return External(attributes=message)

    async def _document(self, address: Address) -> Document | Refused:
        if address not in self.documents:
            answer = await self.fetcher.fetch(address)
            self.documents[address] = (
                answer if isinstance(answer, Refused) else read_document(answer, self._limits)
            )
        return self.documents[address]

    @property
    def _limits(self) -> Limits:
        return Limits(size=self.limits.size)


def run(work: Coroutine[Any, Any, T]) -> T:
    """Wait for some work, also where the caller is itself in an event loop."""
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()
