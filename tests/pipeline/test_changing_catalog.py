"""A catalog that changes, goes and comes back under a job on Spark."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING, Any

import pytest

from heraldry.client.catalog_follower import CatalogFollower
from heraldry.client.registry_catalog import Catalogs
from heraldry.errors import PipelineError, WarehouseError
from heraldry.pipeline.job import land
from heraldry.pipeline.lake.tables import tables
from heraldry.pipeline.landing.catalog_watch import CatalogWatch
from heraldry.pipeline.landing.report import BatchReport, LandReport
from heraldry.pipeline.settings import LandSettings
from heraldry.pipeline.watching.observer import JobInfo, Silent
from heraldry.pipeline.watching.status import status
from tests.cli.served import serving
from tests.suites.streams import TEXT, record

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.slow


def document(*names: str, deprecated: str = "") -> bytes:
    messages = {
        name: {
            "messageid": name,
            "envelope": "CloudEvents/1.0",
            "envelopemetadata": {"type": {"value": name}},
            **({"deprecated": {"alternative": "/new"}} if name == deprecated else {}),
        }
        for name in names
    }
    group = {"messagegroupid": "orders", "envelope": "CloudEvents/1.0", "messages": messages}
    return json.dumps({"specversion": "1.0-rc2", "messagegroups": {"orders": group}}).encode()


class AfterEach(Silent):
    """Does something when the first batch is committed, the second ..., and keeps the reports."""

    def __init__(self, *deeds: Callable[[], object]) -> None:
        self._deeds = list(deeds)
        self.batches: list[BatchReport] = []
        self.events: list[str] = []

    def event(self, text: str) -> None:
        self.events.append(text)

    def batch(self, info: JobInfo, report: BatchReport) -> None:
        self.batches.append(report)
        if self._deeds:
            self._deeds.pop(0)()


class Site:
    """Three files of one message of each kind; every batch takes one file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        inbox = folder / "inbox"
        inbox.mkdir()
        for file in range(3):
            lines = [
                json.dumps({"specversion": "1.0", "type": kind, "source": "/s", "id": f"{file}"})
                for kind in ("placed", "refunded")
            ]
            (inbox / f"{file}.jsonl").write_text("\n".join(lines) + "\n")

    def land(
        self,
        place: str | Path,
        observer: AfterEach,
        *,
        stream: bool = False,
        partition_by: tuple[str, ...] = (),
        **watching: Any,
    ) -> LandReport:
        follower = CatalogFollower(Catalogs(cache=self.folder / "cache"), [place])
        watch = CatalogWatch(follower.look, every=0.0, **watching)
        settings = LandSettings(
            source=f"files:{self.folder / 'inbox'}",
            warehouse=str(self.folder / "lake"),
            master="local[2]",
            max_per_batch=1,
            stream=stream,
            partition_by=partition_by,
            breaker=None,
        )
        try:
            return land(watch, settings, [observer])
        finally:
            follower.close()

    def rows(self) -> dict[str, int]:
        return {one.name[-1]: one.rows for one in tables(str(self.folder / "lake"))}


def test_a_new_definition_lands_from_the_next_batch_on(tmp_path: Path, spark: SparkSession) -> None:
    site = Site(tmp_path)
    catalog = tmp_path / "orders.xreg.json"
    catalog.write_bytes(document("placed"))
    observer = AfterEach(lambda: catalog.write_bytes(document("placed", "refunded")))
    told: list[str] = []
    report = site.land(catalog, observer, grace=0.0, tell=told.append)
    assert [(one.landed, one.dead) for one in observer.batches] == [(1, 1), (2, 0), (2, 0)]
    assert (report.read, report.landed, report.dead) == (6, 5, 1)
    assert site.rows() == {"placed": 3, "refunded": 2}
    first, second, third = (one.catalog for one in observer.batches)
    assert first != second == third
    assert len(told) == 1


