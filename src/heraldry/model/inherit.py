"""Inheritance: a message definition with everything its base messages give it (M4, M65)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

from heraldry.errors import CircularBaseError, LongBaseError, UnknownDefinitionError, XidError
from heraldry.model.catalog import Catalog
from heraldry.model.definition import Definition
from heraldry.model.entities import Attributes, Resource
from heraldry.model.formats import is_deprecated, present
from heraldry.model.rules_values import is_absolute
from heraldry.model.xid import Xid

MOST_BASES = 100
"""So many messages a chain of bases may have: what each inherits is merged again and again."""

MESSAGE_GROUPS = ("messagegroups", "endpoints")
"""The collections whose groups hold messages: an endpoint is a message group too."""

_PAYLOAD = ("dataschema", "dataschemauri", "dataschemaxid")
_NEAR = 3


def definitions(catalog: Catalog) -> Iterator[Xid]:
    """The xids of all message definitions, over message groups and endpoints (M3)."""
    for plural, groups in catalog.groups.items():
        if plural in MESSAGE_GROUPS:
            for group in groups.values():
                for message in group.resources.get("messages", {}).values():
                    yield message.xid


def materialize(catalog: Catalog, xid: Xid) -> Definition:
    """The definition of a message after inheritance (M4, M65).

    Own attributes win over those of the own group (C16), these over the base message's. A base
    that cannot be found, or is kept elsewhere and was not fetched, ends the chain (M17); a
    circular chain raises :class:`CircularBaseError` (M18). A borrowed message is its target under
    its own xid (C15); the target then counts as its nearest base.
    """
    resource = catalog.resource(xid)
    if resource is None or xid.resources != "messages" or xid.groups not in MESSAGE_GROUPS:
        raise UnknownDefinitionError(str(xid), _near(catalog, xid))
    versionid, levels, bases = _chain(catalog, resource)
    attributes = levels[-1]
    for over in reversed(levels[:-1]):
        attributes = _shadow(attributes, over)
    return _definition(resource.xid, versionid, attributes, bases, levels[0].get("basemessage"))


def open_end(catalog: Catalog, xid: Xid) -> Any:
    """The base reference at which the chain of a message ends unresolved; None without one."""
    resource = catalog.resource(xid)
    return _chain(catalog, resource)[1][-1].get("basemessage") if resource else None


def external_bases(catalog: Catalog) -> Iterator[str]:
    """The absolute references that chains of base messages end with (M15)."""
    for xid in definitions(catalog):
        try:
            end = open_end(catalog, xid)
        except CircularBaseError:
            continue
        if is_absolute(end):
            yield end


def merge(base: Attributes, over: Attributes) -> dict[str, Any]:
    """``over`` on ``base``: objects merge at every level, scalars and arrays replace (M65)."""
    merged = dict(base)
    for name, value in over.items():
        below = merged.get(name)
        if isinstance(value, Mapping) and isinstance(below, Mapping):
            merged[name] = merge(below, value)
        else:
            merged[name] = value
    return merged


def local_reference(text: object) -> Xid | None:
    """The xid a reference holds, or None for absolute references and other texts (M14, M15)."""
    if not isinstance(text, str) or not text.startswith("/"):
        return None
    try:
        return Xid.parse(text)
    except XidError:
        return None


def borrowed_target(catalog: Catalog, resource: Resource) -> Resource | None:
    """The message a borrowed one stands for (C15); None where the reference leads nowhere."""
    seen, kind = [resource], resource.xid.resources
    while True:
        xid = local_reference(resource.meta.get("xref"))
        found = catalog.resource(xid) if xid and xid.resources == kind else None
        if found is None or any(found is one for one in seen):
            return None
        if "xref" not in found.meta:
            return found
        seen.append(found)
        resource = found


def _chain(
    catalog: Catalog, resource: Resource
) -> tuple[str, tuple[Attributes, ...], tuple[str, ...]]:
    """The version of the message, the attributes of each level nearest first, and the bases."""
    levels: list[Attributes] = []
    bases: list[str] = []
    seen: list[str] = []
    first, version = "", ""
    while True:
        _step(seen, _key(resource, version))
        attributes, used = level(catalog, resource, version, bases)
        first = first or used
        levels.append(attributes)
        xid = local_reference(attributes.get("basemessage"))
        base = catalog.resource(xid) if xid and xid.resources == "messages" else None
        if xid is None or base is None or (xid.version and xid.version not in base.versions):
            break
        resource, version = base, xid.version
        bases.append(_key(resource, version))
    for uri, attributes in _elsewhere(catalog, levels[-1]):
        _step(seen, uri)
        bases.append(uri)
        levels.append(attributes)
    return first, tuple(levels), tuple(bases)


def _elsewhere(catalog: Catalog, attributes: Attributes) -> Iterator[tuple[str, Attributes]]:
    """The base messages that were fetched from other catalogs, nearest first (M15)."""
    while True:
        uri = attributes.get("basemessage")
        found = catalog.external.get(uri) if isinstance(uri, str) else None
        if found is None or found.attributes is None:
            return
        attributes = found.attributes
        yield str(uri), attributes


def _step(seen: list[str], place: str) -> None:
    """Note a place of a chain; coming back to one is an error (M18), and so is no end."""
    if place in seen:
        raise CircularBaseError((*seen[seen.index(place) :], place))
    if len(seen) == MOST_BASES:
        raise LongBaseError((seen[0], place))
    seen.append(place)


def level(
    catalog: Catalog, resource: Resource, version: str, bases: list[str]
) -> tuple[Attributes, str]:
    """One level of a chain: the attributes of a version, or of the message it borrows.

    What is borrowed is added to ``bases``.
    """
    if "xref" in resource.meta:
        target = borrowed_target(catalog, resource)
        if target is None:
            return _filled(catalog, resource, {}), resource.default
        bases.append(str(target.xid))
        inner = _filled(catalog, target, target.attributes)
        return _filled(catalog, resource, inner), target.default
    used = version or resource.default
    return _filled(catalog, resource, resource.versions[used].attributes), used


def _filled(catalog: Catalog, resource: Resource, attributes: Attributes) -> Attributes:
    """The attributes with the group's envelope and protocol where the message has none (C16)."""
    group = catalog.group(resource.xid)
    missing = {
        name: group.attributes[name]
        for name in ("envelope", "protocol")
        if group and name not in attributes and name in group.attributes
    }
    return {**attributes, **missing} if missing else attributes


