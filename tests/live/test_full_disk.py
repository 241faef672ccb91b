"""A full disk below an intake: brokers keep their messages, and hand each over once."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from heraldry.errors import RawLogError
from heraldry.messages import line
from heraldry.messages.intake import Intake
from heraldry.messages.intake_connection import intake_connection, intake_endpoint
from heraldry.messages.protocols.amqp import AmqpMessage
from heraldry.messages.protocols.mqtt import MqttPublish
from heraldry.messages.protocols.nats import NatsMessage
from heraldry.messages.rawlog import RawLog
from heraldry.messages.rawlog_writer import RawLogWriter
from heraldry.messages.source_url import endpoint_of_url
from heraldry.messages.transports.transport import Connection
from heraldry.messages.transports.transport_table import open_transport
from tests.live.servers.mosquitto import Mosquitto
from tests.live.servers.nats import NatsServer
from tests.live.servers.server import Server

SECONDS = 30.0
COUNT = 20
Disk = Callable[[bool], None]


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    """Says whether the disk is full."""
    write = os.write
    is_full = False

    def limited(handle: int, data: bytes) -> int:
        if is_full:
            raise OSError(28, "No space left on device")
        return write(handle, data)

    def fill(full: bool) -> None:
        nonlocal is_full
        is_full = full

    monkeypatch.setattr(os, "write", limited)
    return fill


def raws(url: str, begin: int, end: int) -> list[Any]:
    """Numbered messages of the protocol of a URL, and for the place that it names."""
    scheme, _, path = url.partition("://")
    place = path.partition("/")[2]
    numbers = [b"%d" % number for number in range(begin, end)]
    if scheme == "mqtt":
        return [MqttPublish(topic_name=place, qos=1, payload=number) for number in numbers]
    if scheme == "nats":
        return [NatsMessage(subject=place, payload=number) for number in numbers]
    return [AmqpMessage(body=number) for number in numbers]


def send(url: str, begin: int, end: int) -> None:
    async def main() -> None:
        found = Connection(endpoint=endpoint_of_url(url), usage="producer")
        async with open_transport(found) as producer:
            for raw in raws(url, begin, end):
                await producer.publish(raw)

    asyncio.run(main())


@contextmanager
def taking(url: str, folder: Path, told: list[str]) -> Iterator[Intake]:
    endpoint = intake_endpoint(endpoint_of_url(url), {})
    with (
        RawLogWriter(folder) as log,
        Intake(intake_connection(endpoint, log.name), log, on_event=told.append) as found,
    ):
        yield found


def until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def kept(folder: Path) -> list[bytes]:
    log = RawLog(folder)
    return list(log.read(log.begin(), log.end()))


def payloads(lines: Sequence[bytes]) -> list[bytes | None]:
    return [line.read(one).payload for one in lines]


def check_wait(url: str, folder: Path, disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every message is handed over once, held, and written when there is room."""
    monkeypatch.setattr("heraldry.messages.intake._PAUSE", 0.05)
    monkeypatch.setattr("heraldry.messages.intake._LONGEST_PAUSE", 0.4)
    told: list[str] = []
    with taking(url, folder, told) as intake:
        disk(True)
        send(url, 0, COUNT)
        until(lambda: intake.taken == COUNT)
        time.sleep(2)  # it has been tried some times more
        assert isinstance(intake.failure, RawLogError)
        assert kept(folder) == []
        disk(False)
        until(lambda: RawLog(folder).end() == COUNT)
        send(url, COUNT, 2 * COUNT)
        until(lambda: RawLog(folder).end() == 2 * COUNT)
        assert intake.failure is None
        assert intake.taken == 2 * COUNT
    assert payloads(kept(folder)) == [b"%d" % number for number in range(2 * COUNT)]
    assert "No space left on device" in told[0]
    assert told[1:] == ["intake: the log can be written again"]
    assert_once(folder)


def check_stop(url: str, folder: Path, disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who is stopped meanwhile has acknowledged nothing, and does not wait."""
    monkeypatch.setattr("heraldry.messages.intake._PAUSE", 600.0)
    told: list[str] = []
    with taking(url, folder, told) as intake:
        disk(True)
        send(url, 0, COUNT)
        until(lambda: intake.taken == COUNT and intake.failure is not None)
        begun = time.monotonic()
        intake.stop()
        assert time.monotonic() - begun < 10
    assert len(told) == 1
    assert kept(folder) == []
    disk(False)
    with taking(url, folder, told):
        until(lambda: RawLog(folder).end() == COUNT)
    assert payloads(kept(folder)) == [b"%d" % number for number in range(COUNT)]
    assert len(told) == 1


def assert_once(folder: Path) -> None:
    """As the broker of AMQP says: nobody had any of them before."""
    for one in kept(folder):
        header = dict(line.read(one).metadata.get("header", ()))
        assert header.get("delivery-count", 0) == 0
        assert header.get("first-acquirer", True)


def test_mqtt_waits(mosquitto: Mosquitto, tmp_path, disk, monkeypatch):
    check_wait(f"{mosquitto.address}/full/waits", tmp_path, disk, monkeypatch)


def test_mqtt_stops(mosquitto: Mosquitto, tmp_path, disk, monkeypatch):
    check_stop(f"{mosquitto.address}/full/stops", tmp_path, disk, monkeypatch)


def test_nats_waits(nats: NatsServer, tmp_path, disk, monkeypatch):
    """The server keeps nothing, so what was dropped would be lost."""
    check_wait(f"{nats.address}/full.waits", tmp_path, disk, monkeypatch)


def test_amqp_waits(rabbitmq: Server, tmp_path, disk, monkeypatch):
    pytest.importorskip("proton", reason="pip install 'heraldry[amqp]'")
    check_wait(f"{rabbitmq.address}/full-waits", tmp_path, disk, monkeypatch)


def test_amqp_stops(rabbitmq: Server, tmp_path, disk, monkeypatch):
    pytest.importorskip("proton", reason="pip install 'heraldry[amqp]'")
    check_stop(f"{rabbitmq.address}/full-stops", tmp_path, disk, monkeypatch)
