"""Adding up the batches of a run."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from heraldry.pipeline.landing.report import BatchReport, LandReport


@dataclass(slots=True)
class Totals:
    """What the run has done so far."""

    read: int = 0
    landed: int = 0
    dead: int = 0
    repeated: int = 0
    batches: int = 0
    stopped: bool = False
    started: float = field(default_factory=time.monotonic)

    def add(self, report: BatchReport) -> None:
        """Count a batch."""
        self.read += report.read
        self.landed += report.landed
        self.dead += report.dead
        self.repeated += report.repeated
        self.batches += 1

    def report(self) -> LandReport:
        """The sum."""
        return LandReport(
            read=self.read,
            landed=self.landed,
            dead=self.dead,
            repeated=self.repeated,
            batches=self.batches,
            seconds=time.monotonic() - self.started,
            stopped=self.stopped,
        )
