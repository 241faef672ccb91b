"""Payload schemas as tables of numbers, which one compiled function reads for all of them.

Only a subset is understood, and only where the columns are plain; payloads of all other schemas
are left to the schema itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from heraldry.pipeline.kernel.jit import PADDING
from heraldry.pipeline.lake.layout import arrow_type
from heraldry.schemas.columns import Column, ListOf, Scalar, Struct, is_whole
from heraldry.schemas.json_schema.document import types_of
from heraldry.schemas.json_schema.schema import JsonSchema
from heraldry.schemas.payload_schema import PayloadSchema

TEXT, INSTANT, INTEGER, NUMBER, BOOLEAN, RECORD, LIST = range(7)
"""The kinds of nodes; those from RECORD on hold other nodes."""

KIND, NULLABLE, FIRST, COUNT, OPEN, KEY, KEY_SIZE, BASE = range(8)
CAPACITY, SHORTEST, LONGEST, CHOICE, CHOICES, BELOW, NEEDED, WIDTH = range(8, 16)
"""The columns of a node: see :func:`_row`; BASE and CAPACITY are set for every batch."""

_SCALARS = {
    "string": TEXT,
    "timestamp": INSTANT,
    "integer": INTEGER,
    "number": NUMBER,
    "boolean": BOOLEAN,
}
_TYPES = {
    TEXT: "string",
    INSTANT: "string",
    INTEGER: "integer",
    NUMBER: "number",
    BOOLEAN: "boolean",
    RECORD: "object",
    LIST: "array",
}
_BOUNDS = {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}
_KEYWORDS: dict[int, set[str]] = {
    TEXT: {"enum", "const", "minLength", "maxLength"},
    INSTANT: {"minLength", "maxLength"},
    INTEGER: _BOUNDS,
    NUMBER: _BOUNDS,
    BOOLEAN: set(),
    RECORD: {"properties", "required", "additionalProperties"},
    LIST: {"items", "minItems", "maxItems"},
}
_ANNOTATIONS = {
    "title",
    "description",
    "$comment",
    "examples",
    "default",
    "deprecated",
    "readOnly",
    "writeOnly",
    "definitions",
    "$defs",
}
_IDENTITY = {"$schema", "$id", "id"}
_EXACT = 2**53
_MEMBERS = 62  # one bit each in a signed word
_DEPTH = 60
_ILLEGAL = frozenset(map(chr, range(32))) | {'"', "\\"}
_LAST_ASSERTING = 7  # drafts up to this one let the validator check formats


class _NotCompilableError(Exception):
    """A schema, or its columns, outside of what the compiled path understands."""


class Tables(NamedTuple):
    """What the compiled function reads of a schema."""

    nodes: Any
    low: Any
    high: Any
    least: Any
    most: Any
    children: Any
    below: Any
    choices: Any
    follow: Any
    texts: Any


@dataclass(slots=True)
class Node:
    """One place in a payload: a member, an item, or the whole."""

    kind: int
    nullable: bool
    key: bytes
    type: pa.DataType
    repeated: bool
    children: list[int] = field(default_factory=list)
    open: bool = True
    needed: int = 0
    size: tuple[int, int] = (0, -1)
    choices: list[bytes] = field(default_factory=list)
    whole: tuple[int, int] = (-(2**62), 2**62)
    real: tuple[float, float] = (-math.inf, math.inf)


def compile_nodes(schema: PayloadSchema) -> list[Node] | None:
    """The nodes of a schema, the payload itself first; None where it is not understood."""
    if not isinstance(schema, JsonSchema) or is_whole(schema.columns):
        return None
    document, whole = schema.schema, schema.schema is schema.root
    if not isinstance(document, Mapping) or (not whole and _IDENTITY & document.keys()):
        return None
    reader = _Reader(schema.draft)
    column = Column(name="", key="", type=Struct(schema.columns))
    bare = {key: value for key, value in document.items() if key not in _IDENTITY}
    try:
        reader.add(bare, column, repeated=False, depth=0)
    except _NotCompilableError:
        return None
    return reader.nodes


class _Reader:
    """Reads a schema and its columns side by side."""

    def __init__(self, draft: int) -> None:
        self.nodes: list[Node] = []
        self._draft = draft

    def add(self, schema: Any, column: Column, *, repeated: bool, depth: int) -> int:
        """Add the node of a column and those below it; the number of the node."""
        if not isinstance(schema, Mapping) or depth > _DEPTH:
            raise _NotCompilableError
        kind = _kind(column)
        node = Node(
            kind=kind,
            nullable=_nullable(schema, kind),
            key=_key(column.key),
            type=arrow_type(column.type),
            repeated=repeated,
        )
        self._check(schema, node, column, depth)
        number = len(self.nodes)
        self.nodes.append(node)
        if kind in (TEXT, INSTANT):
            node.size = _size(schema, "minLength", "maxLength")
            node.choices = _choices(schema, self._draft)
        elif kind in (INTEGER, NUMBER):
            self._bound(schema, node)
        elif isinstance(column.type, Struct):
            self._record(schema, node, column.type, repeated=repeated, depth=depth)
        elif isinstance(column.type, ListOf):
            node.size = _size(schema, "minItems", "maxItems")
            item = self.add(schema.get("items"), column.type.item, repeated=True, depth=depth + 1)
            node.children.append(item)
        return number

    def _check(self, schema: Mapping[str, Any], node: Node, column: Column, depth: int) -> None:
        known = _KEYWORDS[node.kind] | _ANNOTATIONS | {"type", "format"}
        if any(key not in known and not key.startswith("x-") for key in schema):
            raise _NotCompilableError
        if depth and node.nullable and not column.nullable:
            raise _NotCompilableError
        form = schema.get("format")
        if form is None or node.kind not in (TEXT, INSTANT):
            return
        if node.kind == TEXT and (self._draft <= _LAST_ASSERTING or form == "date-time"):
            raise _NotCompilableError

    def _record(
        self, schema: Mapping[str, Any], node: Node, kind: Struct, *, repeated: bool, depth: int
    ) -> None:
        members = schema.get("properties")
        required = schema.get("required", [])
        extra = schema.get("additionalProperties", True)
        if not isinstance(members, Mapping) or not isinstance(required, list):
            raise _NotCompilableError
        if list(members) != [column.key for column in kind.fields] or len(members) > _MEMBERS:
            raise _NotCompilableError
        if not members or not members.keys() >= set(required) or not isinstance(extra, bool):
            raise _NotCompilableError
        node.open = extra
        for place, column in enumerate(kind.fields):
            child = self.add(members[column.key], column, repeated=repeated, depth=depth + 1)
            node.children.append(child)
            if column.key in required:
                node.needed |= 1 << place

    def _bound(self, schema: Mapping[str, Any], node: Node) -> None:
        low, high = node.whole
        least, most = node.real
        for key in _BOUNDS & schema.keys():
            bound = schema[key]
            if type(bound) not in (int, float) or abs(bound) >= _EXACT:
                raise _NotCompilableError  # in draft 4 the exclusive ones are truth values
            if key == "minimum":
                low, least = max(low, math.ceil(bound)), max(least, bound)
            elif key == "maximum":
                high, most = min(high, math.floor(bound)), min(most, bound)
            elif self._draft < 6:
                raise _NotCompilableError
            elif key == "exclusiveMinimum":
                low = max(low, math.floor(bound) + 1)
                least = max(least, math.nextafter(bound, math.inf))
            else:
                high = min(high, math.ceil(bound) - 1)
                most = min(most, math.nextafter(bound, -math.inf))
        node.whole, node.real = (low, high), (least, most)


def _kind(column: Column) -> int:
    match column.type:
        case Scalar(name) if name in _SCALARS:
            return _SCALARS[name]
        case ListOf():
            return LIST
        case Struct():
            return RECORD
    raise _NotCompilableError


def _nullable(schema: Mapping[str, Any], kind: int) -> bool:
    """Whether null is valid; _NotCompilableError where other types than the column's are."""
    names = types_of(schema)
    values = schema.get("enum")
    if names is None:
        if kind == RECORD and "enum" not in schema and "const" not in schema:
            return False  # other values than objects are valid, but no rows
        if kind != TEXT or "format" in schema or not {"enum", "const"} & schema.keys():
            raise _NotCompilableError
        return isinstance(values, list) and None in values
    if set(names) - {"null"} != {_TYPES[kind]}:
        raise _NotCompilableError
    if "const" in schema:
        return False
    return "null" in names and (values is None or None in values)


