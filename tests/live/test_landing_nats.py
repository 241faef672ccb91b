"""Landing from a real JetStream stream: killed and restarted, with gaps, losses and a password."""

from __future__ import annotations

import asyncio
import pickle
import re
import time
from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import nats as client
import pytest
from nats.js import JetStreamContext
from nats.js.errors import BadRequestError

from heraldry.errors import DeniedError, PipelineError, TransportError
from heraldry.messages import line as message_lines
from heraldry.messages.message import Message
from heraldry.messages.protocols import nats as protocol
from heraldry.messages.rawlog import RawLog
from heraldry.messages.source_url import endpoint_of_url
from heraldry.messages.transports import nats_range
from heraldry.messages.transports.nats_range import (
    AGAIN_SECONDS,
    RangeReader,
    Stored,
    stream_state,
)
from heraldry.messages.transports.secrets import Credentials
from heraldry.messages.transports.transport import Connection
from heraldry.pipeline.settings import LandSettings
from heraldry.pipeline.sources import jetstream
from heraldry.pipeline.sources.jetstream import JetStreamReader, JetStreamSource, Range
from heraldry.pipeline.sources.opening import open_source
from tests.live.intake_process import intake, tokens, url_of
from tests.live.intake_process import publish as send
from tests.live.landing_kills import Landing, killed_landings, shop_messages
from tests.live.servers.nats import PASSWORD, USERNAME, NatsServer, server
from tests.live.servers.server import free_port
from tests.live.test_nats_transport import transport

pytestmark = pytest.mark.timeout(1200)


async def publish(
    jetstream: JetStreamContext, subject: str, messages: Sequence[protocol.NatsMessage]
) -> None:
    """Publish, a hundred at once, and wait until the stream has them."""
    for begin in range(0, len(messages), 100):
        some = messages[begin : begin + 100]
        sent = [
            jetstream.publish(subject, one.payload or b"", headers=dict(one.headers) or None)
            for one in some
        ]
        await asyncio.gather(*sent)


def fill(
    address: str, stream: str, messages: Sequence[protocol.NatsMessage], **access: str
) -> None:
    """Messages into a stream, which is made where it is not there."""

    async def run() -> None:
        connection = await client.connect(address, **access)
        jetstream = connection.jetstream()
        await jetstream.add_stream(name=stream, subjects=[f"{stream}.>"])
        await publish(jetstream, f"{stream}.events", messages)
        await connection.close()

    asyncio.run(run())


