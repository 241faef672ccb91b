"""Consuming over HTTP: a listener that answers each request once its message is dealt with."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator, Mapping
from functools import partial
from types import TracebackType
from typing import Self

from heraldry.errors import TransportError
from heraldry.messages.protocols.http import HttpMessage
from heraldry.messages.transports.address import addresses
from heraldry.messages.transports.http_access import access
from heraldry.messages.transports.http_listener import Answer, Limits, Listener, Request
from heraldry.messages.transports.http_target import PORTS, split, split_address
from heraldry.messages.transports.secrets import Credentials
from heraldry.messages.transports.transport import Connection, Delivery

ANSWER_SECONDS = 60.0
"""How long a message may wait to be settled before its sender is told to come again."""

_TAKEN = Answer(status=204)
_REJECTED = Answer(status=422, detail="The message is not one that is expected here.")
_NOT_NOW = Answer(
    status=503, detail="Nobody deals with messages now.", headers=(("Retry-After", "5"),)
)

_Waiting = asyncio.Future[Answer]


class HttpConsumer:
    """Takes requests below the path of its address, one message each.

    ``ack`` answers 204 and ``reject`` 422; who is not answered in time, or when the consumer
    ends, gets 503 and is to come again. The handshake of CloudEvents webhooks (OPTIONS with
    ``WebHook-Request-Origin``) is granted. Credentials are demanded where there are any, and
    never part of a message. An https address needs HERALDRY_CERTIFICATE_FILE and _KEY_FILE; the
    trust root has no effect, because senders show no certificates.
    """

    def __init__(self, connection: Connection, limits: Limits | None = None) -> None:
        self._connection = connection
        self._address = addresses(connection, PORTS)[0]
        self._start = split_address(self._address)[0]
        self._listener = Listener(self._screen, self._handle, limits or Limits())
        self._waiting: set[_Waiting] = set()

    async def __aenter__(self) -> Self:
        credentials = self._connection.secrets(self._connection.endpoint)
        self._access = access(self._connection, credentials)
        self._queue: asyncio.Queue[tuple[HttpMessage, _Waiting]] = asyncio.Queue()
        tls = self._tls(credentials) if self._address.tls else None
        try:
            await self._listener.start(self._address.host, self._address.port, tls)
        except OSError as error:
            told = f"cannot listen on {self._address}: {error.strerror or error}"
            advice = "name an address of this machine: --address http://0.0.0.0:8080"
            raise self._error(told, advice) from None
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for waiting in self._waiting:
            _settle(waiting, _NOT_NOW)
        await self._listener.close()

    async def publish(self, raw: HttpMessage, values: Mapping[str, str] | None = None) -> None:
        """Not here."""
        raise self._error("opened to consume, not to publish")

    async def consume(self) -> AsyncGenerator[Delivery]:
        """The requests; each waits for its answer until it is settled."""
        while True:
            message, waiting = await self._queue.get()
            if waiting.done():  # its sender was already told to come again
                continue
            yield Delivery(
                raw=message,
                ack=partial(_answer, waiting, _TAKEN),
                reject=partial(_answer, waiting, _REJECTED),
            )

    def _screen(self, request: Request) -> Answer | None:
        """What can be said before the body is read."""
        try:
            found = split(self._start, _path(request.target))
        except ValueError:
            return Answer(status=400, detail="The query is not UTF-8, or has too many parts.")
        if found is None:
            return Answer(status=404, detail="Messages are not taken here.")
        if request.method == "OPTIONS":
            return _handshake(request)
        if request.method in ("CONNECT", "TRACE"):
            return Answer(status=405, detail="This is not a proxy.", headers=(("Allow", "POST"),))
        if not self._access.grants(request.headers, found[1]):
            scheme = self._access.headers.get("authorization", "Bearer").split()[0]
            challenge = (("WWW-Authenticate", f'{scheme} realm="heraldry"'),)
            return Answer(status=401, detail="Credentials are needed.", headers=challenge)
        return None

    async def _handle(self, request: Request) -> Answer:
        path, query = split(self._start, _path(request.target)) or ("/", ())
        headers, query = self._access.without(request.headers, query)
        typed = any(name.lower() == "content-type" for name, _ in headers)
        message = HttpMessage(
            method=request.method,
            path=path,
            query=query,
            headers=headers,
            # HTTP tells no body from an empty one, unless a type says that there is one.
            body=request.body if request.body or typed else None,
        )
        waiting: _Waiting = asyncio.get_running_loop().create_future()
        self._waiting.add(waiting)
        self._queue.put_nowait((message, waiting))
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                return await waiting
        except TimeoutError:
            return _NOT_NOW
        finally:
            self._waiting.discard(waiting)

    def _tls(self, credentials: Credentials) -> ssl.SSLContext:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        try:
            context.load_cert_chain(credentials.certificate_file or "", credentials.key_file)
        except OSError:
            told = "an https address needs a certificate with its key"
            advice = "set HERALDRY_CERTIFICATE_FILE and HERALDRY_KEY_FILE"
            raise self._error(told, advice) from None
        return context

    def _error(self, reason: str, advice: str = "") -> TransportError:
        return TransportError(str(self._connection.endpoint.xid), reason, advice)


async def _answer(waiting: _Waiting, answer: Answer) -> None:
    _settle(waiting, answer)


def _settle(waiting: _Waiting, answer: Answer) -> None:
    if not waiting.done():
        waiting.set_result(answer)


def _path(target: str) -> str:
    """A target without the origin that requests through proxies have."""
    origin, found, rest = target.partition("://")
    return f"/{rest.partition('/')[2]}" if found and "/" not in origin else target


def _handshake(request: Request) -> Answer:
    """The permission of CloudEvents webhooks: every origin may send, at any rate."""
    asked = any(name.lower() == "webhook-request-origin" for name, _ in request.headers)
    granted = (("WebHook-Allowed-Origin", "*"), ("WebHook-Allowed-Rate", "*"))
    return Answer(status=200, headers=(("Allow", "POST"), *(granted if asked else ())))
