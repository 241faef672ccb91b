"""What a landing job is told: where from, where to, and within which bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

WINDOW = 10_000_000
"""How many identities are remembered where nothing else is told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LandSettings:
    """The settings of one landing job; the command line has an option for each."""

    source: str
    warehouse: str
    checkpoint: str | None = None
    stream: bool = False
    only: tuple[str, ...] = ()
    database: str | None = None
    master: str | None = None
    """None: what spark-submit or spark-defaults.conf name, else ``local[*]``."""
    remote: str | None = None
    """A Spark Connect server, sc://host:port, instead of a master."""
    max_per_batch: int | None = None
    keep_payload: bool = False
    interval: float = 1.0
    source_options: Mapping[str, str] = field(default_factory=dict)
    """NAME=VALUE for the source: what its URL has no place for."""
    raw_log: str | None = None
    """Where messages of sources that cannot be read again are kept first."""
    raw_log_if_needed: bool = False
    """A source that can be read again does without the raw log, and does not refuse it."""
    dedupe: str = "auto"
    """``auto`` (where the source may repeat), ``on`` or ``off``."""
    dedupe_window: int = WINDOW
    """How many identities are remembered."""
    with_base: bool = False
    """Variants of one message land together in the table of their common base."""
    partition_by: tuple[str, ...] = ()
    cluster_by: tuple[str, ...] = ()
    optional_columns: tuple[str, ...] = ()
    """Columns among those that no table needs to have."""
    mask: tuple[str, ...] = ()
    """Which fields of dead letters are masked."""
    breaker: float | None = 0.5
    """The share of dead letters in a batch that stops the job; None: never."""
    foreign: bool = False
    """The source holds dead letters of other tools."""
