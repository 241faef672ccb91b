"""A JSON Schema document read structurally: references followed, conjunctions made one schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from typing import Any, Final
from urllib.parse import unquote

from heraldry.errors import UnreadableError
from heraldry.schemas.json_schema.scan import at, joined

Schema = Mapping[str, Any]

# A hostile document can make references fan out exponentially; work beyond this is not done.
STEP_LIMIT: Final = 50_000
"""How many sub-schemas one reading of a document may visit."""

# What says nothing about the values a schema accepts.
_ANNOTATIONS = frozenset(
    ("$schema", "$id", "id", "$comment", "$anchor", "$defs", "definitions", "title", "description")
)


class Document:
    """A document and the draft it is written in (4, 6, 7, 2019 or 2020).

    ``places`` are the sub-schemas by address, where all references are absolute (see bundle).
    """

    def __init__(self, root: Any, draft: int, places: Mapping[str, Any] | None = None) -> None:
        self.root, self.draft = root, draft
        self._places = places
        self._steps = 0
        self._base = (_identity(root) or "").partition("#")[0]

    def at(self, pointer: str) -> Any:
        """The part a JSON pointer names; KeyError when there is none."""
        return at(self.root, pointer)

    @cached_property
    def _names(self) -> tuple[dict[str, Any], bool]:
        """Sub-schemas by anchor (``#name``), and whether any has an identity of its own."""
        anchors: dict[str, Any] = {}
        nested = False
        for node in nodes(self.root):
            own = _identity(node)
            if own is not None and own.startswith("#"):
                anchors.setdefault(own, node)
            elif is_document(node) and node is not self.root:
                nested = True
            for key in ("$anchor", "$dynamicAnchor"):
                if isinstance(node.get(key), str):
                    anchors.setdefault(f"#{node[key]}", node)
        return anchors, nested

    def target(self, reference: Any, *, guess: bool = False) -> Any:
        """The sub-schema of a reference; UnreadableError where it is not at hand.

        Where sub-schemas have identities of their own, a reference is relative to the nearest
        one: outside of a bundle it is not followed then, unless a guess will do.
        """
        if not isinstance(reference, str):
            raise UnreadableError
        address, _, fragment = reference.partition("#")
        pointer = unquote(fragment)
        try:
            if self._places is not None and address:
                if pointer and pointer[0] != "/":
                    return self._places[f"{address}#{pointer}"]
                return at(self._places[address], pointer)
            return self._local(address, pointer, guess=guess)
        except KeyError:
            raise UnreadableError from None

    def targets(self, schema: Schema) -> list[Any]:
        """All sub-schemas that the references of a schema may lead to, whoever comes by."""
        found = []
        for key in ("$ref", "$dynamicRef", "$recursiveRef"):
            if key in schema:
                with suppress(UnreadableError):
                    found.append(self.target(schema[key]))
        if "$recursiveRef" in schema:
            found += self._roots()
        dynamic = schema.get("$dynamicRef")
        if isinstance(dynamic, str):
            end = f"#{dynamic.partition('#')[2]}"
            places = self._names[0] if self._places is None else self._places
            found += [node for address, node in places.items() if address.endswith(end)]
        return list({id(node): node for node in found}.values())

    def _roots(self) -> list[Any]:
        """All that ``$recursiveRef`` may lead to."""
        places = self._places or {}
        return [self.root, *(node for address, node in places.items() if "#" not in address)]

    def _local(self, address: str, pointer: str, *, guess: bool) -> Any:
        anchors, nested = self._names
        foreign = bool(address) and joined(self._base, address) != self._base
        if not guess and (foreign or (nested and self._places is None)):
            raise UnreadableError
        return self.at(pointer) if not pointer or pointer[0] == "/" else anchors[f"#{pointer}"]

    def flat(
        self, schema: Any, seen: frozenset[int] = frozenset()
    ) -> tuple[Schema, frozenset[int]]:
        """One schema without ``$ref`` and ``allOf`` that accepts at least the same values.

        Also gives the references followed on the way, to tell recursion; UnreadableError when a
        reference is not at hand or comes back to itself.
        """
        self._steps += 1
        if self._steps > STEP_LIMIT:
            raise UnreadableError
        if schema is True:
            return {}, seen
        if not isinstance(schema, Mapping) or "$dynamicRef" in schema or "$recursiveRef" in schema:
            raise UnreadableError
        if "$ref" in schema:
            return self._followed(schema, seen)
        parts = schema.get("allOf")
        if not isinstance(parts, list):
            return schema, seen
        merged: Schema = {key: value for key, value in schema.items() if key != "allOf"}
        followed = seen
        for part in parts:
            flat, more = self.flat(part, seen)
            followed |= more
            merged = merge(merged, flat)
        return merged, followed

    def _followed(self, schema: Schema, seen: frozenset[int]) -> tuple[Schema, frozenset[int]]:
        target = self.target(schema["$ref"])
        if id(target) in seen:
            raise UnreadableError
        flat, followed = self.flat(target, seen | {id(target)})
        # Up to draft 7 the neighbours of a reference are ignored.
        rest = {key: value for key, value in schema.items() if key != "$ref"}
        if self.draft < 2019 or not rest.keys() - _ANNOTATIONS:
            return flat, followed
        beside, more = self.flat(rest, seen)
        return merge(beside, flat), followed | more


def nodes(root: Any) -> Iterator[Schema]:
    """Every object of a document, the outermost first."""
    waiting: list[Any] = [root] if isinstance(root, (dict, list)) else []
    while waiting:
        node = waiting.pop()
        inner = node
        if isinstance(node, dict):
            yield node
            inner = node.values()
        # A list may hold a hundred thousand texts: they are not worth waiting for.
        waiting.extend(value for value in inner if isinstance(value, (dict, list)))


def is_document(schema: Any) -> bool:
    """Whether a part has an identity, and so is a document of its own to the references in it."""
    own = _identity(schema)
    return own is not None and not own.startswith("#")


def _identity(schema: Any) -> str | None:
    own = schema.get("$id", schema.get("id")) if isinstance(schema, Mapping) else None
    return own if isinstance(own, str) else None


def types_of(schema: Schema) -> tuple[str, ...] | None:
    """The type names a schema allows by ``type``, or None when it does not say."""
    value = schema.get("type")
    if isinstance(value, str):
        return (value,)
    if isinstance(value, list):
        return tuple(v for v in value if isinstance(v, str))
    return None


def merge(one: Schema, other: Schema) -> Schema:
    """A schema that accepts at least what both accept: members of both, conflicts left to one."""
    merged = {**other, **one}
    left, right = types_of(one), types_of(other)
    if left is not None and right is not None:
        merged["type"] = list(_common(left, right))
    left_members, right_members = one.get("properties"), other.get("properties")
    if isinstance(left_members, Mapping) and isinstance(right_members, Mapping):
        merged["properties"] = _members(left_members, right_members)
    if isinstance(one.get("required"), list) and isinstance(other.get("required"), list):
        merged["required"] = list(dict.fromkeys([*one["required"], *other["required"]]))
    for key in ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"):
        if _numbers(one.get(key), other.get(key)):
            merged[key] = max(one[key], other[key])
    for key in ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"):
        if _numbers(one.get(key), other.get(key)):
            merged[key] = min(one[key], other[key])
    return merged


def _common(left: tuple[str, ...], right: tuple[str, ...]) -> tuple[str, ...]:
    common = [name for name in left if name in right]
    for narrow, wide in ((left, right), (right, left)):
        if "integer" in narrow and "number" in wide and "integer" not in common:
            common.append("integer")
    return tuple(common)


def _members(left: Mapping[str, Any], right: Mapping[str, Any]) -> dict[str, Any]:
    members = dict(left)
    for key, schema in right.items():
        known = members.get(key, schema)
        members[key] = schema if known == schema else {"allOf": [known, schema]}
    return members


def _numbers(left: Any, right: Any) -> bool:
    return all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in (left, right))
