"""Which attribute names a write may give, at each level: known once per model and type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from heraldry.model.metamodel import Attributes, GroupType, ResourceType

if TYPE_CHECKING:
    from heraldry.registry.unit import Unit

_LINKS = ("self", "shortself", "xid")
_RESOURCE_ONLY = ("metaurl", "versionsurl", "versionscount")


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """The names of one kind of entity."""

    attributes: Attributes
    computed: frozenset[str]
    """Made by the server and never stored: requests may hold them, to no effect (CO-02)."""
    readonly: frozenset[str]
    """Stored, but never taken from a request (GN-08)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupNames:
    """The names of a group type."""

    type: GroupType
    id: str
    own: Names


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceNames:
    """The names of a resource type: of its versions and its meta entities."""

    group: GroupType
    type: ResourceType
    path: str
    """``dirs/files``."""
    id: str
    version: Names
    meta: Names
    documents: tuple[str, ...]
    """The attributes that hold a document, or say where it is (DO-01, DO-02); none: DO-11."""


def registry_names(unit: Unit) -> Names:
    """Of the registry itself."""
    if unit.registry_names is None:
        model = unit.model
        own = ("specversion", "registryid", "capabilities", "model", "modelsource", *_LINKS)
        unit.registry_names = _names(model.attributes, (*own, *_collections(tuple(model.groups))))
    return unit.registry_names


def group_names(unit: Unit, type: GroupType) -> GroupNames:  # noqa: A002
    """Of a group type."""
    found = unit.group_names.get(type.plural)
    if found is None:
        id = f"{type.singular}id"  # noqa: A001
        computed = (id, *_LINKS, *_collections(tuple(type.resources)))
        found = GroupNames(type=type, id=id, own=_names(type.attributes, computed))
        unit.group_names[type.plural] = found
    return found


def resource_names(unit: Unit, group: GroupType, type: ResourceType) -> ResourceNames:  # noqa: A002
    """Of a resource type in a group type."""
    found = unit.resource_names.get((group.plural, type.plural))
    if found is None:
        found = _resource_names(group, type)
        unit.resource_names[group.plural, type.plural] = found
    return found


def _resource_names(group: GroupType, type: ResourceType) -> ResourceNames:  # noqa: A002
    id = f"{type.singular}id"  # noqa: A001
    singular = type.singular
    documents: tuple[str, ...] = ()
    if type.hasdocument:
        possible = (singular, f"{singular}base64", f"{singular}url", f"{singular}proxyurl")
        documents = tuple(name for name in possible if name in type.attributes)
    version = (id, "versionid", "isdefault", *_LINKS, *documents[:2])
    return ResourceNames(
        group=group,
        type=type,
        path=f"{group.plural}/{type.plural}",
        id=id,
        version=_names(type.attributes, version),
        meta=_names(type.metaattributes, (id, *_LINKS, "defaultversionurl")),
        documents=documents,
    )


def resource_only(names: ResourceNames) -> tuple[str, ...]:
    """What only a resource shows; ignored in a write to it (HT-14)."""
    return tuple(name for name in _RESOURCE_ONLY if name not in names.type.attributes)


def _collections(plurals: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(plural + end for plural in plurals for end in ("", "url", "count"))


def _names(attributes: Attributes, computed: tuple[str, ...]) -> Names:
    made = frozenset(computed)
    return Names(
        attributes=attributes,
        computed=made,
        readonly=frozenset(
            name
            for name, attribute in attributes.items()
            if (attribute.readonly or attribute.immutable)
            and name not in made
            and name not in ("epoch", "*")
        ),
    )
