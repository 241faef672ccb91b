"""How a document is shown inside JSON, by its content type (MD-48, DO-04)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, cast

Kind = Literal["json", "string", "binary"]

KINDS: Final = frozenset(("json", "string", "binary"))
_IMPLICIT: Final = {"application/json": "json", "*+json": "json", "text/plain": "string"}


def kind_of(typemap: Mapping[str, str], contenttype: str | None) -> Kind:
    """The kind of a document: entries that match must agree, else it is binary.

    Only type and subtype count, ignoring case. The implicit entries hold where none of the
    given ones matches.
    """
    media = (contenttype or "").partition(";")[0].strip().lower()
    if not media:
        return "binary"
    for entries in (typemap, _IMPLICIT):
        kinds = {kind.lower() for key, kind in entries.items() if _matches(key.lower(), media)}
        if kinds:
            return cast("Kind", kinds.pop()) if len(kinds) == 1 else "binary"
    return "binary"


def _matches(key: str, media: str) -> bool:
    start, star, end = key.partition("*")
    if not star:
        return key == media
    return len(media) >= len(start + end) and media.startswith(start) and media.endswith(end)
