"""What a job says of itself: per batch and at the end; ``read`` is always ``landed + dead``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchReport:
    """One committed batch; ``tables`` maps a table's name to the rows it gained."""

    batch: int
    read: int
    landed: int
    dead: int
    seconds: float
    tables: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class LandReport:
    """The whole run."""

    read: int
    landed: int
    dead: int
    batches: int
    seconds: float
