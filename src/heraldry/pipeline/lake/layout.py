"""Where a definition lands and in which columns.

Endpoint = database, message group = schema, message definition = table, payload schema =
columns. The columns of the envelope, of placeholders and of the system keep their names; a
payload field that would take one of them gets ``_2``. A table that exists may call a column
otherwise (``fitting.py``): a layout that was fitted to it writes under the table's names.
"""

from __future__ import annotations

import json
import posixpath
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

import msgspec
import pyarrow as pa

from heraldry.errors import CircularBaseError, LongBaseError, WarehouseError
from heraldry.messages.table_columns import table_names
from heraldry.model.inherit import local_reference, materialize
from heraldry.pipeline.lake.arrangement import PLAIN, Arrangement, unsuited
from heraldry.schemas.columns import (
    Column,
    ColumnType,
    Fixed,
    ListOf,
    MapOf,
    Scalar,
    Struct,
    is_whole,
)

if TYPE_CHECKING:
    from heraldry.messages.compile import CompiledDefinition
    from heraldry.model.catalog import Catalog
    from heraldry.model.xid import Xid

DEFINITION_KEY = "heraldry.definition"
NAME_KEY = "heraldry.name"
COLUMNS_KEY = "heraldry.columns"
"""JSON: what the columns hold whose names do not say it (``default_meaning``)."""
SCHEMA_KEY = "heraldry.schema"
"""All columns of a table that is still to be made: told to its maker, not kept in the table."""
DEAD_LETTERS = "_dead_letters"
CHECKPOINT = "_checkpoint"
BATCH_LEDGER = "_batches"

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
ONCE = ("_definition", "_version", "_source")
"""System columns whose texts are the same in many rows."""
REPEATED = pa.dictionary(pa.int32(), pa.string())
"""Texts that stand once in memory, however many rows have them; a file has them as strings."""


