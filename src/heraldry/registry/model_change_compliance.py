"""Every entity under a new model: it complies, or the model is refused (MD-05, MD-06)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from heraldry.errors import RegistryError
from heraldry.model.conform import conform
from heraldry.model.constraints import rules_of
from heraldry.model.model_checks import model_change
from heraldry.registry.draft import open_resource
from heraldry.registry.entity_names import group_names, registry_names, resource_names
from heraldry.registry.settle import settle

if TYPE_CHECKING:
    from heraldry.model.metamodel import Model
    from heraldry.registry.draft import ResourceDraft
    from heraldry.registry.entity_names import Names
    from heraldry.registry.unit import Unit
    from heraldry.store.rows import Row

_OF_ATTRIBUTES: Final = (
    "invalid_attribute",
    "malformed_xid",
    "required_attribute_missing",
    "unknown_attribute",
)
"""Errors that no client made: the model does not fit what is stored."""


def check_compliance(unit: Unit) -> None:
    """All entities comply with the model that the request has set (MD-05).

    Resources are settled again as if they were written: versions that are too many now go
    (AL-21), and documents, constraints and roots are judged by the new rules. Nothing else of an
    entity changes, and what the request itself wrote was checked already.
    """
    former = unit.former
    if former is None:
        return
    change = model_change(former, unit.model)
    try:
        _refuse_removed(unit, change.removed)
        if change.registry:
            _check_registry(unit)
        for plural in sorted(change.groups):
            _check_groups(unit, plural)
        for path in sorted(change.resources):
            _check_resources(unit, former, path)
    except RegistryError as error:
        if error.name not in _OF_ATTRIBUTES:
            raise
        told = f"{str(error).removesuffix('.')}."
        raise RegistryError("model_compliance_error", "/model", detail=told) from None


def _refuse_removed(unit: Unit, removed: frozenset[str]) -> None:
    """A type goes only when its entities are gone: a model deletes no data (MD-05)."""
    for path in sorted(removed):
        row = next(unit.tx.rows(path), None)
        if row is not None:
            told = f"{row.xid} exists: delete all {path} before their type is removed."
            raise RegistryError("model_compliance_error", "/model", detail=told)


def _check_registry(unit: Unit) -> None:
    found = _conforming(unit, registry_names(unit), unit.state.attributes, "/")
    if found != unit.state.attributes:
        unit.set_state(replace(unit.state, attributes=found))


def _check_groups(unit: Unit, plural: str) -> None:
    type_ = unit.model.groups[plural]
    names = group_names(unit, type_).own
    for row in list(unit.tx.rows(plural)):
        unit.budget.check()
        found = _conforming(unit, names, row.attributes, row.xid)
        rules_of(type_, found.get("constraints"), subject=row.xid)
        if found != row.attributes:
            new = replace(row, attributes=found)
            unit.tx.save(new)
            unit.groups[new.xid.lower()] = new


def _conforming(unit: Unit, names: Names, stored: Any, subject: str) -> dict[str, Any]:
    """Attributes with the defaults that the new model has for those that are absent (MD-19)."""
    inside = {name: value for name, value in stored.items() if name[0] == "#"}
    shown = {name: value for name, value in stored.items() if name[0] != "#"}
    found = conform(
        names.attributes, shown, subject=subject, model=unit.model, computed=names.computed
    )
    return found | inside


def _check_resources(unit: Unit, former: Model, path: str) -> None:
    plural, _, name = path.partition("/")
    group = unit.model.groups[plural]
    names = resource_names(unit, group, group.resources[name])
    was_document = former.groups[plural].resources[name].hasdocument
    groups: dict[int, Row] = {}
    for row in list(unit.tx.rows(path)):
        if row.xid in unit.resources or row.xref:
            continue
        if row.parent not in groups:
            groups = unit.tx.by_key([row.parent])
        draft = open_resource(unit, groups[row.parent], names, row.id, row)
        _check_documents(draft, was_document)
        settle(unit, draft, everything=True)


def _check_documents(draft: ResourceDraft, was_document: bool) -> None:
    """MD-44: a type keeps its documents; and attributes do not turn into documents."""
    type_ = draft.names.type
    if type_.hasdocument == was_document:
        return
    for version in draft.versions.values():
        if version.document and not type_.hasdocument:
            raise RegistryError("hasdocument_violation", version.xid, {"plural": type_.plural})
        for name in draft.names.documents:
            if name in version.values:
                told = f"{version.xid} has an attribute {name}, which would name its document."
                raise RegistryError("model_compliance_error", "/model", detail=told)
