"""The journal of one request: one change per entity, merged as events need it (EV-04..07)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from heraldry.store.rows import Action, Change

_WEIGHT: dict[Action, int] = {"updated": 0, "created": 1, "deleted": 2}


@dataclass(slots=True)
class Journal:
    """What happened to each entity: ``deleted`` outweighs ``created``, that ``updated``."""

    _entries: dict[str, tuple[Action, dict[str, None]]] = field(default_factory=dict)

    def created(self, xid: str) -> None:
        """An entity is new."""
        self._enter("created", xid)

    def deleted(self, xid: str) -> None:
        """An entity is gone; one that the same request made leaves no trace."""
        entry = self._entries.get(xid)
        if entry is not None and entry[0] == "created":
            del self._entries[xid]
        else:
            self._enter("deleted", xid)

    def updated(self, xid: str, changed: Iterable[str] = ()) -> None:
        """Attributes of an entity changed; names of several calls add up (EV-05)."""
        self._enter("updated", xid, changed)

    def changed(self, xid: str) -> Collection[str]:
        """The names of attributes of an entity that were said to be updated so far."""
        entry = self._entries.get(xid)
        return entry[1] if entry is not None else ()

    def _enter(self, action: Action, xid: str, changed: Iterable[str] = ()) -> None:
        before, names = self._entries.get(xid, (action, {}))
        names.update(dict.fromkeys(changed))
        heavier = action if _WEIGHT[action] >= _WEIGHT[before] else before
        self._entries[xid] = (heavier, names)

    def changes(self, at: str, correlation: str, actor: str) -> list[Change]:
        """The entries in the order in which the entities were first touched."""
        return [
            Change(
                at=at,
                correlation=correlation,
                actor=actor,
                action=action,
                xid=xid,
                changed=tuple(names) if action == "updated" else (),
            )
            for xid, (action, names) in self._entries.items()
        ]


def differing(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """The names of attributes that were added, changed or removed, without internal ones."""
    return [
        name
        for name in {**old, **new}
        if old.get(name) != new.get(name) and not name.startswith("#")
    ]
