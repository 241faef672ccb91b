"""AMQP connections: how they are made, how they break, and what is made of it."""

from __future__ import annotations

import asyncio
import gc
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from tests.skips import NO_AMQP

pytest.importorskip("proton", reason=NO_AMQP)

import proton

from heraldry.errors import TransportError
from heraldry.messages.protocols.amqp import AmqpMessage
from heraldry.messages.transports import amqp
from heraldry.messages.transports.amqp_codec import encode
from heraldry.messages.transports.secrets import Credentials
from heraldry.messages.transports.transport import Connection
from heraldry.messages.transports.transport_table import open_transport
from heraldry.model.endpoint import Endpoint
from heraldry.model.xid import Xid
from tests.live.servers.amqp_clients import FULL, SECONDS, receiving, transport, unique, until
from tests.live.servers.amqp_peer import Peer, listening
from tests.live.servers.certificate import make_certificate
from tests.live.servers.server import free_port


@pytest.fixture(scope="module")
def peer() -> Iterator[Peer]:
    with listening() as found:
        yield found


@pytest.fixture(autouse=True)
def nothing_left_open() -> Iterator[None]:
    """A socket or task that nobody closed shows here, as a warning."""
    yield
    gc.collect()


def test_a_consumer_survives_a_restart(monkeypatch):
    monkeypatch.setattr(amqp, "_PAUSE_SECONDS", 0.1)
    port, node = free_port(), unique()

    async def main():
        with listening(port=port) as first:
            first.held[node].append(encode(AmqpMessage(body=b"1")))
            consumer = transport(first.address, "consumer", node=node)
            await consumer.__aenter__()
            deliveries = consumer.consume()
            before = await anext(deliveries)
        coming = asyncio.create_task(anext(deliveries))  # type: ignore[arg-type]
        await asyncio.sleep(0.3)
        with listening(port=port) as second:
            second.held[node].append(encode(AmqpMessage(body=b"2")))
            after = await asyncio.wait_for(coming, SECONDS)
            await before.ack()  # of a connection that is gone: it comes again there
            await after.ack()
            await deliveries.aclose()
            await consumer.__aexit__(None, None, None)
            assert second.outcomes == [(proton.Delivery.ACCEPTED, True)]
        return before.raw.body, after.raw.body

    assert asyncio.run(main()) == (b"1", b"2")


def test_a_producer_says_what_was_lost_and_connects_again():
    port = free_port()

    async def main():
        with listening(port=port) as first:
            producer = transport(first.address, "producer", node="answers never")
            await producer.__aenter__()
            sending = [asyncio.create_task(producer.publish(FULL)) for _ in range(2)]
            await until(lambda: len(first.took) == 2)
        for one in sending:
            with pytest.raises(TransportError, match=r"closed the connection|was lost"):
                await one
        with pytest.raises(TransportError, match="is the server running"):
            await producer.publish(FULL)
        with listening(port=port) as second:
            sent = asyncio.create_task(producer.publish(FULL))
            await until(lambda: second.took)
            sent.cancel()
            await producer.__aexit__(None, None, None)

    asyncio.run(main())


def test_a_consumer_gives_up_in_the_end(peer: Peer, monkeypatch):
    monkeypatch.setattr(amqp, "_AGAIN_SECONDS", 0.5)
    monkeypatch.setattr(amqp, "_PAUSE_SECONDS", 0.1)
    before = len(peer.opened)

    async def main():
        async with receiving(peer.address, "detaches at once") as next_one:
            await next_one()

    with pytest.raises(TransportError, match="closed the link"):
        asyncio.run(main())
    assert 3 <= len(peer.opened) - before <= 8


def test_leaving_ends_a_consumer_elsewhere(peer: Peer):
    before = len(peer.opened)

    async def main():
        async with transport(peer.address, "consumer", node=unique()) as consumer:
            deliveries = consumer.consume()
            coming = asyncio.create_task(anext(deliveries))  # type: ignore[arg-type]
            await asyncio.sleep(0.05)
        with pytest.raises(TransportError, match="the connection is closed"):
            await coming
        with pytest.raises(TransportError, match="the connection is closed"):
            await consumer.publish(AmqpMessage())

    asyncio.run(main())
    assert len(peer.opened) == before + 1


