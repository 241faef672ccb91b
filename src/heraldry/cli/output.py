"""How results look: plain text that survives 80 columns, or JSON that survives machines."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import click
import msgspec

if TYPE_CHECKING:
    from heraldry.pipeline.landing.report import BatchReport, LandReport

WIDTH = 80


def width() -> int:
    """The columns to write for: those of the terminal, or 80 where there is none."""
    return shutil.get_terminal_size((WIDTH, 24)).columns if sys.stdout.isatty() else WIDTH


def write_json(value: Any) -> None:
    """One value as one line of JSON on standard output."""
    click.echo(msgspec.json.encode(value, enc_hook=str).decode())


def write_listing(items: Iterable[Any]) -> None:
    """One JSON array, an item a line, written as the items come."""
    start = "["
    for item in items:
        click.echo(start)
        click.echo(msgspec.json.encode(item, enc_hook=str).decode(), nl=False)
        start = ","
    click.echo("[]" if start == "[" else "\n]")


def count(number: int) -> str:
    """A number with thousands separators."""
    return f"{number:,}"


def plural(number: int, noun: str, many: str | None = None) -> str:
    """``1 error``, ``2 errors``, ``9 batches``."""
    return f"{count(number)} {noun if number == 1 else many or noun + 's'}"


def wrap(text: str, indent: str) -> str:
    """Text folded at the width, every line indented; words longer than a line stay whole."""
    return "\n".join(
        textwrap.fill(
            line,
            max(width(), 40),
            initial_indent=indent,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        )
        for line in text.splitlines()
    )


def shorten(text: str, room: int) -> str:
    """Text cut to the room, with an ellipsis where something is missing."""
    return text if len(text) <= room else text[: max(room - 1, 1)] + "…"


def table(rows: Sequence[Sequence[str]], right: Sequence[int] = (), indent: str = "") -> list[str]:
    """Rows in aligned columns, two blanks apart; ``right`` are the columns of numbers."""
    if not rows:
        return []
    wide = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [
            cell.rjust(wide[i]) if i in right else cell.ljust(wide[i]) for i, cell in enumerate(row)
        ]
        lines.append((indent + "  ".join(cells)).rstrip())
    return lines


def one_line(value: Any) -> str:
    """A value as it stands in a line of text: strings bare, the rest as JSON."""
    text = value if isinstance(value, str) else msgspec.json.encode(value, enc_hook=str).decode()
    return visible(text)


def visible(text: str) -> str:
    """Text on one line, with escapes for what a terminal would obey instead of showing it."""
    if text.isprintable():
        return text
    return "".join(
        one if one.isprintable() else one.encode("unicode_escape").decode() for one in text
    )


def progress(text: str) -> None:
    """One plain line about what is going on, on standard error."""
    click.echo(text, err=True)


def balance(report: BatchReport | LandReport) -> str:
    """The sum that must be right: one in, exactly one out."""
    dead = plural(report.dead, "dead letter")
    again = f" + {count(report.repeated)} repeated" if report.repeated else ""
    return f"{count(report.read)} in = {count(report.landed)} landed + {dead}{again}"
