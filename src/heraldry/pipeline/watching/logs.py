"""A job's log for machines: one JSON object a line."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TextIO

import msgspec

from heraldry.pipeline.landing.report import BatchReport, LandReport
from heraldry.pipeline.watching.observer import JobInfo

PASSING = re.compile(r"^\d+/\d+ ")
"""Marks the events that come many times a batch, such as "3/8 parts of the batch"."""


def _now() -> datetime:
    return datetime.now(UTC)


class JsonLog:
    """An observer that writes; every line has ``time``, ``level`` and ``event``."""

    def __init__(self, stream: TextIO, clock: Callable[[], datetime] = _now) -> None:
        self._stream = stream
        self._clock = clock
        self._who: dict[str, str] = {}

    def started(self, info: JobInfo) -> None:
        """Say what begins."""
        self._who = {"job": info.job, "run": info.run}
        about = {"source": info.source, "warehouse": info.warehouse, "catalog": info.catalog}
        self._write("info", "started", **about, stream=info.stream)

    def event(self, text: str) -> None:
        """Say what went on, but not how far a batch is."""
        if not PASSING.search(text):
            self._write("info", "note", message=text)

    def batch(self, info: JobInfo, report: BatchReport) -> None:
        """Say what a batch did."""
        about = {
            "catalog": report.catalog or info.catalog,
            "newest": report.newest,
            "lag": report.lag,
            "deprecated": {xid: one.rows for xid, one in report.deprecated.items()} or None,
        }
        level = "warning" if report.dead > report.landed else "info"
        self._write(
            level,
            "batch",
            batch=report.batch,
            read=report.read,
            landed=report.landed,
            dead=report.dead,
            repeated=report.repeated,
            seconds=round(report.seconds, 3),
            reasons=dict(report.reasons),
            nearest=dict(report.nearest),
            tables=dict(report.tables),
            **{name: value for name, value in about.items() if value is not None},
        )

    def ended(self, info: JobInfo, report: LandReport, error: BaseException | None) -> None:
        """Say how the run ended."""
        failed = {"error": {"type": type(error).__name__, "message": str(error)}} if error else {}
        self._write(
            "error" if error else "info",
            "failed" if error else "ended",
            read=report.read,
            landed=report.landed,
            dead=report.dead,
            repeated=report.repeated,
            batches=report.batches,
            seconds=round(report.seconds, 3),
            **failed,
        )

    def _write(self, level: str, event: str, **fields: Any) -> None:
        time = self._clock().isoformat(timespec="milliseconds").replace("+00:00", "Z")
        line = {"time": time, "level": level, "event": event, **self._who, **fields}
        self._stream.write(msgspec.json.encode(line).decode() + "\n")
        self._stream.flush()
