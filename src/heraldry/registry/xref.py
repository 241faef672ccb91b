"""Resources that borrow their versions from another one (XR-01..XR-07)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any

from heraldry.errors import RegistryError, XidError
from heraldry.model.datatypes import ID_FORM, is_id
from heraldry.model.xid import Xid
from heraldry.registry.journal import differing
from heraldry.registry.merge import check_same_id
from heraldry.registry.meta import check_meta_epoch
from heraldry.store.rows import Row

if TYPE_CHECKING:
    from heraldry.model.metamodel import GroupType, Model
    from heraldry.registry.draft import ResourceDraft
    from heraldry.registry.unit import Unit

_FORM = "must be of the form: /GROUPS/GID/RESOURCES/RID"


def enter_xref(
    unit: Unit,
    draft: ResourceDraft,
    xref: str,
    own: Mapping[str, Any],
    meta: Mapping[str, Any],
    *,
    any_id: bool = False,
) -> None:
    """Make a resource borrow from another; its own versions go (XR-05).

    ``own`` and ``meta`` are what the request says beside the xref: it may be ids and an epoch.
    ``any_id``: the id in ``meta`` is not compared (FL-42).
    """
    if not any_id:
        names = draft.names
        check_same_id(names.type.singular, meta, names.id, draft.id, draft.meta_xid)
    _check_target(unit.model, draft, xref)
    check_meta_epoch(unit, draft, meta)
    _refuse_more(draft, own, meta)
    if draft.was_xref:
        kept = {name: value for name, value in draft.meta.items() if name[:1] == "#"}
    else:
        kept = {"#epoch": draft.meta["epoch"], "#createdat": draft.meta["createdat"]}
        for version in list(draft.versions.values()):
            draft.remove(version)
    draft.meta = {**kept, "xref": xref}
    draft.meta_touched = True


def _check_target(model: Model, draft: ResourceDraft, xref: str) -> None:
    """The target is a resource of the same type, which may be imported (XR-01)."""
    try:
        xid = Xid.parse(xref)
    except XidError as error:
        raise _malformed(draft, xref, error.reason) from None
    if not xid.resource or xid.version or xid.meta:
        raise _malformed(draft, xref, _FORM)
    if is_id(xid.group) is None or is_id(xid.resource) is None:
        raise _malformed(draft, xref, f"an id in it {ID_FORM}")
    group = model.groups.get(xid.groups)
    if group is None:
        raise _malformed(draft, xref, f"points to an unknown Group type: {xid.groups}")
    if xid.resources not in group.resources:
        raise _malformed(draft, xref, f"points to an unknown Resource type: {xid.resources}")
    wanted = _origin(draft.names.group, draft.names.type.plural)
    found = _origin(group, xid.resources)
    if wanted != found:
        raise _malformed(draft, xref, f'must point to a "{wanted}" not "{found}"')


def _origin(group: GroupType, plural: str) -> str:
    """Where a resource type comes from: what is imported is the same type (MD-32)."""
    return group.imported.get(plural) or f"/{group.plural}/{plural}"


def _malformed(draft: ResourceDraft, xref: str, detail: str) -> RegistryError:
    arguments = {"xref": xref, "error_detail": detail}
    return RegistryError("malformed_xref", draft.meta_xid, arguments)


def _refuse_more(draft: ResourceDraft, own: Mapping[str, Any], meta: Mapping[str, Any]) -> None:
    names = draft.names
    ignored = {*names.version.computed, *names.version.readonly} - {"versionid", *names.documents}
    found = sorted(name for name in own if name not in ignored)
    if not found:
        free = {*names.meta.computed, *names.meta.readonly, "xref", "epoch"}
        found = sorted(
            name for name, value in meta.items() if value is not None and name not in free
        )
    if found:
        arguments = {"name": found[0], "singular": names.type.singular}
        listed = f"All of them: {', '.join(found)}." if len(found) > 1 else ""
        raise RegistryError("extra_xref_attribute", draft.xid, arguments, listed)


def leave_xref(unit: Unit, draft: ResourceDraft) -> None:
    """Begin anew with own versions; the epoch grows beyond all that were shown (XR-07).

    So do the numbers of versions: one that was shown here was another version's.
    """
    copies = unit.tx.children([draft.key], f"{draft.names.path}/versions")
    draft.borrowed = {copy.id: copy for copy in copies}
    for copy in draft.borrowed.values():
        unit.tx.remove(copy)
    number = next(n for n in count(1) if str(n) not in draft.borrowed)
    target = unit.tx.find(draft.xref)
    shown = [draft.meta.get("#epoch", 0)]
    if target is not None and not target.xref:
        shown.append(target.attributes["epoch"])
        default = unit.tx.by_key([target.default]).get(target.default)
        shown.append(default.attributes["epoch"] if default is not None else 0)
    draft.meta = {
        "#nextversionid": number,
        "epoch": max(shown) + 1,
        "createdat": draft.meta.get("#createdat", unit.now),
        "modifiedat": unit.now,
    }
    draft.meta_touched = True


def follow_targets(unit: Unit) -> list[Row]:
    """Bring copies up to date: of what was written here, and of what borrows from it."""
    sources: dict[str, Row] = {}
    for xid, row in unit.resources.items():
        if row is not None and row.xref:
            sources[xid] = row
        for source in unit.tx.borrowers(xid):
            sources[source.xid] = source
    for source in sources.values():
        copy_target(unit, source)
    return list(sources.values())


def copy_target(unit: Unit, source: Row) -> None:
    """Show the target's attributes and versions as the source's own (XR-02).

    Nothing is shown where the target is missing or itself borrows (XR-03, XR-04).
    """
    tx = unit.tx
    kind = f"{source.type}/versions"
    before = {row.id: row for row in tx.children([source.key], kind)}
    target = tx.find(source.xref)
    kept = {name: value for name, value in source.attributes.items() if name[:1] == "#"}
    kept["xref"] = source.xref
    default = 0
    after: dict[str, Row] = {}
    if target is not None and not target.xref:
        shown = {n: v for n, v in target.attributes.items() if n[:1] != "#"}
        kept = {**shown, **kept}
        for version in tx.children([target.key], f"{target.type}/versions"):
            copy = _copy_version(unit, source, version, before.get(version.id))
            after[copy.id] = copy
            default = copy.key if version.key == target.default else default
    for row in _missing(before, after):
        tx.remove(row)
    changed = replace(source, attributes=kept, default=default)
    tx.save(changed)
    _note(unit, (source, before), (changed, after))


def _copy_version(unit: Unit, source: Row, version: Row, before: Row | None) -> Row:
    copy = replace(
        version,
        key=before.key if before is not None else unit.tx.next_key(),
        parent=source.key,
        type=f"{source.type}/versions",
        xid=f"{source.xid}/versions/{version.id}",
        borrowed=True,
    )
    if copy != before:
        unit.tx.save(copy)
    return copy


def _missing(before: Mapping[str, Row], after: Mapping[str, Row]) -> list[Row]:
    return [row for id, row in before.items() if id not in after]  # noqa: A001


_Shown = tuple[Row, Mapping[str, Row]]
"""A resource with the versions that it shows, by id."""


def _note(unit: Unit, before: _Shown, after: _Shown) -> None:
    """A change of the target is one of the resource that shows it (EV-06, EV-11)."""
    journal, (old_row, old_versions), (new_row, new_versions) = unit.journal, before, after
    names = [f"meta.{name}" for name in differing(old_row.attributes, new_row.attributes)]
    if old_versions.keys() != new_versions.keys():
        names += ["versions", "versionscount"]
    shown = {version.key: version.attributes for version in new_versions.values()}.get(
        new_row.default, {}
    )
    hidden = {version.key: version.attributes for version in old_versions.values()}.get(
        old_row.default, {}
    )
    names += differing(hidden, shown) if new_row.default == old_row.default else {**hidden, **shown}
    if names:
        journal.updated(new_row.xid, names)
    for row in _missing(old_versions, new_versions):
        journal.deleted(row.xid)
    for id, copy in new_versions.items():  # noqa: A001
        if id not in old_versions:
            journal.created(copy.xid)
        elif copy != old_versions[id]:
            journal.updated(copy.xid, differing(old_versions[id].attributes, copy.attributes))