def test_a_table_that_gains_the_column_of_the_partitions(
    tmp_path: Path, spark: SparkSession
) -> None:
    """It was made without: it goes on so, in this run and in the next, and each says so once."""
    site = Site(tmp_path)
    catalog = tmp_path / "orders.xreg.json"
    shop = {"dataschemaformat": "JsonSchema/draft-07", "dataschema": record(shop=TEXT)}
    first, second = (json.loads(document("placed", "refunded")) for _ in range(2))
    first["messagegroups"]["orders"]["messages"]["refunded"] |= shop
    for message in second["messagegroups"]["orders"]["messages"].values():
        message |= shop
    for file in (tmp_path / "inbox").iterdir():
        file.write_text(file.read_text().replace('"source"', '"data": {"shop": "a"}, "source"'))
    catalog.write_text(json.dumps(first))
    observer = AfterEach(lambda: catalog.write_text(json.dumps(second)))
    for batches in (3, 0):
        report = site.land(catalog, observer, grace=0.0, partition_by=("shop",))
        assert (report.batches, report.dead) == (batches, 0)
    assert site.rows() == {"placed": 3, "refunded": 3}
    told = [one for one in observer.events if "partitions" in one]
    assert (
        told == ["default.orders.placed keeps no partitions: its rows are not divided by shop"] * 2
    )


def test_a_schema_that_does_not_compile_is_told_with_its_catalog(
    tmp_path: Path, spark: SparkSession
) -> None:
    site = Site(tmp_path)
    catalog = tmp_path / "orders.xreg.json"
    bad = json.loads(document("placed", "refunded"))
    bad["messagegroups"]["orders"]["messages"]["refunded"] |= {
        "dataschemaformat": "JsonSchema/draft-07",
        "dataschema": {"type": "objekt"},
    }
    told = "/messagegroups/orders/messages/refunded: its schema does not compile"
    catalog.write_bytes(document("placed", "refunded"))
    observer = AfterEach(lambda: catalog.write_text(json.dumps(bad)))
    for batches in (3, 0):  # in the middle of a run, and at the start of one
        report = site.land(catalog, observer, grace=0.0)
        assert (report.batches, report.dead) == (batches, 0)
    assert [one.startswith(told) for one in observer.events if "refunded" in one] == [True] * 2


def test_a_deprecation_is_told_from_the_next_batch_on(tmp_path: Path, spark: SparkSession) -> None:
    site = Site(tmp_path)
    catalog = tmp_path / "orders.xreg.json"
    both = ("placed", "refunded")
    catalog.write_bytes(document(*both))
    observer = AfterEach(lambda: catalog.write_bytes(document(*both, deprecated="placed")))
    assert site.land(catalog, observer, grace=0.0).landed == 6
    xid = "/messagegroups/orders/messages/placed"
    found = [{name: one.rows for name, one in b.deprecated.items()} for b in observer.batches]
    assert found == [{}, {xid: 1}, {xid: 1}]
    assert [text for text in observer.events if "deprecated" in text] == [
        f"1 row of deprecated {xid}; use /new"
    ]
    ((listed, rows),) = status(str(tmp_path / "lake")).deprecated
    assert (listed, rows.rows, rows.alternative) == (xid, 2, "/new")


def test_a_registry_that_stays_away_stops_the_job_and_makes_no_dead_letters(
    tmp_path: Path, spark: SparkSession
) -> None:
    site = Site(tmp_path)
    source = tmp_path / "orders.xreg.json"
    source.write_bytes(document("placed", "refunded"))
    base = tmp_path / "registry"
    base.mkdir()
    with serving(base, "--import", str(source)) as served:
        observer = AfterEach(served.process.kill)
        with pytest.raises(PipelineError, match="asked for its catalog"):
            site.land(served.url, observer, grace=0.0)
    assert [(one.landed, one.dead) for one in observer.batches] == [(2, 0)]
    port = served.url.rstrip("/").rpartition(":")[2]
    with serving(base, "--port", port):
        report = site.land(served.url, AfterEach(), grace=0.0)
    assert (report.read, report.landed, report.dead) == (4, 4, 0)
    assert site.rows() == {"placed": 3, "refunded": 3}


