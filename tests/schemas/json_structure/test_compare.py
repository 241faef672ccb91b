"""Changes between two versions: rule, places, and what they do to messages in each direction."""

from __future__ import annotations

import json
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heraldry.schemas.compatibility import compare
from heraldry.schemas.formats import changes
from heraldry.schemas.formats import compile as compile_schema
from heraldry.schemas.json_structure.scalars import PRIMITIVES
from tests.schemas.json_structure.generated import FORMAT, SCALARS, schemas_and_values

HEAD = {"$schema": "https://json-structure.org/meta/validation/v0/#", "$id": "urn:t", "name": "T"}
TEXT = {"type": "string"}
WHOLE = {"type": "int32"}
VERDICTS = {"s": "compatible", "b": "incompatible", "u": "undecided"}


def load(schema):
    return compile_schema("JsonStructure/draft-02", {**HEAD, **schema})


def closed(required=(), rest=False, **members):
    return {
        "type": "object",
        "properties": members,
        "required": list(required),
        "additionalProperties": rest,
    }


def opened(required=(), **members):
    return closed(required, rest=True, **members)


def array(**item):
    return {"type": "array", "items": item}


def defined(main, **definitions):
    return {**main, "definitions": definitions}


def ref(name):
    return {"type": {"$ref": f"#/definitions/{name}"}}


def choice(**choices):
    return {"type": "choice", "choices": choices}


def row(**members):
    return {"type": "tuple", "properties": members, "tuple": list(members)}


TREE = closed(next=ref("T"))

