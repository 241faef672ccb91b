"""A part of a document as a document of its own, with a copy of all that it refers to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from heraldry.errors import UnreadableError
from heraldry.schemas.json_schema.document import Document

_ONE: Final = frozenset(
    (
        "additionalProperties", "additionalItems", "propertyNames", "contains", "not", "if", "then",
        "else", "unevaluatedProperties", "unevaluatedItems",
    )
)  # fmt: skip
_LISTS: Final = frozenset(("allOf", "anyOf", "oneOf", "prefixItems"))
_NAMED: Final = frozenset(("properties", "patternProperties", "dependentSchemas", "dependencies"))
# What gives a place an address, or only says something about it.
_LEFT_OUT: Final = frozenset(
    (
        "$schema", "$id", "id", "$anchor", "$comment", "$defs", "definitions", "$vocabulary",
        "title", "description", "examples", "default", "contentSchema",
    )
)  # fmt: skip
_DYNAMIC: Final = frozenset(("$dynamicRef", "$recursiveRef", "$dynamicAnchor", "$recursiveAnchor"))


def standing_alone(document: Document, part: Any, limit: int) -> Any:
    """The part with its references pointing into itself.

    None where a reference is dynamic or leads nowhere, or where there are too many objects.
    """
    copier = _Copier(document, limit)
    try:
        body = copier.copied(part)
        definitions = copier.definitions()
    except (UnreadableError, RecursionError):
        return None
    return {**body, "definitions": definitions} if definitions else body


class _Copier:
    """Copies schemas; a target of references becomes a definition, once."""

    def __init__(self, document: Document, limit: int) -> None:
        self._document, self._left = document, limit
        self._names: dict[int, str] = {}
        self._targets: list[Any] = []

    def definitions(self) -> dict[str, Any]:
        """The copies of all targets, of those of the targets too."""
        made: dict[str, Any] = {}
        for at, target in enumerate(self._targets):  # grows while it is read
            made[str(at)] = self.copied(target)
        return made

    def copied(self, schema: Any) -> Any:
        """The copy of one schema; anything else is the same."""
        if not isinstance(schema, Mapping):
            return schema
        self._left -= 1
        if self._left < 0 or schema.keys() & _DYNAMIC:
            raise UnreadableError
        return {
            key: self._value(key, value) for key, value in schema.items() if key not in _LEFT_OUT
        }

    def _value(self, key: str, value: Any) -> Any:
        if key == "$ref":
            return self._reference(value)
        if key in _ONE or (key == "items" and not isinstance(value, list)):
            return self.copied(value)
        if (key in _LISTS or key == "items") and isinstance(value, list):
            return [self.copied(one) for one in value]
        if key in _NAMED and isinstance(value, Mapping):
            return {name: self.copied(one) for name, one in value.items()}
        return value

    def _reference(self, reference: Any) -> str:
        target = self._document.target(reference)
        if not isinstance(target, (Mapping, bool)):
            raise UnreadableError
        # A boolean has no identity of its own, so each reference to one has its own copy.
        key = id(target) if isinstance(target, Mapping) else -len(self._targets)
        if key not in self._names:
            self._names[key] = str(len(self._targets))
            self._targets.append(target)
        return f"#/definitions/{self._names[key]}"
