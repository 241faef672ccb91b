"""Reads a JSON Structure document into shapes; what is wrong with it is said with its place."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from heraldry.errors import SchemaError
from heraldry.schemas.json_structure.document import definitions_of, escaped
from heraldry.schemas.json_structure.extension import Inherited, inherited
from heraldry.schemas.json_structure.limits import read_limits
from heraldry.schemas.json_structure.scalars import ENCODINGS, PRIMITIVES
from heraldry.schemas.json_structure.shapes import (
    Choice,
    Composition,
    Plain,
    Record,
    Ref,
    Row,
    Sequence,
    Shape,
    Table,
    Union,
)

MEMBER_LIMIT: Final = 50_000
"""How many properties all types may have together, inherited ones counted each time."""

CHAIN_LIMIT: Final = 100
"""How many references may lead on to one another for one value."""

COMPOUND: Final = ("object", "array", "set", "map", "tuple", "choice", "any")
_COMPOSITION = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else")
_UNTYPED = (
    "properties", "required", "additionalProperties", "dependentRequired", "patternProperties",
    "propertyNames", "minProperties", "maxProperties", "has",
)  # fmt: skip
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*").fullmatch
_NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*").fullmatch
# The texts of the drafts and the published meta-schemas spell these differently.
_VALIDATION = frozenset(("JSONStructureValidation", "JSONSchemaValidation"))
_CONDITIONS = frozenset(("JSONStructureConditionalComposition", "JSONSchemaConditionalComposition"))


class Grammar:
    """Reads one document; ``added`` are the places of the add-ins a payload asks for."""

    def __init__(self, root: Mapping[str, Any], format: str, added: tuple[str, ...] = ()) -> None:  # noqa: A002
        self.root, self._format, self._added = root, format, added
        declared = str(root.get("$schema", ""))
        uses = root.get("$uses", [])
        if not isinstance(uses, list) or not all(isinstance(one, str) for one in uses):
            raise self.error("/$uses", "$uses is an array of texts")
        enabled = frozenset(uses)
        self.validates = bool(enabled & _VALIDATION) or "/meta/validation/" in declared
        self._composes = bool(enabled & _CONDITIONS) or "/meta/validation/" in declared
        definitions = root.get("definitions", {})
        if not isinstance(definitions, Mapping):
            raise self.error("/definitions", "definitions are an object")
        self.inherited: dict[tuple[str, bool], Inherited] = {}
        self._left = MEMBER_LIMIT
        self.declared: dict[str, Mapping[str, Any]] = {}
        for where, value in definitions_of(definitions):
            if not isinstance(value, Mapping):
                raise self.error(where, "this is neither a type nor a namespace")
            self.declared[where] = value
        name = root.get("name")
        self._own = f"/definitions/{escaped(name)}" if isinstance(name, str) else None
        if any(word in root for word in ("type", *_COMPOSITION)):
            self.declared[""] = root

    def error(self, where: str, reason: str) -> SchemaError:
        """What to raise for a part of the document."""
        return SchemaError(self._format, where, reason)

    def spend(self, count: int, where: str) -> None:
        """Count the properties of one more type, inherited ones included."""
        self._left -= count
        if self._left < 0:
            reason = f"its types have more than {MEMBER_LIMIT} properties, with inherited ones"
            raise self.error(where, reason)

    def types(self) -> dict[str, Shape]:
        """Every type of the document by its place; the root's is the empty text."""
        return {where: self.shape(schema, where) for where, schema in self.declared.items()}

    def target(self, pointer: Any, where: str) -> str:
        """The place of the type that a pointer leads to."""
        if not isinstance(pointer, str) or not pointer.startswith("#"):
            raise self.error(where, "a reference is a JSON pointer that begins with '#'")
        place = pointer[1:]
        if place not in self.declared and place == self._own and "" in self.declared:
            return ""
        if place not in self.declared:
            raise self.error(where, f"there is no type at {pointer!r}")
        return place

    def usable(self, pointer: Any, where: str) -> str:
        """The place of a type that values may have, so of none that is abstract."""
        place = self.target(pointer, where)
        if self.declared[place].get("abstract") is True:
            raise self.error(where, f"the type at {pointer!r} is abstract: no value has it")
        return place

    def shape(self, schema: Any, where: str, *, condition: bool = False) -> Shape:
        """The shape of one schema; a condition may do without a type."""
        if not isinstance(schema, Mapping):
            raise self.error(where, "a schema is an object")
        if "$ref" in schema:
            reason = "$ref stands inside type: {'type': {'$ref': ...}}"
            raise self.error(f"{where}/$ref", reason)
        self._check_words(schema, where)
        composition = self._composition(schema, where)
        if "type" not in schema:
            return self._untyped(schema, where, composition, condition)
        kind = schema["type"]
        if isinstance(kind, list):
            return self._union(kind, schema, where, composition)
        if isinstance(kind, Mapping):
            return self._indirect(kind, schema, where, composition)
        if not isinstance(kind, str) or (kind not in PRIMITIVES and kind not in COMPOUND):
            raise self.error(f"{where}/type", "type is none of the known types")
        return self._named(kind, schema, where, composition)

    def _check_words(self, schema: Mapping[str, Any], where: str) -> None:
        name = schema.get("name")
        if "name" in schema and not (isinstance(name, str) and _NAME(name)):
            raise self.error(f"{where}/name", "name is not an identifier")
        if not isinstance(schema.get("abstract", False), bool):
            raise self.error(f"{where}/abstract", "abstract is true or false")
        kind = schema.get("type")
        for word in ("enum", "const"):
            if word in schema and (isinstance(kind, list) or kind in COMPOUND):
                raise self.error(f"{where}/{word}", f"{word} is only for primitive types")
        for word in ("required", "additionalProperties"):
            if word in schema and isinstance(kind, str) and kind != "object":
                raise self.error(f"{where}/{word}", f"{word} is only for objects")

    def _untyped(
        self,
        schema: Mapping[str, Any],
        where: str,
        composition: Composition | None,
        condition: bool,
    ) -> Shape:
        if condition and any(word in schema for word in _UNTYPED):
            return self._record(schema, where, composition, loose=True)
        if composition is not None:
            limits = read_limits(self, schema, where, None)
            return Shape(where=where, composition=composition, limits=limits)
        if any(word in schema for word in _COMPOSITION):
            reason = "it has no type, and $uses does not enable conditional composition"
            raise self.error(where, reason)
        raise self.error(where, "it has no type")

    def _composition(self, schema: Mapping[str, Any], where: str) -> Composition | None:
        if not any(word in schema for word in _COMPOSITION):
            return None
        lists: dict[str, tuple[Shape, ...]] = {}
        for word in ("allOf", "anyOf", "oneOf"):
            parts = schema.get(word, [])
            if not isinstance(parts, list) or (word in schema and not parts):
                raise self.error(f"{where}/{word}", f"{word} is an array of schemas")
            if self._composes:
                lists[word] = tuple(
                    self.shape(part, f"{where}/{word}/{number}", condition=True)
                    for number, part in enumerate(parts)
                )
        if not self._composes:
            return None
        single = {
            word: self.shape(schema[word], f"{where}/{word}", condition=True)
            for word in ("not", "if", "then", "else")
            if word in schema
        }
        return Composition(
            all_of=lists["allOf"],
            any_of=lists["anyOf"],
            one_of=lists["oneOf"],
            none_of=(single["not"],) if "not" in single else (),
            condition=single.get("if"),
            then=single.get("then"),
            otherwise=single.get("else"),
        )

    def _union(
        self,
        kinds: list[Any],
        schema: Mapping[str, Any],
        where: str,
        composition: Composition | None,
    ) -> Shape:
        if not kinds:
            raise self.error(f"{where}/type", "a union of types has at least one")
        parts = tuple(
            self._alternative(kind, f"{where}/type/{number}") for number, kind in enumerate(kinds)
        )
        limits = read_limits(self, schema, where, None)
        return Union(where=where, limits=limits, composition=composition, parts=parts)

    def _alternative(self, kind: Any, where: str) -> Shape:
        if isinstance(kind, str) and kind in PRIMITIVES:
            return Plain(where=where, kind=kind)
        if isinstance(kind, Mapping) and "$ref" in kind:
            return Ref(where=where, target=self.usable(kind["$ref"], f"{where}/$ref"))
        if isinstance(kind, Mapping) and kind.get("type") in ("map", "array", "set"):
            return self.shape(kind, where)
        if kind in COMPOUND or isinstance(kind, Mapping):
            raise self.error(where, "a compound type stands in a union by reference only")
        raise self.error(where, "this is none of the known types")

    def _indirect(
        self,
        kind: Mapping[str, Any],
        schema: Mapping[str, Any],
        where: str,
        composition: Composition | None,
    ) -> Shape:
        if "$ref" not in kind:
            if "type" not in kind:
                raise self.error(f"{where}/type", "type is a name, an array, or has a $ref")
            return self.shape({**schema, **kind}, f"{where}/type")
        target = self.usable(kind["$ref"], f"{where}/type/$ref")
        limits = read_limits(self, schema, where, self._primitive(target))
        return Ref(where=where, limits=limits, composition=composition, target=target)

    def _primitive(self, place: str) -> str | None:
        """The name of the primitive type that a place declares, over other references or not."""
        for _ in range(CHAIN_LIMIT):
            kind = self.declared[place].get("type")
            if isinstance(kind, str):
                return kind
            if not isinstance(kind, Mapping) or "$ref" not in kind:
                return None
            place = self.target(kind["$ref"], f"{place}/type/$ref")
        reason = "the reference comes back to itself, or leads over too many others"
        raise self.error(f"{place}/type/$ref", reason)

    def _named(
        self, kind: str, schema: Mapping[str, Any], where: str, composition: Composition | None
    ) -> Shape:
        if kind == "object":
            return self._record(schema, where, composition)
        if kind == "tuple":
            return self._row(schema, where, composition)
        if kind == "choice":
            return self._choice(schema, where, composition)
        limits = read_limits(self, schema, where, kind)
        if kind in ("array", "set"):
            item = self._needed(schema, "items", kind, where)
            unique = kind == "set" or (schema.get("uniqueItems") is True and self.validates)
            return Sequence(
                where=where, limits=limits, composition=composition, item=item, unique=unique
            )
        if kind == "map":
            value = self._needed(schema, "values", kind, where)
            return Table(where=where, limits=limits, composition=composition, value=value)
        return self._plain(kind, schema, where, composition, limits)

    def _plain(
        self,
        kind: str,
        schema: Mapping[str, Any],
        where: str,
        composition: Composition | None,
        limits: Mapping[str, Any],
    ) -> Plain:
        encoding = schema.get("contentEncoding", "base64") if kind == "binary" else "base64"
        if not isinstance(encoding, str) or encoding.lower() not in ENCODINGS:
            raise self.error(f"{where}/contentEncoding", "this encoding is not known")
        digits: dict[str, int | None] = {"precision": None, "scale": None}
        for word in digits if kind in ("decimal", "number") else ():
            number = schema.get(word)
            if word in schema and (type(number) is not int or number < 0):
                raise self.error(f"{where}/{word}", f"{word} is a whole number")
            digits[word] = number
        return Plain(
            where=where,
            limits=limits,
            composition=composition,
            kind=kind,
            encoding=encoding.lower(),
            precision=digits["precision"],
            scale=digits["scale"],
        )

    def _needed(self, schema: Mapping[str, Any], word: str, kind: str, where: str) -> Shape:
        if word not in schema:
            raise self.error(where, f"the type {kind} needs {word}")
        return self.shape(schema[word], f"{where}/{word}")

    def members(self, schema: Mapping[str, Any], where: str) -> dict[str, Shape]:
        """The shapes of the properties that a schema itself declares."""
        found = schema.get("properties", {})
        if not isinstance(found, Mapping):
            raise self.error(f"{where}/properties", "properties are an object")
        for name in found:
            if not _IDENTIFIER(name):
                place = f"{where}/properties/{escaped(name)}"
                raise self.error(place, "the name of a property is not an identifier")
        return {
            name: self.shape(part, f"{where}/properties/{escaped(name)}")
            for name, part in found.items()
        }

    def _record(
        self,
        schema: Mapping[str, Any],
        where: str,
        composition: Composition | None,
        *,
        loose: bool = False,
    ) -> Record:
        whole = inherited(self, schema, where, self._added)
        if not whole.members and not loose:
            raise self.error(where, "an object has at least one property")
        self._check_required(whole, where, loose)
        rest = schema.get("additionalProperties", True)
        if not isinstance(rest, bool):
            rest = self.shape(rest, f"{where}/additionalProperties")
        return Record(
            where=where,
            limits=read_limits(self, schema, where, "object"),
            composition=composition,
            members=whole.members,
            required=whole.required,
            either=whole.either,
            rest=rest or schema.get("abstract") is True,
        )

    def _check_required(self, whole: Inherited, where: str, loose: bool) -> None:
        named = whole.required.union(*(one for group in whole.either for one in group))
        if not loose and (missing := named - set(whole.members)):
            reason = f"it has no property {min(missing)!r}"
            raise self.error(f"{where}/required", reason)

    def _row(self, schema: Mapping[str, Any], where: str, composition: Composition | None) -> Row:
        whole = inherited(self, schema, where, self._added)
        order = schema.get("tuple")
        if not isinstance(order, list) or not all(isinstance(name, str) for name in order):
            raise self.error(f"{where}/tuple", "tuple is an array of the names of properties")
        if sorted(order) != sorted(whole.members) or not order:
            raise self.error(f"{where}/tuple", "tuple lists each property once")
        return Row(
            where=where,
            limits=read_limits(self, schema, where, "tuple"),
            composition=composition,
            members={name: whole.members[name] for name in order},
        )

    def _choice(
        self, schema: Mapping[str, Any], where: str, composition: Composition | None
    ) -> Choice:
        choices = schema.get("choices")
        if not isinstance(choices, Mapping) or not choices:
            raise self.error(f"{where}/choices", "choices are an object of schemas")
        selector = schema.get("selector")
        if "selector" in schema and not isinstance(selector, str):
            raise self.error(f"{where}/selector", "selector is the name of a property")
        extends = schema.get("$extends")
        if extends is not None:
            self.target(extends, f"{where}/$extends")
            if selector is None:
                raise self.error(
                    f"{where}/selector", "a choice that extends a type needs a selector"
                )
        members = {
            name: self.shape(part, f"{where}/choices/{escaped(name)}")
            for name, part in choices.items()
        }
        return Choice(
            where=where,
            limits=read_limits(self, schema, where, "choice"),
            composition=composition,
            members=members,
            selector=selector if extends is not None else None,
        )
