"""Writes to a part of one resource: a version, some versions, or its meta entity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from heraldry.errors import RegistryError
from heraldry.registry.draft import ResourceDraft, VersionDraft
from heraldry.registry.entity_names import resource_only
from heraldry.registry.meta import write_meta, xref_of
from heraldry.registry.resources import begin, use_flag
from heraldry.registry.settle import settle
from heraldry.registry.versions import write_version
from heraldry.registry.xref import enter_xref, leave_xref

if TYPE_CHECKING:
    from heraldry.registry.entity_names import ResourceNames
    from heraldry.registry.unit import Unit
    from heraldry.store.rows import Row


def post_version(
    unit: Unit,
    group: Row,
    names: ResourceNames,
    id: str,  # noqa: A002
    body: Mapping[str, Any],
    *,
    patch: bool,
) -> VersionDraft:
    """POST to a resource: one version, new unless its versionid says otherwise (HT-14, KD-27)."""
    draft = _begin(unit, group, names, id)
    given = {n: v for n, v in body.items() if n not in resource_only(names)}
    wanted = given.get("versionid")
    if wanted is not None and not isinstance(wanted, str):
        arguments = {"name": "versionid", "error_detail": "must be a string"}
        raise RegistryError("invalid_attribute", draft.xid, arguments)
    version = write_version(unit, draft, wanted or "", given, patch=patch)
    use_flag(unit, draft, version)
    settle(unit, draft)
    return version


def put_version(
    unit: Unit,
    group: Row,
    names: ResourceNames,
    ids: tuple[str, str],
    body: Mapping[str, Any],
    *,
    patch: bool,
) -> VersionDraft:
    """PUT or PATCH of one version; its resource is made where it is missing (GN-03)."""
    resource, id = ids  # noqa: A001
    draft = _begin(unit, group, names, resource)
    any_id = "id" in unit.ignores
    version = write_version(unit, draft, id, body, patch=patch, any_id=any_id)
    use_flag(unit, draft, version)
    settle(unit, draft)
    return version


def write_versions(
    unit: Unit,
    group: Row,
    names: ResourceNames,
    id: str,  # noqa: A002
    entries: Mapping[str, Mapping[str, Any]],
    *,
    patch: bool,
) -> list[str]:
    """POST or PATCH of many versions; the xids of those that were written (HT-15)."""
    draft = begin(unit, group, names, id)
    if draft is None:
        return []
    if not entries and unit.setdefault == "request":
        raise RegistryError("defaultversionid_request", unit.request.path)
    if not entries and draft.old is None:
        raise RegistryError("missing_versions", unit.request.path)
    if unit.setdefault == "request" and len(entries) > 1:
        raise RegistryError("too_many_versions", draft.xid)
    written = [write_version(unit, draft, key, e, patch=patch) for key, e in entries.items()]
    use_flag(unit, draft, written[-1] if written else None)
    settle(unit, draft)
    return [version.xid for version in written]


def put_meta(
    unit: Unit,
    group: Row,
    names: ResourceNames,
    id: str,  # noqa: A002
    body: Mapping[str, Any],
    *,
    patch: bool,
) -> ResourceDraft:
    """PUT or PATCH of a meta entity; a missing resource gets one default version (ME-02)."""
    draft = _begin(unit, group, names, id)
    xref = xref_of(draft, body, patch=patch)
    if xref:
        enter_xref(unit, draft, xref, {}, body, any_id="id" in unit.ignores)
        use_flag(unit, draft, None)
    else:
        if draft.was_xref:
            leave_xref(unit, draft)
        if not draft.versions:
            write_version(unit, draft, "", {}, patch=False)
        write_meta(unit, draft, body, patch=patch, any_id=True)
        use_flag(unit, draft, None)
    settle(unit, draft)
    return draft


def _begin(unit: Unit, group: Row, names: ResourceNames, id: str) -> ResourceDraft:  # noqa: A002
    draft = begin(unit, group, names, id, single=True)
    assert draft is not None  # a single one is never skipped
    return draft
