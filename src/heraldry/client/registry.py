"""A client of any xRegistry server: asks, waits, asks again where that is safe, and tells errors.

with RegistryClient("http://localhost:8080") as registry:
    registry.get("/messagegroups", {"inline": "messages"}).json()
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urljoin

import msgspec

from heraldry.client.address import Refused, parse
from heraldry.client.cache import ReplyCache
from heraldry.client.registry_answer import Answer
from heraldry.errors import ClientError, TransportError, UsageError

if TYPE_CHECKING:
    from httpx2 import Client, Response

Query = Mapping[str, str | Sequence[str] | None]
"""Flags by name; ``None`` is a flag without a value, a sequence repeats the flag."""

_SAFE = frozenset(("GET", "HEAD", "OPTIONS"))
_MOVED = frozenset((301, 302, 307, 308))
_BUSY = 503
_UNCHANGED = 304


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long an answer is waited for, how often it is asked for, and how large it may be."""

    connect: float = 5.0
    answer: float = 120.0
    tries: int = 3
    pause: float = 0.2
    """Seconds before the second try; doubled for each one after it."""
    longest_pause: float = 5.0
    """However long a busy server asks to be left alone (``Retry-After``)."""
    size: int = 1024 * 1024 * 1024


@dataclass(slots=True)
class RegistryClient:
    """One server, by the address of its registry's root."""

    server: str
    patience: Patience = field(default_factory=Patience)
    cache: ReplyCache | None = None
    _client: Client | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        self.server = server_address(self.server)

    def __enter__(self) -> RegistryClient:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the connections."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def url(self, path: str, query: Query | None = None) -> str:
        """The address of a path, which may hold a query already, or be an address of ours."""
        path = path.removeprefix(self.server)
        path, _, given = path.partition("?")
        flags = [given] if given else []
        for name, value in (query or {}).items():
            if value is None:
                flags.append(name)
            else:
                values = [value] if isinstance(value, str) else value
                flags += [f"{name}={quote(one, safe='/:@$!*,=')}" for one in values]
        asked = quote(path.strip("/"), safe="/:@$!*~%")
        return f"{self.server}/{asked}" + (f"?{'&'.join(flags)}" if flags else "")

    def get(self, path: str, query: Query | None = None) -> Answer:
        """What is at a path; from the cache where the server says that it did not change."""
        url = self.url(path, query)
        kept = self.cache.find(url) if self.cache else None
        known = {"If-None-Match": kept.tag} if kept and kept.tag else {}
        answer = self._asked("GET", url, known, None)
        if answer.code == _UNCHANGED and kept:
            return Answer(url=url, code=200, headers=kept.headers, content=kept.content)
        if self.cache and answer.code == 200:
            self.cache.keep(url, answer.headers, answer.content)
        return answer

    def find(self, path: str, query: Query | None = None) -> Answer | None:
        """What is at a path, or None where the registry has nothing there."""
        try:
            return self.get(path, query)
        except ClientError as error:
            if error.code == 404:
                return None
            raise

    def collection(self, path: str, query: Query | None = None) -> Answer:
        """What is at a path; a collection that comes in pages is put together (PG-02)."""
        first = answer = self.get(path, query)
        if not answer.next:
            return first
        whole: dict[str, Any] = dict(answer.json())
        seen = {first.url}
        while answer.next:
            url = urljoin(answer.url, answer.next)
            if not url.startswith(f"{self.server}/") or url in seen:
                raise ClientError(first.url, answer.code, {"title": f"its next page is {url}"})
            seen.add(url)
            answer = self._asked("GET", url, {}, None)
            whole |= answer.json()
        content = msgspec.json.encode(whole)
        return Answer(url=first.url, code=first.code, headers=first.headers, content=content)

    def send(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: Query | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """A request that changes something: bytes go as they are, other values as JSON."""
        given = dict(headers or {})
        if body is not None and not isinstance(body, bytes):
            body = msgspec.json.encode(body)
            given["Content-Type"] = "application/json"
        return self._asked(method, self.url(path, query), given, body)

    def _asked(self, method: str, url: str, headers: dict[str, str], body: Any) -> Answer:
        answer = self._patiently(method, url, headers, body)
        if answer.code in _MOVED:
            told = f"it has moved to {answer.headers.get('location', 'nowhere')}; name that address"
            raise ClientError(url, answer.code, {"title": told})
        if answer.code >= 400:
            raise ClientError(url, answer.code, answer.problem())
        return answer

    def _patiently(self, method: str, url: str, headers: dict[str, str], body: Any) -> Answer:
        """Only what changes nothing is asked again: a lost reply may have been obeyed."""
        pause = self.patience.pause
        left = self.patience.tries if method in _SAFE else 1
        while True:
            left -= 1
            try:
                answer = self._once(method, url, headers, body)
                if answer.code != _BUSY or not left:
                    return answer
                wait = max(pause, answer.retry_after)
            except TransportError:
                if not left:
                    raise
                wait = pause
            time.sleep(min(wait, self.patience.longest_pause))
            pause *= 2

    def _once(self, method: str, url: str, headers: dict[str, str], body: Any) -> Answer:
        from httpx2 import InvalidURL, RequestError, TimeoutException

        try:
            with self._http().stream(method, url, headers=headers, content=body) as response:
                content = self._content(url, response)
                low = {name.lower(): value for name, value in response.headers.items()}
                return Answer(url=url, code=response.status_code, headers=low, content=content)
        except TimeoutException:
            raise TransportError(self.server, "it took too long to answer") from None
        except (RequestError, InvalidURL, UnicodeError) as error:
            reason = f"it gives no answer: {str(error) or 'it hung up'}"
            raise TransportError(self.server, reason, "is the server running there?") from None

    def _content(self, url: str, response: Response) -> bytes:
        parts = bytearray()
        for part in response.iter_bytes():
            parts += part
            if len(parts) > self.patience.size:
                told = f"the answer is larger than {self.patience.size / 2**20:g} MiB"
                raise ClientError(url, response.status_code, {"title": told})
        return bytes(parts)

    def _http(self) -> Client:
        if self._client is None:
            # Loaded only now: most commands talk to no registry.
            from httpx2 import Client, Timeout

            wait = Timeout(self.patience.answer, connect=self.patience.connect)
            self._client = Client(timeout=wait, headers={"User-Agent": "heraldry"})
        return self._client


def server_address(text: str) -> str:
    """The address of a registry without a slash at its end; ``http`` where no scheme is given."""
    given = text.strip()
    if "://" not in given:
        given = f"http://{given}"
    found = parse(given)
    shown = "the server's address" if "@" in given else repr(text)
    if isinstance(found, Refused):
        raise UsageError(f"{shown} cannot be used", found.reason)
    if found.scheme == "file" or found.query or found.fragment:
        raise UsageError(f"{shown} is no server", "write http://HOST[:PORT][/PATH]")
    return str(found).rstrip("/")
