"""The values of a JSON text with the bytes each stands in, so that one can be cut out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import msgspec

_TOKEN = re.compile(rb'[ \t\r\n]*("(?:[^"\\]|\\.)*+"|[{}\[\]:,]|[^ \t\r\n{}\[\]:,"]+)', re.DOTALL)


@dataclass(slots=True, eq=False)
class Node:
    """One value: ``name`` is its member's, None within a list; bytes from ``start`` to ``end``."""

    kind: str
    name: str | None
    parent: Node | None
    start: int
    end: int = 0
    text: str | None = None
    children: list[Node] = field(default_factory=list)

    @property
    def is_text(self) -> bool:
        """Whether it is a string."""
        return self.kind == '"'

    @property
    def is_list(self) -> bool:
        """Whether it is an array."""
        return self.kind == "["

    @property
    def is_number(self) -> bool:
        """Whether it is a number."""
        return self.kind in "-0123456789"

    @property
    def is_bytes(self) -> bool:
        """Whether it is ``{"base64": ...}``, as bytes stand in a line."""
        return self.kind == "{" and [child.name for child in self.children] == ["base64"]

    def named_values(self) -> Iterator[tuple[str, Node]]:
        """Names and values of ``{"name": ..., "value": ...}``, as lists of headers hold them.

        Where either is given twice, every name goes with every value: readers differ.
        """
        if self.name is None:
            names = [child.text for child in self.children if child.name == "name"]
            values = [child for child in self.children if child.name == "value"]
            yield from ((name, value) for name in names if name is not None for value in values)

    def within(self) -> Iterator[Node]:
        """All values in it, at any depth."""
        todo = [*self.children]
        while todo:
            node = todo.pop()
            yield node
            todo += node.children

    def leaves(self) -> Iterator[Node]:
        """All values in it that hold no others, or itself."""
        return (node for node in (self, *self.within()) if node.kind not in "{[")


def spans(data: bytes) -> Node:
    """The tree of a text that is known to be JSON."""
    open_node: Node | None = None
    name: str | None = None
    last: Node | None = None
    at = 0
    while (token := _TOKEN.match(data, at)) is not None:
        start, at = token.span(1)
        kind = chr(data[start])
        if kind in ",:":
            continue
        if kind in "}]" and open_node is not None:
            open_node.end = at
            last, open_node = open_node, open_node.parent
            continue
        if kind == '"' and open_node is not None and open_node.kind == "{" and name is None:
            name = msgspec.json.decode(data[start:at], type=str)
            continue
        last = Node(kind, name, open_node, start, at)
        if kind == '"':
            last.text = msgspec.json.decode(data[start:at], type=str)
        name = None
        if open_node is not None:
            open_node.children.append(last)
        if kind in "{[":
            open_node = last
    assert last is not None  # the text holds a value
    return last
