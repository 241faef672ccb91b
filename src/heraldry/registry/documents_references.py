"""Schemas that name other schemas of the registry: found by xid, never fetched."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import unquote

from heraldry.errors import XidError
from heraldry.model.formats import family
from heraldry.model.schema_reference import Resolved
from heraldry.model.xid import Xid
from heraldry.schemas.formats import references_of
from heraldry.schemas.references import gather_by
from heraldry.schemas.source import Reference
from heraldry.store.rows import Kind, Row

if TYPE_CHECKING:
    from heraldry.registry.unit import Unit


def gather_references(unit: Unit, schema: Resolved) -> tuple[Reference, ...]:
    """The documents of the registry that a schema names, directly or through others.

    One is named by its xid, with or without a version, by its ``self`` URL, by a pointer from the
    registry's root, or by its id where both are in one group.
    """
    return gather_by(partial(_find, unit), schema)


def missing_reference(schema: Resolved, found: tuple[Reference, ...]) -> str:
    """A document that a schema names and the registry does not have; ``""``: there is none."""
    have = {reference.name for reference in found}
    for name in references_of(schema.format, schema.document):
        # In Avro a bare name is a type, which is missing in the document itself.
        if name not in have and (family(schema.format)[0] != "avro" or "/" in name):
            return name
    return ""


def _find(unit: Unit, name: str, home: str | None) -> Resolved | None:
    row = next((row for text in _xids(unit, name, home) if (row := _row(unit, text))), None)
    if row is not None and row.kind is Kind.RESOURCE:
        row = unit.tx.by_key([row.default]).get(row.default)
    if row is None or row.kind is not Kind.VERSION or not row.document:
        return None
    return Resolved(
        format=str(row.attributes.get("format") or ""),
        document=unit.tx.document(row.document),
        xid=row.xid.rpartition("/versions/")[0],
        versionid=row.id,
    )


def _xids(unit: Unit, name: str, home: str | None) -> list[str]:
    """What a name may mean, the likeliest first."""
    base = unit.request.base
    if base and name.startswith(f"{base}/"):
        return [name.removeprefix(base).removesuffix("$details")]
    if name.startswith("#/"):
        parts = unquote(name[2:]).split("/")
        return ["/" + "/".join(part.replace("~1", "/").replace("~0", "~") for part in parts)]
    if name.startswith("/"):
        return [name]
    if home is None or "://" in name or name.startswith("#"):
        return []
    beside = f"{home.rpartition('/')[0]}/{name.removeprefix('./')}"
    return [beside, f"/{name}"]


def _row(unit: Unit, text: str) -> Row | None:
    try:
        xid = Xid.parse(text)
    except XidError:
        return None
    return unit.tx.find(text) if xid.resource and not xid.meta else None
