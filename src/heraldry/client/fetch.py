"""Fetching: documents from allowed addresses, within limits and without credentials.

Requests go to the transport of the HTTP client directly: it knows no cookies, passwords, proxies
or redirects, so none can be sent or followed by accident.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urljoin

from heraldry.client.address import Address, AllowList, Refused, parse
from heraldry.errors import UsageError

if TYPE_CHECKING:
    from httpx2 import AsyncHTTPTransport, Response

_HEADERS = {
    "Accept": "application/json, application/yaml;q=0.5",
    "Accept-Encoding": "identity",
    "User-Agent": "heraldry",
}
_REDIRECTS = frozenset((301, 302, 303, 307, 308))
_LATER = frozenset((408, 425, 429))
_HOPS = 5
NOT_ALLOWED = "its address is not on the allow-list"


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchLimits:
    """How much is fetched for one catalog, at most.

    ``count`` bounds the requests, ``size`` the bytes and ``seconds`` the time of each, and
    ``depth`` the base messages in one chain that are kept elsewhere.
    """

    count: int = 100
    size: int = 8 * 1024 * 1024
    seconds: float = 10.0
    depth: int = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """The bytes at an address; after redirects it is the one that answered."""

    address: Address
    data: bytes


@dataclass(slots=True)
class Fetcher:
    """Fetches documents from allowed addresses; a server that did not answer is left alone."""

    allow: AllowList
    limits: FetchLimits
    transport: AsyncHTTPTransport
    requests: int = 0
    silent: set[str] = field(default_factory=set)

    async def fetch(self, address: Address) -> Fetched | Refused:
        """The document at an address, or why it is not there (M17)."""
        if not self.allow.permits(address):
            return Refused(reason=NOT_ALLOWED)
        if address.scheme == "file":
            return self._file(address)
        for _ in range(_HOPS):
            answer = await self._ask(address)
            if not isinstance(answer, Address):
                return answer
            if not self.allow.permits(answer) or answer.scheme == "file":
                return Refused(reason=f"it is redirected, and then {NOT_ALLOWED}")
            address = answer.document
        return Refused(reason=f"it is redirected {_HOPS} times")

    async def _ask(self, address: Address) -> Fetched | Address | Refused:
        import asyncio  # here, as httpx2 is: most catalogs need neither

        from httpx2 import InvalidURL, TransportError

        if address.origin in self.silent:
            return Refused(reason="its server did not answer before", away=True)
        if self.requests == self.limits.count:
            return Refused(reason=f"more than {self.limits.count} requests would be needed")
        self.requests += 1
        try:
            async with asyncio.timeout(self.limits.seconds):
                return await self._answer(address)
        except TimeoutError:
            self.silent.add(address.origin)
            told = f"it took longer than {self.limits.seconds:g} seconds"
            return Refused(reason=told, away=True)
        except (TransportError, InvalidURL, UnicodeError) as error:  # also: no name of a host
            self.silent.add(address.origin)
            told = f"its server gives no answer: {str(error) or 'it hung up'}"
            return Refused(reason=told, away=True)

    async def _answer(self, address: Address) -> Fetched | Address | Refused:
        """One request: the document, the address it is redirected to, or a reason."""
        from httpx2 import Request

        request = Request("GET", str(address), headers=_HEADERS)
        response = await self.transport.handle_async_request(request)
        try:
            if response.status_code in _REDIRECTS:
                return parse(urljoin(str(address), response.headers.get("Location", "")))
            if response.status_code != 200:
                away = response.status_code >= 500 or response.status_code in _LATER
                return Refused(reason=f"its server answers {response.status_code}", away=away)
            if response.headers.get("Content-Encoding", "identity").lower() != "identity":
                return Refused(reason="its server compresses it, which was not asked for")
            return await self._body(address, response)
        finally:
            await response.aclose()

    async def _body(self, address: Address, response: Response) -> Fetched | Refused:
        data = bytearray()
        async for chunk in response.aiter_raw():
            data += chunk
            if len(data) > self.limits.size:
                return Refused(reason=self._too_large())
        return Fetched(address=address, data=bytes(data))

    def _file(self, address: Address) -> Fetched | Refused:
        try:
            real = Path(unquote(address.path)).resolve(strict=True)
            if not any(real.is_relative_to(folder) for folder in self._folders()):
                return Refused(reason=f"it is a link, and then {NOT_ALLOWED}")
            if not real.is_file():
                return Refused(reason="it is not a file")
            with real.open("rb") as file:
                data = file.read(self.limits.size + 1)
        except (OSError, RuntimeError) as error:  # the latter: links in a circle
            told = getattr(error, "strerror", None) or "its links go round in a circle"
            return Refused(reason=f"the file cannot be read: {told}")
        if len(data) > self.limits.size:
            return Refused(reason=self._too_large())
        return Fetched(address=address, data=data)

    def _folders(self) -> Iterator[Path]:
        for one in self.allow.prefixes:
            if one.scheme == "file":
                yield Path(unquote(one.path)).resolve()

    def _too_large(self) -> str:
        return f"it is larger than {self.limits.size / 1024 / 1024:g} MiB"


@asynccontextmanager
async def open_fetcher(allow: AllowList, limits: FetchLimits) -> AsyncIterator[Fetcher]:
    """A fetcher whose connections are closed at the end."""
    from httpx2 import AsyncHTTPTransport

    try:
        transport = AsyncHTTPTransport()
    except OSError as error:
        told = "the certificates that SSL_CERT_FILE or SSL_CERT_DIR names cannot be read"
        raise UsageError(told, error.strerror or "it is no PEM file") from None
    async with transport:
        yield Fetcher(allow, limits, transport)
