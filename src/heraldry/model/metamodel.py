"""The model language: what group, resource and attribute types a registry has (MD-01..MD-62).

Frozen values in canonical form: names are those of 1.0-rc4 (``ancestorid``), and aspects are the
union of both generations. A :class:`Model` is complete: the attributes that the specification
defines are in it, overlaid by those of the model's source, includes and imports are resolved.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Attributes = Mapping[str, "Attribute"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribute:
    """One attribute, or (``name`` empty) the item of an array or map; ``*`` admits any name."""

    name: str
    type: str
    description: str = ""
    target: str = ""
    namecharset: str = "strict"
    enum: tuple[Any, ...] = ()
    strict: bool = True
    matchcase: bool = False
    matchversions: bool = False
    readonly: bool = False
    immutable: bool = False
    required: bool = False
    default: Any = None
    attributes: Attributes = field(default_factory=dict)
    item: Attribute | None = None
    ifvalues: Mapping[str, Attributes] = field(default_factory=dict)
    """By the value's text as the model has it: the sibling attributes that value brings along."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraint:
    """What a group demands of an attribute of its resources (MD-50..MD-55)."""

    default: Any = None
    enum: tuple[Any, ...] = ()
    equals: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """What model, group and resource types say about themselves."""

    description: str = ""
    documentation: str = ""
    icon: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    modelversion: str = ""
    modelcompatiblewith: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceType:
    """A type of resource; ``attributes`` are those of its versions (MD-40..MD-49)."""

    plural: str
    singular: str
    about: Described = field(default_factory=Described)
    maxversions: int = 0
    setversionid: bool = True
    setdefaultversionsticky: bool = True
    hasdocument: bool = True
    versionmode: str = "manual"
    singleversionroot: bool = False
    validateformat: bool = False
    validatecompatibility: bool = False
    strictvalidation: bool = False
    typemap: Mapping[str, str] = field(default_factory=dict)
    attributes: Attributes = field(default_factory=dict)
    resourceattributes: Attributes = field(default_factory=dict)
    metaattributes: Attributes = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupType:
    """A type of group (MD-30..MD-32); imported resource types are among ``resources``."""

    plural: str
    singular: str
    about: Described = field(default_factory=Described)
    attributes: Attributes = field(default_factory=dict)
    constraints: Mapping[str, Constraint] = field(default_factory=dict)
    """By ``RESOURCES.PATH``."""
    resources: Mapping[str, ResourceType] = field(default_factory=dict)
    imported: Mapping[str, str] = field(default_factory=dict)
    """By plural name: the ``/GROUPS/RESOURCES`` an imported resource type comes from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """The types of a registry; ``attributes`` are those of the registry itself."""

    about: Described = field(default_factory=Described)
    attributes: Attributes = field(default_factory=dict)
    groups: Mapping[str, GroupType] = field(default_factory=dict)
