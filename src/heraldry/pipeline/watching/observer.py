"""Who watches a job: the live display, metrics, logs and lineage are each one observer.

An observer must not stop a job: what it raises is told once on standard error and forgotten.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from heraldry.pipeline.landing.report import BatchReport, LandReport


@dataclass(frozen=True, slots=True, kw_only=True)
class JobInfo:
    """The job: its id (one per checkpoint), this run's id, where from and where to."""

    job: str
    run: str
    source: str
    warehouse: str
    catalog: str
    stream: bool = False
    tables: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    """Columns by table name, for those that a batch has touched so far: name and Spark type."""


class Observer(Protocol):
    """Told of everything in order, from one thread at a time."""

    def started(self, info: JobInfo) -> None:
        """The job is about to read."""

    def event(self, text: str) -> None:
        """Something small went on; many per batch."""

    def batch(self, info: JobInfo, report: BatchReport) -> None:
        """A batch was committed."""

    def ended(self, info: JobInfo, report: LandReport, error: BaseException | None) -> None:
        """The run is over: in peace, or by an error."""


class Silent:
    """An observer that takes no notice; others override what they care for."""

    def started(self, info: JobInfo) -> None:
        """Nothing."""

    def event(self, text: str) -> None:
        """Nothing."""

    def batch(self, info: JobInfo, report: BatchReport) -> None:
        """Nothing."""

    def ended(self, info: JobInfo, report: LandReport, error: BaseException | None) -> None:
        """Nothing."""
