"""Who watches a job is told everything in order, and cannot stop it."""

from __future__ import annotations

import pytest

from heraldry.pipeline.landing.report import BatchReport, LandReport
from heraldry.pipeline.watching.observer import JobInfo, Silent
from heraldry.pipeline.watching.observers import Observers

INFO = JobInfo(job="job", run="run", source="files:x", warehouse="/lake", catalog="digest")
BATCH = BatchReport(batch=0, read=1, landed=1, dead=0, seconds=0.1, tables={"a.b.c": 1})
TOTAL = LandReport(read=1, landed=1, dead=0, batches=1, seconds=0.2)


class Recorder(Silent):
    def __init__(self) -> None:
        self.told: list[object] = []

    def started(self, info: JobInfo) -> None:
        self.told.append(info)

    def event(self, text: str) -> None:
        self.told.append(text)

    def batch(self, info: JobInfo, report: BatchReport) -> None:
        self.told.append((info, report))

    def ended(self, info: JobInfo, report: LandReport, error: BaseException | None) -> None:
        self.told.append((info, report, error))


class Broken(Silent):
    def event(self, text: str) -> None:
        raise ValueError(f"no {text}")


def test_everybody_hears_everything_and_trouble_is_told_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    recorder = Recorder()
    observers = Observers(INFO, [Broken(), recorder])
    observers.started()
    observers.event("one")
    observers.event("two")
    observers.batch(BATCH)
    observers.ended(TOTAL, None)
    assert recorder.told == [INFO, "one", "two", (INFO, BATCH), (INFO, TOTAL, None)]
    assert capsys.readouterr().err == "heraldry: Broken watches no more: no one\n"


def test_the_silent_one_takes_no_notice() -> None:
    observers = Observers(INFO, [Silent()])
    observers.started()
    observers.event("x")
    observers.batch(BATCH)
    observers.ended(TOTAL, ValueError())
