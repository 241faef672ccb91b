"""Kafka: who is let in, where, and what a broker refuses."""

from __future__ import annotations

import json
import logging
import time
from base64 import urlsafe_b64encode
from typing import Any

import pytest

from heraldry.errors import TransportError
from heraldry.messages.protocols.kafka import KafkaRecord
from heraldry.messages.transports import kafka as producing
from heraldry.messages.transports.secrets import Credentials
from heraldry.messages.transports.transport import CONNECT_SECONDS, Delivery, Usage
from tests.live.kafka_wire import new_topic, publish, read, run, take, texts, transport
from tests.live.servers.kafka import PASSWORD, USERNAME, KafkaServer
from tests.live.servers.server import free_port


@pytest.fixture
def topic(kafka: KafkaServer) -> str:
    return new_topic(kafka, "topic")


CREDENTIALS = Credentials(username=USERNAME, password=PASSWORD)


def token(seconds: float) -> str:
    """A token as the broker's own test module takes it: unsigned."""
    claims = {"sub": USERNAME, "iat": time.time() - 10, "exp": time.time() + seconds}
    parts = (json.dumps(part).encode() for part in ({"alg": "none"}, claims))
    return ".".join(urlsafe_b64encode(part).decode().rstrip("=") for part in parts) + "."


@pytest.mark.parametrize(
    ("mechanism", "secrets"),
    [
        pytest.param("PLAIN", CREDENTIALS, id="PLAIN"),
        pytest.param("SCRAM-SHA-256", CREDENTIALS, id="SCRAM"),
        pytest.param("OAUTHBEARER", Credentials(token=token(86_400)), id="a token"),
        pytest.param(None, CREDENTIALS, id="by the credentials at hand"),
    ],
)
def test_credentials_that_are_right(
    kafka: KafkaServer, topic: str, mechanism: str | None, secrets: Credentials
) -> None:
    detail = {"security.protocol": "SASL_PLAINTEXT"}
    if mechanism is not None:
        detail["sasl.mechanism"] = mechanism
    options: dict[str, Any] = {"topic": topic, "secrets": secrets, "detail": detail}

    async def work() -> list[Delivery]:
        await publish(kafka.sasl, KafkaRecord(value=b"x"), **options)
        return await read(kafka.sasl, 1, **options)

    assert texts(run(work())) == ["x"]


@pytest.mark.parametrize("usage", ["producer", "consumer"])
@pytest.mark.parametrize(
    ("secrets", "told"),
    [
        pytest.param(
            Credentials(username=USERNAME, password="wrong staple"),
            "refuses the credentials",
            id="wrong",
        ),
        pytest.param(Credentials(), "the broker wants a user and a password", id="none"),
    ],
)
def test_credentials_that_are_not_right(
    kafka: KafkaServer,
    usage: Usage,
    secrets: Credentials,
    told: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    detail = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN"}
    reader = transport(kafka.sasl, usage, topic="shop", secrets=secrets, detail=detail)
    with pytest.raises(TransportError, match=told) as caught:
        run(reader.__aenter__())
    assert "staple" not in str(caught.value) + repr(caught.value) + caplog.text


def test_tls_with_the_right_trust_root(kafka: KafkaServer, topic: str) -> None:
    secrets = Credentials(ca_file=kafka.certificate.file)
    options: dict[str, Any] = {"topic": topic, "secrets": secrets}

    async def work() -> list[Delivery]:
        await publish(kafka.tls, KafkaRecord(value=b"x"), **options)
        return await read(kafka.tls, 1, **options)

    assert texts(run(work())) == ["x"]


def test_tls_without_a_trust_root_is_refused(kafka: KafkaServer) -> None:
    with pytest.raises(TransportError, match=r"TLS failed.*HERALDRY_CA_FILE"):
        run(transport(kafka.tls, "producer").__aenter__())


def test_nobody_listens() -> None:
    where = f"127.0.0.1:{free_port()}"
    start = time.monotonic()
    with pytest.raises(TransportError, match=f"no broker answers at {where}"):
        run(transport(where, "producer").__aenter__())
    assert time.monotonic() - start < CONNECT_SECONDS


def test_the_next_address_is_tried(kafka: KafkaServer, topic: str) -> None:
    same = (f"127.0.0.1:{free_port()}", kafka.address)
    other = (f"SSL://127.0.0.1:{free_port()}", kafka.address)

    async def work() -> list[Delivery]:
        for where in (same, other):
            async with transport(where, "producer", topic=topic) as writer:
                await writer.publish(KafkaRecord(value=b"x"))
        return await read(kafka.address, 2, topic=topic)

    assert texts(run(work())) == ["x", "x"]


@pytest.mark.parametrize(
    ("record", "told"),
    [
        pytest.param(KafkaRecord(topic="absent"), "absent: there is no such topic", id="topic"),
        pytest.param(KafkaRecord(topic="bad name"), "bad name", id="a name that is not legal"),
        pytest.param(KafkaRecord(partition=7), "/7: there is no such partition", id="partition"),
        pytest.param(KafkaRecord(value=b"x" * 2000), "max.message.bytes", id="too large"),
        pytest.param(KafkaRecord(value=b"x" * (65 << 20)), "too large", id="far too large"),
    ],
)
def test_what_the_broker_refuses(
    kafka: KafkaServer, record: KafkaRecord, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(producing, "_TOPIC_SECONDS", 0.5)
    name = new_topic(kafka, "small", **{"max.message.bytes": "1000"})

    async def work() -> list[Delivery]:
        async with transport(kafka.address, "producer", topic=name) as writer:
            with pytest.raises(TransportError, match=told):
                await writer.publish(record)
            await writer.publish(KafkaRecord(value=b"fine"))
        return await read(kafka.address, 1, topic=name)

    assert texts(run(work())) == ["fine"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        pytest.param({"topic": "absent"}, "there is no topic 'absent'", id="topic"),
        pytest.param({"topic": "absent-{x}"}, "there is no topic", id="topics"),
        pytest.param({"partition": 5}, "has no partition 5", id="partition"),
        pytest.param({"autooffsetreset": "none"}, "consumergroup", id="nowhere to start"),
    ],
)
def test_what_cannot_be_read(
    kafka: KafkaServer, topic: str, options: dict[str, Any], told: str
) -> None:
    reader = transport(kafka.address, "consumer", **{"topic": topic, **options})
    with pytest.raises(TransportError, match=told):
        run(reader.__aenter__())


def test_a_group_without_a_position_may_not_start_anywhere(kafka: KafkaServer, topic: str) -> None:
    options = {"topic": topic, "consumergroup": f"g-{topic}", "autooffsetreset": "none"}
    with pytest.raises(TransportError, match="the group has no position"):
        run(read(kafka.address, 1, **options))


@pytest.mark.parametrize("usage", ["producer", "consumer"])
def test_a_transport_is_for_one_use(kafka: KafkaServer, topic: str, usage: Usage) -> None:
    async def work() -> None:
        async with transport(kafka.address, usage, topic=topic) as one:
            if usage == "producer":
                await take(one, 1)
            await one.publish(KafkaRecord())

    with pytest.raises(TransportError, match="opened to"):
        run(work())