def test_a_registry_that_returns_within_the_grace_is_asked_again(
    tmp_path: Path, spark: SparkSession
) -> None:
    """Killed after the first batch, back after the second: the third goes by what it says then."""
    site = Site(tmp_path)
    source = tmp_path / "orders.xreg.json"
    source.write_bytes(document("placed", "refunded"))
    base = tmp_path / "registry"
    base.mkdir()
    told: list[str] = []
    with ExitStack() as servers:
        served = servers.enter_context(serving(base, "--import", str(source)))
        port = served.url.rstrip("/").rpartition(":")[2]

        def returned() -> None:
            again = servers.enter_context(serving(base, "--port", port))
            again.ok("create", "/messagegroups/orders/messages/shipped", "-d", "{}")

        observer = AfterEach(served.process.kill, returned)
        report = site.land(served.url, observer, grace=600.0, tell=told.append)
    assert (report.read, report.landed, report.dead) == (6, 6, 0)
    first, second, third = (one.catalog for one in observer.batches)
    assert first == second != third
    # It may be asked between the moment it is back and its change.
    assert {text.partition(":")[0].partition(" after")[0] for text in told} == {
        "the last catalog goes on for up to 600 s",
        "the catalog changed",
        "the catalog is back",
    }


@pytest.mark.timeout(240)
def test_a_stream_that_is_silent_stops_too(tmp_path: Path, spark: SparkSession) -> None:
    """After the first three files there is no batch any more that would ask for the catalog."""
    site = Site(tmp_path)
    catalog = tmp_path / "orders.xreg.json"
    catalog.write_bytes(document("placed", "refunded"))
    told: list[str] = []

    class Emptied(AfterEach):
        def batch(self, info: JobInfo, report: BatchReport) -> None:
            self.batches.append(report)
            if len(self.batches) == 3:
                Timer(3.0, catalog.unlink).start()

    observer = Emptied(lambda: None)
    with pytest.raises(PipelineError, match=r"its catalog: for \d+ s it could not be had"):
        site.land(catalog, observer, stream=True, grace=2.0, tell=told.append)
    assert [(one.landed, one.dead) for one in observer.batches] == [(2, 0)] * 3
    assert len(told) == 1
    assert told[0].startswith("the last catalog goes on for up to 2 s: ")


def test_a_definition_that_cannot_be_landed_leaves_the_last_catalog(
    tmp_path: Path, spark: SparkSession
) -> None:
    """Somebody adds a second message for one table; before the first batch that is an error."""
    site = Site(tmp_path)
    catalog = tmp_path / "orders.xreg.json"
    catalog.write_bytes(document("placed", "refunded"))
    shared = json.loads(document("placed", "refunded"))
    own = {"endpointid": "orders", "messages": {"Placed": {"messageid": "Placed"}}}
    shared["endpoints"] = {"orders": own | {"usage": ["producer"]}}
    told: list[str] = []
    observer = AfterEach(lambda: catalog.write_text(json.dumps(shared)))
    report = site.land(catalog, observer, grace=600.0, tell=told.append)
    assert (report.read, report.landed, report.dead) == (6, 6, 0)
    assert len(told) == 1
    assert "would land in the same table default.orders.placed" in told[0]
    with pytest.raises(WarehouseError, match="would land in the same table"):
        site.land(catalog, observer, grace=600.0)


def test_within_the_grace_the_last_catalog_goes_on(tmp_path: Path, spark: SparkSession) -> None:
    site = Site(tmp_path)
    catalog = tmp_path / "orders.xreg.json"
    catalog.write_bytes(document("placed", "refunded"))
    told: list[str] = []
    observer = AfterEach(lambda: catalog.write_bytes(b'{"messagegroups": '))
    report = site.land(catalog, observer, grace=600.0, tell=told.append)
    assert (report.read, report.landed, report.dead) == (6, 6, 0)
    assert len(told) == 1
    assert "orders.xreg.json" in told[0]