# id: old, new, backward, forward, rule, place in the new (None: in the old)
CASES = {
    "field added to a closed object": (closed(a=TEXT), closed(a=TEXT, b=TEXT), "s", "b",
        "field-added", "/properties/b"),
    "field added to an open object": (opened(a=TEXT), opened(a=TEXT, b=TEXT), "b", "s",
        "field-added", "/properties/b"),
    "field of any added to an open object": (opened(a=TEXT), opened(a=TEXT, b={"type": "any"}), "s",
        "s", "field-added", "/properties/b"),
    "field added where others were texts": (closed(rest=TEXT, a=TEXT), closed(rest=TEXT, a=TEXT,
        b=TEXT), "s", "s", "field-added", "/properties/b"),
    "field added where others were numbers": (closed(rest=WHOLE, a=TEXT), closed(rest=WHOLE, a=TEXT,
        b=TEXT), "b", "b", "field-added", "/properties/b"),
    "required field added": (closed(a=TEXT), closed(["b"], a=TEXT, b=TEXT), "b", "b", "field-added",
        "/properties/b"),
    "field removed from a closed object": (closed(a=TEXT, b=TEXT), closed(a=TEXT), "b", "s",
        "field-removed", ""),
    "field removed from an open object": (opened(a=TEXT, b=TEXT), opened(a=TEXT), "s", "b",
        "field-removed", ""),
    "required field removed": (opened(["b"], a=TEXT, b=TEXT), opened(a=TEXT), "s", "b",
        "field-removed", ""),
    "became required": (closed(a=TEXT), closed(["a"], a=TEXT), "b", "s", "became-required",
        "/properties/a"),
    "became optional": (closed(["a"], a=TEXT), closed(a=TEXT), "s", "b", "became-optional",
        "/properties/a"),
    "object closed": (opened(a=TEXT), closed(a=TEXT), "b", "s", "additional-properties-changed",
        ""),
    "object opened": (closed(a=TEXT), opened(a=TEXT), "s", "b", "additional-properties-changed",
        ""),
    "others retyped": (closed(rest=WHOLE, a=TEXT), closed(rest=TEXT, a=TEXT), "b", "b",
        "additional-properties-changed", ""),
    "others widened": (closed(rest=WHOLE, a=TEXT), closed(rest={"type": "double"}, a=TEXT), "s",
        "b", "additional-properties-changed", ""),
    "alternative sets introduced": (opened(a=TEXT, b=TEXT), {**opened(a=TEXT, b=TEXT),
        "required": [["a"], ["b"]]}, "b", "s", "required-sets-changed", ""),
    "int8 to int16": ({"type": "int8"}, {"type": "int16"}, "s", "b", "type-changed", ""),
    "uint8 to int16": ({"type": "uint8"}, {"type": "int16"}, "s", "b", "type-changed", ""),
    "uint16 to int16": ({"type": "uint16"}, {"type": "int16"}, "b", "b", "type-changed", ""),
    "int32 to integer": (WHOLE, {"type": "integer"}, "s", "s", "type-changed", ""),
    "int32 to int64": (WHOLE, {"type": "int64"}, "b", "b", "type-changed", ""),
    "int64 to int128": ({"type": "int64"}, {"type": "int128"}, "s", "b", "type-changed", ""),
    "uint64 to decimal": ({"type": "uint64"}, {"type": "decimal"}, "s", "b", "type-changed", ""),
    "int32 to double": (WHOLE, {"type": "double"}, "s", "b", "type-changed", ""),
    "float to double": ({"type": "float"}, {"type": "double"}, "s", "b", "type-changed", ""),
    "double to number": ({"type": "double"}, {"type": "number"}, "s", "b", "type-changed", ""),
    "uuid to string": ({"type": "uuid"}, TEXT, "s", "b", "type-changed", ""),
    "string to date": (TEXT, {"type": "date"}, "b", "s", "type-changed", ""),
    "date to datetime": ({"type": "date"}, {"type": "datetime"}, "b", "b", "type-changed", ""),
    "string to int32": (TEXT, WHOLE, "b", "b", "type-changed", ""),
    "string to any": (TEXT, {"type": "any"}, "s", "b", "type-changed", ""),
    "array to string": (array(**TEXT), TEXT, "b", "b", "type-changed", ""),
    "object to map": (closed(["a"], a=TEXT), {"type": "map", "values": WHOLE}, "b", "b",
        "type-changed", ""),
    "field retyped deep inside": (closed(a=array(**closed(b=TEXT))),
        closed(a=array(**closed(b=WHOLE))), "b", "b", "type-changed",
        "/properties/a/items/properties/b"),
    "became nullable": (closed(a=TEXT), closed(a={"type": ["string", "null"]}), "s", "b",
        "became-nullable", "/properties/a"),
    "no longer nullable": (closed(a={"type": ["null", "string"]}), closed(a=TEXT), "b", "s",
        "no-longer-nullable", "/properties/a"),
    "order of a union": ({"type": ["null", "string"]}, {"type": ["string", "null"]}, "s", "s", None,
        None),
    "union type added": ({"type": ["string", "boolean"]}, {"type": ["string", "boolean", "int8"]},
        "s", "b", "union-type-added", "/type/2"),
    "union type removed": ({"type": ["string", "boolean"]}, {"type": ["string", "null"]}, "b", "b",
        "union-type-removed", ""),
    "union type widened": ({"type": ["string", "int8"]}, {"type": ["string", "int16"]}, "s", "b",
        "union-type-added", "/type/1"),
    "enum value added": ({**TEXT, "enum": ["a"]}, {**TEXT, "enum": ["a", "b"]}, "s", "b",
        "enum-value-added", ""),
    "enum value removed": ({**TEXT, "enum": ["a", "b"]}, {**TEXT, "enum": ["a"]}, "b", "s",
        "enum-value-removed", ""),
    "enum introduced": (TEXT, {**TEXT, "enum": ["a"]}, "b", "s", "limit-added", ""),
    "enum dropped": ({**TEXT, "enum": ["a"]}, TEXT, "s", "b", "limit-removed", ""),
    "enum of small numbers to int8": ({**WHOLE, "enum": [1, 2]}, {"type": "int8"}, "s", "b",
        "type-changed", ""),
    "const changed": ({**TEXT, "const": "a"}, {**TEXT, "const": "b"}, "b", "b",
        "enum-value-removed", ""),
    "maxLength lowered": ({**TEXT, "maxLength": 5}, {**TEXT, "maxLength": 3}, "b", "s",
        "limit-changed", ""),
    "maxLength dropped": ({**TEXT, "maxLength": 5}, TEXT, "s", "b", "limit-removed", ""),
    "minimum raised": ({**WHOLE, "minimum": 0}, {**WHOLE, "minimum": 1}, "b", "s", "limit-changed",
        ""),
    "minimum of the type itself": ({"type": "uint8"}, {"type": "uint8", "minimum": 0}, "s", "s",
        "limit-added", ""),
    "minimum becomes exclusive": ({**WHOLE, "minimum": 0}, {**WHOLE, "exclusiveMinimum": 0}, "b",
        "s", "limit-added", ""),
    "maximum of int64 raised": ({"type": "int64", "maximum": "5"}, {"type": "int64",
        "maximum": "6"}, "s", "b", "limit-changed", ""),
    "multipleOf refined": ({**WHOLE, "multipleOf": 4}, {**WHOLE, "multipleOf": 2}, "s", "b",
        "limit-changed", ""),
    "multipleOf replaced": ({**WHOLE, "multipleOf": 4}, {**WHOLE, "multipleOf": 6}, "b", "b",
        "limit-changed", ""),
    "pattern introduced": (TEXT, {**TEXT, "pattern": "^[a-z]+$"}, "b", "s", "limit-added", ""),
    "pattern changed": ({**TEXT, "pattern": "^[a-z]+$"}, {**TEXT, "pattern": "^[a-f]+$"}, "b", "u",
        "limit-changed", ""),
    "pattern rewritten": ({**TEXT, "pattern": "^[0-9]+$"}, {**TEXT, "pattern": "^\\d\\d*$"}, "u",
        "u", "limit-changed", ""),
    "format introduced": (TEXT, {**TEXT, "format": "ipv4"}, "b", "s", "limit-added", ""),
    "minItems introduced": (array(**TEXT), {**array(**TEXT), "minItems": 1}, "b", "s",
        "limit-added", ""),
    "array to set": (array(**TEXT), {"type": "set", "items": TEXT}, "b", "s", "became-unique", ""),
    "set to array": ({"type": "set", "items": TEXT}, array(**TEXT), "s", "b", "no-longer-unique",
        ""),
    "contains introduced": (array(**TEXT), {**array(**TEXT), "contains": {**TEXT, "const": "a"}},
        "b", "s", "limit-added", ""),
    "map values widened": ({"type": "map", "values": {"type": "int8"}}, {"type": "map",
        "values": WHOLE}, "s", "b", "type-changed", "/values"),
    "map keys limited": ({"type": "map", "values": TEXT}, {"type": "map", "values": TEXT,
        "keyNames": {**TEXT, "maxLength": 3}}, "b", "s", "limit-added", ""),
    "tuple longer": (row(a=TEXT), row(a=TEXT, b=TEXT), "b", "b", "tuple-length-changed", ""),
    "tuple item renamed": (row(a=TEXT), row(b=TEXT), "s", "s", "name-changed", "/properties/b"),
    "tuple item retyped": (row(a=TEXT), row(a=WHOLE), "b", "b", "type-changed", "/properties/a"),
    "choice added": (choice(a=TEXT), choice(a=TEXT, b=TEXT), "s", "b", "choice-added",
        "/choices/b"),
    "choice removed": (choice(a=TEXT, b=TEXT), choice(a=TEXT), "b", "s", "choice-removed", ""),
    "choice retyped": (choice(a=TEXT), choice(a=WHOLE), "b", "b", "type-changed", "/choices/a"),
    "encoding changed": ({"type": "binary"}, {"type": "binary", "contentEncoding": "base16"}, "b",
        "b", "encoding-changed", ""),
    "decimal digits added": ({"type": "decimal", "precision": 5, "scale": 2}, {"type": "decimal",
        "precision": 8, "scale": 2}, "s", "b", "digits-changed", ""),
    "decimal digits moved": ({"type": "decimal", "precision": 5, "scale": 2}, {"type": "decimal",
        "precision": 5, "scale": 3}, "b", "b", "digits-changed", ""),
    "change behind a reference": (defined(closed(a=ref("A")), A=closed(b=TEXT)),
        defined(closed(a=ref("A")), A=closed(b=TEXT, c=TEXT)), "s", "b", "field-added",
        "/definitions/A/properties/c"),
    "definition renamed": (defined(closed(a=ref("A")), A=closed(b=TEXT)),
        defined(closed(a=ref("B")), B=closed(b=TEXT)), "s", "s", None, None),
    "definition put in line": (defined(closed(a=ref("A")), A=closed(b=TEXT)),
        closed(a=closed(b=TEXT)), "s", "s", None, None),
    "recursive and the same": (TREE, {**TREE, "description": "x"}, "s", "s", None, None),
    "recursive with a field": (TREE, closed(next=ref("T"), a=TEXT), "s", "b", "field-added",
        "/properties/a"),
    "inherited field": (closed(a=TEXT, b=TEXT), defined({**closed(b=TEXT),
        "$extends": "#/definitions/A"}, A={"type": "object", "abstract": True,
        "properties": {"a": TEXT}}), "s", "s", None, None),
    "condition introduced": (WHOLE, {**WHOLE, "allOf": [{**WHOLE, "minimum": 3}]}, "b", "s",
        "conditions-changed", ""),
    "condition dropped": ({**WHOLE, "not": {**WHOLE, "const": 3}}, WHOLE, "s", "u",
        "conditions-changed", ""),
    "condition kept": ({**WHOLE, "anyOf": [WHOLE, TEXT]}, {**WHOLE, "anyOf": [WHOLE, TEXT],
        "title": "x"}, "s", "s", None, None),
    "description only": (closed(a=TEXT), closed(a={**TEXT, "description": "x"}), "s", "s", None,
        None),
    "offer added": (closed(a=TEXT), {**closed(a=TEXT), "$offers": {"N": "#/definitions/N"},
        "definitions": {"N": closed(n=TEXT)}}, "s", "b", "offer-added", "/$offers/N"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "backward", "forward", "rule", "place"), CASES.values(), ids=CASES
)
def test_a_change_and_its_verdict(old, new, backward, forward, rule, place):
    before, after = load(old), load(new)
    found = changes(before, after)
    verdicts = [compare([("1", before)], after, mode).verdict for mode in ("backward", "forward")]
    assert verdicts == [VERDICTS[backward], VERDICTS[forward]], found
    assert all(change.message.endswith(".") for change in found)
    if rule is None:
        assert found == ()
    else:
        assert (rule, place) in {(change.rule, change.new) for change in found}


