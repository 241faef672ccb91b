"""Where a definition lands and in which columns.

Endpoint = database, message group = schema, message definition = table, payload schema =
columns. The columns of the envelope, of placeholders and of the system keep their names; a
payload field that would take one of them gets ``_2``.
"""

from __future__ import annotations

import json
import posixpath
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import quote

import pyarrow as pa

from heraldry.errors import WarehouseError
from heraldry.messages.table_columns import table_names
from heraldry.schemas.columns import Column, ColumnType, Fixed, ListOf, MapOf, Scalar, Struct

if TYPE_CHECKING:
    from heraldry.messages.compile import CompiledDefinition
    from heraldry.model.xid import Xid

DEFINITION_KEY = "heraldry.definition"
NAME_KEY = "heraldry.name"
DEAD_LETTERS = "_dead_letters"
CHECKPOINT = "_checkpoint"

_SCALARS: dict[str, pa.DataType] = {
    "string": pa.string(),
    "integer": pa.int64(),
    "number": pa.float64(),
    "boolean": pa.bool_(),
    "timestamp": pa.timestamp("us", "UTC"),
    "date": pa.date32(),
    "binary": pa.binary(),
    "json": pa.string(),
}

SYSTEM = pa.schema(
    [
        ("_definition", pa.string()),
        ("_version", pa.string()),
        ("_batch", pa.int64()),
        ("_source", pa.string()),
        ("_position", pa.string()),
        ("_received", pa.timestamp("us", "UTC")),
    ]
)
PAYLOAD = pa.field("_payload", pa.binary())
PLACE = ("_batch", "_source", "_position", "_received")
"""System columns that tell where and when a line was read."""


@dataclass(frozen=True, kw_only=True)
class TableLayout:
    """One table: ``payload`` pairs each column of the schema with its name in the table."""

    definition: str
    version: str
    name: tuple[str, ...]
    payload: tuple[tuple[Column, str], ...]
    envelope: tuple[Column, ...]
    placeholders: tuple[tuple[str, str], ...]
    keeps_payload: bool

    @property
    def configuration(self) -> dict[str, str]:
        """What the table says of itself in its metadata."""
        return {DEFINITION_KEY: self.definition, NAME_KEY: json.dumps(self.name)}

    @property
    def path(self) -> str:
        """The table's folder below the warehouse."""
        return posixpath.join(*(path_part(part) for part in self.name))

    @cached_property
    def schema(self) -> pa.Schema:
        """The table's Arrow schema: payload, envelope, placeholders, system."""
        fields = [pa.field(name, arrow_type(column.type)) for column, name in self.payload]
        fields += [pa.field(column.name, arrow_type(column.type)) for column in self.envelope]
        fields += [pa.field(name, pa.string()) for _, name in self.placeholders]
        fields += list(SYSTEM)
        return pa.schema(fields + ([PAYLOAD] if self.keeps_payload else []))

    @cached_property
    def content(self) -> pa.Schema:
        """The schema without what is known of a line besides its content."""
        return pa.schema([field for field in self.schema if field.name not in PLACE])

    def content_table(self, columns: list[pa.Array], count: int) -> pa.Table:
        """Columns of payload, envelope and placeholders, with what is the same in every row."""
        known = [pa.repeat(pa.scalar(text), count) for text in (self.definition, self.version)]
        return pa.Table.from_arrays([*columns, *known], schema=self.content)


def arrow_type(column: ColumnType) -> pa.DataType:
    """The Arrow type of a column; everything may be null, so that tables can widen."""
    match column:
        case Scalar(name):
            return _SCALARS[name]
        case Fixed(precision, scale):
            return pa.decimal128(precision, scale)
        case ListOf(item):
            return pa.list_(arrow_type(item.type))
        case MapOf(value):
            return pa.map_(pa.string(), arrow_type(value.type))
        case Struct(fields):
            return pa.struct([(field.name, arrow_type(field.type)) for field in fields])


def layout_of(compiled: CompiledDefinition, database: str, *, keep_payload: bool) -> TableLayout:
    """The layout of one definition's table."""
    xid = compiled.definition.xid
    names = table_names(compiled)
    columns = compiled.schema.columns if compiled.schema else ()
    return TableLayout(
        definition=str(xid),
        version=compiled.definition.versionid,
        name=table_name(xid, database),
        payload=tuple(zip(columns, names.payload, strict=True)),
        envelope=compiled.envelope_columns,
        placeholders=tuple(zip(compiled.placeholders, names.placeholders, strict=True)),
        keeps_payload=keep_payload or compiled.schema is None,
    )


def table_name(xid: Xid, database: str) -> tuple[str, ...]:
    """Database, group and message: the name of a definition's table."""
    return (database, xid.group, xid.resource)


def path_part(part: str) -> str:
    """One part of a table's name as a folder: percent-encoded, but with ``~`` for ``%``.

    delta-rs decodes percent signs in the path of a table, some of them twice. A ``_`` at the
    start is the warehouse's own, and dots alone are the file system's.
    """
    encoded = quote(part, safe="@").replace("~", "~7E").replace("%", "~")
    if encoded.startswith("_"):
        return "~5F" + encoded[1:]
    return encoded.replace(".", "~2E") if not encoded.strip(".") else encoded


def refuse_shared_tables(warehouse: str, xids: Iterable[Xid], database: str) -> None:
    """Two definitions must not land in one table (an endpoint and a group may share an id)."""
    seen: dict[tuple[str, ...], str] = {}
    for xid in xids:
        key = tuple(part.lower() for part in table_name(xid, database))
        if other := seen.get(key):
            reason = f"{other} and {xid} would land in the same table {'.'.join(key)}"
            raise WarehouseError(warehouse, reason, "select one of them with --only")
        seen[key] = str(xid)
