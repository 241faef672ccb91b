"""Groups, resources and versions as frozen values, in canonical 1.0 shape.

``attributes`` are canonical: what the rest of Heraldry reads. ``source`` is what the document
said, member by member, so that a dialect can write it back without loss; it is ``None`` where
an entity was not read from a document.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from heraldry.model.xid import Xid

Attributes = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One version of a resource; ``attributes`` without nested collections."""

    id: str
    attributes: Attributes
    source: Attributes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """A resource with at least one version; ``meta`` holds xref, defaultversionid and the like."""

    xid: Xid
    versions: Mapping[str, Version]
    default: str
    meta: Attributes = field(default_factory=dict)
    source: Attributes | None = None

    @property
    def attributes(self) -> Attributes:
        """The attributes of the default version (requirement RS-02)."""
        return self.versions[self.default].attributes


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A group; ``resources`` maps a collection's plural name to its resources by id."""

    xid: Xid
    attributes: Attributes
    resources: Mapping[str, Mapping[str, Resource]] = field(default_factory=dict)
    source: Attributes | None = None
