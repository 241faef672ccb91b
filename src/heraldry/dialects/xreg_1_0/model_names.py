"""The model language of each generation, to and from the union form that is used inside.

The union has rc4's names (``ancestorid``) and the aspects of both generations, but one of rc2's:
``consistentformat`` is ``matchversions`` on the attribute ``format``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from heraldry.dialects.xreg_1_0.wire import RC2, RC4, Wire
from heraldry.errors import RegistryError

Aspects = dict[str, Any]

_NOT_IN: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    RC2.specversion: {"attribute": ("matchversions",), "group": ("constraints",), "resource": ()},
    RC4.specversion: {
        "attribute": ("matchcase",),
        "group": (),
        "resource": ("consistentformat", "setdefaultversionsticky"),
    },
}
"""Aspects that a generation does not have, by what they belong to."""

_OLDER: Final = {"compatiblewith": "modelcompatiblewith"}
_NEVER_STICKY: Final = {
    "name": "defaultversionsticky",
    "type": "boolean",
    "enum": [False],
    "required": True,
    "default": False,
}


def canonical_source(source: Mapping[str, Any], wire: Wire) -> Aspects:
    """A model's source of one generation in the union form; its foreign aspects are errors."""
    return _model(source, _Reading(wire))


def wire_model(shown: Mapping[str, Any], wire: Wire) -> Aspects:
    """The complete model as a generation shows it (MD-02, MD-15, MD-16, MD-32, MD-43, MD-47)."""
    model = _model(shown, _Showing(wire, complete=True))
    if "specversion" in model.get("attributes", {}):
        model["attributes"]["specversion"]["default"] = wire.specversion
    for group in model.get("groups", {}).values():
        for resource in group.get("resources", {}).values():
            _type_references(resource, wire)
    return model


def _type_references(resource: Aspects, wire: Wire) -> None:
    """Show the two references with the types of the generation; inside, both are texts (KD-19)."""
    address, xref = wire.reference_types
    name = f"{resource.get('singular')}url"
    if resource.get("hasdocument") and name in resource["attributes"]:
        resource["attributes"][name]["type"] = address
    if "xref" in resource.get("metaattributes", {}):
        resource["metaattributes"]["xref"]["type"] = xref


def wire_source(source: Mapping[str, Any], written: Wire, wire: Wire) -> Mapping[str, Any]:
    """A model's source for a client: as it was given (RG-06), or in the generation asked for."""
    if written is wire:
        return source
    return _model(canonical_source(source, written), _Showing(wire, complete=False))


class _Reading:
    """From a generation to the union."""

    def __init__(self, wire: Wire) -> None:
        self._wire, self._foreign = wire, _NOT_IN[wire.specversion]

    def group(self, group: Aspects) -> Aspects:
        return self._aspects(group, "group")

    def resource(self, resource: Aspects) -> Aspects:
        resource = self._aspects(resource, "resource")
        if isinstance(resource.get("attributes"), dict):
            named = _renamed(resource["attributes"], self._wire.ancestor, "ancestorid")
            resource["attributes"] = named
        return resource

    def finished(self, resource: Aspects) -> Aspects:
        consistent = resource.pop("consistentformat", None)
        attributes = resource.get("attributes", {})
        if consistent not in (None, True, False):
            raise _error('"consistentformat" must be a boolean')
        if consistent and isinstance(attributes, dict):
            given = attributes.get("format", {"type": "string"})
            if isinstance(given, dict):
                given = given | {"matchversions": True}
            resource["attributes"] = attributes | {"format": given}
        return resource

    def attribute(self, attribute: Aspects) -> Aspects:
        return self._aspects(attribute, "attribute")

    def _aspects(self, given: Aspects, kind: str) -> Aspects:
        for name in self._foreign[kind]:
            if name in given:
                raise _error(f'"{name}" is not an aspect of {self._wire.specversion}')
        return {_OLDER.get(name, name): value for name, value in given.items()}


