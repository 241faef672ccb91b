"""The columns of an Avro schema, each with the conversion that its decoded values need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from heraldry.schemas.avro.logical import EPOCH
from heraldry.schemas.avro.nodes import (
    Array,
    Enum,
    FixedBytes,
    Map,
    Primitive,
    Record,
    Schema,
    Type,
    Union,
)
from heraldry.schemas.columns import (
    COLUMN_LIMIT,
    DEPTH_LIMIT,
    Column,
    ColumnType,
    Fixed,
    Scalar,
    ScalarName,
    Struct,
    list_of,
    map_of,
)
from heraldry.schemas.names import legal_names
from heraldry.schemas.parse import encode

Convert = Callable[[Any], Any]

_SCALARS: dict[str, ScalarName] = {
    "boolean": "boolean",
    "int": "integer",
    "long": "integer",
    "float": "number",
    "double": "number",
    "string": "string",
    "enum": "string",
    "bytes": "binary",
    "fixed": "binary",
}
_LOGICAL: dict[str, ScalarName] = {
    "date": "date",
    "timestamp-millis": "timestamp",
    "timestamp-micros": "timestamp",
    "timestamp-nanos": "timestamp",
}
# A decimal of more digits than this is text.
_DIGITS = 38


@dataclass(frozen=True, slots=True)
class Place:
    """Where the values of a type go; no ``convert`` where they are already as they must be."""

    type: ColumnType
    nullable: bool
    convert: Convert | None


@dataclass(frozen=True, slots=True)
class Member:
    """A column, and the conversion of its values, null among them."""

    column: Column
    convert: Convert | None


def place_of(schema: Schema) -> tuple[Place, tuple[Member, ...] | None]:
    """The place of a schema's values, and its members where the values are records."""
    reader = _Reader(schema)
    place = reader.read(schema.top, frozenset(), 0)
    return place, reader.members if isinstance(place.type, Struct) else None


class _Reader:
    """Reads one schema; ``members`` are those of the record that was read last."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._left = COLUMN_LIMIT
        self.members: tuple[Member, ...] = ()

    def read(self, type_: Type, seen: frozenset[str], depth: int) -> Place:
        node = self._schema.resolve(type_)
        if isinstance(node, Union):
            return self._union(node, seen, depth)
        if isinstance(node, Record):
            return self._record(node, seen, depth)
        if isinstance(node, (Array, Map)):
            return self._many(node, seen, depth)
        if node.kind == "null":
            return Place(_JSON, True, None)
        return _plain(node)

    def _union(self, node: Union, seen: frozenset[str], depth: int) -> Place:
        branches = [self._schema.resolve(branch) for branch in node.branches]
        rest = [branch for branch in branches if branch.kind != "null"]
        null = len(rest) < len(branches)
        if len(rest) != 1:
            return Place(_JSON, null, _to_json if rest else None)
        place = self.read(rest[0], seen, depth)
        return Place(place.type, null or place.nullable, place.convert)

    def _record(self, node: Record, seen: frozenset[str], depth: int) -> Place:
        keys = [field.name for field in node.fields]
        if depth >= DEPTH_LIMIT or node.name in seen or not 0 < len(keys) <= self._left:
            return Place(_JSON, False, _to_json)
        self._left -= len(keys)
        seen |= {node.name}
        members = []
        for field, name in zip(node.fields, legal_names(keys), strict=True):
            place = self.read(field.type, seen, depth + 1)
            column = Column(name=name, key=field.name, type=place.type, nullable=place.nullable)
            members.append(Member(column, or_null(place)))
        self.members = tuple(members)
        struct = Struct(tuple(member.column for member in members))
        return Place(struct, False, record_converter(self.members))

    def _many(self, node: Array | Map, seen: frozenset[str], depth: int) -> Place:
        if depth >= DEPTH_LIMIT:
            return Place(_JSON, False, _to_json)
        if isinstance(node, Array):
            place = self.read(node.items, seen, depth + 1)
            kind: ColumnType = list_of(place.type, nullable=place.nullable)
        else:
            place = self.read(node.values, seen, depth + 1)
            kind = map_of(place.type, nullable=place.nullable)
        convert = or_null(place)
        if convert is None:
            return Place(kind, False, None)
        if isinstance(node, Array):
            return Place(kind, False, lambda value: [convert(item) for item in value])
        return Place(kind, False, lambda value: {key: convert(v) for key, v in value.items()})


def or_null(place: Place) -> Convert | None:
    """The conversion of a place that leaves null alone where it is allowed."""
    convert = place.convert
    if convert is None or not place.nullable:
        return convert
    return lambda value: None if value is None else convert(value)


def record_converter(members: tuple[Member, ...]) -> Convert | None:
    """A function from a record to a row; None where the record is the row."""
    changed = [(m.column.name, m.column.key, m.convert) for m in members if m.convert]
    if any(member.column.name != member.column.key for member in members):
        names = [(m.column.name, m.column.key) for m in members]

        def renamed(value: Any) -> dict[str, Any]:
            row = {name: value[key] for name, key in names}
            for name, key, convert in changed:
                row[name] = convert(value[key])
            return row

        return renamed
    if not changed:
        return None

    def converted(value: Any) -> dict[str, Any]:
        row: dict[str, Any] = value.copy()
        for name, _, convert in changed:
            row[name] = convert(row[name])
        return row

    return converted


def _plain(node: Primitive | FixedBytes | Enum) -> Place:
    logical = node.logical
    if logical is None:
        return Place(Scalar(_SCALARS[node.kind]), False, None)
    if logical.name == "decimal":
        if logical.precision > _DIGITS:
            return Place(Scalar("string"), False, _decimal_text)
        return Place(Fixed(logical.precision, logical.scale), False, None)
    kind = Scalar(_LOGICAL.get(logical.name, "string"))
    return Place(kind, False, _CONVERSIONS.get(logical.name))


def _to_json(value: Any) -> str:
    return encode(value).decode()


def _decimal_text(value: Decimal) -> str:
    return format(value, "f")


def _instant(nanos: int) -> datetime:
    return EPOCH + timedelta(microseconds=nanos // 1000)


def _local(nanos: int) -> str:
    start = EPOCH + timedelta(seconds=nanos // 1_000_000_000)
    return f"{start.replace(tzinfo=None).isoformat()}.{nanos % 1_000_000_000:09}"


def _iso(value: Any) -> str:
    text: str = value.isoformat()
    return text


_JSON = Scalar("json")
_CONVERSIONS: dict[str, Convert] = {
    "timestamp-nanos": _instant,
    "local-timestamp-nanos": _local,
    "local-timestamp-millis": _iso,
    "local-timestamp-micros": _iso,
    "time-millis": _iso,
    "time-micros": _iso,
    "uuid": UUID.__str__,
}
