"""Landing against a plain Spark job, and messages of protocols against events, in one run.

(a) ``spark.read.schema(S).json`` to Parquet: one schema, no matching, no validation.
(b) ``heraldry land``: matching, full JSON Schema validation, placeholders, one typed table per
definition, dead letters with reasons, commits included.
(c) the same for messages of MQTT that are no events, with the same payloads: the topic is matched
and the attributes of the event are filled in.
(d) the same events in binary mode on Kafka, as the lines that the source makes of records.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import corpus
import jobs
from heraldry.pipeline.spark.session import open_session
from measure import Cost

DEFINITIONS = 50
RATIO_GOAL = 1.0
NATIVE_GOAL = 1.2
BINARY_GOAL = 1.3
LABELS = ("heraldry, events", "heraldry, MQTT", "heraldry, binary on Kafka")


def run(folder: Path, messages: int, rounds: int) -> dict[str, Any]:
    """All jobs, warm and interleaved; the result says which goals are reached."""
    spark = open_session(jobs.MASTER)
    streams = [folder / f"{form}-{DEFINITIONS}-{messages}" for form in corpus.FORMS]
    catalogs = [jobs.catalog(DEFINITIONS, form) for form in corpus.FORMS]
    for stream, form in zip(streams, corpus.FORMS, strict=True):
        flawed = corpus.write_stream(stream, messages, DEFINITIONS, form=form)
    found: list[list[Cost]] = []
    for number in range(rounds + 1):
        costs = [jobs.plain(spark, streams[0], folder / jobs.RUNS)]
        for document, stream in zip(catalogs, streams, strict=True):
            cost, report = jobs.ours(
                document, stream, folder / jobs.RUNS, 2 * messages, DEFINITIONS
            )
            jobs.expect(report, messages, flawed)
            costs.append(cost)
        for label, cost in zip(("plain Spark", *LABELS), costs, strict=True):
            jobs.show(label, cost, messages, number)
        if number:  # the first round warms all up
            found.append(costs)
    return _result(found, messages)


def _result(found: list[list[Cost]], messages: int) -> dict[str, Any]:
    versus = jobs.ratios([(ours, plain) for plain, ours, _, _ in found])
    native = jobs.ratios([(ours, mqtt) for _, ours, mqtt, _ in found])
    binary = jobs.ratios([(ours, kafka) for _, ours, _, kafka in found])
    best = min(found, key=lambda one: one[1].cpu)
    versus["plain_rows_per_cpu_second"] = round(messages / best[0].cpu)
    versus["our_rows_per_cpu_second"] = round(messages / best[1].cpu)
    goals = {
        f"rows per CPU second >= {RATIO_GOAL} x plain Spark": versus["ratio"] >= RATIO_GOAL,
        f"MQTT <= {NATIVE_GOAL} x events": native["ratio"] <= NATIVE_GOAL,
        f"binary on Kafka <= {BINARY_GOAL} x events": binary["ratio"] <= BINARY_GOAL,
    }
    return {"versus": versus, "native": native, "binary": binary, "goals": goals}
