"""Ranges of JetStream, without a server: places of messages, headers, and patience."""

from __future__ import annotations

import asyncio
import re

import nats.errors
import pytest

from heraldry.errors import DeniedError, TransportError
from heraldry.messages.source_url import endpoint_of_url
from heraldry.messages.transports.nats_range import (
    Frame,
    RangeReader,
    StreamState,
    _place,
    _time,
    patiently,
)
from heraldry.messages.transports.transport import Connection


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


def test_times_of_the_server_sort_as_text() -> None:
    told = ["2025-01-02T03:04:05Z", "2025-01-02T03:04:05.1Z", "2025-01-02T05:04:05.123456789+02:00"]
    assert [_time(one)[17:] for one in told] == [
        "05.000000+00:00",
        "05.100000+00:00",
        "05.123456+00:00",
    ]
    assert (_time(None), _time("0001-01-01T00:00:00Z")[:4]) == ("", "0001")


@pytest.mark.parametrize(
    ("oldest", "newest", "seen", "anew"),
    [
        ("10:06", "10:09", "10:04", True),
        ("10:06", "10:09", "10:07", False),
        ("10:06", "10:09", "", False),
        ("10:03", "10:09", "10:04", False),
        ("", "10:09", "10:04", False),
    ],
    ids=["made later", "seen since", "never seen", "a message that is older", "empty"],
)
def test_a_stream_that_was_made_anew(oldest: str, newest: str, seen: str, anew: bool) -> None:
    state = StreamState(stream="A", first=1, last=9, created="10:05", oldest=oldest, newest=newest)
    assert state.is_anew(seen) is anew
    assert state.seen == "10:09"
    assert not state.is_anew(state.seen)


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


def test_patience_is_not_for_a_right_that_is_denied() -> None:
    asked = 0

    async def ask() -> int:
        nonlocal asked
        asked += 1
        raise DeniedError("/endpoints/nats", "permissions violation")

    with pytest.raises(DeniedError):
        asyncio.run(patiently(ask))
    assert asked == 1


GET = "$JS.API.STREAM.MSG.GET.Shop"


@pytest.mark.parametrize(
    ("error", "denied", "kind", "told"),
    [
        (
            nats.errors.TimeoutError(),
            'nats: permissions violation for publish to "$js.api.stream.msg.get.shop"',
            DeniedError,
            f'permissions violation for publish to "{re.escape(GET)}" .give the user the right',
        ),
        (
            nats.errors.TimeoutError(),
            'nats: permissions violation for subscription to "_inbox.a.*"',
            DeniedError,
            'permissions violation for subscription to "_inbox',
        ),
        (
            nats.errors.TimeoutError(),
            'nats: permissions violation for publish to "$js.api.consumer.delete.shop.x"',
            TransportError,
            "timeout .is the server running",
        ),
        (nats.errors.TimeoutError(), None, TransportError, "timeout .is the server running"),
        (
            nats.errors.NoRespondersError(),
            None,
            TransportError,
            f"nobody answers {re.escape(GET)} .*account",
        ),
    ],
    ids=["denied", "no answer may come", "only clearing up denied", "slow", "no responders"],
)
def test_why_a_request_has_no_answer(
    error: Exception, denied: str | None, kind: type[TransportError], told: str
) -> None:
    endpoint = endpoint_of_url("nats://127.0.0.1:9/a")
    reader = RangeReader(Connection(endpoint=endpoint, usage="producer"))
    if denied is not None:
        asyncio.run(reader._on_error(nats.errors.Error(denied)))
    refusal = reader._refusal(error, GET)
    assert type(refusal) is kind
    assert re.search(told, str(refusal))
