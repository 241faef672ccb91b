"""Schemas that would check one value exponentially often are told before they check any."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Final

from heraldry.errors import UnreadableError
from heraldry.schemas.json_document import Document, nodes

FANOUT_LIMIT: Final = 10_000
"""How many sub-schemas may apply to one and the same value."""

_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_LISTS = ("allOf", "anyOf", "oneOf")
_SINGLE = ("not", "if", "then", "else")
_BY_NAME = ("dependentSchemas", "dependencies")


CHAIN_LIMIT: Final = 100
"""How many references and alternatives may lead on to one another for one value."""


def fans_out(document: Document, schema: Any) -> bool:
    """Whether a value would meet more than FANOUT_LIMIT sub-schemas, or a chain too long."""
    counter = _Counter(document)
    return any(counter.count(node, 0) > FANOUT_LIMIT for node in (schema, *nodes(document.root)))


class _Counter:
    """Counts what applies in place, each sub-schema once: linear in the size of the document."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._known: dict[int, tuple[int, int]] = {}

    def count(self, schema: Any, depth: int) -> int:
        return self._measure(schema, depth)[0]

    def _measure(self, schema: Any, depth: int) -> tuple[int, int]:
        """How many sub-schemas apply, and the longest chain of them."""
        if not isinstance(schema, Mapping):
            return 1, 1
        if depth > CHAIN_LIMIT:
            return FANOUT_LIMIT + 1, 1
        known = self._known.get(id(schema))
        if known is None:
            # A schema met again inside itself counts once: the validator stops there too.
            self._known[id(schema)] = 1, 1
            parts = [self._measure(part, depth + 1) for part in self._in_place(schema)]
            total = 1 + sum(count for count, _ in parts)
            chain = 1 + max((length for _, length in parts), default=0)
            known = (FANOUT_LIMIT + 1 if chain > CHAIN_LIMIT else total), chain
            self._known[id(schema)] = known
        return known

    def _in_place(self, schema: Mapping[str, Any]) -> Iterator[Any]:
        for key in _REFERENCES:
            if key in schema:
                with suppress(UnreadableError):
                    yield self._document.target(schema[key], guess=True)
        for key in _LISTS:
            parts = schema.get(key)
            if isinstance(parts, list):
                yield from parts
        for key in _SINGLE:
            if key in schema:
                yield schema[key]
        for key in _BY_NAME:
            parts = schema.get(key)
            if isinstance(parts, Mapping):
                yield from parts.values()
