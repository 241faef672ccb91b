"""Kafka endpoints without a broker: what their options become, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heraldry.errors import TransportError
from heraldry.messages.protocols.kafka import KafkaRecord
from heraldry.messages.transports.kafka import KafkaProducer, connect
from heraldry.messages.transports.kafka_client import settings
from heraldry.messages.transports.kafka_consumer import KafkaConsumer
from heraldry.messages.transports.kafka_offsets import Progress
from heraldry.messages.transports.secrets import Credentials
from heraldry.messages.transports.transport import Connection, Usage
from heraldry.model.endpoint import Endpoint
from heraldry.model.xid import Xid

PASSWORD = Credentials(username="ada", password="correct horse", ca_file="/root.pem")


def connection(
    *addresses: str,
    usage: Usage = "producer",
    detail: dict[str, Any] | None = None,
    secrets: Credentials | None = None,
    address: str | None = None,
    values: dict[str, str] | None = None,
    **options: Any,
) -> Connection:
    places = addresses or ("localhost:9092",)
    return Connection(
        endpoint=Endpoint(
            xid=Xid.parse("/endpoints/orders"),
            protocol="KAFKA",
            addresses=places,
            details=tuple(detail or {} for _ in places),
            options=options,
        ),
        usage=usage,
        values=values or {},
        secrets=lambda _: secrets or Credentials(),
        address=address,
    )


def told(made: Connection) -> list[dict[str, Any]]:
    """The settings of clients, without those that are the same for all."""
    own = ("logger", "reconnect.backoff.max.ms")
    return [{k: v for k, v in one.items() if k not in own} for one in settings(made)]


PLAIN = {"security.protocol": "PLAINTEXT"}


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        pytest.param(
            connection("a:1", "kafka://b", "PLAINTEXT://[::1]:3"),
            [{"bootstrap.servers": "a:1,b:9092,[::1]:3", **PLAIN}],
            id="one list of servers",
        ),
        pytest.param(
            connection("SSL://a:1", "b:2", secrets=PASSWORD),
            [
                {
                    "bootstrap.servers": "a:1",
                    "security.protocol": "SSL",
                    "ssl.ca.location": "/root.pem",
                },
                {"bootstrap.servers": "b:2", **PLAIN},
            ],
            id="by security, in order",
        ),
        pytest.param(
            connection(
                "a:1",
                detail={"security.protocol": "sasl_ssl", "sasl.mechanism": "SCRAM-SHA-512"},
                secrets=PASSWORD,
            ),
            [
                {
                    "bootstrap.servers": "a:1",
                    "security.protocol": "SASL_SSL",
                    "ssl.ca.location": "/root.pem",
                    "sasl.mechanism": "SCRAM-SHA-512",
                    "sasl.username": "ada",
                    "sasl.password": "correct horse",
                }
            ],
            id="security of the address",
        ),
        pytest.param(
            connection("SASL_PLAINTEXT://a:1", secrets=PASSWORD),
            [
                {
                    "bootstrap.servers": "a:1",
                    "security.protocol": "SASL_PLAINTEXT",
                    "sasl.mechanism": "PLAIN",
                    "sasl.username": "ada",
                    "sasl.password": "correct horse",
                }
            ],
            id="security of the scheme",
        ),
        pytest.param(
            connection("a:1", "b:2", detail={"security.protocol": "SSL"}, address="c:3"),
            [{"bootstrap.servers": "c:3", "security.protocol": "SSL"}],
            id="another address keeps the security",
        ),
        pytest.param(
            connection("a:1", detail={"security.protocol": "SSL"}, address="PLAINTEXT://c:3"),
            [{"bootstrap.servers": "c:3", **PLAIN}],
            id="unless it names another",
        ),
        pytest.param(
            connection("{region}.example:1", values={"region": "eu"}),
            [{"bootstrap.servers": "eu.example:1", **PLAIN}],
            id="a placeholder in an address",
        ),
    ],
)
def test_settings(made: Connection, expected: list[dict[str, Any]]) -> None:
    assert told(made) == expected


def test_a_token_is_asked_for_anew() -> None:
    tokens = iter(("first", "second", "third"))
    made = connection("SASL_SSL://a:1")
    made = Connection(
        endpoint=made.endpoint,
        usage="producer",
        secrets=lambda _: Credentials(token=next(tokens)),
    )
    (found,) = settings(made)
    assert found["sasl.mechanism"] == "OAUTHBEARER"
    assert [found["oauth_cb"]("")[0] for _ in range(2)] == ["second", "third"]


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        pytest.param(connection("http://a:1"), "not an address of this protocol", id="scheme"),
        pytest.param(connection("kafka://ada:x@a:1"), "holds a user or password", id="user"),
        pytest.param(
            connection(detail={"security.protocol": "TLS"}), "'TLS' is unknown", id="security"
        ),
        pytest.param(
            connection("SASL_SSL://a:1", detail={"sasl.mechanism": "GSSAPI"}),
            "'GSSAPI' is not supported",
            id="mechanism",
        ),
        pytest.param(connection("SASL_SSL://a:1"), "wants a token", id="no credentials"),
        pytest.param(
            connection("SASL_SSL://a:1", detail={"sasl.mechanism": "PLAIN"}),
            "wants a user and a password",
            id="no password",
        ),
    ],
)
def test_settings_that_are_refused(made: Connection, reason: str) -> None:
    with pytest.raises(TransportError, match=reason):
        settings(made)


@pytest.mark.parametrize(
    ("usage", "options", "reason"),
    [
        pytest.param("producer", {"acks": 2}, "acks is 2", id="acks"),
        pytest.param("producer", {"acks": "all"}, "acks is 'all'", id="acks as a text"),
        pytest.param("producer", {"partition": -1}, "partition is -1", id="partition"),
        pytest.param("producer", {"headers": ["a"]}, "headers is not a map", id="headers"),
        pytest.param("producer", {"headers": {"a": 1}}, "headers is not a map", id="header"),
        pytest.param("consumer", {}, "names no topic", id="no topic"),
        pytest.param("consumer", {"topic": "a b"}, "characters", id="a topic that is not legal"),
        pytest.param("consumer", {"topic": "a{"}, "not closed", id="a template that is none"),
        pytest.param(
            "consumer", {"topic": "a", "autooffsetreset": "now"}, "is 'now'", id="autooffsetreset"
        ),
        pytest.param(
            "consumer", {"topic": "a", "enableautocommit": 1}, "is 1", id="enableautocommit"
        ),
        pytest.param(
            "consumer", {"topic": "a", "consumergroup": "{x}"}, "has no value", id="consumergroup"
        ),
    ],
)
def test_options_that_are_refused(usage: Usage, options: dict[str, Any], reason: str) -> None:
    with pytest.raises(TransportError, match=reason):
        connect(connection(usage=usage, **options))


@pytest.mark.parametrize(
    ("options", "values", "expected"),
    [
        pytest.param({"topic": "shop.orders"}, {}, "shop.orders", id="a name"),
        pytest.param({"topic": "shop.{x}"}, {"x": "faro"}, "shop.faro", id="filled"),
        pytest.param({"topic": "{a}.{b}-x"}, {"a": "s"}, "^s[.].+-x$", id="a pattern"),
        pytest.param({}, {}, "path", id="of the address"),
    ],
)
def test_the_topic_to_read(options: dict[str, Any], values: dict[str, str], expected: str) -> None:
    made = connection("kafka://a:1/path", usage="consumer", values=values, **options)
    assert KafkaConsumer(made)._topic == expected


def test_a_record_without_any_topic() -> None:
    with pytest.raises(TransportError, match="neither the message nor the endpoint"):
        KafkaProducer(connection())._completed(KafkaRecord(), {})


def test_the_topic_of_the_address() -> None:
    producer = KafkaProducer(connection("kafka://a:1/orders"))
    assert producer._completed(KafkaRecord(), {}).topic == "orders"


@given(st.sets(st.integers(0, 30), min_size=1), st.randoms(use_true_random=False))
def test_nothing_is_committed_before_all_before_it_is_settled(offsets: set[int], any_: Any) -> None:
    """Offsets have gaps where a topic is compacted."""
    progress = Progress("orders", 0)
    for offset in sorted(offsets):
        progress.take(offset)
    order = sorted(offsets)
    any_.shuffle(order)
    left, known = set(offsets), min(offsets)
    for offset in order:
        left.discard(offset)
        upto = progress.settle(offset)
        assert progress.settle(offset) is None
        if upto is not None:
            assert upto > known
            known = upto
        assert known == min(left, default=max(offsets) + 1)
