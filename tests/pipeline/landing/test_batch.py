"""A batch beside others: tables that somebody else makes, and drivers that hung."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

import polars as pl
import pytest

from heraldry.dialects.load import load_bytes
from heraldry.errors import PipelineError, WarehouseError
from heraldry.pipeline.lake import delta
from heraldry.pipeline.lake.commits import Committer
from heraldry.pipeline.lake.fitting import TableFits
from heraldry.pipeline.lake.layout import TablePlan
from heraldry.pipeline.lake.ledger import Ledger
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.lake.tables import tables
from heraldry.pipeline.landing.batch import BatchLander
from heraldry.pipeline.landing.breaker import Breaker
from heraldry.pipeline.landing.catalog_watch import CatalogWatch, fixed
from heraldry.pipeline.landing.lander import Lander
from heraldry.pipeline.landing.report import BatchReport
from heraldry.pipeline.maintain import Upkeep, maintain
from heraldry.pipeline.settings import LandSettings
from heraldry.pipeline.sources.files import FilesSource
from tests.pipeline.landing.local_frame import LocalFrame, Mapped, frame_of
from tests.suites.streams import NUMBER, TEXT, document, kind, line, record

PATH = "default/shop/order"
ORDER = dict(kind("order", record("id", id=TEXT)).definition)
COUNTED = dict(kind("order", record("id", id=NUMBER)).definition)
SCAN = dict(kind("scan", record("tag", tag=TEXT)).definition)


class Killed(BaseException):
    """The process ends here."""


def events(name: str, data: Mapping[str, Any], *numbers: int) -> list[bytes]:
    common = {"specversion": "1.0", "source": "/shops/berlin", "type": f"shop.{name}"}
    return [line(common | {"id": f"{name}-{n}", "data": data}) for n in numbers]


def orders(*numbers: int, value: Any = "1") -> list[bytes]:
    return events("order", {"id": value}, *numbers)


class Job:
    """A job of a warehouse with a checkpoint of its own; it has fitted before anything landed."""

    def __init__(
        self,
        lake: Path,
        name: str,
        order: Mapping[str, Any] = ORDER,
        *,
        breaker: float | None = None,
        **plan: Any,
    ) -> None:
        storage, ledger = Storage.open(str(lake)), Ledger.open(str(lake / f"_checkpoint-{name}"))
        settings = LandSettings(source=f"files:{lake}", warehouse=str(lake))
        catalog = load_bytes(document({"order": order, "scan": SCAN}), "c")
        self.lander = BatchLander(
            settings=settings,
            committer=Committer(storage, ledger.job),
            ledger=ledger,
            source=FilesSource(str(lake), settings),
            watch=CatalogWatch(fixed(catalog), 0.0),
            plan=TablePlan(**plan),
            run="run",
            breaker=Breaker(breaker, ledger),
            window=None,
        )
        self.lander.fit(self.lander.watch.current())
        self.judged = 0

    def land(
        self, lines: list[bytes], batch: int = 0, meanwhile: Callable[[], object] = int
    ) -> BatchReport:
        """Land a batch; something happens while it is judged."""
        job = self

        class Frame(LocalFrame):
            def mapInArrow(self, function: Mapped, schema: str) -> LocalFrame:  # noqa: N802
                job.judged += 1
                found = super().mapInArrow(function, schema)
                meanwhile()
                return found

        frame = Frame(frame_of(lines, 100 * batch, 2).partitions)
        return self.lander.land(cast("Any", frame), batch)


def rows(lake: Path, path: str = PATH) -> list[dict[str, Any]]:
    """The rows of a table, as two readers see them alike."""
    storage = Storage.open(str(lake))
    table = delta.open_table(storage, path)
    assert table is not None
    found = delta.table_rows(storage, table).sort_by("ce_id")
    assert pl.read_delta(storage.join(path)).sort("ce_id")["ce_id"].to_list() == [
        row["ce_id"] for row in found.to_pylist()
    ]
    listed: list[dict[str, Any]] = found.to_pylist()
    return listed


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ({}, {"partition_by": ("ce_id",)}),
        ({"keep_payload": True}, {}),
        ({}, {"order": COUNTED}),
        ({}, {"keep_payload": True}),
    ],
    ids=["with partitions", "without payloads", "with another type", "with more columns"],
)
def test_a_table_that_another_job_has_made_meanwhile(
    tmp_path: Path, ours: Mapping[str, Any], theirs: Mapping[str, Any]
) -> None:
    """Rows for a table that was not there yet are judged again for the one that is there now."""
    late, first = Job(tmp_path, "late", **ours), Job(tmp_path, "first", **theirs)
    first.land(orders(1, value=7 if "order" in theirs else "7"))
    assert late.land(orders(2, 3)).landed == 2
    assert late.judged == 2
    late.land(orders(4), 1)
    assert late.judged == 3
    found = rows(tmp_path)
    assert [row["ce_id"] for row in found] == [f"order-{n}" for n in (1, 2, 3, 4)]
    column = "id_2" if "order" in theirs else "id"
    assert [row[column] for row in found[1:]] == ["1", "1", "1"]
    assert all(row.get("_payload") for row in found[1:]) is ("keep_payload" in ours)


def test_a_table_that_is_made_while_rows_are_judged(tmp_path: Path) -> None:
    late, first = Job(tmp_path, "late"), Job(tmp_path, "first", partition_by=("ce_id",))
    late.land(orders(2), meanwhile=lambda: first.land(orders(1)))
    assert [row["ce_id"] for row in rows(tmp_path)] == ["order-1", "order-2"]
    assert late.judged == 2


def test_the_same_table_by_another_job_is_no_reason_to_judge_again(tmp_path: Path) -> None:
    late, first = Job(tmp_path, "late"), Job(tmp_path, "first")
    first.land(orders(1))
    late.land(orders(2))
    assert late.judged == 1
    assert [row["ce_id"] for row in rows(tmp_path)] == ["order-1", "order-2"]


def test_partitions_that_were_asked_for_and_are_not_those_of_the_table(tmp_path: Path) -> None:
    """A job that has begun goes on by the partitions that a table has, and says so once."""
    late, first = Job(tmp_path, "late", partition_by=("day",)), Job(tmp_path, "first")
    told: list[str] = []
    late.lander.tell = told.append
    first.land(orders(1))
    late.land(orders(2))
    late.lander._fits = ("", TableFits())  # as where the catalog has changed
    late.land(orders(3), 1)
    assert [row["ce_id"] for row in rows(tmp_path)] == ["order-1", "order-2", "order-3"]
    assert told == ["default.shop.order keeps no partitions: its rows are not divided by _day"]


def test_a_table_that_is_made_otherwise_again_and_again(tmp_path: Path) -> None:
    late = Job(tmp_path, "late")
    columns = iter(("ce_id", "ce_type", "ce_source"))

    def make() -> None:
        """A table that was not there as the job fitted."""
        Storage.open(str(tmp_path)).delete_tree(f"{PATH}/_delta_log")
        column = next(columns)
        Job(tmp_path, column, partition_by=(column,)).land(orders(1))
        late.lander._fits = (late.lander._fits[0], TableFits())

    with pytest.raises(WarehouseError, match="made otherwise by others, 3 times") as refused:
        late.land(orders(2), meanwhile=make)
    assert "\n" not in str(refused.value)
    assert late.lander.ledger.last is None


def test_a_batch_that_is_refused_makes_no_tables(tmp_path: Path) -> None:
    job = Job(tmp_path, "job", breaker=0.5)
    with pytest.raises(PipelineError, match="would be dead letters"):
        job.land([*orders(1), *[b"garbage"] * 200])
    assert not (tmp_path / PATH / "_delta_log").exists()


def test_a_batch_whose_lines_are_not_all_in_its_files_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What judging would lose by a defect of ours is still in the source, and stays to be read."""
    job, lines = Job(tmp_path, "job"), [*orders(1), b"garbage"]
    with monkeypatch.context() as losing:
        losing.setattr(Lander, "_by_judge", lambda *_: None)
        with pytest.raises(PipelineError, match="files hold 1 of 2 messages; nothing was commit"):
            job.land(lines)
    assert job.lander.ledger.last is None
    assert not (tmp_path / PATH / "_delta_log").exists()
    assert job.land(lines).read == 2


