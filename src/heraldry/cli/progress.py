"""How a landing job shows that it moves: one live line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import re
import sys
import time
from collections import Counter
from types import TracebackType
from typing import TYPE_CHECKING

import click

from heraldry.cli.output import count, plural

if TYPE_CHECKING:
    from rich.status import Status

    from heraldry.pipeline.report import BatchReport

_FRACTION = re.compile(r"\d+/\d+")
"""Marks the events that come many times a batch, such as "3/8 parts of the batch"."""


class Progress:
    """Takes the reports of a job and shows them on standard error; ``tables`` adds them up."""

    def __init__(self) -> None:
        self.tables: Counter[str] = Counter()
        self._read = self._dead = 0
        self._started = time.monotonic()
        self._live: Status | None = None

    def __enter__(self) -> Progress:
        if sys.stderr.isatty():
            from rich.console import Console

            self._live = Console(stderr=True, highlight=False).status("starting")
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def event(self, text: str) -> None:
        """Something small went on: the live line shows it all, plain lines only new phases."""
        if self._live is not None:
            self._live.update(f"{self._total()}{_escaped(text)}")
        elif not _FRACTION.search(text):
            click.echo(text, err=True)

    def batch(self, report: BatchReport) -> None:
        """One batch was committed."""
        self.tables.update(report.tables)
        self._read += report.read
        self._dead += report.dead
        text = (
            f"batch {report.batch}: {count(report.read)} in = {count(report.landed)} landed"
            f" + {plural(report.dead, 'dead letter')}, {report.seconds:.1f} s"
        )
        if self._live is not None:
            self._live.update(f"{self._total()}{text}")
        else:
            click.echo(text, err=True)

    def _total(self) -> str:
        if not self._read:
            return ""
        speed = self._read / max(time.monotonic() - self._started, 0.001)
        return f"{count(self._read)} messages, {count(round(speed))}/s  ·  "


def _escaped(text: str) -> str:
    # rich reads "[*]" as markup, and the master is often local[*].
    return text.replace("[", "\\[")
