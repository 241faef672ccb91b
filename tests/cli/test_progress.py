"""What a landing job shows: a panel within 80 columns, plain lines elsewhere, sums that add up."""

from __future__ import annotations

import os
import pty
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest
from rich.console import Console

from heraldry.cli.output import balance
from heraldry.cli.progress import Progress
from heraldry.cli.progress_panel import JobState, age, panel
from tests.pipeline.watching.observing import NOON, batch, info, total

LONG = "default.a-group-with-a-very-long-name.and-a-message-whose-name-is-even-longer-than-that"


def drawn(state: JobState, width: int = 80, *, color: bool = False) -> str:
    console = Console(width=width, force_terminal=color, color_system="standard" if color else None)
    with console.capture() as capture:
        console.print(panel(state, width))
    return capture.get()


def state(**changes: object) -> JobState:
    now = [NOON.timestamp()]
    found = JobState(clock=lambda: now[0])
    found.info = info()
    now[0] += 10
    found.add(batch(3, **changes))
    return found


def test_the_panel_shows_what_matters() -> None:
    shown = state(
        read=1000, landed=990, dead=5, repeated=5, seconds=0.5, tables={"d.o.placed": 990}
    )
    shown.events.append("the catalog changed")
    text = " ".join(drawn(shown).split())
    for said in (
        "kafka://broker:9092/orders → /data/lake",
        "rate 2,000/s mean 100/s",
        "lag 5 freshness 10 s",
        "read 1,000 landed 990",
        "dead letters 5 (0.5%) repeated 5",
        "last batch 3 in 0.5 s catalog abababababab",
        "d.o.placed 990 1,980/s",
        "the catalog changed",
    ):
        assert said in text


@pytest.mark.parametrize("width", [40, 80, 200])
def test_the_panel_keeps_its_width(width: int) -> None:
    tables = {f"{LONG}{number}": 10**12 + number for number in range(30)}
    shown = state(tables=tables, read=10**12, landed=10**12, lag=10**12)
    shown.events.extend(["x" * 300, "[bold]no markup[/bold]", "\x1b[2Jno escapes"])
    shown.passing = "3/8 parts of the batch"
    lines = drawn(shown, width).splitlines()
    assert {len(line) for line in lines} == {width}
    assert "[bold]no markup" in "".join(lines)
    assert "\x1b" not in "".join(lines)
    assert len(lines) < 24


def test_only_the_busiest_tables_are_shown() -> None:
    shown = state(tables={f"t{number}": number for number in range(1, 21)})
    text = drawn(shown)
    assert "t20" in text
    assert "t12 " not in text
    assert "and 12 more" in text


@pytest.mark.parametrize(
    ("dead", "warned"), [(10, False), (11, True)], ids=["ten-percent", "eleven-percent"]
)
def test_many_dead_letters_are_a_warning(dead: int, warned: bool) -> None:
    text = drawn(state(read=100, landed=100 - dead, dead=dead, repeated=0), color=True)
    assert (re.search(r"\x1b\[1;31m", text) is not None) == warned


def test_without_a_batch_nothing_is_made_up() -> None:
    text = " ".join(drawn(JobState()).split())
    assert "lag unknown freshness unknown" in text
    assert "last batch none yet catalog unknown" in text


def test_a_stream_without_news_has_no_rate() -> None:
    shown = state()
    later = shown.clock() + 60
    shown.clock = lambda: later
    assert "rate 0/s" in " ".join(drawn(shown).split())


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(3.4, "3 s"), (119, "119 s"), (300, "5 min"), (7200, "2 h"), (timedelta(days=9), "9 d")],
    ids=["seconds", "two-minutes", "minutes", "hours", "days"],
)
def test_ages_are_short(seconds: float | timedelta, said: str) -> None:
    assert age(seconds.total_seconds() if isinstance(seconds, timedelta) else seconds) == said


def tell(progress: Progress) -> None:
    progress.started(info())
    progress.event("Spark 4 on local[*]")
    progress.event("3/8 parts of the batch")
    progress.batch(info(), batch())
    progress.batch(info(), batch(1, repeated=0, read=9))
    progress.ended(info(), total(batch(), batch(1, repeated=0, read=9)), None)


def test_without_a_terminal_lines_are_plain(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress() as progress:
        tell(progress)
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.splitlines() == [
        "Spark 4 on local[*]",
        "batch 0: 10 in = 8 landed + 1 dead letter + 1 repeated, 0.4 s",
        "batch 1: 9 in = 8 landed + 1 dead letter, 0.4 s",
        "in all: 19 in = 16 landed + 2 dead letters + 1 repeated, 2 batches, 1.0 s, 19/s",
    ]
    assert progress.tables == {"default.orders.placed": 12, "default.orders.paid": 4}


def test_what_is_not_shown_is_still_added_up(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress(shown=False) as progress:
        tell(progress)
    assert capsys.readouterr().err == ""
    assert progress.tables["default.orders.placed"] == 12


def test_a_sum_without_repeats_does_not_speak_of_them() -> None:
    assert balance(total(batch(repeated=0))) == "10 in = 8 landed + 1 dead letter"


@contextmanager
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[bytes]]:
    """Standard error as a terminal of 80 columns; what was written to it, when it is over."""
    ours, theirs = pty.openpty()
    written: list[bytes] = []

    def read() -> None:
        while True:
            try:
                data = os.read(ours, 65536)
            except OSError:
                return
            if not data:
                return
            written.append(data)

    reader = threading.Thread(target=read)
    reader.start()
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    with os.fdopen(theirs, "w") as stream:
        monkeypatch.setattr("sys.stderr", stream)
        yield written
        monkeypatch.undo()
    reader.join(5)
    os.close(ours)


def test_on_a_terminal_there_is_a_panel_and_then_the_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    with terminal(monkeypatch) as written, Progress() as progress:
        tell(progress)
    text = b"".join(written).decode()
    assert "\x1b[?25l" in text
    assert "dead letters" in text
    last = text.replace("\r", "").rstrip().splitlines()[-1]
    assert last.endswith("2 batches, 1.0 s, 19/s")
    assert "\x1b[?25h" in text  # the cursor is back
