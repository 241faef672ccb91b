"""HTTP listeners: what is sent comes, is answered, and is kept within limits."""

from __future__ import annotations

import asyncio
import json
import ssl
from contextlib import aclosing
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings

from heraldry.errors import TransportError
from heraldry.messages.protocols.http import HttpMessage
from heraldry.messages.transports import http_consumer
from heraldry.messages.transports.http_listener import Limits
from heraldry.messages.transports.secrets import Credentials
from heraldry.messages.transports.transport import Delivery
from tests.live.http_wire import listener, publish, run, send, take, transport
from tests.live.servers.certificate import Certificate, make_certificate
from tests.messages.wires import raws

SECRET = "open sesame"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return make_certificate(tmp_path_factory.mktemp("certificate"))


def test_drawn_messages_come() -> None:
    with asyncio.Runner() as runner:
        opened = listener("/events")
        address, reader = runner.run(opened.__aenter__())
        writer = transport(address, "producer")
        runner.run(writer.__aenter__())

        @settings(max_examples=50, suppress_health_check=[HealthCheck.too_slow])
        @given(raws("HTTP"))
        def check(drawn: HttpMessage) -> None:
            message = replace(drawn, status=None)

            async def there_and_back() -> Delivery:
                sending = asyncio.create_task(writer.publish(message))
                receiving = asyncio.create_task(take(reader))
                await asyncio.wait((sending, receiving), return_when=asyncio.FIRST_EXCEPTION)
                if sending.done() and sending.exception():
                    receiving.cancel()
                    await asyncio.gather(receiving, return_exceptions=True)
                await sending
                return receiving.result()

            try:
                found = runner.run(there_and_back()).raw
            except TransportError as error:
                assert "header" in str(error)  # noqa: PT017
                return
            assert (found.method, found.query) == (message.method or "POST", message.query)
            assert (found.body or b"") == (message.body or b"")
            sent = [(name, value.strip(" \t")) for name, value in message.headers]
            assert [pair for pair in found.headers if pair in sent] == sent

        check()
        runner.run(writer.__aexit__(None, None, None))
        runner.run(opened.__aexit__(None, None, None))


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(None, id="none"),
        pytest.param(bytes(range(256)), id="binary"),
        pytest.param(b"x" * (1 << 20), id="1 MB"),
    ],
)
def test_bodies_come(body: bytes | None) -> None:
    async def work() -> Delivery:
        async with listener() as (address, reader):
            sending = asyncio.create_task(publish(address, HttpMessage(body=body, path="/a b/ß")))
            delivery = await take(reader)
            await sending
            return delivery

    found = run(work()).raw
    assert found.body == body
    assert found.path == "/a%20b/%C3%9F"


@pytest.mark.parametrize(
    ("body", "kind", "expected"),
    [
        pytest.param(b"", "text/plain", b"", id="empty, with a type"),
        pytest.param(b"", None, None, id="empty, without one"),
    ],
)
def test_an_empty_body_needs_a_type(body: bytes, kind: str | None, expected: bytes | None) -> None:
    typed = (("content-type", kind),) if kind else ()

    async def work() -> Delivery:
        async with listener() as (address, reader):
            message = HttpMessage(body=body, headers=typed)
            sending = asyncio.create_task(publish(address, message))
            delivery = await take(reader)
            await sending
            return delivery

    assert run(work()).raw.body == expected


def test_a_rejected_message_is_a_problem_for_its_sender() -> None:
    async def work() -> bytes:
        async with listener() as (address, reader):
            request = (
                b"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
            )
            answer = asyncio.create_task(send(address, request))
            await take(reader, "reject")
            return await answer

    head, _, body = run(work()).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 422 ")
    assert b"application/problem+json" in head
    assert json.loads(body)["status"] == 422


