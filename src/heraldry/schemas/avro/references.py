"""The other documents an Avro schema names, as types that it does not define itself."""

from __future__ import annotations

import re
from typing import Any, Final

from heraldry.errors import MessageError
from heraldry.schemas.avro.nodes import PRIMITIVES
from heraldry.schemas.parse import parse

_KNOWN: Final = PRIMITIVES | {"record", "error", "enum", "fixed", "array", "map"}
_SIMPLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


def references(content: bytes) -> tuple[str, ...]:
    """The documents that may define the types used but not defined here.

    A type is the xid or the URL of a document, behind ``#`` or ``:`` the name of a type in it;
    or it is a name, which may be the id of a schema in the same group. As ids may hold ``:``,
    both readings are given.
    """
    try:
        value = parse(content)
    except MessageError:
        return ()
    defined: set[str] = set()
    used: dict[tuple[str, str], None] = {}
    _walk(value, defined, used)
    names = {
        document: None
        for text, full in used
        if full not in defined
        for document, _ in candidates(text, full)
    }
    return tuple(names)


def candidates(text: str, full: str) -> list[tuple[str, str]]:
    """The documents and the types in them that a type's text may mean, the likeliest first."""
    document, _, name = text.partition("#")
    found = [(document, name.lstrip(":/"))] if document else []
    before, _, after = document.rpartition(":")
    if before and not name and not after.startswith("/") and "/" not in after:
        found.append((before, after))
    if full != text:
        found.append((full, ""))
    return found


def _walk(top: Any, defined: set[str], used: dict[tuple[str, str], None]) -> None:
    # With a list of its own, so that no document is too deep.
    waiting: list[tuple[Any, str]] = [(top, "")]
    while waiting:
        value, space = waiting.pop()
        if isinstance(value, str):
            if value not in _KNOWN:
                used[value, qualified(value, space)] = None
        elif isinstance(value, list):
            waiting += [(item, space) for item in reversed(value)]
        elif isinstance(value, dict):
            waiting += reversed(_parts(value, space, defined))


def _parts(value: dict[str, Any], space: str, defined: set[str]) -> list[tuple[Any, str]]:
    kind, name, own = value.get("type"), value.get("name"), value.get("namespace")
    if kind in ("record", "error", "enum", "fixed") and isinstance(name, str):
        if "." in name:
            space = name.rpartition(".")[0]
        elif isinstance(own, str):
            space = own
        defined.add(qualified(name, space))
    fields = value.get("fields")
    inside = (
        [field for field in fields if isinstance(field, dict)] if isinstance(fields, list) else []
    )
    if kind in ("record", "error"):
        return [(field.get("type"), space) for field in inside]
    return [(value.get(key), space) for key in ("type", "items", "values") if key in value]


def qualified(name: str, space: str) -> str:
    """The full name of a type by its name in a namespace; other texts stay as they are."""
    return f"{space}.{name}" if space and _SIMPLE.fullmatch(name) else name
