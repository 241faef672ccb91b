"""Writing a catalog as a 1.0 document: as it came where nothing changed, else canonical (0.3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from heraldry.dialects.limits import DEFAULT
from heraldry.dialects.xreg_1_0 import canonical
from heraldry.dialects.xreg_1_0.document import COLLECTIONS, registry_attributes
from heraldry.dialects.xreg_1_0.place import Place
from heraldry.dialects.xreg_1_0.resources import read_resource
from heraldry.model.catalog import Catalog
from heraldry.model.entities import Group, Resource

Members = Mapping[str, Any]
Projection = Callable[[Members], Mapping[str, Any]]

_TOGETHER = (
    frozenset(canonical.BASE_NAMES),
    frozenset(("envelope", "format", "metadata", "envelopemetadata", "envelopeoptions")),
    frozenset(("protocol", "protocoloptions", "config", "endpoints", "authorization", "deployed")),
    frozenset(("schema", "schemabase64", "format")),
)
"""Members that mean one thing together: where one changes, all are written canonically."""

_OF_META = ("meta", "defaultversionid", "defaultversionsticky", "xref", "uri")


def write(catalog: Catalog) -> dict[str, Any]:
    """The document of a catalog; ``write(read(document))`` equals the document."""
    source = catalog.source or {}
    known = {name: value for name, value in source.items() if name not in COLLECTIONS}
    written = merged(known, catalog.attributes, registry_attributes)
    order = [name for name in source if name in written or name in COLLECTIONS]
    order += [name for name in (*written, *catalog.groups) if name not in source]
    document: dict[str, Any] = {}
    for name in order:
        if name in written:
            document[name] = written[name]
        elif catalog.groups.get(name):
            document[name] = {key: write_group(g) for key, g in catalog.groups[name].items()}
        elif name in source and not source[name]:
            document[name] = source[name]
    return document


def write_group(group: Group) -> dict[str, Any]:
    """The members of a group, its resources where the source has them."""
    _, plural, attributes_of = COLLECTIONS[group.xid.groups]
    source = group.source or {}
    own = {name: value for name, value in source.items() if name != plural}
    written = merged(own, group.attributes, attributes_of)
    resources = {key: write_resource(r) for key, r in group.resources.get(plural, {}).items()}
    if not resources:
        if plural in source and not source[plural]:
            written = _in_order(source, {**written, plural: source[plural]})
        return written
    return _in_order(source, {**written, plural: resources})


def write_resource(resource: Resource) -> Mapping[str, Any]:
    """The members of a resource; its source where that still says the same."""
    source = resource.source
    if source is None:
        return _rendered(resource, resource.meta)
    before = _read(resource, source)
    if _same(before, resource):
        return source
    candidate = _rewritten(resource, before, source)
    if _same(_read(resource, candidate), resource):
        return candidate
    # A meaning that the old shape cannot hold: write the canonical shape instead.
    return _rendered(resource, resource.meta)


def merged(source: Members, attributes: Members, projection: Projection) -> dict[str, Any]:
    """The source with changed attributes replaced; members that did not change stay as given."""
    before = projection(source)
    if before == attributes:
        return dict(source)
    changed = {
        name
        for name in {**before, **attributes}
        if name not in before or name not in attributes or before[name] != attributes[name]
    }
    together = _closure(changed)
    # Another spelling of what changed must not stay behind with its old value.
    respelt = {name for name in together if name in source and name not in before}
    for names in (changed | respelt, together):
        kept = {name: value for name, value in source.items() if name not in names}
        new = {name: value for name, value in attributes.items() if name in names}
        written = _in_order(source, {**kept, **new})
        if projection(written) == attributes:
            return written
    return dict(attributes)


def _closure(names: set[str]) -> set[str]:
    for together in _TOGETHER:
        if names & together:
            names = names | together
    return names


def _read(resource: Resource, source: Members) -> Resource:
    return read_resource(resource.xid, source, Place.start("", DEFAULT))


def _same(before: Resource, after: Resource) -> bool:
    return (
        before.default == after.default
        and before.meta == after.meta
        and list(before.versions) == list(after.versions)
        and all(
            version.attributes == after.versions[key].attributes
            for key, version in before.versions.items()
        )
    )


def _rewritten(resource: Resource, before: Resource, source: Members) -> Mapping[str, Any]:
    """The source with what changed in the default version, the versions and the meta."""
    project = _projection(resource)
    outside = {name: value for name, value in source.items() if name != "versions"}
    if before.meta != resource.meta:
        outside = {name: value for name, value in outside.items() if name not in _OF_META}
        outside = {**outside, "meta": resource.meta} if resource.meta else outside
    if "versions" not in source and list(resource.versions) == [resource.default]:
        kept = {name: outside[name] for name in _OF_META if name in outside}
        own = {name: value for name, value in outside.items() if name not in kept}
        return _in_order(source, {**merged(own, resource.attributes, project), **kept})
    filled = canonical.inherited(outside)
    outside = {name: value for name, value in outside.items() if name not in filled}
    versions = {
        key: merged(version.source or {}, version.attributes, project)
        for key, version in resource.versions.items()
    }
    return _in_order(source, {**outside, "versions": versions})


def _rendered(resource: Resource, meta: Members) -> dict[str, Any]:
    """A resource from its canonical values alone."""
    only = resource.versions[resource.default].attributes
    own = {"meta": dict(meta)} if meta else {}
    flat = {**only, **own}
    if len(resource.versions) == 1 and _same(_read(resource, flat), resource):
        return flat
    versions = {key: dict(version.attributes) for key, version in resource.versions.items()}
    nested: dict[str, Any] = {**own, "versions": versions}
    if _read(resource, nested).default == resource.default or "defaultversionid" in meta:
        return nested
    return _rendered(resource, {**meta, "defaultversionid": resource.default})


def _projection(resource: Resource) -> Projection:
    return canonical.message if resource.xid.resources == "messages" else canonical.schema


def _in_order(source: Members, members: Members) -> dict[str, Any]:
    """The members in the order of the source, new ones last."""
    first = {name: members[name] for name in source if name in members}
    return {**first, **members}
