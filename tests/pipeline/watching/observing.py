"""A job and its batches for those who watch, without Spark."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from heraldry.pipeline.landing.report import BatchReport, LandReport
from heraldry.pipeline.watching.observer import JobInfo

RUN = "01900000-0000-7000-8000-000000000001"
DIGEST = "ab" * 32
NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)


def info(**changes: Any) -> JobInfo:
    given = {
        "job": "heraldry-1",
        "run": RUN,
        "source": "kafka://broker:9092/orders",
        "warehouse": "/data/lake",
        "catalog": DIGEST,
    }
    return JobInfo(**(given | changes))


def batch(number: int = 0, **changes: Any) -> BatchReport:
    """Eight rows of ten, one letter and one that had come before."""
    given = {
        "batch": number,
        "read": 10,
        "landed": 8,
        "dead": 1,
        "repeated": 1,
        "seconds": 0.4,
        "tables": {"default.orders.placed": 6, "default.orders.paid": 2},
        "reasons": {"type": 1},
        "catalog": DIGEST,
        "committed": NOON,
        "newest": NOON,
        "lag": 5,
    }
    return BatchReport(**(given | changes))


def total(*reports: BatchReport, seconds: float = 1.0) -> LandReport:
    return LandReport(
        read=sum(one.read for one in reports),
        landed=sum(one.landed for one in reports),
        dead=sum(one.dead for one in reports),
        repeated=sum(one.repeated for one in reports),
        batches=len(reports),
        seconds=seconds,
    )
