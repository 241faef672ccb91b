"""AMQP without a server: the bytes of messages, what options mean, and what is refused."""

from __future__ import annotations

import asyncio
import struct
import time
from contextlib import suppress
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.skips import NO_AMQP

pytest.importorskip("proton", reason=NO_AMQP)

from proton import Array, Data, Described, Link, Message, Terminus, symbol, ulong

from heraldry.errors import MessageError, TransportError
from heraldry.messages.protocols.amqp import AmqpMessage
from heraldry.messages.transports.amqp import AmqpTransport, connect
from heraldry.messages.transports.amqp_codec import decode, encode
from heraldry.messages.transports.amqp_options import AmqpOptions, read_options
from heraldry.messages.transports.secrets import Credentials
from heraldry.messages.transports.transport import Connection, Usage
from heraldry.model.endpoint import Endpoint
from heraldry.model.formats import fold
from heraldry.model.xid import Xid
from tests.effort import effort, thorough
from tests.messages.wires import raws

pytestmark = pytest.mark.amqp

MESSAGES = raws("AMQP/1.0")


def connection(
    usage: Usage = "consumer",
    addresses: tuple[str, ...] = ("amqp://server/q",),
    values: dict[str, str] | None = None,
    secrets: Credentials | None = None,
    **options: Any,
) -> Connection:
    endpoint = Endpoint(
        xid=Xid.parse("/endpoints/desk"),
        protocol="AMQP/1.0",
        addresses=addresses,
        options={fold(name): value for name, value in options.items()},
    )
    known = secrets or Credentials()
    return Connection(endpoint=endpoint, usage=usage, values=values or {}, secrets=lambda _: known)


def read(usage: Usage = "consumer", values: dict[str, str] | None = None, **given: Any):
    return read_options(connection(usage, values=values, **given))


def section(code: int | str, value: Any) -> bytes:
    data = Data()
    name = ulong(code) if isinstance(code, int) else symbol(code)
    data.put_object(Described(name, value))
    return data.encode()


def nested(depth: int) -> bytes:
    """A body of lists in lists."""
    heads, size = [], 1
    for _ in range(depth):
        heads.append(b"\xd0" + struct.pack(">II", size + 4, 1))
        size += 9
    return b"\x00\x53\x77" + b"".join(reversed(heads)) + b"\x40"


# --- the bytes of messages


@thorough
@settings(max_examples=effort(300, soak=2000))
@given(MESSAGES)
def test_decode_is_the_inverse_of_encode(raw):
    found = decode(encode(raw))
    assert found == raw
    assert repr(found) == repr(raw)  # also the types: 1 is not True, nor 1.0


@thorough
@settings(max_examples=effort(300, soak=2000))
@given(MESSAGES, st.data())
def test_cut_and_flipped_bytes_are_a_message_or_an_error(raw, data):
    content = bytearray(encode(raw))
    place = data.draw(st.integers(0, len(content) - 1))
    if data.draw(st.booleans()):
        del content[place:]
    else:
        content[place] = data.draw(st.integers(0, 255))
    with suppress(MessageError):
        decode(bytes(content))


