"""Credentials come from the environment or a callback, and show up nowhere."""

from __future__ import annotations

import asyncio
import json
import logging
import pickle
import socket
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from heraldry.cli import main
from heraldry.dialects.load import load_bytes
from heraldry.errors import HeraldryError, TransportError
from heraldry.messages.catalog import MessageCatalog
from heraldry.messages.protocols.http import HttpMessage
from heraldry.messages.transports.address import addresses
from heraldry.messages.transports.secrets import Credentials, Secrets, from_environment
from heraldry.messages.transports.transport import Connection
from heraldry.messages.transports.transport_table import open_transport
from heraldry.model.endpoint import Endpoint
from heraldry.model.xid import Xid

PASSWORD, TOKEN, IN_CATALOG = "hunter2-of-test", "token3-of-test", "catalog4-of-test"
PROTOCOLS = {
    "HTTP/1.1": "http",
    "KAFKA": "kafka",
    "MQTT/5.0": "mqtt",
    "MQTT/3.1.1": "mqtt",
    "AMQP/1.0": "amqp",
    "NATS": "nats",
}


def endpoint(*urls: str, protocol: str = "MQTT/5.0") -> Endpoint:
    """An endpoint whose catalog tries to bring credentials of its own."""
    own = {"username": IN_CATALOG, "password": IN_CATALOG, "token": IN_CATALOG}
    kafka = {"saslpassword": IN_CATALOG, "saslusername": IN_CATALOG}
    return Endpoint(
        xid=Xid("endpoints", "shop"),
        usage=("producer", "consumer"),
        protocol=protocol,
        addresses=urls,
        options={"topic": "t", "subject": "s", **own, **kafka},
    )


def secrets(_: Endpoint) -> Credentials:
    return Credentials(username="me", password=PASSWORD, token=TOKEN)


def traces(error: HeraldryError) -> str:
    """All that could be shown, logged or shipped of an error."""
    texts = (str(error), repr(error), *traceback.format_exception(error))
    return "\n".join(texts) + repr(pickle.dumps(error)) + repr(vars(error))


def assert_unseen(text: str) -> None:
    for secret in (PASSWORD, TOKEN, IN_CATALOG):
        assert secret not in text


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A loopback port that answers nobody: it is taken, but not listened to."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


def test_credentials_do_not_show_themselves() -> None:
    credentials = secrets(endpoint())
    assert_unseen(f"{credentials} {credentials!r}")
    connection = Connection(
        endpoint=endpoint(f"mqtt://me:{IN_CATALOG}@h"),
        usage="producer",
        secrets=secrets,
        address=f"mqtt://me:{PASSWORD}@h",
    )
    assert_unseen(repr(connection))


@pytest.mark.parametrize(
    "url",
    [
        pytest.param(f"mqtt://me:{PASSWORD}@h:1", id="user and password"),
        pytest.param(f"mqtt://{PASSWORD}@h:1", id="user only"),
        pytest.param(f"mqtt://:{PASSWORD}@h:1", id="password only"),
        pytest.param(f"me:{PASSWORD}@h:1", id="no scheme"),
        pytest.param(f"mqtt://me:{PASSWORD}@h:port", id="no port"),
        pytest.param(f"mqtt://me:{PASSWORD}@[::1", id="no address"),
        pytest.param(f"gopher://me:{PASSWORD}@h:1", id="other scheme"),
        pytest.param(f"mqtt://me:{PASSWORD}@{{host}}", id="placeholder without value"),
        pytest.param(f"mqtt://me:{PASSWORD}@{{host", id="no template"),
        pytest.param(f"mqtt://me:{PASSWORD}/x@h:1", id="slash in the password"),
        pytest.param("mqtt://{who}@h:1", id="by a value"),
        pytest.param(f"gopher://h/?sig={PASSWORD}", id="query of another scheme"),
    ],
)
@pytest.mark.parametrize("given", [pytest.param(False, id="catalog"), pytest.param(True, id="own")])
def test_an_address_with_credentials_is_refused_and_not_shown(url: str, given: bool) -> None:
    connection = Connection(
        endpoint=endpoint() if given else endpoint(url),
        usage="producer",
        values={"who": f"me:{PASSWORD}"},
        address=url if given else None,
    )
    with pytest.raises(TransportError) as caught:
        addresses(connection, {"mqtt": 1883})
    assert_unseen(traces(caught.value))


def test_an_at_sign_in_a_path_is_no_user() -> None:
    connection = Connection(endpoint=endpoint("mqtt://h/a@b"), usage="producer")
    (found,) = addresses(connection, {"mqtt": 1883})
    assert (found.host, found.path) == ("h", "a@b")


def test_the_environment_is_asked_for_the_endpoint_first() -> None:
    variables = {"HERALDRY_PASSWORD": "all", "HERALDRY_SHOP_PASSWORD": "own", "HERALDRY_TOKEN": ""}
    found = from_environment(endpoint(), variables)
    assert found == Credentials(password="own")
    assert from_environment(endpoint(), {}) == Credentials()


