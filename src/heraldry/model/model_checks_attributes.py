"""The rules about attributes that concern the complete model (MD-11..MD-23, A-10, A-11)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from heraldry.errors import RegistryError
from heraldry.model.constraints import check_type
from heraldry.model.datatypes import (
    CHECKS,
    KEY_FORM,
    NAME_FORM,
    SCALARS,
    comparable,
    is_key,
    is_name,
    value_text,
)
from heraldry.model.metamodel import Attribute, Attributes, Model, ResourceType
from heraldry.model.model_reading_aspects import fault, within
from heraldry.model.model_reading_attributes import TARGET
from heraldry.model.spec_attributes import (
    group_form,
    meta_form,
    registry_form,
    resource_form,
    version_form,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Where attributes are defined, and what that allows."""

    model: Model
    path: str
    spec: frozenset[str] = frozenset()
    """The names that the specification defines here."""
    taken: frozenset[str] = frozenset()
    """Names of this level that ``ifvalues`` may not use again."""
    extended: bool = False
    unmatchable: str = ""
    """Why no attribute here may have ``matchversions``; empty: it may."""

    def inside(self, attribute: Attribute, path: str) -> _Place:
        """The place of the attributes of an object, or of the objects in a collection."""
        why = self.unmatchable
        if attribute.name == "*":
            why = why or "it is below *"
        if attribute.type in ("map", "array"):
            why = why or f"it is inside {path}, which is a {attribute.type}"
        return replace(
            self, path=path, spec=frozenset(), taken=frozenset(), extended=False, unmatchable=why
        )


def check_extensions(resource: ResourceType, path: str) -> None:
    """Versions do not use the names of resources, and resources have no extensions (MD-49)."""
    own = resource_form(resource.singular).all
    added = sorted(name for name in resource.resourceattributes if name not in own)
    if added:
        names = ", ".join(added)
        raise fault(f"{path}: resourceattributes must not have extensions, but has {names}")
    spec = version_form(resource.singular, hasdocument=resource.hasdocument).all
    for name in resource.attributes:
        if name in own and name not in spec:
            raise fault(f"{within(path, name)}: resources already have an attribute {name!r}")


def check_model(model: Model) -> None:
    """Check every attribute and constraint of a model."""
    elsewhere = "only attributes of versions may have it"
    place = _Place(model=model, path="", unmatchable=elsewhere)
    _check_level(model.attributes, registry_form(model.groups).all, place)
    for plural, group in model.groups.items():
        here = replace(place, path=within("groups", plural))
        _check_level(group.attributes, group_form(group.singular, group.resources).all, here)
        for name, resource in group.resources.items():
            if name not in group.imported:
                _check_resource(resource, replace(place, path=f"{here.path}.resources.{name}"))
        check_type(group)


def _check_resource(resource: ResourceType, place: _Place) -> None:
    own, meta = resource_form(resource.singular).all, meta_form(resource.singular).all
    spec = version_form(resource.singular, hasdocument=resource.hasdocument).all
    _check_level(resource.resourceattributes, own, place)
    _check_level(resource.metaattributes, meta, place)
    versions = replace(place, unmatchable="", taken=frozenset(own))
    _check_level(resource.attributes, spec, versions)


def _check_level(attributes: Attributes, spec: Attributes, place: _Place) -> None:
    _check_attributes(attributes, replace(place, spec=frozenset(spec)))


def _check_attributes(attributes: Attributes, place: _Place) -> None:
    for name, attribute in attributes.items():
        path = within(place.path, name)
        if name not in place.spec:
            _check_name(name, place)
            if attribute.immutable:
                raise fault(
                    f"{path} must not be immutable, as the specification does not define it"
                )
        _check_attribute(attribute, path, place)
    taken = place.taken.union(attributes)
    for attribute in attributes.values():
        _check_ifvalues(attribute, replace(place, taken=taken))


def _check_name(name: str, place: _Place) -> None:
    """A-02 or, where the object says so, T-06 (MD-13)."""
    if name == "*" or (is_key(name) if place.extended else is_name(name)):
        return
    form = KEY_FORM if place.extended else NAME_FORM
    detail = f"the name {form}" + (f" (in {place.path})" if place.path else "")
    raise RegistryError("invalid_attribute", "/model", {"name": name, "error_detail": detail})


