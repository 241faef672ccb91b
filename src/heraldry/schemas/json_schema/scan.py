"""The sub-schemas of a JSON Schema document, each with the address its references start from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urljoin

MAPS: Final = frozenset(
    ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies")
)
"""The keywords whose members are schemas by name."""

NESTED: Final = frozenset(
    (
        *("allOf", "anyOf", "oneOf", "prefixItems", "items", "additionalItems", "contains"),
        *("additionalProperties", "propertyNames", "unevaluatedItems", "unevaluatedProperties"),
        *("not", "if", "then", "else", "contentSchema"),
    )
)
"""The keywords that hold a schema or a list of them."""

DATA: Final = frozenset(("enum", "const", "default", "examples", "required", "type"))
"""The keywords that hold values, which are no schemas whatever they look like."""

SUBSCHEMA_LIMIT: Final = 20_000
"""How many objects a schema and all it refers to may have."""

METASCHEMAS: Final = {
    4: "http://json-schema.org/draft-04/schema#",
    6: "http://json-schema.org/draft-06/schema#",
    7: "http://json-schema.org/draft-07/schema#",
    2019: "https://json-schema.org/draft/2019-09/schema",
    2020: "https://json-schema.org/draft/2020-12/schema",
}
"""The schemas of the drafts themselves."""

_DIALECT = re.compile(
    r"https?://json-schema\.org/(?:draft-0([467])|draft/(2019)-09|draft/(2020)-12)/schema#?"
)
_METASCHEMA = re.compile(
    r"https?://(json-schema\.org/(?:draft-0[467]/schema|draft/20(?:19-09|20-12)/(?:schema|meta/.+)))"
)
_CATALOG = re.compile(
    r"(#/schemagroups/[^/]+/schemas/[^/]+(?:/versions/[^/]+)?)(?:/schema(/.*)?)?", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Place:
    """An object of a document: ``known`` where it is a schema for sure, and not only may be one.

    ``base`` is the address its references are relative to, ``resource`` whether it gave itself
    that address.
    """

    node: dict[str, Any]
    path: tuple[str | int, ...]
    base: str
    known: bool
    resource: bool


def scan(root: Any, base: str, draft: int) -> Iterator[Place]:
    """Every object that may be a schema, the outermost first, in the order of the document."""
    waiting: list[tuple[tuple[str | int, ...], Any, str, bool]] = [((), root, base, True)]
    while waiting:
        path, node, base, known = waiting.pop()
        if isinstance(node, list):
            parts = [((*path, number), one, base, known) for number, one in enumerate(node)]
            waiting.extend(reversed(parts))
        elif isinstance(node, dict):
            own = identity(node, draft) if known else None
            if own is not None:
                base = joined(base, own.partition("#")[0]) or base
            yield Place(node, path, base, known, own is not None)
            waiting.extend(reversed(list(_members(path, node, base, known))))


def _members(
    path: tuple[str | int, ...], node: dict[str, Any], base: str, known: bool
) -> Iterator[tuple[tuple[str | int, ...], Any, str, bool]]:
    for key, value in node.items():
        if key in DATA or not isinstance(value, (dict, list)):
            continue
        if key in MAPS and isinstance(value, dict):
            for name, member in value.items():
                yield (*path, key, name), member, base, known
        else:
            yield (*path, key), value, base, known and key in NESTED


def identity(node: dict[str, Any], draft: int) -> str | None:
    """The address a schema gives itself; an anchor is none."""
    if draft < 2019 and "$ref" in node:
        return None  # the neighbours of a reference do not count
    own = node.get("id" if draft == 4 else "$id")
    return own if isinstance(own, str) and own and own[0] != "#" else None


def joined(base: str, reference: str) -> str | None:
    """The address of a reference without its fragment; None where it is no address."""
    try:
        return urljoin(base, reference) if reference else base
    except ValueError:
        return None


def dialect(node: Any) -> int | None:
    """The draft that a document says it is written in, where that is one of the known ones."""
    text = node.get("$schema") if isinstance(node, dict) else None
    named = _DIALECT.fullmatch(text) if isinstance(text, str) else None
    return int(next(group for group in named.groups() if group)) if named else None


def metaschema(address: str) -> str | None:
    """The exact address of a draft's own schema, or None for any other."""
    named = _METASCHEMA.fullmatch(address)
    if named is None:
        return None
    return ("https://" if "/draft/" in address else "http://") + named.group(1)


def catalog_pointer(reference: str) -> tuple[str, str] | None:
    """A pointer into the catalog's document, as the name of a schema and a pointer into that."""
    named = _CATALOG.fullmatch(reference)
    return (named.group(1), named.group(2) or "") if named else None


def at(node: Any, pointer: str) -> Any:
    """The part of a value that a JSON pointer names; KeyError when there is none."""
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(node, list) and key.isascii() and key.isdigit() and _below(key, len(node)):
            node = node[int(key)]
        elif isinstance(node, dict) and key in node:
            node = node[key]
        else:
            raise KeyError(pointer)
    return node


def _below(digits: str, count: int) -> bool:
    # A number of thousands of digits is not even read.
    return len(digits) < 10 and int(digits) < count