def test_killed_between_making_tables_and_deciding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table without rows is a table to all who look, and the next try lands into it."""
    lines = [*orders(1, 2), *events("scan", {"tag": "t"}, 1)]

    def die(*_: Any) -> None:
        raise Killed

    with monkeypatch.context() as dying:
        dying.setattr(Ledger, "prepare", die)
        with pytest.raises(Killed):
            Job(tmp_path, "job").land(lines)
    assert {(one.name[2], one.rows) for one in tables(str(tmp_path))} == {("order", 0), ("scan", 0)}
    assert rows(tmp_path) == []
    kept = maintain(Upkeep(warehouse=str(tmp_path), retention=0.0)).tables
    assert {(one.table, one.removed, one.unowned) for one in kept} == {
        ("default.shop.order", 0, 0),
        ("default.shop.scan", 0, 0),
    }
    again = Job(tmp_path, "job")
    again.land(lines)
    assert again.judged == 1
    assert [row["ce_id"] for row in rows(tmp_path)] == ["order-1", "order-2"]


def test_a_driver_that_hung_goes_no_further(tmp_path: Path) -> None:
    """Another has judged its batch by a newer catalog, committed it, and marked it as done."""
    hung, other = Job(tmp_path, "job"), Job(tmp_path, "job", COUNTED)
    lines = [*orders(1, 2), *orders(3, value=3)]
    with pytest.raises(PipelineError, match="another job has gone on with this checkpoint"):
        hung.land(lines, meanwhile=lambda: other.land(lines))
    decided = other.lander.ledger.manifest(0)
    assert decided is not None
    assert decided.committed
    found = rows(tmp_path)
    assert [(row["ce_id"], row["id"]) for row in found] == [("order-3", 3.0)]
