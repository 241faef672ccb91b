"""Linting of base messages: those that are not there, and those kept elsewhere (M14..M17)."""

from __future__ import annotations

from collections.abc import Iterator

from heraldry.errors import CircularBaseError
from heraldry.model.catalog import Catalog
from heraldry.model.inherit import local_reference, open_end
from heraldry.model.problem import Finding
from heraldry.model.rules_values import is_absolute, shown
from heraldry.model.xid import Xid

_NOTHING = "nothing is inherited from it"


def check_base(catalog: Catalog, xid: Xid) -> Iterator[Finding]:
    """A base message that a message names itself and that cannot be had (M17: no error)."""
    resource = catalog.resource(xid)
    base = resource.attributes.get("basemessage") if resource else None
    target = local_reference(base)
    if target is not None and catalog.resource(target) is None:
        told = f"the base message {base} is not in the catalog; {_NOTHING}"
        yield _finding(catalog, xid, "base-dangling", told)
    elif is_absolute(base):
        yield from _elsewhere(catalog, xid)


def _elsewhere(catalog: Catalog, xid: Xid) -> Iterator[Finding]:
    try:
        end = open_end(catalog, xid)
    except CircularBaseError:
        return
    if not isinstance(end, str):
        return
    found = catalog.external.get(end)
    if found is not None:
        told = f"the base message {shown(end)} was not fetched: {found.reason}; {_NOTHING}"
        yield _finding(catalog, xid, "base-unresolved", told)
    else:
        told = f"the base message {shown(end)} is kept elsewhere and was not fetched; {_NOTHING}"
        advice = "allow its address (--allow URL) to have it fetched"
        yield _finding(catalog, xid, "base-external", told, advice)


def _finding(catalog: Catalog, xid: Xid, rule: str, message: str, advice: str = "") -> Finding:
    place = str(xid).replace("~", "~0")
    return Finding(
        file=catalog.file(xid),
        location=f"{place}/basemessage",
        rule=rule,
        severity="info",
        message=message,
        advice=advice,
    )
