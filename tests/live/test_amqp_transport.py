"""AMQP against RabbitMQ: what it forwards, what it fills in, and what it does not take."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from tests.skips import NO_AMQP

pytest.importorskip("proton", reason=NO_AMQP)

from heraldry.errors import TransportError
from heraldry.messages.protocols.amqp import AmqpMessage
from heraldry.messages.transports import amqp_engine
from heraldry.messages.transports.secrets import Credentials
from tests.live.servers.amqp_clients import (
    BODIES,
    FULL,
    drawn,
    receiving,
    through,
    transport,
    unique,
)
from tests.live.servers.server import Server


def carried(raw: AmqpMessage, node: str) -> AmqpMessage:
    """A message as RabbitMQ 3.10 forwards it: with what it fills in, and its own count."""
    header = {"durable": False} | dict(raw.header) | {"first-acquirer": True}
    header.pop("delivery-count", None)
    properties = raw.properties or (("subject", node),)
    return replace(raw, header=tuple(header.items()), properties=properties)


@pytest.mark.parametrize("body", BODIES)
def test_rabbitmq_forwards_every_section_but_one(rabbitmq: Server, body):
    node = unique()
    sent = replace(FULL, delivery_annotations=(), body=body)
    found = asyncio.run(through(rabbitmq.address, [sent], node))
    assert found == [carried(sent, node)]


def test_rabbitmq_forwards_drawn_messages(rabbitmq: Server):
    node = unique()

    def harmless(raw: AmqpMessage) -> AmqpMessage:
        return replace(
            raw,
            # A ttl of 0 is over at once; delivery annotations and foreign users: see below.
            header=tuple(pair for pair in raw.header if pair[0] != "ttl"),
            delivery_annotations=(),
            properties=tuple(pair for pair in raw.properties if pair[0] != "user-id"),
        )

    sent = [harmless(raw) for raw in drawn(100)]
    found = asyncio.run(through(rabbitmq.address, sent, node))
    assert found == [carried(raw, node) for raw in sent]


@pytest.mark.parametrize(
    ("sections", "told"),
    [
        pytest.param(
            {"delivery_annotations": (("x-opt-hop", 1),)},
            "the connection was lost",
            id="delivery-annotations",
        ),
        pytest.param(
            {"properties": (("user-id", b"somebody"),)},
            "user_id property set to 'somebody' but authenticated user was 'guest'",
            id="user-id-of-another",
        ),
        pytest.param(
            {"properties": (("user-id", b"\xff"),)},
            "user_id property set to '\ufffd' but",
            id="user-id-that-is-no-text",
        ),
    ],
)
def test_what_rabbitmq_does_not_take(rabbitmq: Server, sections, told):
    async def main():
        async with transport(rabbitmq.address, "producer", node=unique()) as producer:
            with pytest.raises(TransportError, match=told):
                await producer.publish(AmqpMessage(**sections))
            await producer.publish(AmqpMessage(body=b"the next one goes"))

    asyncio.run(main())


@pytest.mark.parametrize(
    ("secrets", "refused"),
    [
        pytest.param(Credentials(username="guest", password="guest"), None, id="right"),
        pytest.param(Credentials(), None, id="anonymous"),
        pytest.param(Credentials(username="guest", password="wr0ng"), "HERALDRY_PASSWORD", id="no"),
    ],
)
def test_the_password_decides(rabbitmq: Server, secrets, refused):
    async def main():
        async with transport(rabbitmq.address, "producer", secrets, node=unique()) as producer:
            await producer.publish(AmqpMessage(body=b"x"))

    if refused is None:
        asyncio.run(main())
        return
    with pytest.raises(TransportError, match=refused) as caught:
        asyncio.run(main())
    assert "wr0ng" not in repr(caught.value)


def test_what_is_not_settled_comes_again(rabbitmq: Server):
    node = unique()

    async def main():
        async with transport(rabbitmq.address, "producer", node=node) as producer:
            for body in (b"1", b"2", b"3"):
                await producer.publish(AmqpMessage(body=body))
        async with receiving(rabbitmq.address, node) as next_one:
            first, second, third = [await next_one() for _ in range(3)]
            await first.ack()
            await third.reject()
            assert second.raw.body == b"2"
        async with receiving(rabbitmq.address, node) as next_one:
            again = await next_one()
            await again.ack()
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(next_one(), 0.3)
            return again.raw.body

    assert asyncio.run(main()) == b"2"


def test_a_queue_larger_than_the_credit(rabbitmq: Server):
    sent = [AmqpMessage(body=b"%d" % n) for n in range(4 * amqp_engine.CREDIT)]
    found = asyncio.run(through(rabbitmq.address, sent, unique()))
    assert [one.body for one in found] == [one.body for one in sent]


def test_a_node_that_is_not_there(rabbitmq: Server):
    async def main():
        async with transport(rabbitmq.address, "producer", node="/exchange/nowhere"):
            pass

    with pytest.raises(TransportError, match="the server closed the"):
        asyncio.run(main())
