"""Intake, over HTTP and without a broker: nobody is told yes before a message is durable."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from heraldry.errors import RawLogError, TransportError, UsageError
from heraldry.messages import line
from heraldry.messages.intake import Intake, IntakeLimits
from heraldry.messages.intake_connection import intake_connection, intake_endpoint, intake_name
from heraldry.messages.rawlog import RawLog
from heraldry.messages.rawlog_writer import RawLogWriter
from heraldry.messages.source_url import normal_source
from heraldry.messages.transports.mqtt_options import FOREVER, session_of
from heraldry.messages.transports.transport import Connection
from heraldry.model.endpoint import Endpoint
from heraldry.model.xid import Xid
from tests.live.servers.server import free_port

BATCH = "application/cloudevents-batch+json"


def connection(address: str, protocol: str = "HTTP") -> Connection:
    xid = Xid.parse("/endpoints/door")
    return intake_connection(Endpoint(xid=xid, protocol=protocol, addresses=(address,)), "name")


@contextmanager
def taking(folder: Path, **more) -> Iterator[tuple[Intake, str]]:
    address = f"http://127.0.0.1:{free_port()}"
    with RawLogWriter(folder) as log, Intake(connection(address), log, **more) as intake:
        yield intake, address


def post(address: str, body: bytes, kind: str = "application/json") -> int:
    request = Request(f"{address}/in", body, {"Content-Type": kind})
    try:
        with urlopen(request, timeout=20) as reply:
            return reply.status
    except HTTPError as error:
        error.close()
        return error.code


def kept(folder: Path) -> list[bytes | None]:
    log = RawLog(folder)
    return [line.read(one).payload for one in log.read(log.begin(), log.end())]


def test_what_is_acknowledged_is_in_the_log(tmp_path):
    with taking(tmp_path) as (intake, address):
        for number in range(3):
            assert post(address, b"%d" % number) == 204
            assert kept(tmp_path)[-1] == b"%d" % number
        assert intake.taken == 3
        assert intake.rate() > 0
        assert intake.failure is None


def test_many_at_once_share_a_flush(tmp_path):
    with taking(tmp_path) as (intake, address), ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda number: post(address, b"%d" % number), range(200)))
        assert answers == [204] * 200
        assert intake._log.syncs < 150
    assert sorted(kept(tmp_path), key=int) == [b"%d" % number for number in range(200)]


def test_batches_and_what_says_it_is_one(tmp_path):
    event = b'{"specversion":"1.0","id":"%d","source":"s","type":"t","data":%d}'
    with taking(tmp_path) as (_, address):
        assert post(address, b"[%s,%s]" % (event % (1, 1), event % (2, 2)), BATCH) == 204
        assert post(address, b"[]", BATCH) == 204
        assert post(address, b"[", BATCH) == 204
    log = RawLog(tmp_path)
    assert log.end() == 3
    assert b'"payload_text":"["' in list(log.read(0, 3))[2]


def test_a_log_that_cannot_be_written_acknowledges_nothing_and_recovers(tmp_path, monkeypatch):
    told: list[str] = []
    write = os.write
    full = [True]

    def limited(handle, data):
        if full[0]:
            raise OSError(28, "No space left on device")
        return write(handle, data)

    with taking(tmp_path, on_event=told.append) as (intake, address):
        monkeypatch.setattr(os, "write", limited)
        assert post(address, b"1") == 503
        assert isinstance(intake.failure, RawLogError)
        full[0] = False
        deadline = time.monotonic() + 10
        while (answer := _try(address)) != 204:
            assert time.monotonic() < deadline, answer
            time.sleep(0.1)
        assert intake.failure is None
    assert "No space left on device" in told[0]
    assert told[1:] == ["intake: connected again"]
    assert kept(tmp_path) == [b"2"]


def _try(address: str) -> int:
    try:
        return post(address, b"2")
    except OSError:
        return 0


def test_the_source_waits_while_too_much_is_unread(tmp_path, monkeypatch):
    monkeypatch.setattr("heraldry.messages.intake._LOOK_EVERY", 5)
    told: list[str] = []
    limits = IntakeLimits(unread=5)
    with taking(tmp_path, limits=limits, on_event=told.append) as (_, address):
        for number in range(10):
            assert post(address, b"%d" % number) == 204
        with ThreadPoolExecutor(1) as pool:
            late = pool.submit(post, address, b"10")
            time.sleep(0.3)
            assert not late.done()
            assert RawLog(tmp_path).end() == 10
            RawLog(tmp_path).advance("reader", 0, 10)
            assert late.result(timeout=10) == 204
    assert told == ["intake: waits, 5 messages in the log are unread", "intake: goes on"]


def test_who_is_waited_for_is_named_and_may_be_forgotten(tmp_path, monkeypatch):
    """A warehouse that was moved leaves the reader behind that its job was."""
    monkeypatch.setattr("heraldry.messages.intake._LOOK_EVERY", 5)
    told: list[str] = []
    log = RawLog(tmp_path)
    with taking(tmp_path, limits=IntakeLimits(unread=5), on_event=told.append) as (_, address):
        log.advance("old", 0, 0, "/was/here/_checkpoint")
        log.advance("new", 0, 0, "/is/there/_checkpoint")
        for number in range(10):
            assert post(address, b"%d" % number) == 204
            log.advance("new", 0, number + 1)
        with ThreadPoolExecutor(1) as pool:
            late = pool.submit(post, address, b"10")
            time.sleep(0.3)
            assert not late.done()
            (tmp_path / "readers" / "old").unlink()
            assert late.result(timeout=10) == 204
    assert told == [
        "intake: waits, 5 messages in the log are unread by the job with the checkpoint "
        f"/was/here/_checkpoint; if it never comes back, remove {tmp_path}/readers/old",
        "intake: goes on",
    ]


def test_idle_is_when_nothing_has_come(tmp_path):
    with taking(tmp_path) as (intake, address), ThreadPoolExecutor(1) as pool:
        begun = time.monotonic()
        waiting = pool.submit(intake.wait_until_idle, 0.5)
        time.sleep(0.3)
        post(address, b"1")
        waiting.result(timeout=10)
        assert time.monotonic() - begun > 0.8


def test_messages_that_never_pause_are_taken_for_a_bounded_time(tmp_path):
    told: list[str] = []
    with taking(tmp_path) as (intake, address), ThreadPoolExecutor(1) as pool:
        # A post waits for the disk: silence must be far longer than that, and than the bound.
        waiting = pool.submit(intake.wait_until_idle, 30.0, 2.5, told.append)
        time.sleep(0.5)  # nothing has come: the time does not run yet
        begun = time.monotonic()
        while not waiting.done():
            assert post(address, b"1") == 204
            time.sleep(0.05)
        assert 2.3 < time.monotonic() - begun < 10
        assert waiting.result() == "messages come without a pause of 30 s for 2.5 s"
    assert told
    assert all(re.fullmatch(r"[012]/2 s, \d+ messages taken in", one) for one in told)


def test_silence_comes_first(tmp_path):
    with taking(tmp_path) as (intake, address):
        post(address, b"1")
        assert intake.wait_until_idle(0.3, 60.0) is None


def test_a_full_log_is_not_waited_for(tmp_path, monkeypatch):
    monkeypatch.setattr("heraldry.messages.intake._LOOK_EVERY", 5)
    with taking(tmp_path, limits=IntakeLimits(unread=4)) as (intake, address):
        for number in range(5):
            assert post(address, b"%d" % number) == 204
        assert intake.wait_until_idle(20.0) == "4 messages in the log are unread"


def test_a_source_that_cannot_be_reached_is_told_at_the_start(tmp_path):
    with (
        RawLogWriter(tmp_path) as log,
        pytest.raises(TransportError, match="cannot listen"),
        Intake(connection("http://192.0.2.1:80"), log),
    ):
        pass


def mqtt(version: str = "5.0", **options) -> Endpoint:
    return Endpoint(
        xid=Xid.parse("/endpoints/desk"),
        protocol=f"MQTT/{version}",
        addresses=("mqtt://broker:1883",),
        options=options,
    )


@pytest.mark.parametrize("version", ["5.0", "3.1.1"])
def test_mqtt_sessions_are_kept_under_the_name_of_the_log(version):
    given = intake_endpoint(mqtt(), {"version": version})
    found = intake_connection(given, "abc")
    session = session_of(found)
    assert (session.version, session.client_id) == (version, "heraldry-abc")
    assert (session.clean, session.expiry) == (False, FOREVER)
    assert found.endpoint.option("qos") == 1
    assert found.endpoint.option("retainhandling") == (1 if version == "5.0" else None)


def session(endpoint: Endpoint, **options: str) -> tuple[str, bool, int]:
    found = session_of(intake_connection(intake_endpoint(endpoint, options), "abc"))
    return found.client_id, found.clean, found.expiry


def test_what_an_endpoint_says_of_its_session_counts():
    given = intake_endpoint(mqtt(clientid="mine", sessionexpiryinterval=60, qos=2), {})
    found = intake_connection(given, "abc")
    assert session(given) == ("mine", False, 60)
    assert found.endpoint.option("qos") == 1


@pytest.mark.parametrize(
    ("version", "said"),
    [
        pytest.param("5.0", {"cleansession": True}, id="default-of-a-registry"),
        pytest.param("3.1.1", {"cleansession": True}, id="default-of-a-registry-3.1.1"),
        pytest.param("5.0", {"cleanstart": True}, id="clean-start"),
        pytest.param("5.0", {"cleansession": "true", "cleanstart": "true"}, id="as-text"),
    ],
)
def test_an_endpoint_does_not_make_the_session_a_clean_one(version, said):
    assert session(mqtt(version, **said)) == ("heraldry-abc", False, FOREVER)


@pytest.mark.parametrize("version", ["5.0", "3.1.1"])
@pytest.mark.parametrize("said", [{}, {"cleansession": False}], ids=["nothing", "kept"])
def test_a_clean_session_is_asked_for_by_hand(version, said):
    assert session(mqtt(version, **said), cleansession="true") == ("heraldry-abc", True, 0)


@pytest.mark.parametrize(
    ("address", "topic", "name"),
    [
        pytest.param("mqtt://broker", "A/#", "mqtt://broker:1883/A/#", id="default-port"),
        pytest.param("MQTT://Broker:1883", "A/#", "mqtt://broker:1883/A/#", id="case"),
        pytest.param("mqtts://[::1]", "a", "mqtts://[::1]:8883/a", id="ipv6"),
        pytest.param("broker", "a", "mqtt://broker:1883/a", id="no-scheme"),
        pytest.param("mqtt://ada@B:1", "a", "mqtt://b:1/a", id="user"),
    ],
)
def test_a_source_has_one_name_however_it_is_spelled(address, topic, name):
    endpoint = replace(mqtt(topicfilter=topic), addresses=(address,))
    assert intake_name(endpoint) == name
    assert normal_source(name) == name


@pytest.mark.parametrize("said", [None, "settled", "mixed", "unsettled"])
def test_amqp_messages_are_settled_by_us_whatever_the_endpoint_says(said):
    given = {} if said is None else {"sendersettlemode": said}
    found = intake_connection(amqp(**given), "abc").endpoint
    assert found.option("sender-settle-mode") == "unsettled"


@pytest.mark.parametrize("said", [None, "copy", "move"])
def test_amqp_messages_are_moved_whatever_the_endpoint_says(said):
    given = {} if said is None else {"distributionmode": said}
    found = intake_connection(amqp(**given), "abc").endpoint
    assert found.option("distribution-mode") == "move"


def amqp(**options) -> Endpoint:
    xid, addresses = Xid.parse("/endpoints/desk"), ("amqp://broker:5672/orders",)
    return Endpoint(xid=xid, protocol="AMQP/1.0", addresses=addresses, options=options)


def test_options_that_a_source_does_not_have():
    with pytest.raises(UsageError, match=r"no option 'speed'.*clientid.*idle, longest"):
        intake_endpoint(mqtt(), {"speed": "2"}, ("idle", "longest"))
    with pytest.raises(UsageError, match=r"no option 'speed': it takes none"):
        intake_endpoint(amqp(), {"speed": "2"})
    stream = Endpoint(
        xid=Xid.parse("/endpoints/n"),
        protocol="NATS",
        addresses=("nats://h:4222",),
        options={"stream": "S"},
    )
    with pytest.raises(UsageError, match="it can be read again"):
        intake_endpoint(stream, {})
