"""Routes: which of many topics, subjects or paths with placeholders a text may fit.

Templates with a segment that few others have are found by that segment. The others stand in a
tree of segments, one for each number of segments.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

Segments = tuple[str | None, ...]
"""The segments of a template; None is one with a placeholder, hence any text."""

FEW = 4
"""A segment that at most so many templates have tells enough; a tree need not be walked."""


@dataclass(slots=True)
class Node:
    """One level of a tree of segments."""

    literal: dict[str, Node] = field(default_factory=dict)
    wild: Node | None = None
    here: list[int] = field(default_factory=list)


class Routes:
    """Finds the templates of one property; positions are those of the definitions."""

    def __init__(self, separator: str, filed: Sequence[tuple[Segments, int]]) -> None:
        self._separator = separator
        self._rare: dict[int, dict[int, dict[str, list[tuple[Segments, int]]]]] = {}
        self.trees: dict[int, Node] = {}
        counts = Counter(
            (len(segments), place, part)
            for segments, _ in filed
            for place, part in enumerate(segments)
        )
        for segments, position in filed:
            size = len(segments)
            literal = [(place, part) for place, part in enumerate(segments) if part is not None]
            rarest = min(literal, key=lambda one: counts[size, *one], default=None)
            if rarest is None or counts[size, *rarest] > FEW:
                self._plant(segments, position)
                continue
            place, part = rarest
            told = self._rare.setdefault(size, {}).setdefault(place, {})
            told.setdefault(part, []).append((segments, position))

    def _plant(self, segments: Segments, position: int) -> None:
        node = self.trees.setdefault(len(segments), Node())
        for part in segments:
            if part is None:
                node.wild = node.wild or Node()
                node = node.wild
            else:
                node = node.literal.setdefault(part, Node())
        node.here.append(position)

    def find(self, text: str) -> list[int]:
        """The templates whose literal segments are those of a text."""
        parts = text.split(self._separator)
        found: list[int] = []
        for place, told in self._rare.get(len(parts), {}).items():
            found += [
                position
                for segments, position in told.get(parts[place], ())
                if all(own in (None, part) for own, part in zip(segments, parts, strict=True))
            ]
        tree = self.trees.get(len(parts))
        nodes = [] if tree is None else [tree]
        for part in parts:
            if not nodes:
                break
            nodes = [
                child
                for node in nodes
                for child in (node.literal.get(part), node.wild)
                if child is not None
            ]
        for node in nodes:
            found += node.here
        return found
