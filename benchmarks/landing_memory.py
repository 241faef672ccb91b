"""The memory of Python workers while many batches land: bounded, and flat."""

from __future__ import annotations

from pathlib import Path
from statistics import mean
from typing import Any

import corpus
import jobs
from heraldry.pipeline.landing.report import BatchReport, LandReport
from heraldry.pipeline.spark.session import open_session
from heraldry.pipeline.watching.observer import JobInfo
from measure import WorkerMemory

BATCHES = 20
DEFINITIONS = 50
LIMIT_MB = 500
GROWTH = 1.1


class _Peaks:
    """Notes the most that a worker had during each batch."""

    def __init__(self, memory: WorkerMemory) -> None:
        self._memory = memory
        self.peaks: list[float] = []

    def started(self, info: JobInfo) -> None:
        del info
        self._memory.peak()

    def event(self, text: str) -> None:
        del text

    def batch(self, info: JobInfo, report: BatchReport) -> None:
        del info, report
        self.peaks.append(self._memory.peak())

    def ended(self, info: JobInfo, report: LandReport, error: BaseException | None) -> None:
        del info, report, error


def run(folder: Path, messages: int, rounds: int) -> dict[str, Any]:
    """One run of twenty batches; the last five must not need more than the first five."""
    del rounds
    open_session(jobs.MASTER)
    stream = folder / f"stream-{BATCHES}-files-{DEFINITIONS}-{messages}"
    flawed = corpus.write_stream(stream, messages, DEFINITIONS, files=BATCHES)
    with WorkerMemory() as memory:
        watch = _Peaks(memory)
        document = jobs.catalog(DEFINITIONS)
        _, report = jobs.ours(document, stream, folder / "ours", messages // BATCHES, (watch,))
    jobs.expect(report, messages, flawed)
    first, last = mean(watch.peaks[:5]), mean(watch.peaks[-5:])
    print(f"{report.batches} batches, workers: first five {first:.0f} MB, last five {last:.0f} MB")
    return {
        "batches": report.batches,
        "worker_peak_mb": round(max(watch.peaks)),
        "first_five_mb": round(first),
        "last_five_mb": round(last),
        "goals": {
            f"a Python worker < {LIMIT_MB} MB": max(watch.peaks) < LIMIT_MB,
            f"last batches <= {GROWTH} x first ones in memory": last <= GROWTH * first,
        },
    }
