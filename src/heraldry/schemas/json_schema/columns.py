"""The columns of a JSON Schema: typed where every valid value fits, else JSON text.

The reading is conservative: a union, an object of which nothing is said, a tuple, a recursive
reference or anything not understood becomes a ``json`` column. An object without properties whose
members are all of one kind is a map; beside properties, additional ones are no columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from heraldry.errors import UnreadableError
from heraldry.schemas.columns import (
    COLUMN_LIMIT,
    DEPTH_LIMIT,
    Column,
    ColumnType,
    Scalar,
    ScalarName,
    Struct,
    list_of,
    map_of,
    whole,
)
from heraldry.schemas.json_schema.document import Document, Schema, types_of
from heraldry.schemas.names import legal_names

_SCALARS: dict[str, ScalarName] = {
    "string": "string",
    "integer": "integer",
    "number": "number",
    "boolean": "boolean",
}
_FORMATS: dict[str, ScalarName] = {"date-time": "timestamp", "date": "date"}
_JSON = Scalar("json")
_Seen = frozenset[int]


def columns_of(document: Document, schema: Any) -> tuple[Column, ...]:
    """The members of an object as columns; a payload of any other shape is the column ``value``."""
    kind, null = _Reader(document).read(schema, frozenset(), 0)
    if isinstance(kind, Struct):
        if not null:
            return kind.fields
        # A payload of null is a row without values, so no column may insist on one.
        return tuple(Column(name=c.name, key=c.key, type=c.type) for c in kind.fields)
    return whole(kind, nullable=null)


class _Reader:
    """Reads one schema; ``read`` gives the column type and whether null is allowed."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._left = COLUMN_LIMIT

    def read(self, schema: Any, seen: _Seen, depth: int) -> tuple[ColumnType, bool]:
        try:
            flat, seen = self._document.flat(schema, seen)
        except UnreadableError:
            return _JSON, True
        names = types_of(flat)
        if names is None:
            return self._untyped(flat, seen, depth)
        null = "null" in names and _allows_null(flat)
        rest = {name for name in names if name != "null"}
        if rest == {"integer", "number"}:
            rest = {"number"}
        if len(rest) != 1:
            return _JSON, null
        return self._typed(rest.pop(), flat, seen, depth), null

    def _typed(self, name: str, schema: Schema, seen: _Seen, depth: int) -> ColumnType:
        if name == "object":
            return self._record(schema, seen, depth)
        if name == "array":
            return self._list(schema, seen, depth)
        if name == "string":
            form = schema.get("format")
            return Scalar(_FORMATS.get(form, "string") if isinstance(form, str) else "string")
        return Scalar(_SCALARS.get(name, "json"))

    def _untyped(self, schema: Schema, seen: _Seen, depth: int) -> tuple[ColumnType, bool]:
        if "const" in schema:
            return _of_values([schema["const"]])
        if isinstance(schema.get("enum"), list):
            return _of_values(schema["enum"])
        if isinstance(schema.get("properties"), Mapping):
            # Members without a type are meant as an object's, though the schema admits others.
            kind = self._record(schema, seen, depth)
            return kind, kind == _JSON
        branches = schema.get("anyOf", schema.get("oneOf"))
        return self._union(branches, seen, depth) if isinstance(branches, list) else (_JSON, True)

    def _union(self, branches: list[Any], seen: _Seen, depth: int) -> tuple[ColumnType, bool]:
        read = [self.read(branch, seen, depth) for branch in branches if not _only_null(branch)]
        null = len(read) < len(branches) or any(allowed for _, allowed in read)
        kinds = {kind for kind, _ in read}
        if len(kinds) == 1 and (len(read) == 1 or isinstance(read[0][0], Scalar)):
            return kinds.pop(), null
        return _JSON, null

    def _list(self, schema: Schema, seen: _Seen, depth: int) -> ColumnType:
        items = schema.get("items")
        if depth >= DEPTH_LIMIT or "prefixItems" in schema or not isinstance(items, Mapping):
            return _JSON
        kind, null = self.read(items, seen, depth + 1)
        return list_of(kind, nullable=null)

    def _map(self, schema: Schema, seen: _Seen, depth: int) -> ColumnType:
        """A map, where one schema says of what kind all the members are."""
        rest, patterns = schema.get("additionalProperties"), schema.get("patternProperties")
        if isinstance(patterns, Mapping) and len(patterns) == 1 and rest is False:
            rest = next(iter(patterns.values()))
        elif patterns:
            return _JSON
        if not isinstance(rest, Mapping) or not rest or self._left < 1:
            return _JSON
        self._left -= 1
        kind, null = self.read(rest, seen, depth + 1)
        return map_of(kind, nullable=null)

    def _record(self, schema: Schema, seen: _Seen, depth: int) -> ColumnType:
        members = schema.get("properties")
        if depth >= DEPTH_LIMIT:
            return _JSON
        if not members and types_of(schema) is not None:
            return self._map(schema, seen, depth)
        if not isinstance(members, Mapping):
            return _JSON
        keys = [key for key, member in members.items() if member is not False]
        if not keys or len(keys) > self._left:
            return _JSON
        self._left -= len(keys)
        required = schema.get("required")
        needed = set(_texts(required)) if isinstance(required, list) else set()
        fields = []
        for key, name in zip(keys, legal_names(keys), strict=True):
            kind, null = self.read(members[key], seen, depth + 1)
            optional = null or key not in needed
            fields.append(Column(name=name, key=key, type=kind, nullable=optional))
        return Struct(tuple(fields))


def _texts(values: Iterable[Any]) -> Iterable[str]:
    return (value for value in values if isinstance(value, str))


def _only_null(schema: Any) -> bool:
    if not isinstance(schema, Mapping):
        return False
    return types_of(schema) == ("null",) or ("const" in schema and schema["const"] is None)


def _allows_null(schema: Schema) -> bool:
    if "const" in schema:
        return schema["const"] is None
    values = schema.get("enum")
    return not isinstance(values, list) or None in values


def _of_values(values: list[Any]) -> tuple[ColumnType, bool]:
    kinds = {type(value) for value in values}
    null = type(None) in kinds
    kinds.discard(type(None))
    if kinds == {int, float}:
        kinds = {float}
    names: dict[type, ScalarName] = {
        str: "string",
        int: "integer",
        float: "number",
        bool: "boolean",
    }
    return Scalar(names.get(kinds.pop(), "json") if len(kinds) == 1 else "json"), null
