"""Landing from Mosquitto: QoS 1 and a session that is kept, so that no kill loses a message."""

from __future__ import annotations

import asyncio
import json
import random
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from heraldry.messages.intake import Intake
from heraldry.messages.intake_connection import intake_connection, intake_endpoint, intake_name
from heraldry.messages.message import Message
from heraldry.messages.rawlog import RawLog
from heraldry.messages.rawlog_writer import RawLogWriter
from heraldry.messages.source_url import endpoint_of_url
from heraldry.pipeline.settings import LandSettings
from heraldry.pipeline.sources.intake import IntakeSource
from tests.conftest import ROOT
from tests.live.intake_process import intake, publish, tokens, url_of
from tests.live.landing_kills import Landing, killed_landings, shop_messages
from tests.live.servers.mosquitto import Mosquitto, broker
from tests.live.servers.server import free_port
from tests.live.test_mqtt_transport import transport

pytestmark = pytest.mark.timeout(1200)


def send(address: str, topic: str, messages: Sequence[Message], version: str = "5.0") -> None:
    metadata = {"topic_name": topic, "qos": 1}
    producer = transport(address, "producer", version)
    asyncio.run(publish(producer, messages, f"MQTT/{version}", metadata))


def begin(url: str, log: Path, **options: str) -> None:
    """Let the broker know who wants messages: from now on it keeps them."""
    with taking(url, log, **options):
        pass


def taking(url: str, log: Path, **options: str) -> _Taking:
    return _Taking(url, log, options)


class _Taking:
    """An intake in this process."""

    def __init__(self, url: str, log: Path, options: dict[str, str]) -> None:
        endpoint = intake_endpoint(endpoint_of_url(url), options)
        self._log = RawLogWriter(log, source=intake_name(endpoint))
        self._endpoint = endpoint
        self.events: list[str] = []

    def __enter__(self) -> Intake:
        self._log.__enter__()
        connection = intake_connection(self._endpoint, self._log.name)
        self._intake = Intake(connection, self._log, on_event=self.events.append)
        self._intake.start()
        return self._intake

    def __exit__(self, *_: object) -> None:
        self._intake.stop()
        self._log.close()


@pytest.mark.parametrize("version", ["5.0", "3.1.1"])
def test_what_came_while_nobody_listened_is_taken_in_later(mosquitto: Mosquitto, tmp_path, version):
    topic, log = f"later/{version}", tmp_path / "log"
    url = f"{mosquitto.address}/{topic}"
    begin(url, log, version=version)
    send(mosquitto.address, topic, shop_messages(300), version)
    with taking(url, log, version=version) as running:
        running.wait_until_idle(1.0)
    assert tokens(log) == [f"m-{number}" for number in range(300)]
    assert RawLog(log).source() == url


@pytest.mark.parametrize(
    ("options", "times"), [({}, 1), ({"retainhandling": "0"}, 2)], ids=["default", "asked for"]
)
def test_a_retained_message_is_taken_once(mosquitto: Mosquitto, tmp_path, options, times):
    topic, log = f"retained/{times}", tmp_path / "log"
    (message,) = shop_messages(1)
    metadata = {"topic_name": topic, "qos": 1, "retain": True}
    producer = transport(mosquitto.address, "producer")
    asyncio.run(publish(producer, [message], "MQTT/5.0", metadata))
    for _ in range(2):
        with taking(f"{mosquitto.address}/{topic}", log, **options) as running:
            running.wait_until_idle(1.0)
    assert tokens(log) == ["m-0"] * times


def test_a_broker_that_is_away_for_a_while(tmp_path):
    port, log = free_port(), tmp_path / "log"
    address = f"mqtt://127.0.0.1:{port}"
    with broker(tmp_path, port):
        following = taking(f"{address}/shops/#", log)
        running = following.__enter__()
        send(address, "shops/1", shop_messages(10))
        _wait(log, 10)
    with broker(tmp_path, port):
        time.sleep(1.0)
        send(address, "shops/1", shop_messages(10, 10))
        # What the broker did not hear of before it ended comes again.
        wanted = [f"m-{number}" for number in range(20)]
        _until(lambda: list(dict.fromkeys(tokens(log))) == wanted)
        following.__exit__()
    assert running.failure is None


def test_an_intake_that_is_killed_loses_nothing(mosquitto: Mosquitto, tmp_path):
    log, url = tmp_path / "log", f"{mosquitto.address}/killed/#"
    begin(url, log)
    chance = random.Random(7)
    for number in range(4):
        with intake(log, "--from", url) as process:
            send(mosquitto.address, "killed/1", shop_messages(2000, number * 2000))
            time.sleep(chance.uniform(0, 0.2))
            process.kill()
            process.wait()
    with taking(url, log) as running:
        running.wait_until_idle(1.0)
    found = tokens(log)
    assert set(found) == {f"m-{number}" for number in range(8000)}
    assert len(found) < 8000 + 4 * 2000


