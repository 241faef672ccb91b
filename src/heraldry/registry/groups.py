"""Writing groups, with the resources inside them (GR, CO-06, CO-07, GN-03)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from heraldry.errors import RegistryError
from heraldry.model.conform import conform
from heraldry.model.constraints import rules_of
from heraldry.model.datatypes import check_id
from heraldry.registry.bodies import entries_of
from heraldry.registry.entity_names import group_names, resource_names
from heraldry.registry.journal import differing
from heraldry.registry.merge import check_same_id, merged
from heraldry.registry.resources import write_resource
from heraldry.store.rows import Kind, Row

if TYPE_CHECKING:
    from heraldry.model.metamodel import GroupType
    from heraldry.registry.unit import Unit


def find_group(unit: Unit, type: GroupType, id: str) -> Row | None:  # noqa: A002
    """A group by its exact id; one that differs by case only stands in the way (CA-03)."""
    xid = f"/{type.plural}/{id}"
    row = unit.groups.get(xid.lower())
    if row is None:
        row = unit.tx.find(xid, any_case=True)
        if row is None:
            return None
        unit.groups[xid.lower()] = row
    if row.id != id:
        detail = f'a {type.singular} with the "{type.singular}id" "{row.id}" exists already'
        raise RegistryError("bad_request", xid, {"error_detail": detail})
    return row


def need_group(unit: Unit, type: GroupType, id: str) -> Row:  # noqa: A002
    """The group of a resource that is written: made where it is missing (GN-03)."""
    found = find_group(unit, type, id)
    return found if found is not None else _save(unit, type, id, None, {}, patch=False)


def write_group(
    unit: Unit,
    type: GroupType,  # noqa: A002
    id: str,  # noqa: A002
    body: Mapping[str, Any],
    *,
    patch: bool,
    any_id: bool = False,
) -> Row:
    """Create, replace or patch a group and whatever resources the body holds."""
    row = find_group(unit, type, id)
    names = group_names(unit, type)
    if not any_id:
        check_same_id(type.singular, body, names.id, id, f"/{type.plural}/{id}")
    nested = [
        (plural, entries_of(unit.request, body, plural, f"/{type.plural}/{id}"))
        for plural in type.resources
        if body.get(plural) is not None
    ]
    _save(unit, type, id, row, body, patch=patch)
    for plural, entries in nested:
        write_resources(unit, type, id, plural, entries, patch=patch)
    return unit.groups[f"/{type.plural}/{id}".lower()]


def write_resources(
    unit: Unit,
    type: GroupType,  # noqa: A002
    id: str,  # noqa: A002
    plural: str,
    entries: Mapping[str, Mapping[str, Any]],
    *,
    patch: bool,
) -> list[str]:
    """Write many resources of one type; the xids of those that were (FL-43 may skip some)."""
    names = resource_names(unit, type, type.resources[plural])
    written = []
    for key, entry in entries.items():
        group = need_group(unit, type, id)
        draft = write_resource(unit, group, names, key, entry, patch=patch)
        if draft is not None:
            written.append(draft.xid)
    return written


def _save(
    unit: Unit,
    type: GroupType,  # noqa: A002
    id: str,  # noqa: A002
    row: Row | None,
    body: Mapping[str, Any],
    *,
    patch: bool,
) -> Row:
    xid = f"/{type.plural}/{id}"
    names = group_names(unit, type).own
    old = row.attributes if row is not None else None
    if row is None:
        check_id(id, subject=xid)
    values = merged(unit, names, body, old, patch=patch, subject=xid)
    if row is not None and row.key in unit.written:
        values["epoch"] = row.attributes["epoch"]
    values = conform(
        names.attributes, values, subject=xid, model=unit.model, computed=names.computed
    )
    rules_of(type, values.get("constraints"), subject=xid)
    if row is None:
        row = Row(
            key=unit.tx.next_key(),
            parent=0,
            kind=Kind.GROUP,
            type=type.plural,
            xid=xid,
            id=id,
            attributes=values,
        )
        unit.fresh.add(row.key)
        unit.journal.created(xid)
        unit.bump_registry((type.plural, f"{type.plural}count"))
    else:
        unit.journal.updated(xid, differing(row.attributes, values))
        row = replace(row, attributes=values)
    unit.regrouped[row.key] = row
    unit.save_group(row)
    return row
