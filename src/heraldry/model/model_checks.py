"""From one model to the next: what may not change, and whom a change concerns (MD-05, MD-30)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from heraldry.model.metamodel import Described, GroupType, Model, ResourceType
from heraldry.model.model_reading_aspects import fault


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChange:
    """The entity types that a change of the model can concern, as rows name them."""

    registry: bool
    groups: frozenset[str]
    """``dirs``: types that stay, whose groups must be checked again."""
    resources: frozenset[str]
    """``dirs/files``: types that stay, whose resources and versions must be checked again."""
    removed: frozenset[str]
    """``dirs`` or ``dirs/files``: types that are gone; their entities must be gone, too."""


def check_change(old: Model, new: Model) -> None:
    """``model_error`` where a change is not allowed whatever the entities are: singular names."""
    for plural, group in new.groups.items():
        before = old.groups.get(plural)
        if before is None:
            continue
        _check_singular(f"group type {plural}", before.singular, group.singular)
        for name in group.resources.keys() & before.resources.keys():
            was, becomes = before.resources[name].singular, group.resources[name].singular
            _check_singular(f"resource type {plural}/{name}", was, becomes)


def _check_singular(called: str, old: str, new: str) -> None:
    if new != old:
        raise fault(f"the singular of the {called} must stay {old!r}")


def model_change(old: Model, new: Model) -> ModelChange:
    """Which types must be checked when ``new`` replaces ``old``.

    How a type came into the model (local, included, imported) makes no difference (MD-06). Where
    a type is gone, xids anywhere may have lost their meaning: everything is concerned.
    """
    before, after = _resources(old), _resources(new)
    gone = (old.groups.keys() - new.groups.keys()) | (before.keys() - after.keys())
    groups = {
        plural
        for plural in old.groups.keys() & new.groups.keys()
        if gone or _own(old.groups[plural]) != _own(new.groups[plural])
    }
    resources = {
        name
        for name in before.keys() & after.keys()
        if gone or name.partition("/")[0] in groups or _bare(before[name]) != _bare(after[name])
    }
    return ModelChange(
        registry=bool(gone) or old.attributes != new.attributes,
        groups=frozenset(groups),
        resources=frozenset(resources),
        removed=frozenset(gone),
    )


def _resources(model: Model) -> Mapping[str, ResourceType]:
    return {
        f"{plural}/{name}": resource
        for plural, group in model.groups.items()
        for name, resource in group.resources.items()
    }


def _own(group: GroupType) -> object:
    """What the groups of a type and, by constraints, their resources depend on."""
    return group.attributes, group.constraints


def _bare(resource: ResourceType) -> ResourceType:
    return replace(resource, about=Described())