@given(st.binary(max_size=60))
def test_any_bytes_are_a_message_or_an_error(content):
    for one in (content, b"\x00\x53\x73" + content, b"\x00\x53\x77" + content):
        with suppress(MessageError):
            decode(one)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"\x00", id="cut"),
        pytest.param(b"\x40", id="no-section"),
        pytest.param(section(0x79, "x"), id="unknown-section"),
        pytest.param(section("amqp:unknown:list", ["x"]), id="unknown-name"),
        pytest.param(section(0x75, ulong(2**40)), id="data-that-is-a-number"),
        pytest.param(section(0x75, "x"), id="data-that-is-a-text"),
        pytest.param(section(0x76, "x"), id="sequence-that-is-none"),
        pytest.param(section(0x74, ["x"]), id="map-that-is-a-list"),
        pytest.param(section(0x73, None), id="properties-of-nothing"),
        pytest.param(section(0x75, b"x") + section(0x77, None), id="two-kinds-of-body"),
        pytest.param(section(0x77, 1) + section(0x77, 2), id="two-values"),
        pytest.param(section(0x77, Described(ulong(1), None))[:-1] + b"\xff", id="no-type"),
        pytest.param(b"\x00\x53\x74\xc1\x04\x02\x45\x45\x40", id="key-that-is-a-list"),
        pytest.param(
            b"\x00\x53\x73\xc0\x0b\x01\xa1\x08\xff\xff\xff\xff\xff\xff\xff\xff", id="utf-8"
        ),
        pytest.param(b"\x00\x53\x77\x83\x7f\xff\xff\xff\xff\xff\xff\xff", id="time-too-late"),
        pytest.param(b"\x00\x53\x77\x74\x00\x00\x00\x01", id="decimal"),
        pytest.param(nested(500), id="nested-too-deep"),
        pytest.param(nested(30_000), id="nested-far-too-deep"),
    ],
)
def test_what_is_no_message(content):
    began = time.monotonic()
    with pytest.raises(MessageError, match="is not an AMQP message"):
        decode(content)
    assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    ("content", "body"),
    [
        pytest.param(b"", None, id="nothing"),
        pytest.param(section(0x77, None), None, id="null"),
        pytest.param(section(0x77, "Füße"), "Füße".encode(), id="text"),
        pytest.param(section(0x77, b"\xff"), b"\xff", id="binary"),
        pytest.param(section(0x77, {"a": [1, None]}), b'{"a":[1,null]}', id="map"),
        pytest.param(section(0x75, b"a") + section(0x75, b"b"), b"ab", id="two-data-sections"),
        pytest.param(section(0x75, b""), b"", id="empty-data"),
        pytest.param(section(0x76, [1]) + section(0x76, ["x"]), b'[1,"x"]', id="sequences"),
        pytest.param(section(0x77, Array(None, Data.INT, 1, 2)), b"[1,2]", id="array"),
        pytest.param(section("amqp:data:binary", b"x"), b"x", id="section-by-name"),
    ],
)
def test_bodies(content, body):
    assert decode(content) == AmqpMessage(body=body)


def test_what_protons_own_class_writes():
    message = Message(
        body="text",
        id=UUID(int=1),
        subject="s",
        ttl=1.5,
        durable=True,
        priority=4,
        annotations={symbol("a"): 1},
        instructions={symbol("b"): 2},
        properties={"c": 3.5},
    )
    found = decode(message.encode())
    assert dict(found.header) == {"durable": True, "ttl": 1500}
    assert (found.message_annotations, found.delivery_annotations) == ((("a", 1),), (("b", 2),))
    assert found.application_properties == (("c", 3.5),)
    assert dict(found.properties)["message-id"] == UUID(int=1)
    assert found.body == b"text"


@pytest.mark.parametrize(
    "sections",
    [
        pytest.param({"header": (("priority", 256),)}, id="priority"),
        pytest.param({"header": (("ttl", -1),)}, id="ttl"),
        pytest.param({"header": (("speed", 1),)}, id="unknown-member"),
        pytest.param({"properties": (("message-id", -1),)}, id="message-id"),
        pytest.param({"application_properties": (("a", object()),)}, id="object"),
        pytest.param({"application_properties": (("a", 2**64),)}, id="too-large"),
        pytest.param({"message_annotations": (("ü", 1),)}, id="symbol"),
    ],
)
def test_what_cannot_be_sent(sections):
    with pytest.raises(MessageError, match="cannot be an AMQP message"):
        encode(AmqpMessage(**sections))


# --- options


def test_what_an_endpoint_without_options_means():
    assert read() == AmqpOptions(
        node="",
        durable=False,
        dynamic=False,
        connection_properties={},
        connection_capabilities=(),
        link_properties={},
        node_capabilities=(),
        filters={},
        mode=Terminus.DIST_MODE_MOVE,
        durability=None,
        expiry=None,
        timeout=None,
        sending=Link.SND_UNSETTLED,
        receiving=Link.RCV_FIRST,
    )