def change(address: str, stream: str, *, delete: Sequence[int] = (), purge: int = 0) -> None:
    """Take messages out of a stream: some, or all before a sequence."""

    async def run() -> None:
        connection = await client.connect(address)
        jetstream = connection.jetstream()
        for sequence in delete:
            await jetstream.delete_msg(stream, sequence)
        if purge:
            await jetstream.purge_stream(stream, seq=purge)
        await connection.close()

    asyncio.run(run())


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test has a checkpoint of its own: a job remembers there where it began."""
    monkeypatch.chdir(tmp_path)


def source(url: str, **options: str) -> JetStreamSource:
    settings = LandSettings(source=url, warehouse="lake", source_options=options, max_per_batch=100)
    opened = open_source(url, catalog=None, settings=settings, checkpoint="cp")
    assert isinstance(opened, JetStreamSource)
    return opened


def url(running: NatsServer, stream: str) -> str:
    return f"nats+jetstream://{running.host}:{running.port}/{stream}"


def numbered(count: int) -> list[protocol.NatsMessage]:
    return [
        protocol.NatsMessage(payload=b"%d" % n, headers=(("n", str(n)),) if n % 2 else ())
        for n in range(1, count + 1)
    ]


def read(source: JetStreamSource, begin: int, end: int) -> dict[str, bytes | None]:
    """The payloads by position."""
    batches = list(JetStreamReader(source._place).read(Range(begin, end)))
    if not batches:
        return {}
    lines = source.reader()().lines(batches)
    assert lines.times is not None
    assert lines.times.null_count == 0
    assert set(lines.sources.to_pylist()) <= {source.name}
    positions = lines.positions.to_pylist()
    messages = [message_lines.read(line) for line in lines.values.to_pylist()]
    return {place: one.payload for place, one in zip(positions, messages, strict=True)}


def test_a_range_with_gaps(nats: NatsServer) -> None:
    fill(nats.address, "GAPS", numbered(5000))
    change(nats.address, "GAPS", delete=(2, 3, 4999, 5000))
    found = read(source(url(nats, "GAPS")), 1, 5000)
    assert list(found) == [f"GAPS/{n}" for n in range(1, 4999) if n not in (2, 3)]
    assert found["GAPS/4998"] == b"4998"
    assert read(source(url(nats, "GAPS")), 2, 3) == {}
    assert list(read(source(url(nats, "GAPS")), 10, 12)) == ["GAPS/10", "GAPS/11", "GAPS/12"]


def test_the_messages_of_a_subject(nats: NatsServer) -> None:
    async def run() -> None:
        connection = await client.connect(nats.address)
        jetstream = connection.jetstream()
        await jetstream.add_stream(name="SOME", subjects=["SOME.>"])
        for number in range(9):
            await jetstream.publish(f"SOME.{number % 3}.x", b"%d" % number, headers={"a": " b "})
        await connection.close()

    asyncio.run(run())
    some = source(f"nats://{nats.host}:{nats.port}/SOME.1.*?stream=SOME")
    assert list(read(some, 1, 9)) == ["SOME/2", "SOME/5", "SOME/8"]
    assert some.name == f"nats://{nats.host}:{nats.port}/SOME"


def test_batches_are_planned_by_sequence(nats: NatsServer) -> None:
    fill(nats.address, "PLAN", numbered(250))
    reader = JetStreamReader(source(url(nats, "PLAN"), partitions="2")._place)
    limit = reader.getDefaultReadLimit()
    reader.prepareForTriggerAvailableNow()
    fill(nats.address, "PLAN", numbered(50))  # comes too late for this run
    ends = [reader.initialOffset()]
    while (end := reader.latestOffset(ends[-1], limit)) != ends[-1]:
        ends.append(end)
    assert [one["sequence"] for one in ends] == [0, 100, 200, 250]
    assert reader.reportLatestOffset() == {"sequence": 300}
    parts = reader.partitions({"sequence": 0}, {"sequence": 9000})
    assert [part.value for part in parts] == [(1, 4500), (4501, 9000)]
    assert reader.partitions({"sequence": 5}, {"sequence": 5}) == []


def test_a_batch_that_ends_before_it_begins_is_not_done(nats: NatsServer) -> None:
    """As one that an earlier version had planned, which did not keep where it began."""
    fill(nats.address, "BACK", numbered(10))
    reader = JetStreamReader(source(url(nats, "BACK"))._place)
    with pytest.raises(PipelineError, match="BACK ends at 7, but begins behind 10"):
        reader.partitions({"sequence": 10}, {"sequence": 7})


def test_a_server_that_restarts_amid_a_part(tmp_path: Path) -> None:
    port = free_port()
    address = f"nats://127.0.0.1:{port}"
    with server(tmp_path, "again", port):
        fill(address, "AGAIN", numbered(12_000))
        again = source(f"nats+jetstream://127.0.0.1:{port}/AGAIN")
        batches = JetStreamReader(again._place).read(Range(1, 12_000))
        first = next(batches)
    with server(tmp_path, "again", port):
        rest = list(batches)
    sequences = [n for batch in (first, *rest) for n in batch.column("sequence").to_pylist()]
    assert sequences == list(range(1, 12_001))


def test_what_a_stream_has_dropped_stops_the_job(nats: NatsServer) -> None:
    fill(nats.address, "LOSS", numbered(20))
    strict = JetStreamReader(source(url(nats, "LOSS"))._place)
    limit = strict.getDefaultReadLimit()
    change(nats.address, "LOSS", purge=11)
    with pytest.raises(PipelineError, match=r"dropped its messages 6 to 10 unread .*on_loss"):
        strict.latestOffset({"sequence": 5}, limit)
    with pytest.raises(PipelineError, match="dropped"):
        list(strict.read(Range(6, 20)))
    assert strict.latestOffset({"sequence": 10}, limit)["sequence"] == 20
    lenient = source(url(nats, "LOSS"), on_loss="continue")
    assert JetStreamReader(lenient._place).latestOffset({"sequence": 5}, limit)
    assert list(read(lenient, 6, 20)) == [f"LOSS/{n}" for n in range(11, 21)]


@pytest.mark.parametrize("on_loss", ["fail", "continue"])
def test_what_a_stream_drops_amid_a_part_is_not_waited_for(nats: NatsServer, on_loss: str) -> None:
    stream = f"AMID-{on_loss}"
    fill(nats.address, stream, numbered(6100))
    reader = JetStreamReader(source(url(nats, stream), on_loss=on_loss)._place)
    batches = reader.read(Range(1, 6100))
    read = len(next(batches))  # at most what was asked for at once: 6000
    change(nats.address, stream, purge=6101)
    if on_loss == "continue":
        assert list(batches) == []
        return
    with pytest.raises(PipelineError, match=f"dropped its messages {read + 1} to 6100 unread"):
        list(batches)


def test_what_is_deleted_amid_a_part_is_not_waited_for(nats: NatsServer) -> None:
    fill(nats.address, "DELETED", numbered(6100))
    batches = JetStreamReader(source(url(nats, "DELETED"))._place).read(Range(1, 6100))
    first = next(batches)
    change(nats.address, "DELETED", delete=range(6001, 6101))
    sequences = [n for batch in (first, *batches) for n in batch.column("sequence").to_pylist()]
    assert sequences == list(range(1, 6001))


class Lagging(RangeReader):
    """Reads like a replica that has 990 messages as yet, so many times; the leader has all."""

    times = 0

    async def _pulled(self, consumer: str, end: int) -> AsyncGenerator[list[Stored]]:
        Lagging.times -= 1
        has = 990 if Lagging.times >= 0 else end
        async for some in super()._pulled(consumer, min(has, end)):
            yield [one for one in some if one.sequence <= has]


@pytest.mark.parametrize(
    ("stream", "subject", "begin"),
    [("LAG-ALL", "", 1), ("LAG-REST", "", 995), ("LAG-SOME", "?subject=LAG-SOME.*", 1)],
    ids=["all", "nothing there yet", "of a subject"],
)
def test_a_replica_that_lags_behind_is_waited_for(
    nats: NatsServer, monkeypatch: pytest.MonkeyPatch, stream: str, subject: str, begin: int
) -> None:
    """It ends where the stream does not: what the leader has beyond that is to come."""
    fill(nats.address, stream, numbered(1000))
    monkeypatch.setattr(jetstream, "RangeReader", Lagging)
    Lagging.times = 2
    found = read(source(url(nats, stream) + subject), begin, 1000)
    assert list(found) == [f"{stream}/{n}" for n in range(begin, 1001)]
    assert Lagging.times == -1
    monkeypatch.setattr(jetstream, "AGAIN_SECONDS", 0)
    Lagging.times = 9
    behind = rf"{stream} has message {max(begin, 991)}, but the replica that was read has not"
    with pytest.raises(TransportError, match=behind):
        read(source(url(nats, stream) + subject), begin, 1000)


def test_what_the_leader_has_of_others_is_not_waited_for(nats: NatsServer) -> None:
    """Of other subjects, beyond the range, or deleted."""
    configured(nats.address, "TAIL", subjects=["TAIL.>", "OTHER.>"])
    subjects = ["TAIL.a"] * 5 + ["OTHER.b"] * 5 + ["TAIL.a"]

    async def run() -> None:
        connection = await client.connect(nats.address)
        for subject in subjects:
            await connection.jetstream().publish(subject, b"1")
        await connection.close()

    asyncio.run(run())
    some, begun = source(url(nats, "TAIL") + "?subject=TAIL.*"), time.monotonic()
    assert list(read(some, 1, 10)) == [f"TAIL/{n}" for n in range(1, 6)]
    assert read(some, 7, 9) == {}
    change(nats.address, "TAIL", delete=(11,))
    assert list(read(some, 5, 11)) == ["TAIL/5"]
    assert time.monotonic() - begun < AGAIN_SECONDS / 2


def configured(address: str, stream: str, **config: object) -> None:
    """A stream with its configuration; one that is there is changed."""

    async def run() -> None:
        connection = await client.connect(address)
        jetstream = connection.jetstream()
        given = {"name": stream, "subjects": [f"{stream}.>"], **config}
        try:
            await jetstream.add_stream(**given)
        except BadRequestError:
            await jetstream.update_stream(**given)
        await connection.close()

    asyncio.run(run())


THINS = [
    pytest.param({"retention": "workqueue"}, "retention workqueue", id="workqueue"),
    pytest.param({"retention": "interest"}, "retention interest", id="interest"),
    pytest.param({"max_msgs_per_subject": 2}, "max_msgs_per_subject 2", id="per-subject"),
    pytest.param({"allow_msg_ttl": True}, "allow_msg_ttl", id="ttl"),
    pytest.param({"allow_rollup_hdrs": True}, "allow_rollup_hdrs", id="roll-up"),
]


@pytest.mark.parametrize(("config", "told"), THINS)
def test_a_stream_that_drops_from_within_is_read_only_if_that_is_known(
    nats: NatsServer, config: dict[str, object], told: str
) -> None:
    stream = f"THIN-{told.replace(' ', '-')}"
    configured(nats.address, stream, **config)
    with pytest.raises(PipelineError, match=rf"others unread: {told} \(.*on_loss=continue"):
        source(url(nats, stream))
    lenient = source(url(nats, stream), on_loss="continue")
    assert JetStreamReader(lenient._place).initialOffset()["sequence"] == 0


def test_what_a_stream_drops_from_within_is_not_passed_over(nats: NatsServer) -> None:
    fill(nats.address, "LATER", numbered(10))
    reader = JetStreamReader(source(url(nats, "LATER"))._place)
    limit = reader.getDefaultReadLimit()
    assert reader.latestOffset({"sequence": 0}, limit)["sequence"] == 10
    configured(nats.address, "LATER", max_msgs_per_subject=1)
    with pytest.raises(PipelineError, match="between others unread: max_msgs_per_subject 1"):
        reader.latestOffset({"sequence": 0}, limit)
    lenient = source(url(nats, "LATER"), on_loss="continue")
    assert list(read(lenient, 1, 10)) == ["LATER/10"]


def test_a_stream_that_refuses_instead_of_dropping(nats: NatsServer) -> None:
    keeps = {"max_msgs_per_subject": 2, "discard": "new", "discard_new_per_subject": True}
    configured(nats.address, "KEEPS", max_msgs=9, **keeps)
    assert source(url(nats, "KEEPS")).name.endswith("/KEEPS")


def test_a_subject_of_several_streams_names_none(nats: NatsServer) -> None:
    for stream in ("TWIN-B", "TWIN-A"):
        configured(nats.address, stream, subjects=[f"twins.{stream}.>"])
    asked = {"jetstream": True}
    endpoint = endpoint_of_url(f"{nats.address}/twins.>")
    both = replace(endpoint, options={**endpoint.options, **asked})
    settings = LandSettings(source="", warehouse="lake")
    with pytest.raises(TransportError, match=r"several streams .*: TWIN-A, TWIN-B .*stream=NAME"):
        JetStreamSource(both, settings, "cp")
    one = replace(endpoint, options={"subjectfilter": "twins.TWIN-B.x", **asked})
    assert JetStreamSource(one, settings, "cp").name.endswith("/TWIN-B")
    none = replace(endpoint, options={"subjectfilter": "nobody.here", **asked})
    with pytest.raises(TransportError, match="no stream of JetStream has the subject"):
        JetStreamSource(none, settings, "cp")


def test_a_stream_that_was_made_anew_stops_the_job(nats: NatsServer) -> None:
    fill(nats.address, "ANEW", numbered(3))
    reader = JetStreamReader(source(url(nats, "ANEW"))._place)
    with pytest.raises(PipelineError, match="ends at 3, but 7 was read"):
        reader.latestOffset({"sequence": 7}, reader.getDefaultReadLimit())


def made_anew(nats: NatsServer, stream: str, count: int) -> tuple[JetStreamReader, dict[str, Any]]:
    """A job that has read ten messages of a stream, and finds another one with so many."""
    fill(nats.address, stream, numbered(10))
    first = JetStreamReader(source(url(nats, stream))._place)
    end = first.latestOffset(first.initialOffset(), first.getDefaultReadLimit())
    assert end["sequence"] == 10

    async def run() -> None:
        connection = await client.connect(nats.address)
        await connection.jetstream().delete_stream(stream)
        await connection.close()

    asyncio.run(run())
    fill(nats.address, stream, numbered(count))
    return JetStreamReader(source(url(nats, stream))._place), end


@pytest.mark.parametrize("count", [10, 25], ids=["as long", "longer"])
def test_a_stream_that_was_made_anew_stops_the_job_however_long_it_is(
    nats: NatsServer, count: int
) -> None:
    """Else its first messages are passed over: the old stream had those sequences."""
    reader, end = made_anew(nats, f"ANEW-{count}", count)
    told = rf"ANEW-{count} is of \d+-.*, but 10 was read from it before \(it was made anew"
    with pytest.raises(PipelineError, match=told):
        reader.latestOffset(end, reader.getDefaultReadLimit())


def test_a_stream_that_was_made_anew_is_not_read_for_a_batch_of_the_last_run(
    nats: NatsServer,
) -> None:
    reader, end = made_anew(nats, "ANEW-BATCH", 25)
    begin = reader.initialOffset()
    (part,) = reader.partitions({**begin, "sequence": 5}, end)
    with pytest.raises(PipelineError, match="made anew"):
        list(reader.read(pickle.loads(pickle.dumps(part))))


def test_an_offset_of_an_earlier_version_has_no_time(nats: NatsServer) -> None:
    reader, _ = made_anew(nats, "ANEW-OLD", 25)
    end = reader.latestOffset({"sequence": 10}, reader.getDefaultReadLimit())
    assert end["sequence"] == 25
    assert reader.latestOffset(end, reader.getDefaultReadLimit()) == end


def test_a_stream_that_is_changed_purged_and_begun_again_is_the_same(tmp_path: Path) -> None:
    port = free_port()
    address = f"nats://127.0.0.1:{port}"
    with server(tmp_path, "same", port):
        fill(address, "SAME", numbered(10))
        reader = JetStreamReader(source(f"nats+jetstream://127.0.0.1:{port}/SAME")._place)
        limit = reader.getDefaultReadLimit()
        end = reader.latestOffset(reader.initialOffset(), limit)
    for most, purge, sequence in ((50, 5, 10), (60, 11, 10), (-1, 0, 13)):
        with server(tmp_path, "same", port):
            configured(address, "SAME", max_msgs=most)
            change(address, "SAME", purge=purge)
        with server(tmp_path, "same", port):
            if not purge:
                fill(address, "SAME", numbered(3))
            end = reader.latestOffset(end, limit)
            assert end["sequence"] == sequence


@pytest.mark.parametrize("stream", ["NOWHERE", "NO.WHERE", "NO WHERE", "NO*"])
def test_a_stream_that_is_not_there(nats: NatsServer, stream: str) -> None:
    connection = Connection(endpoint=endpoint_of_url(f"{nats.address}/a"), usage="producer")
    with pytest.raises(TransportError, match=f"no stream '{re.escape(stream)}'"):
        asyncio.run(stream_state(connection, stream, ">"))
    with pytest.raises(TransportError, match="no stream 'NOWHERE'"):
        source(url(nats, "NOWHERE"))


def test_a_user_with_a_password(nats: NatsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(nats.guarded, "GUARDED", numbered(4), user=USERNAME, password=PASSWORD)
    guarded = nats.guarded.replace("nats://", "nats+jetstream://") + "/GUARDED"
    with pytest.raises(TransportError, match="HERALDRY_USERNAME"):
        source(guarded)
    monkeypatch.setenv("HERALDRY_NATS_USERNAME", USERNAME)
    monkeypatch.setenv("HERALDRY_NATS_PASSWORD", PASSWORD)
    opened = source(guarded)
    monkeypatch.delenv("HERALDRY_NATS_PASSWORD")  # as on a worker elsewhere
    assert len(read(opened, 1, 4)) == 4
    assert PASSWORD not in repr(opened._place)


READS = ("$JS.API.STREAM.INFO.*", "$JS.API.CONSUMER.>", "_INBOX.>")


@pytest.fixture
def restricted(tmp_path: Path) -> Iterator[str]:
    """A server where the second user may read a stream, but not ask for a single message."""
    port, may = free_port(), ", ".join(f'"{one}"' for one in READS)
    users = (
        '{user: "all", password: "a"}, '
        f'{{user: "some", password: "s", permissions: {{publish: {{allow: [{may}]}}}}}}'
    )
    with server(tmp_path, "restricted", port, f"authorization {{users: [{users}]}}"):
        yield f"nats://127.0.0.1:{port}"


def test_a_right_that_a_batch_needs_is_missed_at_once(
    restricted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(restricted, "Rights", numbered(4), user="all", password="a")
    address = restricted.replace("nats://", "nats+jetstream://") + "/Rights"
    monkeypatch.setenv("HERALDRY_NATS_USERNAME", "all")
    monkeypatch.setenv("HERALDRY_NATS_PASSWORD", "a")
    opened = source(address)
    monkeypatch.setattr(nats_range, "CONNECT_SECONDS", 1)
    told = r'violation for publish to "\$JS.API.STREAM.MSG.GET.Rights" \(give the user the right'
    monkeypatch.setenv("HERALDRY_NATS_USERNAME", "some")
    monkeypatch.setenv("HERALDRY_NATS_PASSWORD", "s")
    with pytest.raises(DeniedError, match=told):
        source(address)
    # A right that is taken away later: the part that finds too little is not tried again.
    opened._place = replace(opened._place, credentials=Credentials(username="some", password="s"))
    assert len(read(opened, 1, 4)) == 4
    begun = time.monotonic()
    with pytest.raises(DeniedError, match=told):
        read(opened, 1, 5)
    assert time.monotonic() - begun < AGAIN_SECONDS / 2


@pytest.mark.spark
@pytest.mark.slow
def test_what_is_sent_without_jetstream_is_taken_in_and_landed(
    nats: NatsServer, tmp_path: Path
) -> None:
    """The server keeps nothing, so the intake listens all the while; the job comes later."""
    log, messages = tmp_path / "log", shop_messages(1000)
    with intake(log, "--from", f"{nats.address}/core.shop.>") as process:
        assert url_of(process) == f"{nats.address}/core.shop.>"
        subject = {"subject": "core.shop.events"}
        for some in (messages[:400], messages[400:]):
            asyncio.run(send(transport(nats.address, "producer"), some, "NATS", subject))
        wait_for(log, len(messages))
    assert tokens(log) == [message.attributes["id"] for message in messages]
    landing = Landing(folder=tmp_path, source=f"raw-log:{log}")
    report = landing.drain()
    assert report["read"] == report["landed"] + report["dead"] == len(messages)
    assert landing.found() == {message.attributes["id"]: 1 for message in messages}


@pytest.mark.spark
@pytest.mark.slow
def test_the_lag_is_what_a_batch_leaves(nats: NatsServer, tmp_path: Path) -> None:
    fill(nats.address, "LAG", [protocol.encode(message) for message in shop_messages(50)])
    more = ("--max-per-batch", "20")
    job = Landing(folder=tmp_path, source=url(nats, "LAG"), options=more)
    job.drain()
    assert job.lags() == [30, 10, 0]


def wait_for(log: Path, count: int) -> None:
    end = time.monotonic() + 120
    while RawLog(log).end() < count:
        assert time.monotonic() < end, f"{RawLog(log).end()} of {count}"
        time.sleep(0.05)


def check_kills(running: NatsServer, folder: Path, kills: int) -> None:
    stream = f"KILLS-{kills}"
    fill(running.address, stream, [])

    def feed(messages: Sequence[Message]) -> None:
        fill(running.address, stream, [protocol.encode(message) for message in messages])

    killed_landings(Landing(folder=folder, source=url(running, stream)), feed, kills=kills)


@pytest.mark.spark
@pytest.mark.slow
def test_killed_three_times(nats: NatsServer, tmp_path: Path) -> None:
    check_kills(nats, tmp_path, 3)


@pytest.mark.spark
@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_killed_twenty_times(nats: NatsServer, tmp_path: Path) -> None:
    check_kills(nats, tmp_path, 20)
