"""Producers and consumers of AMQP for tests, and what they send."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import aclosing, asynccontextmanager
from datetime import UTC, datetime
from itertools import count
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from heraldry.messages.protocols.amqp import AmqpMessage
from heraldry.messages.transports.amqp import AmqpTransport
from heraldry.messages.transports.secrets import Credentials
from heraldry.messages.transports.transport import Connection, Delivery, Usage
from heraldry.messages.transports.transport_table import open_transport
from heraldry.model.endpoint import Endpoint
from heraldry.model.formats import fold
from heraldry.model.xid import Xid
from tests.messages.wires import raws

SECONDS = 10.0
TIME = datetime(2026, 11, 16, 7, 30, 0, 123000, tzinfo=UTC)
_numbers = count()

FULL = AmqpMessage(
    header=(
        ("durable", True),
        ("priority", 7),
        ("ttl", 60_000),
        ("first-acquirer", True),
        ("delivery-count", 3),
    ),
    delivery_annotations=(("x-opt-hop", 1),),
    message_annotations=(("x-opt-key", "Füße"), ("x-opt-list", [1, None, {"a": b"\xff"}])),
    properties=(
        ("message-id", 2**64 - 1),
        ("user-id", b"guest"),
        ("to", "there"),
        ("subject", "größer 🎈"),
        ("reply-to", "back"),
        ("correlation-id", UUID(int=5)),
        ("content-type", "application/json"),
        ("content-encoding", "identity"),
        ("absolute-expiry-time", TIME.replace(year=2126)),
        ("creation-time", TIME),
        ("group-id", "g"),
        ("group-sequence", 2**32 - 1),
        ("reply-to-group-id", "r"),
    ),
    application_properties=(
        ("text", "漢字"),
        ("yes", True),
        ("long", -5),
        ("ulong", 2**64 - 1),
        ("double", 0.5),
        ("binary", b"\x00"),
        ("uuid", UUID(int=7)),
        ("time", TIME),
        ("nothing", None),
    ),
    footer=(("x-opt-sum", b"\x01\x02"),),
    body=b'{"n":1}',
)

BODIES = [
    pytest.param(None, id="no-body"),
    pytest.param(b"", id="empty"),
    pytest.param(bytes(range(256)), id="binary"),
    pytest.param("Füße 🎈".encode(), id="unicode"),
    pytest.param(b"m" * 1_000_000, id="a-megabyte"),
    pytest.param(b"m" * 9_000_000, id="nine-megabytes"),
]


def transport(
    address: str, usage: Usage, secrets: Credentials | None = None, **options: Any
) -> AmqpTransport:
    endpoint = Endpoint(
        xid=Xid.parse("/endpoints/desk"),
        protocol="AMQP/1.0",
        addresses=(address,),
        options={fold(name): one for name, one in options.items()},
    )
    known = secrets or Credentials()
    found = open_transport(Connection(endpoint=endpoint, usage=usage, secrets=lambda _: known))
    assert isinstance(found, AmqpTransport)
    return found


Next = Callable[[], Coroutine[Any, Any, Delivery]]


@asynccontextmanager
async def receiving(address: str, node: str, **options: Any) -> AsyncIterator[Next]:
    """What gives the next message of a consumer."""
    async with (
        transport(address, "consumer", node=node, **options) as consumer,
        aclosing(consumer.consume()) as deliveries,
    ):
        yield lambda: asyncio.wait_for(anext(deliveries), SECONDS)


async def through(address: str, messages: list[AmqpMessage], node: str) -> list[AmqpMessage]:
    """Messages as they come out of a node."""
    async with transport(address, "producer", node=node) as producer:
        for one in messages:
            await producer.publish(one)
    found = []
    async with receiving(address, node) as next_one:
        for _ in messages:
            delivery = await next_one()
            await delivery.ack()
            found.append(delivery.raw)
    return found


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(SECONDS):
        while not condition():
            await asyncio.sleep(0.01)


def unique(name: str = "q") -> str:
    return f"{name}-{next(_numbers)}"


def drawn(number: int) -> list[AmqpMessage]:
    found: list[AmqpMessage] = []

    @settings(
        max_examples=number,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(raws("AMQP/1.0"))
    def draw(raw: AmqpMessage) -> None:
        found.append(raw)

    draw()
    return found
