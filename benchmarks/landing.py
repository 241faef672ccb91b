"""Landing against a plain Spark job, and messages of MQTT against events, in one run.

(a) ``spark.read.schema(S).json`` to Parquet: one schema, no matching, no validation.
(b) ``heraldry land``: matching, full JSON Schema validation, placeholders, one typed table per
definition, dead letters with reasons, commits included.
(c) the same for messages of MQTT that are no events, with the same payloads: the topic is matched
and the attributes of the event are filled in.
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


def run(folder: Path, messages: int, rounds: int) -> dict[str, Any]:
    """All three jobs, warm and interleaved; the result says which goals are reached."""
    spark = open_session(jobs.MASTER)
    events = folder / f"stream-{DEFINITIONS}-{messages}"
    natives = folder / f"mqtt-{DEFINITIONS}-{messages}"
    flawed = corpus.write_stream(events, messages, DEFINITIONS)
    corpus.write_stream(natives, messages, DEFINITIONS, mqtt=True)
    document = jobs.catalog(DEFINITIONS)
    bound = jobs.catalog(DEFINITIONS, mqtt=True)
    found: list[tuple[Cost, Cost, Cost]] = []
    for number in range(rounds + 1):
        plain = jobs.plain(spark, events, folder / "plain")
        ours, report = jobs.ours(document, events, folder / "ours", 2 * messages)
        jobs.expect(report, messages, flawed)
        mqtt, report = jobs.ours(bound, natives, folder / "ours", 2 * messages)
        jobs.expect(report, messages, flawed)
        jobs.show("plain Spark", plain, messages, number)
        jobs.show("heraldry, events", ours, messages, number)
        jobs.show("heraldry, MQTT", mqtt, messages, number)
        if number:  # the first round warms all up
            found.append((plain, ours, mqtt))
    versus = jobs.ratios([(ours, plain) for plain, ours, _ in found])
    native = jobs.ratios([(ours, mqtt) for _, ours, mqtt in found])
    best = min(found, key=lambda one: one[1].cpu)
    versus["plain_rows_per_cpu_second"] = round(messages / best[0].cpu)
    versus["our_rows_per_cpu_second"] = round(messages / best[1].cpu)
    goals = {
        f"rows per CPU second >= {RATIO_GOAL} x plain Spark": versus["ratio"] >= RATIO_GOAL,
        f"MQTT <= {NATIVE_GOAL} x events": native["ratio"] <= NATIVE_GOAL,
    }
    return {"versus": versus, "native": native, "goals": goals}
