"""What is left of a filter on the way down the tree (FL-36..FL-38, CO-05).

Which entities survive, the store says once for a whole request. Here is what the addresses of
nested collections must still ask for: expressions about an entity that is shown are settled.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from heraldry.registry.filtering import Alternatives, Criteria, Expression
from heraldry.registry.filtering_values import holds

if TYPE_CHECKING:
    from heraldry.store.query import Filter, Leaves
    from heraldry.store.rows import Row

Facts = Mapping[str, Mapping[str, Any]]
"""What terms ask about one entity, by their level."""

_SAFE: Final = "=.*!'()~:@/?-_$;"
_EVERYTHING: Final[Alternatives] = ((),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The filter as it is at one entity."""

    filtered: bool
    """Whether the request has a filter at all."""
    alternatives: Alternatives
    """What is still to be asked; one that asks nothing lets everything pass."""
    leaves: Leaves | None = None
    """Who survives in the whole reply; ``None``: everybody."""

    @property
    def passes_all(self) -> bool:
        """Whether everything below this entity survives."""
        return not all(self.alternatives)

    @property
    def question(self) -> Filter:
        """What a store is asked."""
        return tuple(tuple(one.term for one in group) for group in self.alternatives)

    @property
    def groups(self) -> frozenset[int] | None:
        """The keys of the groups that survive; ``None``: all."""
        return None if self.leaves is None else self.leaves.groups

    @property
    def resources(self) -> frozenset[int] | None:
        """The keys of the resources that survive; ``None``: all."""
        return None if self.leaves is None else self.leaves.resources

    @property
    def versions(self) -> frozenset[int] | None:
        """The keys of the versions that survive; ``None``: all."""
        return None if self.leaves is None else self.leaves.versions

    def settled(self, place: tuple[str, ...], facts: Facts) -> Scope:
        """The filter below an entity: what it satisfies itself need not be asked again."""
        if not self.filtered or self.alternatives is _EVERYTHING:
            return self
        left = []
        for group in self.alternatives:
            rest = _rest(group, place, facts)
            if rest is not None:
                left.append(rest)
        return replace(self, alternatives=tuple(left) if all(left) else _EVERYTHING)

    def query(self, place: tuple[str, ...], count: int) -> str:
        """What the address of a collection in this entity ends with (CO-05, FL-38)."""
        if not self.filtered:
            return ""
        left = [
            [_relative(one, place) for one in group]
            for group in self.alternatives
            if all(one.place[: len(place)] == place for one in group)
        ]
        if count == 0 or not left:
            return "?filter=excludeall"
        if not all(left):
            return ""
        return "?" + "&".join("filter=" + ",".join(group) for group in left)


UNFILTERED: Final = Scope(filtered=False, alternatives=_EVERYTHING)


def scope_of(criteria: Criteria | None) -> Scope:
    """The filter of a request, before anything is settled."""
    if criteria is None:
        return UNFILTERED
    return Scope(filtered=True, alternatives=criteria.alternatives)


def row_facts(row: Row | None) -> dict[str, Any]:
    """What terms can ask about a row; nothing where there is none."""
    if row is None:
        return {}
    return {**row.attributes, "#id": row.id, "#xid": row.xid}


def resource_facts(row: Row, default: Row | None) -> Facts:
    """What terms can ask about a resource: itself and its default version."""
    alias = row_facts(default)
    if alias:
        alias["#isdefault"] = True
    return {"meta": row_facts(row), "resource": alias}


def version_facts(row: Row, resource: Row) -> Facts:
    """What terms can ask about a version."""
    own = {**row_facts(row), "#isdefault": row.key == resource.default}
    return {"version": own, "meta": row_facts(resource)}


def _rest(
    group: tuple[Expression, ...], place: tuple[str, ...], facts: Facts
) -> tuple[Expression, ...] | None:
    """The expressions about what is below a place; ``None``: nothing there can satisfy all."""
    rest = []
    for one in group:
        if one.place == place:
            if not holds(one.term, facts[one.term.level]):
                return None
        elif one.place[: len(place)] == place:
            rest.append(one)
        else:
            return None
    return tuple(rest)


def _relative(one: Expression, place: tuple[str, ...]) -> str:
    below = "".join(f"{name}." for name in one.place[len(place) :])
    return quote(below + one.text, safe=_SAFE)
