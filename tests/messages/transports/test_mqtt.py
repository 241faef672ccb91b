"""MQTT endpoints without a broker: what options mean, and what is refused."""

from __future__ import annotations

import asyncio
import gc
import socket
from typing import Any

import pytest

from heraldry.errors import TransportError
from heraldry.messages.protocols.mqtt import MqttPublish
from heraldry.messages.transports.mqtt import MqttTransport, connect
from heraldry.messages.transports.mqtt_options import (
    FOREVER,
    Session,
    Subscription,
    session_of,
    subscription_of,
)
from heraldry.messages.transports.mqtt_packets import properties, topic
from heraldry.messages.transports.transport import Connection, Usage
from heraldry.model.endpoint import Endpoint
from heraldry.model.formats import fold
from heraldry.model.xid import Xid

WILL = MqttPublish(payload=b"gone")


def connection(
    usage: Usage = "consumer",
    protocol: str = "MQTT/5.0",
    address: str = "mqtt://broker",
    values: dict[str, str] | None = None,
    will: MqttPublish | None = None,
    **options: Any,
) -> Connection:
    endpoint = Endpoint(
        xid=Xid.parse("/endpoints/desk"),
        protocol=protocol,
        addresses=(address,),
        options={fold(name): value for name, value in options.items()},
    )
    return Connection(endpoint=endpoint, usage=usage, values=values or {}, will=will)


CLEAN = Session(version="5.0", client_id="", clean=True, expiry=0)
KEPT = Session(version="5.0", client_id="heraldry-desk-consumer", clean=False, expiry=FOREVER)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param({}, CLEAN, id="nothing-said"),
        pytest.param({"clean_session": False}, KEPT, id="clean-session-false"),
        pytest.param({"cleansession": "false"}, KEPT, id="as-text"),
        pytest.param(
            {"protocol": "MQTT/3.1.1", "cleansession": False},
            Session(version="3.1.1", client_id=KEPT.client_id, clean=False, expiry=FOREVER),
            id="3.1.1",
        ),
        pytest.param({"protocol": "MQTT"}, CLEAN, id="no-version-is-5"),
        pytest.param(
            {"cleanstart": True, "sessionexpiryinterval": 60},
            Session(version="5.0", client_id=KEPT.client_id, clean=True, expiry=60),
            id="clean-start-then-kept",
        ),
        pytest.param(
            {"cleansession": True, "cleanstart": False, "sessionexpiryinterval": "60"},
            Session(version="5.0", client_id=KEPT.client_id, clean=False, expiry=60),
            id="cleanstart-wins",
        ),
        pytest.param(
            {"clientid": "desk-{n}", "values": {"n": "7"}},
            Session(version="5.0", client_id="desk-7", clean=True, expiry=0),
            id="client-id",
        ),
    ],
)
def test_session(given, expected):
    assert session_of(connection(**given)) == expected


def subscription(topic_filter: str, **changes: Any) -> Subscription:
    told = {"qos": 2, "no_local": False, "retain_as_published": True, "retain_handling": 0}
    return Subscription(topic_filter=topic_filter, **(told | changes))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param({}, subscription("#"), id="everything"),
        pytest.param({"topic": "a/b"}, subscription("a/b"), id="topic"),
        pytest.param({"topic": "a", "topicfilter": "a/#"}, subscription("a/#"), id="filter"),
        pytest.param({"path": "from/path"}, subscription("from/path"), id="path"),
        pytest.param({"path": "x", "topic": "a"}, subscription("a"), id="topic-over-path"),
        pytest.param({"topic": "{a}/x-{b}/c"}, subscription("+/+/c"), id="wildcards"),
        pytest.param(
            {"topic": "{a}/{b}", "values": {"a": "1"}}, subscription("1/+"), id="some-values"
        ),
        pytest.param(
            {"topicfilter": "a", "shared-subscription-group": "g{n}", "values": {"n": "1"}},
            subscription("$share/g1/a"),
            id="shared",
        ),
        pytest.param({"qos": 0}, subscription("#", qos=2), id="qos-0-is-no-bound"),
        pytest.param({"qos": 1}, subscription("#", qos=1), id="qos-1"),
        pytest.param(
            {"nolocal": True, "retainaspublished": False, "retainhandling": 2},
            subscription("#", no_local=True, retain_as_published=False, retain_handling=2),
            id="flags",
        ),
    ],
)
def test_subscription(given, expected):
    path = given.pop("path", "") if "path" in given else ""
    assert subscription_of(connection(**given), path) == expected


