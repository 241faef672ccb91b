"""The columns a payload schema gives a table: our own frozen types, free of Arrow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

ScalarName = Literal[
    "string", "integer", "number", "boolean", "timestamp", "date", "binary", "json"
]

DEPTH_LIMIT: Final = 32
"""Records, lists and maps nested deeper than this are kept as JSON text."""

COLUMN_LIMIT: Final = 2_000
"""A record whose members would make more columns than this in all is kept as JSON text."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """A plain column; ``json`` is a value of any shape kept as JSON text."""

    name: ScalarName


@dataclass(frozen=True, slots=True)
class Fixed:
    """An exact number of ``precision`` decimal digits (at most 38), ``scale`` of them fraction."""

    precision: int
    scale: int


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list; its items may be null where ``item.nullable``."""

    item: Column


@dataclass(frozen=True, slots=True)
class MapOf:
    """A map from text to values, which may be null where ``value.nullable``."""

    value: Column


@dataclass(frozen=True, slots=True)
class Struct:
    """A nested record."""

    fields: tuple[Column, ...]


ColumnType = Scalar | Fixed | ListOf | MapOf | Struct


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column: ``name`` is legal and unique in its table, ``key`` the member it is read from."""

    name: str
    key: str
    type: ColumnType
    nullable: bool = True


def list_of(kind: ColumnType, *, nullable: bool) -> ListOf:
    """A list whose items have this type."""
    return ListOf(Column(name="element", key="", type=kind, nullable=nullable))


def map_of(kind: ColumnType, *, nullable: bool) -> MapOf:
    """A map whose values have this type."""
    return MapOf(Column(name="value", key="", type=kind, nullable=nullable))


def whole(kind: ColumnType, *, nullable: bool) -> tuple[Column, ...]:
    """The one column ``value`` of a payload that is not a record."""
    return (Column(name="value", key="", type=kind, nullable=nullable),)


def is_whole(columns: tuple[Column, ...]) -> bool:
    """Whether the one column ``value`` holds the payload as a whole (no member is named so)."""
    return len(columns) == 1 and columns[0].name == "value" and columns[0].key == ""