def test_whoever_waits_when_the_consumer_ends_comes_again() -> None:
    async def work() -> None:
        async with listener() as (address, _):
            sending = [
                asyncio.create_task(publish(address, HttpMessage(body=b"x"))) for _ in range(5)
            ]
            idle = await asyncio.open_connection("127.0.0.1", int(address.rpartition(":")[2]))
            await asyncio.sleep(0.3)
        for one in await asyncio.gather(*sending, return_exceptions=True):
            assert isinstance(one, TransportError)
            assert "503" in str(one)
        idle[1].close()
        await idle[1].wait_closed()
        with pytest.raises(TransportError, match="no connection"):
            await publish(address, HttpMessage())

    run(work())


def test_a_message_that_is_not_settled_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_consumer, "ANSWER_SECONDS", 0.2)

    async def work() -> Delivery:
        async with listener() as (address, reader):
            with pytest.raises(TransportError, match="503"):
                await publish(address, HttpMessage(body=b"late"))
            sending = asyncio.create_task(publish(address, HttpMessage(body=b"in time")))
            delivery = await take(reader)
            await delivery.reject()  # once is enough
            await sending
            return delivery

    assert run(work()).raw.body == b"in time"


def test_many_senders_at_once() -> None:
    async def work() -> set[bytes]:
        found = set()
        async with listener() as (address, reader), transport(address, "producer") as writer:
            bodies = [HttpMessage(body=str(n).encode()) for n in range(300)]
            sending = asyncio.gather(*map(writer.publish, bodies))
            async with aclosing(reader.consume()) as deliveries:
                async for delivery in deliveries:
                    found.add(delivery.raw.body)
                    await delivery.ack()
                    if len(found) == 300:
                        break
            await sending
        return found

    assert run(work()) == {str(n).encode() for n in range(300)}


def test_a_listener_with_tls(certificate: Certificate) -> None:
    secrets = Credentials(
        certificate_file=certificate.file, key_file=certificate.key, ca_file=certificate.file
    )

    async def work() -> Delivery:
        async with listener(scheme="https", secrets=secrets) as (address, reader):
            trusting = Credentials(ca_file=certificate.file)
            sending = asyncio.create_task(publish(address, HttpMessage(), secrets=trusting))
            delivery = await take(reader)
            await sending
            with pytest.raises(ssl.SSLError):
                await asyncio.open_connection(
                    *("127.0.0.1", int(address.rpartition(":")[2])),
                    ssl=ssl.create_default_context(),
                )
            return delivery

    assert run(work()).raw.method == "POST"


@pytest.mark.parametrize(
    ("address", "told"),
    [
        pytest.param("http://192.0.2.1:8080", "cannot listen", id="of another machine"),
        pytest.param("https://127.0.0.1:8443", "needs a certificate", id="without a certificate"),
    ],
)
def test_where_nothing_can_listen(address: str, told: str) -> None:
    with pytest.raises(TransportError, match=told):
        run(transport(address, "consumer").__aenter__())


GET = b"GET /events HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
POST = b"POST /events HTTP/1.1\r\nHost: x\r\n"


