"""Landing from a queue of RabbitMQ: what is not durable yet stays there."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

pytest.importorskip(
    "proton", reason="pip install 'heraldry[amqp]' (needs gcc, libssl-dev, python3-dev)"
)

from heraldry.messages.message import Message
from heraldry.messages.rawlog import RawLog
from tests.live.intake_process import intake, publish, tokens
from tests.live.landing_kills import Landing, killed_landings, shop_messages
from tests.live.servers.amqp_clients import transport, unique
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


def check_kills(rabbitmq: Server, folder: Path, kills: int) -> None:
    node = unique("kills")

    def feed(messages: Sequence[Message]) -> None:
        send(rabbitmq.address, node, messages)

    feed([])  # makes the queue
    landing = Landing(folder=folder, source=f"{rabbitmq.address}/{node}")
    killed_landings(landing, feed, kills=kills)


def test_a_job_that_is_killed_lands_every_message_once(rabbitmq: Server, tmp_path):
    check_kills(rabbitmq, tmp_path, 3)


@pytest.mark.soak
def test_a_job_that_is_killed_twenty_times(rabbitmq: Server, tmp_path):
    check_kills(rabbitmq, tmp_path, 20)


def _wait(log: Path, count: int) -> None:
    end = time.monotonic() + 240
    while RawLog(log).end() < count:
        assert time.monotonic() < end, f"{RawLog(log).end()} of {count}"
        time.sleep(0.02)
