"""Whether a write may happen, by what it would change: asked inside its own transaction."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from heraldry.errors import RegistryError
from heraldry.model.datatypes import check_id
from heraldry.registry.capabilities import require_available
from heraldry.registry.proxy import Proxy
from heraldry.registry.read import show
from heraldry.registry.read_settings import SETTING_PLACES
from heraldry.registry.write import group_type, resource_type

if TYPE_CHECKING:
    from heraldry.registry.request import Reply
    from heraldry.registry.unit import Unit


def check_precondition(unit: Unit) -> None:
    """Ask the request's precondition about the reply that a GET of the same address has now.

    What would fail without a precondition, before its body is looked at, fails as if there were
    none (RFC 9110, 13.2.1).
    """
    request = unit.request
    if request.precondition is None:
        return
    target = request.target
    name = SETTING_PLACES.get(target.place, "entities")
    require_available(unit.session, name, write=True)
    if target.groups:
        type_of_group = group_type(unit)
        if target.resources:
            resource_type(unit, type_of_group)
    current = _current(unit)
    if current is None:
        for id_ in filter(None, (target.group, target.resource, target.version)):
            check_id(id_, subject=target.xid)
    if current is not None or request.action != "delete":
        request.precondition(current)


def _current(unit: Unit) -> Reply | None:
    """Nothing is fetched for it: no writer waits for a document that is kept elsewhere."""
    session = replace(unit.session, proxy=Proxy(None, 0, None))
    try:
        reply = show(session, session.request.target)
    except RegistryError as error:
        if error.name != "not_found":
            raise
        return None
    return replace(reply, volatile=True) if session.proxy.used else reply
