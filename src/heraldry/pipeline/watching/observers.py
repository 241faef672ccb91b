"""Telling everybody who watches, without letting one of them stop the job."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence

from heraldry.pipeline.landing.deprecated import told
from heraldry.pipeline.landing.report import BatchReport, LandReport
from heraldry.pipeline.watching.observer import JobInfo, Observer


class Observers:
    """All observers of one job; the first trouble with each is told, and then it is left out."""

    def __init__(self, info: JobInfo, observers: Sequence[Observer]) -> None:
        self.info = info
        self._observers = list(observers)
        self._lock = threading.RLock()
        self._deprecated: set[str] = set()

    def started(self) -> None:
        """The job is about to read."""
        self._tell(lambda one: one.started(self.info))

    def event(self, text: str) -> None:
        """Something small went on."""
        self._tell(lambda one: one.event(text))

    def batch(self, report: BatchReport) -> None:
        """A batch was committed; a deprecated definition that has rows is told once a run."""
        self._tell(lambda one: one.batch(self.info, report))
        for xid, found in report.deprecated.items():
            if xid not in self._deprecated:
                self._deprecated.add(xid)
                self.event(told(xid, found))

    def ended(self, report: LandReport, error: BaseException | None) -> None:
        """The run is over."""
        self._tell(lambda one: one.ended(self.info, report, error))

    def _tell(self, say: Callable[[Observer], None]) -> None:
        with self._lock:
            for one in list(self._observers):
                try:
                    say(one)
                except Exception as error:  # noqa: BLE001
                    self._observers.remove(one)
                    name = type(one).__name__
                    told = f"heraldry: {name} watches no more: {str(error) or type(error).__name__}"
                    print(told, file=sys.stderr)  # noqa: T201
