"""What a change says, where it is, and what is not decided."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from heraldry.schemas import formats
from heraldry.schemas.changes import Change
from heraldry.schemas.formats import changes
from heraldry.schemas.source import Reference

MODERN = "https://json-schema.org/draft/2020-12/schema"
STR, INT, NUM = ({"type": name} for name in ("string", "integer", "number"))


def obj(**members: Any) -> dict[str, Any]:
    return {"type": "object", "properties": members}


def modern(schema: dict[str, Any]) -> dict[str, Any]:
    return {"$schema": MODERN, **schema}


def found(old: Any, new: Any) -> tuple[Change, ...]:
    return changes(formats.compile("JsonSchema", old), formats.compile("JsonSchema", new))


def test_an_optional_property_says_what_to_do() -> None:
    (change,) = found(obj(a=STR), obj(a=STR, note=STR))
    assert change.message == (
        "The optional property 'note' was added: old messages may already carry a 'note' of any"
        " shape, because the old version allows additional properties; close the objects of the"
        " old version, or accept this if nobody sent one."
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        pytest.param(
            obj(weight=INT),
            {**obj(weight=INT), "required": ["weight"]},
            "The property 'weight' became required: messages of the old version without it are"
            " refused.",
            id="required",
        ),
        pytest.param(
            obj(a=obj(b=INT)),
            obj(a=obj(b=STR)),
            "The type of 'a.b' changed from integer to string: old messages with an integer there"
            " are refused, and the old version refuses new messages with a string there.",
            id="both directions",
        ),
        pytest.param(
            {"enum": ["a", "b"]},
            {"enum": ["a"]},
            'The value "b" of the payload is no longer accepted: old messages with it there are'
            " refused.",
            id="enum",
        ),
        pytest.param(
            {"items": {"maxLength": 5}},
            {"items": {"maxLength": 3}},
            "The maxLength of '[]' was lowered from 5 to 3: old messages with more characters"
            " there are refused.",
            id="limit",
        ),
        pytest.param(
            {**INT, "exclusiveMinimum": 0},
            {**INT, "minimum": 1},
            "The minimum of the payload was raised from 0 (exclusive) to 1.",
            id="a change that is safe names no consequence",
        ),
        pytest.param(
            modern(STR),
            modern({**STR, "format": "date-time"}),
            "The format of the payload was added, so that the type of its column changes.",
            id="format",
        ),
    ],
)
def test_sentences(old, new, message) -> None:
    assert [change.message for change in found(old, new)] == [message]


def test_a_sentence_is_one_line_and_not_too_long() -> None:
    name = "a\n" + "x" * 5000
    old, new = (obj(**{name: obj(**{name: {"enum": [value * 1000]}})}) for value in "ab")
    for one, two in ((old, new), (obj(), new), (old, obj())):
        for change in found(one, two):
            assert "\n" not in change.message
            assert len(change.message) < 1000


def test_what_no_single_change_explains_has_an_example() -> None:
    old, new = (
        obj(a={**STR, "maxLength": 3, "pattern": p}, b={**STR, "maxLength": 3, "pattern": p})
        for p in ("^a", "^b")
    )
    *_, backward, forward = found(old, new)
    assert (backward.rule, backward.backward) == ("values-refused", "breaking")
    assert (forward.rule, forward.forward) == ("values-refused", "breaking")
    assert backward.message.startswith(
        "The new version refuses some messages of the old one, such as {"
    )


def test_a_changed_document_behind_a_reference() -> None:
    schema = obj(a={"$ref": "other.json"})
    old, new = (
        formats.compile("JsonSchema", schema, references=(Reference("other.json", content),))
        for content in (b'{"type": "integer"}', b'{"type": "number"}')
    )
    (change,) = changes(old, new)
    assert (change.rule, change.backward, change.forward) == ("type-changed", "safe", "breaking")
    assert change.new == "/properties/a/$ref/type"
    assert changes(old, old) == ()


def test_a_link_chooses_the_part_and_places_are_those_of_the_document() -> None:
    old, new = (
        formats.compile("JsonSchema", {"$defs": {"a": kind, "b": STR}}, "#/$defs/a")
        for kind in (INT, STR)
    )
    (change,) = changes(old, new)
    assert (change.old, change.new) == ("/$defs/a/type", "/$defs/a/type")


def test_a_dynamic_reference_is_not_decided() -> None:
    members = {"a": {"$dynamicRef": "#node"}}
    old = modern({"$dynamicAnchor": "node", "type": "object", "properties": members})
    assert found(old, {**old, "title": "a node"}) == ()
    told = found({**old, "required": ["a"]}, old)
    assert ("unevaluated-changed", "undecided") in {(one.rule, one.backward) for one in told}


def test_several_drafts_at_once_are_not_decided() -> None:
    inner = {"$id": "urn:x", "$schema": "http://json-schema.org/draft-07/schema#", "items": [STR]}
    old, new = (
        modern({"$defs": {"x": inner}, **obj(a={"$ref": "urn:x"}, b=kind)}) for kind in (INT, NUM)
    )
    assert "undecided" in {change.backward for change in found(old, new)}


def test_a_wide_and_deep_comparison_ends() -> None:
    random = Random(1)
    definitions = {
        str(n): obj(**{k: {"$ref": f"#/definitions/{random.randrange(40)}"} for k in "abcd"})
        for n in range(40)
    }
    old = {"definitions": definitions, "$ref": "#/definitions/0"}
    new = {"definitions": {**definitions, "7": INT}, "$ref": "#/definitions/0"}
    assert "breaking" in {change.backward for change in found(old, new)}
