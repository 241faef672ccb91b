"""Ranges of JetStream, without a server: places of messages, headers, and patience."""

from __future__ import annotations

import asyncio

import pytest

from heraldry.errors import TransportError
from heraldry.messages.transports.nats_range import Frame, _place, patiently


@pytest.mark.parametrize(
    "reply",
    [
        "$JS.ACK.ORDERS.reader.1.42.7.1794834600123456789.3",
        "$JS.ACK.hub.ACCOUNT.ORDERS.reader.1.42.7.1794834600123456789.3",
        "$JS.ACK._.ACCOUNT.ORDERS.reader.1.42.7.1794834600123456789.3.token",
    ],
    ids=["plain", "with a domain", "with a token"],
)
def test_the_place_of_a_message(reply: str) -> None:
    assert _place(reply) == (42, 1794834600123456, 3)


def test_headers_as_they_came() -> None:
    headers = b"NATS/1.0\r\nA: 1\r\na:2\r\nA: x: y \r\n\r\n"
    message = Frame("shop.orders", "", b"", headers).message()
    assert message.headers == (("A", "1"), ("a", "2"), ("A", "x: y"))
    assert message.payload is None
    assert message.reply_to is None


def test_patience_ends() -> None:
    asked = 0

    async def ask() -> int:
        nonlocal asked
        asked += 1
        if asked == 1:
            raise TransportError("/endpoints/nats", "away")
        return asked

    assert asyncio.run(patiently(ask)) == 2
    asked = 0
    with pytest.raises(TransportError, match="away"):
        asyncio.run(patiently(ask, seconds=-1))
