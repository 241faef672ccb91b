"""A source as a structure: the document read, the root type chosen, and endless types refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from heraldry.errors import NoRootError, SchemaError
from heraldry.schemas.json_structure.document import places_of
from heraldry.schemas.json_structure.grammar import CHAIN_LIMIT, Grammar
from heraldry.schemas.json_structure.shapes import Plain, Ref, Shape, Structure, inner, same_value
from heraldry.schemas.source import Source

FANOUT_LIMIT: Final = 10_000
"""How many shapes may be asked about one and the same value."""


def read_structure(
    root: Mapping[str, Any], source: Source, uses: frozenset[str] = frozenset()
) -> Structure:
    """The structure of a document, with the add-ins that a payload uses."""
    offers = _offers(root, source)
    places = tuple(sorted({place for name in uses for place in offers.get(name, ())}))
    grammar = Grammar(root, source.format, places)
    offers = {
        name: tuple(grammar.target(f"#{place}", f"/$offers/{name}") for place in places)
        for name, places in offers.items()
    }
    types = grammar.types()
    place = _root(grammar, root, source)
    structure = Structure(types=types, root=Ref(where=place, target=place), offers=offers)
    _check_endless(structure, source.format)
    return structure


def _offers(root: Mapping[str, Any], source: Source) -> dict[str, tuple[str, ...]]:
    offers = root.get("$offers", {})
    if not isinstance(offers, Mapping):
        raise SchemaError(source.format, "/$offers", "$offers is an object")
    found = {}
    for name, targets in offers.items():
        listed = targets if isinstance(targets, list) else [targets]
        if not all(isinstance(one, str) and one.startswith("#") for one in listed):
            reason = "an offer is a JSON pointer that begins with '#', or an array of them"
            raise SchemaError(source.format, f"/$offers/{name}", reason)
        found[name] = tuple(one[1:] for one in listed)
    return found


def _root(grammar: Grammar, root: Mapping[str, Any], source: Source) -> str:
    link = source.link
    if link.removeprefix("#"):
        if link.removeprefix("#") == root.get("name") and "" in grammar.declared:
            return ""
        for place in places_of(link):
            if place in grammar.declared:
                return grammar.usable(f"#{place}", place)
        raise grammar.error(link, "the document has no type at this place")
    if "$root" in root:
        if "type" in root:
            raise grammar.error("/$root", "a document has a type or a $root, not both")
        return grammar.usable(root["$root"], "/$root")
    if "" in grammar.declared:
        return grammar.usable("#", "")
    reason = "the document has neither a type nor a $root: a link must name one"
    raise NoRootError(source.format, "", reason)


def _check_endless(structure: Structure, format: str) -> None:  # noqa: A002
    """Refuse types that lead back to themselves, or to too many others, for the same value."""
    measures = _Measures(structure.types)
    waiting = list(structure.types.values())
    while waiting:
        shape = waiting.pop()
        if isinstance(shape, Plain) and shape.composition is None:
            continue
        count, chain = measures.of(shape, 0)
        if count > FANOUT_LIMIT or chain > CHAIN_LIMIT:
            reason = "the type leads back to itself, or to too many others, for the same value"
            raise SchemaError(format, shape.where, reason)
        waiting.extend(inner(shape))
        if not isinstance(shape, Ref):
            waiting.extend(same_value(shape, structure.types))
        elif shape.composition is not None:
            waiting.extend(shape.composition.parts())


class _Measures:
    """How many shapes are asked about a value, and how long their chain is; each shape once."""

    def __init__(self, types: Mapping[str, Shape]) -> None:
        self._types = types
        self._known: dict[int, tuple[int, int]] = {}
        self._open: set[int] = set()

    def of(self, shape: Shape, depth: int) -> tuple[int, int]:
        key = id(shape)
        if key in self._open or depth > CHAIN_LIMIT:
            return FANOUT_LIMIT + 1, CHAIN_LIMIT + 1
        if key not in self._known:
            self._open.add(key)
            parts = [self.of(part, depth + 1) for part in same_value(shape, self._types)]
            self._open.discard(key)
            count = 1 + sum(part for part, _ in parts)
            chain = 1 + max((length for _, length in parts), default=0)
            self._known[key] = min(count, FANOUT_LIMIT + 1), min(chain, CHAIN_LIMIT + 1)
        return self._known[key]
