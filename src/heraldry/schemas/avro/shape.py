"""How large the values of a schema are: what keeps decoding, columns and samples within bounds."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Final

from heraldry.schemas.avro.nodes import (
    Array,
    FixedBytes,
    Map,
    Primitive,
    Record,
    Resolved,
    Schema,
    Type,
    Union,
)

DEPTH_LIMIT: Final = 64
"""How deeply types may be nested in one another, where they do not come back to themselves."""

PART_LIMIT: Final = 10_000
"""How many parts the smallest value of a schema may have."""

PARTS_PER_BYTE: Final = 4
"""How many parts of a value one byte of a payload may stand for."""

ENDLESS: Final = 1 << 30
"""The size of a value that has no end."""

_WIDTHS = {"null": 0, "float": 4, "double": 8}


class Shape:
    """Measures of the types of one schema, each by the type and computed once."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._order = _inside_out(schema)
        self.recursive = self._order is None
        self._least = _least_parts(schema)

    def least(self, type_: Type) -> int:
        """The parts of the smallest value; ENDLESS if it has none."""
        return self._least.get(id(self._schema.resolve(type_)), ENDLESS)

    @property
    def depth(self) -> int:
        """How deeply types are nested, as they are written or as they are used."""
        depths: dict[int, int] = {}
        for node in self._order or ():
            inside = (self._schema.resolve(child) for child in self._schema.children(node))
            depths[id(node)] = 1 + max((depths[id(child)] for child in inside), default=0)
        return max(depths.values(), default=_nesting(self._schema))

    @property
    def dense(self) -> bool:
        """Whether a short payload may stand for a value out of proportion."""
        parts: dict[int, tuple[int, int]] = {}
        for node in self._order or ():
            inside = [parts[id(self._schema.resolve(c))] for c in self._schema.children(node)]
            parts[id(node)] = _parts(node, inside)
            if isinstance(node, (Array, Map)):
                most, width = inside[0]
                if most > PARTS_PER_BYTE * (width + isinstance(node, Map)):
                    return True
        top = parts.get(id(self._schema.resolve(self._schema.top)), (0, 0))
        return top[0] > PART_LIMIT


def _least_parts(schema: Schema) -> dict[int, int]:
    """The parts of the smallest value of each type that has one, from small to large."""
    nodes = {id(node): node for node in _reachable(schema)}
    users: dict[int, list[int]] = {key: [] for key in nodes}
    missing: dict[int, int] = {}
    for key, node in nodes.items():
        inside = schema.children(node) if isinstance(node, (Record, Union)) else ()
        missing[key] = len(inside)
        for child in inside:
            users[id(schema.resolve(child))].append(key)
    sizes = dict.fromkeys(nodes, 1)
    ready = [(1, key) for key, node in nodes.items() if not missing[key] and _is_ready(node)]
    least: dict[int, int] = {}
    while ready:
        size, key = heappop(ready)
        if key in least:
            continue
        least[key] = size
        for user in users[key]:
            missing[user] -= 1
            sizes[user] = min(sizes[user] + size, ENDLESS)
            if isinstance(nodes[user], Union):
                heappush(ready, (size, user))
            elif not missing[user]:
                heappush(ready, (sizes[user], user))
    return least


def _nesting(schema: Schema) -> int:
    """How deeply types are nested where each is written at its first use."""
    deepest = 0
    seen: set[int] = set()
    waiting = [(schema.top, 1)]
    while waiting:
        type_, depth = waiting.pop()
        node = schema.resolve(type_)
        if id(node) not in seen:
            seen.add(id(node))
            deepest = max(deepest, depth)
            waiting += [(child, depth + 1) for child in reversed(schema.children(node))]
    return deepest


def _is_ready(node: Resolved) -> bool:
    return not isinstance(node, Union)


def _parts(node: Resolved, inside: list[tuple[int, int]]) -> tuple[int, int]:
    """The most parts and the fewest bytes of a value, apart from what is in lists and maps."""
    if isinstance(node, Record):
        return 1 + sum(most for most, _ in inside), sum(width for _, width in inside)
    if isinstance(node, Union):
        most = max((most for most, _ in inside), default=0)
        return most, 1 + min((width for _, width in inside), default=0)
    if isinstance(node, FixedBytes):
        return 1, node.size
    return 1, _WIDTHS.get(node.kind, 1) if isinstance(node, Primitive) else 1


def _reachable(schema: Schema) -> list[Resolved]:
    """Every type that values may have."""
    found: dict[int, Resolved] = {}
    waiting = [schema.top]
    while waiting:
        node = schema.resolve(waiting.pop())
        if id(node) not in found:
            found[id(node)] = node
            waiting += schema.children(node)
    return list(found.values())


def _inside_out(schema: Schema) -> list[Resolved] | None:
    """Every type after those inside it; None where a type is inside itself."""
    order: list[Resolved] = []
    state: dict[int, bool] = {}  # False while what is inside is on its way
    waiting = [(schema.resolve(schema.top), False)]
    while waiting:
        node, done = waiting.pop()
        if done:
            state[id(node)] = True
            order.append(node)
        elif id(node) not in state:
            state[id(node)] = False
            waiting.append((node, True))
            inside = [schema.resolve(child) for child in schema.children(node)]
            if any(state.get(id(child)) is False for child in inside):
                return None
            waiting += [(child, False) for child in inside if id(child) not in state]
    return order
