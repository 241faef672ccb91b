"""Writing one version of a resource that is at work (VE, DO, AL-01, AL-02)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from heraldry.errors import RegistryError
from heraldry.model.datatypes import check_id
from heraldry.registry.document_given import take_document
from heraldry.registry.draft import ResourceDraft, VersionDraft, new_version
from heraldry.registry.merge import check_same_id, merged

if TYPE_CHECKING:
    from heraldry.registry.unit import Unit

_RESERVED = ("null", "request")
"""Not ids of versions: words of the flag ``setdefaultversionid`` and of ``ancestorid`` (VE-02)."""


def write_version(
    unit: Unit,
    draft: ResourceDraft,
    id: str,  # noqa: A002
    body: Mapping[str, Any],
    *,
    patch: bool,
    any_id: bool = False,
) -> VersionDraft:
    """Create or update a version; ``id`` empty: the server chooses it (AL-01).

    ``any_id``: ids in the body are not compared (FL-42).
    """
    unit.budget.check()
    if draft.xref:
        detail = f'"{draft.xid}" uses "xref": its versions are written at the target'
        raise RegistryError("bad_request", draft.xid, {"error_detail": detail})
    given = _inside(unit, draft, body)
    version = _version(unit, draft, id)
    if not any_id:
        names = draft.names
        check_same_id(names.type.singular, given, names.id, draft.id, version.xid)
        check_same_id("version", given, "versionid", version.id, version.xid)
    _refuse_names(draft, given, version)
    old = version.values if version.old is not None else None
    _take_ancestor(given, version, draft)
    take_document(draft.names, given, version, patch=patch)
    values = merged(unit, draft.names.version, given, old, patch=patch, subject=version.xid)
    if "ancestorid" not in given and not version.unrooted and old is not None:
        values["ancestorid"] = old["ancestorid"]
    version.values = values
    version.touched = True
    return version


def _inside(unit: Unit, draft: ResourceDraft, body: Mapping[str, Any]) -> dict[str, Any]:
    """The body in canonical names; that of another generation must not stand beside our own."""
    wire = unit.wire
    found = {wire.inside(name): value for name, value in body.items()}
    if len(found) < len(body):
        detail = f'give either it or "{wire.inside(wire.ancestor)}"'
        arguments = {"name": wire.ancestor, "error_detail": detail}
        raise RegistryError("invalid_attribute", draft.xid, arguments)
    return found


def _version(unit: Unit, draft: ResourceDraft, id: str) -> VersionDraft:  # noqa: A002
    if not id:
        return new_version(unit, draft, _next_id(draft))
    found = draft.versions.get(id)
    if found is not None:
        return found
    xid = f"{draft.xid}/versions/{id}"
    check_id(id, subject=xid)
    if id in _RESERVED:
        detail = "the word is reserved"
        raise RegistryError("malformed_id", xid, {"id": id, "error_detail": detail})
    lower = id.lower()
    for other in draft.versions:
        if other.lower() == lower:
            detail = f'a version with the "versionid" "{other}" exists already'
            raise RegistryError("bad_request", xid, {"error_detail": detail})
    if not draft.names.type.setversionid:
        plural = draft.names.type.plural
        raise RegistryError("versionid_not_allowed", draft.xid, {"plural": plural})
    return new_version(unit, draft, id)


def _refuse_names(draft: ResourceDraft, given: Mapping[str, Any], version: VersionDraft) -> None:
    """An extension of a version has no name that its resource uses (A-11)."""
    kind = draft.names.type
    if "*" not in kind.attributes:
        return
    for name in given:
        if name in kind.resourceattributes and name not in kind.attributes:
            arguments = {"name": name, "error_detail": "the name belongs to the Resource"}
            raise RegistryError("invalid_attribute", version.xid, arguments)


def _next_id(draft: ResourceDraft) -> str:
    """The next number that was never issued and is not taken (AL-01)."""
    number = draft.meta.get("#nextversionid", 1)
    taken = {other.lower() for other in draft.versions}
    while str(number) in taken:
        number += 1
    draft.meta["#nextversionid"] = number + 1
    return str(number)


def _take_ancestor(given: dict[str, Any], version: VersionDraft, draft: ResourceDraft) -> None:
    """``null``: the versionmode decides; ``request``: itself (VE-06, VE-07)."""
    if "ancestorid" not in given:
        return
    ancestor = given["ancestorid"]
    if ancestor is None:
        del given["ancestorid"]
        version.unrooted = True
        return
    version.unrooted = False
    if ancestor == "request":
        given["ancestorid"] = version.id
    elif not isinstance(ancestor, str) or not ancestor:
        arguments = {"name": "ancestorid", "error_detail": "must be a non-empty string"}
        raise RegistryError("invalid_attribute", draft.xid, arguments)
    else:
        check_id(ancestor, subject=draft.xid)
