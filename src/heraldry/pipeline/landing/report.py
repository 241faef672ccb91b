"""What a job says of itself: ``read`` is always ``landed + dead + repeated``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from heraldry.pipeline.lake.ledger import DeprecatedRows


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchReport:
    """One committed batch; ``tables`` maps a table's name to the rows it gained.

    ``repeated`` are messages that had come before, by their identity. ``newest`` is the latest
    event time among what landed (freshness), ``catalog`` the digest of the catalog that judged.
    ``lag`` is what the source still held at the end, where it can tell.
    """

    batch: int
    read: int
    landed: int
    dead: int
    seconds: float
    tables: Mapping[str, int]
    repeated: int = 0
    catalog: str = ""
    committed: datetime | None = None
    newest: datetime | None = None
    lag: int | None = None
    reasons: Mapping[str, int] = field(default_factory=dict)
    """Dead letters by rule."""
    nearest: Mapping[str, int] = field(default_factory=dict)
    """Dead letters by the definition that they came nearest to: the most frequent, and the rest."""
    deprecated: Mapping[str, DeprecatedRows] = field(default_factory=dict)
    """What landed of deprecated definitions, by definition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LandReport:
    """The whole run; ``stopped`` where a signal ended it."""

    read: int
    landed: int
    dead: int
    batches: int
    seconds: float
    repeated: int = 0
    stopped: bool = False
    reasons: Mapping[str, int] = field(default_factory=dict)
    nearest: Mapping[str, int] = field(default_factory=dict)
