"""Documents of xRegistry 1.0 (rc2 and rc4): what they are, and how they become a catalog."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from heraldry.dialects.limits import DEFAULT, Limits
from heraldry.dialects.xreg_1_0 import canonical
from heraldry.dialects.xreg_1_0.place import Place
from heraldry.dialects.xreg_1_0.resources import read_resource
from heraldry.model.catalog import Catalog
from heraldry.model.entities import Group, Resource
from heraldry.model.xid import Xid

Members = Mapping[str, Any]

COLLECTIONS: dict[str, tuple[str, str, Callable[[Members], dict[str, Any]]]] = {
    "endpoints": ("endpointid", "messages", canonical.endpoint),
    "messagegroups": ("messagegroupid", "messages", canonical.messagegroup),
    "schemagroups": ("schemagroupid", "schemas", canonical.schemagroup),
}
"""Group collections: the name of a group's id, its resources, and how its members are read."""

_REGISTRY = ("registryid", *(f"{name}{end}" for name in COLLECTIONS for end in ("url", "count")))
_NO_COLLECTION = frozenset(("model", "modelsource", "capabilities", "labels", "deprecated"))


def detect(document: object) -> bool:
    """Whether a document has members of a 1.0 registry (0.2 a, e)."""
    if not isinstance(document, Mapping):
        return False
    if any(isinstance(document.get(name), Mapping) for name in COLLECTIONS):
        return True
    return any(name in document for name in _REGISTRY)


def read(document: Members, file: str, limits: Limits = DEFAULT) -> Catalog:
    """The catalog of a document; whatever it does not know stays in ``source``."""
    start = Place.start(file, limits)
    groups: dict[str, dict[str, Group]] = {}
    files: dict[str, str] = {}
    for plural in document:
        if plural in COLLECTIONS and document[plural] is not None:
            listed = start.mapping(document[plural], plural)
            groups[plural] = _groups(plural, listed, start.at(plural), files)
    return Catalog(
        attributes=registry_attributes(document), groups=groups, files=files, source=document
    )


def registry_attributes(document: Members) -> dict[str, Any]:
    """The registry's own attributes: neither known nor unknown collections of groups."""
    return {
        name: value
        for name, value in document.items()
        if name not in COLLECTIONS and value is not None and not is_collection(name, value)
    }


def is_collection(name: str, value: Any) -> bool:
    """Whether a member is a collection of groups of a type unknown here: a map of maps."""
    if name in _NO_COLLECTION or not isinstance(value, Mapping) or not value:
        return False
    return all(isinstance(entry, Mapping) for entry in value.values())


def read_group(xid: Xid, source: Members, place: Place) -> Group:
    """A group with its resources."""
    singular, plural, attributes_of = COLLECTIONS[xid.groups]
    place.same_id(source, singular, xid.group)
    resources: dict[str, Resource] = {}
    if source.get(plural) is not None:
        listed = place.mapping(source[plural], plural)
        inside = place.at(plural)
        inside.distinct(listed)
        for key, value in listed.items():
            inside.count()
            where = inside.at(key)
            member = inside.mapping(value, key)
            resources[key] = read_resource(Xid(xid.groups, xid.group, plural, key), member, where)
    own = {name: value for name, value in source.items() if name != plural}
    return Group(
        xid=xid, attributes=attributes_of(own), resources={plural: resources}, source=source
    )


def _groups(plural: str, listed: Members, place: Place, files: dict[str, str]) -> dict[str, Group]:
    place.distinct(listed)
    groups: dict[str, Group] = {}
    for key, value in listed.items():
        place.count()
        source = place.mapping(value, key)
        group = read_group(Xid(plural, key), source, place.at(key))
        groups[key] = group
        files[str(group.xid)] = place.file
        for resources in group.resources.values():
            for resource in resources.values():
                files[str(resource.xid)] = place.file
    return groups
