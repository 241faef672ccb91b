"""References between schemas of one catalog: found by xid, never fetched."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from heraldry.errors import SchemaError
from heraldry.model.catalog import Catalog
from heraldry.model.schema_reference import Resolved, find_schema
from heraldry.model.xid import Xid
from heraldry.schemas.formats import content_of, references_of
from heraldry.schemas.source import Reference

REFERENCE_LIMIT: Final = 200
"""How many other documents one schema may need."""


def gather(catalog: Catalog, schema: Resolved) -> tuple[Reference, ...]:
    """The documents of the catalog that a schema needs, directly or through others.

    A document names another by its xid, with or without a version, by its ``self`` URL, or by
    its id where both are in one group. What the catalog does not have is left out: compiling
    the schema then says what is missing.
    """
    return gather_by(partial(_find, catalog), schema)


Find = Callable[[str, str | None], Resolved | None]
"""The document that a name means in a document with an xid; None where there is none."""


def gather_by(find: Find, schema: Resolved) -> tuple[Reference, ...]:
    """The documents that a schema needs, directly or through others, where they can be found."""
    found: dict[str, bytes] = {}
    waiting = [(schema.xid, schema.format, schema.document)]
    while waiting:
        home, format_, document = waiting.pop()
        for name in references_of(format_, document):
            one = find(name, home)
            if one is None:
                continue
            content = content_of(one.format, one.document)
            if found.get(name, content) != content:
                # The id of a schema may be that of another one in another group.
                reason = f"{name!r} means one document here and another one there: use xids"
                raise SchemaError(schema.format, "", reason)
            if name in found:
                continue
            if len(found) == REFERENCE_LIMIT:
                reason = f"it needs more than {REFERENCE_LIMIT} other documents"
                raise SchemaError(schema.format, "", reason)
            found[name] = content
            waiting.append((one.xid, one.format, one.document))
    return tuple(Reference(name, content) for name, content in found.items())


def _find(catalog: Catalog, name: str, home: str | None) -> Resolved | None:
    """The document a reference names, in the catalog or in the group of the one that names it."""
    names = [name]
    if home is not None and not name.startswith(("/", "#")) and "://" not in name:
        own = Xid.parse(home)
        names.append(f"/{own.groups}/{own.group}/{own.resources}/{name.removeprefix('./')}")
    for text in (*names, *([f"/{name}"] if name.startswith("schemagroups/") else [])):
        reference = find_schema(catalog, text)
        if reference is None or reference.link:
            continue
        resource = catalog.resource(reference.xid)
        version = resource.versions.get(reference.xid.version or "") if resource else None
        if resource is not None and version is not None and "schema" in version.attributes:
            return Resolved(
                format=str(version.attributes.get("format") or ""),
                document=version.attributes["schema"],
                xid=str(resource.xid),
                versionid=version.id,
            )
    return None