@pytest.mark.parametrize(
    ("request_bytes", "status", "told"),
    [
        pytest.param(GET.replace(b"/events", b"/other") + b"\r\n", 404, "", id="elsewhere"),
        pytest.param(GET.replace(b"/events", b"/eventsx") + b"\r\n", 404, "", id="nearly there"),
        pytest.param(GET.replace(b"/events", b"/events?a=%FF") + b"\r\n", 400, "", id="query"),
        pytest.param(GET.replace(b"GET", b"TRACE") + b"\r\n", 405, "Allow: POST", id="method"),
        pytest.param(b"nonsense\r\n\r\n", 400, "", id="no HTTP"),
        pytest.param(POST + b"Content-Length: x\r\n\r\n", 400, "", id="no length"),
        pytest.param(POST + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n", 400, "", id="digits"),
        pytest.param(
            POST + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\n", 400, "", id="two lengths"
        ),
        pytest.param(POST + b"Content-Length: 2000\r\n\r\n", 413, "1000 bytes", id="large"),
        pytest.param(
            POST + b"Transfer-Encoding: chunked\r\n\r\n7d0\r\n" + b"x" * 2000,
            413,
            "1000 bytes",
            id="large in chunks",
        ),
        pytest.param(POST + b"a: b\r\n" * 30 + b"\r\n", 431, "Too many headers", id="headers"),
        pytest.param(POST + b"a: " + b"b" * 5000, 431, "", id="a long header"),
    ],
)
def test_what_a_listener_refuses(request_bytes: bytes, status: int, told: str) -> None:
    limits = Limits(headers=20, head_bytes=4000, body_bytes=1000)

    async def work() -> bytes:
        async with listener("/events", limits) as (address, _):
            return await send(address, request_bytes)

    answer = run(work()).decode()
    assert answer.startswith(f"HTTP/1.1 {status} ")
    assert told in answer


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"POST /events HT", id="half a head"),
        pytest.param(POST + b"Content-Length: 10\r\n\r\nhalf", id="half a body"),
    ],
)
def test_slow_senders_are_left(data: bytes) -> None:
    limits = Limits(head_seconds=0.2, body_seconds=0.2)

    async def work() -> bytes:
        async with listener("/events", limits) as (address, _):
            return await send(address, data)

    assert run(work()) == b""


def test_too_many_connections() -> None:
    async def work() -> tuple[bytes, Delivery]:
        async with listener("/events", Limits(connections=1)) as (address, reader):
            port = int(address.rpartition(":")[2].partition("/")[0])
            _, first = await asyncio.open_connection("127.0.0.1", port)
            await asyncio.sleep(0.05)
            refused = await send(address, b"")
            first.close()
            await first.wait_closed()
            await asyncio.sleep(0.05)
            sending = asyncio.create_task(publish(address, HttpMessage()))
            delivery = await take(reader)
            await sending
            return refused, delivery

    refused, delivery = run(work())
    assert refused.startswith(b"HTTP/1.1 503 ")
    assert delivery.raw.path == "/"


def test_the_handshake_of_webhooks() -> None:
    request = b"OPTIONS /events HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"

    async def work() -> list[str]:
        async with listener("/events", secrets=Credentials(token=SECRET)) as (address, _):
            asked = b"WebHook-Request-Origin: shop.example\r\nWebHook-Request-Rate: 120\r\n"
            return [
                (await send(address, request + more + b"\r\n")).decode() for more in (asked, b"")
            ]

    granted, plain = run(work())
    assert granted.startswith("HTTP/1.1 200 ")
    assert "WebHook-Allowed-Origin: *" in granted
    assert "WebHook-Allowed-Rate: *" in granted
    assert "Allow: POST" in granted
    assert "WebHook" not in plain


def test_one_connection_carries_many_requests() -> None:
    """Also the next one sent early, a sender that waits for 100, chunks, and proxies' targets."""
    data = (
        b"POST /events/a?x=1 HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n1"
        b"PUT http://x/events/b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"1\r\n2\r\n0\r\n\r\n"
        b"POST /events HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 1\r\n"
        b"Connection: close\r\nX-Latin: \xe9\r\n\r\n3"
    )

    async def work() -> tuple[bytes, list[HttpMessage]]:
        async with listener("/events") as (address, reader):
            answers = asyncio.create_task(send(address, data))
            found = [(await take(reader)).raw for _ in range(3)]
            return await answers, found

    answers, found = run(work())
    assert answers.count(b"HTTP/1.1 204 ") == 3
    assert [(one.method, one.path, one.query, one.body) for one in found] == [
        ("POST", "/a", (("x", "1"),), b"1"),
        ("PUT", "/b", (), b"2"),
        ("POST", "/", (), b"3"),
    ]
    assert ("X-Latin", "é") in found[2].headers


def test_cancelling_a_consumer_ends_cleanly() -> None:
    async def work() -> None:
        async with listener() as (address, reader):
            waiting = asyncio.create_task(take(reader))
            await asyncio.sleep(0.05)
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
            sending = asyncio.create_task(publish(address, HttpMessage()))
            await take(reader)
            await sending

    run(work())
