"""Deleting one entity, some of a collection, or all of it (DE-01..DE-05)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from heraldry.errors import RegistryError
from heraldry.registry.bodies import checked_entries
from heraldry.registry.capabilities import require_available
from heraldry.registry.defaults import drop_version
from heraldry.registry.draft import ResourceDraft, VersionDraft, open_resource
from heraldry.registry.finish import finish
from heraldry.registry.flag_values import checked_epoch
from heraldry.registry.merge import check_epoch, check_same_id
from heraldry.registry.request import Place, Reply
from heraldry.registry.resources import may_write, use_flag
from heraldry.registry.settle import settle
from heraldry.registry.write import group_type, resource_type

if TYPE_CHECKING:
    from heraldry.model.metamodel import GroupType
    from heraldry.registry.entity_names import ResourceNames
    from heraldry.registry.unit import Unit
    from heraldry.store.rows import Row

Entries = Mapping[str, Mapping[str, Any]]


def delete(unit: Unit) -> Reply:
    """Carry out a DELETE; children go along, and it is all or nothing (DE-04)."""
    require_available(unit.session, "entities", write=True)
    type = group_type(unit)  # noqa: A001
    target = unit.request.target
    if target.place is Place.GROUPS:
        _delete_groups(unit, type)
    elif target.place is Place.GROUP:
        row = _found(unit, f"/{type.plural}/{target.group}")
        _delete_group(unit, type, row, _flag_entry(unit))
    else:
        names = resource_type(unit, type)
        group = _found(unit, f"/{type.plural}/{target.group}")
        if target.place is Place.RESOURCES:
            _delete_resources(unit, group, names)
        else:
            row = _found(unit, f"{group.xid}/{names.type.plural}/{target.resource}")
            _delete_below(unit, group, names, row)
    finish(unit)
    return Reply(outcome="deleted")


def _found(unit: Unit, xid: str) -> Row:
    row = unit.tx.find(xid)
    if row is None:
        raise RegistryError("not_found", xid)
    return row


def _flag_entry(unit: Unit) -> dict[str, Any]:
    """What ``?epoch`` says, as an entry of a collection would (DE-01)."""
    epoch = checked_epoch(unit)
    return {} if epoch is None else {"epoch": epoch}


def _entries(unit: Unit) -> Entries | None:
    """The entities to delete; ``None``: all of them, as there was no body (DE-02)."""
    body = unit.request.body
    if body is None:
        return None
    if not isinstance(body, Mapping):
        arguments = {"error_detail": "the body must be a map of entities"}
        raise RegistryError("parsing_data", unit.request.path, arguments)
    return checked_entries(unit.request, {n: v for n, v in body.items() if n != "$schema"})


def _delete_groups(unit: Unit, type: GroupType) -> None:  # noqa: A002
    entries = _entries(unit)
    if entries is None:
        for row in list(unit.tx.children([0], type.plural)):
            _delete_group(unit, type, row, {})
        return
    for id, entry in entries.items():  # noqa: A001
        found = unit.tx.find(f"/{type.plural}/{id}")
        if found is not None:
            check_same_id(type.singular, entry, f"{type.singular}id", id, found.xid)
            _delete_group(unit, type, found, entry)


def _delete_group(unit: Unit, type: GroupType, row: Row, entry: Mapping[str, Any]) -> None:  # noqa: A002
    check_epoch(unit, entry.get("epoch"), row.attributes, row.xid)
    for plural in type.resources:
        for resource in unit.tx.children([row.key], f"{type.plural}/{plural}"):
            may_write(unit, resource, single=True)
    _remove(unit, row)
    unit.bump_registry((type.plural, f"{type.plural}count"))


def _delete_resources(unit: Unit, group: Row, names: ResourceNames) -> None:
    entries = _entries(unit)
    if entries is None:
        rows = list(unit.tx.children([group.key], names.path))
        found: list[tuple[Row, Mapping[str, Any]]] = [(row, {}) for row in rows]
    else:
        xids = {id: f"{group.xid}/{names.type.plural}/{id}" for id in entries}  # noqa: A001
        given = ((unit.tx.find(xid), entries[id]) for id, xid in xids.items())  # noqa: A001
        found = [(row, entry) for row, entry in given if row is not None]
    for row, entry in found:
        if not may_write(unit, row, single=False):
            continue
        _check_entry(unit, names, row, entry)
        _delete_resource(unit, group, names, row)


def _check_entry(unit: Unit, names: ResourceNames, row: Row, entry: Mapping[str, Any]) -> None:
    """A resource's epoch is that of its meta entity, and is looked for there (DE-03)."""
    singular = names.type.singular
    if "meta" in entry:
        meta = entry["meta"]
        if not isinstance(meta, Mapping):
            arguments = {"name": "meta", "error_detail": "must be an object"}
            raise RegistryError("invalid_attribute", row.xid, arguments)
        check_same_id(singular, meta, names.id, row.id, row.xid)
        check_epoch(unit, meta.get("epoch"), row.attributes, f"{row.xid}/meta")
    elif "epoch" in entry:
        raise RegistryError("misplaced_epoch", row.xid)
    check_same_id(singular, entry, names.id, row.id, row.xid)