def _key(key: str) -> bytes:
    if not _ILLEGAL.isdisjoint(key):
        raise _NotCompilableError  # never stands in a text as it is
    try:
        return key.encode()
    except UnicodeEncodeError:
        raise _NotCompilableError from None


def _size(schema: Mapping[str, Any], least: str, most: str) -> tuple[int, int]:
    found = []
    for key, default in ((least, 0), (most, -1)):
        value = schema.get(key, default)
        if type(value) is not int or value >= 2**31:
            raise _NotCompilableError
        found.append(value)
    return found[0], found[1]


def _choices(schema: Mapping[str, Any], draft: int) -> list[bytes]:
    if "const" in schema:
        if draft < 6 or "enum" in schema:
            raise _NotCompilableError
        values: Any = [schema["const"]]
    else:
        values = schema.get("enum")
    if values is None:
        return []
    texts = [value for value in values if value is not None]
    if not texts or not all(isinstance(value, str) for value in texts):
        raise _NotCompilableError
    try:
        return [text.encode() for text in texts]
    except UnicodeEncodeError:
        raise _NotCompilableError from None


def to_tables(nodes: list[Node]) -> Tables:
    """The nodes as arrays of numbers."""
    rows = []
    children: list[int] = []
    below: list[int] = []
    follow: list[int] = []
    texts = bytearray()
    keys = []
    for node in nodes:
        keys.append(len(texts))
        texts += node.key + b'"'
    choices = [len(texts)]
    for number, node in enumerate(nodes):
        rows.append(_row(node, len(children), keys[number], len(choices) - 1, len(below)))
        # One place more than children: what comes first is learned there.
        children += [*node.children, 0]
        last = max(len(node.children) - 1, 0)
        follow += [*(min(place + 1, last) for place in range(len(node.children))), 0]
        below += [*_record_below(nodes, number), -1]
        for choice in node.choices:
            texts += choice
            choices.append(len(texts))
    return Tables(
        nodes=np.array(rows, np.int64),
        low=np.array([node.whole[0] for node in nodes], np.int64),
        high=np.array([node.whole[1] for node in nodes], np.int64),
        least=np.array([node.real[0] for node in nodes], np.float64),
        most=np.array([node.real[1] for node in nodes], np.float64),
        children=np.array(children, np.int64),
        below=np.array(below, np.int64),
        choices=np.array(choices, np.int64),
        follow=np.array(follow, np.int64),
        texts=np.frombuffer(bytes(texts) + bytes(PADDING), np.uint8).copy(),
    )


def _row(node: Node, first: int, key: int, choice: int, below: int) -> list[int]:
    """The numbers of a node, in the order of the column names above."""
    return [
        node.kind,
        node.nullable,
        first,
        len(node.children),
        node.open,
        key,
        len(node.key),
        0,
        0,
        *node.size,
        choice,
        len(node.choices),
        below,
        node.needed,
    ]


def _record_below(nodes: list[Node], number: int) -> list[int]:
    """A node and all that is null with it: the members of records, not the items of lists."""
    found = [number]
    if nodes[number].kind == RECORD:
        for child in nodes[number].children:
            found += _record_below(nodes, child)
    return found
