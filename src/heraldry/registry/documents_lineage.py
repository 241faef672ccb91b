"""Which versions of a resource must be compared again, and with which of their ancestors (ME-06).

A pair of versions that was compared before, and of which nothing changed, is not compared again:
one new version costs one comparison per ancestor, however many versions there are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from heraldry.registry.draft import ResourceDraft


@dataclass(frozen=True, slots=True, kw_only=True)
class Lineages:
    """The ancestors of versions, now and when they were last compared."""

    is_transitive: bool
    documents: frozenset[str]
    """The versions whose format or document is another than before; those that are new."""
    parents: Mapping[str, str]
    """By version: its ancestor; its own id for a root."""
    former_parents: Mapping[str, str]

    def to_compare(self) -> set[str]:
        """The versions that changed, or of which an ancestor did that counts."""
        pairs = self.parents.items()
        changed = self.documents | {id for id, _ in pairs - self.former_parents.items()}  # noqa: A001
        children = defaultdict(list)
        for id, parent in pairs:  # noqa: A001
            children[parent].append(id)
        affected: set[str] = set()
        waiting = list(changed)
        while waiting:
            id = waiting.pop()  # noqa: A001
            if id not in affected:
                affected.add(id)
                # Without "transitive" a change counts for those that follow it at once.
                waiting += children[id] if self.is_transitive or id in changed else ()
        return affected

    def ancestors(self, id: str) -> list[str]:  # noqa: A002
        """What a version must go with, the nearest first."""
        return self._ancestors(self.parents, id)

    def new_ancestors(self, id: str) -> list[str]:  # noqa: A002
        """Those of its ancestors that an unchanged version was not compared with before."""
        former = frozenset(self._ancestors(self.former_parents, id))
        return [
            ancestor
            for ancestor in self.ancestors(id)
            if ancestor in self.documents or ancestor not in former
        ]

    def _ancestors(self, parents: Mapping[str, str], id: str) -> list[str]:  # noqa: A002
        path: list[str] = []
        while (parent := parents.get(id, id)) != id:
            path.append(parent)
            if not self.is_transitive:
                break
            id = parent  # noqa: A001
        return path


def lineages(draft: ResourceDraft, mode: str, documents: Collection[str]) -> Lineages:
    """The lineages of a resource under a compatibility; ``documents``: which versions changed."""
    before = [*draft.versions.values(), *draft.removed]
    return Lineages(
        is_transitive=mode.lower().endswith("_transitive"),
        documents=frozenset(documents),
        parents={version.id: version.values["ancestorid"] for version in draft.versions.values()},
        former_parents={
            version.id: version.old.attributes["ancestorid"]
            for version in before
            if version.old is not None
        },
    )
