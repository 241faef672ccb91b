"""Deprecated definitions: their messages land as before, and everybody is told of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest
from deltalake import Schema

from heraldry.client.catalog_follower import Look
from heraldry.dialects.load import load_bytes
from heraldry.pipeline.identities.duplicates import Window
from heraldry.pipeline.lake import delta
from heraldry.pipeline.lake.commits import Committer
from heraldry.pipeline.lake.layout import TablePlan
from heraldry.pipeline.lake.ledger import DeprecatedRows, Ledger
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.landing import batches
from heraldry.pipeline.landing.batch import BatchLander
from heraldry.pipeline.landing.breaker import Breaker
from heraldry.pipeline.landing.catalog_watch import CatalogWatch
from heraldry.pipeline.landing.report import BatchReport
from heraldry.pipeline.settings import LandSettings
from heraldry.pipeline.sources.files import FilesSource
from heraldry.pipeline.watching.logs import PASSING
from heraldry.pipeline.watching.metrics import JobMetrics
from heraldry.pipeline.watching.observer import JobInfo, Silent
from heraldry.pipeline.watching.observers import Observers
from heraldry.pipeline.watching.status import status
from tests.pipeline.landing.local_frame import frame_of
from tests.pipeline.watching.observing import info
from tests.suites.streams import NUMBER, TEXT, document, kind, line, record, xid

ORDER = dict(kind("order", record("id", id=TEXT)).definition)
SCAN = dict(kind("scan", record("tag", tag=TEXT, weight=NUMBER)).definition)
NOTICE = {"alternative": "https://example.com/v2/1/2", "removal": "2027-01-01T00:00:00Z"}
ROWS = DeprecatedRows(rows=2, **NOTICE)
TOLD = (
    f"2 rows of deprecated {xid('order')}; use {NOTICE['alternative']}; removal {NOTICE['removal']}"
)


def catalog(order: Any = None, **messages: Mapping[str, Any]) -> bytes:
    """A catalog whose orders may be deprecated."""
    own = ORDER if order is None else {**ORDER, "deprecated": order}
    return document({"order": own, "scan": SCAN, **messages})


def orders(*numbers: int, **more: str) -> list[bytes]:
    common = {"specversion": "1.0", "source": "/shops/berlin", "type": "shop.order", **more}
    return [line(common | {"id": f"o-{n}", "data": {"id": str(n)}}) for n in numbers]


def scan(number: int) -> bytes:
    common = {"specversion": "1.0", "source": "/shops/berlin", "type": "shop.scan"}
    return line(common | {"id": f"s-{number}", "data": {"tag": "t", "weight": 1}})


class Events(Silent):
    """Keeps what went on."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def event(self, text: str) -> None:
        self.told.append(text)


class Job:
    """A job whose catalog may be changed between its batches, with those who watch it."""

    def __init__(self, folder: Path, first: bytes, *, once: bool = False, **plan: Any) -> None:
        self.lake = folder / "lake"
        self.catalogs = deque([first])
        self.events, self.metrics = Events(), JobMetrics()
        self.observers = Observers(info(), [self.events, self.metrics])
        self.number = 0
        storage, ledger = Storage.open(str(self.lake)), Ledger.open(str(self.lake / "_checkpoint"))
        settings = LandSettings(source=f"files:{folder}", warehouse=str(self.lake))
        self.lander = BatchLander(
            settings=settings,
            committer=Committer(storage, ledger.job),
            ledger=ledger,
            source=FilesSource(str(folder), settings),
            watch=CatalogWatch(self._look, 0.0, every=0.0),
            plan=TablePlan(**plan),
            run="run",
            breaker=Breaker(None, ledger),
            window=Window.open(ledger.storage, "heraldry/identities", 100) if once else None,
        )

    def _look(self) -> Look:
        return Look(catalog=load_bytes(self.catalogs.popleft(), "c")) if self.catalogs else Look()

    def land(self, lines: list[bytes]) -> BatchReport:
        frame = cast("Any", frame_of(lines, 10 * self.number, 2))
        report = self.lander.land(frame, self.number)
        self.number += 1
        self.observers.batch(report)
        return report


def test_a_deprecation_takes_effect_at_the_next_batch(tmp_path: Path) -> None:
    job = Job(tmp_path, catalog())
    assert job.land([*orders(1, 2), scan(1)]).deprecated == {}
    job.catalogs.append(catalog(NOTICE))
    second = job.land([*orders(3, 4), scan(2)])
    assert (second.landed, second.dead) == (3, 0)
    assert second.deprecated == {xid("order"): ROWS}
    assert job.events.told == [TOLD]


