"""Fitting what a definition lands to the table that exists: one rule for every change.

A column is what it is read from (its key) and its type. The same key with the same type keeps its
column for ever; a record that gains members is widened in place; a key that has no column yet gets
one; any other type of a known key gets a new column ``NAME_2``, ``NAME_3`` ... Nothing is cast,
and nothing is removed: what a definition no longer has is null.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

import msgspec
import pyarrow as pa
from deltalake import DeltaTable, Schema

from heraldry.messages.judge import Judge
from heraldry.model.inherit import definitions
from heraldry.pipeline.lake import delta
from heraldry.pipeline.lake.arrangement import Arrangement
from heraldry.pipeline.lake.arranging import arranged, differences, refuse_contradiction
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
    from heraldry.messages.match import Matcher
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
        """A table that is still to be made has the columns that no message has."""
        made = layout.arrangement.made
        return cls(schema=pa.schema([f for f in layout.arrangement.fields if f.name in made]))

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


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFits:
    """What differs between tables and their layouts, by definition, and the tables there were.

    A layout alone holds for a table only as long as nobody else makes it. ``told`` is what tables
    do not do of what the plan asks.
    """

    fits: Mapping[str, Fit] = field(default_factory=dict)
    tables: frozenset[str] = frozenset()
    told: tuple[str, ...] = ()


def fit_tables(
    storage: Storage,
    catalog: Catalog,
    plan: TablePlan,
    *,
    only: Iterable[str] = (),
    going_on: bool = False,
) -> TableFits:
    """Fit every table that exists to what its definitions land.

    Call it when the catalog changes. Tables that are not there cost nothing, but for those that
    several definitions share: their columns are told apart before the first row is written. A
    table that contradicts the plan is an error to those who begin, not to those ``going_on``.
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
        return TableFits()
    matcher = Judge(catalog).matcher
    fits: dict[str, Fit] = {}
    tables: set[str] = set()
    differing: list[str] = []
    for path, found in wanted.items():
        layouts = list(landing_layouts(matcher, plan, found))
        attempt = partial(
            _fit_table, storage, path, plan, layouts, exists=path in present, going_on=going_on
        )
        one = delta.tried(attempt)
        tables |= one.tables
        fits |= one.fits
        differing += one.told
    needed = {xid: one for xid, one in fits.items() if one != Fit()}
    return TableFits(fits=needed, tables=frozenset(tables), told=tuple(differing))


def landing_layouts(
    matcher: Matcher, plan: TablePlan, xids: Iterable[Xid]
) -> Iterator[TableLayout]:
    """The layouts of all that can land; columns of the others are no matter to any table."""
    for xid in map(str, xids):
        # One that is its own base, or that no message can be of, lands nothing.
        if xid in matcher.positions and (one := matcher.definition(xid)).unusable is None:
            yield plan.layout(matcher.catalog, one)


def _fit_table(
    storage: Storage,
    path: str,
    plan: TablePlan,
    layouts: list[TableLayout],
    *,
    exists: bool,
    going_on: bool,
) -> TableFits:
    """Fit one table to all that land in it."""
    table = delta.open_table(storage, path) if exists else None
    there = frozenset(() if table is None else (path,))
    if not layouts:
        return TableFits(tables=there)
    before = TableShape.of(table) if table is not None else TableShape.new(layouts[0])
    shape, renames = before, {}
    for layout in layouts:
        fitted = fit(shape, layout)
        shape = shape.with_additions(fitted)
        renames[layout.definition] = fitted.renames
    asked = arranged(plan, layouts, renames)
    if table is None:
        return TableFits(fits=_fits_of_new(shape, layouts, renames, asked))
    own = _own(shape)
    if not going_on:
        refuse_contradiction(storage.join(path), plan, before.schema.names, own, asked)
    kept = Arrangement(own.partitions, asked.cluster or own.cluster)
    told = {**shape.configuration, **kept.configuration}
    apply_fit(table, before, replace(shape, configuration=told))
    fits = {one.definition: _fit_of(one, renames[one.definition], kept) for one in layouts}
    return TableFits(fits=fits, tables=there, told=tuple(differences(own, asked, layouts)))


def _fits_of_new(
    shape: TableShape,
    layouts: list[TableLayout],
    renames: Mapping[str, Mapping[str, str]],
    arrangement: Arrangement,
) -> dict[str, Fit]:
    """What all that will land in one new table are to know of it: whoever comes first makes it."""
    if len(layouts) < 2:
        return {}
    columns = shape.configuration[COLUMNS_KEY]
    schema = str(Schema.from_arrow(shape.schema).to_json())
    fits = {}
    for one in layouts:
        one.refuse_unsuited()
        found = _fit_of(one, renames[one.definition], arrangement)
        fits[one.definition] = msgspec.structs.replace(found, columns=columns, schema=schema)
    return fits


def _fit_of(layout: TableLayout, renames: Mapping[str, str], arrangement: Arrangement) -> Fit:
    """A fit says nothing that its layout says."""
    same = arrangement == layout.arrangement and layout.is_suited
    return Fit(renames=renames, arrangement=None if same else arrangement)


def apply_fit(table: DeltaTable, before: TableShape, after: TableShape) -> None:
    """Give a table what it lacks; CommitFailedError where another job has changed it meanwhile.

    What a column holds is told before it is there: between the two commits others may look.
    """
    told = {
        key: text
        for key, text in after.configuration.items()
        if before.configuration.get(key) != text
    }
    if told:
        table.alter.set_table_properties(told, raise_if_not_exists=False)
    known = {found.name: found.type for found in before.schema}
    added = [found for found in after.schema if known.get(found.name) != found.type]
    if added:
        table.alter.add_columns(list(Schema.from_arrow(pa.schema(added)).fields))


def _own(shape: TableShape) -> Arrangement:
    """The arrangement that a table has."""
    told = Arrangement.read(shape.configuration)
    kinds = dict(told.partitions)
    partitions = tuple((name, kinds.get(name, "string")) for name in shape.partitions)
    return Arrangement(partitions, told.cluster)


def _present(storage: Storage, database: str, roots: Iterable[Xid]) -> set[str]:
    """The tables that have a folder, by listing each group's folder once."""
    top = path_part(database)
    if top not in storage.names(""):
        return set()
    groups = {path_part(root.group) for root in roots} & set(storage.names(top))
    return {f"{top}/{group}/{name}" for group in groups for name in storage.names(f"{top}/{group}")}


def _path(root: Xid, database: str) -> str:
    return "/".join(path_part(part) for part in table_name(root, database))
