"""The raw log as a stream of Spark: every message once, in bounded batches, run after run."""

from __future__ import annotations

import pickle
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows

from heraldry.errors import RawLogError, TransportError, UsageError
from heraldry.messages.rawlog import RawLog, segments
from heraldry.messages.rawlog_writer import RawLogWriter, SegmentLimits
from heraldry.model.endpoint import Endpoint
from heraldry.model.xid import Xid
from heraldry.pipeline.lake.ledger import Ledger, Manifest
from heraldry.pipeline.settings import LandSettings
from heraldry.pipeline.sources.intake import IntakeSource
from heraldry.pipeline.sources.raw_log import (
    OneLog,
    RawLogDataSource,
    RawLogLines,
    RawLogSource,
    RawLogStreamReader,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SMALL = SegmentLimits(messages=100)
SETTINGS = LandSettings(source="raw-log:x", warehouse="lake", max_per_batch=250)


def line(number: int) -> bytes:
    return b'{"n":%d}' % number


def fill(folder: Path, count: int, source: str | None = None) -> None:
    with RawLogWriter(folder, limits=SMALL, source=source) as log:
        for begin in range(log.end, count, 50):
            log.append([line(number) for number in range(begin, min(begin + 50, count))])
            log.sync()


def stream(folder: Path, **options: str) -> RawLogStreamReader:
    given = {"folder": str(folder), "reader": "r", "limit": "250", "parts": "2"} | options
    return RawLogStreamReader({"checkpoint": f"{folder}-{given['reader']}"} | given)


def rows(reader: RawLogStreamReader, begin: int, end: int) -> list[tuple[int, bytes]]:
    parts = reader.partitions({"number": begin}, {"number": end})
    return [
        (row["position"], row["value"])
        for part in pickle.loads(pickle.dumps(parts))
        for batch in reader.read(part)
        for row in batch.to_pylist()
    ]


def test_a_range_is_read_by_pieces(tmp_path):
    fill(tmp_path, 333)
    reader = stream(tmp_path)
    assert rows(reader, 5, 320) == [(number, line(number)) for number in range(5, 320)]
    assert rows(reader, 7, 7) == []


def test_lines_have_the_time_they_were_taken_in(tmp_path):
    """What is no event has no other time: it tells how fresh a table is."""
    with RawLogWriter(tmp_path, clock=lambda: 1_700_000_000.0) as log:
        log.append([line(0), line(1)])
        log.sync()
    reader = stream(tmp_path)
    (part,) = reader.partitions({"number": 0}, {"number": 2})
    lines = RawLogLines("mqtt://broker/x").lines(list(reader.read(part)))
    assert lines.times is not None
    assert [time.timestamp() for time in lines.times.to_pylist()] == [1_700_000_000.0] * 2


def test_admission_and_available_now(tmp_path):
    fill(tmp_path, 300)
    reader = stream(tmp_path)
    assert reader.getDefaultReadLimit() == ReadMaxRows(250)
    assert reader.initialOffset() == {"number": 0}
    assert reader.latestOffset({"number": 0}, ReadMaxRows(250)) == {"number": 250}
    assert reader.latestOffset({"number": 0}, ReadAllAvailable()) == {"number": 300}
    reader.prepareForTriggerAvailableNow()
    fill(tmp_path, 400)
    assert reader.latestOffset({"number": 250}, ReadMaxRows(250)) == {"number": 300}
    assert reader.latestOffset({"number": 300}, ReadMaxRows(250)) == {"number": 300}
    assert reader.reportLatestOffset() == {"number": 400}


def test_segments_go_once_they_are_committed_one_batch_late(tmp_path):
    fill(tmp_path, 1000)
    reader = stream(tmp_path)
    reader.initialOffset()
    reader.commit({"number": 450})
    assert segments(tmp_path)[0] == 0
    reader.commit({"number": 900})
    assert segments(tmp_path)[0] == 400
    assert rows(reader, 450, 451) == [(450, line(450))]
    assert stream(tmp_path, reader="new").initialOffset() == {"number": 400}


def test_lag_is_what_was_not_read(tmp_path):
    fill(tmp_path, 300)
    source = RawLogSource(str(tmp_path), SETTINGS, "checkpoint")
    assert source.lag().messages == 300
    RawLog(tmp_path).advance(source._reader, 100, 250)
    assert source.lag().messages == 50


@pytest.mark.parametrize(
    "spelled",
    ["ck", "./ck", "ck/", "x/../ck", "{here}/ck", "link"],
    ids=["bare", "dot", "/", "..", "abs", "link"],
)
def test_a_checkpoint_is_one_reader_however_it_is_spelled(tmp_path, monkeypatch, spelled):
    monkeypatch.chdir(tmp_path)
    fill(tmp_path / "log", 3)
    (tmp_path / "link").symlink_to("ck")
    given = RawLogSource("log", SETTINGS, spelled.format(here=tmp_path))
    assert given._reader == RawLogSource("log", SETTINGS, "ck")._reader


def test_two_jobs_that_spell_their_checkpoints_alike_are_two_readers(tmp_path, monkeypatch):
    log = tmp_path / "log"
    fill(log, 500)
    readers = []
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        source = RawLogSource(str(log), SETTINGS, "state")
        readers.append(stream(log, reader=source._reader))
        Ledger.open("state")
    ahead, behind = readers
    assert ahead.initialOffset() == behind.initialOffset() == {"number": 0}
    for number in (200, 400, 500):
        ahead.commit({"number": number})
    assert rows(behind, 0, 500) == [(number, line(number)) for number in range(500)]


def before(checkpoint: str) -> str:
    """The name that a reader had where its checkpoint was named as it was spelled."""
    return sha256(checkpoint.encode()).hexdigest()[:16]


def test_a_reader_of_an_earlier_version_is_taken_over_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fill(tmp_path / "log", 500)
    log = RawLog(tmp_path / "log")
    Ledger.open("ck")  # the job has run
    log.advance(before("ck"), 200, 300)
    source = RawLogSource("log", SETTINGS, "ck")
    assert [path.name for path in (log.folder / "readers").iterdir()] == [source._reader]
    assert source.lag().messages == 200
    again = stream(log.folder, reader=source._reader)
    assert again.latestOffset({"number": 300}, ReadMaxRows(250)) == {"number": 500}
    again.commit({"number": 300})
    again.commit({"number": 500})
    assert log.begin() == 300
    assert RawLogSource("log", SETTINGS, "ck").lag().messages == 0
    assert log.progress(source._reader) == (500, 500)


def test_two_jobs_that_were_one_reader_keep_what_both_need(tmp_path, monkeypatch):
    log = tmp_path / "log"
    fill(log, 500)
    RawLog(log).advance(before("state"), 400, 400)
    sources = []
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        Ledger.open("state")
        sources.append(RawLogSource(str(log), SETTINGS, "state"))
    ahead, behind = (stream(log, reader=source._reader) for source in sources)
    ahead.commit({"number": 400})
    ahead.commit({"number": 500})
    assert rows(behind, 0, 500) == [(number, line(number)) for number in range(500)]


def test_a_new_job_takes_over_no_reader(tmp_path, monkeypatch):
    """It could be that of a job in another folder, which spells its checkpoint alike."""
    monkeypatch.chdir(tmp_path)
    fill(tmp_path / "log", 500)
    log = RawLog(tmp_path / "log")
    log.advance(before("ck"), 200, 300)
    source = RawLogSource("log", SETTINGS, "ck")
    assert source.lag().messages == 500
    assert log.progress(before("ck")) == (200, 300)


def test_a_log_that_was_begun_anew_stops_the_job(tmp_path):
    fill(tmp_path, 10)
    told = r"has 10 messages, but 11 were read from it \(it was begun anew: so must the job"
    with pytest.raises(RawLogError, match=told):
        stream(tmp_path).latestOffset({"number": 11}, ReadAllAvailable())


ANEW = r"is not the log \w{12}, which was read before \(it was begun anew: so must the job\)"


def begun_anew(tmp_path: Path, count: int) -> tuple[Path, RawLogStreamReader]:
    """A job has read 500 messages; its next run finds another log, of so many."""
    old, new, checkpoint = tmp_path / "old", tmp_path / "new", str(tmp_path / "ck")
    fill(old, 500)
    first = stream(old, checkpoint=checkpoint)
    assert first.initialOffset() == {"number": 0}
    assert first.latestOffset({"number": 0}, ReadAllAvailable()) == {"number": 500}
    fill(new, count)
    return new, stream(new, checkpoint=checkpoint)


@pytest.mark.parametrize("count", [0, 400, 500, 600], ids=["empty", "shorter", "same", "longer"])
def test_another_log_stops_the_job_however_long_it_is(tmp_path, count):
    """Else its first messages would be skipped, as read, and then be removed."""
    _, second = begun_anew(tmp_path, count)
    with pytest.raises(RawLogError, match=ANEW):
        second.latestOffset({"number": 500}, ReadAllAvailable())


def test_another_log_stops_a_batch_that_is_read_again(tmp_path):
    """Spark then asks for its pieces at once; where it is the first one, for its begin as well."""
    new, second = begun_anew(tmp_path, 600)
    with pytest.raises(RawLogError, match=ANEW):
        second.partitions({"number": 0}, {"number": 500})
    with pytest.raises(RawLogError, match=ANEW):
        second.initialOffset()
    assert RawLog(new).slowest() is None


def test_another_log_amid_a_run_stops_the_job(tmp_path):
    fill(tmp_path / "log", 500)
    reader = stream(tmp_path / "log")
    assert reader.latestOffset(reader.initialOffset(), ReadMaxRows(250)) == {"number": 250}
    (tmp_path / "log").rename(tmp_path / "lost")
    fill(tmp_path / "log", 600)
    with pytest.raises(RawLogError, match=ANEW):
        reader.latestOffset({"number": 250}, ReadMaxRows(250))


def test_another_log_is_told_before_spark_starts(tmp_path):
    new, _ = begun_anew(tmp_path, 600)
    source = RawLogSource(str(new), SETTINGS, str(tmp_path / "ck"))
    with pytest.raises(RawLogError, match=ANEW), source.open():
        pass


def test_a_log_that_was_moved_is_the_same(tmp_path):
    fill(tmp_path / "old", 500)
    checkpoint = str(tmp_path / "ck")
    stream(tmp_path / "old", checkpoint=checkpoint).initialOffset()
    (tmp_path / "old").rename(tmp_path / "new")
    moved = stream(tmp_path / "new", checkpoint=checkpoint)
    assert moved.latestOffset({"number": 0}, ReadAllAvailable()) == {"number": 500}


def test_a_log_that_has_not_begun_has_no_name_yet(tmp_path):
    (tmp_path / "log").mkdir()
    reader = stream(tmp_path / "log")
    assert reader.latestOffset(reader.initialOffset(), ReadAllAvailable()) == {"number": 0}
    fill(tmp_path / "log", 9)
    assert reader.latestOffset({"number": 0}, ReadAllAvailable()) == {"number": 9}
    (tmp_path / "log").rename(tmp_path / "lost")
    fill(tmp_path / "log", 20)
    with pytest.raises(RawLogError, match=ANEW):
        reader.latestOffset({"number": 9}, ReadAllAvailable())


def test_a_job_of_an_earlier_version_takes_the_log_that_is_long_enough(tmp_path):
    """It has kept no name: a log that is too short is not taken for the one that it read."""
    checkpoint = str(tmp_path / "ck")
    fill(tmp_path / "anew", 10)
    fill(tmp_path / "log", 500)
    with pytest.raises(RawLogError, match="has 10 messages, but 450 were read"):
        stream(tmp_path / "anew", checkpoint=checkpoint).latestOffset(
            {"number": 450}, ReadAllAvailable()
        )
    good = stream(tmp_path / "log", checkpoint=checkpoint)
    assert good.latestOffset({"number": 450}, ReadAllAvailable()) == {"number": 500}
    fill(tmp_path / "anew", 600)
    with pytest.raises(RawLogError, match=ANEW):
        stream(tmp_path / "anew", checkpoint=checkpoint).latestOffset(
            {"number": 500}, ReadAllAvailable()
        )


def test_what_goes_before_the_first_batch_is_done_is_missed(tmp_path):
    """Spark asks for the begin again: the first batch was planned from 0 on."""
    fill(tmp_path, 500)
    assert stream(tmp_path).initialOffset() == {"number": 0}
    (tmp_path / "readers" / "r").unlink()
    RawLog(tmp_path).purge(300)
    again = stream(tmp_path)
    assert again.initialOffset() == {"number": 0}
    with pytest.raises(RawLogError, match="the messages from 0 on are not there any more"):
        again.partitions({"number": 0}, {"number": 250})
    with pytest.raises(RawLogError, match="the messages from 250 on are not there any more"):
        again.partitions({"number": 300}, {"number": 250})


def test_a_log_whose_mark_a_power_cut_took_waits_for_its_intake(tmp_path):
    """The messages are there: to begin anew would land them twice."""
    fill(tmp_path, 300)
    (tmp_path / "end").unlink()
    with pytest.raises(RawLogError, match="begin its heraldry intake first") as caught:
        stream(tmp_path).latestOffset({"number": 250}, ReadAllAvailable())
    assert "anew" not in str(caught.value)
    fill(tmp_path, 300)
    assert stream(tmp_path).latestOffset({"number": 250}, ReadAllAvailable()) == {"number": 300}


def test_a_reader_says_which_checkpoint_it_is(tmp_path):
    fill(tmp_path / "log", 300)
    source = RawLogSource(str(tmp_path / "log"), SETTINGS, str(tmp_path / "ck"))
    reader = stream(tmp_path / "log", reader=source._reader, place=source._place)
    reader.initialOffset()
    reader.latestOffset({"number": 250}, ReadAllAvailable())
    reader.commit({"number": 250})
    slowest = RawLog(tmp_path / "log").slowest()
    assert (slowest.place, slowest.read) == (str(tmp_path / "ck"), 250)


def test_the_source_is_named_by_the_log(tmp_path):
    fill(tmp_path / "a", 3, "mqtt://Broker/shops/#")
    fill(tmp_path / "b", 3)
    source = RawLogSource(str(tmp_path / "a"), SETTINGS, "checkpoint")
    assert source.name == "mqtt://broker:1883/shops/#"
    assert RawLogSource(str(tmp_path / "b"), SETTINGS, "c").name == f"raw-log:{tmp_path / 'b'}"
    reader = stream(tmp_path / "a")
    (part,) = reader.partitions({"number": 0}, {"number": 3})
    lines = pickle.loads(pickle.dumps(source.reader()))().lines(list(reader.read(part)))
    assert lines.values.to_pylist() == [line(0), line(1), line(2)]
    assert lines.positions.to_pylist() == ["0", "1", "2"]
    assert lines.sources.to_pylist() == ["mqtt://broker:1883/shops/#"] * 3


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(UsageError, match="begin one: heraldry intake --log"):
        RawLogSource(str(tmp_path / "none"), SETTINGS, "checkpoint")


def endpoint(protocol: str, *addresses: str, **options: str) -> Endpoint:
    xid = Xid.parse("/endpoints/desk")
    return Endpoint(xid=xid, protocol=protocol, addresses=addresses, options=options)


@pytest.mark.parametrize(
    ("given", "name", "repeats"),
    [
        (endpoint("MQTT/5.0", "mqtt://b:1883", topicfilter="a/#"), "mqtt://b:1883/a/#", True),
        (endpoint("AMQP/1.0", "amqps://u:p@b:5671/queue"), "amqps://b:5671/queue", True),
        (endpoint("NATS", "nats://b:4222", subject="a.*"), "nats://b:4222/a.*", False),
        (endpoint("HTTP", "http://0.0.0.0:8080/in"), "http://0.0.0.0:8080/in", True),
    ],
    ids=["mqtt", "amqp", "nats", "http"],
)
def test_intake_says_where_from_and_what_it_promises(tmp_path, given, name, repeats):
    source = IntakeSource(given, SETTINGS, str(tmp_path))
    assert (source.name, source.guarantee.repeats) == (name, repeats)
    assert (tmp_path / "raw_log").is_dir()


def test_intake_refuses_what_cannot_be(tmp_path):
    mqtt = endpoint("MQTT/5.0", "mqtt://b")
    with pytest.raises(UsageError, match="name its folder: --raw-log"):
        IntakeSource(mqtt, SETTINGS, "s3://bucket/checkpoint")
    with pytest.raises(UsageError, match="kafka://b:9092 needs no intake"):
        IntakeSource(endpoint("KAFKA", "kafka://b:9092"), SETTINGS, str(tmp_path))
    settings = LandSettings(source="", warehouse="", source_options={"idle": "soon"})
    with pytest.raises(UsageError, match="idle is 'soon'"):
        IntakeSource(mqtt, settings, str(tmp_path))


MQTT = endpoint("MQTT/5.0", "mqtt://127.0.0.1:9", topicfilter="a")  # nobody is there


def test_nothing_is_taken_into_another_log(tmp_path):
    checkpoint, settings = str(tmp_path / "ck"), replace(SETTINGS, raw_log=str(tmp_path / "old"))
    fill(tmp_path / "old", 3, "mqtt://127.0.0.1:9/a")
    with pytest.raises(TransportError), IntakeSource(MQTT, settings, checkpoint).open():
        pass
    (name,) = (tmp_path / "ck").glob("heraldry/raw_log")
    assert name.read_text() == RawLog(tmp_path / "old").name()
    settings = replace(SETTINGS, raw_log=str(tmp_path / "new"))
    with pytest.raises(RawLogError, match=ANEW), IntakeSource(MQTT, settings, checkpoint).open():
        pass
    assert list((tmp_path / "new").iterdir()) == []


def test_a_job_that_took_nothing_may_have_another_log(tmp_path):
    """Its broker was never there: the folder that was named for the log does not count yet."""
    checkpoint = str(tmp_path / "ck")
    for folder in ("small", "big", "small"):
        settings = replace(SETTINGS, raw_log=str(tmp_path / folder))
        with pytest.raises(TransportError), IntakeSource(MQTT, settings, checkpoint).open():
            pass
        assert RawLog(tmp_path / folder).name() is not None
        assert not (tmp_path / "ck" / "heraldry" / "raw_log").exists()


def test_a_log_that_an_earlier_run_has_kept_stays(tmp_path):
    """That run was connected, and may have sent the broker what it wants to be kept."""
    checkpoint, settings = str(tmp_path / "ck"), replace(SETTINGS, raw_log=str(tmp_path / "log"))
    with RawLogWriter(tmp_path / "log", source="mqtt://127.0.0.1:9/a"):
        assert OneLog(RawLog(tmp_path / "log"), checkpoint).keep()
    with pytest.raises(TransportError), IntakeSource(MQTT, settings, checkpoint).open():
        pass
    assert (tmp_path / "ck/heraldry/raw_log").read_text() == RawLog(tmp_path / "log").name()


def test_an_intake_of_an_earlier_version_keeps_the_name_when_it_reads(tmp_path):
    checkpoint, settings = str(tmp_path / "ck"), replace(SETTINGS, raw_log=str(tmp_path / "log"))
    ledger = Ledger.open(checkpoint)
    ledger.prepare(Manifest(batch=0, files=(), tables={}))
    with pytest.raises(TransportError), IntakeSource(MQTT, settings, checkpoint).open():
        pass
    assert not (tmp_path / "ck" / "heraldry" / "raw_log").exists()


def landed(spark: SparkSession, source: RawLogSource, checkpoint: Path) -> list[list[int]]:
    """The numbers of every batch of one run."""
    batches: list[list[int]] = []

    def take(frame: DataFrame, batch: int) -> None:
        del batch
        found = [(row["position"], bytes(row["value"])) for row in frame.collect()]
        assert found == [(number, line(number)) for number, _ in found]
        batches.append([number for number, _ in found])

    query = (
        source.read(spark)
        .writeStream.foreachBatch(take)
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination(60)
    return batches


def test_spark_reads_every_message_once(spark, tmp_path):
    log, checkpoint = tmp_path / "log", tmp_path / "checkpoint"
    fill(log, 700)
    source = RawLogSource(str(log), SETTINGS, str(checkpoint))
    first = landed(spark, source, checkpoint)
    assert [len(batch) for batch in first] == [250, 250, 200]
    assert [number for batch in first for number in batch] == list(range(700))
    assert source.lag().messages == 0
    fill(log, 710)
    assert source.lag().messages == 10
    assert landed(spark, source, checkpoint) == [list(range(700, 710))]
    assert landed(spark, source, checkpoint) == []
    assert segments(log)[0] > 0  # what was read is not kept for ever
    assert RawLogDataSource.name() == "heraldry_raw_log"