@pytest.mark.parametrize(
    ("given", "told"),
    [
        pytest.param({"protocol": "MQTT/3.1"}, "no version that can be spoken", id="version"),
        pytest.param(
            {"protocol": "MQTT/3.1.1", "nolocal": True}, "nolocal is not part of", id="5-only"
        ),
        pytest.param({"qos": 3}, "an integer from 0 to 2", id="qos-3"),
        pytest.param({"qos": True}, "an integer from 0 to 2", id="qos-true"),
        pytest.param({"retainhandling": 3}, "an integer from 0 to 2", id="retain-handling"),
        pytest.param({"nolocal": "perhaps"}, "true or false", id="not-a-flag"),
        pytest.param({"topicfilter": 5}, "must be a text", id="not-a-text"),
        pytest.param({"topicfilter": "a/{b"}, "not closed", id="template"),
        pytest.param(
            {"sharedsubscriptiongroup": "$share/g"}, "cannot be used", id="group-with-prefix"
        ),
        pytest.param(
            {"sharedsubscriptiongroup": "g", "nolocal": True}, "no nolocal", id="shared-no-local"
        ),
        pytest.param({"address": "tcp://broker/topic"}, "tcp has no path", id="tcp-with-path"),
        pytest.param({"address": "http://broker"}, "not an address", id="scheme"),
        pytest.param({"clientid": "{n}"}, "give it a value", id="client-id-without-value"),
        pytest.param(
            {"usage": "producer", "willmessage": "/messagegroups/g/messages/m"},
            "build /messagegroups/g/messages/m",
            id="will-not-given",
        ),
        pytest.param({"usage": "producer", "will": WILL}, "has no topic", id="will-without-topic"),
    ],
)
def test_refused_endpoints(given, told):
    with pytest.raises(TransportError, match=told):
        connect(connection(**given))


def test_a_consumer_has_no_will():
    assert connect(connection(willtopic="t", willmessage="/messagegroups/g/messages/m"))


def test_the_will_takes_topic_and_qos_of_the_endpoint():
    made = connect(connection("producer", will=WILL, willtopic="w/{n}", qos=1, values={"n": "1"}))
    assert made._will == MqttPublish(topic_name="w/1", qos=1, retain=False, payload=b"gone")


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        pytest.param(MqttPublish(content_type="x\0"), "content_type", id="null"),
        pytest.param(MqttPublish(response_topic="\ud800"), "response_topic", id="surrogate"),
        pytest.param(MqttPublish(correlation_data=b"x" * 70_000), "correlation_data", id="long"),
        pytest.param(MqttPublish(payload_format=2), "from 0 to 1", id="payload-format"),
        pytest.param(MqttPublish(message_expiry_interval=2**32), "from 0 to", id="expiry"),
        pytest.param(MqttPublish(user_properties=(("a", "\0"),)), "user property a", id="property"),
    ],
)
def test_refused_properties(raw, told):
    with pytest.raises(TransportError, match=told):
        properties("/endpoints/desk", raw, "5.0")


def test_3_1_1_carries_no_properties():
    raw = MqttPublish(content_type="text/plain", user_properties=(("a", "b"),))
    assert properties("/endpoints/desk", MqttPublish(), "3.1.1") is None
    with pytest.raises(TransportError, match="cannot carry content_type, user_properties"):
        properties("/endpoints/desk", raw, "3.1.1")


@pytest.mark.parametrize("given", ["a/+", "#", "a\0", "x" * 70_000])
def test_refused_topics(given):
    with pytest.raises(TransportError):
        topic("/endpoints/desk", given)


def test_no_topic_at_all():
    async def main():
        await MqttTransport(connection("producer")).publish(MqttPublish())

    with pytest.raises(TransportError, match="neither the message nor the endpoint names a topic"):
        asyncio.run(main())


@pytest.mark.parametrize("scheme", ["mqtt", "mqtts"])
def test_a_server_that_says_nothing(scheme, monkeypatch):
    monkeypatch.setattr("heraldry.messages.transports.mqtt.CONNECT_SECONDS", 0.3)

    async def main(port: int):
        async with MqttTransport(connection(address=f"{scheme}://127.0.0.1:{port}")):
            pass

    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        with pytest.raises(TransportError, match=f"{scheme}://127.0.0.1:{port}: "):
            asyncio.run(main(port))
        gc.collect()


async def _careless_broker(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, topic: bytes, version: str
) -> bytes:
    """One session with a broker that does not look at topics; what it hears after a message."""
    none = b"" if version == "3.1.1" else b"\0"  # of properties

    async def heard() -> bytes:
        _, length = await reader.readexactly(2)
        return await reader.readexactly(length)

    def send(kind: int, packet: bytes) -> None:
        writer.write(bytes([kind, len(packet)]) + packet)

    await heard()
    send(0x20, b"\0\0" + none)
    send(0x90, (await heard())[:2] + none + b"\1")
    send(0x32, len(topic).to_bytes(2) + topic + b"\0\7" + none + b"{}")
    return await reader.readexactly(4)


@pytest.mark.parametrize("version", ["3.1.1", "5.0"])
@pytest.mark.parametrize(
    ("topic", "read"),
    [
        pytest.param(b"shops/caf\xe9", "shops/caf\ufffd", id="latin-1"),
        pytest.param(b"\xff", "\ufffd", id="no-letter"),
        pytest.param("größe/🎈".encode(), "größe/🎈", id="utf-8"),
    ],
)
def test_a_topic_is_read_whatever_it_is(topic, read, version):
    """Mosquitto refuses such a topic; a broker that lets it through sends it until it is taken."""

    async def main():
        said: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            said.set_result(await _careless_broker(reader, writer, topic, version))
            writer.close()

        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            found = connection(protocol=f"MQTT/{version}", address=f"mqtt://127.0.0.1:{port}")
            async with asyncio.timeout(10), MqttTransport(found) as consumer:
                deliveries = consumer.consume()
                delivery = await anext(deliveries)
                await delivery.ack()
                await deliveries.aclose()
                return delivery.raw, await said

    raw, said = asyncio.run(main())
    assert raw == MqttPublish(topic_name=read, qos=1, retain=False, payload=b"{}", version=version)
    assert said == b"\x40\x02\0\7"
