"""Records to and from a broker, in one line each."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import aclosing, asynccontextmanager
from itertools import count
from typing import Any

from heraldry.messages.protocols.kafka import KafkaRecord
from heraldry.messages.transports.secrets import Credentials
from heraldry.messages.transports.transport import Connection, Delivery, Transport, Usage
from heraldry.messages.transports.transport_table import open_transport
from heraldry.model.endpoint import Endpoint
from heraldry.model.xid import Xid
from tests.live.servers.kafka import KafkaServer, create_topic
from tests.live.servers.server import Server

SECONDS = 30.0
_numbers = count()


def transport(
    address: str | tuple[str, ...],
    usage: Usage,
    secrets: Credentials | None = None,
    detail: dict[str, Any] | None = None,
    values: dict[str, str] | None = None,
    **options: Any,
) -> Transport:
    places = (address,) if isinstance(address, str) else address
    endpoint = Endpoint(
        xid=Xid.parse("/endpoints/orders"),
        protocol="KAFKA",
        addresses=places,
        details=tuple(detail or {} for _ in places),
        options=options,
    )
    return open_transport(
        Connection(
            endpoint=endpoint,
            usage=usage,
            values=values or {},
            secrets=lambda _: secrets or Credentials(),
        )
    )


def run(work: Coroutine[Any, Any, Any], seconds: float = SECONDS) -> Any:
    async def timed() -> Any:
        async with asyncio.timeout(seconds):
            return await work

    return asyncio.run(timed())


async def take(reader: Transport, number: int, *, ack: bool = True) -> list[Delivery]:
    found = []
    async with aclosing(reader.consume()) as deliveries:
        async for delivery in deliveries:
            found.append(delivery)
            if ack:
                await delivery.ack()
            if len(found) == number:
                break
    return found


async def publish(address: str, *records: KafkaRecord, **options: Any) -> None:
    async with transport(address, "producer", **options) as writer:
        for record in records:
            await writer.publish(record)


async def read(address: str, number: int, *, ack: bool = True, **options: Any) -> list[Delivery]:
    async with transport(address, "consumer", **{"autooffsetreset": "earliest", **options}) as one:
        return await take(one, number, ack=ack)


def texts(deliveries: list[Delivery]) -> list[str]:
    return [delivery.raw.value.decode() for delivery in deliveries]


def numbered(first: int, last: int) -> list[KafkaRecord]:
    return [KafkaRecord(value=str(n).encode()) for n in range(first, last)]


@asynccontextmanager
async def both(
    kafka: KafkaServer, topic: str, **options: Any
) -> AsyncIterator[tuple[Transport, Transport]]:
    async with (
        transport(kafka.address, "consumer", topic=topic) as reader,
        transport(kafka.address, "producer", topic=topic, **options) as writer,
    ):
        yield writer, reader


def new_topic(server: Server, start: str = "topic", partitions: int = 1, **config: str) -> str:
    """A topic that no other test has."""
    return create_topic(server, f"{start}-{next(_numbers)}", partitions, **config)
