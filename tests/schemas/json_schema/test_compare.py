"""What changed between two versions of a JSON Schema, and whom it breaks."""

from __future__ import annotations

from typing import Any

import pytest

from heraldry.schemas import formats
from heraldry.schemas.changes import Change
from heraldry.schemas.compatibility import compare
from heraldry.schemas.formats import changes

OK, BAD, OPEN = "compatible", "incompatible", "undecided"
MODERN = "https://json-schema.org/draft/2020-12/schema"


def obj(**members: Any) -> dict[str, Any]:
    return {"type": "object", "properties": members}


def closed(**members: Any) -> dict[str, Any]:
    return {**obj(**members), "additionalProperties": False}


STR, INT, NUM, NULL = ({"type": name} for name in ("string", "integer", "number", "null"))
CAT = {"type": "object", "properties": {"kind": {"const": "cat"}}, "required": ["kind"]}
DOG = {"type": "object", "properties": {"kind": {"const": "dog"}}, "required": ["kind"]}


def tree(value: Any) -> dict[str, Any]:
    """A recursive schema: a node has a value, and nodes below it."""
    node = closed(value=value, below={"type": "array", "items": {"$ref": "#/definitions/node"}})
    return {"definitions": {"node": node}, "$ref": "#/definitions/node"}


def modern(schema: dict[str, Any]) -> dict[str, Any]:
    return {"$schema": MODERN, **schema}


