"""The way back for the owner of a registry whose capabilities let no request change it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heraldry.registry.capabilities import EVERYTHING
from heraldry.registry.capabilities_change import unlocked
from heraldry.registry.finish import finish
from heraldry.registry.request import Request, Target
from heraldry.registry.write_registry import save_capabilities

if TYPE_CHECKING:
    from heraldry.registry.registry import Registry


def unlock(registry: Registry, *, reset: bool = False) -> list[str]:
    """Make everything changeable again; the names of the capabilities that are others now.

    ``reset``: all capabilities become those of a new registry. It is one write like any other: in
    the journal, and seen by servers on the same database at their next request.
    """
    request = Request(action="patch", target=Target.parse("/capabilities"), path="/capabilities")
    with registry.write(request) as unit:
        before = unit.capabilities
        after = EVERYTHING if reset else unlocked(before)
        names = [name for name in after.__slots__ if getattr(after, name) != getattr(before, name)]
        if names:
            save_capabilities(unit, after)
            finish(unit)
        return names