def test_cancelling_a_consumer_leaves_nothing(peer: Peer):
    async def consume():
        async with receiving(peer.address, unique()) as next_one:
            await next_one()

    async def main():
        task = asyncio.create_task(consume())
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())


def test_a_silent_client_keeps_its_connection_alive():
    with listening(idle=0.5) as strict:

        async def main():
            async with transport(strict.address, "producer", node="q") as producer:
                await asyncio.sleep(1.2)
                await producer.publish(FULL)

        asyncio.run(main())
        assert len(strict.opened) == 1
        assert strict.gone == ["closed"]


def test_a_server_that_falls_silent_is_given_up(monkeypatch):
    monkeypatch.setattr(amqp, "IDLE_SECONDS", 0.3)
    monkeypatch.setattr(amqp, "_CLOSE_SECONDS", 0.2)
    with listening() as sleepy:

        async def main():
            async with transport(sleepy.address, "producer", node="sleeps") as producer:
                async with asyncio.timeout(1.2):
                    await producer.publish(FULL)

        with pytest.raises(TransportError, match="timeout"):
            asyncio.run(main())


@contextmanager
def answering(answer: bytes | None) -> Iterator[str]:
    """A server that says one thing to everybody and hangs up; with None it says nothing."""

    def serve() -> None:
        while True:
            try:
                client, _ = server.accept()
            except OSError:
                return
            with client:
                client.recv(1000)
                if answer is None:
                    done.wait(SECONDS)
                else:
                    client.sendall(answer)

    done = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"amqp://127.0.0.1:{server.getsockname()[1]}"
        finally:
            done.set()
            server.shutdown(socket.SHUT_RDWR)
            thread.join()


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        pytest.param(b"HTTP/1.1 400 Bad Request\r\n\r\n", "protocol", id="http"),
        pytest.param(b"AMQP\x00\x00\x09\x01", "protocol", id="amqp-0-9-1"),
        pytest.param(b"", "the server hung up", id="hangs-up"),
        pytest.param(b"AMQP\x03\x01\x00\x00\x00\x00\x00\x08\x09\x01\x00\x00", ".", id="bad-frame"),
        pytest.param(None, "no answer within 0.5 s", id="silent"),
    ],
)
def test_what_is_no_amqp_server(answer, told, monkeypatch):
    monkeypatch.setattr(amqp, "CONNECT_SECONDS", 0.5)

    async def main(address: str):
        async with transport(address, "producer", node="q"):
            pass

    with answering(answer) as address, pytest.raises(TransportError, match=told):
        asyncio.run(main(address))


def test_the_next_address_is_tried(peer: Peer):
    endpoint = Endpoint(
        xid=Xid.parse("/endpoints/desk"),
        protocol="AMQP",
        addresses=(f"amqp://127.0.0.1:{free_port()}/q", f"{peer.address}/refuses", peer.address),
        options={"node": ""},
    )
    connection = Connection(endpoint=endpoint, usage="producer", address=None)
    with pytest.raises(TransportError, match="names no node"):
        open_transport(connection)
    places = (*endpoint.addresses[:2], f"{peer.address}/{unique()}")
    connection = replace(connection, endpoint=replace(endpoint, addresses=places))

    async def main():
        async with open_transport(connection) as producer:
            await producer.publish(FULL)

    asyncio.run(main())


def test_tls_and_certificates(tmp_path):
    own = make_certificate(tmp_path)
    domain = proton.SSLDomain(proton.SSLDomain.MODE_SERVER)
    domain.set_credentials(own.file, own.key, None)
    domain.set_trusted_ca_db(own.file)
    domain.set_peer_authentication(proton.SSLDomain.VERIFY_PEER, own.file)
    shown = Credentials(ca_file=own.file, certificate_file=own.file, key_file=own.key)

    async def main(address: str, secrets: Credentials):
        async with transport(address, "producer", secrets, node="q") as producer:
            await producer.publish(replace(FULL, body=b"x" * 500_000))

    with listening(domain) as secure:
        asyncio.run(main(secure.address, shown))
        assert secure.users == ["CN=127.0.0.1"]
        with pytest.raises(TransportError, match="CERTIFICATE_VERIFY_FAILED"):
            asyncio.run(main(secure.address, Credentials()))
        with pytest.raises(TransportError):
            asyncio.run(main(secure.address, Credentials(ca_file=own.file)))
