"""Landing from a queue of RabbitMQ: what is not durable yet stays there."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.skips import NO_AMQP

pytest.importorskip("proton", reason=NO_AMQP)

import proton

from heraldry.messages.intake import Intake
from heraldry.messages.intake_connection import intake_connection
from heraldry.messages.message import Message
from heraldry.messages.protocols.amqp import AmqpMessage
from heraldry.messages.rawlog import RawLog
from heraldry.messages.rawlog_writer import RawLogWriter
from heraldry.messages.transports.amqp_codec import encode
from heraldry.model.endpoint import Endpoint
from heraldry.model.xid import Xid
from tests.live.intake_process import intake, publish, tokens
from tests.live.landing_kills import Landing, killed_landings, shop_messages
from tests.live.servers.amqp_clients import transport, unique
from tests.live.servers.amqp_peer import listening
from tests.live.servers.server import Server

pytestmark = pytest.mark.timeout(1200)


def send(address: str, node: str, messages: Sequence[Message]) -> None:
    producer = transport(address, "producer", node=node)
    asyncio.run(publish(producer, messages, "AMQP/1.0", {"header": (("durable", True),)}))


def test_an_intake_that_is_killed_loses_nothing(rabbitmq: Server, tmp_path):
    node, log = unique("intake"), tmp_path / "log"
    send(rabbitmq.address, node, shop_messages(4000))
    chance = random.Random(7)
    for _ in range(3):
        with intake(log, "--from", f"{rabbitmq.address}/{node}") as process:
            _wait(log, RawLog(log).end() + chance.randrange(100, 900))
            process.kill()
            process.wait()
    with intake(log, "--from", f"{rabbitmq.address}/{node}"):
        _wait(log, 4000)
        wanted = {f"m-{number}" for number in range(4000)}
        end = time.monotonic() + 240
        while set(tokens(log)) != wanted:
            assert time.monotonic() < end
            time.sleep(0.2)
    assert len(tokens(log)) < 4000 + 3 * 1000


def test_an_endpoint_that_asks_for_settled_copies_is_taken_from_as_if_it_did_not(tmp_path):
    """Settled when sent, a message would be gone before it is durable; a copy would stay."""
    node = unique("settled")
    with listening() as peer, RawLogWriter(tmp_path) as log:
        peer.held[node].extend(encode(AmqpMessage(body=b"%d" % number)) for number in range(5))
        endpoint = Endpoint(
            xid=Xid.parse("/endpoints/desk"),
            protocol="AMQP/1.0",
            addresses=(f"{peer.address}/{node}",),
            options={"sendersettlemode": "settled", "distributionmode": "copy"},
        )
        with Intake(intake_connection(endpoint, log.name), log):
            _wait(tmp_path, 5)
        (opened,) = peer.opened
        assert opened.sending == proton.Link.SND_UNSETTLED
        assert opened.source["mode"] == proton.Terminus.DIST_MODE_MOVE
        assert peer.outcomes == [(proton.Delivery.ACCEPTED, True)] * 5


def mixed(messages: Sequence[Message]) -> list[Message]:
    """One in ten as a message that is no event: its message-id alone tells that it comes again."""
    return [
        Message(
            protocol="AMQP/1.0",
            metadata={
                "header": (("durable", True),),
                "properties": (
                    ("message-id", message.attributes["id"]),
                    ("subject", "PickRequested"),
                    ("content-type", "application/json"),
                    ("group-id", "aisle-4"),
                ),
                "application-properties": (("zone", "north"), ("urgent", True)),
            },
            payload=b'{"sku":"%s","quantity":1}' % str(message.attributes["id"]).encode(),
            content_type="application/json",
        )
        if str(message.attributes["id"]).endswith("5")
        else message
        for message in messages
    ]


def check_kills(rabbitmq: Server, folder: Path, kills: int) -> None:
    node = unique("kills")

    def feed(messages: Sequence[Message]) -> None:
        send(rabbitmq.address, node, mixed(messages))

    feed([])  # makes the queue
    landing = Landing(folder=folder, source=f"{rabbitmq.address}/{node}")
    killed_landings(landing, feed, kills=kills, twice=True)


def test_a_job_that_is_killed_lands_every_message_once(rabbitmq: Server, tmp_path):
    check_kills(rabbitmq, tmp_path, 3)


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_a_job_that_is_killed_twenty_times(rabbitmq: Server, tmp_path):
    check_kills(rabbitmq, tmp_path, 20)


def _wait(log: Path, count: int) -> None:
    end = time.monotonic() + 240
    while RawLog(log).end() < count:
        assert time.monotonic() < end, f"{RawLog(log).end()} of {count}"
        time.sleep(0.02)
