"""Lineage: events as OpenLineage has them, and a collector that cannot hold up the job."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pyarrow as pa
import pytest

from heraldry.errors import PipelineError, UsageError
from heraldry.pipeline.lake import delta
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.watching.lineage import MOST_TABLES, Lineage
from heraldry.pipeline.watching.lineage_events import Moment, Output, places, run_event, run_uuid
from tests.conftest import suite
from tests.pipeline.watching.lineage_checks import (
    check_by_classes,
    check_by_schemas,
    check_landing_facet,
    facets_of,
)
from tests.pipeline.watching.observing import DIGEST, NOON, RUN, batch, info, total

PARENT = f"airflow://host/dags/nightly.land/{RUN}"
ENVIRONMENT = {"OPENLINEAGE_PARENT_ID": PARENT, "OPENLINEAGE_NAMESPACE": "shop"}


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    """A warehouse with two tables, dead letters and a stray file."""
    storage = Storage(str(tmp_path / "lake"))
    schema = pa.schema([("id", pa.string()), ("lines", pa.list_(pa.int64()))])
    for path in ("default/orders/placed", "default/orders/paid", "_dead_letters"):
        delta.create_table(storage, path, schema, {})
    (tmp_path / "lake" / "README").write_text("not a table")
    return tmp_path / "lake"


def told(file: Path, lake: Path, *, every: float = 0.0, error: BaseException | None = None) -> list:
    """The events of a run of two batches."""
    about = info(warehouse=str(lake))
    lineage = Lineage(str(file), tell=pytest.fail, every=every, environ=ENVIRONMENT)
    lineage.started(about)
    lineage.event("nobody cares")
    lineage.batch(about, batch())
    lineage.batch(about, batch(1, tables={"default.orders.placed": 8}))
    lineage.ended(about, total(batch(), batch()), error)
    return [json.loads(line) for line in file.read_text().splitlines()]


@pytest.fixture
def events(tmp_path: Path, lake: Path) -> list[dict[str, Any]]:
    return told(tmp_path / "lineage.jsonl", lake)


def outputs(event: dict[str, Any]) -> dict[str, int]:
    return {
        Path(one["name"]).name: one["outputFacets"]["outputStatistics"]["rowCount"]
        for one in event["outputs"]
    }


def test_a_run_is_told_from_start_to_end(events: list[dict[str, Any]], lake: Path) -> None:
    assert [one["eventType"] for one in events] == ["START", "RUNNING", "RUNNING", "COMPLETE"]
    assert {one["run"]["runId"] for one in events} == {RUN}
    assert {(one["job"]["namespace"], one["job"]["name"]) for one in events} == {
        ("shop", "heraldry-1")
    }
    assert outputs(events[1]) == {"placed": 6, "paid": 2, "_dead_letters": 1}
    assert outputs(events[2]) == {"placed": 14, "_dead_letters": 2}
    assert outputs(events[3]) == {"placed": 14, "paid": 2, "_dead_letters": 2}
    first = events[1]["outputs"][0]
    assert (first["namespace"], first["name"]) == ("file", f"{lake}/default/orders/placed")
    assert first["facets"]["schema"]["fields"] == [
        {"name": "id", "type": "string"},
        {"name": "lines", "type": "array<bigint>"},
    ]


def test_columns_are_told_once(events: list[dict[str, Any]]) -> None:
    named = ["schema" in one["facets"] for event in events for one in event["outputs"]]
    assert named.count(True) == 3


def test_what_was_read_is_told_with_its_quality(events: list[dict[str, Any]]) -> None:
    (source,) = events[-1]["inputs"]
    assert (source["namespace"], source["name"]) == ("kafka://broker:9092", "orders")
    assert source["inputFacets"]["inputStatistics"]["rowCount"] == 20
    (check,) = source["inputFacets"]["dataQualityAssertions"]["assertions"]
    assert (check["success"], check["actual"]) == (False, "2")
    assert check["params"] == {"valid": 16, "deadLetters": {"type": 2}}
    landing = events[-1]["run"]["facets"]["heraldry_landing"]
    assert landing["catalog"] == DIGEST
    assert landing["read"] == landing["landed"] + landing["deadLetters"] + landing["repeated"]


def test_the_run_that_started_this_one_is_its_parent(events: list[dict[str, Any]]) -> None:
    parent = events[0]["run"]["facets"]["parent"]
    assert parent["run"] == {"runId": RUN}
    assert parent["job"] == {"namespace": "airflow://host/dags", "name": "nightly.land"}


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        pytest.param(PipelineError("landed a batch", "out of memory"), "FAIL", id="error"),
        pytest.param(KeyboardInterrupt(), "ABORT", id="interrupted"),
    ],
)
def test_a_run_that_did_not_complete_says_how_it_ended(
    tmp_path: Path, lake: Path, error: BaseException, kind: str
) -> None:
    last = told(tmp_path / "lineage.jsonl", lake, error=error)[-1]
    assert last["eventType"] == kind
    assert ("errorMessage" in last["run"]["facets"]) == (kind == "FAIL")
    check_by_classes(last)


def test_a_run_that_a_signal_stopped_is_aborted(tmp_path: Path, lake: Path) -> None:
    file = tmp_path / "lineage.jsonl"
    about = info(warehouse=str(lake))
    lineage = Lineage(str(file), tell=pytest.fail, environ=ENVIRONMENT)
    lineage.started(about)
    lineage.ended(about, replace(total(batch()), stopped=True), None)
    events = [json.loads(line) for line in file.read_text().splitlines()]
    assert [one["eventType"] for one in events] == ["START", "ABORT"]
    check_by_classes(events[-1])


def test_events_are_what_openlineages_own_classes_take(
    tmp_path: Path, lake: Path, events: list[dict[str, Any]]
) -> None:
    failed = told(tmp_path / "failed.jsonl", lake, error=PipelineError("x", "y"))
    for event in [*events, *failed]:
        check_by_classes(event)
        check_landing_facet(event)


def test_events_are_valid_by_the_specifications_schemas(
    tmp_path: Path, lake: Path, events: list[dict[str, Any]]
) -> None:
    spec = suite("OpenLineage") / "spec"
    failed = told(tmp_path / "failed.jsonl", lake, error=PipelineError("x", "y"))
    for event in [*events, *failed]:
        check_by_schemas(event, spec)


QUALITY = ("inputs", 0, "inputFacets", "dataQualityAssertions", "assertions", 0)
FLAWS = [
    pytest.param(("run", "runId"), "r1", id="run-id"),
    pytest.param(("eventType",), "DONE", id="event-type"),
    pytest.param(("inputs", 0, "inputFacets", "inputStatistics", "rowCount"), "2", id="facet"),
    pytest.param(("outputs", 0, "namespace"), 5, id="namespace"),
    pytest.param((*QUALITY, "success"), "yes", id="quality"),
]


def spoil(event: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    """The event with another value at a place."""
    place: Any = event
    for part in path[:-1]:
        place = place[part]
    place[path[-1]] = value
    return event


@pytest.mark.parametrize(("path", "value"), FLAWS)
def test_the_checks_by_schemas_find_what_is_wrong(
    events: list[dict[str, Any]], path: tuple[Any, ...], value: Any
) -> None:
    spec = suite("OpenLineage") / "spec"
    with pytest.raises(AssertionError):
        check_by_schemas(spoil(events[-1], path, value), spec)


@pytest.mark.parametrize(("path", "value"), FLAWS)
def test_the_checks_by_classes_find_what_is_wrong(
    events: list[dict[str, Any]], path: tuple[Any, ...], value: Any
) -> None:
    with pytest.raises(ValueError, match=r"(?i)expected|uuid|invalid"):
        check_by_classes(spoil(events[-1], path, value))


def test_every_facet_names_its_producer(events: list[dict[str, Any]]) -> None:
    found = [one for event in events for one in facets_of(event)]
    assert len(found) > 20
    assert {one["_producer"] for one in found} == {events[0]["producer"]}


def test_batches_are_told_of_now_and_then(tmp_path: Path, lake: Path) -> None:
    events = told(tmp_path / "lineage.jsonl", lake, every=60.0)
    assert [one["eventType"] for one in events] == ["START", "COMPLETE"]
    assert outputs(events[-1]) == {"placed": 14, "paid": 2, "_dead_letters": 2}


def test_thousands_of_tables_are_counted_not_told(tmp_path: Path, lake: Path) -> None:
    file = tmp_path / "lineage.jsonl"
    lineage = Lineage(str(file), tell=pytest.fail, every=60.0, environ={})
    about = info(warehouse=str(lake))
    tables = {f"default.g.m{number}": 1 for number in range(MOST_TABLES)}
    lineage.started(about)
    lineage.batch(about, batch(tables=tables | {"default.orders.placed": 5, "x": 1}, dead=0))
    lineage.ended(about, total(), None)
    _, last = [json.loads(line) for line in file.read_text().splitlines()]
    assert outputs(last) == {"placed": 5}
    assert last["run"]["facets"]["heraldry_landing"]["tablesLeftOut"] == 2


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param("kafka://b:9092/orders", [("kafka://b:9092", "orders")], id="kafka"),
        pytest.param(
            "kafka://b:9092,c:9092/orders,bills?x=1",
            [("kafka://b:9092", "orders"), ("kafka://b:9092", "bills")],
            id="several-topics",
        ),
        pytest.param("mqtt://b:1883/a/+/c", [("mqtt://b:1883", "a/+/c")], id="mqtt"),
        pytest.param("amqp://u:p@b:5672/queue", [("amqp://b:5672", "queue")], id="no-password"),
        pytest.param("files:/data/in", [("file", "/data/in")], id="folder"),
        pytest.param("/data/lake", [("file", "/data/lake")], id="path"),
        pytest.param("files:s3://bucket/in", [("s3://bucket", "in")], id="objects"),
        pytest.param("s3a://bucket/a/b", [("s3://bucket", "a/b")], id="s3a"),
        pytest.param(
            "abfss://c@acct.dfs.core.windows.net/lake/x",
            [("abfss://c@acct.dfs.core.windows.net", "lake/x")],
            id="azure",
        ),
        pytest.param(
            "abfs://$web@acct.dfs.core.windows.net",
            [("abfs://$web@acct.dfs.core.windows.net", "/")],
            id="azure-container",
        ),
        pytest.param("abfss://u:p@acct/x", [("abfss://acct", "x")], id="azure-password"),
        pytest.param("abfss://u:p@c@acct/x", [("abfss://acct", "x")], id="azure-both"),
        pytest.param("abfss://acct/x", [("abfss://acct", "x")], id="azure-account"),
        pytest.param("kafka://u@b:9092/t", [("kafka://b:9092", "t")], id="no-user"),
        pytest.param(
            "endpoint:/endpoints/orders", [("endpoint", "/endpoints/orders")], id="endpoint"
        ),
    ],
)
def test_places_are_named_as_openlineage_names_them(source: str, expected: list) -> None:
    assert places(source) == expected


def test_an_output_in_object_storage_is_named_by_its_bucket() -> None:
    moment = Moment(kind="COMPLETE", time=NOON, info=info(warehouse="s3://bucket/lake"))
    event = run_event(moment, [Output(name="d.g.m", path="d/g/m", rows=1)], {})
    (output,) = event["outputs"]
    assert (output["namespace"], output["name"]) == ("s3://bucket", "lake/d/g/m")
    check_by_classes(event)


def test_a_run_whose_id_is_no_uuid_gets_one_for_ever_the_same() -> None:
    assert run_uuid("r1") == run_uuid("r1") != run_uuid("r2")
    assert run_uuid(RUN) == RUN


# --- collectors


@dataclass
class Collector:
    url: str = ""
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    status: int = 201
    gate: Event = field(default_factory=Event)


@contextmanager
def collecting(*, open_gate: bool = True) -> Iterator[Collector]:
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            collector.gate.wait(20)
            collector.bodies.append(json.loads(body))
            collector.headers.append(dict(self.headers))
            collector.paths.append(self.path)
            self.send_response(collector.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    collector.url = f"http://127.0.0.1:{server.server_port}"
    if open_gate:
        collector.gate.set()
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield collector
    finally:
        collector.gate.set()
        server.shutdown()
        thread.join()
        server.server_close()


def run(lineage: Lineage, about: Any, batches: int = 2) -> float:
    """Tell of a run; the seconds that it took."""
    begun = time.monotonic()
    lineage.started(about)
    for number in range(batches):
        lineage.batch(about, batch(number))
    lineage.ended(about, total(), None)
    return time.monotonic() - begun


@pytest.mark.parametrize(
    ("path", "asked"),
    [("", "/api/v1/lineage"), ("/", "/api/v1/lineage"), ("/a/b", "/a/b")],
    ids=["bare", "slash", "path"],
)
def test_a_collector_gets_the_events_with_the_key(lake: Path, path: str, asked: str) -> None:
    with collecting() as collector:
        environ = {"OPENLINEAGE_API_KEY": "k3y"}
        lineage = Lineage(collector.url + path, tell=pytest.fail, every=0.0, environ=environ)
        run(lineage, info(warehouse=str(lake)))
    assert [one["eventType"] for one in collector.bodies][::3] == ["START", "COMPLETE"]
    assert set(collector.paths) == {asked}
    assert {one["Authorization"] for one in collector.headers} == {"Bearer k3y"}
    assert {one["Content-Type"] for one in collector.headers} == {"application/json"}


@pytest.mark.parametrize("down", [True, False], ids=["down", "refusing"])
def test_a_collector_that_fails_is_told_of_and_the_job_goes_on(lake: Path, down: bool) -> None:
    said: list[str] = []
    with collecting() as collector:
        collector.status = 500
        url = "http://127.0.0.1:9" if down else collector.url
        lineage = Lineage(url, tell=said.append, every=0.0, environ={})
        assert run(lineage, info(warehouse=str(lake))) < 5
    assert lineage.dropped == 4
    assert said[0].startswith(f"lineage: {url} does not take every event: ")
    assert said[1:] == ["lineage: 4 events were dropped"]


def test_a_collector_that_hangs_does_not_hold_up_the_job(lake: Path) -> None:
    said: list[str] = []
    with collecting(open_gate=False) as collector:
        lineage = Lineage(collector.url, tell=said.append, every=0.0, patience=0.3, environ={})
        assert run(lineage, info(warehouse=str(lake)), batches=300) < 3
        assert lineage.dropped > 200
        assert len(said) == 1


@pytest.mark.parametrize(
    "target", ["no/such/folder/file", "http://user:secret@host/"], ids=["file", "password"]
)
def test_a_target_that_cannot_be_used_is_refused_at_once(tmp_path: Path, target: str) -> None:
    with pytest.raises(UsageError) as refused:
        Lineage(target if "://" in target else str(tmp_path / target), tell=pytest.fail)
    assert "secret" not in str(refused.value)
