"""Landing against a plain Spark job, in one run: the same stream, both warm, rounds interleaved.

(a) ``spark.read.schema(S).json`` to Parquet: one schema, no matching, no validation.
(b) ``heraldry land``: matching, full JSON Schema validation, placeholders, one typed table per
definition, dead letters with reasons, commits included.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import corpus
from heraldry.dialects.load import load_bytes
from heraldry.pipeline.job import land
from heraldry.pipeline.session import open_session
from heraldry.pipeline.settings import LandSettings
from measure import Cost, measured

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MASTER = "local[2]"
BASE_SCHEMA = (
    "specversion string, id string, source string, type string, subject string, time timestamp,"
    " datacontenttype string, data struct<orderid: string, customer: string, status: string,"
    " qty: bigint, price: double, ts: timestamp, express: boolean,"
    " address: struct<street: string, city: string, zip: string>,"
    " items: array<struct<sku: string, qty: bigint, price: double>>>"
)
RATIO_GOAL = 0.7
DEFINITIONS_GOAL = 1.3
MEMORY_GOAL_MB = 4096


def run(folder: Path, messages: int, rounds: int) -> dict[str, Any]:
    """All landing benchmarks; the result says which goals are reached."""
    spark = open_session(MASTER)
    versus = _versus_plain_spark(spark, folder, messages, rounds)
    growth = _growth(folder, messages, rounds)
    peak = max(versus.pop("peak_mb"), growth.pop("peak_mb"))
    goals = {
        f"rows per CPU second >= {RATIO_GOAL} x plain Spark": versus["ratio"] >= RATIO_GOAL,
        f"10,000 definitions <= {DEFINITIONS_GOAL} x 10": growth["ratio"] <= DEFINITIONS_GOAL,
        "peak memory < 4 GB": peak < MEMORY_GOAL_MB,
    }
    return {"versus": versus, "growth": growth, "peak_mb": round(peak), "goals": goals}


def _versus_plain_spark(
    spark: SparkSession, folder: Path, messages: int, rounds: int
) -> dict[str, Any]:
    stream = folder / f"stream-50-{messages}"
    flawed = corpus.write_stream(stream, messages, 50)
    catalog = json.dumps(corpus.catalog(50)).encode()
    plain_costs, our_costs = [], []
    for number in range(rounds + 1):
        plain = _plain(spark, stream, folder / "plain")
        ours, report = _ours(catalog, stream, folder / "ours")
        if (report.read, report.dead) != (messages, flawed):
            raise SystemExit(f"expected {messages} messages with {flawed} flawed, got {report}")
        _show("plain Spark", plain, messages, number)
        _show("heraldry, 50 definitions", ours, messages, number)
        if number:  # the first round warms both up
            plain_costs.append(plain)
            our_costs.append(ours)
    ratios = [a.cpu / b.cpu for a, b in zip(plain_costs, our_costs, strict=True)]
    return {
        "plain_rows_per_cpu_second": round(messages / median(c.cpu for c in plain_costs)),
        "our_rows_per_cpu_second": round(messages / median(c.cpu for c in our_costs)),
        "ratios": [round(ratio, 2) for ratio in ratios],
        "ratio": round(median(ratios), 2),
        "wall_ratio": round(
            median(a.wall / b.wall for a, b in zip(plain_costs, our_costs, strict=True)), 2
        ),
        "peak_mb": max(c.peak_mb for c in our_costs),
    }


def _growth(folder: Path, messages: int, rounds: int) -> dict[str, Any]:
    stream = folder / f"stream-10-{messages}"
    corpus.write_stream(stream, messages, 10)
    few = json.dumps(corpus.catalog(10)).encode()
    many = json.dumps(corpus.catalog(10_000)).encode()
    pairs = []
    for number in range(rounds + 1):
        small, _ = _ours(few, stream, folder / "ours")
        large, _ = _ours(many, stream, folder / "ours")
        _show("heraldry, 10 definitions", small, messages, number)
        _show("heraldry, 10,000 definitions", large, messages, number)
        if number:
            pairs.append((small, large))
    ratios = [large.cpu / small.cpu for small, large in pairs]
    return {
        "ratios": [round(ratio, 2) for ratio in ratios],
        "ratio": round(median(ratios), 2),
        "peak_mb": max(max(small.peak_mb, large.peak_mb) for small, large in pairs),
    }


def _plain(spark: SparkSession, stream: Path, target: Path) -> Cost:
    shutil.rmtree(target, ignore_errors=True)
    with measured() as cost:
        spark.read.schema(BASE_SCHEMA).json(str(stream)).write.parquet(str(target))
    return cost


def _ours(catalog: bytes, stream: Path, target: Path) -> tuple[Cost, Any]:
    shutil.rmtree(target, ignore_errors=True)
    with measured() as cost:
        settings = LandSettings(source=f"files:{stream}", warehouse=str(target), master=MASTER)
        report = land(load_bytes(catalog, "catalog.json"), settings)
    return cost, report


def _show(name: str, cost: Cost, messages: int, number: int) -> None:
    rate = messages / cost.cpu
    label = "warm-up" if number == 0 else f"round {number}"
    print(
        f"{label:8} {name:30} {cost.cpu:6.1f} CPU s  {cost.wall:6.1f} s  "
        f"{rate:9,.0f} rows/CPU s  peak {cost.peak_mb:6,.0f} MB",
        flush=True,
    )
