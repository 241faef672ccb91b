"""HTTP: requests sent to an endpoint, and a listener that takes them.

What the options of an endpoint do:

- ``endpoints``: a producer tries the addresses in order until one takes a connection; a consumer
  listens on the first one.
- ``method`` (R68, POST unless given), ``headers`` (R69), ``query`` (R70): of messages that leave
  them open; a listener takes every method, header and query.
- ``apikeyname``, ``apikeyin``: the token goes into this header or query parameter, else into
  ``Authorization: Bearer``.
- ``plainscheme``: user and password go into ``Authorization`` (basic), or into the query under
  ``plainusernamefield`` and ``plainpasswordfield``. ``form`` is refused: the body is the message.

HTTP/1.1 is spoken whatever the version, as servers of the later ones do too. Where there are
credentials, a listener demands them.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Mapping
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

import httpx2

from heraldry.errors import TransportError
from heraldry.messages.message import Pairs
from heraldry.messages.protocols.http import HttpMessage
from heraldry.messages.transports.address import Address, addresses, filled
from heraldry.messages.transports.http_access import Access, access
from heraldry.messages.transports.http_consumer import HttpConsumer
from heraldry.messages.transports.http_target import PORTS, climbs, join, split_address
from heraldry.messages.transports.options import text
from heraldry.messages.transports.tls import tls_context
from heraldry.messages.transports.transport import (
    CONNECT_SECONDS,
    Connection,
    Delivery,
    Transport,
)

ANSWER_SECONDS = 30.0
"""How long a server may take to answer a request."""
CONNECTIONS = 100
"""How many requests may be on their way at once."""

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_ILLEGAL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
# How a request travels is for the client to say.
_FRAMING = frozenset(
    ("host", "content-length", "transfer-encoding", "connection", "keep-alive", "te", "trailer")
) | {"upgrade", "expect"}
_TOLD_BYTES = 200
_READ_BYTES = 65536


def connect(connection: Connection) -> Transport:
    """The transport of an HTTP endpoint."""
    return (HttpProducer if connection.usage == "producer" else HttpConsumer)(connection)


class HttpProducer:
    """Sends requests; any 2xx answer means that the message is taken.

    There is no connection to hold: a server that is not there shows with the first message.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._addresses = addresses(connection, PORTS)
        self._method = text(connection, "method") or "POST"
        self._headers = _given_headers(connection)
        self._query = _given_query(connection)

    async def __aenter__(self) -> Self:
        credentials = self._connection.secrets(self._connection.endpoint)
        self._access: Access = access(self._connection, credentials)
        self._client = httpx2.AsyncClient(
            verify=tls_context(self._connection, credentials),
            headers={"user-agent": "heraldry", "accept-encoding": "identity"},
            timeout=httpx2.Timeout(ANSWER_SECONDS, connect=CONNECT_SECONDS),
            limits=httpx2.Limits(max_connections=CONNECTIONS),
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._client.aclose()

    async def publish(self, raw: HttpMessage, values: Mapping[str, str] | None = None) -> None:
        """Send a request; returns when the server has answered with 2xx."""
        if raw.status is not None:
            told = "the message is a response, which only a server can send"
            raise self._error(told, "publish one with a method")
        own = replace(self._connection, values={**self._connection.values, **(values or {})})
        failure = self._error("no address")
        for address in self._addresses:
            request = self._request(own, address, raw)
            try:
                async with asyncio.timeout(CONNECT_SECONDS + ANSWER_SECONDS):
                    response = await self._client.send(request, stream=True)
                    body = await _beginning(response)
            except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
                told = str(error) or type(error).__name__
                failure = self._error(f"no connection to {_origin(address)}: {told}")
            except (httpx2.HTTPError, TimeoutError) as error:
                told = str(error) or type(error).__name__
                raise self._error(f"no answer from {_origin(address)}: {told}") from None
            else:
                self._check(response, body)
                return
        raise failure

    async def consume(self) -> AsyncGenerator[Delivery]:
        """Not here."""
        raise self._error("opened to publish, not to consume")
        yield

    def _request(self, own: Connection, address: Address, raw: HttpMessage) -> httpx2.Request:
        method = raw.method or self._method
        if not _TOKEN.fullmatch(method):
            raise self._error(f"{method!r} is not a method of HTTP")
        if climbs(raw.path or ""):
            raise self._error("the path has a segment '.' or '..'", "leave it out")
        start, given = split_address(address)
        query = raw.query + _missing(raw.query, (*given, *_filled(own, self._query)))
        headers = raw.headers + _missing(raw.headers, _filled(own, self._headers), fold_case=True)
        query, headers = self._access.shown(query, headers)
        return self._client.build_request(
            method,
            _origin(address),
            headers=[pair for pair in map(self._header, headers) if pair is not None],
            content=raw.body,
            # Not in the URL: that is logged, and the query may hold credentials.
            extensions={"target": join(start, raw.path, query).encode("ascii")},
        )

    def _header(self, pair: tuple[str, str]) -> tuple[bytes, bytes] | None:
        name, value = pair
        if name.lower() in _FRAMING:
            return None
        if not _TOKEN.fullmatch(name):
            raise self._error(f"{name!r} is not a name of an HTTP header")
        if _ILLEGAL.search(value):
            raise self._error(f"the header {name} holds control characters")
        return name.encode(), value.encode()

    def _check(self, response: httpx2.Response, body: bytes) -> None:
        if response.is_success:
            return
        told = " ".join(body[:_TOLD_BYTES].decode(errors="replace").split())
        reason = f"the server answered {response.status_code} {response.reason_phrase}".rstrip()
        advice = "check the credentials" if response.status_code in (401, 403) else ""
        raise self._error(f"{reason}: {told}" if told else reason, advice)

    def _error(self, reason: str, advice: str = "") -> TransportError:
        return TransportError(str(self._connection.endpoint.xid), reason, advice)


async def _beginning(response: httpx2.Response) -> bytes:
    """The first bytes of an answer; a short one is read to its end, and the connection kept."""
    found = b""
    try:
        async for part in response.aiter_raw():
            found += part
            if len(found) > _READ_BYTES:
                break
    finally:
        await response.aclose()
    return found


def _origin(address: Address) -> str:
    return str(replace(address, path=""))


def _missing(own: Pairs, more: Pairs, fold_case: bool = False) -> Pairs:
    """Those of the endpoint whose names a message does not have; its own win."""
    names = {name.lower() if fold_case else name for name, _ in own}
    return tuple(pair for pair in more if (pair[0].lower() if fold_case else pair[0]) not in names)


def _filled(own: Connection, pairs: Pairs) -> Pairs:
    return tuple((name, filled(own, value)) for name, value in pairs)


def _given_headers(connection: Connection) -> Pairs:
    given = connection.endpoint.option("headers") or []
    pairs: list[Any] = [
        (one.get("name"), one.get("value")) for one in given if isinstance(one, Mapping)
    ]
    if not isinstance(given, list) or len(pairs) < len(given) or not _texts(pairs):
        told = "the option headers is not a list of headers"
        advice = 'write [{"name": "x-shop", "value": "7"}]'
        raise TransportError(str(connection.endpoint.xid), told, advice)
    return tuple(pairs)


def _given_query(connection: Connection) -> Pairs:
    given = connection.endpoint.option("query") or {}
    if not isinstance(given, Mapping) or not _texts(given.items()):
        told = "the option query is not a map of texts"
        raise TransportError(str(connection.endpoint.xid), told, 'write {"name": "value"}')
    return tuple(given.items())


def _texts(pairs: Any) -> bool:
    return all(isinstance(name, str) and isinstance(value, str) for name, value in pairs)
