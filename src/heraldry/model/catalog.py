"""An immutable catalog: entities by xid over endpoints, message groups and schema groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from heraldry.model.entities import Attributes, Group, Resource
from heraldry.model.xid import Xid


@dataclass(frozen=True, slots=True, kw_only=True)
class External:
    """A base message of another catalog as it was fetched, or the reason why not (M15, M17).

    Its references are absolute: what is relative means the catalog it came from. ``away`` where
    nobody answered for it: another time it may be there.
    """

    attributes: Attributes | None = None
    reason: str = ""
    away: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalog:
    """Groups by collection name and id, with the file each entity came from.

    ``attributes`` are the registry's own (specversion, registryid, labels, ...); ``files`` maps
    the xid of a group or resource to the file it was read from; ``external`` holds by URI the
    base messages that a resolver was asked to fetch.
    """

    attributes: Mapping[str, Any] = field(default_factory=dict)
    groups: Mapping[str, Mapping[str, Group]] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    source: Mapping[str, Any] | None = None
    external: Mapping[str, External] = field(default_factory=dict)

    def group(self, xid: Xid) -> Group | None:
        """The group of an xid, or None."""
        return self.groups.get(xid.groups, {}).get(xid.group)

    def resource(self, xid: Xid) -> Resource | None:
        """The resource of an xid (of itself, a version or its meta), or None."""
        group = self.group(xid)
        return group.resources.get(xid.resources, {}).get(xid.resource) if group else None

    def resources(self, plural: str) -> Iterator[Resource]:
        """All resources of one collection name, in document order (``messages``, ``schemas``)."""
        for groups in self.groups.values():
            for group in groups.values():
                yield from group.resources.get(plural, {}).values()

    def file(self, xid: Xid) -> str:
        """The file an entity was read from, or an empty text."""
        return self.files.get(str(xid.entity), "") or self.files.get(
            f"/{xid.groups}/{xid.group}", ""
        )
