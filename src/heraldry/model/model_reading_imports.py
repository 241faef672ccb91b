"""Resource types that a group type takes from others: ``ximportresources`` (MD-32)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from heraldry.model.metamodel import GroupType
from heraldry.model.model_reading_aspects import fault

_Pair = tuple[str, str]
_Imports = Mapping[str, Sequence[_Pair]]


def resolve_imports(
    groups: Mapping[str, GroupType], given: Mapping[str, list[Any]]
) -> dict[str, GroupType]:
    """The group types with what they import among their resources; chains are followed."""
    imports = {plural: [_pair(plural, ref) for ref in refs] for plural, refs in given.items()}
    return {plural: _with_imports(group, groups, imports) for plural, group in groups.items()}


def _pair(plural: str, reference: Any) -> _Pair:
    parts = reference.split("/") if isinstance(reference, str) else []
    if len(parts) != 3 or parts[0] or not parts[1] or not parts[2]:
        raise fault(f"groups.{plural} imports {reference!r}: use the form /GROUPS/RESOURCES")
    if parts[1] == plural:
        raise fault(f"groups.{plural} imports {reference!r}, which is its own")
    return parts[1], parts[2]


def _with_imports(
    group: GroupType, groups: Mapping[str, GroupType], imports: _Imports
) -> GroupType:
    resources, imported = dict(group.resources), {}
    for pair in imports[group.plural]:
        home = _home(pair, groups, imports)
        name = pair[1]
        if name in resources:
            raise fault(f"groups.{group.plural} imports {_show(pair)} but already has {name}")
        resources[name] = groups[home].resources[name]
        imported[name] = _show((home, name))
    return replace(group, resources=resources, imported=imported)


def _home(first: _Pair, groups: Mapping[str, GroupType], imports: _Imports) -> str:
    """The group type in which the resource type is defined."""
    seen: set[str] = set()
    plural, name = first
    while plural not in seen:
        seen.add(plural)
        if plural not in groups:
            break
        if name in groups[plural].resources:
            return plural
        onward = next((group for group, resource in imports[plural] if resource == name), "")
        if not onward:
            break
        plural = onward
    else:
        raise fault(f"the import of {_show(first)} is circular")
    raise fault(f"{_show(first)} is imported but not defined")


def _show(pair: _Pair) -> str:
    return f"/{pair[0]}/{pair[1]}"
