"""The request flags of writes: only those that the capabilities list count (FL-40..FL-63)."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING

from heraldry.errors import RegistryError
from heraldry.registry.request import Flags, Place

if TYPE_CHECKING:
    from heraldry.registry.capabilities import Capabilities
    from heraldry.registry.request import Request
    from heraldry.registry.unit import Unit

_UNSET = Flags()
_ALWAYS = ("limit", "after", "confirm")
_OLDER = ("no", "ignore")
"""Beginnings that older generations put before a value of ``ignore`` (FL-44)."""
_ONE_RESOURCE = (Place.RESOURCE, Place.META, Place.VERSIONS, Place.VERSION)


def supported_flags(flags: Flags, capabilities: Capabilities) -> Flags:
    """The flags without those that are not supported: they are ignored (HT-06)."""
    if flags == _UNSET:
        return flags
    unset = {
        field.name: getattr(_UNSET, field.name)
        for field in fields(Flags)
        if field.name not in capabilities.flags and field.name not in _ALWAYS
    }
    return replace(flags, **unset)


def ignored(request: Request, capabilities: Capabilities) -> frozenset[str]:
    """What ``?ignore`` names; nothing or ``*`` means all that are supported (FL-40)."""
    given = request.flags.ignore
    if given is None:
        return frozenset()
    names = {name.strip() for name in given} - {""}
    found = set(capabilities.ignores) if not names or "*" in names else set()
    for name in names - {"*"}:
        shorter = (name.lower().removeprefix(beginning) for beginning in _OLDER)
        plain = next((text for text in shorter if text in capabilities.ignores), name.lower())
        if plain not in capabilities.ignores:
            listed = ", ".join(capabilities.ignores)
            arguments = {"value": name, "error_detail": f"not supported; allowed: {listed}"}
            raise RegistryError("bad_ignore", request.path, arguments)
        found.add(plain)
    return frozenset(found)


def wanted_default(request: Request) -> str | None:
    """``?setdefaultversionid``: only on writes to one resource (FL-60, FL-62, FL-63)."""
    value = request.flags.setdefaultversionid
    if value is None:
        return None
    if not value:
        arguments = {"value": '""', "error_detail": "value must not be empty"}
        raise RegistryError("bad_defaultversionid", request.path, arguments)
    place = request.target.place
    chosen = value == "request"
    creates = place in (Place.RESOURCE, Place.VERSIONS) and request.action != "delete"
    deletes = place is Place.RESOURCE and request.action == "delete"
    if place not in _ONE_RESOURCE or deletes or (chosen and not creates):
        raise RegistryError("bad_flag", request.path, {"flag": "setdefaultversionid"})
    return value


def checked_epoch(unit: Unit) -> int | None:
    """``?epoch`` of a DELETE (FL-04, DE-01)."""
    text = unit.request.flags.epoch
    if not text or "epoch" in unit.ignores:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        arguments = {"name": "epoch", "error_detail": f"value ({text}) must be a uinteger"}
        raise RegistryError("invalid_attribute", unit.request.path, arguments)
    return int(text)