def _check_attribute(attribute: Attribute, path: str, place: _Place) -> None:
    _check_target(attribute, path, place.model)
    _check_enum(attribute, path, place.model)
    if attribute.matchcase and (attribute.item or attribute).type != "string":
        raise fault(f"{path} must not have matchcase, as it is not a string")
    if attribute.matchversions:
        _check_matchversions(attribute, path, place)
    _check_nested(attribute, path, place)


def _check_nested(attribute: Attribute, path: str, place: _Place) -> None:
    """The attributes of an object, and what the item of a collection has."""
    place = place.inside(attribute, path)
    holder = attribute
    while holder.item is not None:
        path, holder = within(path, "item"), holder.item
        _check_target(holder, path, place.model)
    extended = holder.namecharset == "extended"
    _check_attributes(holder.attributes, replace(place, path=path, extended=extended))


def _check_target(attribute: Attribute, path: str, model: Model) -> None:
    """An xid can only lead to a type there is (MD-12); addresses may lead to other registries."""
    found = TARGET.fullmatch(attribute.target)
    if found is None or attribute.type != "xid":
        return
    group = model.groups.get(found[1])
    if group is None:
        raise fault(f"{path} has a target of the unknown group type {found[1]!r}")
    if found[2] and found[2] not in group.resources:
        raise fault(f"{path} has a target of the unknown resource type {found[2]!r}")


def _check_enum(attribute: Attribute, path: str, model: Model) -> None:
    """MD-14 and the default of MD-19; the enum of an array or map is that of its items (KD-6)."""
    kind = (attribute.item or attribute).type
    if attribute.enum and kind not in SCALARS:
        raise fault(f"{path} must not have an enum, as neither it nor its items are scalars")
    for value in attribute.enum:
        _check_value(value, kind, f"the enum of {path}", model)
    if attribute.default is None:
        return
    _check_value(attribute.default, kind, f"the default of {path}", model)
    allowed = [comparable(value) for value in attribute.enum] if attribute.strict else []
    if allowed and comparable(attribute.default) not in allowed:
        shown = ", ".join(map(value_text, attribute.enum))
        raise fault(f"the default of {path} must be one of its enum: {shown}")


def _check_value(value: Any, kind: str, called: str, model: Model) -> None:
    try:
        CHECKS[kind](value, model)
    except ValueError as error:
        raise fault(f"{called} has {value!r}, which {error}") from None


def _check_matchversions(attribute: Attribute, path: str, place: _Place) -> None:
    """MD-16."""
    why = place.unmatchable
    if attribute.name == "*":
        why = why or "it stands for any name"
    if attribute.type not in SCALARS:
        why = why or "it is not a scalar"
    if why:
        raise fault(f"{path} must not have matchversions: {why}")


def _check_ifvalues(attribute: Attribute, place: _Place) -> None:
    """MD-21, MD-22."""
    path = within(within(place.path, attribute.name), "ifvalues")
    seen: set[str] = set()
    for value, siblings in attribute.ifvalues.items():
        if not value or value.startswith("^"):
            raise fault(f"{path} has the key {value!r}: it must have text and not start with ^")
        if value.lower() in seen:
            raise fault(f"{path} has keys that differ only by case: {value!r}")
        seen.add(value.lower())
        _check_possible(attribute, value, path)
        _check_siblings(siblings, replace(place, path=f"{path}.{value}"))


def _check_possible(attribute: Attribute, value: str, path: str) -> None:
    values = {value_text(member).lower() for member in attribute.enum}
    if values and attribute.strict and value.lower() not in values:
        raise fault(f"{path} has the key {value!r}, which is not in the enum")


def _check_siblings(siblings: Mapping[str, Attribute], place: _Place) -> None:
    for name in siblings:
        if name in place.taken:
            raise fault(f"{place.path} defines {name!r}, which is already defined there")
    why = place.unmatchable or "it is defined by ifvalues"
    _check_attributes(siblings, replace(place, spec=frozenset(), unmatchable=why))
