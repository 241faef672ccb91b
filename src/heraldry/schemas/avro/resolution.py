"""Schema resolution: whether what is written with one schema can be read with another."""

from __future__ import annotations

from typing import Final

from heraldry.schemas.avro.nodes import (
    Array,
    Enum,
    Field,
    FixedBytes,
    Map,
    Named,
    Primitive,
    Record,
    Resolved,
    Schema,
    Type,
    Union,
    simple,
)
from heraldry.schemas.changes import Effect

_PROMOTIONS = {
    ("int", "long"),
    ("int", "float"),
    ("int", "double"),
    ("long", "float"),
    ("long", "double"),
    ("float", "double"),
    ("string", "bytes"),
    ("bytes", "string"),
}
PAIR_LIMIT: Final = 20_000
"""How many pairs of types are looked at in one direction; more are undecided."""

_ORDER: tuple[Effect, ...] = ("safe", "undecided", "breaking")


def worst(*effects: Effect) -> Effect:
    """The worst of some effects; none are safe."""
    return max(effects, key=_ORDER.index, default="safe")


def names_match(reader: Named, writer: Named) -> bool:
    """Whether a named type may be read as another: by the last part of its name, or by an alias.

    An alias is a full name, in the namespace of the type unless it has one of its own.
    """
    return simple(reader.name) == simple(writer.name) or writer.name in reader.aliases


def field_of(reader: Field, writer: Record) -> Field | None:
    """The field that a reader's field is read from: the one of its name, or else of an alias."""
    names = (reader.name, *reader.aliases)
    return next((writer.named[name] for name in names if name in writer.named), None)


def logical_effect(reader: Resolved, writer: Resolved) -> Effect:
    """What different logical types do to the meaning of what is read."""
    read, written = reader.logical, writer.logical
    if read is None or read == written:
        return "safe"
    if written is None:
        # Whether the plain values were meant so, no schema says.
        return "undecided"
    if read.name == written.name and read.scale == written.scale:
        return "safe" if read.precision >= written.precision else "breaking"
    return "breaking"


class Resolution:
    """The effects of reading with one schema what another one wrote, pair by pair of types.

    Types may come back to themselves: every pair counts as safe until it is found not to be, and
    all are looked at again until nothing changes.
    """

    def __init__(self, reader: Schema, writer: Schema) -> None:
        self._reader = reader
        self._writer = writer
        self._known: dict[tuple[int, int], Effect] = {}
        self._visited: set[tuple[int, int]] = set()
        self._settled: set[tuple[int, int]] = set()
        self._changed = False
        self._branches: dict[int, list[tuple[Type, Resolved]]] = {}

    def effect(self, reader: Type, writer: Type) -> Effect:
        """What happens to values of the writer's type where the reader's is expected."""
        while True:
            self._changed = False
            self._visited.clear()
            effect = self._pair(reader, writer)
            if not self._changed:
                self._settled |= self._visited
                return effect

    def _pair(self, reader: Type, writer: Type) -> Effect:
        read, written = self._reader.resolve(reader), self._writer.resolve(writer)
        key = (id(read), id(written))
        if key in self._visited or key in self._settled:
            return self._known.get(key, "safe")
        if len(self._settled) + len(self._visited) >= PAIR_LIMIT:
            return "undecided"
        self._visited.add(key)
        known = self._known.get(key, "safe")
        effect = worst(known, self._computed(read, written))
        if effect != known:
            self._known[key] = effect
            self._changed = True
        return effect

    def _computed(self, reader: Resolved, writer: Resolved) -> Effect:
        if isinstance(writer, Union):
            return worst(*(self._pair(reader, branch) for branch in writer.branches))
        if isinstance(reader, Union):
            found = [self._pair(branch, writer) for branch in self.candidates(reader, writer)]
            if not found:
                return "breaking"
            # Libraries differ in which of several they take.
            return found[0] if len(set(found)) == 1 else "undecided"
        if isinstance(reader, Record) and isinstance(writer, Record):
            return self._records(reader, writer)
        if isinstance(reader, Array) and isinstance(writer, Array):
            return self._pair(reader.items, writer.items)
        if isinstance(reader, Map) and isinstance(writer, Map):
            return self._pair(reader.values, writer.values)
        return plain_effect(reader, writer)

    def _records(self, reader: Record, writer: Record) -> Effect:
        if not names_match(reader, writer):
            return "breaking"
        effects: list[Effect] = []
        for field in reader.fields:
            source = field_of(field, writer)
            if source is not None:
                effects.append(self._pair(field.type, source.type))
            elif not field.has_default:
                effects.append("breaking")
        return worst(*effects)

    def candidates(self, reader: Union, writer: Resolved) -> list[Type]:
        """The types of a reader's union that may be taken for a type: the same, or else others."""
        branches = self._branches.get(id(reader))
        if branches is None:
            branches = [(branch, self._reader.resolve(branch)) for branch in reader.branches]
            self._branches[id(reader)] = branches
        same = [branch for branch, node in branches if _is_same(node, writer)]
        return same or [branch for branch, node in branches if _matches(node, writer)]


def plain_effect(reader: Resolved, writer: Resolved) -> Effect:
    """The effect for types that are neither records, lists, maps nor unions."""
    if not _matches(reader, writer):
        return "breaking"
    if isinstance(reader, Enum) and isinstance(writer, Enum):
        known = reader.default is not None or writer.positions.keys() <= reader.positions.keys()
        return "safe" if known else "breaking"
    if isinstance(reader, FixedBytes) and isinstance(writer, FixedBytes):
        same = reader.size == writer.size
        return logical_effect(reader, writer) if same else "breaking"
    if writer.kind == "bytes" and reader.kind == "string":
        # Allowed, but whether the bytes are UTF-8, no schema says.
        return worst("undecided", logical_effect(reader, writer))
    return logical_effect(reader, writer)


def _is_same(reader: Resolved, writer: Resolved) -> bool:
    if reader.kind != writer.kind:
        return False
    return not (isinstance(reader, Named) and isinstance(writer, Named)) or (
        reader.name == writer.name
    )


def _matches(reader: Resolved, writer: Resolved) -> bool:
    if isinstance(reader, Named) and isinstance(writer, Named):
        return reader.kind == writer.kind and names_match(reader, writer)
    if isinstance(reader, Primitive) and isinstance(writer, Primitive):
        return reader.kind == writer.kind or (writer.kind, reader.kind) in _PROMOTIONS
    return reader.kind == writer.kind
