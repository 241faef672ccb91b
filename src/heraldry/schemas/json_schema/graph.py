"""What checking a value costs: which sub-schemas of a document apply to a value and its members.

The validator follows every reference anew, so that alternatives that lead on to one another cost
exponential time: in the length of a chain of them, or in the depth of the value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from heraldry.schemas.json_schema.document import Document
from heraldry.schemas.json_schema.pattern_size import size_of
from heraldry.schemas.parse import DEPTH_LIMIT, encode

FANOUT_LIMIT: Final = 10_000
"""How many sub-schemas may apply to one and the same value."""

CHAIN_LIMIT: Final = 100
"""How many references and alternatives may lead on to one another for one value."""

# Both bound the time spent on counting itself.
_BOUND_STEPS = 100_000
_COUNT_STEPS = 400_000

_ALTERNATIVES = frozenset(("anyOf", "oneOf"))
_BY_NAME = frozenset(("dependentSchemas", "dependencies", "patternProperties"))
_BESIDE = frozenset(
    ("allOf", "not", "if", "then", "else", "propertyNames", "dependentSchemas", "dependencies")
)
_EACH_MEMBER = frozenset(("patternProperties", "unevaluatedProperties"))
_EACH_ITEM = frozenset(("items", "additionalItems", "contains", "unevaluatedItems"))
_SIZED = ("properties", "required", "dependentRequired", "dependencies")
COMPARED: Final = 32
"""How many checks the comparison with one value of an enumeration may cost."""

# So many positions of a pattern cost as much as a check; a few cost next to nothing.
_POSITIONS, _FEW_POSITIONS = 5, 64


@dataclass(slots=True, eq=False)
class Node:
    """One sub-schema: what applies with it to the same value, and what to members and items.

    Of its cost ``weight`` is that of any check, ``told`` that of an error besides, and ``scan``
    and ``scan_names`` those of a character of a text or of the name of a member.
    """

    weight: int
    told: int = 0
    scan: int = 0
    scan_names: int = 0
    rank: int = -1
    beside: list[Node] = field(default_factory=list)
    alternatives: list[Node] = field(default_factory=list)
    members: dict[str, Node] = field(default_factory=dict)
    others: list[Node] = field(default_factory=list)
    each: list[Node] = field(default_factory=list)
    first: list[Node] = field(default_factory=list)
    items: list[Node] = field(default_factory=list)
    closure: dict[Node, int] | None = None

    @property
    def inner(self) -> bool:
        """Whether it looks into a value."""
        return bool(self.members or self.others or self.each or self.first or self.items)

    def scanning(self, value: Any) -> int:
        """What the patterns cost for a text or for the names of an object's members."""
        if isinstance(value, str):
            return self.scan * len(value)
        return self.scan_names * sum(map(len, value)) if isinstance(value, dict) else 0

    def at_member(self, key: str) -> list[Node]:
        """What applies to the member of a name."""
        named = self.members.get(key)
        return [*self.each, *(self.others if named is None else (named,))]


