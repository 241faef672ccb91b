"""Which schema a message's payload has: inline, in this catalog, elsewhere, or none (C22, C43)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar
from urllib.parse import unquote

from heraldry.model.catalog import Catalog
from heraldry.model.definition import Definition
from heraldry.model.entities import Resource, Version
from heraldry.model.formats import family
from heraldry.model.rules_values import shown
from heraldry.model.xid import Xid

Reason = Literal["none", "dangling", "external", "conflict"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaReference:
    """A schema entity of the catalog and the deep link into its document (C43)."""

    xid: Xid
    link: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """A schema at hand: ``xid`` is None for an inline one, ``link`` a deep link (C43)."""

    format: str
    document: Any
    xid: str | None = None
    versionid: str | None = None
    link: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unresolved:
    """No schema to work with; ``detail`` says what was looked for and why it is not there."""

    reason: Reason
    detail: str


def resolve_schema(catalog: Catalog, definition: Definition) -> Resolved | Unresolved:
    """The schema of a definition: inline, then by ``dataschemaxid``, then by ``dataschemauri``.

    Both inline and by reference (M25), two references to different schemas (M28) and formats of
    different families (C44) are conflicts: nothing is guessed.
    """
    if definition.dataschema is not None:
        if definition.dataschemauri is not None:
            detail = "dataschema and dataschemauri exclude each other; only one may be given"
            return Unresolved(reason="conflict", detail=detail)
        return Resolved(format=definition.dataschemaformat or "", document=definition.dataschema)
    given = [text for text in (definition.dataschemaxid, definition.dataschemauri) if text]
    if not given:
        return Unresolved(reason="none", detail="the definition names no schema")
    found = [_find(catalog, text) for text in given]
    local = [one for one in found if one is not None]
    if not local:
        return _missing(given)
    if len({(one[0].xid, one[1].id) for one in local}) > 1:
        detail = (
            f"dataschemaxid {given[0]} and dataschemauri {shown(given[1])} name different schemas"
        )
        return Unresolved(reason="conflict", detail=detail)
    resource, version, _ = local[0]
    link = next((one[2] for one in local if one[2]), "")
    return _document(definition, resource, version, link)


def find_schema(catalog: Catalog, text: str) -> SchemaReference | None:
    """The schema entity a reference names, split from its deep link; None if there is none.

    The longest prefix that is an existing xid is the entity (C43). ``#/schemagroups/...``
    pointers and the entity's own ``self`` URL count as its xid (C22).
    """
    found = _find(catalog, text)
    if found is None:
        return None
    resource, version, link = found
    return SchemaReference(xid=_versioned(resource, version), link=link)


def _versioned(resource: Resource, version: Version) -> Xid:
    xid = resource.xid
    return Xid(xid.groups, xid.group, xid.resources, xid.resource, version.id)


def _document(
    definition: Definition, resource: Resource, version: Version, link: str
) -> Resolved | Unresolved:
    stated, own = definition.dataschemaformat or "", str(version.attributes.get("format") or "")
    if stated and own and family(stated)[0] != family(own)[0]:
        detail = f"dataschemaformat is {stated} but schema {resource.xid} is {own}"
        return Unresolved(reason="conflict", detail=detail)
    if "schema" not in version.attributes:
        url = version.attributes.get("schemaurl") or version.attributes.get("schemauri")
        if url:
            detail = f"schema {resource.xid} is kept at {shown(url)}; Heraldry never fetches"
            return Unresolved(reason="external", detail=detail)
        detail = f"schema {resource.xid} version {version.id} has no document"
        return Unresolved(reason="dangling", detail=detail)
    return Resolved(
        format=stated if stated and (not own or not family(own)[1]) else own,
        document=version.attributes["schema"],
        xid=str(resource.xid),
        versionid=version.id,
        link=link,
    )


def _missing(given: list[str]) -> Unresolved:
    absolute = [text for text in given if not text.startswith(("/", "#"))]
    if len(absolute) == len(given):
        detail = f"{shown(absolute[0])} is outside this catalog; Heraldry never fetches"
        return Unresolved(reason="external", detail=detail)
    named = next(text for text in given if text.startswith(("/", "#")))
    return Unresolved(reason="dangling", detail=f"the catalog has no schema {named}")


def _find(catalog: Catalog, text: str) -> tuple[Resource, Version, str] | None:
    """The schema, the version and the deep link of a reference."""
    if text.startswith("#"):
        # A pointer into the document itself: its segments are escaped, xids are not.
        parts = unquote(text[1:]).split("/")
        return _local(catalog, [part.replace("~1", "/").replace("~0", "~") for part in parts], "")
    path, _, fragment = text.partition("#")
    if path.startswith("/"):
        return _local(catalog, path.split("/"), fragment)
    if "/schemagroups/" not in path:
        return None
    tail = path[path.index("/schemagroups/") :]
    found = _local(catalog, tail.split("/"), fragment)
    return found if found and _is_self(catalog, path, tail, found) else None


def _is_self(catalog: Catalog, url: str, tail: str, found: tuple[Resource, Version, str]) -> bool:
    """Whether a URL is the entity's own address: by the registry's ``self`` or by its own."""
    root = catalog.attributes.get("self")
    if isinstance(root, str) and root.rstrip("/") == url[: -len(tail)]:
        return True
    resource, version, link = found
    address = url.removesuffix(f":{link}") if link else url
    sources: list[Mapping[str, Any]] = [version.attributes, resource.source or {}]
    return any(source.get("self") == address for source in sources)


def _local(
    catalog: Catalog, parts: list[str], fragment: str
) -> tuple[Resource, Version, str] | None:
    if len(parts) < 5 or parts[0] or parts[3] != "schemas":
        return None
    group = catalog.groups.get(parts[1], {}).get(parts[2])
    if group is None:
        return None
    resource, link, rest = _longest(group.resources.get("schemas", {}), parts[4], parts[5:])
    if resource is None:
        return None
    version: Version | None = resource.versions[resource.default]
    if not link and len(rest) > 1 and rest[0] == "versions":
        version, link, rest = _longest(resource.versions, rest[1], rest[2:])
    if version is None or rest not in ([], ["schema"]):
        return None
    return resource, version, link or fragment


def _longest(known: Mapping[str, T], text: str, rest: list[str]) -> tuple[T | None, str, list[str]]:
    """The entry with the longest id that ``text`` starts with; what follows ``:`` is the link."""
    if text in known:
        return known[text], "", rest
    end = text.rfind(":")
    while end > 0:
        if text[:end] in known:
            return known[text[:end]], "/".join([text[end + 1 :], *rest]), []
        end = text.rfind(":", 0, end)
    return None, "", rest
