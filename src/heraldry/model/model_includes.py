"""Resolving ``$include`` and ``$includes`` in a model's source (MD-60..MD-62).

    resolve_includes(source, load, base="https://example.com/model.json")

Nothing is fetched here: ``load`` gives the JSON of an address, and decides which it will.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

from heraldry.model.model_reading_aspects import fault

Load = Callable[[str], Any]

CHAIN = 20
"""How many includes may lie in each other."""
DEPTH = 100
"""How deep the resolved source may be nested."""
INCLUDES = 1000
"""How many includes may be resolved, each time it is met: a few could otherwise multiply."""
SIZE = 200_000
"""How many members the resolved source may have."""


def resolve_includes(source: Mapping[str, Any], load: Load, base: str = "") -> dict[str, Any]:
    """The source with what it includes in place; ``base`` is the address it was found at."""
    documents = {base: source}
    return _Resolution(documents, load).resolve(source, base, (f"{base}#",), 0)


class _Resolution:
    """One run over a source: the documents it met so far, and how large its result is."""

    def __init__(self, documents: dict[str, Any], load: Load) -> None:
        self.documents, self.load = documents, load
        self.size = self.includes = 0

    def resolve(
        self, part: Mapping[str, Any], base: str, chain: tuple[str, ...], depth: int
    ) -> dict[str, Any]:
        """One object: its own members first, then those of the includes in order."""
        if depth > DEPTH:
            raise fault(f"the model is nested more than {DEPTH} levels deep")
        found = {
            name: self._value(value, base, chain, depth)
            for name, value in part.items()
            if name not in ("$include", "$includes")
        }
        for reference in _references(part):
            for name, value in self._included(reference, base, chain, depth).items():
                if name != "$schema":
                    found.setdefault(name, value)
        return found

    def _value(self, value: Any, base: str, chain: tuple[str, ...], depth: int) -> Any:
        self.size += 1
        if self.size > SIZE:
            raise fault(f"the model has more than {SIZE} members when its includes are resolved")
        if isinstance(value, Mapping):
            return self.resolve(value, base, chain, depth + 1)
        return value

    def _included(
        self, reference: str, base: str, chain: tuple[str, ...], depth: int
    ) -> dict[str, Any]:
        self.includes += 1
        if self.includes > INCLUDES:
            raise fault(
                f"the model has more than {INCLUDES} includes, those of included parts counted"
            )
        address, pointer = _resolved(base, reference)
        place = f"{address}#{pointer}"
        if place in chain:
            raise fault("the includes are circular: " + " -> ".join((*chain[1:], place)))
        if len(chain) > CHAIN:
            raise fault(f"more than {CHAIN} includes lie in each other, at {reference!r}")
        if address not in self.documents:
            self.documents[address] = self.load(address)
        target = _at(self.documents[address], pointer)
        if not isinstance(target, Mapping):
            raise fault(f"the include {reference!r} leads to no object")
        return self.resolve(target, address, (*chain, place), depth)


def _references(part: Mapping[str, Any]) -> list[str]:
    if "$include" in part and "$includes" in part:
        raise fault("$include and $includes must not be in the same object")
    found = [part["$include"]] if "$include" in part else part.get("$includes", [])
    if not isinstance(found, list) or not all(isinstance(r, str) and r for r in found):
        raise fault("$include must be an address, $includes an array of addresses")
    return found


def _resolved(base: str, reference: str) -> tuple[str, str]:
    try:
        address, fragment = urldefrag(urljoin(base, reference))
    except ValueError:
        raise fault(f"the include {reference!r} is not an address") from None
    return address, _pointer(fragment)


def _pointer(fragment: str) -> str:
    """The JSON pointer of a fragment; official models leave out its first slash (MD-62)."""
    pointer = unquote(fragment)
    return pointer if not pointer or pointer.startswith("/") else f"/{pointer}"


def _at(document: Any, pointer: str) -> Any:
    for step in pointer.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        document = document.get(name) if isinstance(document, Mapping) else None
    return document
