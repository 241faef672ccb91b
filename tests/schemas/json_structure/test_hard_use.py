"""JSON Structure in hard use: members next to typed rests, unions that overlap, much to check."""

from __future__ import annotations

import json
import time

import pytest

from heraldry.errors import MessageError
from heraldry.schemas.formats import changes
from heraldry.schemas.formats import compile as compile_schema

HEAD = {"$schema": "https://json-structure.org/meta/validation/v0/#", "$id": "urn:t", "name": "T"}
LONG = {"type": "int64"}


def load(schema):
    return compile_schema("JsonStructure", {**HEAD, **schema})


def record(rest=False, **members):
    return {"type": "object", "properties": members, "additionalProperties": rest}


# id: schema, JSON text, native value
BOTH_WAYS = {
    "member next to others of another type": (
        record(LONG, a={"type": "int32"}), b'{"a":1,"b":"2"}', {"a": 1, "b": 2}),
    "member of any type next to others": (
        record(LONG, a={"type": "any"}), b'{"a":1,"b":"2"}', {"a": 1, "b": 2}),
    "number of a union that also has a long": ({"type": ["string", "int64", "double"]}, b"2", 2),
    "text of a union that also has a long": (
        {"type": ["string", "int64", "double"]}, b'"2"', "2"),
    "long before a text": ({"type": ["int64", "string"]}, b'"2"', 2),
    "pattern of properties with a long": (
        {**record(True, a={"type": "string"}), "patternProperties": {"^q": LONG}},
        b'{"a":"x","q":"2"}', {"a": "x", "q": "2"}),
    "array that contains a date": (
        {"type": "array", "items": {"type": "string"}, "contains": {"type": "date"}},
        b'["2024-01-31","x"]', ["2024-01-31", "x"]),
}  # fmt: skip


@pytest.mark.parametrize("name", BOTH_WAYS)
def test_a_value_is_written_as_it_was_read(name):
    schema, text, native = BOTH_WAYS[name]
    structure = load(schema)
    assert structure.decode(text) == native
    assert structure.encode(native) == text
    assert structure.check(native) == ()


def test_many_values_of_many_types_are_refused_soon():
    types = {
        f"D{n}": record(True, **{f"k{m}": {"type": "string", "const": f"{n}"} for m in range(10)})
        for n in range(100)
    }
    union = {"type": [{"$ref": f"#/definitions/{name}"} for name in types]}
    structure = load({"type": "array", "items": union, "definitions": types})
    value = [{f"k{m}": "zz" for m in range(10)} for _ in range(5_000)]
    before = time.process_time()
    with pytest.raises(MessageError) as caught:
        structure.decode(json.dumps(value).encode())
    assert [one.rule for one in caught.value.problems] == ["size"]
    assert [one.rule for one in structure.check(value)] == ["size"]
    assert not structure.is_valid(value)
    assert time.process_time() - before < 12


def test_many_nullable_values_are_read():
    structure = load({"type": "array", "items": {"type": ["null", "string"]}})
    assert len(structure.decode(json.dumps(["x", None] * 30_000).encode())) == 60_000


def test_many_patterns_are_compared_soon():
    def patterns(last):
        return load(record(**{
            f"f{n}": {"type": "string", "pattern": f"^[a-z]{{1,{n % 50 + 1}}}{last}$"}
            for n in range(1_500)
        }))  # fmt: skip

    old, new = patterns("x"), patterns("(x|y)")
    before = time.process_time()
    found = changes(old, new)
    assert {one.backward for one in found} == {"undecided"}
    assert {one.forward for one in found} <= {"breaking", "undecided"}
    assert time.process_time() - before < 9
