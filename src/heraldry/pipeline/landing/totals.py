"""Adding up the batches of a run."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field

from heraldry.pipeline.landing.report import BatchReport, LandReport
from heraldry.pipeline.letters.nearest import bounded

_KEPT = 1000
"""So many definitions are counted while a run lasts."""


@dataclass(slots=True)
class Totals:
    """What the run has done so far."""

    read: int = 0
    landed: int = 0
    dead: int = 0
    repeated: int = 0
    batches: int = 0
    stopped: bool = False
    reasons: Counter[str] = field(default_factory=Counter)
    nearest: Counter[str] = field(default_factory=Counter)
    started: float = field(default_factory=time.monotonic)

    def add(self, report: BatchReport) -> None:
        """Count a batch."""
        self.read += report.read
        self.landed += report.landed
        self.dead += report.dead
        self.repeated += report.repeated
        self.batches += 1
        self.reasons.update(report.reasons)
        self.nearest = Counter(bounded(self.nearest + Counter(report.nearest), _KEPT))

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
            reasons=dict(self.reasons),
            nearest=bounded(self.nearest),
        )
