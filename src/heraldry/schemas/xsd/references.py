"""The other documents an XML Schema names."""

from __future__ import annotations

from typing import Final
from xml.parsers import expat

XML_NAMESPACE: Final = "http://www.w3.org/XML/1998/namespace"

_XSD = "http://www.w3.org/2001/XMLSchema"
_NAMING = {f"{_XSD} {tag}" for tag in ("include", "import", "redefine", "override")}


def references(content: bytes) -> tuple[str, ...]:
    """The ``schemaLocation`` of each include, import, redefine and override.

    The namespace of ``xml:lang`` and the like is known, wherever it is said to be.
    """
    found: dict[str, None] = {}

    def start(tag: str, attributes: dict[str, str]) -> None:
        location = attributes.get("schemaLocation", "").strip()
        if tag in _NAMING and location and attributes.get("namespace") != XML_NAMESPACE:
            found.setdefault(location.partition("#")[0])

    # A DTD ends the reading: such a document is no schema here.
    def refuse(*_: object) -> None:
        raise ValueError

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler = start
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(content, True)
    except (expat.ExpatError, ValueError, LookupError):
        return ()
    return tuple(found)
