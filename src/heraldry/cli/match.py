"""``heraldry match``: what a message is, or why it is nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from typing import IO, TYPE_CHECKING, Any

import click

from heraldry.cli.opening import catalog_options, open_catalog
from heraldry.cli.output import count, plural, progress, visible, wrap, write_json
from heraldry.cli.settings import example, option

if TYPE_CHECKING:
    from heraldry.messages.catalog import Matched, Unmatched
    from heraldry.messages.explain import PropertyVerdict
    from heraldry.model.problem import Problem

Json = dict[str, Any]


@click.command(
    "match",
    short_help="Which definition a message fits, or why none.",
    epilog=example("heraldry match --catalog examples/airport --explain messages.jsonl"),
)
@catalog_options
@click.option(
    "--explain", is_flag=True, help="Show every property beside the definition, or the nearest."
)
@option("format")
@click.argument("file", metavar="[FILE|-]", type=click.File("rb"), default="-")
@click.pass_context
def command(
    ctx: click.Context,
    catalog: tuple[str, ...],
    allow: tuple[str, ...],
    explain: bool,
    output: str,
    file: IO[bytes],
) -> None:
    """Tell which definition each message fits, or why it fits none.

    FILE holds one message a line as JSON, or a single JSON document; - is standard input. The
    exit code is 1 when a message fits no definition or its payload breaks the schema.
    """
    opened = open_catalog(catalog, allow)
    total = good = 0
    for line in lines(file):
        found = outcome(opened.match(line), explain=explain)
        total += 1
        good += not found["problems"]
        if output == "json":
            write_json(found)
        else:
            write(found, str(total))
    if total != 1 and output == "text":
        progress(f"{plural(total, 'message')}: {count(good)} matched, {count(total - good)} not")
    ctx.exit(0 if good == total else 1)


def lines(file: IO[bytes]) -> Iterator[bytes]:
    """The messages of a file: its lines, or the one document it holds."""
    first = file.readline()
    if first.strip() and not _is_json(first):
        rest = file.read()
        if rest and _is_json(first + rest):
            yield first + rest
            return
        yield first.rstrip(b"\r\n")
        yield from (line.rstrip(b"\r\n") for line in BytesIO(rest))
        return
    if first:
        yield first.rstrip(b"\r\n")
    yield from (line.rstrip(b"\r\n") for line in file)


def _is_json(text: bytes) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def outcome(result: Matched | Unmatched, *, explain: bool) -> Json:
    """What a message is, as an object, by the same judgement that lands messages."""
    from heraldry.messages.catalog import Matched, to_json
    from heraldry.messages.explain import explain as explained
    from heraldry.messages.judge import judge_payload
    from heraldry.messages.verdict import Rejected

    found = to_json(result)
    if isinstance(result, Matched):
        verdict = judge_payload(result.compiled, result, result.message)
        if isinstance(verdict, Rejected):
            xid = found["definition"]
            found["problems"] = [_problem(xid, problem) for problem in verdict.problems]
    if explain:
        compiled = (result.compiled,) if isinstance(result, Matched) else result.compiled
        if found["near"]:
            compiled = compiled[:1]
        found["explain"] = [
            {"definition": one.xid, "properties": explained(result.message, one)}
            for one in compiled
            if result.message is not None
        ]
    return found


def _problem(definition: str, problem: Problem) -> Json:
    return {
        "definition": definition,
        "path": problem.path,
        "rule": problem.rule,
        "message": problem.message,
        "expected": problem.expected,
        "found": problem.found,
    }


def write(outcome: Json, label: str) -> None:
    """The outcome as text under a label; what is wrong stands out."""
    colour = "red" if outcome["problems"] else "green"
    click.echo(f"{label}  {click.style(outcome['definition'] or 'no match', fg=colour)}")
    for name, value in outcome["values"].items():
        click.echo(f"   {name} = {visible(value)}")
    if not outcome["near"]:
        _write_problems(outcome["problems"], "   ")
    for near in outcome["near"]:
        click.echo(f"   near {near['definition']} ({near['score']:.0%} of its rules hold)")
        _write_problems(near["problems"], "     ")
    for explained in outcome.get("explain", ()):
        click.echo(f"   {explained['definition']}")
        _write_properties(explained["properties"])


def _write_problems(problems: Sequence[Mapping[str, Any]], indent: str) -> None:
    for problem in problems:
        told = f"{problem['path']}: {problem['message']} [{problem['rule']}]"
        click.echo(wrap(visible(told), indent))
        if problem["expected"] is not None and problem["expected"] not in problem["message"]:
            click.echo(wrap(visible(f"expected {problem['expected']}"), indent + "  "))
        if problem["found"] is not None:
            click.echo(wrap(visible(f"found {problem['found']}"), indent + "  "))


def _write_properties(properties: Sequence[PropertyVerdict]) -> None:
    wide = max((len(one.path) for one in properties), default=0)
    for one in properties:
        mark = click.style("ok", fg="green") if one.ok else click.style("!!", fg="red")
        if one.ok and one.found is None:
            mark = "--"  # nothing there, and nothing asked for
        found = "-" if one.found is None else visible(one.found)
        click.echo(f"     {mark}  {one.path.ljust(wide)}  {found}")
        told = f"expected {one.expected}" if one.expected not in (None, one.found) else ""
        if one.rule:
            told += f" [{one.rule}]"
        if told:
            click.echo(wrap(told, " " * (11 + wide)))