class Graph:
    """The sub-schemas that a schema may apply; ``fans_out`` where it must not be compiled.

    ``told`` says that an error may cost much more than the check that finds it.
    """

    def __init__(self, document: Document, schema: Any) -> None:
        self._document = document
        self._leaf = Node(1)
        self._known: dict[int, Node] = {0: self._leaf}
        self._kept: list[Any] = []  # so that no other object gets the same id
        self._order: list[Node] = []
        self.pattern_memory = 0
        self.root = self._node(schema)
        self._expand()
        self.fans_out = _tangled(list(self._known.values())) or not self._ranked()
        self.bounds = [] if self.fans_out else self._bounds()
        self.told = any(node.told for node in self._order)

    @property
    def bound(self) -> int:
        """The most sub-schemas that meet one path into a value of any depth that is allowed."""
        return self.bounds[-1]

    def _node(self, schema: Any) -> Node:
        if not isinstance(schema, Mapping):
            return self._leaf
        known = self._known.get(id(schema))
        if known is None:
            known = self._known[id(schema)] = Node(*_weights(schema), *self._scans(schema))
            self._kept.append(schema)
        return known

    def _scans(self, schema: Mapping[str, Any]) -> tuple[int, int]:
        if "pattern" not in schema and "patternProperties" not in schema:
            return 0, 0
        costs = []
        named = schema.get("patternProperties")
        for patterns in ([schema.get("pattern")], named if isinstance(named, Mapping) else ()):
            sizes = [size_of(one) for one in patterns if isinstance(one, str)]
            self.pattern_memory += sum(one.memory for one in sizes)
            positions = sum(one.positions for one in sizes)
            costs.append(positions // _POSITIONS if positions > _FEW_POSITIONS else 0)
        return costs[0], costs[1]

    def _expand(self) -> None:
        for schema in self._kept:  # grows while it is read
            self._link(schema, self._known[id(schema)])

    def _link(self, schema: Mapping[str, Any], node: Node) -> None:
        make = self._node
        node.beside = [make(part) for part in self._document.targets(schema)]
        for key, value in schema.items():
            if key in _BESIDE:
                node.beside += [make(part) for part in _parts(key, value)]
            elif key in _ALTERNATIVES:
                node.alternatives += [make(part) for part in _parts(key, value)]
            elif key == "properties" and isinstance(value, Mapping):
                node.members = {name: make(part) for name, part in value.items()}
            elif key == "additionalProperties":
                node.others.append(make(value))
            elif key in _EACH_MEMBER:
                node.each += [make(part) for part in _parts(key, value)]
            elif key == "prefixItems" or (key == "items" and isinstance(value, list)):
                node.first += [make(part) for part in _parts(key, value)]
            elif key in _EACH_ITEM:
                node.items.append(make(value))
        node.beside += node.alternatives

    def _ranked(self) -> bool:
        """Order what applies to the same value, the innermost first; False if that is too much."""
        if not all(self._rank(node) for node in self._known.values()):
            return False
        counts: dict[Node, int] = {}
        chains: dict[Node, int] = {}
        for node in self._order:
            counts[node] = 1 + sum(counts[part] for part in node.beside)
            chains[node] = 1 + max((chains[part] for part in node.beside), default=0)
            if counts[node] > FANOUT_LIMIT or chains[node] > CHAIN_LIMIT:
                return False
        return True

    def _rank(self, node: Node) -> bool:
        if node.rank >= 0:
            return True
        node.rank = len(self._known)  # being visited: what comes back to it is met only once
        path = [(node, iter(node.beside))]
        while path:
            one, rest = path[-1]
            for part in rest:
                if part.rank < 0:
                    if len(path) >= CHAIN_LIMIT:
                        return False
                    part.rank = len(self._known)
                    path.append((part, iter(part.beside)))
                    break
            else:
                one.rank = len(self._order)
                self._order.append(one)
                # The validator, too, stops where a schema comes back to itself.
                one.beside = [part for part in one.beside if part.rank < one.rank]
                path.pop()
        return True

    def _bounds(self) -> list[int]:
        """The most work on one path into a value, by the depth of the value."""
        busy = [node for node in self._order if node.beside or node.inner]
        edges = sum(1 + len(n.beside) + len(n.members) + len(n.first) for n in busy)
        below = {node: node.weight + node.scan + node.scan_names for node in self._order}
        below.update(dict.fromkeys(busy, 0))
        found: list[int] = []
        for depth in range(DEPTH_LIMIT + 1):
            if depth * edges > _BOUND_STEPS:
                return [*found, _NO_BOUND]
            level = _level(busy, below)
            found.append(level[self.root])
            if all(level[node] == below[node] for node in busy):
                return found
            if found[-1] > _NO_BOUND:
                return [*found, _NO_BOUND]
            below = level
        return found

    def work(self, value: Any, limit: int, *, explain: bool = False) -> int:
        """How much there is to check in a value; more than the limit where it is not counted."""
        total = steps = 0
        waiting: list[Iterator[tuple[Any, dict[Node, int]]]] = [iter([(value, {self.root: 1})])]
        while waiting:
            one, starts = next(waiting[-1], (None, None))
            if starts is None:
                waiting.pop()
                continue
            applied: dict[Node, int] = {}
            for start, times in starts.items():
                for node, count in _closure(start).items():
                    applied[node] = applied.get(node, 0) + times * count
            for node, times in applied.items():
                total += times * (node.weight + node.told if explain else node.weight)
                if node.scan or node.scan_names:
                    total += times * node.scanning(one)
            steps += 1 + len(starts) + len(applied)
            if total > limit or steps > _COUNT_STEPS:
                return limit + 1
            if isinstance(one, (dict, list)):
                waiting.append(_inside(one, applied))
        return total

    def explains_cheaply(self) -> bool:
        """Whether no alternative looks into a value, so that its errors are few."""
        parts = {part for node in self._order for part in node.alternatives}
        return not any(node.inner for part in parts for node in _closure(part))


_NO_BOUND = 10**15


def _level(busy: list[Node], below: dict[Node, int]) -> dict[Node, int]:
    """The most work on one path into a value that is one level deeper."""
    level = dict(below)
    for node in busy:
        here = node.weight + node.scan + node.scan_names
        here += sum(level[part] for part in node.beside)
        named = max((below[part] for part in node.members.values()), default=0)
        placed = max((below[part] for part in node.first), default=0)
        members = named + sum(below[part] for part in (*node.others, *node.each))
        items = placed + sum(below[part] for part in node.items)
        level[node] = min(here + max(members, items), 2 * _NO_BOUND)
    return level


def _tangled(nodes: list[Node]) -> bool:
    """Whether what applies to one value comes back to itself in more than one way."""
    left = {node: len(node.beside) for node in nodes}
    users: dict[Node, list[Node]] = {node: [] for node in nodes}
    for node in nodes:
        for part in node.beside:
            users[part].append(node)
    waiting = [node for node in nodes if not left[node]]
    while waiting:
        for user in users[waiting.pop()]:
            left[user] -= 1
            if not left[user]:
                waiting.append(user)
    # What is left leads into a cycle; once round is all that a value needs.
    return any(count > 1 for count in left.values())


def _closure(node: Node) -> dict[Node, int]:
    """What applies with a sub-schema to the same value, itself included, and how often."""
    if node.closure is None:
        ordered = [node]
        seen = {node}
        for one in ordered:  # grows while it is read
            fresh = [part for part in dict.fromkeys(one.beside) if part not in seen]
            seen.update(fresh)
            ordered.extend(fresh)
        counts = dict.fromkeys(ordered, 0)
        counts[node] = 1
        for one in sorted(ordered, key=lambda one: -one.rank):
            for part in one.beside:
                counts[part] += counts[one]
        node.closure = counts
    return node.closure


def _inside(value: Any, applied: dict[Node, int]) -> Iterator[tuple[Any, dict[Node, int]]]:
    """The members or items of a value, each with what is applied to it, and how often."""
    looking = [(node, times) for node, times in applied.items() if node.inner]
    if not looking:
        return
    if isinstance(value, dict):
        for key, member in value.items():
            parts = ((node.at_member(key), times) for node, times in looking)
            yield member, _summed(parts)
        return
    longest = max(len(node.first) for node, _ in looking)
    usual = _summed((node.items, times) for node, times in looking)
    for place, item in enumerate(value):
        if place < longest:
            parts = (([*node.first[place : place + 1], *node.items], n) for node, n in looking)
            yield item, _summed(parts)
        else:
            yield item, usual


def _summed(parts: Iterable[tuple[list[Node], int]]) -> dict[Node, int]:
    counts: dict[Node, int] = {}
    for nodes, times in parts:
        for node in nodes:
            counts[node] = counts.get(node, 0) + times
    return counts


def _weights(schema: Mapping[str, Any]) -> tuple[int, int]:
    """What a sub-schema itself costs, in checks of a plain keyword; and its errors besides."""
    sized = [schema[key] for key in _SIZED if key in schema]
    weight = 1 + sum(len(value) for value in sized if isinstance(value, (dict, list)))
    values = schema.get("enum")
    if not isinstance(values, list):
        values = []
    if "const" in schema:
        values = [*values, schema["const"]]
    kinds = set(map(type, values))
    if kinds in (set(), {str}, {int}):
        return weight, len(values) // 16  # looked up
    weight += COMPARED * len(values) + len(encode(values)) // 16
    return weight, 0


def _parts(key: str, value: Any) -> Iterable[Any]:
    """The schemas a keyword holds: by name, in a list, or one."""
    if key in _BY_NAME:
        parts = value.values() if isinstance(value, Mapping) else ()
        return [part for part in parts if not isinstance(part, list)]
    return value if isinstance(value, list) else (value,)
