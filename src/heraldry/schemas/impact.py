"""Table impact: what the columns of a new version do to the table that the old one landed in.

The warehouse adds columns to a table, and fields to the records in it, and changes nothing that is
there: values of another type get a column of their own, ``NAME_2``. Every column of a table may be
null. What is breaking here follows from that, and from what a query that was written for the old
rows finds in the new ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from heraldry.schemas.column_text import type_text
from heraldry.schemas.columns import Column, ColumnType, Fixed, ListOf, MapOf, Scalar, Struct

Kind = Literal[
    "added",
    "removed",
    "widened",
    "narrowed",
    "retyped",
    "renamed",
    "moved",
    "nullable",
    "required",
]

_INTEGER_DIGITS = 19
"""Digits that every 64 bit integer has room in."""
_NUMBER_DIGITS = 15
"""Digits that a double keeps exactly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnChange:
    """One difference: ``column`` is a path such as ``address.city``, ``items[].sku``, ``tags{}``.

    ``old`` and ``new`` are types as text, None where the column is not there. What is not
    ``breaking`` is additive: old rows, new rows and the queries over them go on as they were.
    """

    kind: Kind
    column: str
    old: str | None
    new: str | None
    breaking: bool
    message: str


def impact(old: tuple[Column, ...], new: tuple[Column, ...]) -> tuple[ColumnChange, ...]:
    """What happens to a table, in the order of the new columns, the removed ones last."""
    return tuple(_columns(old, new, _Place("", "")))


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a change is: its path, the column of the table it is in, and whether inside a map."""

    path: str
    column: str
    fixed: bool = False

    def inside(self, step: str, *, fixed: bool = False) -> _Place:
        return _Place(self.path + step, self.column, self.fixed or fixed)

    def member(self, name: str) -> _Place:
        path = f"{self.path}.{name}" if self.path else name
        return _Place(path, self.column or name, self.fixed)

    @property
    def own(self) -> str:
        """What becomes of values that do not fit the column."""
        return f"new values get a column of their own, '{self.column}_2' or the next that is free"


def _columns(
    old: tuple[Column, ...], new: tuple[Column, ...], place: _Place
) -> Iterator[ColumnChange]:
    # Tables do not tell names apart by their case.
    before = {column.name.lower(): column for column in old}
    after = {column.name.lower(): column for column in new}
    for name, column in after.items():
        if name in before:
            yield from _column(before[name], column, place.member(column.name))
        else:
            yield _added(column, place.member(column.name))
    for name, column in before.items():
        if name not in after:
            yield _removed(column, place.member(column.name))


def _column(old: Column, new: Column, place: _Place) -> Iterator[ColumnChange]:
    before, after, path = type_text(old.type), type_text(new.type), place.path

    def change(kind: Kind, message: str, *, breaking: bool) -> ColumnChange:
        return ColumnChange(
            kind=kind, column=path, old=before, new=after, breaking=breaking, message=message
        )

    if old.name != new.name:
        told = f"The column '{path}' was spelled '{old.name}' before: {place.own}."
        yield change("renamed", told, breaking=True)
    elif old.key != new.key:
        what = place.own if path == place.column else "old and new rows hold different things in it"
        told = f"The column '{path}' is now read from '{new.key}' and no longer from '{old.key}'"
        yield change("moved", f"{told}: {what}.", breaking=True)
    yield from _types(old.type, new.type, place)
    # All columns of a table may be null, so neither stops anything; rows keep their meaning.
    if new.nullable and not old.nullable:
        told = f"The column '{path}' may be null in new rows; it never was before."
        yield change("nullable", told, breaking=False)
    if old.nullable and not new.nullable:
        told = f"The column '{path}' is never null in new rows; it could be before."
        yield change("required", told, breaking=False)


def _types(old: ColumnType, new: ColumnType, place: _Place) -> Iterator[ColumnChange]:
    match old, new:
        case Struct(before), Struct(after):
            yield from _columns(before, after, place)
        case ListOf(before_item), ListOf(after_item):
            yield from _column(before_item, after_item, place.inside("[]"))
        case MapOf(before_value), MapOf(after_value):
            yield from _column(before_value, after_value, place.inside("{}", fixed=True))
        case _:
            if old != new:
                yield _retyped(old, new, place)


def _added(column: Column, place: _Place) -> ColumnChange:
    path, kind = place.path, type_text(column.type)
    if place.fixed:
        # The values of a map cannot be given another member.
        told = f"The field '{path}' ({kind}) is new inside a map: {place.own}."
    elif path == place.column:
        told = f"The table gets the column '{path}' ({kind}); rows already there have null in it."
    else:
        told = f"The column '{place.column}' gets the field '{path}' ({kind}); old rows have null."
    return ColumnChange(
        kind="added", column=path, old=None, new=kind, breaking=place.fixed, message=told
    )


def _removed(column: Column, place: _Place) -> ColumnChange:
    path, kind = place.path, type_text(column.type)
    if place.fixed:
        told = f"The field '{path}' ({kind}) is gone from inside a map: {place.own}."
    else:
        # The column stays and old rows keep their values, but queries over new rows find nothing.
        told = f"The column '{path}' ({kind}) gets no more values: new rows have null in it."
    return ColumnChange(
        kind="removed", column=path, old=kind, new=None, breaking=True, message=told
    )


def _retyped(old: ColumnType, new: ColumnType, place: _Place) -> ColumnChange:
    before, after = type_text(old), type_text(new)
    kind = _direction(old, new)
    verb = {"widened": "widens", "narrowed": "narrows"}.get(kind, "changes")
    why = place.own
    if {before, after} == {"string", "json"}:
        # One type in the table, so nothing stops: the rows are what no longer fits together.
        why = "both land as text, but one is the text itself and the other JSON with its quotes"
    return ColumnChange(
        kind=kind,
        column=place.path,
        old=before,
        new=after,
        # Also where it widens: the warehouse rewrites no column, not even integer to number.
        breaking=True,
        message=f"The column '{place.path}' {verb} from {before} to {after}: {why}.",
    )


def _direction(old: ColumnType, new: ColumnType) -> Literal["widened", "narrowed", "retyped"]:
    if _holds(new, old):
        return "widened"
    return "narrowed" if _holds(old, new) else "retyped"


def _holds(wide: ColumnType, narrow: ColumnType) -> bool:
    """Whether one type has room for every value of the other.

    A date is not an instant, and a text is what any value can be written as: neither is wider
    than anything else.
    """
    match wide, narrow:
        case Scalar("json"), _:
            return True
        case Scalar("number"), Scalar("integer"):
            # Beyond 53 bits the last digits go, as they do for every number in this column.
            return True
        case Fixed(precision, scale), Scalar("integer"):
            return precision - scale >= _INTEGER_DIGITS
        case Scalar("integer"), Fixed(precision, scale):
            return scale <= 0 and precision - scale < _INTEGER_DIGITS
        case Scalar("number"), Fixed(precision, _):
            return precision <= _NUMBER_DIGITS
        case Fixed(precision, scale), Fixed(other_precision, other_scale):
            return scale >= other_scale and precision - scale >= other_precision - other_scale
    return False
