"""The names of group and resource types (MD-30, MD-40)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from heraldry.model.datatypes import NAME_FORM, is_name
from heraldry.model.metamodel import GroupType, ResourceType
from heraldry.model.model_reading_aspects import fault
from heraldry.model.spec_attributes import (
    META,
    RESOURCE,
    VERSION,
    collection_attributes,
    document_attributes,
    group_form,
    meta_form,
    registry_form,
)

_SHORT = 57
_LONG = 63
_PATHS = frozenset({"capabilitiesoffered", "export"})
"""What a registry has beside its attributes and groups (HT-00)."""


def check_group_names(groups: Mapping[str, GroupType]) -> None:
    """Names of group types are well-formed, and unique over plurals and singulars."""
    for plural, group in groups.items():
        _check_form(plural, _SHORT, f"the group type {plural!r}")
        _check_form(group.singular, _LONG, f"the singular of the group type {plural!r}")
    _check_unique(groups, "group types")
    _check_collections(groups, _PATHS.union(registry_form(()).all), "the registry")


def check_resource_names(group: GroupType) -> None:
    """Names of a group type's resource types, imported ones too, likewise."""
    for plural, resource in group.resources.items():
        where = f"of {group.plural}"
        _check_form(plural, _SHORT, f"the resource type {plural!r} {where}")
        _check_form(resource.singular, _SHORT, f"the singular of {plural!r} {where}")
        _check_own(resource)
    _check_unique(group.resources, f"resource types of {group.plural}")
    _check_collections(group.resources, group_form(group.singular, ()).all, group.plural)


def _check_form(name: str, longest: int, called: str) -> None:
    if not name:
        raise fault(f"{called} is missing")
    if not is_name(name) or len(name) > longest:
        form = NAME_FORM.replace("63", str(longest))
        raise fault(f"{called} is named {name!r}: it {form}")


def _check_unique(types: Mapping[str, GroupType] | Mapping[str, ResourceType], called: str) -> None:
    taken: set[str] = set(types)
    for plural, found in types.items():
        if found.singular in taken:
            raise fault(f"{called}: the singular {found.singular!r} of {plural!r} is taken")
        taken.add(found.singular)


def _check_collections(plurals: Iterable[str], spec: Iterable[str], owner: str) -> None:
    """A collection has three names among the attributes of its owner (A-10)."""
    taken = set(spec)
    for plural in plurals:
        names = collection_attributes([plural])
        _check_free(names, taken, f"the type {plural!r} of {owner}")
        taken.update(names)


def _check_own(resource: ResourceType) -> None:
    """The id and the document have names made of the singular."""
    singular = resource.singular
    called = f"the singular {singular!r}"
    meta = {*META, *meta_form("").tail}
    spec = {*VERSION, *RESOURCE, *collection_attributes(["versions"])}
    _check_free([f"{singular}id"], spec | meta, called)
    if resource.hasdocument:
        _check_free(document_attributes(singular), spec, called)


def _check_free(names: Iterable[str], taken: Iterable[str], called: str) -> None:
    for name in names:
        if name in taken:
            raise fault(f"{called} cannot be: {name!r} already means something else there")
