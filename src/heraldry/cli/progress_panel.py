"""The live panel of a landing job: how fast, how far behind, how much of it is dead letters."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from heraldry.cli.output import count, shorten, visible

if TYPE_CHECKING:
    from heraldry.pipeline.landing.report import BatchReport
    from heraldry.pipeline.watching.observer import JobInfo

ALARM = 0.1
"""The share of dead letters from which on the panel warns."""

_TABLES = 8
_EVENTS = 4
_IDLE = 10.0


@dataclass(slots=True)
class JobState:
    """What is known of a job so far; the panel is drawn from it as often as one likes."""

    clock: Callable[[], float] = time.time
    info: JobInfo | None = None
    last: BatchReport | None = None
    began: float = 0.0
    seen: float = 0.0
    newest: float | None = None
    batches: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    tables: Counter[str] = field(default_factory=Counter)
    events: deque[str] = field(default_factory=lambda: deque(maxlen=_EVENTS))
    passing: str = ""

    def __post_init__(self) -> None:
        self.began = self.clock()

    def add(self, report: BatchReport) -> None:
        """Count a batch."""
        self.last, self.seen, self.passing = report, self.clock(), ""
        self.batches += 1
        self.counts.update(read=report.read, landed=report.landed)
        self.counts.update(dead=report.dead, repeated=report.repeated)
        self.tables.update(report.tables)
        if report.newest is not None:
            self.newest = max(self.newest or 0.0, report.newest.timestamp())

    @property
    def mean_rate(self) -> float:
        """Messages a second since the start."""
        return self.counts["read"] / max(self.clock() - self.began, 0.001)

    @property
    def is_idle(self) -> bool:
        """Whether the last batch is too long ago to say how fast it goes now."""
        return self.last is None or self.clock() - self.seen > max(_IDLE, 2 * self.last.seconds)

    def rate(self, messages: int) -> float:
        """Messages a second, of those that the last batch brought."""
        if self.last is None or self.is_idle:
            return 0.0
        return messages / max(self.last.seconds, 0.001)

    @property
    def catalog(self) -> str:
        """The digest of the catalog that judged last, or of the one that the job began with."""
        if self.last is not None and self.last.catalog:
            return self.last.catalog
        return self.info.catalog if self.info is not None else ""

    @property
    def dead_share(self) -> float:
        """The share of dead letters in all that was read and had not come before."""
        return self.counts["dead"] / max(self.counts["landed"] + self.counts["dead"], 1)


def panel(state: JobState, width: int) -> Panel:
    """The panel as it is now, for so many columns."""
    rows = Table.grid(expand=True)
    rows.add_row(_numbers(state))
    if state.tables:
        rows.add_row(_tables(state, width))
    for text in _events(state):
        rows.add_row(Text(shorten(visible(text), width - 4), style="dim"))
    info = state.info
    title = shorten(f"{info.source} → {info.warehouse}", width - 6) if info else "heraldry land"
    return Panel(rows, title=Text(title), title_align="left", width=width, border_style="dim")


def _numbers(state: JobState) -> Table:
    counts, last = state.counts, state.last
    now = state.rate(last.read) if last is not None else 0.0
    alarm = "bold red" if state.dead_share > ALARM else ""
    fresh = None if state.newest is None else max(state.clock() - state.newest, 0.0)
    lag = None if last is None else last.lag
    batch = "none yet" if last is None else f"{last.batch} in {last.seconds:.1f} s"
    grid = Table.grid(expand=True, padding=(0, 1))
    for style in ("dim", "", "dim", ""):
        grid.add_column(style=style, no_wrap=True, ratio=1 if not style else None)
    dead = f"{count(counts['dead'])} ({state.dead_share:.1%})"
    pairs: list[tuple[str, str | Text]] = [
        ("rate", f"{count(round(now))}/s"),
        ("mean", f"{count(round(state.mean_rate))}/s"),
        ("lag", "unknown" if lag is None else count(lag)),
        ("freshness", "unknown" if fresh is None else age(fresh)),
        ("read", count(counts["read"])),
        ("landed", count(counts["landed"])),
        ("dead letters", Text(dead, style=alarm)),
        ("repeated", count(counts["repeated"])),
        ("last batch", batch),
        ("catalog", state.catalog[:12] or "unknown"),
    ]
    for (left, one), (right, other) in zip(pairs[::2], pairs[1::2], strict=True):
        grid.add_row(left, one, right, other)
    return grid


def _tables(state: JobState, width: int) -> Table:
    gained = state.last.tables if state.last is not None else {}
    grid = Table(box=None, expand=True, padding=(0, 1, 0, 0), header_style="dim")
    grid.add_column("table", no_wrap=True, ratio=1)
    grid.add_column("rows", justify="right", no_wrap=True)
    grid.add_column("now", justify="right", no_wrap=True)
    for name, rows in state.tables.most_common(_TABLES):
        speed = f"{count(round(state.rate(gained.get(name, 0))))}/s"
        grid.add_row(Text(shorten(name, max(width - 32, 10))), count(rows), speed)
    if len(state.tables) > _TABLES:
        rest = state.tables.total() - sum(n for _, n in state.tables.most_common(_TABLES))
        others = len(state.tables) - _TABLES
        grid.add_row(Text(f"and {count(others)} more", style="dim"), count(rest), "")
    return grid


def _events(state: JobState) -> list[str]:
    return [*state.events, *([state.passing] if state.passing else [])]


def age(seconds: float) -> str:
    """A time span as people say it: ``4 s``, ``3 min``, ``2 h``, ``5 d``."""
    for limit, unit, name in ((120, 1, "s"), (7200, 60, "min"), (172800, 3600, "h")):
        if seconds < limit:
            return f"{seconds / unit:.0f} {name}"
    return f"{count(round(seconds / 86400))} d"
