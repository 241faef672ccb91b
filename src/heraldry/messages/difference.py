"""The difference of two catalogs: per definition its own changes, its payload's, its table's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from heraldry.errors import CircularBaseError, UsageError
from heraldry.messages.compile import CompiledDefinition, compile_definition
from heraldry.messages.difference_definitions import own_changes
from heraldry.messages.difference_overlaps import overlaps
from heraldry.messages.difference_schemas import (
    PayloadSide,
    payload_changes,
    schema_side,
    side_of,
)
from heraldry.messages.table_columns import payload_columns, table_columns
from heraldry.model.catalog import Catalog
from heraldry.model.definition import Definition
from heraldry.model.inherit import definitions
from heraldry.model.xid import Xid
from heraldry.schemas.changes import Change
from heraldry.schemas.columns import Column
from heraldry.schemas.compatibility import MODES, effect_of
from heraldry.schemas.impact import ColumnChange, impact

DEFAULT_MODE: Final = "backward"
"""Held against a change where neither the caller nor the catalog names a compatibility."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DefinitionChange:
    """What became of one message definition, or of a schema that no definition uses.

    ``own`` are the changes of the definition itself, ``payload`` those of its schema, ``table``
    what they do to its columns; ``mode`` is the compatibility they are judged by.
    """

    xid: str
    entity: Literal["message", "schema"]
    kind: Literal["added", "removed", "changed"]
    mode: str
    own: tuple[Change, ...] = ()
    payload: tuple[Change, ...] = ()
    table: tuple[ColumnChange, ...] = ()

    @property
    def breaking(self) -> bool:
        """Whether something is gone, a change breaks in the mode, or the table breaks."""
        if self.kind == "removed":
            return True
        changes = (*self.own, *self.payload)
        broken = any(effect_of(one, self.mode) == "breaking" for one in changes)
        return broken or any(one.breaking for one in self.table)

    @property
    def undecided(self) -> bool:
        """Whether a change is there of which nobody can say whether it breaks in the mode."""
        changes = (*self.own, *self.payload)
        return any(effect_of(one, self.mode) == "undecided" for one in changes)


def difference(old: Catalog, new: Catalog, mode: str | None = None) -> tuple[DefinitionChange, ...]:
    """Every definition and every schema by itself that is not in both catalogs the same.

    In the order of the new catalog, what was removed last. Without a mode, that of the schema's
    ``compatibility`` counts where a catalog states one, else backward. UsageError for a mode that
    is none.
    """
    if mode is not None and mode.lower() not in MODES:
        raise UsageError(f"{mode!r} is not a compatibility", f"use one of {', '.join(MODES)}")
    given = mode.lower() if mode else None
    before, after = _sides(old), _sides(new)
    found = list(_definitions(before, after, given))
    found += _schemas(old, new, _compared(before, after), given)
    return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Side:
    compiled: CompiledDefinition
    payload: PayloadSide


def _sides(catalog: Catalog) -> dict[str, _Side]:
    found = {}
    for xid in definitions(catalog):
        compiled = _compile(catalog, xid)
        payload = side_of(catalog, compiled.definition, compiled.outcome)
        found[str(xid)] = _Side(compiled=compiled, payload=payload)
    return found


def _compile(catalog: Catalog, xid: Xid) -> CompiledDefinition:
    try:
        return compile_definition(catalog, xid)
    except CircularBaseError as error:
        # It recognises nothing, and the other definitions are compared all the same.
        return CompiledDefinition(
            catalog=catalog,
            definition=Definition(xid=xid),
            constraints=(),
            unusable=("circular", str(error)),
        )


def _definitions(
    before: dict[str, _Side], after: dict[str, _Side], given: str | None
) -> Iterator[DefinitionChange]:
    rivals = overlaps(_compiled(before), _compiled(after))
    for xid, side in after.items():
        was, more = before.get(xid), rivals.get(xid, ())
        mode = given or _stated(was.payload if was else None, side.payload)
        if was is None:
            yield DefinitionChange(xid=xid, entity="message", kind="added", mode=mode, own=more)
            continue
        change = DefinitionChange(
            xid=xid,
            entity="message",
            kind="changed",
            mode=mode,
            own=(*own_changes(was.compiled, side.compiled), *more),
            payload=payload_changes(was.payload, side.payload),
            table=impact(table_columns(was.compiled), table_columns(side.compiled)),
        )
        if change.own or change.payload or change.table:
            yield change
    for xid, side in before.items():
        if xid not in after:
            mode = given or _stated(side.payload, None)
            yield DefinitionChange(xid=xid, entity="message", kind="removed", mode=mode)


def _compiled(sides: dict[str, _Side]) -> dict[str, CompiledDefinition]:
    return {xid: side.compiled for xid, side in sides.items()}


def _stated(old: PayloadSide | None, new: PayloadSide | None) -> str:
    """The compatibility that the new catalog states, else the old one, else backward."""
    for side in (new, old):
        if side is not None and side.mode and side.mode.lower() in MODES:
            return side.mode.lower()
    return DEFAULT_MODE


def _used(sides: dict[str, _Side]) -> set[tuple[str, str, str]]:
    """Which definition uses which version of which schema."""
    return {
        (xid, side.payload.xid, side.payload.version or "")
        for xid, side in sides.items()
        if side.payload.xid
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Compared:
    """Schemas that definitions use: by the old ones, the new ones, and the same one in both."""

    old: frozenset[tuple[str, str]]
    new: frozenset[tuple[str, str]]
    both: frozenset[tuple[str, str, str]]


def _compared(before: dict[str, _Side], after: dict[str, _Side]) -> _Compared:
    was, now = _used(before), _used(after)
    versions = {(xid, schema): version for xid, schema, version in was}
    return _Compared(
        old=frozenset((schema, version) for _, schema, version in was),
        new=frozenset((schema, version) for _, schema, version in now),
        both=frozenset(
            (schema, versions[xid, schema], version)
            for xid, schema, version in now
            if (xid, schema) in versions
        ),
    )


def _schemas(
    old: Catalog, new: Catalog, compared: _Compared, given: str | None
) -> Iterator[DefinitionChange]:
    """Schemas of which no definition tells: added, removed, changed in their default version."""
    before = {str(one.xid): one for one in old.resources("schemas")}
    after = {str(one.xid): one for one in new.resources("schemas")}
    for xid, now in after.items():
        was = before.get(xid)
        if was is None:
            if (xid, now.default) not in compared.new:
                mode = given or _stated(None, schema_side(new, now.xid))
                yield DefinitionChange(xid=xid, entity="schema", kind="added", mode=mode)
        elif (xid, was.default, now.default) not in compared.both:
            yield from _schema(schema_side(old, was.xid), schema_side(new, now.xid), xid, given)
    for xid, was in before.items():
        if xid not in after and (xid, was.default) not in compared.old:
            mode = given or _stated(schema_side(old, was.xid), None)
            yield DefinitionChange(xid=xid, entity="schema", kind="removed", mode=mode)


def _schema(
    old: PayloadSide, new: PayloadSide, xid: str, given: str | None
) -> Iterator[DefinitionChange]:
    change = DefinitionChange(
        xid=xid,
        entity="schema",
        kind="changed",
        mode=given or _stated(old, new),
        payload=payload_changes(old, new),
        # Tables belong to definitions: these columns are what a table of it would have.
        table=impact(_columns(old), _columns(new)),
    )
    if change.payload or change.table:
        yield change


def _columns(side: PayloadSide) -> tuple[Column, ...]:
    schema = side.outcome.schema
    return payload_columns(schema.columns) if schema else ()
