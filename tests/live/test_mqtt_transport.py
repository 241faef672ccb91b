"""MQTT against Mosquitto: what is published comes, whatever the version and the listener."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from heraldry.errors import TransportError
from heraldry.messages.protocols.mqtt import MqttPublish
from heraldry.messages.transports import mqtt
from heraldry.messages.transports.mqtt import MqttTransport
from heraldry.messages.transports.secrets import Credentials
from heraldry.messages.transports.transport import Connection, Delivery, Usage
from heraldry.messages.transports.transport_table import open_transport
from heraldry.model.endpoint import Endpoint
from heraldry.model.xid import Xid
from tests.live.servers.mosquitto import LARGEST, PASSWORD, USERNAME, Mosquitto, broker
from tests.live.servers.server import free_port
from tests.messages.wires import raws

SECONDS = 10.0
_numbers = count()

FULL = MqttPublish(
    topic_name="full",
    qos=1,
    retain=False,
    payload_format=1,
    message_expiry_interval=3600,
    response_topic="answers/here",
    correlation_data=b"\x00\xff",
    content_type="application/json; charset=utf-8",
    user_properties=(("a", "1"), ("b", "größer – 漢字 🎈"), ("a", "2"), ("", "")),
    payload=b'{"n":1}',
)


def transport(
    address: str,
    usage: Usage,
    version: str = "5.0",
    secrets: Credentials | None = None,
    will: MqttPublish | None = None,
    **options: Any,
) -> MqttTransport:
    endpoint = Endpoint(
        xid=Xid.parse("/endpoints/desk"),
        protocol=f"MQTT/{version}",
        addresses=(address,),
        options=options,
    )
    known = secrets or Credentials()
    found = open_transport(
        Connection(endpoint=endpoint, usage=usage, secrets=lambda _: known, will=will)
    )
    assert isinstance(found, MqttTransport)
    return found


@asynccontextmanager
async def pair(
    address: str, topic: str = "#", version: str = "5.0", **options: Any
) -> AsyncIterator[tuple[MqttTransport, Callable[[], Coroutine[Any, Any, Delivery]]]]:
    """A producer, and what gives the next message of a consumer."""
    async with (
        transport(address, "consumer", version, topicfilter=topic, **options) as consumer,
        transport(address, "producer", version) as producer,
        aclosing(consumer.consume()) as deliveries,
    ):
        yield producer, lambda: asyncio.wait_for(anext(deliveries), SECONDS)


async def received(consumer: MqttTransport, number: int) -> list[Delivery]:
    async with aclosing(consumer.consume()) as deliveries:
        return [await asyncio.wait_for(anext(deliveries), SECONDS) for _ in range(number)]


def printable(text: str) -> str:
    """Mosquitto takes no control characters and no U+FFFE; paho reads no U+FEFF."""
    return "".join(one for one in text if one.isprintable())


def unique(name: str = "t") -> str:
    return f"{name}/{next(_numbers)}"


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(FULL, id="every-property"),
        pytest.param(MqttPublish(qos=0, payload=b"x"), id="qos-0"),
        pytest.param(MqttPublish(qos=2, payload=b"x"), id="qos-2"),
        pytest.param(MqttPublish(qos=1, retain=True, payload=b"x"), id="retained-as-published"),
        pytest.param(MqttPublish(qos=1, payload=None), id="no-payload"),
        pytest.param(MqttPublish(qos=1, payload=bytes(range(256))), id="binary"),
        pytest.param(MqttPublish(qos=1, payload=b"m" * 1_000_000), id="a-megabyte"),
        pytest.param(MqttPublish(qos=1, payload="Füße 🎈".encode()), id="unicode"),
        pytest.param(MqttPublish(qos=1, version="3.1.1", payload=b"x"), id="3.1.1-qos-1"),
        pytest.param(MqttPublish(qos=2, version="3.1.1", payload=b"x"), id="3.1.1-qos-2"),
    ],
)
def test_a_packet_comes_as_it_was_published(mosquitto: Mosquitto, raw):
    sent = replace(raw, topic_name=unique("größe/é"), retain=raw.retain or False)

    async def main():
        async with pair(mosquitto.address, "größe/#", raw.version, retainhandling=None) as (
            producer,
            next_one,
        ):
            await producer.publish(sent)
            while (delivery := await next_one()).raw.topic_name != sent.topic_name:
                pass
            await delivery.ack()
            return delivery.raw

    found = asyncio.run(main())
    assert found == sent


@pytest.mark.parametrize("version", ["5.0", "3.1.1"])
def test_drawn_packets_come_as_they_were_published(mosquitto: Mosquitto, version):
    drawn: list[MqttPublish] = []

    @settings(
        max_examples=60,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(raws(f"MQTT/{version}"), st.integers(0, 2))
    def draw(raw: MqttPublish, qos: int) -> None:
        response = printable(raw.response_topic or "").translate({35: "x", 43: "x"})
        pairs = tuple((printable(name), printable(one)) for name, one in raw.user_properties)
        drawn.append(
            replace(
                raw,
                topic_name=unique(f"drawn/{version}"),
                qos=qos,
                retain=False,
                response_topic=response or None,
                user_properties=pairs,
                # Nothing may expire here, and the broker counts down what is left.
                message_expiry_interval=None,
                payload_format=None,
                payload=raw.payload or None,
            )
        )

    async def main():
        async with pair(mosquitto.address, f"drawn/{version}/#", version) as (producer, next_one):
            for one in drawn:
                await producer.publish(one)
            found = []
            for _ in drawn:
                delivery = await next_one()
                await delivery.ack()
                found.append(delivery.raw)
            return found

    draw()
    assert sorted(asyncio.run(main()), key=repr) == sorted(drawn, key=repr)


def test_the_endpoint_fills_in_what_the_packet_leaves_open(mosquitto: Mosquitto):
    async def main():
        options = {"topic": "filled/{shop}/{till}", "qos": 1, "retain": True}
        async with (
            transport(mosquitto.address, "consumer", topicfilter="filled/#") as consumer,
            transport(mosquitto.address, "producer", **options) as producer,
        ):
            await producer.publish(MqttPublish(payload=b"1"), {"shop": "lisbon", "till": "7"})
            await producer.publish(MqttPublish(topic_name="filled/own", qos=0, retain=False))
            found = [one.raw for one in await received(consumer, 2)]
            await producer.publish(MqttPublish(topic_name="filled/lisbon/7", retain=True))
            return {(one.topic_name, one.qos, one.retain) for one in found}

    assert asyncio.run(main()) == {("filled/lisbon/7", 1, True), ("filled/own", 0, False)}


@pytest.mark.parametrize(
    ("secrets", "refused"),
    [
        pytest.param(Credentials(username=USERNAME, password=PASSWORD), None, id="right"),
        pytest.param(Credentials(username=USERNAME, token=PASSWORD), None, id="as-a-token"),
        pytest.param(Credentials(username=USERNAME, password="wr0ng"), "refuses", id="wrong"),
        pytest.param(Credentials(), "refuses", id="none"),
    ],
)
@pytest.mark.parametrize("version", ["5.0", "3.1.1"])
def test_the_password_decides(mosquitto: Mosquitto, secrets, refused, version):
    async def main():
        async with transport(mosquitto.guarded, "producer", version, secrets=secrets) as producer:
            await producer.publish(MqttPublish(topic_name="t", qos=1))

    if refused is None:
        asyncio.run(main())
        return
    with pytest.raises(TransportError, match=refused) as caught:
        asyncio.run(main())
    assert "wr0ng" not in str(caught.value)
    assert PASSWORD not in repr(caught.value)


def test_tls_trusts_the_given_root_only(mosquitto: Mosquitto):
    async def main(secrets: Credentials):
        async with transport(mosquitto.tls, "producer", secrets=secrets) as producer:
            await producer.publish(replace(FULL, topic_name="tls"))

    asyncio.run(main(Credentials(ca_file=mosquitto.certificate.file)))
    with pytest.raises(TransportError, match="CERTIFICATE_VERIFY_FAILED"):
        asyncio.run(main(Credentials()))


def test_tls_keeps_up_with_a_burst(mosquitto: Mosquitto):
    secrets = Credentials(ca_file=mosquitto.certificate.file)

    async def main():
        async with (
            transport(mosquitto.tls, "consumer", secrets=secrets, topicfilter="burst") as consumer,
            transport(mosquitto.tls, "producer", secrets=secrets, topic="burst", qos=1) as producer,
        ):
            sent = {f"{n}".encode() * 1000 for n in range(300)}
            sending = asyncio.gather(*(producer.publish(MqttPublish(payload=one)) for one in sent))
            found = set()
            async with aclosing(consumer.consume()) as deliveries:
                while len(found) < len(sent):
                    delivery = await asyncio.wait_for(anext(deliveries), SECONDS)
                    found.add(delivery.raw.payload)
                    await delivery.ack()
            await sending
            return found == sent

    assert asyncio.run(main())


def test_websockets(mosquitto: Mosquitto):
    async def main():
        async with pair(mosquitto.websocket, "ws/#") as (producer, next_one):
            await producer.publish(replace(FULL, topic_name="ws/1"))
            return (await next_one()).raw

    assert asyncio.run(main()) == replace(FULL, topic_name="ws/1")


@pytest.mark.parametrize("qos", [1, 2])
def test_a_refused_publication_is_an_error(mosquitto: Mosquitto, qos):
    async def main():
        async with transport(mosquitto.address, "producer") as producer:
            await producer.publish(MqttPublish(topic_name="denied/x", qos=qos))

    with pytest.raises(TransportError, match="nothing published to 'denied/x'"):
        asyncio.run(main())


def test_too_large_is_an_error_and_the_next_one_passes(mosquitto: Mosquitto):
    async def main():
        async with transport(mosquitto.address, "producer", topic="large", qos=1) as producer:
            with pytest.raises(TransportError, match="nothing published"):
                await producer.publish(MqttPublish(payload=b"x" * (LARGEST + 1)))
            await producer.publish(MqttPublish(payload=b"small"))

    asyncio.run(main())


def test_nobody_there(mosquitto: Mosquitto):
    async def main():
        async with transport("mqtt://127.0.0.1:1", "producer"):
            pass

    with pytest.raises(TransportError, match=r"mqtt://127\.0\.0\.1:1: .*refused"):
        asyncio.run(main())


def test_the_second_address_is_used_where_the_first_is_dead(mosquitto: Mosquitto):
    async def main():
        found = transport(mosquitto.address, "producer")
        connection = found._connection
        both = replace(
            connection.endpoint, addresses=("mqtt://127.0.0.1:1", *connection.endpoint.addresses)
        )
        async with MqttTransport(replace(connection, endpoint=both)) as producer:
            await producer.publish(MqttPublish(topic_name="second", qos=1))

    asyncio.run(main())


def test_what_was_not_acknowledged_comes_again(mosquitto: Mosquitto):
    options = {"topicfilter": "again/#", "cleansession": False, "clientid": "again"}

    async def main():
        async with transport(mosquitto.address, "producer", topic="again/x", qos=1) as producer:
            async with transport(mosquitto.address, "consumer", **options) as consumer:
                for text in (b"1", b"2", b"3"):
                    await producer.publish(MqttPublish(payload=text))
                first, second, _ = await received(consumer, 3)
                await first.ack()
                await second.reject()
            await producer.publish(MqttPublish(payload=b"4"))
            async with transport(mosquitto.address, "consumer", **options) as consumer:
                found = await received(consumer, 2)
                for one in found:
                    await one.ack()
        async with transport(
            mosquitto.address, "consumer", topicfilter="again/#", clientid="again"
        ):
            pass
        return [one.raw.payload for one in found]

    assert asyncio.run(main()) == [b"3", b"4"]


@pytest.mark.parametrize("qos", [0, 1, 2])
def test_a_slow_consumer_loses_nothing(mosquitto: Mosquitto, qos):
    number = 900

    async def main():
        async with (
            transport(mosquitto.address, "consumer", topicfilter=f"slow/{qos}") as consumer,
            transport(mosquitto.address, "producer", topic=f"slow/{qos}", qos=qos) as producer,
            aclosing(consumer.consume()) as deliveries,
        ):
            for n in range(number):
                await producer.publish(MqttPublish(payload=f"{n}".encode()))
            await asyncio.sleep(0.2)
            waiting = len(consumer._link._arrived)
            found = []
            for _ in range(number):
                delivery = await asyncio.wait_for(anext(deliveries), SECONDS)
                found.append(int(delivery.raw.payload))
                await delivery.ack()
            return waiting, found

    waiting, found = asyncio.run(main())
    assert waiting <= (512 if qos == 2 else 256)
    assert found == list(range(number))


def test_a_link_that_is_lost_while_nothing_is_read(mosquitto: Mosquitto):
    async def main():
        async with (
            transport(mosquitto.address, "consumer", topicfilter="lost") as consumer,
            transport(mosquitto.address, "producer", topic="lost", qos=0) as producer,
            aclosing(consumer.consume()) as deliveries,
        ):
            for n in range(400):
                await producer.publish(MqttPublish(payload=b"%d" % n))
            async with asyncio.timeout(SECONDS):
                while not consumer._link._paused:
                    await asyncio.sleep(0.01)
            consumer._link._client.disconnect()
            async with asyncio.timeout(SECONDS):
                while consumer._link.lost is None:
                    await asyncio.sleep(0.01)
            found = [int((await anext(deliveries)).raw.payload) for _ in range(256)]
            waiting = asyncio.create_task(anext(deliveries))
            async with asyncio.timeout(SECONDS):
                while consumer._link.lost is not None:
                    await asyncio.sleep(0.01)
            await producer.publish(MqttPublish(payload=b"1000", qos=1))
            return [*found, int((await asyncio.wait_for(waiting, SECONDS)).raw.payload)]

    assert asyncio.run(main()) == [*range(256), 1000]


@pytest.mark.parametrize("version", ["5.0", "3.1.1"])
def test_a_filter_that_is_none(mosquitto: Mosquitto, version):
    async def main():
        async with transport(mosquitto.address, "consumer", version, topicfilter="a#"):
            pass

    with pytest.raises(TransportError, match="correct the topicfilter"):
        asyncio.run(main())


def test_a_quality_of_service_that_is_none(mosquitto: Mosquitto):
    async def main():
        async with transport(mosquitto.address, "producer") as producer:
            await producer.publish(MqttPublish(topic_name="t", qos=3))

    with pytest.raises(TransportError, match="Invalid QoS"):
        asyncio.run(main())


def test_shared_subscriptions_divide_the_messages(mosquitto: Mosquitto):
    options = {"topicfilter": "shared/#", "sharedsubscriptiongroup": "desk"}

    async def main():
        found: list[list[bytes]] = [[], []]

        async def take(number: int, consumer: MqttTransport) -> None:
            async with aclosing(consumer.consume()) as deliveries:
                async for delivery in deliveries:
                    found[number].append(delivery.raw.payload)
                    await delivery.ack()

        async with (
            transport(mosquitto.address, "consumer", **options) as one,
            transport(mosquitto.address, "consumer", **options) as other,
            transport(mosquitto.address, "producer", topic="shared/x", qos=1) as producer,
        ):
            tasks = [asyncio.create_task(take(*both)) for both in enumerate((one, other))]
            for n in range(20):
                await producer.publish(MqttPublish(payload=b"%d" % n))
            async with asyncio.timeout(SECONDS):
                while sum(map(len, found)) < 20:
                    await asyncio.sleep(0.01)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return found

    one, other = asyncio.run(main())
    assert one
    assert other
    assert sorted(one + other, key=int) == [b"%d" % n for n in range(20)]


@pytest.mark.parametrize(
    ("handling", "expected"),
    [pytest.param(0, [b"kept", b"new"], id="send"), pytest.param(2, [b"new"], id="do-not-send")],
)
def test_retain_handling(mosquitto: Mosquitto, handling, expected):
    async def main():
        kept = MqttPublish(topic_name="retained", qos=1, retain=True, payload=b"kept")
        async with transport(mosquitto.address, "producer") as producer:
            await producer.publish(kept)
            async with transport(
                mosquitto.address, "consumer", topicfilter="retained", retainhandling=handling
            ) as consumer:
                await producer.publish(replace(kept, retain=False, payload=b"new"))
                found = await received(consumer, len(expected))
            await producer.publish(replace(kept, payload=None))
        return [one.raw.payload for one in found]

    assert asyncio.run(main()) == expected


def test_retained_messages_lose_their_flag_where_asked(mosquitto: Mosquitto):
    async def main():
        async with pair(mosquitto.address, "flag", retainaspublished=False) as (producer, next_one):
            await producer.publish(MqttPublish(topic_name="flag", qos=1, retain=True, payload=b"x"))
            found = (await next_one()).raw.retain
            await producer.publish(MqttPublish(topic_name="flag", qos=1, retain=True))
            return found

    assert asyncio.run(main()) is False


@pytest.mark.parametrize("no_local", [True, False])
def test_no_local(mosquitto: Mosquitto, no_local):
    async def main():
        async with (
            transport(
                mosquitto.address, "consumer", topicfilter="local", nolocal=no_local
            ) as consumer,
            transport(mosquitto.address, "producer") as other,
        ):
            await consumer.publish(MqttPublish(topic_name="local", qos=1, payload=b"own"))
            await other.publish(MqttPublish(topic_name="local", qos=1, payload=b"other"))
            return (await received(consumer, 1))[0].raw.payload

    assert asyncio.run(main()) == (b"other" if no_local else b"own")


@pytest.mark.parametrize("version", ["5.0", "3.1.1"])
def test_the_will_is_published_when_the_producer_is_gone(mosquitto: Mosquitto, version):
    properties = {"content_type": "text/plain"} if version == "5.0" else {}
    will = MqttPublish(payload=b"gone", qos=1, version=version, **properties)

    async def main():
        async with transport(mosquitto.address, "consumer", version, topicfilter="will") as seen:
            producer = transport(
                mosquitto.address,
                "producer",
                version,
                will=will,
                willtopic="will",
                willmessage="/messagegroups/g/messages/gone",
            )
            await producer.__aenter__()
            socket = producer._link._client.socket()
            producer._link._detach()
            socket.close()
            return (await received(seen, 1))[0].raw

    assert asyncio.run(main()) == replace(will, topic_name="will", retain=False)


def test_a_broker_that_comes_back(tmp_path: Path):
    """Both ends go on after a restart, and the session that was kept loses nothing."""
    port = free_port()
    address = f"mqtt://127.0.0.1:{port}"
    options = {"topicfilter": "back/#", "cleansession": False}

    async def main():
        with broker(tmp_path, port):
            consumer = transport(address, "consumer", **options)
            producer = transport(address, "producer", topic="back/x", qos=1)
            await consumer.__aenter__()
            await producer.__aenter__()
            deliveries = consumer.consume()
            await producer.publish(MqttPublish(payload=b"before"))
            found = [await asyncio.wait_for(anext(deliveries), SECONDS)]
            await found[0].ack()
            waiting = asyncio.create_task(anext(deliveries))
            await asyncio.sleep(0.1)
        with pytest.raises(TransportError):
            await producer.publish(MqttPublish(payload=b"during"))
        with broker(tmp_path, port):
            await producer.publish(MqttPublish(payload=b"after"))
            found.append(await asyncio.wait_for(waiting, SECONDS))
            await deliveries.aclose()
            await producer.__aexit__(None, None, None)
            await consumer.__aexit__(None, None, None)
        return [one.raw.payload for one in found]

    assert asyncio.run(main()) == [b"before", b"after"]


def test_the_same_client_id_twice(mosquitto: Mosquitto, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(mqtt, "_PAUSE", 0.001)

    async def main():
        options = {"clientid": "twin", "topicfilter": "x"}
        async with (
            transport(mosquitto.address, "consumer", **options) as one,
            transport(mosquitto.address, "consumer", **options) as other,
        ):
            both = asyncio.gather(received(one, 1), received(other, 1))
            await asyncio.wait_for(both, SECONDS)

    with pytest.raises(TransportError, match=r"every connection ends at once.*clientid"):
        asyncio.run(main())


def test_cancelling_leaves_nothing_behind(mosquitto: Mosquitto):
    async def main():
        async with transport(mosquitto.address, "consumer", topicfilter="never") as consumer:
            taking = asyncio.create_task(received(consumer, 1))
            await asyncio.sleep(0.05)
            taking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await taking
        return [one for one in asyncio.all_tasks() if one is not asyncio.current_task()]

    assert asyncio.run(main()) == []


def test_cancelling_while_connecting(mosquitto: Mosquitto):
    async def main():
        connecting = asyncio.create_task(transport(mosquitto.address, "producer").__aenter__())
        await asyncio.sleep(0)
        connecting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await connecting

    asyncio.run(main())