def _key(resource: Resource, version: str) -> str:
    """The xid of a message, with the version where it is not the default one."""
    if version in {"", resource.default}:
        return str(resource.xid)
    return str(replace(resource.xid, version=version))


def _shadow(base: Attributes, over: Attributes) -> dict[str, Any]:
    """Merge, but a payload schema replaces whatever way the base names one (M25, M28)."""
    if any(name in over for name in _PAYLOAD):
        base = {name: value for name, value in base.items() if name not in _PAYLOAD}
    return merge(base, over)


def _definition(
    xid: Xid, versionid: str, found: Attributes, bases: tuple[str, ...], own_base: Any
) -> Definition:
    return Definition(
        xid=xid,
        versionid=versionid,
        envelope=present(found.get("envelope")),
        envelopemetadata=_mapping(found.get("envelopemetadata")),
        envelopeoptions=_mapping(found.get("envelopeoptions")),
        protocol=present(found.get("protocol")),
        protocoloptions=_mapping(found.get("protocoloptions")),
        dataschemaformat=_text(found.get("dataschemaformat")),
        dataschema=found.get("dataschema"),
        dataschemauri=_text(found.get("dataschemauri")),
        dataschemaxid=_text(found.get("dataschemaxid")),
        datacontenttype=_text(found.get("datacontenttype")),
        basemessage=_text(own_base),
        bases=bases,
        deprecated=is_deprecated(found),
        description=_text(found.get("description")) or "",
    )


def _mapping(value: Any) -> Mapping[str, Any]:
    """An object, or an empty one where the document has something else (M68 reports it)."""
    return value if isinstance(value, Mapping) else {}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _near(catalog: Catalog, xid: Xid) -> tuple[str, ...]:
    known = [str(known) for known in definitions(catalog)]
    return tuple(get_close_matches(str(xid), known, n=_NEAR))
