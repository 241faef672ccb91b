"""Decoded values as rows: only what is not yet as its column wants it is converted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from heraldry.schemas.avro.columns import Member, Place, or_null, record_converter
from heraldry.schemas.columns import Column, whole
from heraldry.schemas.rows import Row, row_reader

_FAILURES = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError)


def columns_of(place: Place, members: tuple[Member, ...] | None) -> tuple[Column, ...]:
    """The members of a record as columns; a payload of any other shape is the column ``value``."""
    if members is None:
        return whole(place.type, nullable=place.nullable)
    columns = tuple(member.column for member in members)
    if not place.nullable:
        return columns
    # A payload of null is a row without values, so no column may insist on one.
    return tuple(replace(column, nullable=True) for column in columns)


def rows_of(place: Place, members: tuple[Member, ...] | None) -> Callable[[Any], Row]:
    """A function from a decoded value to its row; what is no such value gives problems."""
    columns = columns_of(place, members)
    if members is None:
        convert = or_null(place) or _same

        def read(value: Any) -> Row:
            return {"value": convert(value)}
    else:
        nothing = dict.fromkeys(column.name for column in columns)
        record = record_converter(members) or dict

        def read(value: Any) -> Row:
            row: Row = dict(nothing) if value is None and place.nullable else record(value)
            return row

    careful = row_reader(columns)

    def guarded(value: Any) -> Row:
        try:
            return read(value)
        except _FAILURES:
            # Not a decoded value: the general reader says where it does not fit.
            return careful(value)

    return guarded


def _same(value: Any) -> Any:
    return value
