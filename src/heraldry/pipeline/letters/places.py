"""Where reasons stand in a line, and which of these places were masked."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from heraldry.pipeline.letters.contents import Contents, spellings
from heraldry.pipeline.letters.json_spans import Node

MASK = "***"
_ATTRIBUTE = re.compile(r"attributes\.[a-z0-9]+")
_PREFIXES = ("", "ce-", "ce_", "cloudevents:", "cloudevents_")
"""What stands before the name of an attribute in the headers of each protocol."""
_INDEX = re.compile(r"0|[1-9][0-9]{0,8}")

Found = tuple[int, bool, bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """The places of a line; no path goes on below a ``hidden`` value.

    ``names`` are those of the members within hidden values.
    """

    contents: Contents
    hidden: frozenset[Node]
    names: frozenset[str]

    def shown(self, path: str) -> tuple[str, bool]:
        """A path without the names that were masked, and whether the place was masked."""
        if path.startswith("/"):
            return self._pointer(path)
        sections = path.split(".", 2 if path.startswith("metadata.") else 1)
        if sections[0] == "attributes" and len(sections) > 1:
            hidden = any(self._hides(node) for node in self._attribute(sections[1].lower()))
            return (attribute(path) if sections[1] in self.names else path), hidden
        seen = [message for message in self.contents.messages if not self._hides(message)]
        depth, hidden, _ = self._walk(seen, sections, _named)
        return (".".join(sections[:depth]) if hidden else path), hidden

    def _pointer(self, path: str) -> tuple[str, bool]:
        """A pointer into a payload, whichever of the line it is; formats may spell names anew."""
        steps = path.split("/")[1:] if path != "/" else []
        names = [step.replace("~1", "/").replace("~0", "~") for step in steps]
        known = False
        for payload in self.contents.payloads:
            depth, hidden, whole = self._walk((payload,), names, _at)
            if hidden:
                return "/" + "/".join(steps[:depth]), True
            known = known or whole
        if known or self.names.isdisjoint(names):
            return path, False
        shown = (
            MASK if name in self.names else step for step, name in zip(steps, names, strict=True)
        )
        return "/" + "/".join(shown), True

    def _walk(
        self,
        nodes: Sequence[Node],
        names: Sequence[str],
        follow: Callable[[Node, str], Iterator[Node]],
    ) -> Found:
        """How far names lead, whether that is a hidden value, and whether they all lead on."""
        for depth, name in enumerate((None, *names)):
            if name is not None:
                nodes = [found for node in nodes for found in follow(node, name)]
            if any(self._hides(node) for node in nodes):
                return depth, True, False
            if not nodes:
                return depth, False, False
        return len(names), False, True

    def _attribute(self, name: str) -> Iterator[Node]:
        """The values an attribute may come from: members of an event, or headers."""
        headers = {prefix + name for prefix in _PREFIXES}
        for message in self.contents.messages:
            yield from _named(message, name)
            for metadata in _named(message, "metadata"):
                for section in metadata.children:
                    for header in headers:
                        yield from _named(section, header)

    def _hides(self, node: Node | None) -> bool:
        while node is not None and node not in self.hidden:
            node = node.parent
        return node is not None


def attribute(path: str) -> str:
    """The path of an attribute with a name that attributes have; any other name is left out."""
    return path if _ATTRIBUTE.fullmatch(path) else "attributes"


def _at(node: Node, name: str) -> Iterator[Node]:
    """The values one step of a pointer leads to; of equal names all."""
    if not node.is_list:
        yield from (child for child in node.children if child.name == name)
    elif _INDEX.fullmatch(name):
        yield from node.children[int(name) : int(name) + 1]


def _named(node: Node, name: str) -> Iterator[Node]:
    """The members with a name, however spelled, and the values with that name in a list."""
    folded = name.lower()
    for child in node.children:
        if folded in spellings(child):
            yield child
        yield from (value for given, value in child.named_values() if given.lower() == folded)