@pytest.mark.parametrize(("old", "new"), [case[:2] for case in CASES.values()], ids=CASES)
def test_a_safe_direction_accepts_every_sample(old, new):
    before, after = load(old), load(new)
    for reader, writer, mode in ((after, before, "backward"), (before, after, "forward")):
        if compare([("1", before)], after, mode).verdict == "compatible":
            for seed in range(20):
                assert reader.check(writer.sample(Random(seed), {})) == ()


def test_the_sentence_of_a_field_is_for_people():
    (change,) = changes(load(closed(weight=WHOLE)), load(closed(["weight"], weight=WHOLE)))
    told = "The field 'weight' became required: messages without it are refused."
    assert (change.message, change.old, change.new) == (
        told,
        "/properties/weight",
        "/properties/weight",
    )


@settings(max_examples=40, deadline=None)
@given(schemas_and_values())
def test_equal_schemas_have_no_changes(pair):
    document, _ = pair
    again = {**document, "description": "the same"}
    assert changes(compile_schema(FORMAT, document), compile_schema(FORMAT, again)) == ()


@st.composite
def versions(draw):
    """A document with a value, and the same document with one of its parts replaced."""
    document, value = draw(schemas_and_values())
    changed = json.loads(json.dumps(document))
    places = list(schemas_in(changed))
    holder, key = draw(st.sampled_from(places))
    kind = draw(st.sampled_from(["replace", "widen", "null", "required", "rest", "remove", "add"]))
    mutate(draw, holder, key, kind)
    return document, changed, value


