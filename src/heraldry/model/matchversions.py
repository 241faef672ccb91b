"""Attributes that all versions of a resource must have in common (MD-16, MD-47)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from heraldry.errors import RegistryError
from heraldry.model.datatypes import comparable
from heraldry.model.dotpath import text_of, value_at
from heraldry.model.metamodel import Attribute, Attributes, ResourceType

_MOST_TYPES = 1024

Matched = tuple[tuple[str, ...], Attribute]

_known: dict[int, tuple[ResourceType, tuple[Matched, ...]]] = {}


def check_matching(
    kind: ResourceType, versions: Mapping[str, Mapping[str, Any]], *, subject: str
) -> None:
    """``mismatched_version_attribute`` where one differs: all have the same value, or all none.

    ``versions`` are attributes by id; ``subject`` is the xid of the resource. Texts compare
    ignoring case unless the attribute has ``matchcase``.
    """
    if len(versions) < 2:
        return
    for path, attribute in matched(kind):
        found = [value_at(version, path) for version in versions.values()]
        case = attribute.matchcase
        if len({comparable(value, matchcase=case) for value in found}) > 1:
            missing = sum(value is None for value in found)
            detail = f"Of {len(found)} Versions, {missing} have no value." if missing else ""
            name = text_of(path)
            raise RegistryError("mismatched_version_attribute", subject, {"name": name}, detail)


def matched(kind: ResourceType) -> tuple[Matched, ...]:
    """The attributes with ``matchversions``, each with its path through objects."""
    known = _known.get(id(kind))
    if known is None:  # it holds its resource type, so the identity is no other's
        if len(_known) >= _MOST_TYPES:
            _known.clear()
        known = _known[id(kind)] = (kind, tuple(_matched(kind.attributes, ())))
    return known[1]


def _matched(attributes: Attributes, path: tuple[str, ...]) -> Iterator[Matched]:
    for name, attribute in attributes.items():
        if attribute.matchversions:
            yield (*path, name), attribute
        elif attribute.type == "object":
            yield from _matched(attribute.attributes, (*path, name))
