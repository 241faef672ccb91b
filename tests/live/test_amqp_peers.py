"""AMQP between two proton peers: all six sections, every outcome, credit and options."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator
from dataclasses import replace
from uuid import UUID

import pytest

from tests.skips import NO_AMQP

pytest.importorskip("proton", reason=NO_AMQP)

import proton

from heraldry.errors import TransportError
from heraldry.messages.protocols.amqp import AmqpMessage
from heraldry.messages.transports import amqp, amqp_engine
from heraldry.messages.transports.amqp_codec import decode, encode
from tests.live.servers.amqp_clients import (
    BODIES,
    FULL,
    SECONDS,
    TIME,
    drawn,
    receiving,
    through,
    transport,
    unique,
    until,
)
from tests.live.servers.amqp_peer import SMALLEST, Peer, listening


@pytest.fixture(scope="module")
def peer() -> Iterator[Peer]:
    with listening() as found:
        yield found


@pytest.fixture(autouse=True)
def nothing_left_open() -> Iterator[None]:
    """A socket or task that nobody closed shows here, as a warning."""
    yield
    gc.collect()


@pytest.mark.parametrize("body", BODIES)
def test_all_six_sections_arrive(peer: Peer, body):
    sent = replace(FULL, body=body)
    assert asyncio.run(through(peer.address, [sent], unique())) == [sent]


def test_drawn_messages_arrive(peer: Peer):
    sent = drawn(300)
    assert asyncio.run(through(peer.address, sent, unique())) == sent


def test_the_types_on_the_wire_are_those_of_the_specification(peer: Peer):
    """As proton's own message class reads them, which knows nothing of our codec."""
    node = unique()

    async def main():
        async with transport(peer.address, "producer", node=node) as producer:
            await producer.publish(FULL)

    asyncio.run(main())
    message = proton.Message()
    message.decode(peer.held[node].pop())
    assert (message.id, message.correlation_id) == (2**64 - 1, UUID(int=5))
    assert (message.durable, message.priority, message.ttl) == (True, 7, 60.0)
    assert (message.first_acquirer, message.delivery_count) == (True, 3)
    assert bytes(message.user_id) == b"guest"
    assert (message.address, message.subject, message.reply_to) == ("there", "größer 🎈", "back")
    assert (message.content_type, message.content_encoding) == ("application/json", "identity")
    assert message.creation_time == TIME.timestamp()
    assert (message.group_id, message.group_sequence) == ("g", 2**32 - 1)
    assert message.reply_to_group_id == "r"
    assert message.instructions == {"x-opt-hop": 1}
    assert all(isinstance(name, proton.symbol) for name in message.annotations)
    assert isinstance(message.properties["time"], proton.timestamp)
    assert isinstance(message.properties["ulong"], proton.ulong)
    assert bytes(message.body) == b'{"n":1}'


@pytest.mark.parametrize(
    ("node", "told"),
    [
        pytest.param("rejects", "the server rejected the message: not here", id="rejected"),
        pytest.param("releases", "the server released the message", id="released"),
        pytest.param("modifies", "the server did not take the message", id="modified"),
        pytest.param("says nothing", "did not say what became", id="settled-only"),
        pytest.param("refuses", "closed the link: there is no such node", id="missing-node"),
        pytest.param("detaches", "closed the link: the node is gone", id="node-deleted"),
        pytest.param("closes", "closed the connection: out of order", id="server-ends"),
        pytest.param("small", f"the server takes at most {SMALLEST}", id="too-large"),
    ],
)
def test_what_is_not_accepted_fails_with_what_the_server_said(peer: Peer, node, told):
    async def main():
        async with transport(peer.address, "producer", node=node) as producer:
            await producer.publish(AmqpMessage(body=b"x" * 200))

    with pytest.raises(TransportError, match=told):
        asyncio.run(main())


def test_a_refused_message_leaves_the_link_as_it_is(peer: Peer):
    before = len(peer.opened)

    async def main():
        async with transport(peer.address, "producer", node="rejects") as producer:
            for _ in range(2):
                with pytest.raises(TransportError):
                    await producer.publish(AmqpMessage())
            with pytest.raises(TransportError, match="rejected"):
                await producer.publish(AmqpMessage())

    asyncio.run(main())
    assert len(peer.opened) == before + 1


def test_a_link_that_was_closed_is_opened_again(peer: Peer):
    before = len(peer.opened)

    async def main():
        async with transport(peer.address, "producer", node="detaches") as producer:
            for _ in range(3):
                with pytest.raises(TransportError, match="the node is gone"):
                    await producer.publish(AmqpMessage())

    asyncio.run(main())
    assert len(peer.opened) == before + 3


