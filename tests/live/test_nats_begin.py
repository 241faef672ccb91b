"""Where a job begins that reads a real JetStream stream: found out once, and corrected in time."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from heraldry.errors import PipelineError
from heraldry.pipeline.sources.jetstream import JetStreamReader
from tests.live.servers.nats import NatsServer
from tests.live.test_landing_nats import change, fill, numbered, source, url


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test has a checkpoint of its own: a job remembers there where it began."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("starting", "first"), [("earliest", 0), ("latest", 10), ("4", 3)], ids=str
)
def test_where_a_new_job_begins(nats: NatsServer, starting: str, first: int) -> None:
    stream = f"BEGIN-{starting}"
    fill(nats.address, stream, numbered(10))
    reader = JetStreamReader(source(url(nats, stream), starting=starting)._place)
    assert reader.initialOffset()["sequence"] == first


@pytest.mark.parametrize(
    ("starting", "first"), [("earliest", 0), ("latest", 10), ("4", 3)], ids=str
)
def test_a_job_begins_once(nats: NatsServer, starting: str, first: int) -> None:
    """Spark asks until a batch is done: a killed first batch is read again as it was planned."""
    stream = f"ONCE-{starting}"
    fill(nats.address, stream, numbered(10))
    killed = JetStreamReader(source(url(nats, stream), starting=starting)._place)
    begin = killed.initialOffset()
    fill(nats.address, stream, numbered(5))
    planned = killed.latestOffset(begin, killed.getDefaultReadLimit())
    fill(nats.address, stream, numbered(20))
    again = JetStreamReader(source(url(nats, stream), starting=starting)._place)
    assert again.initialOffset() == begin
    assert (begin["sequence"], planned["sequence"]) == (first, 15)
    (part,) = again.partitions(begin, planned)
    assert part.value == (first + 1, 15)
    change(nats.address, stream, purge=13)
    with pytest.raises(PipelineError, match=rf"dropped its messages {first + 1} to 12 unread"):
        list(again.read(part))


def test_jobs_that_end_begin_at_the_latest_once(nats: NatsServer) -> None:
    fill(nats.address, "HOURLY", numbered(10))
    ends = []
    for _ in range(3):
        reader = JetStreamReader(source(url(nats, "HOURLY"), starting="latest")._place)
        reader.prepareForTriggerAvailableNow()
        begin = reader.initialOffset()
        assert begin["sequence"] == 10
        ends.append(reader.latestOffset(begin, reader.getDefaultReadLimit())["sequence"])
        fill(nats.address, "HOURLY", numbered(10))
    assert ends == [10, 20, 30]


@pytest.mark.parametrize(
    ("kept", "planned", "sequence", "told"),
    [
        ("latest", False, 0, ""),
        ("latest", True, 10, "starting=earliest is for a new job, this one began with .*latest"),
        (None, False, 10, ""),
        (None, True, 10, ""),
    ],
    ids=["no batch", "a batch", "of an earlier version", "of an earlier version, a batch"],
)
def test_another_start_counts_until_a_batch_is_planned(
    nats: NatsServer, tmp_path: Path, kept: str | None, planned: bool, sequence: int, told: str
) -> None:
    stream, heard = f"AGAIN-{kept}-{planned}", list[str]()
    fill(nats.address, stream, numbered(10))
    first = JetStreamReader(source(url(nats, stream), starting="latest")._place)
    begin = first.initialOffset()
    assert begin["sequence"] == 10
    if kept is None:
        (tmp_path / "cp/heraldry/stream_begin").write_text(json.dumps(begin))
    if planned:
        (tmp_path / "cp/offsets").mkdir()
        (tmp_path / "cp/offsets/0").touch()
    if kept is not None:  # who gives no start goes on
        silent = JetStreamReader(source(url(nats, stream))._place)
        assert silent.initialOffset()["sequence"] == 10
    corrected = source(url(nats, stream), starting="earliest")
    with corrected.open(heard.append):
        assert JetStreamReader(corrected._place).initialOffset()["sequence"] == sequence
    assert re.search(told, " ".join(heard))
    assert len(heard) == bool(told)
    with source(url(nats, stream)).open(heard.append):  # who gives no start is told nothing
        assert len(heard) == bool(told)
