"""The jobs that the landing benchmarks compare, each measured as a whole."""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import corpus
from heraldry.dialects.load import load_bytes
from heraldry.pipeline.job import land
from heraldry.pipeline.lake.delta import open_table, table_files
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.lake.tables import tables
from heraldry.pipeline.landing.report import LandReport
from heraldry.pipeline.settings import LandSettings
from heraldry.pipeline.watching.observer import Observer
from measure import Cost, measured

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MASTER = "local[2]"
RUNS = "runs"
"""The folder of what jobs write, each in one of its own."""
PLACEHOLDERS = ["ctx_storeid", "ctx_deskid", "ctx_orderid"]
BASE_SCHEMA = (
    "specversion string, id string, source string, type string, subject string, time timestamp,"
    " datacontenttype string, data struct<orderid: string, customer: string, status: string,"
    " qty: bigint, price: double, ts: timestamp, express: boolean,"
    " address: struct<street: string, city: string, zip: string>,"
    " items: array<struct<sku: string, qty: bigint, price: double>>>"
)


def catalog(definitions: int, form: corpus.Form = "events") -> bytes:
    """The catalog of the corpus as a document."""
    return json.dumps(corpus.catalog(definitions, form)).encode()


def fresh(folder: Path) -> Path:
    """A folder that no run has used: soon after many files are deleted, making others is slow."""
    return folder / uuid.uuid4().hex


def plain(spark: SparkSession, stream: Path, folder: Path) -> Cost:
    """A Spark job for one schema: no matching, no validation."""
    target = fresh(folder)
    with measured() as cost:
        spark.read.schema(BASE_SCHEMA).json(str(stream)).write.parquet(str(target))
    return cost


def ours(
    document: bytes,
    stream: Path,
    folder: Path,
    batch: int,
    busy: int,
    observers: Sequence[Observer] = (),
) -> tuple[Cost, LandReport]:
    """A landing job in batches of at most so many messages, into so many tables."""
    target = str(fresh(folder))
    settings = LandSettings(
        source=f"files:{stream}", warehouse=target, master=MASTER, max_per_batch=batch
    )
    with measured() as cost:
        report = land(load_bytes(document, "catalog.json"), settings, observers)
    _expect_tables(target, busy, report.landed)
    return cost, report


def _expect_tables(warehouse: str, count: int, landed: int) -> None:
    """End the benchmark where tables or rows are missing, or values of placeholders."""
    found = tables(warehouse)
    rows = sum(info.rows for info in found)
    if (len(found), rows) != (count, landed):
        raise SystemExit(f"expected {landed} rows in {count} tables, got {rows} in {len(found)}")
    storage = Storage.open(found[0].path)
    table = open_table(storage, "")
    values = table_files(storage, table).to_table(columns=PLACEHOLDERS) if table else None
    if values is None or any(column.null_count for column in values.columns):
        raise SystemExit(f"{found[0].path} lacks values of placeholders")


def expect(report: LandReport, messages: int, flawed: int, batches: int = 1) -> None:
    """End the benchmark where a job lost or doubled something, or took it in other batches."""
    if (report.read, report.dead, report.batches) != (messages, flawed, batches):
        told = f"{messages} messages with {flawed} flawed in {batches} batches"
        raise SystemExit(f"expected {told}, got {report}")


def show(name: str, cost: Cost, messages: int, number: int) -> None:
    """One line on what a job cost."""
    rate = messages / cost.cpu
    label = "warm-up" if number == 0 else f"round {number}"
    print(
        f"{label:8} {name:30} {cost.cpu:6.1f} CPU s  {cost.wall:6.1f} s  "
        f"{rate:9,.0f} rows/CPU s  peak {cost.peak_mb:6,.0f} MB",
        flush=True,
    )


def ratios(pairs: Sequence[tuple[Cost, Cost]]) -> dict[str, Any]:
    """How much more the second of each pair cost: every round, and the median."""
    found = [second.cpu / first.cpu for first, second in pairs]
    walls = [second.wall / first.wall for first, second in pairs]
    return {
        "ratios": [round(ratio, 2) for ratio in found],
        "ratio": round(median(found), 2),
        "wall_ratio": round(median(walls), 2),
        "peak_mb": round(max(cost.peak_mb for pair in pairs for cost in pair)),
    }