def test_an_endpoint_of_a_catalog_is_taken_from(mosquitto: Mosquitto, tmp_path):
    document, log = (
        json.loads((ROOT / "examples/shop/shop.xreg.json").read_text()),
        tmp_path / "log",
    )
    options = document["endpoints"]["shop-mqtt"]["protocoloptions"]
    options |= {"endpoints": [{"uri": mosquitto.address}], "topicfilter": "named/{shop}/#"}
    catalog = tmp_path / "shop.xreg.json"
    catalog.write_text(json.dumps(document))
    source = ("--from", "endpoint:shop-mqtt", "--source-option", "shop=lisbon")
    with intake(log, "--catalog", str(catalog), *source) as process:
        assert url_of(process) == f"{mosquitto.address}/named/lisbon/#"
        send(mosquitto.address, "named/lisbon/1", shop_messages(10))
        _wait(log, 10)
    assert tokens(log) == [f"m-{number}" for number in range(10)]


@pytest.mark.parametrize("version", ["5.0", "3.1.1"])
def test_the_defaults_that_a_registry_writes_lose_nothing(mosquitto: Mosquitto, tmp_path, version):
    topic, log = f"defaults/{version}", tmp_path / "log"
    said = endpoint_of_url(f"{mosquitto.address}/{topic}")
    written = {**said.options, "cleansession": True, "qos": 0, "retain": False}
    endpoint = intake_endpoint(replace(said, options=written), {"version": version})

    def take() -> None:
        with RawLogWriter(log, source=intake_name(endpoint)) as writer:
            connection = intake_connection(endpoint, writer.name)
            with Intake(connection, writer) as running:
                running.wait_until_idle(0.7)

    take()
    send(mosquitto.address, topic, shop_messages(50), version)
    take()
    assert tokens(log) == [f"m-{number}" for number in range(50)]


def test_a_job_that_does_not_stream_takes_what_there_is(mosquitto: Mosquitto, tmp_path):
    url = f"{mosquitto.address}/idle/#"
    settings = LandSettings(source=url, warehouse="lake", source_options={"idle": "0.7"})
    source = IntakeSource(endpoint_of_url(url), settings, str(tmp_path))
    with source.open():
        pass
    send(mosquitto.address, "idle/1", shop_messages(100))
    assert source.lag().messages == 0
    with source.open():
        assert source.lag().messages == 100
    assert len(tokens(tmp_path / "raw_log")) == 100


def test_a_topic_that_is_never_silent_is_taken_for_a_while_and_lands(
    mosquitto: Mosquitto, tmp_path
):
    url, sent, told = f"{mosquitto.address}/busy/#", [0], list[str]()
    # No pause of the publisher is as long as silence, so only the bound can be reached.
    options = {"idle": "30", "longest": "2"}
    settings = LandSettings(source=url, warehouse="lake", source_options=options)
    source = IntakeSource(endpoint_of_url(url), settings, str(tmp_path))
    begin(url, tmp_path / "raw_log")
    ended = threading.Event()

    def publish_steadily() -> None:
        while not ended.is_set():
            send(mosquitto.address, "busy/1", shop_messages(20, sent[0]))
            sent[0] += 20

    publisher = threading.Thread(target=publish_steadily)
    publisher.start()
    try:
        begun = time.monotonic()
        with source.open(told.append):
            assert 1.5 < time.monotonic() - begun < 20
            taken = source.lag().messages
            assert taken
            time.sleep(0.3)
            assert source.lag().messages == taken  # nothing more is taken while it lands
    finally:
        ended.set()
        publisher.join()
    assert "the next run takes more: messages come without a pause of 30 s for 2 s" in told[-1]
    assert sent[0] > taken
    settings = replace(settings, source_options={"idle": "0.7"})
    with IntakeSource(endpoint_of_url(url), settings, str(tmp_path)).open():
        pass  # the broker has kept the rest
    assert set(tokens(tmp_path / "raw_log")) == {f"m-{number}" for number in range(sent[0])}


def check_kills(mosquitto: Mosquitto, folder: Path, kills: int) -> None:
    topic = f"kills/{kills}"
    landing = Landing(folder=folder, source=f"{mosquitto.address}/{topic}")
    begin(landing.source, landing.lake / "_checkpoint" / "raw_log")

    def feed(messages: Sequence[Message]) -> None:
        send(mosquitto.address, topic, messages)

    killed_landings(landing, feed, kills=kills, twice=True)


def test_a_job_that_is_killed_lands_every_message_once(mosquitto: Mosquitto, tmp_path):
    check_kills(mosquitto, tmp_path, 3)


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_a_job_that_is_killed_twenty_times(mosquitto: Mosquitto, tmp_path):
    check_kills(mosquitto, tmp_path, 20)


def _wait(log: Path, count: int) -> None:
    _until(lambda: RawLog(log).end() >= count)


def _until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 240
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)