@pytest.mark.parametrize(
    ("given", "name", "expected"),
    [
        pytest.param({"node": "{a}/b", "values": {"a": "1"}}, "node", "1/b", id="node"),
        pytest.param({"durable": "true"}, "durable", True, id="durable"),
        pytest.param({"dynamic": True}, "dynamic", True, id="dynamic"),
        pytest.param(
            {"link_properties": {"a": "{b}"}, "values": {"b": "1"}},
            "link_properties",
            {"a": "1"},
            id="link-properties",
        ),
        pytest.param(
            {"connection-properties": {"a": "1"}},
            "connection_properties",
            {"a": "1"},
            id="connection-properties",
        ),
        pytest.param(
            {"source-filters": {"f": "a = '{b}'", "g": 1}, "values": {"b": "x"}},
            "filters",
            {"f": "a = 'x'", "g": 1},
            id="source-filters",
        ),
        pytest.param({"node-capabilities": ["a"]}, "node_capabilities", ("a",), id="capabilities"),
        pytest.param({"distribution-mode": "copy"}, "mode", Terminus.DIST_MODE_COPY, id="copy"),
        pytest.param({"timeout": "30"}, "timeout", 30, id="timeout"),
        pytest.param({"sender-settle-mode": "mixed"}, "sending", Link.SND_MIXED, id="mixed"),
        pytest.param({"receiver-settle-mode": "second"}, "receiving", Link.RCV_SECOND, id="second"),
    ],
)
def test_options(given, name, expected):
    assert getattr(read(**given), name) == expected


@pytest.mark.parametrize(
    ("given", "keeps"),
    [
        pytest.param({}, False, id="nothing"),
        pytest.param({"terminus-durability": "none"}, False, id="none"),
        pytest.param({"terminus-durability": "configuration"}, True, id="configuration"),
        pytest.param({"expiry-policy": "never"}, True, id="never"),
        pytest.param({"expiry-policy": "link-detach"}, False, id="link-detach"),
        pytest.param({"timeout": 5}, True, id="for-a-while"),
    ],
)
def test_what_the_server_keeps(given, keeps):
    assert read(**given).keeps is keeps
    own = connect(connection(**given))._name
    assert (own == connect(connection(**given))._name == "heraldry-desk") is keeps


@pytest.mark.parametrize(
    ("given", "told"),
    [
        pytest.param({"addresses": ("amqp://server",)}, "names no node", id="no-node"),
        pytest.param({"addresses": ("amqp://a/q", "amqp://b")}, "names no node", id="one-without"),
        pytest.param({"addresses": ("mqtt://server/q",)}, "not an address", id="scheme"),
        pytest.param({"node": 5}, "must be a text", id="node"),
        pytest.param({"node": "{shop}"}, "give it a value", id="placeholder"),
        pytest.param({"durable": "perhaps"}, "true or false", id="durable"),
        pytest.param({"timeout": -1}, "an integer from 0", id="timeout"),
        pytest.param({"distribution-mode": "steal"}, "one of move, copy", id="mode"),
        pytest.param({"expiry-policy": "soon"}, "one of link-detach", id="expiry"),
        pytest.param({"terminus-durability": "x"}, "one of none", id="durability"),
        pytest.param({"sender-settle-mode": "x"}, "one of unsettled", id="sending"),
        pytest.param({"receiver-settle-mode": "x"}, "one of first", id="receiving"),
        pytest.param({"link-properties": "a"}, "must be a map", id="no-map"),
        pytest.param({"link-properties": {"a": 1}}, "a map of texts", id="no-texts"),
        pytest.param({"source-filters": ["a"]}, "must be a map", id="filters"),
        pytest.param({"node-capabilities": "a"}, "a list of texts", id="capabilities"),
        pytest.param({"node-capabilities": ["ü"]}, "named in ASCII", id="symbols"),
    ],
)
def test_refused_options(given, told):
    with pytest.raises(TransportError, match=told):
        connect(connection(**given))


@pytest.mark.parametrize(
    "secrets",
    [
        pytest.param(Credentials(token="s3cret"), id="token"),
        pytest.param(Credentials(username="a"), id="no-password"),
        pytest.param(Credentials(password="s3cret"), id="no-user"),
    ],
)
def test_refused_credentials(secrets):
    async def main():
        async with AmqpTransport(connection(secrets=secrets)):
            pass

    with pytest.raises(TransportError, match="a user and a password") as caught:
        asyncio.run(main())
    assert "s3cret" not in repr(caught.value)


def test_what_cannot_be_a_message_is_not_sent():
    async def main():
        await AmqpTransport(connection("producer")).publish(
            AmqpMessage(header=(("priority", 1000),))
        )

    with pytest.raises(MessageError, match="cannot be an AMQP message"):
        asyncio.run(main())
