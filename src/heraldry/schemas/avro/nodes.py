"""The types of an Avro schema as frozen values; a named type is referred to by its full name.

``at`` is the JSON pointer to where a type is written, behind the name of the document and ``#``
where that is another one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

PRIMITIVES: Final = frozenset(
    ("null", "boolean", "int", "long", "float", "double", "bytes", "string")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Logical:
    """A logical type that is known, and valid on the type that carries it."""

    name: str
    precision: int = 0
    scale: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Primitive:
    """One of PRIMITIVES."""

    kind: str
    at: str
    logical: Logical | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Array:
    """A list of items."""

    items: Type
    at: str
    kind: Literal["array"] = "array"
    logical: None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Map:
    """A map from text to values."""

    values: Type
    at: str
    kind: Literal["map"] = "map"
    logical: None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Union:
    """One of several types; never a union in a union."""

    branches: tuple[Type, ...]
    at: str
    kind: Literal["union"] = "union"
    logical: None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedBytes:
    """A fixed number of bytes."""

    name: str
    aliases: frozenset[str]
    size: int
    at: str
    logical: Logical | None = None
    kind: Literal["fixed"] = "fixed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Enum:
    """One of several symbols; ``default`` stands for those a reader does not know."""

    name: str
    aliases: frozenset[str]
    symbols: tuple[str, ...]
    default: str | None
    at: str
    kind: Literal["enum"] = "enum"
    logical: None = None
    positions: Mapping[str, int] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        positions = {symbol: number for number, symbol in enumerate(self.symbols)}
        object.__setattr__(self, "positions", positions)


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A field of a record; its ``default`` counts only where it ``has_default``."""

    name: str
    aliases: tuple[str, ...]
    type: Type
    has_default: bool
    default: Any
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A record (or an error) of fields in this order."""

    name: str
    aliases: frozenset[str]
    fields: tuple[Field, ...]
    at: str
    kind: Literal["record"] = "record"
    logical: None = None
    named: Mapping[str, Field] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "named", {one.name: one for one in self.fields})


@dataclass(frozen=True, slots=True, kw_only=True)
class Ref:
    """A named type that is defined elsewhere."""

    name: str


Named = FixedBytes | Enum | Record
Resolved = Primitive | Array | Map | Union | Named
Type = Resolved | Ref


@dataclass(frozen=True, slots=True)
class Schema:
    """A type and the named types it may refer to, by full name."""

    top: Type
    named: Mapping[str, Named]

    def resolve(self, type_: Type) -> Resolved:
        """The type itself, where its name may be given."""
        return self.named[type_.name] if isinstance(type_, Ref) else type_

    def children(self, type_: Type) -> tuple[Type, ...]:
        """The types directly inside a type."""
        node = self.resolve(type_)
        if isinstance(node, Record):
            return tuple(field.type for field in node.fields)
        if isinstance(node, Union):
            return node.branches
        if isinstance(node, Array):
            return (node.items,)
        return (node.values,) if isinstance(node, Map) else ()


def tag(node: Resolved) -> str:
    """How the JSON encoding names a branch of a union."""
    return node.name if isinstance(node, Named) else node.kind


def simple(name: str) -> str:
    """A full name without its namespace."""
    return name.rpartition(".")[2]
