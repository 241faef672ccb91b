"""What one write may cost: how many entities, how long, and whether anybody still waits for it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from heraldry.errors import RegistryError
from heraldry.registry.limits import Limits
from heraldry.registry.request import Place, never

if TYPE_CHECKING:
    from heraldry.model.metamodel import GroupType, Model
    from heraldry.registry.request import Request, Target

_SPLIT = "Nothing of it was kept; send it in several requests, each with a part of the entities."


@dataclass(slots=True)
class WriteBudget:
    """Asked between entities: ends a write that takes too long, or whose client has left."""

    limits: Limits = field(default_factory=Limits)
    cancelled: Callable[[], bool] = never
    path: str = "/"
    _deadline: float = field(init=False)

    def __post_init__(self) -> None:
        seconds = self.limits.write_seconds
        self._deadline = time.monotonic() + seconds if seconds else float("inf")

    def check(self) -> None:
        """Raise the error that rolls the write back, where it must not go on."""
        if self.cancelled():
            detail = "The client went away, so nothing was written."
            raise RegistryError("server_busy", self.path, detail=detail)
        if time.monotonic() > self._deadline:
            detail = f"It was ended after {self.limits.write_seconds:g} seconds. {_SPLIT}"
            raise RegistryError("write_too_long", self.path, detail=detail)


def check_entities(request: Request, model: Model, limits: Limits) -> None:
    """``request_too_large`` for a body with more entities than a write may have.

    The body is only counted: what is wrong in it is for those who read it.
    """
    if limits.write_entities and isinstance(request.body, Mapping):
        _Count(limits.write_entities, request.path).body(request.target, request.body, model)


@dataclass(slots=True)
class _Count:
    most: int
    path: str
    entities: int = 0

    def body(self, target: Target, body: Mapping[str, Any], model: Model) -> None:
        group = model.groups.get(target.groups)
        match target.place:
            case Place.REGISTRY:
                for plural, type_ in model.groups.items():
                    self._groups(body.get(plural), type_)
            case Place.GROUPS if group is not None:
                self._groups(body, group)
            case Place.GROUP if group is not None:
                self._group(body, group)
            case Place.RESOURCES:
                self._resources(body)
            case Place.RESOURCE:
                self._add(body.get("versions"))
            case Place.VERSIONS:
                self._add(body)

    def _groups(self, entries: Any, type_: GroupType) -> None:
        for entry in self._add(entries):
            self._group(entry, type_)

    def _group(self, entry: Any, type_: GroupType) -> None:
        if entry and isinstance(entry, Mapping):
            for plural in type_.resources:
                if plural in entry:
                    self._resources(entry[plural])

    def _resources(self, entries: Any) -> None:
        for entry in self._add(entries):
            if isinstance(entry, Mapping) and "versions" in entry:
                self._add(entry["versions"])

    def _add(self, entries: Any) -> Any:
        """Count a map of entities before anything in it is looked at."""
        if not isinstance(entries, Mapping):
            return ()
        self.entities += len(entries)
        if self.entities > self.most:
            detail = f"It has more than {self.most} entities. {_SPLIT}"
            raise RegistryError("request_too_large", self.path, detail=detail)
        return entries.values()
