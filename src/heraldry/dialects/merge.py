"""Several documents as one catalog: every entity comes from one file (T-10)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from heraldry.dialects.xreg_1_0.document import is_collection
from heraldry.errors import DocumentError
from heraldry.model.catalog import Catalog
from heraldry.model.entities import Group


def merge(catalogs: Sequence[tuple[str, Catalog]]) -> Catalog:
    """One catalog of several, each with its file; a group in two files is an error.

    Of the registry's own attributes the first file that has one decides.
    """
    if len(catalogs) == 1:
        return catalogs[0][1]
    groups: dict[str, dict[str, Group]] = {}
    attributes: dict[str, Any] = {}
    files: dict[str, str] = {}
    source: dict[str, Any] = {}
    for file, catalog in catalogs:
        for plural, found in catalog.groups.items():
            _add(groups.setdefault(plural, {}), found, files, file)
        attributes = {**catalog.attributes, **attributes}
        files |= catalog.files
        _add_source(source, catalog.source or {}, file)
    return Catalog(attributes=attributes, groups=groups, files=files, source=source)


def _add(
    known: dict[str, Group], found: Mapping[str, Group], files: Mapping[str, str], file: str
) -> None:
    taken = {key.lower(): key for key in known}
    for key, group in found.items():
        other = taken.get(key.lower())
        if other is not None:
            first = files.get(str(known[other].xid), "")
            same = "" if other == key else f" (as {other!r}; ids must differ ignoring case)"
            reason = f"{group.xid} is already in {first}{same}; an entity has one file"
            raise DocumentError(file, str(group.xid), reason)
        known[key] = group


def _add_source(source: dict[str, Any], members: Mapping[str, Any], file: str) -> None:
    """Members nobody else keeps: groups of unknown types, by collection."""
    for name, value in members.items():
        known = source.get(name)
        if known is None or not is_collection(name, value) or not isinstance(known, Mapping):
            source.setdefault(name, value)
            continue
        twice = known.keys() & value.keys()
        if twice:
            key = min(twice)
            reason = f"/{name}/{key} is already in another file; an entity has one file"
            raise DocumentError(file, f"/{name}/{key}", reason)
        source[name] = {**known, **value}