def _delete_resource(unit: Unit, group: Row, names: ResourceNames, row: Row) -> None:
    _remove(unit, row)
    unit.bump_group(group, names.type.plural)


def _remove(unit: Unit, row: Row) -> None:
    """Delete with all below; resources that borrowed from it must know (XR-04, EV-07)."""
    for type, xid in unit.tx.remove(row):  # noqa: A001
        unit.journal.deleted(xid)
        if type.count("/") == 1:
            unit.resources[xid] = None


def _delete_below(unit: Unit, group: Row, names: ResourceNames, row: Row) -> None:
    """One resource, or versions of one."""
    target = unit.request.target
    may_write(unit, row, single=target.place is not Place.VERSIONS)
    if target.place is Place.RESOURCE:
        entry = _flag_entry(unit)
        check_epoch(unit, entry.get("epoch"), row.attributes, f"{row.xid}/meta")
        _delete_resource(unit, group, names, row)
        return
    draft = open_resource(unit, group, names, row.id, row)
    if target.place is Place.VERSION:
        if row.xref:
            _found(unit, target.xid)
            raise _borrowed(unit, draft)
        version = draft.versions.get(target.version)
        if version is None:
            raise RegistryError("not_found", target.xid)
        check_epoch(unit, _flag_entry(unit).get("epoch"), version.values, version.xid)
        gone = [version]
    else:
        gone = _chosen(unit, draft)
    _delete_versions(unit, draft, gone)


def _chosen(unit: Unit, draft: ResourceDraft) -> list[VersionDraft]:
    """The versions a collection DELETE names; epochs are compared before anything goes."""
    entries = _entries(unit)
    if draft.xref:
        raise _borrowed(unit, draft)
    if entries is None:
        return list(draft.versions.values())
    gone = []
    for id, entry in entries.items():  # noqa: A001
        version = draft.versions.get(id)
        if version is not None:
            check_same_id("version", entry, "versionid", id, version.xid)
            check_epoch(unit, entry.get("epoch"), version.values, version.xid)
            gone.append(version)
    return gone


def _borrowed(unit: Unit, draft: ResourceDraft) -> RegistryError:
    detail = f'"{draft.xid}" uses "xref": its versions are deleted at the target'
    return RegistryError("bad_request", unit.request.path, {"error_detail": detail})


def _delete_versions(unit: Unit, draft: ResourceDraft, gone: list[VersionDraft]) -> None:
    """With the last version its resource goes too (AL-24); then the flag counts (DE-05)."""
    assert draft.old is not None  # it was found
    if len(gone) == len(draft.versions):
        _delete_resource(unit, draft.group, draft.names, draft.old)
        return
    for version in gone:
        if version.id == unit.setdefault:
            detail = "a version that is being deleted cannot become the default"
            raise RegistryError("bad_request", version.xid, {"error_detail": detail})
        drop_version(unit, draft, version)
    use_flag(unit, draft, None)
    settle(unit, draft)
