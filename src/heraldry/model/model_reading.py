"""Reading a model's source into a complete :class:`Model` (MD-01..MD-49, KD-5, KD-8).

    read_model({"groups": {"dirs": {"singular": "dir", "resources": {...}}}})

The source has its includes resolved and canonical names; aspects of both generations are read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from heraldry.errors import RegistryError
from heraldry.model.metamodel import Attribute, GroupType, Model, ResourceType
from heraldry.model.model_checks_attributes import check_extensions, check_model
from heraldry.model.model_checks_names import check_group_names, check_resource_names
from heraldry.model.model_reading_aspects import ABOUT, ABOUT_TYPE, Aspects, fault, within
from heraldry.model.model_reading_attributes import read_attributes
from heraldry.model.model_reading_constraints import read_constraints
from heraldry.model.model_reading_imports import resolve_imports
from heraldry.model.spec_attributes import (
    group_form,
    meta_form,
    registry_form,
    resource_form,
    version_form,
)
from heraldry.model.spec_attributes_overlay import overlay
from heraldry.model.typemap import KINDS

VERSION_MODES = ("manual", "createdat", "modifiedat", "semver")
_MODEL = (ABOUT - {"icon"}) | {"$schema", "attributes", "groups"}
_NAMES = {"plural", "singular"}
_GROUP = ABOUT_TYPE | _NAMES | {"attributes", "ximportresources", "constraints", "resources"}
_FLAGS = {
    "setversionid": True,
    "hasdocument": True,
    "validateformat": False,
    "validatecompatibility": False,
    "strictvalidation": False,
}
_RESOURCE = (
    ABOUT_TYPE
    | _NAMES
    | _FLAGS.keys()
    | {"maxversions", "setdefaultversionsticky", "versionmode", "singleversionroot"}
    | {"consistentformat", "typemap", "attributes", "resourceattributes", "metaattributes"}
)


def read_model(source: Mapping[str, Any]) -> Model:
    """The model of a source; ``model_error`` and its kin where the source breaks a rule."""
    root = Aspects(source, "", _MODEL)
    drafts, imports = {}, {}
    for plural, given in root.table("groups").items():
        group = Aspects(given, within("groups", plural), _GROUP)
        drafts[plural] = _read_group(plural, group)
        imports[plural] = group.items("ximportresources")
    check_group_names(drafts)
    groups = {
        plural: _complete_group(draft) for plural, draft in resolve_imports(drafts, imports).items()
    }
    given = read_attributes(root.table("attributes"), "")
    model = Model(
        about=root.about(), attributes=overlay(registry_form(groups), given, ""), groups=groups
    )
    check_model(model)
    return model


def _name(aspects: Aspects, plural: str) -> str:
    """The singular name; ``plural`` may be left out, its key is its value (MD-07)."""
    if aspects.given.get("plural", plural) != plural:
        raise fault(f"{aspects.path} must have the plural {plural!r}")
    return aspects.text("singular")


def _read_group(plural: str, aspects: Aspects) -> GroupType:
    """The group type with what is local to it; not yet overlaid by the specification."""
    path = within(aspects.path, "resources")
    return GroupType(
        plural=plural,
        singular=_name(aspects, plural),
        about=aspects.about(),
        attributes=read_attributes(aspects.table("attributes"), aspects.path),
        constraints=read_constraints(aspects.table("constraints"), aspects.path),
        resources={
            name: _read_resource(name, Aspects(given, f"{path}.{name}", _RESOURCE))
            for name, given in aspects.table("resources").items()
        },
    )


def _complete_group(group: GroupType) -> GroupType:
    check_resource_names(group)
    form = group_form(group.singular, group.resources)
    path = within("groups", group.plural)
    return replace(group, attributes=overlay(form, group.attributes, path))


def _read_resource(plural: str, aspects: Aspects) -> ResourceType:
    singular = _name(aspects, plural)
    flags: dict[str, Any] = {
        name: aspects.flag(name, default=default) for name, default in _FLAGS.items()
    }
    if flags["validatecompatibility"] and not flags["validateformat"]:
        detail = f"{aspects.path} has validatecompatibility, so validateformat must be true too"
        raise RegistryError("bad_request", "/model", {"error_detail": detail})
    maxversions = aspects.number("maxversions")
    meta = _read_level(aspects, "metaattributes")
    meta = overlay(meta_form(singular), meta, aspects.path)
    sticky, meta = _read_sticky(aspects, maxversions, meta)
    own = _read_level(aspects, "resourceattributes")
    resource = ResourceType(
        plural=plural,
        singular=singular,
        about=aspects.about(),
        maxversions=maxversions,
        setdefaultversionsticky=sticky,
        typemap=_read_typemap(aspects),
        attributes=_read_versions(aspects, singular, hasdocument=flags["hasdocument"]),
        resourceattributes=overlay(resource_form(singular), own, aspects.path),
        metaattributes=meta,
        **_read_versionmode(aspects),
        **flags,
    )
    check_extensions(resource, aspects.path)
    return resource


def _read_level(aspects: Aspects, name: str) -> dict[str, Attribute]:
    return read_attributes(aspects.table(name), aspects.path)


def _read_versions(aspects: Aspects, singular: str, *, hasdocument: bool) -> dict[str, Attribute]:
    """The attributes of versions; ``consistentformat`` is ``matchversions`` of ``format``."""
    form = version_form(singular, hasdocument=hasdocument)
    attributes = overlay(form, _read_level(aspects, "attributes"), aspects.path)
    if aspects.flag("consistentformat", default=False):
        attributes["format"] = replace(attributes["format"], matchversions=True)
    return attributes


def _read_versionmode(aspects: Aspects) -> dict[str, Any]:
    """MD-45; all modes but ``manual`` have one root, whatever the source says (KD-5)."""
    mode = aspects.text("versionmode").lower() or "manual"
    if mode not in VERSION_MODES:
        known = ", ".join(VERSION_MODES)
        raise fault(f"{aspects.path} has the unknown versionmode {mode!r}: use one of {known}")
    single = aspects.flag("singleversionroot", default=False) or mode != "manual"
    return {"versionmode": mode, "singleversionroot": single}


def _read_sticky(
    aspects: Aspects, maxversions: int, meta: dict[str, Attribute]
) -> tuple[bool, dict[str, Attribute]]:
    """Whether clients may choose the default version (MD-43, ME-09, KD-8).

    A source says it by ``setdefaultversionsticky`` or by what ``defaultversionsticky`` may be;
    the model then says both. With one version there is nothing to choose.
    """
    pinned = meta["defaultversionsticky"]
    may = not pinned.enum or not pinned.strict or True in pinned.enum
    must = bool(pinned.enum) and pinned.strict and False not in pinned.enum
    wanted = aspects.flag("setdefaultversionsticky", default=may and maxversions != 1)
    if maxversions == 1 and (wanted or must or pinned.default is True):
        detail = f"{aspects.path} has maxversions 1"
        raise RegistryError("setdefaultversionsticky_false", "/model", detail=detail)
    if (wanted and not may) or (must and not wanted):
        raise fault(f"{aspects.path} says both true and false about setdefaultversionsticky")
    if not wanted and may and maxversions != 1:
        never = replace(pinned, enum=(False,), strict=True, required=True, default=False)
        meta = {**meta, "defaultversionsticky": never}
    return wanted, meta


def _read_typemap(aspects: Aspects) -> dict[str, str]:
    """MD-48; kinds do not depend on case."""
    found: dict[str, str] = {}
    for media, kind in aspects.texts("typemap").items():
        where = f"{aspects.path}.typemap"
        if not media or media.count("*") > 1:
            raise fault(f"{where} has the key {media!r}: use a media type with at most one *")
        if kind.lower() not in KINDS:
            raise fault(f"{where} maps {media} to {kind!r}: use one of {', '.join(sorted(KINDS))}")
        found[media] = kind.lower()
    return found


EMPTY_MODEL = read_model({})
"""The model of a registry without group types: the attributes of the specification only."""
