"""NATS against nats-server: what is published comes, with JetStream and without."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import nats as client
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from nats.js.api import ConsumerConfig, StreamConfig

from heraldry.errors import TransportError
from heraldry.messages.protocols.nats import NatsMessage
from heraldry.messages.transports.nats import NatsTransport
from heraldry.messages.transports.secrets import Credentials
from heraldry.messages.transports.transport import Connection, Delivery, Usage
from heraldry.messages.transports.transport_table import open_transport
from heraldry.model.endpoint import Endpoint
from heraldry.model.xid import Xid
from tests.live.servers.nats import (
    LARGEST,
    PASSWORD,
    TOKEN,
    USERNAME,
    NatsServer,
    server,
)
from tests.live.servers.server import free_port
from tests.messages.wires import raws

SECONDS = 10.0
_numbers = count()

FULL = NatsMessage(
    subject="full",
    headers=(("A", "1"), ("a", "x"), ("A", "2"), ("b", "größer – 漢字 🎈: x"), ("Status", "404")),
    reply_to="answers.here",
    payload=b'{"n":1}',
)


def transport(
    address: str, usage: Usage, secrets: Credentials | None = None, **options: Any
) -> NatsTransport:
    endpoint = Endpoint(
        xid=Xid.parse("/endpoints/desk"), protocol="NATS", addresses=(address,), options=options
    )
    known = secrets or Credentials()
    found = open_transport(Connection(endpoint=endpoint, usage=usage, secrets=lambda _: known))
    assert isinstance(found, NatsTransport)
    return found


async def received(consumer: NatsTransport, number: int) -> list[Delivery]:
    async with aclosing(consumer.consume()) as deliveries:
        return [await asyncio.wait_for(anext(deliveries), SECONDS) for _ in range(number)]


def unique() -> str:
    return f"t{next(_numbers)}"


@asynccontextmanager
async def stream(address: str, name: str) -> AsyncIterator[Any]:
    """A stream of the subjects below its name, gone afterwards."""
    connected = await client.connect(address)
    try:
        jetstream = connected.jetstream()
        await jetstream.add_stream(StreamConfig(name=name, subjects=[f"{name}.>"]))
        yield jetstream
        await jetstream.delete_stream(name)
    finally:
        await connected.close()


MESSAGES = [
    pytest.param(FULL, id="headers-that-repeat"),
    pytest.param(NatsMessage(payload=b"x"), id="plain"),
    pytest.param(NatsMessage(payload=None), id="no-payload"),
    pytest.param(NatsMessage(headers=(("a", ""),)), id="empty-header"),
    pytest.param(NatsMessage(payload=bytes(range(256))), id="binary"),
    pytest.param(NatsMessage(payload=b"m" * 1_000_000), id="a-megabyte"),
    pytest.param(NatsMessage(payload="Füße 🎈".encode()), id="unicode"),
]


@pytest.mark.parametrize("raw", MESSAGES)
def test_a_message_comes_as_it_was_published(nats: NatsServer, raw: NatsMessage):
    sent = replace(raw, subject=f"plain.größe.{unique()}")

    async def main():
        async with (
            transport(nats.address, "consumer", subjectfilter=sent.subject) as consumer,
            transport(nats.address, "producer") as producer,
        ):
            await producer.publish(sent)
            return (await received(consumer, 1))[0]

    found = asyncio.run(main())
    assert found.raw == sent
    assert found.position == ""


@pytest.mark.parametrize("raw", MESSAGES)
def test_a_message_comes_out_of_a_stream_as_it_was_published(nats: NatsServer, raw: NatsMessage):
    name = unique()
    sent = replace(raw, subject=f"{name}.größe", reply_to=None)

    async def main():
        async with (
            stream(nats.address, name),
            transport(nats.address, "consumer", subjectfilter=f"{name}.>", jetstream=True) as taken,
            transport(nats.address, "producer", jetstream=True) as producer,
        ):
            await producer.publish(sent)
            delivery = (await received(taken, 1))[0]
            await delivery.ack()
            return delivery

    found = asyncio.run(main())
    assert found.raw == sent
    assert found.position == f"{name}/1"


async def written(address: str, protocol: bytes) -> None:
    """Hand the server bytes that no client library would send."""
    host, _, port = address.removeprefix("nats://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        writer.write(b'CONNECT {"verbose":false,"headers":true}\r\n' + protocol + b"PING\r\n")
        async with asyncio.timeout(SECONDS):
            while (answer := await reader.readline()) != b"PONG\r\n":
                assert answer.startswith(b"INFO"), answer
    finally:
        writer.close()


def hpub(headers: bytes) -> bytes:
    return b"HPUB %%s.a %d %d\r\n%s2\r\n" % (len(headers), len(headers) + 1, headers)


ODD = {
    "a-subject-that-is-not-utf8": (
        b"PUB %s.caf\xe9 1\r\n2\r\n",
        NatsMessage(subject="%s.caf\ufffd", payload=b"2"),
    ),
    "a-reply-that-is-not-utf8": (
        b"PUB %s.a back.\xff 1\r\n2\r\n",
        NatsMessage(subject="%s.a", reply_to="back.\ufffd", payload=b"2"),
    ),
    "a-status-that-is-not-utf8": (
        hpub(b"NATS/1.0 \xe9\xe9\r\nA: \xff\r\n\r\n"),
        NatsMessage(subject="%s.a", headers=(("A", "\ufffd"),), payload=b"2"),
    ),
    "a-description-that-is-not-utf8": (
        hpub(b"NATS/1.0 404 \xe9\r\n\r\n"),
        NatsMessage(subject="%s.a", payload=b"2"),
    ),
    "a-first-line-without-an-end": (
        hpub(b"NATS/1.0"),
        NatsMessage(subject="%s.a", payload=b"2"),
    ),
}


@pytest.mark.parametrize(("odd", "expected"), ODD.values(), ids=ODD)
def test_a_message_that_no_library_would_send_comes_as_well_as_the_next(
    nats: NatsServer, odd: bytes, expected: NatsMessage
):
    """Where nats-py cannot decode one, it reads no more: all that follows would be lost."""
    name = unique()

    async def main():
        async with transport(nats.address, "consumer", subjectfilter=f"{name}.>") as consumer:
            good = b"PUB %s.b 1\r\n3\r\n" % name.encode()
            await written(nats.address, odd.replace(b"%s", name.encode()) + good)
            return [delivery.raw for delivery in await received(consumer, 2)]

    wanted = replace(expected, subject=str(expected.subject).replace("%s", name))
    assert asyncio.run(main()) == [wanted, NatsMessage(subject=f"{name}.b", payload=b"3")]


def test_a_subject_that_is_not_utf8_comes_out_of_a_stream(nats: NatsServer):
    name = unique()

    async def main():
        async with (
            stream(nats.address, name),
            transport(nats.address, "consumer", subjectfilter=f"{name}.>", jetstream=True) as taken,
        ):
            await written(nats.address, b"PUB %s.\xe9 1\r\n2\r\n" % name.encode())
            return (await received(taken, 1))[0]

    assert asyncio.run(main()).raw == NatsMessage(subject=f"{name}.\ufffd", payload=b"2")


def test_drawn_messages_come_as_they_were_published(nats: NatsServer):
    drawn: list[NatsMessage] = []

    @settings(
        max_examples=60,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(raws("NATS"))
    def draw(raw: NatsMessage) -> None:
        pairs = tuple(
            (name.replace(" ", "-"), " ".join(one.split())) for name, one in raw.headers if name
        )
        drawn.append(
            NatsMessage(subject=f"drawn.{unique()}", headers=pairs, payload=raw.payload or None)
        )

    async def main():
        async with (
            transport(nats.address, "consumer", subjectfilter="drawn.*") as consumer,
            transport(nats.address, "producer") as producer,
        ):
            for one in drawn:
                await producer.publish(one)
            return [one.raw for one in await received(consumer, len(drawn))]

    draw()
    assert asyncio.run(main()) == drawn


def test_the_endpoint_fills_in_the_subject(nats: NatsServer):
    async def main():
        subject = "filled.{shop}.{till}"
        async with (
            transport(nats.address, "consumer", subject=subject) as consumer,
            transport(nats.address, "producer", subject=subject) as producer,
        ):
            await producer.publish(NatsMessage(payload=b"1"), {"shop": "lisbon", "till": "7"})
            await producer.publish(NatsMessage(subject="filled.own.1"))
            return [one.raw.subject for one in await received(consumer, 2)]

    assert asyncio.run(main()) == ["filled.lisbon.7", "filled.own.1"]


@pytest.mark.parametrize(
    ("where", "secrets", "refused"),
    [
        pytest.param("guarded", Credentials(username=USERNAME, password=PASSWORD), "", id="right"),
        pytest.param(
            "guarded",
            Credentials(username=USERNAME, password="wr0ng"),
            "HERALDRY_PASSWORD",
            id="wrong",
        ),
        pytest.param("guarded", Credentials(), "HERALDRY_PASSWORD", id="none"),
        pytest.param("token", Credentials(token=TOKEN), "", id="token"),
        pytest.param("token", Credentials(token="wr0ng"), "HERALDRY_PASSWORD", id="wrong-token"),
    ],
)
def test_the_credentials_decide(nats: NatsServer, where, secrets, refused):
    async def main():
        async with transport(getattr(nats, where), "producer", secrets) as producer:
            await producer.publish(NatsMessage(subject="x"))

    if not refused:
        asyncio.run(main())
        return
    with pytest.raises(TransportError, match=refused) as caught:
        asyncio.run(main())
    assert not {"wr0ng", PASSWORD, TOKEN} & set(repr(caught.value).split("'"))


def test_tls_trusts_the_given_root_only(nats: NatsServer):
    async def main(secrets: Credentials):
        async with transport(nats.tls, "producer", secrets) as producer:
            await producer.publish(replace(FULL, subject="tls"))

    asyncio.run(main(Credentials(ca_file=nats.certificate.file)))
    with pytest.raises(TransportError, match="CERTIFICATE_VERIFY_FAILED"):
        asyncio.run(main(Credentials()))


def test_no_password_goes_to_a_server_without_the_tls_that_was_asked_for(nats: NatsServer):
    async def main():
        secrets = Credentials(username=USERNAME, password=PASSWORD, ca_file=nats.certificate.file)
        async with transport(nats.guarded.replace("nats:", "tls:"), "producer", secrets):
            pass

    with pytest.raises(TransportError, match="does not speak TLS"):
        asyncio.run(main())


@pytest.mark.parametrize("jetstream", [False, True])
def test_a_refused_publication_is_an_error(nats: NatsServer, jetstream, monkeypatch):
    monkeypatch.setattr("heraldry.messages.transports.nats.CONNECT_SECONDS", 1.0)

    async def main():
        secrets = Credentials(username=USERNAME, password=PASSWORD)
        async with transport(nats.guarded, "producer", secrets, jetstream=jetstream) as producer:
            await producer.publish(NatsMessage(subject="Denied.x".lower()))

    with pytest.raises(TransportError, match=r"'denied\.x'.*permissions violation"):
        asyncio.run(main())


def test_a_refused_subscription_is_an_error(nats: NatsServer):
    async def main():
        secrets = Credentials(username=USERNAME, password=PASSWORD)
        async with transport(nats.guarded, "consumer", secrets, subjectfilter="denied.>"):
            pass

    with pytest.raises(TransportError, match="permissions violation"):
        asyncio.run(main())


def test_too_large_is_an_error_and_the_next_one_passes(nats: NatsServer):
    async def main():
        async with transport(nats.address, "producer", subject="large") as producer:
            for headers in ((), (("a", "x" * 100),)):
                payload = b"x" * (LARGEST - 50 if headers else LARGEST + 1)
                with pytest.raises(TransportError, match="max_payload"):
                    await producer.publish(NatsMessage(payload=payload, headers=headers))
            most = LARGEST - len(b"NATS/1.0\r\n\r\na: 1\r\n")
            await producer.publish(NatsMessage(payload=b"x" * most, headers=(("a", "1"),)))

    asyncio.run(main())


def test_nobody_there(nats: NatsServer):
    async def main():
        async with transport("nats://127.0.0.1:1", "producer"):
            pass

    with pytest.raises(TransportError, match=r"nats://127\.0\.0\.1:1: .*111"):
        asyncio.run(main())


def test_the_second_address_is_used_where_the_first_is_dead(nats: NatsServer):
    async def main():
        found = transport(nats.address, "producer", subject="second")._connection
        both = replace(found.endpoint, addresses=("nats://127.0.0.1:1", *found.endpoint.addresses))
        async with NatsTransport(replace(found, endpoint=both)) as producer:
            await producer.publish(NatsMessage())

    asyncio.run(main())


def test_no_stream(nats: NatsServer):
    async def produce():
        async with transport(nats.address, "producer", jetstream=True) as producer:
            await producer.publish(NatsMessage(subject="nowhere"))

    async def consume():
        async with transport(nats.address, "consumer", jetstream=True, subject="nowhere"):
            pass

    for main in (produce, consume):
        with pytest.raises(TransportError, match="no stream of JetStream has the subject"):
            asyncio.run(main())


def test_a_stream_that_does_not_have_the_subject(nats: NatsServer):
    async def main():
        async with (
            stream(nats.address, "right"),
            stream(nats.address, "wrong"),
            transport(nats.address, "producer", stream="wrong") as producer,
        ):
            with pytest.raises(TransportError, match="expected stream does not match"):
                await producer.publish(NatsMessage(subject="right.x"))

    asyncio.run(main())


def test_what_was_not_acknowledged_comes_again(nats: NatsServer):
    name = unique()
    options = {"subjectfilter": f"{name}.>", "stream": name, "queuegroup": "desk"}

    async def main():
        async with stream(nats.address, name) as jetstream:
            await jetstream.add_consumer(
                name,
                ConsumerConfig(durable_name="desk", filter_subject=f"{name}.>", ack_wait=1),
            )
            for text in (b"1", b"2", b"3", b"4"):
                await jetstream.publish(f"{name}.x", text)
            async with transport(nats.address, "consumer", **options) as consumer:
                first, second, _ = await received(consumer, 3)
                await first.ack()
                await first.ack()
                await second.reject()
            async with transport(nats.address, "consumer", **options) as consumer:
                found = await received(consumer, 2)
                for one in found:
                    await one.ack()
            for _ in range(50):  # the server takes acknowledgements in when it comes to them
                state = await jetstream.consumer_info(name, "desk")
                if not state.num_ack_pending:
                    break
                await asyncio.sleep(0.1)
            return sorted(one.raw.payload for one in found), state.num_ack_pending

    assert asyncio.run(main()) == ([b"3", b"4"], 0)


def test_a_durable_consumer_that_reads_something_else(nats: NatsServer):
    name = unique()

    async def main():
        async with stream(nats.address, name) as jetstream:
            await jetstream.add_consumer(
                name, ConsumerConfig(durable_name="desk", filter_subject=f"{name}.a")
            )
            with pytest.raises(TransportError, match=rf"reads '{name}\.a'"):
                async with transport(
                    nats.address, "consumer", durable="desk", subjectfilter=f"{name}.b"
                ):
                    pass

    asyncio.run(main())


@pytest.mark.parametrize("jetstream", [False, True])
def test_a_slow_consumer_loses_nothing(nats: NatsServer, jetstream):
    name, number = unique(), 3_000

    async def main():
        async with (
            stream(nats.address, name if jetstream else unique()),
            transport(
                nats.address, "consumer", jetstream=jetstream, subjectfilter=f"{name}.>"
            ) as consumer,
            transport(nats.address, "producer", subject=f"{name}.x") as producer,
            aclosing(consumer.consume()) as deliveries,
        ):
            for start in range(0, number, 1000):
                numbers = range(start, start + 1000)
                sent = (producer.publish(NatsMessage(payload=b"%d" % n)) for n in numbers)
                await asyncio.gather(*sent)
            await asyncio.sleep(0.2)
            waiting = 0 if jetstream else consumer._client._consumer.pending_msgs
            found = []
            for _ in range(number):
                delivery = await asyncio.wait_for(anext(deliveries), SECONDS)
                found.append(int(delivery.raw.payload))
                await delivery.ack()
            return waiting, found

    waiting, found = asyncio.run(main())
    assert waiting <= 1024
    assert found == list(range(number))


@pytest.mark.parametrize("jetstream", [False, True])
def test_a_queue_group_divides_the_messages(nats: NatsServer, jetstream):
    name = unique()
    options = {"subjectfilter": f"{name}.>", "queuegroup": "desk", "jetstream": jetstream}

    async def main():
        found: list[list[bytes]] = [[], []]

        async def take(number: int, consumer: NatsTransport) -> None:
            async with aclosing(consumer.consume()) as deliveries:
                async for delivery in deliveries:
                    found[number].append(delivery.raw.payload)
                    await delivery.ack()
                    await asyncio.sleep(0.001)

        async with (
            stream(nats.address, name if jetstream else unique()),
            transport(nats.address, "consumer", **options) as one,
            transport(nats.address, "consumer", **options) as other,
            transport(nats.address, "producer", subject=f"{name}.x") as producer,
        ):
            tasks = [asyncio.create_task(take(*both)) for both in enumerate((one, other))]
            for n in range(100):
                await producer.publish(NatsMessage(payload=b"%d" % n))
            async with asyncio.timeout(SECONDS):
                while sum(map(len, found)) < 100:
                    await asyncio.sleep(0.01)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return found

    one, other = asyncio.run(main())
    assert one
    assert other
    assert sorted(one + other, key=int) == [b"%d" % n for n in range(100)]


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({}, id="nats"),
        pytest.param({"stream": "back", "durable": "desk"}, id="durable"),
        pytest.param({"stream": "back"}, id="without-a-name"),
    ],
)
def test_a_server_that_comes_back(tmp_path: Path, options):
    port = free_port()
    address = f"nats://127.0.0.1:{port}"
    own = {"subjectfilter": "back.>", **options}

    async def main():
        with server(tmp_path, "back", port):
            async with await client.connect(address) as admin:
                await admin.jetstream().add_stream(name="back", subjects=["back.>"])
            consumer = transport(address, "consumer", **own)
            producer = transport(address, "producer", subject="back.x")
            await consumer.__aenter__()
            await producer.__aenter__()
            deliveries = consumer.consume()
            await producer.publish(NatsMessage(payload=b"before"))
            found = [await asyncio.wait_for(anext(deliveries), SECONDS)]
            await found[0].ack()
            waiting = asyncio.create_task(anext(deliveries))
            await asyncio.sleep(0.1)
        with server(tmp_path, "back", port):
            with pytest.raises(TransportError, match="connection is lost"):
                await producer.publish(NatsMessage(payload=b"during"))
            await producer.publish(NatsMessage(payload=b"ready"))
            async with asyncio.timeout(SECONDS):
                while not consumer._client.is_connected:
                    await asyncio.sleep(0.05)
            await producer.publish(NatsMessage(payload=b"after"))
            found.append(await asyncio.wait_for(waiting, 2 * SECONDS))
            while found[-1].raw.payload != b"after":
                found.append(await asyncio.wait_for(anext(deliveries), SECONDS))
            for one in found[1:]:
                await one.ack()
            await deliveries.aclose()
            await producer.__aexit__(None, None, None)
            await consumer.__aexit__(None, None, None)
        return [one.raw.payload for one in found]

    found = asyncio.run(main())
    # NATS alone keeps nothing for a consumer that is away.
    assert found in ([b"before", b"ready", b"after"], [b"before", b"after"])
    assert not options or len(found) == 3


@pytest.mark.parametrize("jetstream", [False, True])
def test_cancelling_leaves_nothing_behind(nats: NatsServer, jetstream):
    name = unique()

    async def main():
        async with (
            stream(nats.address, name),
            transport(
                nats.address, "consumer", jetstream=jetstream, subjectfilter=f"{name}.x"
            ) as consumer,
        ):
            taking = asyncio.create_task(received(consumer, 1))
            await asyncio.sleep(0.05)
            taking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await taking
        return [one for one in asyncio.all_tasks() if one is not asyncio.current_task()]

    assert asyncio.run(main()) == []


def test_cancelling_while_connecting(nats: NatsServer):
    async def main():
        opening: Coroutine[Any, Any, Any] = transport(nats.address, "producer").__aenter__()
        connecting = asyncio.create_task(opening)
        await asyncio.sleep(0)
        connecting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await connecting

    asyncio.run(main())