class Fit(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How the rows of one definition are written into a table as it is.

    ``renames`` has the table's name of each column that the layout calls otherwise. ``columns``
    and ``schema`` are the table's as a whole, where other definitions land there too.
    """

    renames: Mapping[str, str] = {}
    arrangement: Arrangement | None = None
    columns: str = ""
    schema: str = ""


@dataclass(frozen=True, kw_only=True)
class TableLayout:
    """One table: ``payload`` pairs each column of the schema with its name in the table.

    ``owner`` is the definition that the table is named after: another one where variants land in
    the table of their common base. ``unsuited`` is why its rows cannot be arranged as the plan
    asks, with advice: a table that exists has an arrangement to go on with, a new one has not.
    """

    definition: str
    version: str
    name: tuple[str, ...]
    payload: tuple[tuple[Column, str], ...]
    envelope: tuple[Column, ...]
    placeholders: tuple[tuple[str, str], ...]
    keeps_payload: bool
    owner: str = ""
    arrangement: Arrangement = PLAIN
    unsuited: tuple[str, str] = ("", "")
    fit: Fit = field(default_factory=Fit)

    @property
    def configuration(self) -> dict[str, str]:
        """What the table says of itself in its metadata."""
        columns = self.fit.columns or odd_meanings(self.meanings)
        told = {
            DEFINITION_KEY: self.owner or self.definition,
            NAME_KEY: json.dumps(self.name),
            COLUMNS_KEY: columns,
            **self.arrangement.configuration,
        }
        return told | ({SCHEMA_KEY: self.fit.schema} if self.fit.schema else {})

    @property
    def path(self) -> str:
        """The table's folder below the warehouse."""
        return posixpath.join(*(path_part(part) for part in self.name))

    @cached_property
    def schema(self) -> pa.Schema:
        """The Arrow schema in the layout's own names: payload, envelope, placeholders, system."""
        fields = [pa.field(name, arrow_type(column.type)) for column, name in self.payload]
        fields += [pa.field(column.name, arrow_type(column.type)) for column in self.envelope]
        fields += [pa.field(name, pa.string()) for _, name in self.placeholders]
        fields += list(SYSTEM)
        return pa.schema(fields + ([PAYLOAD] if self.keeps_payload else []))

    @cached_property
    def held(self) -> pa.Schema:
        """The schema of rows that are still to be written: texts of the system stand once."""
        return pa.schema([f.with_type(REPEATED) if f.name in ONCE else f for f in self.schema])

    @cached_property
    def content(self) -> pa.Schema:
        """The schema held, without what is known of a line besides its content."""
        return pa.schema([field for field in self.held if field.name not in PLACE])

    @cached_property
    def meanings(self) -> dict[str, str]:
        """What each column is read from: ``/weight`` in the payload, ``attributes.type``..."""
        whole = is_whole(tuple(column for column, _ in self.payload))
        found = {name: "" if whole else f"/{column.key}" for column, name in self.payload}
        found |= {column.name: f"attributes.{column.key}" for column in self.envelope}
        found |= {name: f"{{{key}}}" for key, name in self.placeholders}
        return found | {name: name for name in self.schema.names if name not in found}

    def fitted(self, fit: Fit) -> TableLayout:
        """The layout for a table as it is: its names, and its partitions."""
        if fit.arrangement is None:
            return replace(self, fit=fit)
        return replace(self, fit=fit, arrangement=fit.arrangement, unsuited=("", ""))

    @property
    def is_suited(self) -> bool:
        """Whether rows can be arranged as the plan asks."""
        return not self.unsuited[0]

    def refuse_unsuited(self) -> None:
        """WarehouseError where the rows cannot be arranged as the plan asks."""
        reason, advice = self.unsuited
        if reason:
            raise WarehouseError(".".join(self.name), reason, advice)

    def own_columns(self, count: int) -> list[pa.Array]:
        """The columns that are the same in every row: the definition and its version."""
        places = pa.repeat(pa.scalar(0, pa.int32()), count)
        return [
            pa.DictionaryArray.from_arrays(places, pa.array([text], pa.string()))
            for text in (self.definition, self.version)
        ]

    def stored(self, table: pa.Table) -> pa.Table:
        """Rows of this layout as the table takes them: under its names, with its partitions."""
        if self.arrangement != PLAIN:  # what rows are ordered by must be plain values
            names = [name for name in table.column_names if name in ONCE]
            for name in names:
                number = table.column_names.index(name)
                table = table.set_column(number, name, table.column(number).cast(pa.string()))
        renames = self.fit.renames
        made = self.arrangement.derived(table)
        if renames:
            table = table.rename_columns([renames.get(name, name) for name in table.column_names])
        for name, column in made.items():
            table = table.append_column(name, column)
        return table


@dataclass(frozen=True, slots=True, kw_only=True)
class TablePlan:
    """Which tables the definitions of a job land in, and how rows are arranged there."""

    database: str = "default"
    keep_payload: bool = False
    with_base: bool = False
    partition_by: tuple[str, ...] = ()
    cluster_by: tuple[str, ...] = ()

    def root(self, catalog: Catalog, xid: Xid) -> Xid:
        """The definition whose table a definition lands in: itself, or its last base."""
        return root_of(catalog, xid) if self.with_base else xid

    def layout(self, catalog: Catalog, compiled: CompiledDefinition) -> TableLayout:
        """The layout of one definition's table."""
        root = self.root(catalog, compiled.definition.xid)
        made = layout_of(compiled, self.database, keep_payload=self.keep_payload, root=root)
        asked = (self.partition_by, self.cluster_by, made.schema)
        arrangement = Arrangement.of(*asked)
        freed = _freed(made, arrangement)
        return replace(freed, arrangement=arrangement, unsuited=unsuited(*asked))


def root_of(catalog: Catalog, xid: Xid) -> Xid:
    """The last base message of a definition that the catalog itself has, or the definition.

    A chain that goes round has no last one: its definitions keep tables of their own.
    """
    try:
        bases = materialize(catalog, xid).bases
    except (CircularBaseError, LongBaseError):
        return xid
    local = [found for base in bases if (found := local_reference(base)) is not None]
    return replace(local[-1], version="") if local else xid


def default_meaning(name: str) -> str:
    """What a column holds by its name alone: the member of the payload that is called so."""
    if name.startswith("ce_"):
        return f"attributes.{name[3:]}"
    if name.startswith("ctx_"):
        return f"{{{name[4:]}}}"
    return name if name.startswith("_") else f"/{name}"


def odd_meanings(meanings: Mapping[str, str]) -> str:
    """The meanings that names do not tell, as a table keeps them."""
    odd = {name: key for name, key in meanings.items() if key != default_meaning(name)}
    return json.dumps(odd, sort_keys=True)


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


def layout_of(
    compiled: CompiledDefinition, database: str, *, keep_payload: bool, root: Xid | None = None
) -> TableLayout:
    """The layout of one definition's table, or of its part in the table of its root."""
    xid = compiled.definition.xid
    owner = root or xid
    names = table_names(compiled)
    columns = compiled.schema.columns if compiled.schema else ()
    return TableLayout(
        definition=str(xid),
        version=compiled.definition.versionid,
        name=table_name(owner, database),
        payload=tuple(zip(columns, names.payload, strict=True)),
        envelope=compiled.envelope_columns,
        placeholders=tuple(zip(compiled.placeholders, names.placeholders, strict=True)),
        keeps_payload=keep_payload or compiled.schema is None,
        owner=str(owner),
    )


def _freed(layout: TableLayout, arrangement: Arrangement) -> TableLayout:
    """The layout without payload columns that have the name of a column made for partitions."""
    made = set(arrangement.made)
    if not made & {name.lower() for _, name in layout.payload}:
        return layout
    taken = {name.lower() for name in layout.schema.names} | made
    payload = tuple(
        (column, free_name(name, taken) if name.lower() in made else name)
        for column, name in layout.payload
    )
    return replace(layout, payload=payload)


def free_name(name: str, taken: set[str]) -> str:
    """The first of ``name_2``, ``name_3`` ... that is not taken ignoring case; then it is."""
    count = 2
    while f"{name}_{count}".lower() in taken:
        count += 1
    taken.add(f"{name}_{count}".lower())
    return f"{name}_{count}"


def table_name(xid: Xid, database: str) -> tuple[str, ...]:
    """Database, group and message: the name of a definition's table."""
    return (database, xid.group, xid.resource)


@lru_cache(maxsize=4096)
def path_part(part: str) -> str:
    """One part of a table's name as a folder: percent-encoded, but with ``~`` for ``%``.

    delta-rs decodes percent signs in the path of a table, some of them twice. A ``_`` at the
    start is the warehouse's own, and dots alone are the file system's.
    """
    encoded = quote(part, safe="@").replace("~", "~7E").replace("%", "~")
    if encoded.startswith("_"):
        return "~5F" + encoded[1:]
    return encoded.replace(".", "~2E") if not encoded.strip(".") else encoded


def part_of(folder: str) -> str:
    """The part of a table's name that has this folder: what ``path_part`` began with."""
    return unquote(folder.replace("~", "%"))


def refuse_shared_tables(
    warehouse: str,
    xids: Iterable[Xid],
    database: str,
    root: Callable[[Xid], Xid] = lambda xid: xid,
) -> None:
    """Two definitions must not land in one table, but for variants of one base.

    An endpoint and a message group may share an id, and names may differ in case alone.
    """
    seen: dict[str, tuple[Xid, Xid]] = {}
    for xid in xids:
        owner = root(xid)
        name = table_name(owner, database)
        first, other = seen.setdefault("/".join(name).lower(), (xid, owner))
        if other != owner:
            reason = f"{first} and {xid} would land in the same table {'.'.join(name).lower()}"
            raise WarehouseError(warehouse, reason, "select one of them with --only")
