"""Notices of deprecation: who has one, and what it says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from heraldry.messages.values import read_timestamp
from heraldry.model.catalog import Catalog
from heraldry.model.entities import Resource
from heraldry.model.inherit import borrowed_target
from heraldry.model.xid import Xid

_DOCUMENTATION = ("documentation", "docs")


@dataclass(frozen=True, slots=True, kw_only=True)
class Deprecation:
    """What a notice says to those who still use the message; empty texts where it says nothing."""

    removal: str = ""
    alternative: str = ""
    documentation: str = ""


def notice(attributes: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The notice of deprecation; an empty one counts, and so does ``true``."""
    given = attributes.get("deprecated")
    if isinstance(given, Mapping):
        return given
    return {} if given is True else None


def resource_notice(resource: Resource, version: str = "") -> Mapping[str, Any] | None:
    """The notice of a resource, or that of its version."""
    found = notice(resource.meta)
    used = resource.versions.get(version or resource.default)
    return found if found is not None or used is None else notice(used.attributes)


def entity_notice(catalog: Catalog, xid: Xid) -> Mapping[str, Any] | None:
    """The notice of an entity, or that of the group it is in."""
    resource, group = catalog.resource(xid), catalog.group(xid)
    found = resource_notice(resource, xid.version) if resource is not None else None
    return found if found is not None or group is None else notice(group.attributes)


def is_early(found: Mapping[str, Any], moment: datetime) -> bool:
    """Whether a notice takes effect only later."""
    effective = read_timestamp(found.get("effective"))
    return effective is not None and effective > moment


def text_of(found: Mapping[str, Any], *names: str) -> str:
    """The first of some members that has a text."""
    told = (found.get(name) for name in names)
    return next((text for text in told if isinstance(text, str) and text), "")


def documentation_of(found: Mapping[str, Any]) -> str:
    """Where a notice is explained; the generations have two names for it."""
    return text_of(found, *_DOCUMENTATION)


def deprecation(catalog: Catalog, xid: Xid, moment: datetime) -> Deprecation | None:
    """What is said of a message that is deprecated at a moment; None where it is not.

    A borrowed message is deprecated with the one it stands for.
    """
    found, resource = entity_notice(catalog, xid), catalog.resource(xid)
    target = borrowed_target(catalog, resource) if found is None and resource else None
    if target is not None:
        found = entity_notice(catalog, target.xid)
    if found is None or is_early(found, moment):
        return None
    return Deprecation(
        removal=text_of(found, "removal"),
        alternative=text_of(found, "alternative"),
        documentation=documentation_of(found),
    )
