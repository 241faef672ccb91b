"""``heraldry check``: what is wrong in a catalog, where, and what would be right."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import click

from heraldry.cli.opening import catalogs, fetch_options
from heraldry.cli.output import plural, width, wrap, write_json
from heraldry.cli.setting import CATALOG
from heraldry.cli.settings import example, option
from heraldry.errors import DocumentError, UsageError

if TYPE_CHECKING:
    from heraldry.model.catalog import Catalog
    from heraldry.model.problem import Finding

_COLOURS = {"error": "red", "warning": "yellow", "info": "blue"}
_PART = re.compile(r'(?:"(?:[^"\\]|\\.)*"|[^",])+,?|.')


@click.command(
    "check",
    short_help="Findings about catalog documents, with advice.",
    epilog=example("heraldry check --strict catalog/ orders.xreg.json"),
)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=CATALOG)
@fetch_options
@option("strict")
@option("format")
@click.pass_context
def command(
    ctx: click.Context, paths: tuple[str, ...], allow: tuple[str, ...], strict: bool, output: str
) -> None:
    """Check catalog documents: every finding with its file, place, rule and advice.

    All PATHs (files, folders or URLs) together are one catalog. The exit code is 1 when there are
    errors; a file that cannot be read is one, and the other files are checked all the same.
    """
    files, findings = examine(paths, allow)
    if output == "json":
        write_json(findings)
    else:
        _write(findings, len(files))
    bad = ("error", "warning") if strict else ("error",)
    ctx.exit(1 if any(finding.severity in bad for finding in findings) else 0)


def examine(
    paths: Sequence[str], allow: tuple[str, ...] = ()
) -> tuple[tuple[str, ...], list[Finding]]:
    """The documents behind some paths, and everything there is to say about them."""
    from heraldry.client.resolver import Resolver
    from heraldry.messages import lint

    resolver = Resolver(allow=allow)
    findings: list[Finding] = []
    loaded: dict[str, Catalog] = {}
    files: dict[str, int] = {}
    for file, found in catalogs().load_each(*paths):
        files.setdefault(file, len(files))
        if isinstance(found, DocumentError):
            findings.append(_unreadable(found))
        else:
            loaded[file] = found
    if not files:
        raise UsageError(f"{' '.join(paths)}: no catalog here", "name a document or a folder")
    for catalog in _merged(loaded, findings):
        findings += lint.check(resolver.resolve(catalog))
    findings.sort(key=lambda found: files.get(found.file, len(files)))
    return tuple(files), findings


def _merged(loaded: dict[str, Catalog], findings: list[Finding]) -> Iterator[Catalog]:
    """One catalog of all files; a file that repeats an xid of another is looked at by itself."""
    from heraldry.dialects.merge import merge

    while loaded:
        try:
            yield merge(list(loaded.items()))
            return
        except DocumentError as error:
            findings.append(_unreadable(error))
            yield loaded.pop(error.file)


def _unreadable(error: DocumentError) -> Finding:
    from heraldry.model.problem import Finding

    return Finding(
        file=error.file,
        location=error.location,
        rule="document",
        severity="error",
        message=error.reason,
    )


def _folded(message: str, indent: str) -> str:
    """A JSON text folded behind commas between its parts: what is copied is JSON still."""
    lines = [indent]
    for part in _PART.findall(message):
        if len(lines[-1]) > len(indent) and len(lines[-1]) + len(part) > max(width(), 40):
            lines.append(indent)
        lines[-1] += part
    return "\n".join(lines)


def _write(findings: Sequence[Finding], files: int) -> None:
    for file, group in groupby(findings, key=lambda finding: finding.file):
        click.secho(file, bold=True)
        for finding in group:
            severity = click.style(finding.severity.ljust(7), fg=_COLOURS[finding.severity])
            click.echo(f"  {severity}  {finding.location or '/'}  [{finding.rule}]")
            told, colon, witness = finding.message.partition(': {"')
            click.echo(wrap(told + colon[:1], " " * 11))
            if witness:
                click.echo(_folded(colon[2:] + witness, " " * 11))
            if finding.advice:
                click.secho(wrap(finding.advice, " " * 11), dim=True)
        click.echo()
    errors = sum(finding.severity == "error" for finding in findings)
    warnings = sum(finding.severity == "warning" for finding in findings)
    tail = f"in {plural(files, 'file')}"
    notes = len(findings) - errors - warnings
    more = f", {plural(notes, 'note')}" if notes else ""
    click.echo(f"{plural(errors, 'error')}, {plural(warnings, 'warning')}{more} {tail}")
