"""Reading attribute definitions of a model: which aspects go with which type (MD-10..MD-21)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from heraldry.errors import RegistryError
from heraldry.model.datatypes import SCALARS, TYPES
from heraldry.model.metamodel import Attribute
from heraldry.model.model_reading_aspects import Aspects, fault, within

TARGET = re.compile(r"/([^/\[\]]+)(?:/([^/\[\]]+)(/versions|\[/versions\])?)?")
"""MD-12: the group type, the resource type, and whether versions are meant."""
DEPTH = 100
"""How deep attributes may lie in each other."""

_TARGETED = ("url", "uri", "xid")
_CHARSETS = ("strict", "extended")
_ITEM = frozenset({"type", "target", "namecharset", "attributes", "item"})
_ATTRIBUTE = _ITEM | {
    "name",
    "description",
    "enum",
    "strict",
    "matchcase",
    "matchversions",
    "readonly",
    "immutable",
    "required",
    "default",
    "ifvalues",
}


def read_attributes(source: Any, path: str, depth: int = 0) -> dict[str, Attribute]:
    """Read a map of attributes; ``path`` names the place in errors."""
    if not isinstance(source, Mapping):
        raise fault(f"{path or 'attributes'} must be an object that defines attributes")
    if depth > DEPTH:
        raise fault(f"attributes lie more than {DEPTH} levels deep")
    return {
        name: _read_attribute(name, given, within(path, name), depth)
        for name, given in source.items()
    }


def _read_attribute(name: str, source: Any, path: str, depth: int) -> Attribute:
    aspects = Aspects(source, path, _ATTRIBUTE)
    if aspects.given.get("name", name) != name:
        raise fault(f"{path} must have the name {name!r}")
    shape = _read_shape(aspects, depth)
    attribute = Attribute(
        name=name,
        description=aspects.text("description"),
        enum=tuple(aspects.items("enum")),
        strict=aspects.flag("strict", default=True),
        matchcase=aspects.flag("matchcase", default=False),
        matchversions=aspects.flag("matchversions", default=False),
        readonly=aspects.flag("readonly", default=False),
        immutable=aspects.flag("immutable", default=False),
        required=aspects.flag("required", default=False),
        default=aspects.given.get("default"),
        ifvalues=_read_ifvalues(aspects, depth),
        **shape,
    )
    _check_wildcard(attribute, path)
    _check_default(attribute, path)
    return attribute


def _read_shape(aspects: Aspects, depth: int) -> dict[str, Any]:
    """The aspects an attribute and an item have in common."""
    path, kind = aspects.path, aspects.text("type")
    if not kind:
        raise fault(f"{path} must have a type")
    if kind not in TYPES:
        raise fault(f"{path} has the unknown type {kind!r}: use one of {', '.join(sorted(TYPES))}")
    _check_place(aspects, kind, "attributes", ("object",))
    _check_place(aspects, kind, "namecharset", ("object",))
    _check_place(aspects, kind, "target", _TARGETED)
    _check_place(aspects, kind, "item", ("map", "array"))
    if kind in ("map", "array") and "item" not in aspects.given:
        raise fault(f"{path} must have an item, as its type is {kind}")
    charset = aspects.text("namecharset").lower() or "strict"
    if charset not in _CHARSETS:
        raise fault(f"{path} has the unknown namecharset {charset!r}: use strict or extended")
    target = aspects.text("target")
    if target and not TARGET.fullmatch(target):
        raise fault(
            f"{path} has the target {target!r}: use /GROUPS, /GROUPS/RESOURCES, "
            "/GROUPS/RESOURCES/versions or /GROUPS/RESOURCES[/versions]"
        )
    return {
        "type": kind,
        "target": target,
        "namecharset": charset,
        "attributes": read_attributes(aspects.table("attributes"), path, depth + 1),
        "item": _read_item(aspects, depth),
    }


def _check_place(aspects: Aspects, kind: str, aspect: str, kinds: tuple[str, ...]) -> None:
    if aspect in aspects.given and kind not in kinds:
        allowed = " or ".join(kinds)
        raise fault(f"{aspects.path} must not have {aspect}: its type is {kind}, not {allowed}")


def _read_item(aspects: Aspects, depth: int) -> Attribute | None:
    if "item" not in aspects.given:
        return None
    if depth > DEPTH:
        raise fault(f"items lie more than {DEPTH} levels deep")
    item = Aspects(aspects.given["item"], within(aspects.path, "item"), _ITEM)
    return Attribute(name="", **_read_shape(item, depth + 1))


def _read_ifvalues(aspects: Aspects, depth: int) -> dict[str, dict[str, Attribute]]:
    table = aspects.table("ifvalues")
    if table and aspects.given.get("type") not in SCALARS:
        raise fault(f"{aspects.path} must not have ifvalues, as it is not a scalar")
    found = {}
    for value, given in table.items():
        path = f"{within(aspects.path, 'ifvalues')}.{value}"
        case = Aspects(given, path, ("siblingattributes",))
        found[value] = read_attributes(case.table("siblingattributes"), path, depth + 1)
    return found


def _check_wildcard(attribute: Attribute, path: str) -> None:
    """MD-11."""
    if attribute.name != "*":
        return
    for aspect in ("readonly", "required", "ifvalues"):
        if getattr(attribute, aspect):
            raise fault(f"{path} must not have {aspect}, as it stands for any name")


def _check_default(attribute: Attribute, path: str) -> None:
    """MD-19."""
    if attribute.default is None:
        return
    if attribute.type not in SCALARS:
        raise RegistryError("model_scalar_default", "/model", {"name": path})
    if not attribute.required:
        raise RegistryError("model_required_true", "/model", {"name": path})
