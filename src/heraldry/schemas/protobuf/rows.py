"""Decoded values as rows, at speed: what is of the type its column takes goes in as it is.

TypeError, KeyError or ValueError from a reader says that a value is not a decoded one; it may
still be valid, in the spelling of JSON.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from operator import itemgetter
from typing import Any

from heraldry.schemas.columns import Column, ColumnType, Fixed, ListOf, MapOf, Scalar, Struct
from heraldry.schemas.parse import encode
from heraldry.schemas.timestamps import to_timestamp

_Convert = Callable[[Any], Any]
_SAME: dict[str, type] = {
    "integer": int,
    "number": float,
    "boolean": bool,
    "binary": bytes,
    "string": str,
}


def row_reader(columns: tuple[Column, ...]) -> Callable[[Any], dict[str, Any]]:
    """A function from a decoded record to its row."""
    plain = [column for column in columns if not column.nullable and _kept(column.type)]
    rest = [column for column in columns if column not in plain]
    if len(plain) < 2:
        plain, rest = [], list(columns)
    names = tuple(column.name for column in plain)
    types = tuple(_kept(column.type) for column in plain)
    converters = [_converter(column.type) for column in plain]
    pick = itemgetter(*(column.key for column in plain)) if plain else None
    fields = [(one.name, one.key, one.nullable, _converter(one.type)) for one in rest]

    def read(value: Any) -> dict[str, Any]:
        row: dict[str, Any] = {}
        if pick is not None:
            members = pick(value)
            if tuple(map(type, members)) != types:
                # An enum may be a number, which has no name in the schema.
                members = [one(member) for one, member in zip(converters, members, strict=True)]
            row = dict(zip(names, members, strict=True))
        for name, key, nullable, convert in fields:
            member = value.get(key) if nullable else value[key]
            row[name] = None if member is None and nullable else convert(member)
        return row

    return read


def _kept(kind: ColumnType) -> type | None:
    """The type whose values a column takes as they are."""
    return _SAME.get(kind.name) if isinstance(kind, Scalar) else None


def _converter(kind: ColumnType) -> _Convert:
    if isinstance(kind, Struct):
        return row_reader(kind.fields)
    if isinstance(kind, ListOf):
        return _list(kind.item)
    if isinstance(kind, MapOf):
        return _map(kind.value)
    if isinstance(kind, Fixed):
        return _decimal
    return _SCALARS.get(kind.name) or _same(_SAME[kind.name])


def _list(item: Column) -> _Convert:
    convert, nullable, kept = _converter(item.type), item.nullable, _all_of(item.type)

    def read(value: Any) -> list[Any]:
        if type(value) is not list:
            raise TypeError
        if kept is not None and kept.issuperset(map(type, value)):
            return value
        return [None if one is None and nullable else convert(one) for one in value]

    return read


def _map(item: Column) -> _Convert:
    convert, nullable, kept = _converter(item.type), item.nullable, _all_of(item.type)

    def read(value: Any) -> dict[str, Any]:
        if type(value) is not dict:
            raise TypeError
        if kept is not None and kept.issuperset(map(type, value.values())):
            return value
        return {
            key: None if one is None and nullable else convert(one) for key, one in value.items()
        }

    return read


def _all_of(kind: ColumnType) -> frozenset[type] | None:
    same = _kept(kind)
    return None if same is None else frozenset((same,))


def _same(kind: type) -> _Convert:
    def read(value: Any) -> Any:
        if type(value) is not kind:
            raise TypeError
        return value

    return read


def _text(value: Any) -> str:
    if type(value) is str:
        return value
    # The number of an enum that the schema has no name for.
    if type(value) is int:
        return str(value)
    raise TypeError


def _decimal(value: Any) -> Decimal:
    if type(value) is not int:
        raise TypeError
    return Decimal(value)


def _timestamp(value: Any) -> datetime:
    return value if type(value) is datetime else to_timestamp(value)


def _json(value: Any) -> str:
    return encode(value).decode()


_SCALARS: dict[str, _Convert] = {"string": _text, "timestamp": _timestamp, "json": _json}