def test_only_the_last_word_counts(peer: Peer):
    async def main():
        async with transport(peer.address, "producer", node="takes its time") as producer:
            await producer.publish(AmqpMessage())

    asyncio.run(main())


def test_closing_waits_for_what_is_on_its_way(peer: Peer):
    async def main():
        async with transport(peer.address, "producer", node="takes its time") as producer:
            sending = asyncio.create_task(producer.publish(AmqpMessage()))
            await asyncio.sleep(0.05)
        await sending

    asyncio.run(main())


def test_closing_does_not_wait_for_ever(peer: Peer, monkeypatch):
    monkeypatch.setattr(amqp, "_CLOSE_SECONDS", 0.2)

    async def main():
        async with transport(peer.address, "producer", node="answers never") as producer:
            sending = asyncio.create_task(producer.publish(AmqpMessage()))
            await asyncio.sleep(0.05)
        with pytest.raises(TransportError, match="the connection is closed"):
            await sending

    asyncio.run(main())


def test_what_is_sent_at_once_goes_in_order_as_credit_comes(peer: Peer):
    async def main():
        async with transport(peer.address, "producer", node="one-by-one") as producer:
            await asyncio.gather(
                *(producer.publish(AmqpMessage(body=b"%d" % n)) for n in range(60))
            )

    asyncio.run(main())
    bodies = [decode(one).body for one in peer.held["one-by-one"]]
    assert bodies == [b"%d" % n for n in range(60)]


def test_a_cancelled_publish_does_not_take_the_turn_of_others(peer: Peer):
    async def main():
        async with transport(peer.address, "producer", node="stingy") as producer:
            await producer.publish(AmqpMessage(body=b"1"))
            waiting = [
                asyncio.create_task(producer.publish(AmqpMessage(body=b"%d" % n))) for n in (2, 3)
            ]
            await asyncio.sleep(0.05)
            assert not any(one.done() for one in waiting)
            waiting[0].cancel()
            link = peer.links[-1]
            peer.tell(lambda event: link.flow(1))
            await asyncio.wait_for(waiting[1], SECONDS)
            assert waiting[0].cancelled()

    asyncio.run(main())
    assert [decode(one).body for one in peer.held["stingy"]] == [b"1", b"3"]


def test_a_publish_cancelled_before_its_answer_harms_nobody(peer: Peer):
    async def main():
        async with transport(peer.address, "producer", node="takes its time") as producer:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(producer.publish(AmqpMessage()), 0.1)
            await producer.publish(AmqpMessage())

    asyncio.run(main())


def test_a_slow_consumer_gets_all_but_no_more_than_its_credit_at_once(peer: Peer):
    node = unique()
    number = 5 * amqp_engine.CREDIT
    peer.held[node].extend(encode(AmqpMessage(body=b"%d" % n)) for n in range(number))
    peer.credit.clear()

    async def main():
        found = []
        async with receiving(peer.address, node) as next_one:
            first = await next_one()
            await first.ack()
            await asyncio.sleep(0.2)
            assert len(peer.held[node]) >= number - 2 * amqp_engine.CREDIT
            found.append(first.raw.body)
            for _ in range(number - 1):
                delivery = await next_one()
                await delivery.ack()
                found.append(delivery.raw.body)
        return found

    assert asyncio.run(main()) == [b"%d" % n for n in range(number)]
    assert max(peer.credit) <= amqp_engine.CREDIT


def test_each_message_is_settled_once_as_first_said(peer: Peer):
    node = unique()
    peer.held[node].extend([encode(AmqpMessage(body=b"x"))] * 2)
    peer.outcomes.clear()

    async def main():
        async with receiving(peer.address, node) as next_one:
            first, second = await next_one(), await next_one()
            await first.ack()
            await first.reject()
            await second.reject()
            await second.reject()
            assert first.position != second.position

    asyncio.run(main())
    assert peer.outcomes == [(proton.Delivery.ACCEPTED, True), (proton.Delivery.REJECTED, True)]


def test_settled_by_both_sides(peer: Peer):
    node = unique()
    peer.held[node].append(encode(AmqpMessage()))
    peer.outcomes.clear()

    async def main():
        async with receiving(peer.address, node, **{"receiver-settle-mode": "second"}) as next_one:
            delivery = await next_one()
            await delivery.ack()
            await delivery.reject()
            await until(lambda: peer.outcomes)

    asyncio.run(main())
    assert peer.outcomes == [(proton.Delivery.ACCEPTED, False)]


