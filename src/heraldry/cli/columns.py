"""``heraldry columns``: the table that a definition gives, before anything lands in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from heraldry.cli.opening import catalog_options, open_catalog
from heraldry.cli.output import table, wrap, write_json
from heraldry.cli.settings import example, option
from heraldry.errors import UsageError

if TYPE_CHECKING:
    from heraldry.messages.catalog import MessageCatalog
    from heraldry.messages.compile import CompiledDefinition, SchemaOutcome
    from heraldry.schemas.columns import Column, ColumnType

Json = dict[str, Any]
Row = tuple[str, str, str, str]


@click.command(
    "columns",
    short_help="The columns a definition gives its table.",
    epilog=example("heraldry columns --catalog examples/airport checkedin"),
)
@catalog_options
@click.argument("xid", metavar="[XID]", required=False)
@option("format")
def command(catalog: tuple[str, ...], allow: tuple[str, ...], xid: str | None, output: str) -> None:
    """Show the table of a definition: every column, its type, and what it is read from.

    XID is a message definition, or a schema for the columns of its payload alone; without it, all
    definitions are shown. Where there is no schema to use, it says why, and the payload lands as
    it came in the column _payload.
    """
    opened = open_catalog(catalog, allow)
    found = [_of(opened, xid)] if xid else [_message(one.compiled) for one in opened]
    if output == "json":
        write_json(_json(*found[0]) if xid else [_json(*one) for one in found])
        return
    for one in found:
        _write(*one)
    if any(entity == "definition" for entity, *_ in found):
        _write_system()


Shown = tuple[str, str, "SchemaOutcome", "tuple[Column, ...]"]
"""``definition`` or ``schema``, its xid, what became of the schema, and the columns."""


def _of(catalog: MessageCatalog, xid: str) -> Shown:
    if "/schemas/" in xid:
        return _schema(catalog, xid)
    return _message(catalog[xid].compiled)


def _message(compiled: CompiledDefinition) -> Shown:
    from heraldry.messages.table_columns import table_columns

    return "definition", compiled.xid, compiled.outcome, table_columns(compiled)


def _schema(opened: MessageCatalog, xid: str) -> Shown:
    from heraldry.messages.compile import compile_schema
    from heraldry.messages.table_columns import payload_columns
    from heraldry.model.definition import Definition
    from heraldry.model.schema_reference import find_schema

    reference = find_schema(opened.catalog, xid)
    if reference is None:
        raise UsageError(f"the catalog has no schema {xid}", _advice(xid, _known(opened, xid)))
    outcome = compile_schema(
        opened.catalog, Definition(xid=reference.xid.entity, dataschemaxid=xid)
    )
    columns = payload_columns(outcome.schema.columns) if outcome.schema else ()
    return "schema", xid, outcome, columns


def _known(opened: MessageCatalog, xid: str) -> list[str]:
    """The xids of the schemas, or of the versions of the one that is meant."""
    schemas = {str(one.xid): one for one in opened.catalog.resources("schemas")}
    meant = schemas.get(xid.partition("/versions/")[0])
    return (
        [f"{meant.xid}/versions/{version}" for version in meant.versions] if meant else [*schemas]
    )


def _advice(xid: str, known: Sequence[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(xid, known, n=3)
    return f"did you mean {' or '.join(near)}?" if near else f"it has {', '.join(known) or 'none'}"


def _json(entity: str, xid: str, outcome: SchemaOutcome, columns: Iterable[Column]) -> Json:
    from heraldry.schemas.column_text import type_text

    return {
        entity: xid,
        "schema_state": outcome.state,
        "detail": outcome.detail,
        "columns": [
            {
                "name": column.name,
                "type": type_text(column.type),
                "nullable": column.nullable,
                "from": column.key,
            }
            for column in columns
        ],
    }


def _write(entity: str, xid: str, outcome: SchemaOutcome, columns: tuple[Column, ...]) -> None:
    from heraldry.messages.difference_schemas import why_none

    click.secho(xid, bold=True)
    if outcome.schema is None:
        tail = "; the payload lands raw" if entity == "definition" else ""
        click.echo(wrap(f"no columns from a payload schema: {why_none(outcome)}{tail}", "  "))
    if columns:
        head: Row = ("column", "type", "null", "read from")
        lines = table([head, *_rows(columns)], indent="  ")
        click.secho(lines[0], dim=True)
        click.echo("\n".join(lines[1:]))
    click.echo()


def _write_system() -> None:
    from heraldry.messages.table_columns import SYSTEM

    click.secho(wrap(f"Every table also has {', '.join(SYSTEM)}.", ""), dim=True)


def _rows(columns: Iterable[Column], name: str = "", place: str = "") -> Iterator[Row]:
    """A row for each column and for each field inside it, so that no type is too long to read."""
    from heraldry.schemas.located import pointer

    for column in columns:
        key = f"{place}{pointer([column.key])}" if name else column.key
        path = f"{name}{column.name}"
        yield path, _outline(column.type), "yes" if column.nullable else "no", key
        yield from _inside(column.type, path, key)


def _inside(kind: ColumnType, path: str, key: str) -> Iterator[Row]:
    from heraldry.schemas.columns import ListOf, MapOf, Struct

    match kind:
        case Struct(fields):
            yield from _rows(fields, f"{path}.", key)
        case ListOf(item):
            yield from _inside(item.type, f"{path}[]", f"{key}/*")
        case MapOf(value):
            yield from _inside(value.type, f"{path}{{}}", f"{key}/*")


def _outline(kind: ColumnType) -> str:
    """The type as text, with the fields of records left to rows of their own."""
    from heraldry.schemas.column_text import type_text
    from heraldry.schemas.columns import ListOf, MapOf, Struct

    match kind:
        case Struct():
            return "struct"
        case ListOf(item):
            return f"list<{_outline(item.type)}>"
        case MapOf(value):
            return f"map<string,{_outline(value.type)}>"
    return type_text(kind)
