"""Writes by what they address: every path and method but GET and DELETE (HT, WR)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from heraldry.errors import RegistryError
from heraldry.registry.bodies import checked_entries, object_body
from heraldry.registry.capabilities import require_available
from heraldry.registry.document_given import document_body
from heraldry.registry.entity_names import ResourceNames, resource_names
from heraldry.registry.finish import finish
from heraldry.registry.groups import find_group, need_group, write_group, write_resources
from heraldry.registry.read import show, show_entries
from heraldry.registry.read_settings import SETTING_PLACES, setting
from heraldry.registry.request import Document, Place, Reply, Target
from heraldry.registry.resource_parts import post_version, put_meta, put_version, write_versions
from heraldry.registry.resources import write_resource
from heraldry.registry.write_registry import (
    write_capabilities,
    write_modelsource,
    write_registry,
)

if TYPE_CHECKING:
    from heraldry.model.metamodel import GroupType
    from heraldry.registry.unit import Unit

ACTIONS: dict[Place, tuple[str, ...]] = {
    Place.REGISTRY: ("get", "put", "patch", "post"),
    Place.CAPABILITIES: ("get", "put", "patch"),
    Place.OFFERED: ("get",),
    Place.MODEL: ("get",),
    Place.MODELSOURCE: ("get", "put"),
    Place.EXPORT: ("get",),
    Place.GROUPS: ("get", "patch", "post", "delete"),
    Place.GROUP: ("get", "put", "patch", "post", "delete"),
    Place.RESOURCES: ("get", "patch", "post", "delete"),
    Place.RESOURCE: ("get", "put", "patch", "post", "delete"),
    Place.META: ("get", "put", "patch"),
    Place.VERSIONS: ("get", "patch", "post", "delete"),
    Place.VERSION: ("get", "put", "patch", "delete"),
}
"""What each place can do (HT-00); everything else is ``action_not_supported`` (HT-02)."""


def write(unit: Unit) -> Reply:
    """Carry out a PUT, PATCH or POST, and answer as a GET of what was written would (HT-12)."""
    match unit.request.target.place:
        case Place.CAPABILITIES:
            write_capabilities(unit)
        case Place.MODELSOURCE:
            write_modelsource(unit)
        case place:
            require_available(unit.session, "entities", write=True)
            return _HANDLERS[place](unit)
    finish(unit)
    # Shown as it is now, also where it is not available any more: that begins afterwards (CP-14).
    return Reply(body=setting(unit.session, SETTING_PLACES[unit.request.target.place]))


def _registry(unit: Unit) -> Reply:
    request = unit.request
    body = object_body(request)
    if request.action != "post":
        write_registry(unit, body, patch=request.action == "patch")
        finish(unit)
        return show(unit.session, request.target)
    maps = _only_maps("groups_only", "/", body, unit.model.groups)
    written: dict[str, list[str]] = {}
    for name, entries in checked_entries(request, maps).items():
        type = unit.model.groups[name]  # noqa: A001
        groups = checked_entries(request, entries)
        written[name] = [
            write_group(unit, type, id, entry, patch=False).xid
            for id, entry in groups.items()  # noqa: A001
        ]
    return _many(unit, written)


def _only_maps(
    error: str, subject: str, body: Mapping[str, Any], types: Collection[str]
) -> dict[str, Any]:
    """The maps of nested entities (WR-05); their addresses and counts have no effect (CO-02)."""
    found = {name: value for name, value in body.items() if name in types}
    idle = {plural + end for plural in types for end in ("url", "count")}
    for name in body:
        if name not in found and name not in idle:
            raise RegistryError(error, subject, {"name": name})
    return found


def _groups(unit: Unit) -> Reply:
    request = unit.request
    type = group_type(unit)  # noqa: A001
    entries = checked_entries(request, object_body(request))
    patch = request.action == "patch"
    xids = [write_group(unit, type, id, e, patch=patch).xid for id, e in entries.items()]  # noqa: A001
    return _collection(unit, xids)


def _group(unit: Unit) -> Reply:
    request = unit.request
    type = group_type(unit)  # noqa: A001
    id = request.target.group  # noqa: A001
    body = object_body(request)
    if request.action == "post":
        maps = _only_maps("resources_only", f"/{type.plural}/{id}", body, type.resources)
        need_group(unit, type, id)
        written = {
            name: write_resources(
                unit, type, id, name, checked_entries(request, entries), patch=False
            )
            for name, entries in checked_entries(request, maps).items()
        }
        return _many(unit, written)
    created = find_group(unit, type, id) is None
    any_id = "id" in unit.ignores
    write_group(unit, type, id, body, patch=request.action == "patch", any_id=any_id)
    return _one(unit, request.target, created=created)


def _resources(unit: Unit) -> Reply:
    request = unit.request
    type = group_type(unit)  # noqa: A001
    plural = resource_type(unit, type).type.plural
    entries = checked_entries(request, object_body(request))
    need_group(unit, type, request.target.group)
    patch = request.action == "patch"
    xids = write_resources(unit, type, request.target.group, plural, entries, patch=patch)
    return _collection(unit, xids)


def _resource(unit: Unit) -> Reply:
    request, target = unit.request, unit.request.target
    type = group_type(unit)  # noqa: A001
    names = resource_type(unit, type)
    body, patch = entity_body(unit, names)
    group = need_group(unit, type, target.group)
    if request.action == "post":
        version = post_version(unit, group, names, target.resource, body, patch=patch)
        answer = replace(target, place=Place.VERSION, version=version.id)
        return _one(unit, answer, created=version.old is None, version=version.id)
    draft = write_resource(unit, group, names, target.resource, body, patch=patch, single=True)
    assert draft is not None  # a single one is never skipped
    made = next((v.id for v in draft.versions.values() if v.old is None), "")
    return _one(unit, target, created=draft.old is None, version=made)


def _meta(unit: Unit) -> Reply:
    request, target = unit.request, unit.request.target
    type = group_type(unit)  # noqa: A001
    names = resource_type(unit, type)
    body = object_body(request)
    group = need_group(unit, type, target.group)
    draft = put_meta(unit, group, names, target.resource, body, patch=request.action == "patch")
    return _one(unit, target, created=draft.old is None)


def _versions(unit: Unit) -> Reply:
    request, target = unit.request, unit.request.target
    type = group_type(unit)  # noqa: A001
    names = resource_type(unit, type)
    entries = checked_entries(request, object_body(request))
    group = need_group(unit, type, target.group)
    patch = request.action == "patch"
    return _collection(
        unit, write_versions(unit, group, names, target.resource, entries, patch=patch)
    )


def _version(unit: Unit) -> Reply:
    target = unit.request.target
    type = group_type(unit)  # noqa: A001
    names = resource_type(unit, type)
    body, patch = entity_body(unit, names)
    group = need_group(unit, type, target.group)
    ids = (target.resource, target.version)
    version = put_version(unit, group, names, ids, body, patch=patch)
    made = version.id if version.old is None else ""
    return _one(unit, target, created=version.old is None, version=made)


_HANDLERS = {
    Place.REGISTRY: _registry,
    Place.GROUPS: _groups,
    Place.GROUP: _group,
    Place.RESOURCES: _resources,
    Place.RESOURCE: _resource,
    Place.META: _meta,
    Place.VERSIONS: _versions,
    Place.VERSION: _version,
}


def group_type(unit: Unit) -> GroupType:
    """The group type of the path; one that is unknown is ``not_found`` (KD-16)."""
    name = unit.request.target.groups
    found = unit.model.groups.get(name)
    if found is None:
        raise RegistryError("not_found", f"/{name}")
    return found


def resource_type(unit: Unit, group: GroupType) -> ResourceNames:
    """The resource type of the path, likewise."""
    target = unit.request.target
    found = group.resources.get(target.resources)
    if found is None:
        raise RegistryError("not_found", f"/{group.plural}/{target.group}/{target.resources}")
    return resource_names(unit, group, found)


def entity_body(unit: Unit, names: ResourceNames) -> tuple[dict[str, Any], bool]:
    """A resource or version as attributes, and whether it is to be patched (HB-06, WR-02)."""
    request = unit.request
    if isinstance(request.body, Document):
        if request.action == "patch":
            raise RegistryError("details_required", request.path)
        return document_body(names, request.body, request.target.xid), True
    if request.action == "patch" and names.type.hasdocument and not request.target.details:
        raise RegistryError("details_required", request.path)
    return object_body(request), request.action == "patch"


def _one(unit: Unit, target: Target, *, created: bool, version: str = "") -> Reply:
    """The entity that was written; where it is new, with its address (HT-10, HT-11)."""
    finish(unit)
    reply = show(unit.session, target)
    base = unit.request.base
    suffix = "$details" if target.details and target.place is not Place.META else ""
    if suffix and not _has_document(unit, target):
        suffix = ""
    if created:
        reply = replace(reply, outcome="created", location=f"{base}{target.xid}{suffix}")
    if version and not reply.content_location:
        at = replace(target, place=Place.VERSION, version=version)
        reply = replace(reply, content_location=f"{base}{at.xid}{suffix}")
    return reply


def _has_document(unit: Unit, target: Target) -> bool:
    return unit.model.groups[target.groups].resources[target.resources].hasdocument


def _collection(unit: Unit, xids: list[str]) -> Reply:
    finish(unit)
    return Reply(body=show_entries(unit.session, xids) if xids else {})


def _many(unit: Unit, written: dict[str, list[str]]) -> Reply:
    """Only what was processed, in the shape of the request (HT-12, WR-05)."""
    finish(unit)
    body = {
        name: show_entries(unit.session, xids) if xids else {} for name, xids in written.items()
    }
    return Reply(body=body)