# id, old, new, backward, forward, one rule that is reported, and where: old and new.
CASES: list[tuple[str, Any, Any, str, str, str, str | None, str | None]] = [
    ("type string to integer", STR, INT, BAD, BAD, "type-changed", "/type", "/type"),
    ("type integer to number", INT, NUM, OK, BAD, "type-changed", "/type", "/type"),
    ("type number to integer", NUM, INT, BAD, OK, "type-changed", "/type", "/type"),
    ("type removed", STR, {}, OK, BAD, "type-changed", "/type", ""),
    ("type added", {}, STR, BAD, OK, "type-changed", "", "/type"),
    ("type becomes nullable", STR, {"type": ["string", "null"]}, OK, BAD, "type-changed", "/type",
     "/type"),
    ("type no longer nullable", {"type": ["string", "null"]}, STR, BAD, OK, "type-changed", "/type",
     "/type"),
    ("nullable by anyOf", STR, {"anyOf": [STR, NULL]}, OK, BAD, "type-changed", "/type", ""),
    ("nested type", obj(a=obj(b=STR)), obj(a=obj(b=INT)), BAD, BAD, "type-changed",
     "/properties/a/properties/b/type", "/properties/a/properties/b/type"),
    ("everything to nothing", True, False, BAD, OK, "value-refused", "", ""),
    ("nothing to everything", False, {}, OK, BAD, "value-accepted", "", ""),
    ("optional property added, open", obj(a=STR), obj(a=STR, note=STR), BAD, OK, "field-added",
     None, "/properties/note"),
    ("optional property added, closed", closed(a=STR), closed(a=STR, note=STR), OK, BAD,
     "field-added", "/additionalProperties", "/properties/note"),
    ("property that accepts anything added", obj(a=STR), obj(a=STR, note={}), OK, OK, "field-added",
     None, "/properties/note"),
    ("property added under a schema for others", {**obj(), "additionalProperties": STR},
     {**obj(b=STR), "additionalProperties": STR}, OK, OK, "field-added", "/additionalProperties",
     "/properties/b"),
    ("property added against a schema for others", {**obj(), "additionalProperties": STR},
     {**obj(b=INT), "additionalProperties": STR}, BAD, BAD, "field-added", "/additionalProperties",
     "/properties/b"),
    ("required property added, closed", closed(a=STR), {**closed(a=STR, b=STR), "required": ["b"]},
     BAD, BAD, "became-required", "", "/required"),
    ("property removed, open", obj(a=STR, b=STR), obj(a=STR), OK, BAD, "field-removed",
     "/properties/b", None),
    ("property removed, closed", closed(a=STR, b=STR), closed(a=STR), BAD, OK, "field-removed",
     "/properties/b", "/additionalProperties"),
    ("property removed, covered by a pattern", closed(x_a=STR),
     {**closed(), "patternProperties": {"^x_": STR}}, OK, BAD, "field-removed", "/properties/x_a",
     "/patternProperties/^x_"),
    ("property renamed, closed", closed(a=STR), closed(b=STR), BAD, BAD, "field-added",
     "/additionalProperties", "/properties/b"),
    ("property became required", obj(a=STR), {**obj(a=STR), "required": ["a"]}, BAD, OK,
     "became-required", "", "/required"),
    ("property became optional", {**obj(a=STR), "required": ["a"]}, obj(a=STR), OK, BAD,
     "became-optional", "/required", ""),
    ("object closed", obj(a=STR), closed(a=STR), BAD, OK, "object-closed", "",
     "/additionalProperties"),
    ("object opened", closed(a=STR), obj(a=STR), OK, BAD, "object-opened", "/additionalProperties",
     ""),
    ("pattern property added, open", obj(), {**obj(), "patternProperties": {"^x": STR}}, BAD, OK,
     "pattern-property-added", None, "/patternProperties/^x"),
    ("pattern property added, closed", closed(), {**closed(), "patternProperties": {"^x": STR}}, OK,
     BAD, "pattern-property-added", "/additionalProperties", "/patternProperties/^x"),
    ("enum value added", {"enum": ["a"]}, {"enum": ["a", "b"]}, OK, BAD, "enum-value-added",
     "/enum", "/enum"),
    ("enum value removed", {"enum": ["a", "b"]}, {"enum": ["a"]}, BAD, OK, "enum-value-removed",
     "/enum", "/enum"),
    ("enum in another order", {"enum": ["a", 1]}, {"enum": [1.0, "a"]}, OK, OK, "", None, None),
    ("enum tells true from one", {"enum": [True]}, {"enum": [1]}, BAD, BAD, "enum-value-removed",
     "/enum", "/enum"),
    ("enum added", STR, {"type": "string", "enum": ["a"]}, BAD, OK, "enum-added", "", "/enum"),
    ("const changed", {"const": 1}, {"const": 2}, BAD, BAD, "const-value-added", "/const",
     "/const"),
    ("const to enum", {"const": 1}, {"enum": [1, 2]}, OK, BAD, "const-value-added", "/const",
     "/enum"),
    ("minLength raised", {"minLength": 1}, {"minLength": 2}, BAD, OK, "min-length-raised",
     "/minLength", "/minLength"),
    ("minLength of no text", {**INT, "minLength": 1}, {**INT, "minLength": 2}, OK, OK, "", None,
     None),
    ("maxLength lowered", {"maxLength": 9}, {"maxLength": 2}, BAD, OK, "max-length-lowered",
     "/maxLength", "/maxLength"),
    ("maxLength removed", {"maxLength": 9}, {}, OK, BAD, "max-length-removed", "/maxLength", ""),
    ("minimum lowered", {"minimum": 5}, {"minimum": 2.5}, OK, BAD, "minimum-lowered", "/minimum",
     "/minimum"),
    ("minimum becomes exclusive", {"minimum": 5}, {"exclusiveMinimum": 5}, BAD, OK,
     "minimum-raised", "/minimum", "/exclusiveMinimum"),
    ("maximum lowered", {"maximum": 5}, {"maximum": 4}, BAD, OK, "maximum-lowered", "/maximum",
     "/maximum"),
    ("limits of integers written differently", {**INT, "exclusiveMinimum": 0},
     {**INT, "minimum": 1}, OK, OK, "minimum-raised", "/exclusiveMinimum", "/minimum"),
    ("multipleOf divided", {**NUM, "multipleOf": 10}, {**NUM, "multipleOf": 2.5}, OK, BAD,
     "multiple-of-changed", "/multipleOf", "/multipleOf"),
    ("multipleOf changed", {**NUM, "multipleOf": 10}, {**NUM, "multipleOf": 4}, BAD, BAD,
     "multiple-of-changed", "/multipleOf", "/multipleOf"),
    ("pattern added", STR, {**STR, "pattern": "^a"}, BAD, OK, "pattern-added", "", "/pattern"),
    ("pattern changed", {**STR, "pattern": "^a"}, {**STR, "pattern": "^b"}, BAD, BAD,
     "pattern-changed", "/pattern", "/pattern"),
    ("pattern written differently", {**STR, "pattern": "^(?:ab|ac)$"},
     {**STR, "pattern": "^a(?:c|b)$"}, OPEN, OPEN, "pattern-changed", "/pattern", "/pattern"),
    ("format added where it is checked", STR, {**STR, "format": "date"}, BAD, OK, "format-changed",
     "", "/format"),
    ("format added as an annotation", modern(STR), modern({**STR, "format": "date"}), OK, OK,
     "format-changed", "", "/format"),
    ("items changed", {"items": STR}, {"items": INT}, BAD, BAD, "type-changed", "/items/type",
     "/items/type"),
    ("item of a tuple added, open", {"items": [STR]}, {"items": [STR, INT]}, BAD, OK, "item-added",
     None, "/items/1"),
    ("item of a tuple removed, closed", modern({"prefixItems": [STR, STR], "items": False}),
     modern({"prefixItems": [STR], "items": False}), BAD, OK, "item-removed", "/prefixItems/1",
     "/items"),
    ("uniqueItems added", {"type": "array"}, {"type": "array", "uniqueItems": True}, BAD, OK,
     "unique-items-added", "", "/uniqueItems"),
    ("maxItems raised", {"maxItems": 1}, {"maxItems": 2}, OK, BAD, "max-items-raised", "/maxItems",
     "/maxItems"),
    ("minProperties raised", {"minProperties": 1}, {"minProperties": 2}, BAD, OK,
     "min-properties-raised", "/minProperties", "/minProperties"),
    ("contains added", {"type": "array"}, {"type": "array", "contains": STR}, BAD, OK,
     "contains-changed", "", "/contains"),
    ("minContains raised", modern({"contains": STR}), modern({"contains": STR, "minContains": 2}),
     BAD, OK, "contains-changed", "", "/minContains"),
    ("alternative added to anyOf", {"anyOf": [STR, INT]}, {"anyOf": [STR, NULL, INT]}, OK, BAD,
     "alternative-added", "/anyOf", "/anyOf/1"),
    ("alternative removed from oneOf", {"oneOf": [STR, INT, NULL]}, {"oneOf": [STR, INT]}, BAD, OK,
     "alternative-removed", "/oneOf/2", "/oneOf"),
    ("alternative of a union added", {"oneOf": [CAT]}, {"oneOf": [DOG, CAT]}, OK, BAD,
     "alternative-added", "/oneOf", "/oneOf/0"),
    ("overlapping alternative added to oneOf", {"oneOf": [NUM]}, {"oneOf": [NUM, INT]}, BAD, OK,
     "alternative-added", "/oneOf", "/oneOf/1"),
    ("oneOf to anyOf, apart", {"oneOf": [STR, INT]}, {"anyOf": [STR, INT]}, OK, OK,
     "alternatives-changed", "/oneOf", "/anyOf"),
    ("anyOf to oneOf, overlapping", {"anyOf": [NUM, INT]}, {"oneOf": [NUM, INT]}, BAD, OK,
     "alternatives-changed", "/anyOf", "/oneOf"),
    ("allOf extended", {"allOf": [obj(a=STR)]}, {"allOf": [obj(a=STR), {"required": ["a"]}]}, BAD,
     OK, "condition-added", "/allOf", "/allOf/1"),
    ("not narrowed", {"not": NUM}, {"not": INT}, OK, BAD, "type-changed", "/not/type", "/not/type"),
    ("not added", {}, {"not": STR}, BAD, OK, "negation-added", "", "/not"),
    ("then changed", {"if": {"required": ["a"]}, "then": {"required": ["b"]}},
     {"if": {"required": ["a"]}, "then": {"required": ["b", "c"]}}, BAD, OK, "became-required",
     "/then/required", "/then/required"),
    ("condition removed", {"if": {"required": ["a"]}, "then": {"required": ["b"]}}, {}, OK, BAD,
     "condition-changed", "/if", ""),
    ("dependency added", {"type": "object"}, {"type": "object", "dependencies": {"a": ["b"]}}, BAD,
     OK, "became-required", None, "/dependencies/a"),
    ("dependent schema changed", modern({"dependentSchemas": {"a": {"minProperties": 2}}}),
     modern({"dependentSchemas": {"a": {"minProperties": 3}}}), BAD, OK, "min-properties-raised",
     "/dependentSchemas/a/minProperties", "/dependentSchemas/a/minProperties"),
    ("propertyNames added", {"type": "object"},
     {"type": "object", "propertyNames": {"maxLength": 3}}, BAD, OK, "max-length-added", None,
     "/propertyNames/maxLength"),
    ("moved to a definition", obj(a=STR),
     {**obj(a={"$ref": "#/definitions/s"}), "definitions": {"s": STR}}, OK, OK, "", None, None),
    ("changed in a definition", {**obj(a={"$ref": "#/definitions/s"}), "definitions": {"s": STR}},
     {**obj(a={"$ref": "#/definitions/s"}), "definitions": {"s": INT}}, BAD, BAD, "type-changed",
     "/definitions/s/type", "/definitions/s/type"),
    ("recursion widened", tree(INT), tree(NUM), OK, BAD, "type-changed",
     "/definitions/node/properties/value/type", "/definitions/node/properties/value/type"),
    ("recursion unchanged but for a title", tree(INT), {**tree(INT), "title": "a tree"}, OK, OK, "",
     None, None),
    ("unevaluated closed", modern(obj(a=STR)),
     modern({**obj(a=STR), "unevaluatedProperties": False}), BAD, OK, "object-closed", "",
     "/unevaluatedProperties"),
    ("unevaluated with a property moved",
     modern({"allOf": [obj(a=STR)], "unevaluatedProperties": False}),
     modern({**obj(a=STR), "unevaluatedProperties": False}), OK, OK, "unevaluated-changed", "", ""),
    ("unevaluated with a property lost",
     modern({"allOf": [obj(a=STR, b=STR)], "unevaluatedProperties": False}),
     modern({"allOf": [obj(a=STR)], "unevaluatedProperties": False}), BAD, OK, "field-removed",
     "/allOf/0/properties/b", None),
    ("annotations", {"title": "a", "examples": [1]}, {"description": "b", "readOnly": True}, OK, OK,
     "", None, None),
    ("default", {"default": 1}, {"default": 2}, OK, OK, "default-changed", "/default", "/default"),
    ("draft 4 to 7 with integers", {"$schema": "http://json-schema.org/draft-04/schema#", **INT},
     {"$schema": "http://json-schema.org/draft-07/schema#", **INT}, OK, BAD, "draft-changed",
     "/$schema", "/$schema"),
    ("draft 7 to 2020-12", {**obj(a={"$ref": "#/definitions/s"}), "definitions": {"s": STR}},
     modern({**obj(a={"$ref": "#/$defs/s"}), "$defs": {"s": STR}}), OK, OK, "draft-changed", "",
     "/$schema"),
    ("tuple written in another draft", {"items": [STR], "additionalItems": False},
     modern({"prefixItems": [STR], "items": False}), OK, OK, "draft-changed", "", "/$schema"),
    ("format in another draft", {**STR, "format": "date"}, modern({**STR, "format": "date"}), OK,
     BAD, "format-changed", "/format", "/format"),
]  # fmt: skip