class _Showing:
    """From the union to a generation."""

    def __init__(self, wire: Wire, *, complete: bool) -> None:
        self._wire, self._foreign, self._complete = wire, _NOT_IN[wire.specversion], complete

    def group(self, group: Aspects) -> Aspects:
        group = self._without(group, "group")
        if self._complete and self._wire is not RC2:
            group.pop("ximportresources", None)
        return group

    def resource(self, resource: Aspects) -> Aspects:
        if self._wire is RC2:
            return self._with_older_aspects(resource)
        # With one version there is nothing to choose, and nothing to say (ME-09).
        if resource.get("setdefaultversionsticky") is False and resource.get("maxversions") != 1:
            meta = resource.get("metaattributes", {})
            sticky = meta.get("defaultversionsticky", {}) | _NEVER_STICKY
            resource["metaattributes"] = meta | {"defaultversionsticky": sticky}
        return self._without(resource, "resource")

    def finished(self, resource: Aspects) -> Aspects:
        return resource

    def attribute(self, attribute: Aspects) -> Aspects:
        return self._without(attribute, "attribute")

    def _with_older_aspects(self, resource: Aspects) -> Aspects:
        attributes = resource.get("attributes", {})
        consistent = attributes.get("format", {}).get("matchversions", False)
        shown: Aspects = {}
        for name, value in resource.items():
            if name in ("typemap", "attributes") and self._complete:
                shown.setdefault("consistentformat", consistent)
            shown[name] = value
        if consistent or self._complete:
            shown["consistentformat"] = consistent
        if attributes:
            shown["attributes"] = _renamed(attributes, "ancestorid", self._wire.ancestor)
        return shown

    def _without(self, given: Aspects, kind: str) -> Aspects:
        return {name: value for name, value in given.items() if name not in self._foreign[kind]}


_Change = _Reading | _Showing


def _model(source: Mapping[str, Any], change: _Change) -> Aspects:
    model = dict(source)
    model["attributes"] = _attributes(model.get("attributes"), change)
    model["groups"] = _each(model.get("groups"), lambda group: _group(group, change))
    return {name: value for name, value in model.items() if name in source}


def _group(group: Aspects, change: _Change) -> Aspects:
    group = change.group(group)
    if "attributes" in group:
        group["attributes"] = _attributes(group["attributes"], change)
    if "resources" in group:
        group["resources"] = _each(group["resources"], lambda one: _resource(one, change))
    return group


def _resource(resource: Aspects, change: _Change) -> Aspects:
    resource = change.resource(dict(resource))
    for level in ("attributes", "resourceattributes", "metaattributes"):
        if level in resource:
            resource[level] = _attributes(resource[level], change)
    return change.finished(resource)


def _attributes(attributes: Any, change: _Change) -> Any:
    return _each(attributes, lambda attribute: _attribute(attribute, change))


def _attribute(attribute: Aspects, change: _Change) -> Aspects:
    attribute = change.attribute(attribute)
    if "attributes" in attribute:
        attribute["attributes"] = _attributes(attribute["attributes"], change)
    if isinstance(attribute.get("item"), dict):
        attribute["item"] = _attribute(attribute["item"], change)
    if "ifvalues" in attribute:
        attribute["ifvalues"] = _each(attribute["ifvalues"], lambda one: _siblings(one, change))
    return attribute


def _siblings(value: Aspects, change: _Change) -> Aspects:
    value = dict(value)
    if "siblingattributes" in value:
        value["siblingattributes"] = _attributes(value["siblingattributes"], change)
    return value


def _each(members: Any, change: Callable[[Aspects], Aspects]) -> Any:
    """Each member that is a map, changed; whatever else is there is for the model's reader."""
    if not isinstance(members, dict):
        return members
    return {
        name: change(value) if isinstance(value, dict) and not name.startswith("$") else value
        for name, value in members.items()
    }


def _renamed(attributes: Aspects, old: str, new: str) -> Aspects:
    if old == new or old not in attributes:
        return attributes
    return {
        (new if name == old else name): _named(value, old, new) if name == old else value
        for name, value in attributes.items()
    }


def _named(attribute: Any, old: str, new: str) -> Any:
    if isinstance(attribute, dict) and attribute.get("name") == old:
        return attribute | {"name": new}
    return attribute


def _error(reason: str) -> RegistryError:
    return RegistryError("model_error", "/model", {"error_detail": reason})
