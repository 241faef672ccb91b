"""Requests and listeners, in one line each."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import aclosing, asynccontextmanager
from typing import Any

from heraldry.messages.protocols.http import HttpMessage
from heraldry.messages.transports.http_consumer import HttpConsumer
from heraldry.messages.transports.http_listener import Limits
from heraldry.messages.transports.secrets import Credentials
from heraldry.messages.transports.transport import Connection, Delivery, Transport, Usage
from heraldry.messages.transports.transport_table import open_transport
from heraldry.model.endpoint import Endpoint
from heraldry.model.xid import Xid
from tests.live.servers.server import free_port

SECONDS = 20.0


def connection(
    address: str | tuple[str, ...],
    usage: Usage,
    secrets: Credentials | None = None,
    values: dict[str, str] | None = None,
    **options: Any,
) -> Connection:
    endpoint = Endpoint(
        xid=Xid.parse("/endpoints/orders"),
        protocol="HTTP/1.1",
        addresses=(address,) if isinstance(address, str) else address,
        options=options,
    )
    return Connection(
        endpoint=endpoint,
        usage=usage,
        values=values or {},
        secrets=lambda _: secrets or Credentials(),
    )


def transport(address: str | tuple[str, ...], usage: Usage, **given: Any) -> Transport:
    return open_transport(connection(address, usage, **given))


def run(work: Coroutine[Any, Any, Any]) -> Any:
    async def timed() -> Any:
        async with asyncio.timeout(SECONDS):
            return await work

    return asyncio.run(timed())


async def publish(address: str | tuple[str, ...], *messages: HttpMessage, **options: Any) -> None:
    async with transport(address, "producer", **options) as writer:
        for message in messages:
            await writer.publish(message)


async def take(reader: Transport, settle: str = "ack") -> Delivery:
    async with aclosing(reader.consume()) as deliveries:
        async for delivery in deliveries:
            await getattr(delivery, settle)()
            return delivery
    raise AssertionError


@asynccontextmanager
async def listener(
    path: str = "", limits: Limits | None = None, scheme: str = "http", **given: Any
) -> AsyncIterator[tuple[str, HttpConsumer]]:
    """A listener and its address."""
    address = f"{scheme}://127.0.0.1:{free_port()}{path}"
    async with HttpConsumer(connection(address, "consumer", **given), limits) as reader:
        yield address, reader


async def send(address: str, data: bytes, *, wait: float = 5) -> bytes:
    """All that is answered to these bytes until the listener closes or nothing more comes."""
    host, _, port = address.partition("://")[2].partition("/")[0].partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        writer.write(data)
        async with asyncio.timeout(wait):
            return await reader.read()
    finally:
        writer.close()
        await writer.wait_closed()
