"""Values made up from a JSON Schema; the caller verifies them, since no making-up is complete."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from random import Random
from typing import Any, Final

from heraldry.errors import UnreadableError
from heraldry.schemas.json_schema.document import Document, Schema, merge, types_of
from heraldry.schemas.sample_scalars import made_integer, made_number, made_string

NOTHING: Final = object()
"""What stands for no value at all."""

# Below the first only what is required is made, below the second nothing.
_DEEP, _DEEPEST = 6, 50
_MORE_ITEMS = 2
# After so many failures the members of maps are left out.
_PLAIN_ATTEMPTS = 10
# A wide and deep schema must not make a value without end.
_VALUE_LIMIT = 5_000
_TYPES = ("string", "integer", "object", "array", "boolean", "null")
_IMPLIED = (
    ("object", ("properties", "required", "additionalProperties", "minProperties")),
    ("array", ("items", "prefixItems", "minItems", "uniqueItems", "contains")),
    ("string", ("pattern", "format", "minLength", "maxLength")),
    ("number", ("minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum")),
)


class Sampler:
    """Makes values of one document; a reference that cannot be followed gives nothing."""

    def __init__(self, document: Document, random: Random) -> None:
        self._document, self._random = document, random
        self._attempt = 0
        self._left = 0

    def value(self, schema: Any, attempt: int) -> Any:
        """A value that is probably valid; examples and defaults serve in the first attempts."""
        self._attempt, self._left = attempt, _VALUE_LIMIT
        return self._make(schema, 0)

    def _make(self, schema: Any, depth: int) -> Any:
        self._left -= 1
        if schema is False or self._left < 0 or depth > _DEEPEST:
            return NOTHING
        try:
            flat, _ = self._document.flat(schema)
            flat = self._narrowed(flat)
        except UnreadableError:
            return NOTHING
        given = self._given(flat)
        if given is not NOTHING:
            return given
        return self._of_type(self._type(flat), flat, depth)

    def _narrowed(self, schema: Schema) -> Schema:
        """The schema joined with one of its alternatives, as long as it has any."""
        for key in ("anyOf", "oneOf"):
            branches = schema.get(key)
            if isinstance(branches, list) and branches:
                rest = {name: value for name, value in schema.items() if name != key}
                usable = [branch for branch in branches if branch != {"type": "null"}] or branches
                flat, _ = self._document.flat(self._random.choice(usable))
                schema = self._narrowed(merge(rest, flat))
        return schema

    def _given(self, schema: Schema) -> Any:
        if "const" in schema:
            return schema["const"]
        if isinstance(schema.get("enum"), list) and schema["enum"]:
            return self._random.choice(schema["enum"])
        if self._attempt < 2:
            if isinstance(schema.get("examples"), list) and schema["examples"]:
                return self._random.choice(schema["examples"])
            if "default" in schema:
                return schema["default"]
        return NOTHING

    def _type(self, schema: Schema) -> str:
        names = types_of(schema)
        if names is None:
            for name, keywords in _IMPLIED:
                if any(keyword in schema for keyword in keywords):
                    return name
            # A text, mostly; what refuses it may take something else.
            return "string" if self._attempt < 2 else self._random.choice(_TYPES)
        usable = [name for name in names if name != "null"]
        return self._random.choice(usable) if usable else "null"

    def _of_type(self, name: str, schema: Schema, depth: int) -> Any:
        if name == "object":
            return self._object(schema, depth)
        if name == "array":
            return self._array(schema, depth)
        if name == "string":
            return made_string(schema, self._random)
        if name == "integer":
            return made_integer(schema, self._random)
        if name == "number":
            return made_number(schema, self._random)
        return bool(self._random.getrandbits(1)) if name == "boolean" else None

    def _object(self, schema: Schema, depth: int) -> Any:
        members = _mapping(schema.get("properties"))
        required = schema.get("required")
        needed = [key for key in _listed(required) if isinstance(key, str)]
        made: dict[str, Any] = {}
        for key in dict.fromkeys((*members, *needed)):
            if depth >= _DEEP and key not in needed:
                continue
            member = members.get(key, schema.get("additionalProperties", True))
            value = self._make(member, depth + 1)
            if value is not NOTHING:
                made[key] = value
            elif key in needed:
                return NOTHING
        if not made and depth < _DEEP:
            made.update(self._map_entries(schema, depth))
        return self._sized(made, needed, schema, depth)

    def _map_entries(self, schema: Schema, depth: int) -> Iterator[tuple[str, Any]]:
        """A few members of an object that is a map; none after many attempts, which may help."""
        rest = schema.get("additionalProperties")
        kinds = list(_mapping(schema.get("patternProperties")).items())
        if not kinds and isinstance(rest, Mapping) and rest:
            kinds = [("", rest)]
        for pattern, kind in kinds[: _MORE_ITEMS if self._attempt < _PLAIN_ATTEMPTS else 0]:
            value = self._make(kind, depth + 1)
            if value is not NOTHING:
                yield made_string({"pattern": pattern} if pattern else {}, self._random), value

    def _sized(self, made: dict[str, Any], needed: list[str], schema: Schema, depth: int) -> Any:
        least, most = schema.get("minProperties", 0), schema.get("maxProperties")
        optional = [key for key in made if key not in needed]
        while isinstance(most, int) and len(made) > most and optional:
            del made[optional.pop()]
        number = 0
        while isinstance(least, int) and len(made) < least and number < _VALUE_LIMIT:
            number += 1
            value = self._make(schema.get("additionalProperties", True), depth + 1)
            if value is NOTHING:
                return NOTHING
            made.setdefault(f"member{number}", value)
        return made

    def _array(self, schema: Schema, depth: int) -> Any:
        least, most = schema.get("minItems", 0), schema.get("maxItems")
        items = schema.get("items", True)
        tuple_form = isinstance(items, list)
        first = items if tuple_form else _listed(schema.get("prefixItems"))
        rest = schema.get("additionalItems", True) if tuple_form else items
        if "contains" in schema and not first:
            first, least = [schema["contains"]], max(least, 1)
        low = max(least, len(first) if depth < _DEEP else 0)
        count = low + (0 if depth >= _DEEP else self._random.randint(0, _MORE_ITEMS))
        count = min(count, most) if isinstance(most, int) else count
        made: list[Any] = []
        for position in range(int(count)):
            member = first[position] if position < len(first) else rest
            value = self._make(member, depth + 1)
            if value is not NOTHING and not (schema.get("uniqueItems") and value in made):
                made.append(value)
            elif value is NOTHING and (position >= least or self._left < 0):
                break
        return made if len(made) >= least or schema.get("uniqueItems") else NOTHING


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
