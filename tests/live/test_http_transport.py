"""HTTP: requests sent to uvicorn."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from heraldry.errors import TransportError
from heraldry.messages.protocols.http import HttpMessage
from heraldry.messages.transports import http
from heraldry.messages.transports.secrets import Credentials
from heraldry.messages.transports.transport import Delivery, Usage
from tests.live.http_wire import listener, publish, run, take, transport
from tests.live.servers.certificate import Certificate, make_certificate
from tests.live.servers.server import free_port
from tests.live.servers.uvicorn_sink import Sink, sink

SECRET = "open sesame"


@pytest.fixture(scope="module")
def uvicorn() -> Iterator[Sink]:
    with sink() as found:
        yield found


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return make_certificate(tmp_path_factory.mktemp("certificate"))


def last(found: Sink) -> dict[str, Any]:
    return found.requests[-1]


def headers(request: dict[str, Any], name: str) -> list[str]:
    return [v.decode() for n, v in request["headers"] if n == name.encode()]


def test_every_part_of_a_request_arrives(uvicorn: Sink) -> None:
    message = HttpMessage(
        method="PUT",
        path="/orders/größe%2F1",
        query=(("a", "1 & 2"), ("a", "ß"), ("empty", "")),
        headers=(("X-A", "1"), ("x-a", "2"), ("Größe".lower()[:2] + "x", "Straße"), ("E", "")),
        body=bytes(range(256)),
    )
    run(publish(f"{uvicorn.address}/in/?z=9", message))
    got = last(uvicorn)
    assert (got["method"], got["body"]) == ("PUT", message.body)
    assert got["raw_path"] == b"/in/orders/gr%C3%B6%C3%9Fe%2F1"
    assert got["query_string"] == b"a=1%20%26%202&a=%C3%9F&empty=&z=9"
    assert headers(got, "x-a") == ["1", "2"]
    assert headers(got, "grx") == ["Straße"]
    assert headers(got, "e") == [""]


def test_the_endpoint_fills_what_a_message_leaves_open(uvicorn: Sink) -> None:
    options = {
        "method": "PATCH",
        "headers": [
            {"name": "X-Shop", "value": "{shop}"},
            {"name": "X-Shop", "value": "two"},
            {"name": "Content-Type", "value": "text/plain"},
        ],
        "query": {"shop": "{shop}", "operation": "send"},
    }
    own = HttpMessage(
        method="POST", query=(("shop", "own"),), headers=(("content-type", "application/json"),)
    )

    async def work() -> None:
        async with transport(uvicorn.address, "producer", **options) as writer:
            await writer.publish(HttpMessage(), {"shop": "lisbon"})
            await writer.publish(own, {"shop": "lisbon"})

    run(work())
    first, second = uvicorn.requests[-2:]
    assert (first["method"], second["method"]) == ("PATCH", "POST")
    assert first["query_string"] == b"shop=lisbon&operation=send"
    assert second["query_string"] == b"shop=own&operation=send"
    assert headers(first, "x-shop") == ["lisbon", "two"]
    assert headers(first, "content-type") == ["text/plain"]
    assert headers(second, "content-type") == ["application/json"]


def test_framing_is_not_for_the_message_to_say(uvicorn: Sink) -> None:
    framing = (("Host", "other"), ("Content-Length", "3"), ("Transfer-Encoding", "chunked"))
    run(publish(uvicorn.address, HttpMessage(headers=framing, body=b"12345")))
    got = last(uvicorn)
    assert got["body"] == b"12345"
    assert headers(got, "host") == [uvicorn.address.removeprefix("http://")]


def test_connections_are_used_again(uvicorn: Sink) -> None:
    run(publish(uvicorn.address, *[HttpMessage(body=b"x")] * 5))
    assert len({tuple(one["client"]) for one in uvicorn.requests[-5:]}) == 1


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        pytest.param((400, b"no\n such order"), "400 Bad Request: no such order$", id="refused"),
        pytest.param((401, b""), r"401 Unauthorized \(check the credentials\)$", id="credentials"),
        pytest.param((307, b""), "307", id="elsewhere"),
        pytest.param((503, b"x" * 500_000), "503 Service Unavailable: x{200}$", id="long"),
    ],
)
def test_an_answer_other_than_2xx(uvicorn: Sink, answer: tuple[int, bytes], told: str) -> None:
    uvicorn.answers["/refused"] = answer

    async def work() -> None:
        async with transport(uvicorn.address, "producer") as writer:
            with pytest.raises(TransportError, match=told):
                await writer.publish(HttpMessage(path="/refused", body=b"x"))
            await writer.publish(HttpMessage(path="/fine"))

    run(work())


@pytest.mark.parametrize(
    ("message", "told"),
    [
        pytest.param(HttpMessage(status="200"), "is a response", id="a response"),
        pytest.param(HttpMessage(method="GE T"), "not a method", id="method"),
        pytest.param(HttpMessage(path="/a/../b"), r"'\.\.'", id="a path that climbs"),
        pytest.param(HttpMessage(path="/a/%2E%2e/b"), r"'\.\.'", id="one that hides it"),
        pytest.param(HttpMessage(headers=(("a b", "1"),)), "not a name", id="header name"),
        pytest.param(HttpMessage(headers=(("a", "1\r\nb: 2"),)), "control", id="header value"),
    ],
)
def test_what_cannot_be_sent(uvicorn: Sink, message: HttpMessage, told: str) -> None:
    before = len(uvicorn.requests)
    with pytest.raises(TransportError, match=told):
        run(publish(uvicorn.address, message))
    assert len(uvicorn.requests) == before


def test_the_next_address_is_tried(uvicorn: Sink) -> None:
    gone = f"http://127.0.0.1:{free_port()}"
    run(publish((gone, uvicorn.address), HttpMessage(body=b"second")))
    assert last(uvicorn)["body"] == b"second"
    with pytest.raises(TransportError, match=f"no connection to {gone}"):
        run(publish(gone, HttpMessage()))


def test_a_server_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "ANSWER_SECONDS", 0.2)

    async def work() -> None:
        async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read()
            writer.close()

        server = await asyncio.start_server(silent, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        async with server:
            with pytest.raises(TransportError, match="no answer from"):
                await publish(f"http://127.0.0.1:{port}", HttpMessage())
            await asyncio.sleep(0.05)

    run(work())


@pytest.mark.parametrize(
    ("secrets", "options", "found"),
    [
        pytest.param(
            Credentials(username="ada", password=SECRET),
            {},
            "Basic YWRhOm9wZW4gc2VzYW1l",
            id="basic",
        ),
        pytest.param(Credentials(token=SECRET), {}, f"Bearer {SECRET}", id="bearer"),
        pytest.param(Credentials(token=SECRET), {"apikeyname": "X-Key"}, SECRET, id="key"),
        pytest.param(
            Credentials(token=SECRET),
            {"apikeyname": "key", "apikeyin": "query"},
            "key=open%20sesame",
            id="key in the query",
        ),
        pytest.param(
            Credentials(username="ada", password=SECRET),
            {"plainscheme": "query", "plainusernamefield": "u", "plainpasswordfield": "p"},
            "u=ada&p=open%20sesame",
            id="password in the query",
        ),
    ],
)
def test_credentials(
    uvicorn: Sink,
    secrets: Credentials,
    options: dict[str, Any],
    found: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """They arrive, a listener with the same ones takes them, and nothing else shows them."""
    caplog.set_level(logging.DEBUG)
    mine = HttpMessage(headers=(("Authorization", "mine"), ("x-key", "mine")), query=(("u", "x"),))
    run(publish(uvicorn.address, mine, secrets=secrets, **options))
    got = last(uvicorn)
    sent = [*headers(got, "authorization"), *headers(got, "x-key"), got["query_string"].decode()]
    assert any(one == found or one.endswith(f"&{found}") for one in sent)

    async def work() -> list[Delivery]:
        async with listener(secrets=secrets, **options) as (address, reader):
            with pytest.raises(TransportError, match=r"401.*check the credentials"):
                await publish(address, HttpMessage())
            wrong = Credentials(username="ada", password="x") if secrets.username else Credentials()
            with pytest.raises(TransportError, match="401"):
                await publish(address, HttpMessage(), secrets=wrong, **options)
            sending = asyncio.create_task(publish(address, mine, secrets=secrets, **options))
            delivery = await take(reader)
            await sending
            return [delivery]

    (delivery,) = run(work())
    shown = repr(delivery.raw) + caplog.text
    assert SECRET not in shown
    assert found not in shown


def test_tls(certificate: Certificate) -> None:
    files = {"ssl_certfile": certificate.file, "ssl_keyfile": certificate.key}
    with sink(**files) as found:
        run(publish(found.address, HttpMessage(), secrets=Credentials(ca_file=certificate.file)))
        with pytest.raises(TransportError, match="CERTIFICATE_VERIFY_FAILED"):
            run(publish(found.address, HttpMessage()))
        assert len(found.requests) == 1


@pytest.mark.parametrize("usage", ["producer", "consumer"])
def test_a_transport_is_for_one_use(usage: Usage) -> None:
    async def work() -> None:
        async with transport(f"http://127.0.0.1:{free_port()}", usage) as one:
            if usage == "producer":
                await take(one)
            await one.publish(HttpMessage())

    with pytest.raises(TransportError, match="opened to"):
        run(work())
