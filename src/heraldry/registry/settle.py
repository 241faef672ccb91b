"""The end of a resource's write: everything is ordered, checked, saved and noted (RP-01)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from heraldry.model.conform import conform
from heraldry.model.constraints import Rule, check_versions, rules_of, with_defaults
from heraldry.model.matchversions import check_matching
from heraldry.registry.defaults import order_versions
from heraldry.registry.documents import check_compatibility, check_formats
from heraldry.registry.draft import resource_row, version_row
from heraldry.registry.journal import differing
from heraldry.registry.meta import check_compatibility_mode

if TYPE_CHECKING:
    from heraldry.registry.draft import ResourceDraft, VersionDraft
    from heraldry.registry.entity_names import Names, ResourceNames
    from heraldry.registry.unit import Unit
    from heraldry.store.rows import Row


def settle(unit: Unit, draft: ResourceDraft, *, everything: bool = False) -> None:
    """Order, check and save a resource; ``everything``: also what was not touched (MD-05)."""
    unit.budget.check()
    if not draft.xref:
        order_versions(unit, draft)
        rules = rules_in(draft.names, draft.group)
        for version in draft.versions.values():
            if version.touched or everything:
                values = with_defaults(rules, version.values)
                version.values = _checked(unit, draft.names.version, values, version.xid)
        if draft.meta_touched:
            check_compatibility_mode(draft)
        if draft.meta_touched or everything:
            draft.meta = _checked(unit, draft.names.meta, draft.meta, draft.meta_xid)
        verdicts = check_formats(unit, draft)
        shown = {version.id: version.values for version in draft.versions.values()}
        check_versions(rules, draft.group.attributes, shown, subject=draft.xid)
        check_matching(draft.names.type, shown, subject=draft.xid)
        check_compatibility(unit, draft, verdicts)
    save(unit, draft)


def rules_in(names: ResourceNames, group: Row) -> Sequence[Rule]:
    """The constraints on resources of a type in a group (MD-50, MD-55)."""
    given = group.attributes.get("constraints")
    return rules_of(names.group, given, subject=group.xid).get(names.type.plural, ())


def _checked(unit: Unit, names: Names, values: Mapping[str, Any], subject: str) -> dict[str, Any]:
    """The attributes of an entity in normal form; internal ones are kept as they are."""
    inside = {name: value for name, value in values.items() if name[:1] == "#"}
    shown = {n: v for n, v in values.items() if n[:1] != "#"} if inside else values
    found = conform(
        names.attributes, shown, subject=subject, model=unit.model, computed=names.computed
    )
    return found | inside if inside else found


def save(unit: Unit, draft: ResourceDraft) -> None:
    """Save what changed, and note it in the journal."""
    for version in draft.versions.values():
        if version.content is not None:
            version.document = (
                unit.tx.save_document(version.content) if version.content or version.empty else 0
            )
    row = resource_row(draft)
    old = draft.old
    note = _changes(draft)
    if old is None:
        unit.bump_group(draft.group, draft.names.type.plural)
        unit.journal.created(draft.xid)
    elif note:
        unit.journal.updated(draft.xid, note)
    if old is None or row != old:
        unit.tx.save(row)
    for version in draft.removed:
        assert version.old is not None  # only stored versions are remembered
        unit.tx.remove(version.old)
        unit.journal.deleted(version.xid)
    for id, copy in draft.borrowed.items():  # noqa: A001
        if id not in draft.versions:
            unit.journal.deleted(copy.xid)
    for version in draft.versions.values():
        before = version.old or draft.borrowed.get(version.id)
        _save_version(unit, version, version_row(draft, version), before)
    unit.resources[draft.xid] = row
    if old is None:
        unit.newcomers[draft.xid.lower()] = row
    unit.written.add(draft.key)


def _save_version(unit: Unit, version: VersionDraft, row: Row, before: Row | None) -> None:
    if before is None:
        unit.journal.created(version.xid)
    elif row == before:
        return
    elif version.touched:
        unit.journal.updated(version.xid, differing(before.attributes, row.attributes))
    unit.tx.save(row)


def _changes(draft: ResourceDraft) -> list[str]:
    """What a change event of the resource lists (EV-06)."""
    old = draft.old
    if old is None:
        return []
    names = [f"meta.{name}" for name in differing(old.attributes, draft.meta)]
    if draft.removed or any(version.old is None for version in draft.versions.values()):
        names += ["versions", "versionscount"]
    before = {version.key: version for version in [*draft.versions.values(), *draft.removed]}
    was = before.get(old.default)
    now = draft.versions.get(draft.meta.get("defaultversionid", ""))
    if was is not None and was is now and was.old is not None:
        names += differing(was.old.attributes, was.values) if was.touched else []
    else:
        attributes = [v.old.attributes for v in (was,) if v is not None and v.old is not None]
        attributes += [now.values] if now is not None else []
        names += {name: None for values in attributes for name in values}
    return names