def test_it_is_told_once_a_run_and_counted_always(tmp_path: Path) -> None:
    job = Job(tmp_path, catalog(NOTICE))
    for number in range(3):
        job.land(orders(2 * number, 2 * number + 1))
    assert job.events.told == [TOLD]
    counted = f'heraldry_deprecated_total{{definition="{xid("order")}"}} 6\n'
    assert counted in job.metrics.text().decode()
    job.catalogs.append(catalog())
    assert job.land(orders(7)).deprecated == {}
    assert counted in job.metrics.text().decode()


def test_what_is_deprecated_later_is_not_yet(tmp_path: Path) -> None:
    later = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    before = (datetime.now(UTC) - timedelta(days=1)).isoformat()
    job = Job(tmp_path, catalog({"effective": later}))
    assert job.land(orders(1)).deprecated == {}
    job.catalogs.append(catalog({"effective": before}))
    assert job.land(orders(2)).deprecated == {xid("order"): DeprecatedRows(rows=1)}
    assert job.events.told == [f"1 row of deprecated {xid('order')}"]


def test_rows_that_had_come_before_are_not_counted(tmp_path: Path) -> None:
    job = Job(tmp_path, catalog(NOTICE), once=True)
    job.land(orders(1, 2))
    report = job.land(orders(2, 3))
    assert (report.repeated, report.deprecated[xid("order")].rows) == (1, 1)
    assert job.land(orders(1, 2, 3)).deprecated == {}


@pytest.mark.parametrize("deprecated", ["order", "big"])
def test_variants_in_the_table_of_their_base_are_told_apart(
    tmp_path: Path, deprecated: str
) -> None:
    big = {
        "basemessage": xid("order"),
        "envelope": ORDER["envelope"],
        "envelopemetadata": {"subject": {"value": "big", "required": True}},
    }
    both = {"order": ORDER, "big": big}
    both[deprecated] = {**both[deprecated], "deprecated": {}}
    job = Job(tmp_path, document({"scan": SCAN, **both}), with_base=True)
    report = job.land([*orders(1, 2), *orders(3, 4, 5, subject="big")])
    assert report.tables == {"default.shop.order": 5}
    rows = {"order": 2, "big": 3}[deprecated]
    assert report.deprecated == {xid(deprecated): DeprecatedRows(rows=rows)}


def test_status_lists_what_landed_lately(tmp_path: Path) -> None:
    job = Job(tmp_path, catalog({"alternative": "/old"}))
    job.land(orders(1, 2))
    job.catalogs.append(catalog(NOTICE))
    job.land(orders(3, 4))
    job.land([scan(1)])
    newest = DeprecatedRows(rows=4, **NOTICE)
    assert status(str(job.lake)).deprecated == ((xid("order"), newest),)
    assert status(str(job.lake), last=2).deprecated == ((xid("order"), ROWS),)
    assert status(str(job.lake), last=1).deprecated == ()


def test_a_ledger_of_batches_from_before_gains_the_column(tmp_path: Path) -> None:
    job = Job(tmp_path, catalog(NOTICE))
    storage = Storage.open(str(job.lake))
    old = batches.SCHEMA.remove(batches.SCHEMA.get_field_index("deprecated"))
    delta.create_table(storage, batches.BATCHES, old, {})
    job.land(orders(1, 2))
    assert status(str(job.lake)).deprecated == ()
    delta.add_columns(storage, batches.BATCHES, batches.SCHEMA)
    job.land(orders(3, 4))
    table = delta.open_table(storage, batches.BATCHES)
    assert table is not None
    assert table.schema() == Schema.from_arrow(batches.SCHEMA)
    # the first batch had written it already, for whoever could read it
    assert status(str(job.lake)).deprecated[0][1].rows == 4


def test_an_event_is_logged_whatever_addresses_are_in_it() -> None:
    """Only how far a batch is comes too often for a log."""
    assert PASSING.search("3/8 parts of the batch")
    assert not PASSING.search(TOLD)


def test_who_watches_hears_of_the_batch_first(tmp_path: Path) -> None:
    heard: list[str] = []

    class Both(Silent):
        def event(self, text: str) -> None:
            heard.append(text)

        def batch(self, info: JobInfo, report: BatchReport) -> None:
            heard.append(f"batch {report.batch}")

    job = Job(tmp_path, catalog(NOTICE))
    job.observers = Observers(info(), [Both()])
    job.land(orders(1, 2))
    job.land(orders(3, 4))
    assert heard == ["batch 0", TOLD, "batch 1"]
