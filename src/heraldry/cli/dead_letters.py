"""``heraldry dead-letters``: what did not land, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from heraldry.cli.output import (
    count,
    plural,
    shorten,
    width,
    wrap,
    write_json,
    write_listing,
)
from heraldry.cli.settings import example, option

if TYPE_CHECKING:
    from heraldry.pipeline.deadletters import LetterGroup

ALL = -1


@click.command(
    "dead-letters",
    short_help="What did not land, and why.",
    epilog=example("heraldry dead-letters --warehouse lake --rule type --rows 5"),
)
@option("warehouse", required=True)
@click.option(
    "--rows",
    is_flag=False,
    flag_value=ALL,
    type=click.IntRange(min=ALL),
    default=None,
    metavar="[N]",
    help="Show the letters themselves with the original message: N of them, or all.",
)
@click.option("--rule", metavar="RULE", help="Only letters with this rule.")
@click.option("--definition", metavar="XID", help="Only letters of this definition.")
@option("format")
def command(
    warehouse: str, rows: int | None, rule: str | None, definition: str | None, output: str
) -> None:
    """Show the dead letters of a warehouse, grouped by reason, the most frequent first.

    A letter keeps the message as it came, where it came from, the stage and rule that refused
    it, what was expected and found, and the definitions that came nearest.
    """
    from heraldry.pipeline import deadletters

    if rows is None:
        groups = deadletters.groups(warehouse, rule=rule, definition=definition)
        if output == "json":
            write_json([as_json(group) for group in groups])
        else:
            _write_groups(groups, warehouse)
        return
    limit = None if rows == ALL else rows
    letters = deadletters.letters(warehouse, limit, rule=rule, definition=definition)
    if output == "json":
        write_listing(letters)
    else:
        _write_letters(letters)


def as_json(group: LetterGroup) -> dict[str, Any]:
    """One reason with the number of its letters, as an object."""
    return {
        "stage": group.stage,
        "rule": group.rule,
        "definition": group.definition,
        "path": group.path,
        "message": group.message,
        "count": group.count,
    }


def _write_groups(groups: Sequence[LetterGroup], warehouse: str) -> None:
    total = sum(group.count for group in groups)
    wide = max((len(count(group.count)) for group in groups), default=0)
    for group in groups:
        tail = f"  {group.definition}" if group.definition else ""
        click.echo(f"{count(group.count).rjust(wide)}  {group.stage}  [{group.rule}]{tail}")
        click.echo(wrap(f"{group.path}: {group.message}", " " * (wide + 2)))
    click.echo(
        f"{plural(total, 'dead letter')} with {plural(len(groups), 'reason')} in {warehouse}"
    )


def _write_letters(letters: Iterable[Mapping[str, Any]]) -> None:
    shown = 0
    for letter in letters:
        shown += 1
        definition = letter["definition"] or ""
        click.secho(f"{letter['stage']}  [{letter['rule']}]  {definition}".rstrip(), bold=True)
        found = f" (found {letter['found']})" if letter.get("found") is not None else ""
        click.echo(wrap(f"{letter['path']}: {letter['message']}{found}", "  "))
        click.secho(f"  {letter['source']} {letter['position']}, batch {letter['batch']}", dim=True)
        line = letter["line"] if "line" in letter else f"base64: {letter['line_base64']}"
        click.echo(f"  {shorten(_printable(line), width() - 2)}")
    click.echo(plural(shown, "dead letter"))


def _printable(text: str) -> str:
    return "".join(char if char.isprintable() else "�" for char in text)
