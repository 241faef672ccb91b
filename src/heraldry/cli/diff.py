"""``heraldry diff``: what a new version of a catalog does to messages and tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from heraldry.cli.opening import catalogs, fetch_options
from heraldry.cli.output import plural, wrap, write_json
from heraldry.cli.setting import CATALOG
from heraldry.cli.settings import example, option

if TYPE_CHECKING:
    from heraldry.messages.difference import DefinitionChange
    from heraldry.schemas.changes import Change

_ORDER = ("breaking", "undecided", "safe")
_COLOURS = {"breaking": "red", "undecided": "yellow", "safe": "green"}
_NOTHING = "no differences"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One change as it is shown: how grave, in which part, where, by which rule, and what."""

    effect: str
    part: str
    where: str
    rule: str
    message: str


@click.command(
    "diff",
    short_help="What a new version of a catalog breaks.",
    epilog=example("heraldry diff main/catalog catalog --format markdown"),
)
@click.argument("old", metavar="OLD", type=CATALOG)
@click.argument("new", metavar="NEW", type=CATALOG)
@click.option(
    "--compatibility",
    metavar="MODE",
    help="Judge by backward, forward or full. [default: what a schema's own compatibility "
    "says, else backward]",
)
@fetch_options
@option(
    "format",
    type=click.Choice(["text", "json", "markdown"]),
    help="Text for people, JSON: one object, or Markdown for a pull request.",
)
@click.pass_context
def command(
    ctx: click.Context,
    old: str,
    new: str,
    compatibility: str | None,
    allow: tuple[str, ...],
    output: str,
) -> None:
    """Compare two versions of a catalog: definitions, payload schemas, and tables.

    OLD and NEW are documents, folders or URLs. backward asks whether readers of NEW understand
    messages of OLD, forward whether readers of OLD understand messages of NEW, full both. The exit
    code is 1 when a change is breaking (a definition is gone, messages are refused, or a table no
    longer takes them), and for a document that cannot be parsed. A change nobody can decide on is
    shown as undecided, and is not breaking.
    """
    from heraldry.client.resolver import Resolver
    from heraldry.messages.difference import difference

    resolve = Resolver(allow=allow).resolve
    load = catalogs().load
    found = difference(resolve(load(old)), resolve(load(new)), compatibility)
    found = tuple(sorted(found, key=lambda one: _ORDER.index(_gravity(one))))
    if output == "json":
        write_json(as_json(found))
    elif output == "markdown":
        click.echo("\n".join(_markdown(found)))
    else:
        _write(found)
    ctx.exit(1 if any(one.breaking for one in found) else 0)


def _gravity(one: DefinitionChange) -> str:
    if one.breaking:
        return "breaking"
    return "undecided" if one.undecided else "safe"


def as_json(found: Sequence[DefinitionChange]) -> dict[str, Any]:
    """The whole outcome as one object."""
    return {
        "breaking": any(one.breaking for one in found),
        "differences": [
            {
                "xid": one.xid,
                "entity": one.entity,
                "kind": one.kind,
                "compatibility": one.mode,
                "breaking": one.breaking,
                "definition": one.own,
                "payload": one.payload,
                "table": one.table,
            }
            for one in found
        ],
    }


def _lines(one: DefinitionChange) -> list[Line]:
    lines = [
        *_changes("definition", one.own, one.mode),
        *_changes("payload", one.payload, one.mode),
    ]
    lines += (
        Line(
            effect="breaking" if change.breaking else "safe",
            part="table",
            where=change.column,
            rule=change.kind,
            message=change.message,
        )
        for change in one.table
    )
    return sorted(lines, key=lambda line: _ORDER.index(line.effect))


def _changes(part: str, changes: Sequence[Change], mode: str) -> Iterator[Line]:
    from heraldry.schemas.compatibility import effect_of

    for change in changes:
        where = change.new if change.new is not None else change.old
        yield Line(
            effect=effect_of(change, mode),
            part=part,
            where=where or "/",
            rule=change.rule,
            message=change.message,
        )


def _summary(found: Sequence[DefinitionChange]) -> str:
    if not found:
        return _NOTHING
    counts = {effect: sum(_gravity(one) == effect for one in found) for effect in _ORDER}
    parts = [f"{counts[effect]} {effect}" for effect in _ORDER if counts[effect]]
    return f"{plural(len(found), 'difference')}: {', '.join(parts)}"


def _whole(one: DefinitionChange) -> str:
    """What became of an entity that is only in one of the catalogs."""
    what = "message definition" if one.entity == "message" else "schema"
    if one.kind == "added":
        return f"The {what} is new."
    if one.entity == "message":
        return "The definition is gone: its messages are no longer recognised."
    return "The schema is gone: whoever refers to it finds nothing."


def _write(found: Sequence[DefinitionChange]) -> None:
    for one in found:
        gravity = _gravity(one)
        click.secho(one.xid, bold=True, nl=False)
        click.echo(f"  {one.kind}, {click.style(gravity, fg=_COLOURS[gravity])} ({one.mode})")
        if one.kind != "changed":
            click.echo(wrap(_whole(one), "  "))
        for line in _lines(one):
            effect = click.style(line.effect.ljust(9), fg=_COLOURS[line.effect])
            click.echo(f"  {effect}  {line.part}  {line.where}  [{line.rule}]")
            click.echo(wrap(line.message, " " * 13))
        click.echo()
    click.echo(_summary(found))


def _markdown(found: Sequence[DefinitionChange]) -> Iterator[str]:
    yield f"**Catalog: {_summary(found)}**"
    for one in found:
        gravity = _gravity(one)
        yield ""
        yield f"### {gravity}: {_code(one.xid)} {one.kind}"
        yield ""
        if one.kind != "changed":
            yield _whole(one)
        else:
            yield f"Judged by {one.mode} compatibility."
        lines = _lines(one)
        grave = [line for line in lines if line.effect != "safe"]
        safe = [line for line in lines if line.effect == "safe"]
        yield from _markdown_table(grave)
        if grave and safe:
            yield ""
            yield f"<details><summary>{plural(len(safe), 'safe change')}</summary>"
            yield from _markdown_table(safe)
            yield ""
            yield "</details>"
        else:
            yield from _markdown_table(safe)


def _markdown_table(lines: Sequence[Line]) -> Iterator[str]:
    if not lines:
        return
    yield ""
    yield "| effect | part | where | what |"
    yield "|---|---|---|---|"
    for line in lines:
        effect = f"**{line.effect}**" if line.effect == "breaking" else line.effect
        yield f"| {effect} | {line.part} | {_code(line.where)} | {_escaped(line.message)} |"


def _code(text: str) -> str:
    """A text as code; what would end the code or the cell is taken out of it."""
    plain = " ".join(text.split()).replace("`", "'").replace("|", "\\|")
    return f"`{plain}`"


def _escaped(text: str) -> str:
    """A text without any Markdown or HTML of its own: names in it come from documents."""
    plain = " ".join(text.split()).replace("\\", "\\\\").replace("&", "&amp;").replace("<", "&lt;")
    for mark in "|*_`[]#~":
        plain = plain.replace(mark, f"\\{mark}")
    return plain
