"""The columns of an element: attributes, text and children side by side."""

from __future__ import annotations

from heraldry.schemas.columns import (
    COLUMN_LIMIT,
    DEPTH_LIMIT,
    Column,
    ColumnType,
    Fixed,
    Scalar,
    Struct,
    list_of,
    map_of,
    whole,
)
from heraldry.schemas.names import legal_names
from heraldry.schemas.xsd.model import TEXT, Child, Element, Record, Shape
from heraldry.schemas.xsd.simple_type import SimpleType

_JSON = Scalar("json")
_STRING = Scalar("string")
_SCALARS: dict[str, ColumnType] = {
    "string": _STRING,
    "text": _STRING,
    "union": _STRING,
    "QName": _STRING,
    "integer": Scalar("integer"),
    "float": Scalar("number"),
    "boolean": Scalar("boolean"),
    "dateTime": Scalar("timestamp"),
    "date": Scalar("date"),
    "hexBinary": Scalar("binary"),
    "base64Binary": Scalar("binary"),
}
_DIGITS = 38


def columns_of(root: Element) -> tuple[Column, ...]:
    """The columns of a payload; a payload without structure is the one column ``value``."""
    shape = root.shape
    kind, width = _Columns(shape).build(shape, 0, recursive=False)
    if not isinstance(kind, Struct) or width > COLUMN_LIMIT:
        return whole(kind, nullable=root.nillable)
    if not root.nillable:
        return kind.fields
    return tuple(
        Column(name=one.name, key=one.key, type=one.type, nullable=True) for one in kind.fields
    )


def scalar(kind: SimpleType) -> ColumnType:
    """The column of a simple type."""
    if kind.kind == "list" and kind.item is not None:
        return list_of(scalar(kind.item), nullable=False)
    if kind.kind == "decimal":
        return _decimal(kind)
    if kind.kind == "integer" and kind.builtin == "unsignedLong":
        return Fixed(20, 0)
    return _SCALARS[kind.kind]


def _decimal(kind: SimpleType) -> ColumnType:
    total, fraction = kind.total_digits, kind.fraction_digits
    if total is None and fraction is None:
        return Fixed(_DIGITS, 18)
    if total is None:
        assert fraction is not None
        return Fixed(_DIGITS, fraction) if fraction <= _DIGITS else _STRING
    if fraction is None:
        # Any of the digits may be a fraction.
        return Fixed(2 * total, total) if 2 * total <= _DIGITS else Fixed(_DIGITS, 18)
    return Fixed(total, fraction) if fraction <= total <= _DIGITS else Fixed(_DIGITS, 18)


class _Columns:
    """Column types with their widths; a record within itself, or too wide, is JSON text."""

    def __init__(self, root: Shape) -> None:
        self._recursive = _recursive(root)
        self._known: dict[tuple[int, int, bool], tuple[ColumnType, int]] = {}

    def build(self, shape: Shape, depth: int, *, recursive: bool) -> tuple[ColumnType, int]:
        if isinstance(shape, SimpleType):
            return scalar(shape), 1
        if not isinstance(shape, Record):
            return _STRING, 1
        again = id(shape) in self._recursive
        if depth > DEPTH_LIMIT or (again and recursive):
            return _JSON, 1
        key = (id(shape), depth, recursive)
        if key not in self._known:
            self._known[key] = self._record(shape, depth, recursive=recursive or again)
        return self._known[key]

    def _record(self, shape: Record, depth: int, *, recursive: bool) -> tuple[ColumnType, int]:
        found: list[tuple[str, ColumnType, bool]] = [
            (one.key, scalar(one.type), not one.required and one.value is None)
            for one in shape.attributes
        ]
        if shape.text is not None:
            found.append((TEXT, scalar(shape.text), False))
        width = len(found)
        for child in shape.children:
            kind, more = self._child(child, depth, recursive=recursive)
            width += more
            single = child.element is not None and child.element.nillable and not child.is_list
            found.append((child.key, kind, child.low == 0 or single))
        if shape.any_attributes:
            found.append((shape.any_attributes, map_of(_STRING, nullable=False), True))
        if not found or width > COLUMN_LIMIT:
            return _JSON, 1
        names = legal_names(key for key, _, _ in found)
        return Struct(
            tuple(
                Column(name=name, key=key, type=kind, nullable=nullable)
                for name, (key, kind, nullable) in zip(names, found, strict=True)
            )
        ), width + 1

    def _child(self, child: Child, depth: int, *, recursive: bool) -> tuple[ColumnType, int]:
        kind: ColumnType = _STRING
        width, nillable = 1, False
        deeper = depth + (2 if child.is_list else 1)
        if child.element is not None:
            nillable = child.element.nillable
            kind, width = self.build(child.element.shape, deeper, recursive=recursive)
        return (list_of(kind, nullable=nillable) if child.is_list else kind), width


def _recursive(root: Shape) -> set[int]:
    """The records on a way from a cycle of records to one: what is left of the rest."""
    inside: dict[int, set[int]] = {}
    waiting = [root]
    while waiting:
        shape = waiting.pop()
        if not isinstance(shape, Record) or id(shape) in inside:
            continue
        below = [one.element.shape for one in shape.children if one.element is not None]
        inside[id(shape)] = {id(one) for one in below if isinstance(one, Record)}
        waiting += below
    while ends := [key for key, below in inside.items() if not below & inside.keys()]:
        for key in ends:
            del inside[key]
    while starts := inside.keys() - set().union(*inside.values()):
        for key in starts:
            del inside[key]
    return set(inside)