def told_by(connection: Connection) -> TransportError:
    """What a transport says where nobody listens."""

    async def attempt() -> None:
        async with open_transport(connection) as transport:
            assert_unseen(repr(transport) + str(transport))
            await transport.publish(HttpMessage(method="POST", path="/"))

    with pytest.raises(TransportError) as caught:
        asyncio.run(attempt())
    return caught.value


@pytest.mark.parametrize(
    "protocol",
    [
        *(pytest.param(name, id=name) for name in PROTOCOLS if name != "AMQP/1.0"),
        pytest.param("AMQP/1.0", marks=pytest.mark.amqp, id="AMQP/1.0"),
    ],
)
def test_a_transport_that_cannot_connect_shows_no_credential(
    protocol: str,
    closed_port: int,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("HERALDRY_USERNAME", "me")
    monkeypatch.setenv("HERALDRY_SHOP_PASSWORD", PASSWORD)
    monkeypatch.setenv("HERALDRY_TOKEN", TOKEN)
    caplog.set_level(logging.DEBUG)
    own = endpoint(f"{PROTOCOLS[protocol]}://127.0.0.1:{closed_port}", protocol=protocol)
    error = told_by(Connection(endpoint=own, usage="producer"))
    assert_unseen(traces(error))
    assert_unseen(caplog.text + "".join(capfd.readouterr()))


@pytest.mark.parametrize(
    ("protocol", "greeting", "refusal"),
    [
        pytest.param("MQTT/5.0", b"", b"", id="MQTT"),
        pytest.param(
            "NATS",
            b'INFO {"auth_required":true,"max_payload":1000}\r\n',
            b"-ERR 'Authorization Violation'\r\n",
            id="NATS",
        ),
    ],
)
def test_what_is_sent_comes_from_the_callback_and_not_from_the_catalog(
    protocol: str, greeting: bytes, refusal: bytes
) -> None:
    heard = bytearray()

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(greeting)
        heard.extend(await reader.read(10_000))
        writer.write(refusal)
        writer.close()

    async def attempt(asked: Secrets) -> None:
        async with await asyncio.start_server(listen, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            url = f"{PROTOCOLS[protocol]}://127.0.0.1:{port}"
            own = endpoint(url, protocol=protocol)
            with pytest.raises(TransportError):
                await open_transport(
                    Connection(endpoint=own, usage="producer", secrets=asked)
                ).__aenter__()

    asyncio.run(attempt(lambda _: Credentials()))
    assert heard
    assert IN_CATALOG.encode() not in heard
    asyncio.run(attempt(lambda _: Credentials(username="me", password=PASSWORD)))
    assert PASSWORD.encode() in heard
    assert IN_CATALOG.encode() not in heard


def test_debugging_a_command_shows_no_credential(
    closed_port: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HERALDRY_USERNAME", "me")
    monkeypatch.setenv("HERALDRY_PASSWORD", PASSWORD)
    for url in (f"mqtt://127.0.0.1:{closed_port}", f"mqtt://me:{IN_CATALOG}@127.0.0.1:1"):
        arguments = ["--debug", "publish", "--catalog", shop(tmp_path, url), "--endpoint", "shop"]
        result = CliRunner().invoke(main, [*arguments, "--sample"])
        assert result.exit_code == 2, result.output
        assert "Traceback" in result.stderr
        assert_unseen(result.output)


def test_checking_a_catalog_shows_no_credential() -> None:
    url = f"https://me:{IN_CATALOG}@h/x?sig={IN_CATALOG}"
    message = {"basemessage": url, "dataschemauri": url, "dataschemaformat": "JSONSchema/draft-07"}
    place = {"bootstrap.servers": f"me:{IN_CATALOG}@h:1", "sasl.password": IN_CATALOG}
    own = {
        "usage": ["producer"],
        "protocol": "KAFKA",
        "protocoloptions": {"endpoints": [place, {"url": url}], "authorization": [{"key": url}]},
        "messagegroups": [url],
        "messages": {"m": message, "n": {"dataschemaxid": "/schemagroups/g/schemas/s"}},
    }
    schemas = {"g": {"schemas": {"s": {"versions": {"1": {"schemaurl": url}}}}}}
    document = {"endpoints": {"shop": own}, "schemagroups": schemas}
    opened = MessageCatalog(load_bytes(json.dumps(document).encode(), "shop.json"))
    findings = opened.check()
    assert {"base-external", "schema-external", "endpoint-credential"} <= {
        one.rule for one in findings
    }
    assert_unseen(repr(findings))


def shop(folder: Path, url: str) -> str:
    """A catalog with one MQTT endpoint that has one message."""
    options: dict[str, Any] = {"endpoints": [{"url": url}], "password": IN_CATALOG}
    message = {"protocol": "MQTT/5.0", "protocoloptions": {"topic_name": "t"}}
    own = {
        "endpointid": "shop",
        "usage": ["producer"],
        "protocol": "MQTT/5.0",
        "protocoloptions": options,
        "messages": {"m": {"messageid": "m", **message}},
    }
    path = folder / "shop.xreg.json"
    path.write_text(json.dumps({"endpoints": {"shop": own}}))
    return str(path)
