"""The columns of a JSON Structure: typed where every valid value fits, else JSON text.

A choice, ``any``, a union of several types, a recursive type and a value without a type become
``json`` columns. Additional properties are no columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

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
    whole,
)
from heraldry.schemas.json_structure.scalars import FLOATS, INTEGERS, TEXTS
from heraldry.schemas.json_structure.shapes import (
    Plain,
    Record,
    Ref,
    Row,
    Sequence,
    Shape,
    Structure,
    Table,
    Union,
    is_null,
)
from heraldry.schemas.names import legal_names

DEFAULT_PRECISION: Final = 34
DEFAULT_SCALE: Final = 7
"""The digits of a decimal that states none, as the specification has it."""

_DIGITS = 38
_JSON = Scalar("json")
_SCALARS: dict[str, ScalarName] = {
    **dict.fromkeys(TEXTS, "string"),
    **dict.fromkeys(INTEGERS, "integer"),
    **dict.fromkeys(FLOATS, "number"),
    "int64": "integer",
    "number": "number",
    "boolean": "boolean",
    "binary": "binary",
    "datetime": "timestamp",
    "date": "date",
}
_FIXED = {
    "uint64": Fixed(20, 0),
    "int128": Fixed(_DIGITS, 0),
    "uint128": Fixed(_DIGITS, 0),
}


def columns_of(structure: Structure) -> tuple[Column, ...]:
    """The members of a record as columns; a payload of any other shape is the column ``value``."""
    kind, null = _Reader(structure).read(structure.root, frozenset(), 0)
    if isinstance(kind, Struct) and isinstance(structure.columnar(structure.root), Record):
        if not null:
            return kind.fields
        # A payload of null is a row without values, so no column may insist on one.
        return tuple(Column(name=c.name, key=c.key, type=c.type) for c in kind.fields)
    return whole(kind, nullable=null)


class _Reader:
    """Reads one structure; ``read`` gives the column type and whether null is allowed."""

    def __init__(self, structure: Structure) -> None:
        self._types = structure.types
        self._left = COLUMN_LIMIT

    def read(self, shape: Shape, seen: frozenset[str], depth: int) -> tuple[ColumnType, bool]:
        match shape:
            case Ref(target=target):
                if target in seen:
                    return _JSON, True
                return self.read(self._types[target], seen | {target}, depth)
            case Union(parts=parts):
                return self._union(parts, seen, depth)
            case Plain(kind="null" | "any"):
                return _JSON, True
            case Plain():
                return _plain(shape), False
            case Sequence(item=item) if depth < DEPTH_LIMIT:
                kind, null = self.read(item, seen, depth + 1)
                return list_of(kind, nullable=null), False
            case Table(value=value) if depth < DEPTH_LIMIT:
                kind, null = self.read(value, seen, depth + 1)
                return map_of(kind, nullable=null), False
            case Record(members=members, required=required):
                return self._struct(members, required, seen, depth), False
            case Row(members=members):
                return self._struct(members, frozenset(members), seen, depth), False
            case _:
                return _JSON, type(shape) is Shape

    def _union(
        self, parts: tuple[Shape, ...], seen: frozenset[str], depth: int
    ) -> tuple[ColumnType, bool]:
        read = [self.read(part, seen, depth) for part in parts if not is_null(part)]
        null = len(read) < len(parts) or any(allowed for _, allowed in read)
        kinds = {kind for kind, _ in read}
        if len(read) == 1 or (len(kinds) == 1 and isinstance(read[0][0], (Scalar, Fixed))):
            return read[0][0], null
        return _JSON, null

    def _struct(
        self,
        members: Mapping[str, Shape],
        required: frozenset[str],
        seen: frozenset[str],
        depth: int,
    ) -> ColumnType:
        if depth >= DEPTH_LIMIT or not members or len(members) > self._left:
            return _JSON
        self._left -= len(members)
        fields = []
        for key, name in zip(members, legal_names(members), strict=True):
            kind, null = self.read(members[key], seen, depth + 1)
            optional = null or key not in required
            fields.append(Column(name=name, key=key, type=kind, nullable=optional))
        return Struct(tuple(fields))


def _plain(shape: Plain) -> ColumnType:
    if shape.kind in _FIXED:
        return _FIXED[shape.kind]
    if shape.kind != "decimal":
        return Scalar(_SCALARS[shape.kind])
    scale = DEFAULT_SCALE if shape.scale is None else shape.scale
    if shape.precision is None:
        precision = min(_DIGITS, DEFAULT_PRECISION - DEFAULT_SCALE + scale)
    else:
        # Without a scale, all the digits may stand before the point.
        precision = max(shape.precision, scale)
        precision += scale if shape.scale is None else 0
    return Fixed(precision, scale) if 0 < precision <= _DIGITS else Scalar("string")
