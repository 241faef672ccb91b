"""The columns a payload schema gives a table: our own frozen types, free of Arrow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ScalarName = Literal[
    "string", "integer", "number", "boolean", "timestamp", "date", "binary", "json"
]


@dataclass(frozen=True, slots=True)
class Scalar:
    """A plain column; ``json`` is a value of any shape kept as JSON text."""

    name: ScalarName


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list; its items may be null where ``item.nullable``."""

    item: Column


@dataclass(frozen=True, slots=True)
class Struct:
    """A nested record."""

    fields: tuple[Column, ...]


ColumnType = Scalar | ListOf | Struct


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column: ``name`` is legal and unique in its table, ``key`` the member it is read from."""

    name: str
    key: str
    type: ColumnType
    nullable: bool = True