def found(old: Any, new: Any) -> tuple[Change, ...]:
    return changes(formats.compile("JsonSchema", old), formats.compile("JsonSchema", new))


@pytest.mark.parametrize(
    ("old", "new", "backward", "forward", "rule", "old_at", "new_at"),
    [case[1:] for case in CASES],
    ids=[case[0] for case in CASES],
)
def test_cases(old, new, backward, forward, rule, old_at, new_at) -> None:
    one, two = formats.compile("JsonSchema", old), formats.compile("JsonSchema", new)
    assert compare([("1", one)], two, "backward").verdict == backward
    assert compare([("1", one)], two, "forward").verdict == forward
    told = changes(one, two)
    assert [(c.rule, c.old, c.new) for c in told if c.rule == rule][:1] == (
        [(rule, old_at, new_at)] if rule else []
    )
    assert bool(told) == bool(rule)


@pytest.mark.parametrize(
    ("old", "new", "backward", "forward"),
    [case[1:5] for case in CASES],
    ids=[case[0] for case in CASES],
)
def test_the_way_back_is_the_mirror_image(old, new, backward, forward) -> None:
    one, two = formats.compile("JsonSchema", old), formats.compile("JsonSchema", new)
    assert compare([("2", two)], one, "backward").verdict == forward
    assert compare([("2", two)], one, "forward").verdict == backward


@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_a_schema_equals_itself(case) -> None:
    assert found(case[1], case[1]) == ()
