"""NATS endpoints without a server: what options mean, and what is refused."""

from __future__ import annotations

import asyncio
import gc
import socket
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heraldry.errors import TransportError
from heraldry.messages.protocols.nats import NatsMessage
from heraldry.messages.transports.nats import NatsTransport, connect
from heraldry.messages.transports.nats_client import (
    PatientClient,
    ReceivedHeaders,
    SentHeaders,
    size,
)
from heraldry.messages.transports.transport import Connection, Usage
from heraldry.model.endpoint import Endpoint
from heraldry.model.formats import fold
from heraldry.model.xid import Xid


def connection(
    usage: Usage = "consumer",
    address: str = "nats://server",
    values: dict[str, str] | None = None,
    **options: Any,
) -> Connection:
    endpoint = Endpoint(
        xid=Xid.parse("/endpoints/desk"),
        protocol="NATS",
        addresses=(address,),
        options={fold(name): value for name, value in options.items()},
    )
    return Connection(endpoint=endpoint, usage=usage, values=values or {})


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param({}, ">", id="everything"),
        pytest.param({"subject": "a.b"}, "a.b", id="subject"),
        pytest.param({"subject": "a", "subject-filter": "a.>"}, "a.>", id="filter"),
        pytest.param({"subject": "{a}.x-{b}.c"}, "*.*.c", id="wildcards"),
        pytest.param({"subject": "{a}.{b}", "values": {"a": "1"}}, "1.*", id="some-values"),
    ],
)
def test_subscription(given, expected):
    assert connect(connection(**given))._filter == expected


@pytest.mark.parametrize(
    ("given", "jetstream", "durable"),
    [
        pytest.param({}, False, None, id="nats"),
        pytest.param({"queuegroup": "g"}, False, "g", id="queue-group"),
        pytest.param({"jetstream": True}, True, None, id="asked-for"),
        pytest.param({"jetstream": "true", "queuegroup": "g"}, True, "g", id="group-is-durable"),
        pytest.param({"stream": "s"}, True, None, id="stream"),
        pytest.param({"durable": "d", "queuegroup": "g"}, True, "d", id="durable"),
        pytest.param({"consumer": "d{n}", "values": {"n": "1"}}, True, "d1", id="consumer"),
        pytest.param({"jetstream": False, "stream": "s"}, False, None, id="turned-off"),
    ],
)
def test_when_jetstream_is_used(given, jetstream, durable):
    made = connect(connection(**given))
    assert (made._jetstream, made._durable) == (jetstream, durable)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        pytest.param({"durable": "a.b"}, "cannot name a consumer", id="durable"),
        pytest.param({"jetstream": "perhaps"}, "true or false", id="not-a-flag"),
        pytest.param({"subjectfilter": "a.{b"}, "not closed", id="template"),
        pytest.param({"subject": 5}, "must be a text", id="not-a-text"),
        pytest.param({"address": "mqtt://server"}, "not an address", id="scheme"),
        pytest.param({"queuegroup": "{n}"}, "give it a value", id="group-without-value"),
    ],
)
def test_refused_endpoints(given, told):
    with pytest.raises(TransportError, match=told):
        connect(connection(**given))


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        pytest.param(NatsMessage(), "names a subject", id="no-subject"),
        pytest.param(NatsMessage(subject="a.*"), "not a subject", id="wildcard"),
        pytest.param(NatsMessage(subject="a..b"), "not a subject", id="empty-token"),
        pytest.param(NatsMessage(subject="a\r\nPUB b 0"), "not a subject", id="injection"),
        pytest.param(NatsMessage(subject="a", reply_to="b c"), "not a subject", id="reply-to"),
        pytest.param(NatsMessage(subject="a", headers=(("x y", ""),)), "'x y'", id="header-name"),
        pytest.param(NatsMessage(subject="a", headers=(("x", "1\r\n"),)), "'x'", id="line-break"),
        pytest.param(NatsMessage(subject="a", headers=(("x", " 1"),)), "'x'", id="outer-space"),
    ],
)
def test_refused_messages(raw, told):
    async def main():
        await NatsTransport(connection("producer")).publish(raw)

    with pytest.raises(TransportError, match=told):
        asyncio.run(main())


def test_jetstream_has_no_room_for_a_reply():
    async def main():
        made = NatsTransport(connection("producer", jetstream=True))
        await made.publish(NatsMessage(subject="a", reply_to="b"))

    with pytest.raises(TransportError, match="jetstream to false"):
        asyncio.run(main())


NAMES = st.sampled_from(["A", "a", "b-c", "traceparent"])
VALUES = st.text(max_size=8).map(lambda text: " ".join(text.split()))


@given(st.lists(st.tuples(NAMES, VALUES), min_size=1, max_size=5).map(tuple))
def test_headers_come_as_they_were_sent(pairs):
    """What nats-py writes is read as the same pairs, and is as long as we say."""
    lines = [f"{name}: {value}\r\n".encode() for name, value in SentHeaders(pairs).items()]
    wire = b"NATS/1.0\r\n" + b"".join(lines) + b"\r\n"
    found = asyncio.run(PatientClient()._process_headers(wire))
    assert isinstance(found, ReceivedHeaders)
    assert found.pairs == pairs
    assert dict(found) == dict(pairs)
    assert size(pairs) == len(wire)


@pytest.mark.parametrize(
    "wire",
    [
        pytest.param(b"NATS/1.0 \xe9\xe9\xe9\r\nA: 1\r\n\r\n", id="status"),
        pytest.param(b"NATS/1.0 404 \xe9\r\nA: 1\r\n\r\n", id="description"),
        pytest.param(b"NATS/1.0\xe9\r\nA: 1\r\n\r\n", id="version"),
        pytest.param(b"NATS/1.0", id="no-end"),
        pytest.param(b"x", id="nothing-known"),
    ],
)
def test_headers_are_read_whatever_their_first_line_says(wire):
    found = asyncio.run(PatientClient()._process_headers(wire))
    assert isinstance(found, ReceivedHeaders)
    assert found.pairs == ((("A", "1"),) if b"A: 1" in wire else ())


def test_headers_that_nats_py_adds_are_sent():
    headers = SentHeaders((("a", "1"), ("a", "2")))
    headers["Nats-Expected-Stream"] = "s"
    assert headers.items() == (("a", "1"), ("a", "2"), ("Nats-Expected-Stream", "s"))


@pytest.mark.parametrize("scheme", ["nats", "tls"])
def test_a_server_that_says_nothing(scheme, monkeypatch):
    monkeypatch.setattr("heraldry.messages.transports.nats.CONNECT_SECONDS", 0.3)

    async def main(port: int):
        async with NatsTransport(connection(address=f"{scheme}://127.0.0.1:{port}")):
            pass

    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        with pytest.raises(TransportError, match=f"{scheme}://127.0.0.1:{port}: "):
            asyncio.run(main(port))
        gc.collect()


def test_websockets_need_aiohttp():
    async def main():
        async with NatsTransport(connection(address="ws://127.0.0.1:1")):
            pass

    with pytest.raises(TransportError, match="aiohttp"):
        asyncio.run(main())
