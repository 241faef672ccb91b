"""The suffix that fits a document, so that editors and diff tools know what they see."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from heraldry.model.formats import family

_BY_FORMAT = {
    "avro": ".avsc",
    "jsonschema": ".json",
    "jsonstructure": ".json",
    "protobuf": ".proto",
    "xsd": ".xsd",
}
_BY_TYPE = {
    "application/json": ".json",
    "application/octet-stream": ".bin",
    "application/xml": ".xml",
    "application/yaml": ".yaml",
    "text/csv": ".csv",
    "text/html": ".html",
    "text/markdown": ".md",
    "text/plain": ".txt",
    "text/xml": ".xml",
    "text/yaml": ".yaml",
}
_BY_STRUCTURE = {"+json": ".json", "+xml": ".xml", "+yaml": ".yaml"}
_TYPES = {suffix: media for media, suffix in reversed(_BY_TYPE.items()) if suffix != ".bin"} | {
    ".avsc": "application/json",
    ".proto": "text/plain",
    ".xsd": "application/xml",
    ".yml": "application/yaml",
}


def suffix_of(version: Mapping[str, Any]) -> str:
    """The suffix for a version's document: by its format, else by its media type."""
    if found := _BY_FORMAT.get(family(str(version.get("format") or ""))[0]):
        return found
    media = str(version.get("contenttype") or "").partition(";")[0].strip().lower()
    for end, suffix in _BY_STRUCTURE.items():
        if media.endswith(end):
            return suffix
    return _BY_TYPE.get(media, ".bin")


def media_type_of(name: str) -> str | None:
    """The media type of a file by its suffix, where that tells it."""
    return _TYPES.get(PurePath(name).suffix.lower())
