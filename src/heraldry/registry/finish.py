"""The end of a write: what other entities must follow or be checked for (GN-01)."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from heraldry.model.constraints import check_versions
from heraldry.registry.entity_names import resource_names
from heraldry.registry.message_rules import check_messages
from heraldry.registry.model_change_compliance import check_compliance
from heraldry.registry.settle import rules_in
from heraldry.registry.xref import follow_targets

if TYPE_CHECKING:
    from heraldry.registry.unit import Unit
    from heraldry.store.rows import Row


def finish(unit: Unit) -> None:
    """Bring copies up to date, check what spans entities, and write the journal."""
    if unit.remodelled:
        check_compliance(unit)
    copied = follow_targets(unit)
    for row in copied:
        _check_resources(unit, unit.group(row.parent), {row.key})
    for group in unit.regrouped.values():
        if group.key not in unit.fresh:
            _check_resources(unit, group, None)
    check_messages(unit)
    unit.write_journal()


def _check_resources(unit: Unit, group: Row, keys: set[int] | None) -> None:
    """Every version in a group keeps to its constraints, also borrowed ones (MD-54)."""
    type = unit.model.groups[group.type]  # noqa: A001
    for resource in type.resources.values():
        names = resource_names(unit, type, resource)
        rules = rules_in(names, group)
        if not rules:
            continue
        rows = {r.key: r for r in unit.tx.children([group.key], names.path, keys=keys)}
        versions = unit.tx.children(list(rows), f"{names.path}/versions")
        for key, some in groupby(versions, key=lambda row: row.parent):
            unit.budget.check()
            shown = {version.id: version.attributes for version in some}
            check_versions(rules, group.attributes, shown, subject=rows[key].xid)
