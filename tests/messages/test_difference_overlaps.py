"""Definitions that ask the same of messages are told: nothing or only payloads tell them apart."""

from __future__ import annotations

import json
from typing import Any

import pytest

from heraldry.messages.difference import difference
from tests.messages.airport import SCHEMA, xid
from tests.messages.versions import EVENT, RECORD, attributes, messages


def with_schema(schema: Any) -> dict[str, Any]:
    return {**EVENT, "dataschemaformat": "JSONSchema/draft-07", "dataschema": schema}


def pounds() -> dict[str, Any]:
    """The schema with a weight in whole numbers."""
    schema: dict[str, Any] = json.loads(json.dumps(SCHEMA))
    schema["properties"]["weight"] = {"type": "integer"}
    return schema


OTHER = attributes(type={"value": "airport.stowed"})
STRUCTURED = {
    **EVENT,
    "dataschemaformat": "JsonStructure/draft-02",
    "dataschema": {"name": "Bag", "type": "object", "properties": {"tag": {"type": "string"}}},
}


@pytest.mark.parametrize(
    ("first", "second", "effect"),
    [
        pytest.param(EVENT, EVENT, "breaking", id="no schemas"),
        pytest.param(with_schema(SCHEMA), with_schema(SCHEMA), "breaking", id="one schema"),
        pytest.param(EVENT, STRUCTURED, "breaking", id="a schema for the new one alone"),
        pytest.param(with_schema(SCHEMA), with_schema(pounds()), "undecided", id="two schemas"),
    ],
)
def test_a_new_definition_that_takes_the_messages_of_another(
    first: dict[str, Any], second: dict[str, Any], effect: str
) -> None:
    (found,) = difference(messages(loaded=first), messages(loaded=first, again=second))
    (change,) = found.own
    assert (found.xid, found.kind, change.rule) == (xid("again"), "added", "same-rules")
    assert (change.backward, change.forward) == (effect, "safe")
    assert found.breaking == (effect == "breaking")
    assert xid("loaded") in change.message


def test_a_definition_that_comes_to_ask_the_same_as_others() -> None:
    several = {f"m{number}": EVENT for number in range(5)}
    old, new = messages(**several, stowed=OTHER), messages(**several, stowed=EVENT)
    (found,) = difference(old, new)
    (change,) = [one for one in found.own if one.rule == "same-rules"]
    assert change.backward == "breaking"
    assert f"{xid('m0')}, {xid('m1')}, {xid('m2')} and others" in change.message


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(EVENT, OTHER, id="another type"),
        pytest.param(EVENT, RECORD, id="another kind of message"),
        pytest.param(EVENT, {"basemessage": xid("loaded")}, id="derived: the most derived wins"),
        pytest.param(with_schema(SCHEMA), EVENT, id="what the schema accepts stays"),
        pytest.param(EVENT, {}, id="it recognises nothing"),
    ],
)
def test_a_new_definition_that_takes_nothing_away(
    first: dict[str, Any], second: dict[str, Any]
) -> None:
    (found,) = difference(messages(loaded=first), messages(loaded=first, again=second))
    assert (found.kind, found.own) == ("added", ())


def test_new_definitions_that_are_only_alike_among_themselves() -> None:
    found = difference(messages(), messages(one=EVENT, two=EVENT))
    assert [(one.kind, one.own) for one in found] == [("added", ()), ("added", ())]


BAG = attributes(subject={"value": "BAG"})


@pytest.mark.parametrize(
    ("both", "changed"),
    [pytest.param(BAG, EVENT, id="looser"), pytest.param(EVENT, BAG, id="narrower")],
)
def test_payloads_no_longer_tell_definitions_apart(
    both: dict[str, Any], changed: dict[str, Any]
) -> None:
    schemas = [
        {"dataschemaformat": "JSONSchema/draft-07", "dataschema": one}
        for one in (SCHEMA, {"type": "null"})
    ]
    old, new = (
        messages(loaded={**both, **schemas[0]}, empty={**second, **schemas[1]})
        for second in (both, changed)
    )
    (found,) = difference(old, new)
    (change,) = [one for one in found.own if one.rule == "other-rules"]
    assert (found.xid, change.backward) == (xid("empty"), "breaking")
    assert f"as {xid('loaded')}, and payloads told them apart" in change.message
