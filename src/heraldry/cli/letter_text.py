"""One dead letter in full: the message, every reason, the nearest definitions, its replays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from heraldry.cli.output import count, table, visible, wrap, write_json

if TYPE_CHECKING:
    from heraldry.pipeline.letters.alternatives import Alternatives

_NAMED = 10


def write_letter(letter: Mapping[str, Any], output: str) -> None:
    """Write a letter as text or as one JSON object."""
    if output == "json":
        write_json(letter)
        return
    definition = letter["definition"] or ""
    click.secho(f"{letter['stage']}  [{letter['rule']}]  {definition}".rstrip(), bold=True)
    for text in table(_facts(letter), indent="  "):
        click.echo(text)
    click.echo("Reasons")
    for problem in letter["problems"]:
        _write_problem(problem, "  ")
    for near in letter["near"]:
        click.echo(f"Nearly {near['definition']} ({near['score']:.0%} of its rules hold)")
        for problem in near["problems"]:
            _write_problem(problem, "  ")
    for one in letter["replays"]:
        click.echo(f"Replay {one['replay']}, attempt {one['attempt']}: {_outcome(one)}")
    click.echo("Message" + (" (masked)" if letter["masked"] else ""))
    line = letter["line"] if "line" in letter else f"base64: {letter['line_base64']}"
    click.echo(f"  {visible(line)}")


def none_fits(found: Alternatives, *, closed: bool = False) -> str:
    """That no letter fits, and what those that there are have instead."""
    told = [f"0 of {count(found.letters)} {'' if closed else 'open '}dead letters fit"]
    for name, values in found.values.items():
        more = f" and {count(len(values) - _NAMED)} more" if len(values) > _NAMED else ""
        told.append(f"{name}s there are: {', '.join(values[:_NAMED]) or 'none'}{more}")
    return visible("; ".join(told))


def _facts(letter: Mapping[str, Any]) -> list[tuple[str, str]]:
    facts = {
        "letter": letter["letter"],
        "source": letter["source"],
        "position": letter["position"],
        "received": letter["received"],
        "time": letter["time"],
        "batch": letter["batch"],
        "catalog": letter["catalog"],
    }
    return [(name, visible(str(value))) for name, value in facts.items() if value is not None]


def _write_problem(problem: Mapping[str, Any], indent: str) -> None:
    told = f"{problem['path']}: {problem['message']} [{problem['rule']}]"
    click.echo(wrap(visible(told), indent))
    for name in ("expected", "found"):
        if problem.get(name) is not None:
            click.echo(f"{indent}  {name} {visible(problem[name])}")


def _outcome(one: Mapping[str, Any]) -> str:
    if one["outcome"] == "landed":
        return f"landed in {one['table']}"
    if one["outcome"] == "refused":
        return visible(f"refused, {one['message']} [{one['rule']}]")
    return f"not tried, the letter is {one['outcome']}"
