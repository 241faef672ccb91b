"""What a landing job is told: where from, where to, and within which bounds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class LandSettings:
    """The settings of one landing job; the command line has an option for each."""

    source: str
    warehouse: str
    checkpoint: str | None = None
    stream: bool = False
    only: tuple[str, ...] = ()
    database: str | None = None
    master: str = "local[*]"
    max_per_batch: int | None = None
    keep_payload: bool = False
    interval: float = 1.0
