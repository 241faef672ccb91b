"""The landing job on Spark: everything once, over any number of runs."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from heraldry.dialects.load import load_bytes
from heraldry.errors import PipelineError, UsageError, WarehouseError
from heraldry.messages.catalog import MessageCatalog
from heraldry.messages.sample import sample
from heraldry.pipeline.job import land
from heraldry.pipeline.lake.delta import open_table
from heraldry.pipeline.lake.ledger import Ledger
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.lake.tables import tables
from heraldry.pipeline.landing.report import BatchReport, LandReport
from heraldry.pipeline.letters import deadletters
from heraldry.pipeline.settings import LandSettings
from heraldry.pipeline.watching.observer import JobInfo, Silent
from tests.suites.streams import WIDE, document, event, kind, line, record, xid

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TEXT = {"type": "string"}
pytestmark = pytest.mark.slow


def order(number: int) -> bytes:
    return line(event("order", {"id": str(number), "total": number}, id=f"o{number}"))


def scan(number: int) -> bytes:
    return line(event("scan", {"tag": str(number), "weight": 1.5}, id=f"s{number}"))


class Recorder(Silent):
    """Keeps the reports of batches."""

    def __init__(self, batches: list[BatchReport]) -> None:
        self._batches = batches

    def batch(self, info: JobInfo, report: BatchReport) -> None:
        self._batches.append(report)


@dataclass
class Yard:
    """A folder that messages come into, and the warehouse they land in."""

    inbox: Path
    warehouse: Path

    def put(self, name: str, lines: Sequence[bytes]) -> None:
        content = b"".join(one + b"\n" for one in lines)
        path = self.inbox / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)

    def land(self, catalog: bytes = WIDE, **settings: Any) -> LandReport:
        return self.land_batches(catalog, **settings)[0]

    def land_batches(
        self, catalog: bytes = WIDE, **settings: Any
    ) -> tuple[LandReport, list[BatchReport]]:
        given = {"source": f"files:{self.inbox}", "warehouse": str(self.warehouse)}
        batches: list[BatchReport] = []
        report = land(
            load_bytes(catalog, "catalog"),
            LandSettings(**(given | {"master": "local[2]"} | settings)),
            [Recorder(batches)],
        )
        assert report.read == report.landed + report.dead + report.repeated
        assert report.read == sum(batch.read for batch in batches)
        assert report.batches == len(batches)
        return report, batches

    def counts(self) -> dict[str, int]:
        found = {".".join(one.name): one.rows for one in tables(str(self.warehouse))}
        return found | {"dead": self.dead()}

    def dead(self) -> int:
        return sum(group.count for group in deadletters.groups(str(self.warehouse)))

    def rows(self, *name: str) -> list[dict[str, Any]]:
        table = open_table(Storage(str(self.warehouse)), "/".join(name))
        assert table is not None
        rows: list[dict[str, Any]] = table.to_pyarrow_table().to_pylist()
        return rows

    def uncommit(self, batch: int, *names: str) -> None:
        """As if the job had been killed right after the batch was prepared."""
        checkpoint = self.warehouse / "_checkpoint"
        ledger = Ledger.open(str(checkpoint))
        manifest = ledger.manifest(batch)
        assert manifest is not None
        ledger.prepare(msgspec.structs.replace(manifest, committed=False))
        (checkpoint / "commits" / str(batch)).unlink()
        (checkpoint / "commits" / f".{batch}.crc").unlink(missing_ok=True)
        for name in names:
            shutil.rmtree(self.warehouse / name / "_delta_log")


@pytest.fixture
def yard(tmp_path: Path, spark: SparkSession) -> Yard:
    assert spark is not None
    (tmp_path / "inbox").mkdir()
    return Yard(tmp_path / "inbox", tmp_path / "lake")


def test_everything_lands_once(yard: Yard) -> None:
    yard.put("a.jsonl", [order(1), scan(1), b"", b"  ", b"garbage", b"\xff\xfe", order(2)])
    yard.put("deep/er/b.jsonl.gz", [order(3), scan(2), b"[]"])
    yard.put("c.txt", [order(9)])
    yard.put(".hidden.jsonl", [order(9)])
    first = yard.land()
    assert (first.read, first.landed, first.dead) == (10, 5, 5)
    assert yard.counts() == {"default.shop.order": 3, "default.shop.scan": 2, "dead": 5}
    assert sorted(row["id"] for row in yard.rows("default", "shop", "order")) == ["1", "2", "3"]

    again = yard.land()
    assert (again.read, again.batches) == (0, 0)

    yard.put("d.jsonl", [order(4), b"{}"])
    more = yard.land()
    assert (more.read, more.landed, more.dead) == (2, 1, 1)
    assert yard.counts() == {"default.shop.order": 4, "default.shop.scan": 2, "dead": 6}


def test_every_row_knows_its_place(yard: Yard) -> None:
    yard.put("a.jsonl", [order(0), order(1), b"", order(2)])
    yard.put("b.jsonl.gz", [order(3)])
    yard.land()
    rows = yard.rows("default", "shop", "order")
    places = {(Path(row["_source"]).name, row["_position"]): row["id"] for row in rows}
    assert places == {
        ("a.jsonl", "0+0"): "0",
        ("a.jsonl", "0+1"): "1",
        ("a.jsonl", "0+3"): "2",
        ("b.jsonl.gz", "0+0"): "3",
    }
    letter = next(deadletters.letters(str(yard.warehouse)))
    assert (Path(letter["source"]).name, letter["position"], letter["line"]) == (
        "a.jsonl",
        "0+2",
        "",
    )
    assert {row["_batch"] for row in rows} == {0}
    assert {row["_definition"] for row in rows} == {xid("order")}


def test_large_files_are_read_in_parts(yard: Yard, spark: SparkSession) -> None:
    """Blocks of one file are read apart; places stay unique."""
    lines = [order(number) for number in range(3000)]
    yard.put("a.jsonl", lines)
    before = spark.conf.get("spark.sql.files.maxPartitionBytes")
    spark.conf.set("spark.sql.files.maxPartitionBytes", "50000")
    try:
        report = yard.land()
    finally:
        spark.conf.set("spark.sql.files.maxPartitionBytes", str(before))
    assert report.landed == 3000
    rows = yard.rows("default", "shop", "order")
    assert len({row["_position"] for row in rows}) == 3000
    assert len({row["_position"].split("+")[0] for row in rows}) > 5
    assert Counter(row["id"] for row in rows) == Counter(str(n) for n in range(3000))


def test_windows_line_ends(yard: Yard) -> None:
    yard.put("a.jsonl", [order(1) + b"\r", b"\r", order(2) + b"\r"])
    report = yard.land()
    assert (report.landed, report.dead) == (2, 1)


def test_a_file_of_old_date_lands_too(yard: Yard) -> None:
    yard.put("new.jsonl", [order(1)])
    yard.land()
    yard.put("old.jsonl", [order(2)])
    os.utime(yard.inbox / "old.jsonl", (0, 0))
    assert yard.land().read == 1


@pytest.mark.parametrize("warehouse", ["ftp://host/lake", "/tmp/a%20b"], ids=["remote", "percent"])
def test_warehouses_that_cannot_be(yard: Yard, warehouse: str) -> None:
    with pytest.raises(WarehouseError):
        yard.land(warehouse=warehouse)


def test_an_empty_folder(yard: Yard) -> None:
    assert yard.land().read == 0
    yard.put("empty.jsonl", [])
    assert yard.land().read == 0
    assert tables(str(yard.warehouse)) == ()


def test_only_what_is_wanted(yard: Yard) -> None:
    yard.put("a.jsonl", [order(1), scan(1), scan(2)])
    report = yard.land(only=(xid("order"),))
    assert (report.landed, report.dead) == (1, 2)
    group = deadletters.groups(str(yard.warehouse))[0]
    assert (group.rule, group.definition, group.count) == ("not-selected", xid("scan"), 2)


def test_database_and_payload(yard: Yard) -> None:
    yard.put("a.jsonl", [order(1)])
    yard.land(database="sea", keep_payload=True)
    assert yard.counts() == {"sea.shop.order": 1, "dead": 0}
    payload = yard.rows("sea", "shop", "order")[0]["_payload"]
    assert json.loads(payload) == {"id": "1", "total": 1}


def test_a_checkpoint_elsewhere(
    yard: Yard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    yard.put("a.jsonl", [order(1)])
    place = tmp_path / "progress"
    with monkeypatch.context() as here:
        here.chdir(tmp_path)
        yard.land(checkpoint="progress")
    assert not (yard.warehouse / "_checkpoint").exists()
    (noted,) = (yard.warehouse / "_checkpoints").iterdir()
    assert noted.read_text() == str(place), "maintain looks there from any folder"
    assert yard.land(checkpoint=str(place)).read == 0
    assert yard.land(checkpoint=str(tmp_path / "other")).read == 1


def test_a_checkpoint_that_spark_cannot_use_is_told_in_a_line(yard: Yard, tmp_path: Path) -> None:
    yard.put("a.jsonl", [order(1)])
    place = tmp_path / "progress"
    place.mkdir()
    (place / "metadata").write_text("no JSON")
    with pytest.raises(PipelineError) as told:
        yard.land(checkpoint=str(place))
    assert str(told.value).startswith("the pipeline stopped while it opened its source: ")
    assert told.value.reason.startswith("com.fasterxml.jackson.core.JsonParseException: ")
    assert "\n" not in told.value.reason


def test_batches_are_bounded(yard: Yard) -> None:
    for number in range(6):
        yard.put(f"{number}.jsonl", [order(10 * number + n) for n in range(10)])
    report, batches = yard.land_batches(max_per_batch=20)
    assert report.landed == 60
    assert [batch.batch for batch in batches] == list(range(len(batches)))
    assert 3 <= len(batches) <= 6
    assert all(batch.tables == {"default.shop.order": batch.landed} for batch in batches)


def test_one_job_at_a_time(yard: Yard) -> None:
    yard.put("a.jsonl", [order(1)])
    ledger = Ledger.open(str(yard.warehouse / "_checkpoint"))
    with ledger.locked(), pytest.raises(WarehouseError, match="another job is landing"):
        yard.land()
    assert yard.land().landed == 1


CHANGED = kind(
    "order",
    record("id", id=TEXT, total={"type": "number"}, extra=TEXT),
    attributes={"subject": {"value": "{order}@{shop}"}},
)


def changed_catalog() -> bytes:
    """``order`` has a column more, ``scan`` is gone: its messages would be dead letters now."""
    return document({"order": dict(CHANGED.definition)})


def test_a_prepared_batch_is_finished_as_it_was_judged(yard: Yard) -> None:
    yard.put("a.jsonl", [order(1), scan(1), b"garbage"])
    yard.land()
    yard.uncommit(0, "default/shop/order", "default/shop/scan", "_dead_letters")
    assert yard.counts() == {"dead": 0}
    yard.put("b.jsonl", [line(event("order", {"id": "2", "extra": "x"})), scan(2)])
    report = yard.land(changed_catalog())
    assert (report.read, report.landed, report.dead) == (5, 3, 2)
    assert yard.counts() == {"default.shop.order": 2, "default.shop.scan": 1, "dead": 2}
    extra = {row["id"]: row.get("extra") for row in yard.rows("default", "shop", "order")}
    assert extra == {"1": None, "2": "x"}


def test_a_batch_half_committed_is_completed(yard: Yard) -> None:
    yard.put("a.jsonl", [order(1), scan(1), b"garbage"])
    yard.land()
    yard.uncommit(0, "default/shop/order")
    assert yard.land().read == 3
    assert yard.counts() == {"default.shop.order": 1, "default.shop.scan": 1, "dead": 1}
    assert yard.land().read == 0


def test_a_batch_committed_but_not_done_is_not_doubled(yard: Yard) -> None:
    """Killed after our last commit, before Spark noted the batch."""
    yard.put("a.jsonl", [order(1), b"garbage"])
    yard.land()
    yard.uncommit(0)
    yard.land()
    assert yard.counts() == {"default.shop.order": 1, "dead": 1}


def test_a_batch_not_prepared_is_judged_anew(yard: Yard) -> None:
    """Killed while its files were written: they belong to nobody."""
    yard.put("a.jsonl", [order(1), b"garbage"])
    yard.land()
    yard.uncommit(0, "default/shop/order", "_dead_letters")
    (yard.warehouse / "_checkpoint" / "heraldry" / "batches" / f"{0:012d}.json").unlink()
    yard.land()
    assert yard.counts() == {"default.shop.order": 1, "dead": 1}
    assert len(list((yard.warehouse / "default/shop/order").glob("*.parquet"))) == 2


def test_tables_widen(yard: Yard) -> None:
    narrow = kind("order", record("id", id=TEXT), attributes=CHANGED.definition["envelopemetadata"])
    yard.put("a.jsonl", [line(event("order", {"id": "1", "extra": "x"}))])
    yard.land(document({"order": dict(narrow.definition)}))
    yard.put("b.jsonl", [line(event("order", {"id": "2", "extra": "y"}))])
    yard.land(changed_catalog())
    extra = {row["id"]: row["extra"] for row in yard.rows("default", "shop", "order")}
    assert extra == {"1": None, "2": "y"}


def test_a_changed_type_gets_a_column_of_its_own(yard: Yard) -> None:
    yard.put("a.jsonl", [order(1)])
    yard.land()
    retyped = kind("order", record("id", id={"type": "integer"}))
    yard.put("b.jsonl", [line(event("order", {"id": 2}))])
    yard.land(document({"order": dict(retyped.definition)}))
    found = [(row["id"], row["id_2"]) for row in yard.rows("default", "shop", "order")]
    assert sorted(found, key=str) == [("1", None), (None, 2)]
    yard.put("c.jsonl", [order(3)])
    yard.land()
    assert sorted(row["id"] or "" for row in yard.rows("default", "shop", "order")) == [
        "",
        "1",
        "3",
    ]


def test_two_definitions_of_one_table(yard: Yard) -> None:
    one = dict(CHANGED.definition)
    shared = {"messages": {"order": one}}
    catalog = {
        "messagegroups": {"shop": {"messagegroupid": "shop", **shared}},
        "endpoints": {"shop": {"endpointid": "shop", "usage": ["consumer"], **shared}},
    }
    with pytest.raises(WarehouseError, match="would land in the same table"):
        yard.land(json.dumps(catalog).encode())


@pytest.mark.parametrize(
    "source",
    ["ftp://localhost/orders", "files:", "nothing", "files:/no/such/folder"],
    ids=["no such scheme", "no folder given", "no scheme", "no folder there"],
)
def test_sources_that_are_none(yard: Yard, source: str) -> None:
    with pytest.raises(UsageError):
        yard.land(source=source)


def test_a_file_that_cannot_be_read_is_a_dead_letter(yard: Yard) -> None:
    yard.put("a.jsonl", [order(1)])
    (yard.inbox / "b.jsonl.gz").write_bytes(b"no gzip at all")
    report = yard.land()
    assert (report.landed, report.dead) == (1, 1)
    (letter,) = deadletters.letters(str(yard.warehouse))
    assert letter["rule"] == "file"
    assert yard.land().read == 0


def test_the_breaker_stops_before_anything_is_committed(yard: Yard) -> None:
    yard.put("a.jsonl", [order(1), *[b"garbage"] * 150])
    with pytest.raises(PipelineError, match="99% of batch 0 would be dead letters"):
        yard.land()
    assert not (yard.warehouse / "_dead_letters" / "_delta_log").exists()
    assert tables(str(yard.warehouse)) == ()
    report = yard.land(breaker=None)
    assert (report.landed, report.dead) == (1, 150)


def test_letters_are_masked_by_rule(yard: Yard) -> None:
    secret = {"id": "1", "total": "4111-1111"}
    yard.put("a.jsonl", [line(event("order", secret, id="o1"))])
    yard.land(mask=("/data/total",))
    (letter,) = deadletters.letters(str(yard.warehouse))
    assert letter["masked"]
    assert "4111" not in json.dumps(letter)


def test_letters_of_other_tools_are_unwrapped(yard: Yard) -> None:
    """A Kafka Connect dead letter: the record as it was, with the reason in its headers."""
    value = json.loads(order(1))
    headers = {
        "content-type": "application/cloudevents+json",
        "__connect.errors.topic": "orders",
        "__connect.errors.partition": "0",
        "__connect.errors.offset": "17",
        "__connect.errors.exception.message": "no schema",
    }
    metadata = {"topic": "dlq-orders", "partition": 0, "headers": headers}
    wrapped = {"protocol": "KAFKA", "metadata": metadata, "payload": value}
    yard.put("a.jsonl", [json.dumps(wrapped).encode()])
    report = yard.land(foreign=True)
    assert (report.landed, report.dead) == (1, 0)


def test_variants_land_in_the_table_of_their_base(yard: Yard, examples: Path) -> None:
    catalog = (examples / "airport" / "airport.xreg.json").read_bytes()
    opened = MessageCatalog(load_bytes(catalog, "catalog"))
    xids = [f"/messagegroups/{group}/messages/loaded" for group in ("luggage", "luggage-mqtt")]
    yard.put("a.jsonl", [sample(opened[xid].compiled, seed=1).line() for xid in xids])
    yard.land(catalog, with_base=True)
    assert yard.counts() == {"default.luggage.loaded": 2, "dead": 0}
    found = sorted(row["_definition"] for row in yard.rows("default", "luggage", "loaded"))
    assert found == sorted(xids)


@pytest.mark.parametrize(
    "given",
    [{"mask": ("data/total",)}, {"source_options": {"starting": "latest"}}],
    ids=["a rule that fits nothing", "an option of another source"],
)
def test_what_would_be_ignored_is_refused(yard: Yard, given: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        yard.land(**given)
