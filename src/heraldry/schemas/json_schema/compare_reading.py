"""One version of a document as the comparison reads it: parts with places, one set of keywords."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from typing import Any, Final

from heraldry.errors import SchemaError, UnreadableError
from heraldry.schemas.json_schema.bundle import parsed
from heraldry.schemas.json_schema.document import Schema, nodes
from heraldry.schemas.json_schema.scan import MAPS, NESTED, dialect
from heraldry.schemas.json_schema.schema import JsonSchema

ANNOTATIONS: Final = frozenset(
    (
        "$schema", "$id", "id", "$comment", "$anchor", "$dynamicAnchor", "$recursiveAnchor",
        "$vocabulary", "$defs", "definitions", "title", "description", "examples", "default",
        "deprecated", "readOnly", "writeOnly", "contentSchema",
    )
)  # fmt: skip
"""Keywords that say nothing about which values are accepted."""

ASSERTED_FORMATS: Final = 7
"""The last draft in which ``format`` and ``content…`` are checked; later they are annotations."""

_HOLDERS: Final = (dict, list)

_KEYWORDS: Final = {
    4: frozenset(
        (
            "$ref", "type", "enum", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
            "multipleOf", "minLength", "maxLength", "pattern", "format", "properties", "required",
            "additionalProperties", "patternProperties", "minProperties", "maxProperties",
            "dependencies", "items", "additionalItems", "minItems", "maxItems", "uniqueItems",
            "allOf", "anyOf", "oneOf", "not", "default",
        )
    ),
    6: frozenset(("const", "contains", "propertyNames", "contentEncoding", "contentMediaType")),
    7: frozenset(("if", "then", "else")),
    2019: frozenset(
        (
            "dependentRequired", "dependentSchemas", "minContains", "maxContains",
            "unevaluatedProperties", "unevaluatedItems", "$recursiveRef",
        )
    ),
    2020: frozenset(("prefixItems", "$dynamicRef")),
}  # fmt: skip
# The drafts that took a keyword away again.
_GONE: Final = {2020: frozenset(("additionalItems", "$recursiveRef"))}
_JUMP_LIMIT: Final = 100
_PROSE: Final = frozenset(
    ("$comment", "title", "description", "examples", "deprecated", "readOnly", "writeOnly")
)


@dataclass(frozen=True, slots=True)
class Part:
    """A sub-schema and its pointer in the document; without one it is implied (``True``)."""

    schema: Any
    at: str | None

    def into(self, *keys: str | int, schema: Any) -> Part:
        """The sub-schema below some keys."""
        return Part(schema, below(self.at, *keys))


def below(at: str | None, *keys: str | int) -> str | None:
    """A pointer made longer; None where there is none."""
    if at is None:
        return None
    return at + "".join(f"/{str(key).replace('~', '~0').replace('/', '~1')}" for key in keys)


class Version:
    """One version: follows references and gives the place of what they lead to.

    ``types`` remembers what was found out about the sub-schemas, by their identity.
    """

    def __init__(self, schema: JsonSchema) -> None:
        self.schema, self.draft = schema, schema.draft
        self.document = schema.document()
        self.types: dict[int, frozenset[str]] = {}
        self.root = Part(schema.schema, self._places.get(id(schema.schema), self._start))

    @cached_property
    def is_mixed(self) -> bool:
        """Whether some part or some document referred to is written in another draft."""
        roots = [self.schema.root]
        for one in self.schema.source.references:
            with suppress(SchemaError):  # what cannot be read is not referred to
                roots.append(parsed(self.schema.source.format, one.content))
        parts = (node for root in roots for node in nodes(root))
        return any(dialect(part) not in (None, self.draft) for part in parts)

    @property
    def _start(self) -> str:
        """Where the document begins that references are relative to: a link may name another."""
        link = self.schema.source.link.removeprefix("#")
        if not link or self.schema.root is not self.schema.schema:
            return ""
        return link if link.startswith("/") else f"/{link}"

    @cached_property
    def _places(self) -> dict[int, str]:
        """The pointer of every object of the document by its identity, the first one found."""
        places: dict[int, str] = {}
        root = self.schema.root
        waiting = [(self._start, root)] if isinstance(root, _HOLDERS) else []
        while waiting:
            at, node = waiting.pop()
            if isinstance(node, Mapping):
                places.setdefault(id(node), at)
                inner: Iterable[tuple[str | int, Any]] = node.items()
            else:
                inner = enumerate(node)
            waiting.extend(
                (below(at, key) or "", value) for key, value in inner if isinstance(value, _HOLDERS)
            )
        return places

    def followed(self, part: Part) -> Part:
        """The part that plain references lead to; UnreadableError where they lead nowhere."""
        for _ in range(_JUMP_LIMIT):
            schema = part.schema
            if not isinstance(schema, Mapping) or "$ref" not in schema:
                return part
            beside = schema.keys() - ANNOTATIONS - {"$ref"}
            if beside and self.draft > ASSERTED_FORMATS:
                return part
            target = self.document.target(schema["$ref"])
            # What is in another document is located by the way there.
            part = Part(target, self._places.get(id(target), below(part.at, "$ref")))
        raise UnreadableError

    def node(self, part: Part) -> Node:
        """What a part asks for, by the keywords its draft knows."""
        part = self.followed(part)
        known = _known(self.draft)
        schema = part.schema if isinstance(part.schema, Mapping) else {}
        return Node(
            at=part.at,
            never=part.schema is False,
            asked={key: value for key, value in schema.items() if key in known},
            draft=self.draft,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """The keywords of one schema object; ``never`` is the schema ``false``."""

    at: str | None
    never: bool
    asked: Schema
    draft: int

    @property
    def free(self) -> bool:
        """Whether nothing is asked for."""
        return not self.never and not self.asked.keys() - ANNOTATIONS

    def place(self, *keys: str | int) -> str | None:
        """The pointer of a keyword, or of the object where it does not have that keyword."""
        return below(self.at, *keys) if keys and keys[0] in self.asked else self.at

    def part(self, key: str, implied: Any = True) -> Part:
        """The sub-schema of a keyword."""
        if key not in self.asked:
            return Part(implied, None)
        return Part(self.asked[key], below(self.at, key))

    def parts(self, key: str) -> list[Part]:
        """The sub-schemas of a keyword that has a list of them."""
        values = self.asked.get(key)
        values = values if isinstance(values, list) else []
        return [Part(value, below(self.at, key, at)) for at, value in enumerate(values)]

    def named(self, key: str) -> dict[str, Part]:
        """The sub-schemas of a keyword that has them by name."""
        values = self.asked.get(key)
        values = values if isinstance(values, Mapping) else {}
        return {name: Part(value, below(self.at, key, name)) for name, value in values.items()}

    def names(self, key: str) -> dict[str, None]:
        """The texts in the list of a keyword, in order, each once."""
        values = self.asked.get(key)
        return _names(values) if isinstance(values, list) else {}

    def items(self) -> tuple[list[Part], Part]:
        """The sub-schemas of the first items, and that of all the others."""
        if self.draft >= 2020:
            return self.parts("prefixItems"), self.part("items")
        if isinstance(self.asked.get("items"), list):
            return self.parts("items"), self.part("additionalItems")
        return [], self.part("items")

    def dependent_names(self) -> dict[str, tuple[dict[str, None], str | None]]:
        """The members that another one asks for, and where that is said."""
        found: dict[str, tuple[dict[str, None], str | None]] = {}
        for key in ("dependencies", "dependentRequired"):
            for name, part in self.named(key).items():
                if isinstance(part.schema, list):
                    before = found.get(name, ({}, None))[0]
                    found[name] = before | _names(part.schema), part.at
        return found

    def dependent_schemas(self) -> dict[str, Part]:
        """The sub-schemas that the presence of a member asks for."""
        old = self.named("dependencies").items()
        mixed = {name: part for name, part in old if not isinstance(part.schema, list)}
        return {**mixed, **self.named("dependentSchemas")}

    def bound(self, name: str) -> tuple[Fraction, bool] | None:
        """The ``minimum`` or ``maximum`` with whether the limit itself is excluded."""
        plain, exclusive = self.asked.get(name), self.asked.get(f"exclusive{name.capitalize()}")
        if isinstance(exclusive, bool):  # draft 4
            return None if plain is None else (fraction(plain), exclusive)
        limits = [(fraction(plain), False)] if plain is not None else []
        limits += [(fraction(exclusive), True)] if exclusive is not None else []
        if not limits:
            return None
        sign = 1 if name == "minimum" else -1
        return max(limits, key=lambda limit: (sign * limit[0], limit[1]))


def _names(values: list[Any]) -> dict[str, None]:
    return dict.fromkeys(value for value in values if isinstance(value, str))


def fraction(number: Any) -> Fraction:
    """A number exactly as it is written in decimal."""
    return Fraction(str(number)) if isinstance(number, float) else Fraction(number)


def bare(schema: Any) -> Any:
    """A schema without what only people read."""
    if isinstance(schema, list):
        return [bare(one) for one in schema]
    if not isinstance(schema, Mapping):
        return schema
    kept = ((key, value) for key, value in schema.items() if key not in _PROSE)
    return {key: _bare_value(key, value) for key, value in kept}


def _bare_value(key: str, value: Any) -> Any:
    if key in MAPS and isinstance(value, Mapping):
        return {name: bare(one) for name, one in value.items()}
    return bare(value) if key in NESTED else value


@cache
def _known(draft: int) -> frozenset[str]:
    known = frozenset().union(*(words for since, words in _KEYWORDS.items() if since <= draft))
    return known - _GONE.get(draft, frozenset())
