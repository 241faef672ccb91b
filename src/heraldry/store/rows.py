"""What a store keeps: rows of entities, the state of the registry, and the journal of changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Literal


class Kind(IntEnum):
    """What an entity is; the registry itself is no row but the :class:`State`."""

    GROUP = 1
    RESOURCE = 2
    VERSION = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One entity as it is stored.

    ``attributes`` have canonical names (``ancestorid``) and hold only what cannot be computed:
    ``epoch``, ``createdat``, ``modifiedat``, ``name``, extensions and so on, never ids, ``self``,
    ``xid``, ``isdefault`` or collections. Those of a RESOURCE are the ones of its meta entity.
    Timestamps are in UTC with ``Z``. A name that starts with ``#`` is internal and never shown.
    """

    key: int
    """Given by ``Writer.next_key``; greater than 0, never used again."""
    parent: int
    """The key of the group or resource it is in; 0: the registry."""
    kind: Kind
    type: str
    """``dirs``, ``dirs/files`` or ``dirs/files/versions``."""
    xid: str
    """``/dirs/d1/files/f1/versions/v1``: unique, and also unique when its case is ignored."""
    id: str
    attributes: Mapping[str, Any]
    default: int = 0
    """RESOURCE: the key of its default version (0: an xref that leads nowhere)."""
    xref: str = ""
    """RESOURCE: the xid it borrows its versions from."""
    document: int = 0
    """VERSION: the key of its document, 0 where it has none."""
    borrowed: bool = False
    """VERSION: a copy of a version of the target, shown by a resource with ``xref``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """The registry itself: its own attributes, capabilities and model."""

    id: str
    attributes: Mapping[str, Any]
    """As in :class:`Row`: epoch, createdat, modifiedat, name, labels, extensions."""
    capabilities: Mapping[str, Any]
    """As ``registry.capabilities`` wrote them; empty: the defaults."""
    modelsource: Mapping[str, Any] | None
    """Exactly as it was given (RG-06); ``None`` where none was ever set."""
    modelversion: str = "1.0-rc4"
    """The generation the model's source was written in."""
    model: Mapping[str, Any] | None = None
    """The model's source with all includes resolved (MD-61), in canonical names."""


Action = Literal["created", "updated", "deleted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One entry of the journal: what one request did to one entity (EV-04..EV-08)."""

    at: str
    correlation: str
    actor: str
    action: Action
    xid: str
    """Of a group, resource or version; ``/``, ``/model``, ``/modelsource``, ``/capabilities``."""
    changed: tuple[str, ...] = ()
    """Names of attributes, for ``updated`` only."""
    sequence: int = 0
    """Given by the store; grows with every change, in the order of commits."""
