"""Which version is the default, and which versions there are too many of (ME-09..ME-14, AL)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heraldry.errors import RegistryError
from heraldry.registry.meta import sticky_default
from heraldry.registry.versionmodes import (
    circle,
    newest,
    oldest,
    orphan,
    roots,
    set_ancestors,
)

if TYPE_CHECKING:
    from heraldry.registry.draft import ResourceDraft, VersionDraft
    from heraldry.registry.unit import Unit


def mode_of(draft: ResourceDraft) -> str:
    """The versionmode, in lower case (AL-16)."""
    return draft.names.type.versionmode.lower()


def choose_default(unit: Unit, draft: ResourceDraft) -> None:
    """The pinned version, else the newest; another one than before is a change of meta (ME-14)."""
    meta = draft.meta
    if meta.get("defaultversionsticky") is None:
        meta["defaultversionsticky"] = sticky_default(draft)
    wanted = meta.get("defaultversionid")
    if meta["defaultversionsticky"] is True:
        _check_may_stick(unit, draft)
        if wanted is not None and wanted not in draft.versions:
            arguments = {"singular": "version", "id": str(wanted)}
            raise RegistryError("unknown_id", draft.meta_xid, arguments)
    if meta["defaultversionsticky"] is not True or wanted is None:
        found = newest(mode_of(draft), draft.versions.values())
        assert found is not None  # a resource has at least one version (RS-01)
        meta["defaultversionid"] = found.id
    before = draft.old.attributes.get("defaultversionid") if draft.old is not None else None
    if meta["defaultversionid"] != before:
        draft.touch_meta(unit.now)


def _check_may_stick(unit: Unit, draft: ResourceDraft) -> None:
    if draft.names.type.maxversions == 1:
        raise RegistryError("setdefaultversionsticky_false", draft.xid)
    if draft.names.type.setdefaultversionsticky:
        return
    if unit.wire.stickyversions:
        arguments = {"singular": draft.names.type.singular}
        raise RegistryError("setdefaultversionid_not_allowed", draft.xid, arguments)
    arguments = {"name": "defaultversionsticky", "error_detail": "must be false"}
    raise RegistryError("invalid_attribute", draft.meta_xid, arguments)


def drop_version(unit: Unit, draft: ResourceDraft, version: VersionDraft) -> None:
    """Delete one version; a sticky default that goes is no longer sticky (AL-04, AL-12)."""
    draft.remove(version)
    draft.touch_meta(unit.now)
    orphan(mode_of(draft), draft.versions.values(), version.id, unit.now)
    if draft.meta.get("defaultversionid") == version.id:
        draft.meta.pop("defaultversionid")
        draft.meta["defaultversionsticky"] = sticky_default(draft)


def order_versions(unit: Unit, draft: ResourceDraft) -> None:
    """Ancestors, the default, and pruning; roots and circles are judged at the end (RP-01)."""
    mode = mode_of(draft)
    _check_ancestors(draft, mode)
    set_ancestors(mode, draft.versions.values(), unit.now)
    choose_default(unit, draft)
    if _prune(unit, draft):
        set_ancestors(mode, draft.versions.values(), unit.now)
        choose_default(unit, draft)
    found = circle(draft.versions.values())
    if found:
        arguments = {"list": ", ".join(found)}
        raise RegistryError("ancestor_circular_reference", draft.xid, arguments)
    if draft.names.type.singleversionroot and len(roots(draft.versions.values())) > 1:
        raise RegistryError("multiple_roots", draft.xid, {"plural": draft.names.type.plural})


def _check_ancestors(draft: ResourceDraft, mode: str) -> None:
    """An ancestor that is named must be a version of the resource (VE-07)."""
    if mode != "manual":
        return
    for version in draft.versions.values():
        ancestor = version.values.get("ancestorid")
        if not version.unrooted and ancestor not in draft.versions:
            arguments = {"singular": "version", "id": str(ancestor)}
            raise RegistryError("unknown_id", draft.xid, arguments)


def _prune(unit: Unit, draft: ResourceDraft) -> bool:
    """Delete the oldest versions while there are too many, but not the default (AL-21)."""
    most = draft.names.type.maxversions
    if not most or len(draft.versions) <= most:
        return False
    while len(draft.versions) > most:
        default = draft.meta.get("defaultversionid")
        others = [version for version in draft.versions.values() if version.id != default]
        if most == 1 and any(version.old is None for version in draft.versions.values()):
            # With room for one, a new version replaces whatever was there.
            stored = [version for version in draft.versions.values() if version.old is not None]
            others = stored or others
        drop_version(unit, draft, oldest(mode_of(draft), others))
    return True
