"""The complete form of a model, as ``/model`` shows it (MD-02).

Names are canonical, aspects are those of both generations: ``dialects.xreg_1_0.model_names``
leaves out what one of them does not have.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heraldry.model.metamodel import (
    Attribute,
    Attributes,
    Constraint,
    Described,
    GroupType,
    Model,
    ResourceType,
)

_FLAGS = ("matchcase", "matchversions", "readonly", "immutable", "required")


def show_model(model: Model) -> dict[str, Any]:
    """The model with everything the specification adds; what is empty or false is left out."""
    groups = {plural: _show_group(group) for plural, group in model.groups.items()}
    return {
        **_show_about(model.about),
        "attributes": _show_attributes(model.attributes),
        **({"groups": groups} if groups else {}),
    }


def _show_about(about: Described) -> dict[str, Any]:
    shown = {
        "description": about.description,
        "documentation": about.documentation,
        "icon": about.icon,
        "labels": dict(about.labels),
        "modelversion": about.modelversion,
        "modelcompatiblewith": about.modelcompatiblewith,
    }
    return {name: value for name, value in shown.items() if value}


def _show_group(group: GroupType) -> dict[str, Any]:
    """Imported resource types are shown like local ones; the imports are not (MD-32)."""
    constraints = {key: _show_constraint(c) for key, c in group.constraints.items()}
    resources = {plural: _show_resource(resource) for plural, resource in group.resources.items()}
    return {
        "plural": group.plural,
        "singular": group.singular,
        **_show_about(group.about),
        "attributes": _show_attributes(group.attributes),
        **({"constraints": constraints} if constraints else {}),
        **({"resources": resources} if resources else {}),
    }


def _show_constraint(constraint: Constraint) -> dict[str, Any]:
    shown: dict[str, Any] = {}
    if constraint.default is not None:
        shown["default"] = constraint.default
    if constraint.enum:
        shown["enum"] = list(constraint.enum)
    if constraint.equals:
        shown["equals"] = constraint.equals
    return shown


def _show_resource(resource: ResourceType) -> dict[str, Any]:
    return {
        "plural": resource.plural,
        "singular": resource.singular,
        **_show_about(resource.about),
        "maxversions": resource.maxversions,
        "setversionid": resource.setversionid,
        "setdefaultversionsticky": resource.setdefaultversionsticky,
        "hasdocument": resource.hasdocument,
        "versionmode": resource.versionmode,
        "singleversionroot": resource.singleversionroot,
        "validateformat": resource.validateformat,
        "validatecompatibility": resource.validatecompatibility,
        "strictvalidation": resource.strictvalidation,
        "consistentformat": resource.attributes["format"].matchversions,
        **({"typemap": dict(resource.typemap)} if resource.typemap else {}),
        "attributes": _show_attributes(resource.attributes),
        "resourceattributes": _show_attributes(resource.resourceattributes),
        "metaattributes": _show_attributes(resource.metaattributes),
    }


def _show_attributes(attributes: Attributes) -> dict[str, Any]:
    return {name: _show_attribute(attribute) for name, attribute in attributes.items()}


def _show_attribute(attribute: Attribute) -> dict[str, Any]:
    shown: dict[str, Any] = {"name": attribute.name} if attribute.name else {}
    shown["type"] = attribute.type
    if attribute.target:
        shown["target"] = attribute.target
    if attribute.namecharset != "strict":
        shown["namecharset"] = attribute.namecharset
    if attribute.description:
        shown["description"] = attribute.description
    if attribute.enum:
        shown["enum"] = list(attribute.enum)
    if attribute.enum or not attribute.strict:
        shown["strict"] = attribute.strict
    shown.update({flag: True for flag in _FLAGS if getattr(attribute, flag)})
    if attribute.default is not None:
        shown["default"] = attribute.default
    if attribute.attributes:
        shown["attributes"] = _show_attributes(attribute.attributes)
    if attribute.item is not None:
        shown["item"] = _show_attribute(attribute.item)
    if attribute.ifvalues:
        shown["ifvalues"] = _show_ifvalues(attribute.ifvalues)
    return shown


def _show_ifvalues(ifvalues: Mapping[str, Attributes]) -> dict[str, Any]:
    return {
        value: {"siblingattributes": _show_attributes(siblings)}
        for value, siblings in ifvalues.items()
    }
