"""Which element of a schema document is the payload (C43)."""

from __future__ import annotations

import re
from typing import Any

from heraldry.errors import NoRootError, SchemaError
from heraldry.schemas.source import Source
from heraldry.schemas.xsd.xml import local

# A path may have a prefix, a predicate on the name, or the steps of the schema document itself.
_STEP = re.compile(
    r"(?:.*/)?(?:\w+:)?(?:element|complexType)\[@name\s*=\s*['\"]([^'\"]+)['\"]\]", re.DOTALL
)


def root_element(source: Source, schema: Any) -> Any:
    """The global element a link names, or the one that can be meant; SchemaError lists them."""
    elements: dict[str, Any] = {
        name: one
        for name, one in schema.maps.elements.items()
        if one.schema.maps is schema.maps and not one.abstract
    }
    if source.link:
        return _linked(source, schema, elements)
    own = {name: one for name, one in elements.items() if one.schema is schema}
    # A document may do nothing but put others together.
    own = own or elements
    if not own:
        reason = "it declares no global element, so nothing can be a payload of it"
        raise NoRootError(source.format, "", reason)
    if len(own) == 1:
        return next(iter(own.values()))
    wanted = source.name.rpartition(".")[2]
    named = [one for name, one in own.items() if local(name) in (wanted, source.name)]
    if len(named) == 1:
        return named[0]
    used = _referenced(schema)
    free = [one for name, one in own.items() if name not in used]
    if len(free) == 1:
        return free[0]
    names = ", ".join(sorted(local(name) for name in own))
    reason = f"it declares several elements, and none is named as the payload: {names}"
    raise NoRootError(source.format, "", reason)


def _linked(source: Source, schema: Any, elements: dict[str, Any]) -> Any:
    link = source.link.removeprefix("#")
    step = _STEP.fullmatch(link)
    name = step[1] if step else link.strip().lstrip("/")
    if not name.startswith("{"):
        prefix, colon, rest = name.rpartition(":")
        if colon and prefix in schema.namespaces:
            name = f"{{{schema.namespaces[prefix]}}}{rest}"
        elif colon:
            name = rest
    target = f"{{{schema.target_namespace}}}{name}" if schema.target_namespace else name
    for full in (name, target):
        if full in elements:
            return elements[full]
    names = ", ".join(sorted({local(one) for one in elements})[:20]) or "none"
    reason = f"the document has no global element of this name (it has: {names})"
    raise SchemaError(source.format, source.link, reason)


def _referenced(schema: Any) -> set[str]:
    return {
        part.name
        for one in schema.maps.iter_globals()
        if one.schema.maps is schema.maps
        for part in one.iter_components()
        if getattr(part, "ref", None) is not None and part.name is not None
    }
