"""The other documents a JSON Schema names."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final
from urllib.parse import unquote

from heraldry.errors import MessageError
from heraldry.schemas.json_schema.drafts import DEFAULT_DRAFT
from heraldry.schemas.json_schema.scan import (
    SUBSCHEMA_LIMIT,
    Place,
    at,
    catalog_pointer,
    dialect,
    joined,
    metaschema,
    scan,
)
from heraldry.schemas.parse import parse

REFERENCES: Final = ("$ref", "$dynamicRef")
"""The keywords that may name another document."""

_NO_BASE = ""
# Without these there is no reference, however it is written.
_MARKS = (b"$ref", b"$dynamicRef", b"\\u")


def references(content: bytes) -> tuple[str, ...]:
    """The names in references, without fragments: as written, and joined with ``$id``.

    What the document itself or a draft defines is left out. A pointer into the catalog's document
    (``#/schemagroups/...``) is a name where the schema has no such part.
    """
    if not any(mark in content for mark in _MARKS):
        return ()
    try:
        root = parse(content)
    except MessageError:
        return ()
    places = list(islice(scan(root, _NO_BASE, dialect(root) or DEFAULT_DRAFT), SUBSCHEMA_LIMIT))
    own = {place.base for place in places if place.resource}
    found: dict[str, None] = {}
    for place in places:
        for key in REFERENCES:
            reference = place.node.get(key)
            if isinstance(reference, str):
                found.update(dict.fromkeys(_names(root, place, reference, own)))
    return tuple(found)


def _names(root: object, place: Place, reference: str, own: set[str]) -> Iterator[str]:
    name, _, fragment = reference.partition("#")
    if not name:
        pointed = catalog_pointer(reference)
        if pointed is not None and not _has(root, fragment):
            yield pointed[0]
        return
    address = joined(place.base, name)
    if address is None or address in own or metaschema(address):
        return
    yield name
    if address != name:
        yield address


def _has(root: object, fragment: str) -> bool:
    try:
        at(root, unquote(fragment))
    except KeyError:
        return False
    return True
