"""Resources of a 1.0 document: their versions, which of them is the default, and their meta."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from heraldry.dialects.xreg_1_0 import canonical
from heraldry.dialects.xreg_1_0.place import Place
from heraldry.model.entities import Resource, Version
from heraldry.model.xid import Xid

Members = Mapping[str, Any]

_CANONICAL: dict[str, Callable[[Members], dict[str, Any]]] = {
    "messages": canonical.message,
    "schemas": canonical.schema,
}
_SINGULAR = {"messages": "messageid", "schemas": "schemaid"}


def read_resource(xid: Xid, source: Members, place: Place) -> Resource:
    """A resource with its versions; ids inside must equal the keys (C35)."""
    attributes_of = _CANONICAL[xid.resources]
    place.same_id(source, _SINGULAR[xid.resources], xid.resource)
    meta = canonical.meta(source)
    listed = source.get("versions")
    if not listed:
        default = str(source.get("versionid") or meta.get("defaultversionid") or "1")
        only = Version(id=default, attributes=attributes_of(source), source=source)
        return Resource(
            xid=xid, versions={default: only}, default=default, meta=meta, source=source
        )
    raw = _raw_versions(xid, place.mapping(listed, "versions"), place.at("versions"))
    default = default_version(raw, source, meta)
    filled = canonical.inherited(source)
    versions = {
        key: Version(
            id=key, attributes=attributes_of(fill(own, filled, key == default)), source=own
        )
        for key, own in raw.items()
    }
    return Resource(xid=xid, versions=versions, default=default, meta=meta, source=source)


def fill(own: Members, inherited: Members, is_default: bool) -> Members:
    """A version with what its resource says for it: ``format``, for the default one all (C42)."""
    if is_default:
        return {**inherited, **own} if inherited else own
    if "format" in inherited and own.get("format") is None:
        return {"format": inherited["format"], **{k: v for k, v in own.items() if k != "format"}}
    return own


def default_version(versions: Mapping[str, Members], source: Members, meta: Members) -> str:
    """The id of the default version: as the document says, else the newest (C42, RS-02).

    Newest is the greatest integer id, else the latest ``createdat``, else the last one listed.
    """
    said = (meta.get("defaultversionid"), source.get("versionid"))
    for key in said:
        if key is not None and str(key) in versions:
            return str(key)
    for key, version in versions.items():
        if version.get("isdefault") is True:
            return key
    if all(key.isascii() and key.isdigit() for key in versions):
        return max(versions, key=int)
    ids = list(versions)
    if all(isinstance(version.get("createdat"), str) for version in versions.values()):
        return max(ids, key=lambda key: (versions[key]["createdat"], ids.index(key)))
    return ids[-1]


def _raw_versions(xid: Xid, listed: Members, place: Place) -> dict[str, Members]:
    place.distinct(listed)
    raw: dict[str, Members] = {}
    for key, value in listed.items():
        version = place.mapping(value, key)
        inside = place.at(key)
        inside.same_id(version, "versionid", key)
        inside.same_id(version, _SINGULAR[xid.resources], xid.resource)
        place.count()
        raw[key] = version
    return raw