def test_settled_when_sent(peer: Peer):
    node = unique()
    mode = {"sender-settle-mode": "settled"}
    sent = [replace(FULL, body=b"x" * 100_000 + b"%d" % n) for n in range(60)]
    peer.outcomes.clear()

    async def main():
        async with transport(peer.address, "producer", node=node, **mode) as producer:
            for one in sent:
                await producer.publish(one)
        found = []
        async with receiving(peer.address, node, **mode) as next_one:
            for _ in sent:
                delivery = await next_one()
                await delivery.ack()
                found.append(delivery.raw)
        return found

    assert asyncio.run(main()) == sent
    assert peer.outcomes == []


def test_deliveries_that_were_begun_and_given_up_are_none(peer: Peer):
    peer.held["aborts"].append(encode(FULL))

    async def main():
        async with receiving(peer.address, "aborts") as next_one:
            return (await next_one()).raw

    assert asyncio.run(main()) == FULL


def test_bytes_that_are_no_message_come_as_they_are(peer: Peer):
    node = unique()
    peer.held[node].append(b"\x00\x53")

    async def main():
        async with receiving(peer.address, node) as next_one:
            return await next_one()

    delivery = asyncio.run(main())
    assert delivery.raw == AmqpMessage(body=b"\x00\x53")
    assert delivery.position.startswith("ff00fe")


def test_options_reach_the_server(peer: Peer):
    node = unique()
    options = {
        "node": node,
        "link-properties": {"a": "1", "b": "2"},
        "connection-properties": {"c": "3"},
        "connection-capabilities": ["x", "y"],
        "node-capabilities": ["queue", "z"],
        "distribution-mode": "copy",
        "source-filters": {
            "apache.org:selector-filter:string": "a = 1",
            "mine": {"descriptor": "example:mine", "value": ["b", 2]},
        },
        "terminus-durability": "unsettled-state",
        "expiry-policy": "never",
        "timeout": 30,
        "sender-settle-mode": "mixed",
    }

    async def main():
        async with transport(peer.address + "/ignored", "consumer", **options):
            pass

    peer.gone.clear()
    asyncio.run(main())
    said = peer.opened[-1]
    assert said.properties == {"c": "3"}
    assert list(said.capabilities) == ["x", "y"]
    assert said.link_properties == {"a": "1", "b": "2"}
    assert (said.sending, said.receiving) == (proton.Link.SND_MIXED, proton.Link.RCV_FIRST)
    source = said.source
    assert (source["address"], source["dynamic"], source["timeout"]) == (node, False, 30)
    assert source["mode"] == proton.Terminus.DIST_MODE_COPY
    assert source["durability"] == proton.Terminus.DELIVERIES
    assert source["expiry"] == proton.Terminus.EXPIRE_NEVER
    assert list(source["capabilities"].elements) == ["queue", "z"]
    selector = source["filter"]["apache.org:selector-filter:string"]
    assert (selector.descriptor, selector.value) == ("apache.org:selector-filter:string", "a = 1")
    mine = source["filter"]["mine"]
    assert (mine.descriptor, mine.value) == ("example:mine", ["b", 2])
    # What the server keeps is found again by its name, and left there.
    assert said.container == said.link == "heraldry-desk"
    assert peer.gone == ["detached"]


def test_a_link_of_its_own_is_closed(peer: Peer):
    async def main():
        for _ in range(2):
            async with transport(peer.address, "producer", node="q"):
                pass

    peer.gone.clear()
    asyncio.run(main())
    assert peer.gone == ["closed", "closed"]
    assert peer.opened[-1].container != peer.opened[-2].container


def test_a_node_the_server_makes(peer: Peer):
    async def main():
        async with transport(peer.address, "consumer", dynamic=True):
            pass

    asyncio.run(main())
    assert (peer.opened[-1].source["dynamic"], peer.opened[-1].source["address"]) == (True, None)


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        pytest.param((), (("durable", True),), id="left-open"),
        pytest.param((("durable", False),), (("durable", False),), id="the-message-wins"),
    ],
)
def test_the_endpoint_says_durable_where_the_message_does_not(peer: Peer, header, expected):
    node = unique()

    async def main():
        async with transport(peer.address, "producer", node=node, durable=True) as producer:
            await producer.publish(AmqpMessage(header=header))

    asyncio.run(main())
    assert decode(peer.held[node].pop()).header == expected
