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
    """All messages in one batch, in every form; then twenty batches, the last no larger."""
    del rounds
    open_session(jobs.MASTER)
    found = {form: _whole(folder, messages, form) for form in corpus.FORMS}
    stream = folder / f"stream-{BATCHES}-files-{DEFINITIONS}-{messages}"
    flawed = corpus.write_stream(stream, messages, DEFINITIONS, files=BATCHES)
    peaks = _peaks(folder, stream, "events", messages // BATCHES, (messages, flawed))
    first, last = mean(peaks[:5]), mean(peaks[-5:])
    print(f"{len(peaks)} batches, workers: first five {first:.0f} MB, last five {last:.0f} MB")
    most = max(*peaks, *found.values())
    return {
        "batches": len(peaks),
        "worker_peak_mb": round(max(peaks)),
        "worker_peak_mb_in_one_batch": {form: round(peak) for form, peak in found.items()},
        "first_five_mb": round(first),
        "last_five_mb": round(last),
        "goals": {
            f"a Python worker < {LIMIT_MB} MB": most < LIMIT_MB,
            f"last batches <= {GROWTH} x first ones in memory": last <= GROWTH * first,
        },
    }


def _whole(folder: Path, messages: int, form: corpus.Form) -> float:
    """The most that a worker has where all messages come in one batch."""
    stream = folder / f"{form}-{DEFINITIONS}-{messages}"
    flawed = corpus.write_stream(stream, messages, DEFINITIONS, form=form)
    peak = max(_peaks(folder, stream, form, 2 * messages, (messages, flawed)))
    print(f"one batch of {form}, workers: {peak:.0f} MB")
    return peak


def _peaks(
    folder: Path, stream: Path, form: corpus.Form, batch: int, expected: tuple[int, int]
) -> list[float]:
    with WorkerMemory() as memory:
        watch = _Peaks(memory)
        document = jobs.catalog(DEFINITIONS, form)
        _, report = jobs.ours(document, stream, folder / jobs.RUNS, batch, DEFINITIONS, (watch,))
    jobs.expect(report, *expected, batches=len(watch.peaks))
    return watch.peaks
