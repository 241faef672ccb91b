"""Writing resources: the processing algorithm of the specification (RP-01..RP-06)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from heraldry.errors import RegistryError
from heraldry.model.datatypes import check_id
from heraldry.registry.bodies import entries_of
from heraldry.registry.draft import ResourceDraft, VersionDraft, open_resource
from heraldry.registry.entity_names import resource_only
from heraldry.registry.merge import check_same_id
from heraldry.registry.meta import apply_flag, write_meta, xref_of
from heraldry.registry.settle import settle
from heraldry.registry.versions import write_version
from heraldry.registry.xref import enter_xref, leave_xref

if TYPE_CHECKING:
    from heraldry.registry.entity_names import ResourceNames
    from heraldry.registry.unit import Unit
    from heraldry.store.rows import Row


def find_resource(unit: Unit, group: Row, names: ResourceNames, id: str) -> Row | None:  # noqa: A002
    """A resource by its exact id; one that differs by case only stands in the way (CA-03)."""
    xid = f"{group.xid}/{names.type.plural}/{id}"
    if group.key in unit.fresh:
        # Nothing can be stored in a group that this request made, but what it wrote itself.
        row = unit.newcomers.get(xid.lower())
    else:
        row = unit.tx.find(xid, any_case=True)
    if row is not None and row.id != id:
        singular = names.type.singular
        detail = f'a {singular} with the "{singular}id" "{row.id}" exists already'
        raise RegistryError("bad_request", xid, {"error_detail": detail})
    if row is None:
        check_id(id, subject=xid)
    return row


def begin(
    unit: Unit,
    group: Row,
    names: ResourceNames,
    id: str,  # noqa: A002
    *,
    single: bool = False,
) -> ResourceDraft | None:
    """Open a resource for writing; ``None``: it is read-only and to be skipped (ME-05, FL-43)."""
    row = find_resource(unit, group, names, id)
    if row is not None and not may_write(unit, row, single=single):
        return None
    return open_resource(unit, group, names, id, row)


def may_write(unit: Unit, row: Row, *, single: bool) -> bool:
    """Whether a resource may change; a read-only one may be skipped in a collection only."""
    if row.xref or row.attributes.get("readonly") is not True:
        return True
    if "readonly" not in unit.ignores:
        raise RegistryError("readonly", row.xid)
    if single:
        raise RegistryError("bad_flag", unit.request.path, {"flag": "ignore"})
    return False


def write_resource(
    unit: Unit,
    group: Row,
    names: ResourceNames,
    id: str,  # noqa: A002
    body: Mapping[str, Any],
    *,
    patch: bool,
    single: bool = False,
) -> ResourceDraft | None:
    """Create, replace or patch a resource, with its meta entity and versions."""
    draft = begin(unit, group, names, id, single=single)
    if draft is None:
        return None
    if not (single and "id" in unit.ignores):
        check_same_id(names.type.singular, body, names.id, id, draft.xid)
    own = {n: v for n, v in body.items() if n not in ("meta", "versions", *resource_only(names))}
    meta = _meta_of(body, draft)
    xref = xref_of(draft, meta, patch=patch)
    if xref:
        if "versions" in body:
            own["versions"] = body["versions"]
        enter_xref(unit, draft, xref, own, meta or {})
        use_flag(unit, draft, None)
        settle(unit, draft)
        return draft
    if draft.was_xref:
        leave_xref(unit, draft)
    versions = entries_of(unit.request, body, "versions", draft.xid)
    _write_parts(unit, draft, own, meta, versions, patch=patch)
    settle(unit, draft)
    return draft


def _write_parts(
    unit: Unit,
    draft: ResourceDraft,
    own: dict[str, Any],
    meta: Mapping[str, Any] | None,
    versions: Mapping[str, Mapping[str, Any]],
    *,
    patch: bool,
) -> None:
    """Steps 1, 2 and 4 of the algorithm: versions, then default attributes, then meta (RP-01)."""
    if unit.setdefault == "request" and len(versions) > 1:
        raise RegistryError("too_many_versions", draft.xid)
    target = _target(unit, draft, own, meta)
    last = None
    for id, entry in versions.items():  # noqa: A001
        last = write_version(unit, draft, id, entry, patch=patch)
    if target not in versions and (target or not versions):
        any_id = "id" in unit.ignores
        own.pop(draft.names.id, None)
        last = write_version(unit, draft, target, own, patch=patch, any_id=any_id)
    if meta is not None:
        write_meta(unit, draft, meta, patch=patch)
    use_flag(unit, draft, last)


def use_flag(unit: Unit, draft: ResourceDraft, last: VersionDraft | None) -> None:
    """Let ``setdefaultversionid`` choose; ``request`` is the version that was written (FL-62)."""
    wanted = unit.setdefault
    if wanted is not None and draft.xref:
        arguments = {"name": "defaultversionid", "singular": draft.names.type.singular}
        raise RegistryError("extra_xref_attribute", draft.xid, arguments)
    if wanted == "request":
        if last is None:
            raise RegistryError("defaultversionid_request", draft.xid)
        wanted = last.id
    if wanted is None:
        return
    if wanted != "null" and wanted not in draft.versions:
        written = last is not None or unit.request.action == "delete"
        stored = draft.old is not None and not draft.was_xref and written
        about = draft.xid if stored else draft.meta_xid
        raise RegistryError("unknown_id", about, {"singular": "version", "id": wanted})
    apply_flag(draft, wanted, unit.now)


def _target(
    unit: Unit, draft: ResourceDraft, own: Mapping[str, Any], meta: Mapping[str, Any] | None
) -> str:
    """The version that the attributes of the resource are about; ``""``: a new one (RP-02..04)."""
    given = own.get("versionid")
    if given is not None and not isinstance(given, str):
        arguments = {"name": "versionid", "error_detail": "must be a string"}
        raise RegistryError("invalid_attribute", draft.xid, arguments)
    if draft.versions:
        default: str = draft.meta["defaultversionid"]
        check_same_id("version", own, "versionid", default, draft.xid)
        return default
    if given:
        return given
    clue = None
    if unit.setdefault not in (None, "null", "request"):
        clue = unit.setdefault
    elif meta is not None and "defaultversionid" not in unit.ignores:
        clue = meta.get("defaultversionid")
    return clue if isinstance(clue, str) else ""


def _meta_of(body: Mapping[str, Any], draft: ResourceDraft) -> Mapping[str, Any] | None:
    """``meta`` in a body; ``null`` is the same as ``{}`` (RS-05)."""
    if "meta" not in body:
        return None
    meta = body["meta"]
    if meta is None:
        return {}
    if not isinstance(meta, Mapping):
        arguments = {"name": "meta", "error_detail": "must be an object"}
        raise RegistryError("invalid_attribute", draft.xid, arguments)
    return meta
