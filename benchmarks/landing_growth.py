"""Landing as catalogs grow: definitions without traffic, and tables that all have some."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import corpus
import jobs
from heraldry.pipeline.spark.session import open_session

FEW, MANY = 10, 10_000
TABLES = 1_000
DEFINITIONS_GOAL = 1.3
TABLES_GOAL = 2.0


def definitions(folder: Path, messages: int, rounds: int) -> dict[str, Any]:
    """Many definitions with traffic on few of them, against those few."""
    found = _against(folder, messages, rounds, MANY, FEW)
    reached = found["ratio"] <= DEFINITIONS_GOAL
    return found | {"goals": {f"{MANY:,} definitions <= {DEFINITIONS_GOAL} x {FEW}": reached}}


def tables(folder: Path, messages: int, rounds: int) -> dict[str, Any]:
    """Traffic on many tables in one batch, against few, commits included."""
    found = _against(folder, messages, rounds, TABLES, TABLES)
    reached = found["ratio"] <= TABLES_GOAL
    return found | {"goals": {f"{TABLES:,} tables <= {TABLES_GOAL} x {FEW}": reached}}


def _against(folder: Path, messages: int, rounds: int, declared: int, busy: int) -> dict[str, Any]:
    open_session(jobs.MASTER)
    small, large = folder / f"stream-{FEW}-{messages}", folder / f"stream-{busy}-{messages}"
    flawed = [corpus.write_stream(small, messages, FEW), corpus.write_stream(large, messages, busy)]
    few, many = jobs.catalog(FEW), jobs.catalog(declared)
    pairs = []
    for number in range(rounds + 1):
        first, report = jobs.ours(few, small, folder / jobs.RUNS, 2 * messages, FEW)
        jobs.expect(report, messages, flawed[0])
        second, report = jobs.ours(many, large, folder / jobs.RUNS, 2 * messages, busy)
        jobs.expect(report, messages, flawed[1])
        jobs.show(f"{FEW} definitions, all busy", first, messages, number)
        jobs.show(f"{declared:,} definitions, {busy:,} busy", second, messages, number)
        if number:
            pairs.append((first, second))
    return jobs.ratios(pairs)
