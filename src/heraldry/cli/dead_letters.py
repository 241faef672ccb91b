"""``heraldry dead-letters``: what did not land, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO

import click
from click.core import ParameterSource

from heraldry.cli.letter_text import none_fits, write_letter
from heraldry.cli.output import (
    count,
    plural,
    progress,
    shorten,
    visible,
    width,
    wrap,
    write_json,
    write_listing,
)
from heraldry.cli.replay import WHERE
from heraldry.cli.settings import example, option
from heraldry.errors import UsageError

if TYPE_CHECKING:
    from heraldry.pipeline.letters.deadletters import LetterGroup

ALL = -1

_TERMS = ("rule", "definition", "where", "closed")
_IGNORED = {
    "letter": ("rows", "export", "newest", "form", *_TERMS),
    "export": ("rows", "newest", "output"),
    "rows": ("form",),
}
"""The options that each way to show letters has no use for; the first way that is given counts."""
_NEEDED = {"newest": "rows", "form": "export"}


@click.command(
    "dead-letters",
    short_help="What did not land, and why.",
    epilog=example("heraldry dead-letters --warehouse lake --where rule=type --rows 5"),
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
@click.option("--newest", is_flag=True, help="With --rows: the newest first.")
@click.option("--rule", metavar="RULE", help="Only letters with this rule.")
@click.option(
    "--definition", metavar="XID", help="Only letters of this definition; its bare id will do."
)
@WHERE
@click.option("--all", "closed", is_flag=True, help="Also letters that are done with by a replay.")
@click.option("--letter", metavar="ID", help="One letter in full; the beginning of its id will do.")
@click.option(
    "--export",
    type=click.File("wb"),
    metavar="FILE",
    help="Write the original messages to a file, one a line; - is standard output.",
)
@click.option(
    "--as",
    "form",
    type=click.Choice(["lines", "connect"]),
    default="lines",
    show_default=True,
    help="With --export: as they came, or as Kafka records with the headers of Kafka Connect.",
)
@option("format")
def command(
    warehouse: str,
    rows: int | None,
    newest: bool,
    rule: str | None,
    definition: str | None,
    where: tuple[str, ...],
    closed: bool,
    letter: str | None,
    export: BinaryIO | None,
    form: str,
    output: str,
) -> None:
    """Show the dead letters of a warehouse, grouped by reason, the most frequent first.

    A letter keeps the message as it came, where it came from, the stage and rule that refused
    it, what was expected and found, and the definitions that came nearest. Letters that landed by
    `heraldry replay` are left out.
    """
    from heraldry.pipeline.letters import deadletters

    _refuse_pairs(rows=rows is not None, letter=letter is not None, export=export is not None)
    if letter is not None:
        write_letter(deadletters.find_letter(warehouse, letter), output)
        return
    asked = _Asked.of(warehouse, where, rule, definition, closed=closed)
    if export is not None:
        _export(asked, export, form)
    elif rows is None:
        groups = deadletters.groups(warehouse, where=asked.condition, closed=closed)
        if output == "json":
            write_json([as_json(group) for group in groups])
        else:
            _write_groups(groups, asked)
    else:
        limit = None if rows == ALL else rows
        found = deadletters.letters(
            warehouse, limit, where=asked.condition, closed=closed, newest=newest
        )
        if output == "json":
            write_listing(found)
        else:
            _write_letters(found, limit, asked)


@dataclass(frozen=True, slots=True)
class _Asked:
    """Which letters are to be shown; ``columns`` are those that the choice is by."""

    warehouse: str
    condition: Any
    closed: bool
    columns: tuple[str, ...]

    @classmethod
    def of(
        cls,
        warehouse: str,
        where: Sequence[str],
        rule: str | None,
        definition: str | None,
        *,
        closed: bool,
    ) -> _Asked:
        """What the options say."""
        from heraldry.pipeline.letters import where as terms
        from heraldry.pipeline.letters.alternatives import definition_meant

        meant = partial(definition_meant, warehouse)
        condition = terms.both(
            terms.where(where, definition=meant),
            terms.equals("rule", rule),
            terms.equals("definition", None if definition is None else meant(definition)),
        )
        given = {"rule": rule, "definition": definition}
        by = {*terms.named_columns(where), *(name for name in given if given[name] is not None)}
        columns = tuple(name for name in terms.NAMEABLE if name in by)
        return cls(warehouse, condition, closed, columns)

    @property
    def noun(self) -> str:
        """What is shown."""
        return "dead letter" if self.closed else "open dead letter"

    def none_fits(self) -> str:
        """Why nothing is shown; nothing where nothing was asked, or there is no letter at all."""
        from heraldry.pipeline.letters.alternatives import alternatives

        if self.condition is None:
            return ""
        found = alternatives(self.warehouse, self.columns, closed=self.closed)
        return none_fits(found, closed=self.closed) if found.letters else ""


def _refuse_pairs(**given: bool) -> None:
    """One way to show letters at a time, and no typed option that this way takes no notice of.

    What stands in a file of settings is for whichever way has a use for it.
    """
    chosen = [f"--{name}" for name, is_there in given.items() if is_there and _typed(name)]
    if len(chosen) > 1:
        raise UsageError(f"{' and '.join(chosen)} do not go together", "give one of them")
    way = next((name for name in _IGNORED if given.get(name)), "")
    for name, needed in _NEEDED.items():
        if not way and _typed(name):
            raise UsageError(f"{_flag(name)} is for --{needed}", f"add --{needed}, or leave it out")
    for name in _IGNORED.get(way, ()):
        if _typed(name):
            told = f"--{way} and {_flag(name)} do not go together"
            raise UsageError(told, f"leave out {_flag(name)}")


def _typed(name: str) -> bool:
    found = click.get_current_context().get_parameter_source(name)
    return found is ParameterSource.COMMANDLINE


def _flag(name: str) -> str:
    return next(one.opts[0] for one in command.params if one.name == name)


def _export(asked: _Asked, target: BinaryIO, form: str) -> None:
    from heraldry.pipeline.letters.export import export_letters

    try:
        done = export_letters(
            asked.warehouse,
            target,
            where=asked.condition,
            closed=asked.closed,
            connect=form == "connect",
        )
        target.flush()
    except click.FileError as error:
        # The file is opened with the first message; click would end with the code of a finding.
        raise UsageError(f"{error.ui_filename} cannot be written", error.message) from None
    left = f", {count(done.masked)} left out because they are masked" if done.masked else ""
    if not (done.written or done.masked) and (told := asked.none_fits()):
        progress(told)
    progress(f"{plural(done.written, 'message')} exported{left}")


def as_json(group: LetterGroup) -> dict[str, Any]:
    """One reason with the number of its letters, as an object."""
    return {
        "stage": group.stage,
        "rule": group.rule,
        "definition": group.definition,
        "path": group.path,
        "message": group.message,
        "count": group.count,
        "first": group.first,
        "last": group.last,
    }


def _write_groups(groups: Sequence[LetterGroup], asked: _Asked) -> None:
    if not groups and (told := asked.none_fits()):
        click.echo(wrap(told, ""))
        return
    total = sum(group.count for group in groups)
    wide = max((len(count(group.count)) for group in groups), default=0)
    for group in groups:
        tail = f"  {group.definition}" if group.definition else ""
        click.echo(f"{count(group.count).rjust(wide)}  {group.stage}  [{group.rule}]{tail}")
        click.echo(wrap(visible(f"{group.path}: {group.message}"), " " * (wide + 2)))
        first, last = (f"{time:%Y-%m-%d %H:%M:%S}" for time in (group.first, group.last))
        seen = first if first == last else f"{first} to {last}"
        click.secho(f"{' ' * (wide + 2)}seen {seen}", dim=True)
    reasons = plural(len(groups), "reason")
    click.echo(f"{plural(total, 'dead letter')} with {reasons} in {asked.warehouse}")


def _write_letters(letters: Iterable[Mapping[str, Any]], limit: int | None, asked: _Asked) -> None:
    shown = 0
    for letter in letters:
        shown += 1
        definition = letter["definition"] or ""
        click.secho(f"{letter['stage']}  [{letter['rule']}]  {definition}".rstrip(), bold=True)
        found = f" (found {letter['found']})" if letter.get("found") is not None else ""
        click.echo(wrap(visible(f"{letter['path']}: {letter['message']}{found}"), "  "))
        place = f"{letter['source']} {letter['position']}, batch {letter['batch']}"
        click.secho(f"  {letter['letter'][:12]}  {visible(place)}", dim=True)
        line = letter["line"] if "line" in letter else f"base64: {letter['line_base64']}"
        click.echo(f"  {shorten(visible(line), width() - 2)}")
    click.echo(wrap(_shown_of(shown, limit, asked), ""))


def _shown_of(shown: int, limit: int | None, asked: _Asked) -> str:
    """How many letters were shown, of how many; they are counted where there may be more."""
    from heraldry.pipeline.letters.deadletters import count_letters

    total = shown
    if shown == limit:
        total = count_letters(asked.warehouse, where=asked.condition, closed=asked.closed)
    if total == 0 and (told := asked.none_fits()):
        return told
    if total == shown:
        return plural(shown, "dead letter")
    tail = " that fit" if asked.condition is not None else ""
    return f"{count(shown)} of {plural(total, asked.noun)}{tail}"
