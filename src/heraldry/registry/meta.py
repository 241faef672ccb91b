"""Writing the meta entity of a resource that is at work (ME, XR-05, XR-07, FL-60..FL-63)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from heraldry.errors import RegistryError
from heraldry.registry.merge import check_epoch, check_same_id, merged

if TYPE_CHECKING:
    from heraldry.registry.draft import ResourceDraft
    from heraldry.registry.unit import Unit

_DEFAULT = ("defaultversionid", "defaultversionsticky")


def write_meta(
    unit: Unit,
    draft: ResourceDraft,
    body: Mapping[str, Any],
    *,
    patch: bool,
    any_id: bool = False,
) -> None:
    """Replace or patch the meta entity; who is default is decided later, by ``settle``."""
    given = {name: value for name, value in body.items() if name not in unit.ignores}
    if "id" not in unit.ignores or not any_id:
        names = draft.names
        check_same_id(names.type.singular, given, names.id, draft.id, draft.meta_xid)
    if isinstance(given.get("compatibility"), str) and given["compatibility"].lower() == "none":
        given["compatibility"] = None  # KD-2: what older generations wrote for "no rule"
    if patch:
        _imply_sticky(draft, given)
    # Behind an xref there were no attributes of its own: it is written like a new one (XR-07).
    old = draft.old.attributes if draft.old is not None and not draft.was_xref else None
    values = merged(unit, draft.names.meta, given, old, patch=patch, subject=draft.meta_xid)
    values |= {n: v for n, v in draft.meta.items() if n[:1] == "#"}
    if old is None:
        values["epoch"] = draft.meta["epoch"]
        if "createdat" not in given:
            values["createdat"] = draft.meta["createdat"]
    draft.meta = values
    draft.meta_touched = True


def check_compatibility_mode(draft: ResourceDraft) -> None:
    """A compatibility that is none of those of the model is unknown for the document's format."""
    mode, attribute = (
        source.get("compatibility") for source in (draft.meta, draft.names.meta.attributes)
    )
    if not mode or not isinstance(mode, str) or attribute is None or not attribute.strict:
        return
    if attribute.enum and mode.lower() not in {str(allowed).lower() for allowed in attribute.enum}:
        default = draft.versions[draft.meta["defaultversionid"]]
        arguments = {"compat": mode, "format": str(default.values.get("format", ""))}
        raise RegistryError("compatibility_unknown", draft.xid, arguments)


def _imply_sticky(draft: ResourceDraft, given: dict[str, Any]) -> None:
    """PATCH of the id alone decides about sticky: a value pins, ``null`` lets go (ME-10)."""
    has_id, has_sticky = (name in given for name in _DEFAULT)
    if has_id and not has_sticky:
        pinned = given["defaultversionid"] is not None
        given["defaultversionsticky"] = pinned or sticky_default(draft)
    elif has_sticky and not has_id and given["defaultversionsticky"] is None:
        given["defaultversionid"] = None


def sticky_default(draft: ResourceDraft) -> bool:
    """What ``defaultversionsticky`` is where nobody says (ME-09)."""
    attribute = draft.names.meta.attributes.get("defaultversionsticky")
    return bool(attribute is not None and attribute.default is True)


def apply_flag(draft: ResourceDraft, wanted: str, now: str) -> None:
    """``setdefaultversionid`` overrides what the body says; ``null`` lets go (FL-61)."""
    before = {name: draft.meta.get(name) for name in _DEFAULT}
    if wanted == "null":
        draft.meta["defaultversionsticky"] = False
    else:
        draft.meta["defaultversionid"] = wanted
        draft.meta["defaultversionsticky"] = True
    if {name: draft.meta.get(name) for name in _DEFAULT} != before:
        draft.touch_meta(now)


def xref_of(draft: ResourceDraft, body: Mapping[str, Any] | None, *, patch: bool) -> str:
    """The xref a resource will have: given, kept, or removed by ``null`` or by a PUT without it."""
    if body is None or (patch and "xref" not in body):
        return draft.xref
    value = body.get("xref")
    if value is None:
        return ""
    if not isinstance(value, str) or not value:
        arguments = {"xref": str(value), "error_detail": "it must be a string that is not empty"}
        raise RegistryError("malformed_xref", draft.meta_xid, arguments)
    return value


def check_meta_epoch(unit: Unit, draft: ResourceDraft, body: Mapping[str, Any]) -> None:
    """An epoch may come along only where the resource has its own (XR-05)."""
    old = draft.old
    own = old.attributes if old is not None and not old.xref else None
    check_epoch(unit, body.get("epoch"), own, draft.meta_xid)
