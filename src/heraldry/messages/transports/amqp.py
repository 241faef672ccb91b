"""AMQP 1.0: publish to and consume from a node of a server (R71..R76).

Addresses: ``amqp`` and ``amqps``.

| option | effect |
|---|---|
| node | the node; wins over the path of the address. Placeholders take the connection's values |
| durable | ``header.durable`` of messages that do not say; producers only |
| link-properties, connection-properties | sent when the link, the connection is opened |
| connection-capabilities, node-capabilities | asked of the server |
| distribution-mode | ``copy`` leaves messages for others; consumers only |
| source-filters | the filters of a consumer, by name, as the server knows them |
| dynamic | the server makes a node for the link |
| terminus-durability, expiry-policy, timeout | what the server keeps of the link when it is gone |
| sender-settle-mode | ``settled`` asks for no answer: ``publish`` returns when it is sent |
| receiver-settle-mode | ``second``: a message is done with when both sides have said so |

Where the server is to keep the link, container and link are named after the endpoint, so that the
next connection finds it, and the link is detached, not closed, at the end.

``publish`` returns when the server has accepted the message; it waits while the server gives no
credit. One that was under way when the connection broke fails, the next one connects again.
``ack`` accepts a message, ``reject`` rejects it; one that is not settled comes again, and so does
one that is settled after its connection was lost. A consumer that lost its connection tries for a
minute. Credentials are a user and password (PLAIN); a token has no mechanism here and is refused.
Without either the connection is ANONYMOUS, or with a client certificate EXTERNAL.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncGenerator, Mapping
from dataclasses import replace
from functools import partial
from types import TracebackType
from typing import Self
from uuid import uuid4

import proton

from heraldry.errors import MessageError, TransportError
from heraldry.messages.json_form import first
from heraldry.messages.protocols.amqp import AmqpMessage
from heraldry.messages.transports import amqp_codec
from heraldry.messages.transports.address import Address, addresses
from heraldry.messages.transports.amqp_engine import Engine, name_of
from heraldry.messages.transports.amqp_options import read_options
from heraldry.messages.transports.secrets import Credentials
from heraldry.messages.transports.tls import tls_context
from heraldry.messages.transports.transport import CONNECT_SECONDS, Connection, Delivery

PORTS = {"amqp": 5672, "amqps": 5671}
IDLE_SECONDS = 60.0
_AGAIN_SECONDS = 60.0
_PAUSE_SECONDS = 1.0
_STEADY_SECONDS = 10.0
_CLOSE_SECONDS = 2.0


def connect(connection: Connection) -> AmqpTransport:
    """The transport of an AMQP endpoint, not yet connected."""
    return AmqpTransport(connection)


class AmqpTransport:
    """A connection with one link: a sender or a receiver."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._xid = str(connection.endpoint.xid)
        self._addresses = addresses(connection, PORTS)
        self._options = read_options(connection)
        if not self._options.dynamic and not all(self._node(one) for one in self._addresses):
            told = "the endpoint names no node"
            raise self._error(told, "set the option node, or the path of the address")
        own = connection.endpoint.xid.group if self._options.keeps else uuid4()
        self._name = f"heraldry-{own}"
        self._engine: Engine | None = None
        self._connecting = asyncio.Lock()
        self._left = False

    async def __aenter__(self) -> Self:
        await self._connected()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._left = True
        if self._engine is None:
            return
        try:
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self._engine.close()
        except TimeoutError:
            pass  # a server that does not say goodbye is left alone
        finally:
            self._engine.abort()

    async def publish(self, raw: AmqpMessage, values: Mapping[str, str] | None = None) -> None:
        """Send one message; returns when the server has accepted it."""
        del values  # the node is the connection's: a link has one
        if self._options.durable and first(raw.header, "durable") is None:
            raw = replace(raw, header=(*raw.header, ("durable", True)))
        content = amqp_codec.encode(raw)
        engine = await self._connected()
        await engine.send(content)

    async def consume(self) -> AsyncGenerator[Delivery]:
        """The messages of the node, as they come."""
        loop = asyncio.get_running_loop()
        trouble: float | None = None
        while True:
            since = math.inf
            try:
                engine = await self._connected()
                since = loop.time()
                delivery, content = await engine.receive()
            except TransportError:
                now = loop.time()
                if trouble is None or now - since > _STEADY_SECONDS:
                    trouble = now
                if self._left or now - trouble > _AGAIN_SECONDS:
                    raise
                await asyncio.sleep(_PAUSE_SECONDS)
                continue
            trouble = None
            settle = partial(_settle, engine, delivery)
            yield Delivery(
                raw=_read(content),
                position=name_of(delivery),
                ack=partial(settle, proton.Delivery.ACCEPTED),
                reject=partial(settle, proton.Delivery.REJECTED),
            )

    async def _connected(self) -> Engine:
        async with self._connecting:
            if self._left:
                raise self._error("the connection is closed")
            if self._engine is not None and self._engine.reason is None:
                return self._engine
            if self._engine is not None:
                self._engine.abort()
            credentials = self._connection.secrets(self._connection.endpoint)
            for place in self._addresses[:-1]:
                try:
                    self._engine = await self._open(place, credentials)
                except TransportError:
                    continue
                return self._engine
            self._engine = await self._open(self._addresses[-1], credentials)
            return self._engine

    async def _open(self, place: Address, credentials: Credentials) -> Engine:
        context = tls_context(self._connection, credentials) if place.tls else None
        engine = self._make(place, credentials)
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                await loop.create_connection(lambda: engine, place.host, place.port, ssl=context)
                await engine.opened
        except TimeoutError:
            engine.abort()
            told = f"{place}: no answer within {CONNECT_SECONDS:g} s"
            raise self._error(told, "is it an AMQP 1.0 server?") from None
        except OSError as error:
            engine.abort()
            told = f"{place}: {error.strerror or str(error) or type(error).__name__}"
            raise self._error(told, "is the server running?") from None
        except BaseException:
            engine.abort()
            raise
        if self._left:
            engine.abort()
            raise self._error("the connection is closed")
        return engine

    def _make(self, place: Address, credentials: Credentials) -> Engine:
        connection = proton.Connection()
        connection.container = self._name
        connection.hostname = place.host
        self._options.shape_connection(connection)
        transport = proton.Transport()
        transport.idle_timeout = IDLE_SECONDS
        self._authenticate(connection, transport, place, credentials)
        session = connection.session()
        consumes = self._connection.usage == "consumer"
        link = session.receiver(self._name) if consumes else session.sender(self._name)
        far = link.source if consumes else link.target
        self._options.shape_link(link, far, self._node(place))
        fail = partial(self._refused, place)
        return Engine(link, transport, fail, keeps=self._options.keeps)

    def _node(self, place: Address) -> str:
        return self._options.node or place.path

    def _authenticate(
        self,
        connection: proton.Connection,
        transport: proton.Transport,
        place: Address,
        credentials: Credentials,
    ) -> None:
        user, password = credentials.username, credentials.password
        if credentials.token or (user is None) != (password is None):
            told = "an AMQP server wants a user and a password, nothing else"
            raise self._error(told, "set HERALDRY_USERNAME and HERALDRY_PASSWORD")
        sasl = transport.sasl()
        # The socket is asyncio's: proton does not know whether it is a secure one.
        sasl.allow_insecure_mechs = True
        mechanism = "ANONYMOUS"
        if user is not None:
            connection.user, connection.password = user, password
            mechanism = "PLAIN"
        elif place.tls and credentials.certificate_file:
            mechanism = "EXTERNAL"
        sasl.allowed_mechs(mechanism)

    def _refused(self, place: Address, reason: str) -> TransportError:
        advice = ""
        if "uthentication" in reason or "access" in reason.lower():
            advice = "set HERALDRY_USERNAME and HERALDRY_PASSWORD"
        return self._error(f"{place}: {reason}", advice)

    def _error(self, reason: str, advice: str = "") -> TransportError:
        return TransportError(self._xid, reason, advice)


async def _settle(engine: Engine, delivery: proton.Delivery, state: int) -> None:
    engine.settle(delivery, state)


def _read(content: bytes) -> AmqpMessage:
    try:
        return amqp_codec.decode(content)
    except MessageError:
        # Nothing that a message could be made of: whoever has dead letters gets the bytes.
        return AmqpMessage(body=content)
