"""How a landing job shows that it moves: a live panel on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from types import TracebackType
from typing import TYPE_CHECKING

import click

from heraldry.cli.output import balance, count, plural, visible
from heraldry.cli.progress_panel import JobState, panel
from heraldry.pipeline.watching.logs import PASSING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.live import Live
    from rich.panel import Panel

    from heraldry.pipeline.landing.report import BatchReport, LandReport
    from heraldry.pipeline.watching.observer import JobInfo

_REDRAWS = 4
"""A second, at most."""


class Progress:
    """An observer that shows a job on standard error; ``tables`` adds up the rows.

    ``shown`` is False where something else tells of the job: then it only adds up.
    """

    def __init__(self, *, shown: bool = True) -> None:
        self._state = JobState()
        self._shown = shown
        self._lock = threading.Lock()  # the panel is drawn by a thread of its own
        self._console: Console | None = None
        self._live: Live | None = None

    @property
    def tables(self) -> Counter[str]:
        """Rows by table, in this run."""
        return self._state.tables

    def __enter__(self) -> Progress:
        if self._shown and sys.stderr.isatty():
            from rich.console import Console
            from rich.live import Live

            self._console = Console(stderr=True, highlight=False)
            self._live = Live(
                get_renderable=self._panel,
                console=self._console,
                refresh_per_second=_REDRAWS,
                transient=True,
                redirect_stdout=False,
            )
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop()

    def started(self, info: JobInfo) -> None:
        """The job is about to read."""
        self._state.info = info

    def event(self, text: str) -> None:
        """Something small went on: the panel shows it all, plain lines only new phases."""
        if PASSING.search(text):
            self._state.passing = text
            return
        with self._lock:
            self._state.events.append(text)
        if self._live is None:
            self._echo(visible(text))

    def batch(self, info: JobInfo, report: BatchReport) -> None:
        """One batch was committed."""
        with self._lock:
            self._state.info = info
            self._state.add(report)
        if self._live is None:
            self._echo(f"batch {report.batch}: {balance(report)}, {report.seconds:.1f} s")

    def ended(self, info: JobInfo, report: LandReport, error: BaseException | None) -> None:
        """The run is over; what it did stays on the screen."""
        self._stop()
        speed = count(round(report.read / max(report.seconds, 0.001)))
        batches = plural(report.batches, "batch", "batches")
        self._echo(f"in all: {balance(report)}, {batches}, {report.seconds:.1f} s, {speed}/s")

    def _stop(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _panel(self) -> Panel:
        assert self._console is not None
        with self._lock:
            return panel(self._state, self._console.width)

    def _echo(self, text: str) -> None:
        if self._shown:
            click.echo(text, err=True)