def schemas_in(document):
    """Every place that holds a schema, as the object it is in and its key there."""
    root = "Generated"
    space = document.get("definitions", {}).get("Space", {"Generated": document})
    waiting = [(space, root)]
    while waiting:
        holder, key = waiting.pop()
        yield holder, key
        schema = holder[key]
        for word in ("properties", "choices"):
            waiting.extend((schema[word], name) for name in schema.get(word, {}))
        waiting.extend((schema, word) for word in ("items", "values") if word in schema)


WIDER = {"int8": "int16", "int16": "int32", "uint8": "int32", "int64": "decimal", "uuid": "string",
         "float": "double", "double": "number", "string": "any", "date": "string"}  # fmt: skip


def mutate(draw, holder, key, kind):
    schema = holder[key]
    if kind == "replace" and not schema.get("$id"):
        holder[key] = dict(draw(st.sampled_from(SCALARS))[0])
    elif kind == "widen" and isinstance(schema["type"], str) and len(schema) == 1:
        schema["type"] = WIDER.get(schema["type"], schema["type"])
    elif kind == "null" and list(schema) == ["type"] and schema["type"] in PRIMITIVES:
        schema["type"] = [schema["type"], draw(st.sampled_from(["null", "boolean"]))]
    elif schema["type"] == "object":
        members = schema["properties"]
        if kind == "required":
            schema["required"] = draw(st.lists(st.sampled_from(sorted(members)), unique=True))
        elif kind == "rest":
            schema["additionalProperties"] = draw(st.sampled_from([True, False, TEXT]))
        elif kind == "add":
            members["added"] = dict(draw(st.sampled_from(SCALARS))[0])
        elif kind == "remove" and len(members) > 1:
            name = draw(st.sampled_from(sorted(members)))
            del members[name]
            schema["required"] = [one for one in schema["required"] if one != name]


@settings(max_examples=60, deadline=None)
@given(versions(), st.integers(0, 1000))
def test_what_is_called_safe_has_no_counter_example(pair, seed):
    old_document, new_document, value = pair
    old, new = compile_schema(FORMAT, old_document), compile_schema(FORMAT, new_document)
    if compare([("1", old)], new, "backward").verdict == "compatible":
        assert new.check(value) == ()
        assert new.check(old.sample(Random(seed), {})) == ()
    if compare([("1", old)], new, "forward").verdict == "compatible":
        assert old.check(new.sample(Random(seed), {})) == ()
    if compare([("1", new)], old, "backward").verdict == "incompatible":
        assert compare([("1", old)], new, "forward").verdict == "incompatible"
