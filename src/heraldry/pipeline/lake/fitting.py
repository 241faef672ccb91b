"""Fitting what a definition lands to the table that exists: one rule for every change.

A column is what it is read from (its key) and its type. The same key with the same type keeps its
column for ever; a record that gains members is widened in place; a key that has no column yet gets
one; any other type of a known key gets a new column ``NAME_2``, ``NAME_3`` ... Nothing is cast,
and nothing is removed: what a definition no longer has is null.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pyarrow as pa
from deltalake import DeltaTable, Schema

from heraldry.errors import WarehouseError
from heraldry.messages.judge import Judge
from heraldry.model.inherit import definitions
from heraldry.pipeline.lake import delta
from heraldry.pipeline.lake.arrangement import Arrangement
from heraldry.pipeline.lake.layout import (
    COLUMNS_KEY,
    Fit,
    TableLayout,
    TablePlan,
    default_meaning,
    free_name,
    odd_meanings,
    path_part,
    refuse_shared_tables,
    table_name,
)
from heraldry.pipeline.lake.widening import merged_type, plain_type

if TYPE_CHECKING:
    from heraldry.model.catalog import Catalog
    from heraldry.model.xid import Xid
    from heraldry.pipeline.lake.storage import Storage


@dataclass(frozen=True, slots=True, kw_only=True)
class TableShape:
    """A table as far as fitting goes: its columns, and what it says of itself."""

    schema: pa.Schema = field(default_factory=lambda: pa.schema([]))
    configuration: Mapping[str, str] = field(default_factory=dict)
    partitions: tuple[str, ...] = ()

    @classmethod
    def new(cls, layout: TableLayout) -> TableShape:
        """A table that is still to be made has its partitions."""
        return cls(schema=pa.schema(layout.arrangement.fields))

    @classmethod
    def of(cls, table: DeltaTable) -> TableShape:
        """The shape of a table that exists."""
        metadata = table.metadata()
        return cls(
            schema=_plain(pa.schema(table.schema())),
            configuration=metadata.configuration,
            partitions=tuple(metadata.partition_columns),
        )

    def with_additions(self, fitted: Fitted) -> TableShape:
        """The shape after what a fit adds to it."""
        fields = {field.name: field for field in self.schema}
        fields |= {field.name: field for field in fitted.additions}
        return replace(
            self,
            schema=pa.schema(list(fields.values())),
            configuration={**self.configuration, **fitted.configuration},
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """What to add to a table (wider records among it), and the table's names for columns.

    ``renames`` has the columns that the layout calls otherwise, ``configuration`` what the table
    is to say of itself from now on, where that changes.
    """

    additions: pa.Schema
    renames: Mapping[str, str]
    configuration: Mapping[str, str]


def fit(table: TableShape | None, layout: TableLayout) -> Fitted:
    """How a layout is written into a table, and what the table lacks for it."""
    shape = table or TableShape.new(layout)
    meanings = _meanings(shape, layout)
    columns = {found.name: found.type for found in shape.schema}
    taken = {name.lower() for name in columns} | {name.lower() for name in layout.schema.names}
    claimed = {name.lower() for name in columns}
    additions: list[pa.Field] = []
    renames: dict[str, str] = {}
    for wanted in _plain(layout.schema):
        key = layout.meanings[wanted.name]
        own = {name: columns[name] for name, meaning in meanings.items() if meaning == key}
        name, kind = _column(own, wanted)
        if not name:
            name = free_name(wanted.name, taken) if wanted.name.lower() in claimed else wanted.name
            kind = wanted.type
            meanings[name] = key
        if columns.get(name) != kind:
            columns[name] = kind
            additions.append(pa.field(name, kind))
        claimed.add(name.lower())
        if name != wanted.name:
            renames[wanted.name] = name
    told = {COLUMNS_KEY: odd_meanings(meanings)}
    changed = {k: text for k, text in told.items() if shape.configuration.get(k) != text}
    return Fitted(additions=pa.schema(additions), renames=renames, configuration=changed)


def _column(own: Mapping[str, pa.DataType], wanted: pa.Field) -> tuple[str, pa.DataType | None]:
    """The column that a key already has for a type, with the type it then must have."""
    for name, kind in own.items():
        merged = merged_type(kind, wanted.type)
        if merged is not None:
            return name, merged
    return "", None


def _plain(schema: pa.Schema) -> pa.Schema:
    return pa.schema([(found.name, plain_type(found.type)) for found in schema])


def _meanings(shape: TableShape, layout: TableLayout) -> dict[str, str]:
    """What each column of a table is read from.

    A table that does not say has columns that are read from what has their name.
    """
    told = shape.configuration.get(COLUMNS_KEY)
    if told is not None:
        odd: dict[str, str] = json.loads(told)
        return {name: odd.get(name, default_meaning(name)) for name in shape.schema.names}
    named = {name.lower(): key for name, key in layout.meanings.items()}
    return {name: named.get(name.lower(), default_meaning(name)) for name in shape.schema.names}


def fit_tables(
    storage: Storage, catalog: Catalog, plan: TablePlan, *, only: Iterable[str] = ()
) -> dict[str, Fit]:
    """Fit every table that exists to what its definitions land; what differs, by definition.

    Call it when the catalog changes. Tables that are not there cost nothing, but for those that
    several definitions share: their columns are told apart before the first row is written.
    """
    selected = frozenset(only)
    xids = [xid for xid in definitions(catalog) if not selected or str(xid) in selected]
    roots = {xid: plan.root(catalog, xid) for xid in xids}
    refuse_shared_tables(storage.url, xids, plan.database, roots.__getitem__)
    sharing: dict[str, list[Xid]] = {}
    for xid, root in roots.items():
        sharing.setdefault(_path(root, plan.database), []).append(xid)
    present = _present(storage, plan.database, roots.values())
    wanted = {path: found for path, found in sharing.items() if path in present or len(found) > 1}
    if not wanted:
        return {}
    matcher = Judge(catalog).matcher
    fits: dict[str, Fit] = {}
    for path, found in wanted.items():
        # One that is its own base lands nothing.
        known = [str(xid) for xid in found if str(xid) in matcher.positions]
        layouts = [plan.layout(catalog, matcher.definition(xid)) for xid in known]
        fits |= _fit_table(storage, path, layouts, exists=path in present)
    return {xid: one for xid, one in fits.items() if one != Fit()}


def _fit_table(
    storage: Storage, path: str, layouts: list[TableLayout], *, exists: bool
) -> dict[str, Fit]:
    """Fit one table to all that land in it."""
    table = delta.open_table(storage, path) if exists else None
    if not layouts:
        return {}
    before = TableShape.of(table) if table is not None else TableShape.new(layouts[0])
    shape, renames = before, {}
    for layout in layouts:
        _check_partitions(storage, path, table, layout)
        fitted = fit(shape, layout)
        shape = shape.with_additions(fitted)
        renames[layout.definition] = fitted.renames
    if table is not None:
        cluster = next((one.arrangement.cluster for one in layouts if one.arrangement.cluster), ())
        arrangement = _arrangement(shape, cluster)
        told = {**shape.configuration, **arrangement.configuration}
        apply_fit(table, before, replace(shape, configuration=told))
        return {
            one.definition: Fit(
                renames=renames[one.definition],
                arrangement=None if arrangement == one.arrangement else arrangement,
            )
            for one in layouts
        }
    if len(layouts) < 2:
        return {}
    columns = shape.configuration[COLUMNS_KEY]
    schema = str(Schema.from_arrow(shape.schema).to_json())
    return {
        xid: Fit(renames=names, columns=columns, schema=schema) for xid, names in renames.items()
    }


def apply_fit(table: DeltaTable, before: TableShape, after: TableShape) -> None:
    """Give a table what it lacks."""
    known = {found.name: found.type for found in before.schema}
    added = [found for found in after.schema if known.get(found.name) != found.type]
    if added:
        table.alter.add_columns(list(Schema.from_arrow(pa.schema(added)).fields))
    told = {
        key: text
        for key, text in after.configuration.items()
        if before.configuration.get(key) != text
    }
    if told:
        table.alter.set_table_properties(told, raise_if_not_exists=False)


def _arrangement(shape: TableShape, cluster: tuple[str, ...]) -> Arrangement:
    """The partitions that a table has, and the order that was asked for or that it had."""
    own = Arrangement.read(shape.configuration)
    kinds = dict(own.partitions)
    partitions = tuple((name, kinds.get(name, "string")) for name in shape.partitions)
    return Arrangement(partitions, cluster or own.cluster)


def _check_partitions(
    storage: Storage, path: str, table: DeltaTable | None, layout: TableLayout
) -> None:
    """A table keeps its partitions: asking for others is an error."""
    if table is None or not layout.arrangement.partitions:
        return
    own = tuple(table.metadata().partition_columns)
    asked = layout.arrangement.names
    if [name.lower() for name in own] != [name.lower() for name in asked]:
        has = f"is partitioned by {', '.join(own)}" if own else "has no partitions"
        reason = f"the table {has}, and was asked to be by {', '.join(asked)}"
        advice = "leave out --partition-by, or land into another --database or warehouse"
        raise WarehouseError(storage.join(path), reason, advice)


def _present(storage: Storage, database: str, roots: Iterable[Xid]) -> set[str]:
    """The tables that have a folder, by listing each group's folder once."""
    top = path_part(database)
    if top not in storage.names(""):
        return set()
    groups = {path_part(root.group) for root in roots} & set(storage.names(top))
    return {f"{top}/{group}/{name}" for group in groups for name in storage.names(f"{top}/{group}")}


def _path(root: Xid, database: str) -> str:
    return "/".join(path_part(part) for part in table_name(root, database))
