"""The job one would write first: a Python function per row, then a filter and a write per table.

It matches the type, the templates and the payload by the ``jsonschema`` package, as ours does by
other means. Each write judges all rows again; beside it stands the job of somebody who has found
out about that, and keeps the judged rows in memory. The cost per row is what a larger stream costs
more than a smaller one, so that starting up counts for nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import corpus
import jobs
from heraldry.pipeline.spark.session import open_session
from measure import Cost, measured

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DEFINITIONS = 50
FIRST = (500, 2_500)
CACHED = (10_000, 40_000)
GOAL = 20
PAYLOAD = jobs.BASE_SCHEMA.partition(" data ")[2]


def run(folder: Path, messages: int, rounds: int) -> dict[str, Any]:
    """The cost of a row in the three jobs; ours is taken with all its costs of starting."""
    spark = open_session(jobs.MASTER)
    streams = {n: folder / f"stream-{DEFINITIONS}-{n}" for n in (*FIRST, *CACHED, messages)}
    flawed = {n: corpus.write_stream(path, n, DEFINITIONS) for n, path in streams.items()}
    document = jobs.catalog(DEFINITIONS)
    found: dict[str, list[float]] = {"first": [], "cached": []}
    for number in range(rounds + 1):
        ours, report = jobs.ours(
            document, streams[messages], folder / jobs.RUNS, 2 * messages, DEFINITIONS
        )
        jobs.expect(report, messages, flawed[messages])
        jobs.show("heraldry", ours, messages, number)
        for name, counts in (("first", FIRST), ("cached", CACHED)):
            costs = []
            for count in counts:
                cost, dead = _naive(spark, streams[count], folder / jobs.RUNS, name == "cached")
                if dead != flawed[count]:
                    raise SystemExit(f"expected {flawed[count]} flawed of {count}, got {dead}")
                costs.append(cost)
            jobs.show(f"naive, {name}", costs[1], counts[1], number)
            row = (costs[1].cpu - costs[0].cpu) / (counts[1] - counts[0])
            if number:
                found[name].append(row / (ours.cpu / messages))
    ratio = median(found["first"])
    return {
        "ratios": [round(one, 1) for one in found["first"]],
        "ratio": round(ratio, 1),
        "ratio_where_cached": round(median(found["cached"]), 1),
        "goals": {f"a row costs >= {GOAL} x less than naively": ratio >= GOAL},
    }


def _naive(spark: SparkSession, stream: Path, folder: Path, cached: bool) -> tuple[Cost, int]:
    from pyspark.sql import functions as f

    target = jobs.fresh(folder)
    told = "definition string, payload string, store string, desk string, problem string"
    with measured() as cost:
        judge = f.udf(_judge(DEFINITIONS), told)
        lines = spark.read.text(str(stream))
        rows = lines.select(judge("value").alias("j"), "value").select("j.*", "value")
        if cached:
            rows = rows.cache()
        for number in range(DEFINITIONS):
            kind = corpus.event_type(number)
            mine = rows.filter(f.col("definition") == kind)
            typed = mine.select(f.from_json("payload", PAYLOAD).alias("p"), "store", "desk")
            typed.select("p.*", "store", "desk").write.parquet(str(target / kind))
        dead = rows.filter("definition is null").select("value", "problem")
        dead.write.parquet(str(target / "dead"))
        count = spark.read.parquet(str(target / "dead")).count()
        if cached:
            rows.unpersist()
    return cost, count


def _judge(definitions: int) -> Callable[[str], tuple[str | None, ...]]:
    schemas = {corpus.event_type(n): corpus.payload_schema(n) for n in range(definitions)}
    validators: dict[str, Any] = {}
    source = re.compile(r"/stores/([^/]+)/desks/([^/]+)")
    subject = re.compile(r"([^-]+)-(.+)")

    def judge(line: str) -> tuple[str | None, ...]:
        import jsonschema  # type: ignore[import-untyped]

        event = json.loads(line)
        kind = event.get("type")
        if kind not in schemas:
            return None, None, None, None, f"unknown type {kind}"
        place, about = source.fullmatch(event["source"]), subject.fullmatch(event["subject"])
        if place is None or about is None or about[1] != place[1]:
            return None, None, None, None, "source or subject do not fit"
        if kind not in validators:
            checker = jsonschema.Draft7Validator.FORMAT_CHECKER
            validators[kind] = jsonschema.Draft7Validator(schemas[kind], format_checker=checker)
        problems = [error.message for error in validators[kind].iter_errors(event["data"])]
        if problems:
            return None, None, None, None, "; ".join(problems)
        return kind, json.dumps(event["data"]), place[1], place[2], None

    return judge
