"""A verdict by each of the six modes, over the history of a schema, in every format."""

from __future__ import annotations

from typing import Any

import pytest

from heraldry.errors import UsageError
from heraldry.schemas import compatibility
from heraldry.schemas.changes import Change, Effect
from heraldry.schemas.compatibility import MODES, Verdict, compare, effect_of
from heraldry.schemas.formats import compile as compile_schema
from heraldry.schemas.payload_schema import PayloadSchema

XSD = "http://www.w3.org/2001/XMLSchema"
STRUCTURE = "https://json-structure.org/meta/core/v0/#"


def json_schema(*members: str) -> PayloadSchema:
    """A closed object: ``tag`` is optional, ``tag!`` is required."""
    names = [one.rstrip("!") for one in members]
    return compile_schema(
        "JSONSchema/2020-12",
        {
            "type": "object",
            "properties": {name: {"type": "string"} for name in names},
            "required": [one[:-1] for one in members if one.endswith("!")],
            "additionalProperties": False,
        },
    )


def json_structure(*members: str) -> PayloadSchema:
    names = [one.rstrip("!") for one in members]
    return compile_schema(
        "JsonStructure/draft-02",
        {
            "$schema": STRUCTURE,
            "$id": "https://example.com/bag",
            "name": "Bag",
            "type": "object",
            "properties": {name: {"type": "string"} for name in names},
            "required": [one[:-1] for one in members if one.endswith("!")],
            "additionalProperties": False,
        },
    )


def avro(*members: str) -> PayloadSchema:
    """A record: ``tag`` has a default, ``tag!`` has none."""
    fields = [
        {
            "name": one.rstrip("!"),
            "type": "string",
            **({} if one.endswith("!") else {"default": ""}),
        }
        for one in members
    ]
    return compile_schema("Avro/1.12", {"type": "record", "name": "Bag", "fields": fields})


def protobuf(*members: str) -> PayloadSchema:
    """A message of proto2: the number of a field follows from its name."""
    fields = [
        f"{'required' if one.endswith('!') else 'optional'} string {name} = {ord(name[0])};"
        for one in members
        for name in (one.rstrip("!"),)
    ]
    text = f'syntax = "proto2"; message Bag {{ {" ".join(fields)} }}'
    return compile_schema("Protobuf/2", text)


def xsd(*members: str) -> PayloadSchema:
    """Elements in any order."""
    elements = "".join(
        f'<xs:element name="{one.rstrip("!")}" type="xs:string" '
        f'minOccurs="{1 if one.endswith("!") else 0}"/>'
        for one in members
    )
    return compile_schema(
        "XSD/1.0",
        f'<xs:schema xmlns:xs="{XSD}"><xs:element name="bag"><xs:complexType>'
        f"<xs:all>{elements}</xs:all></xs:complexType></xs:element></xs:schema>",
    )


STRICT = [
    pytest.param(json_schema, id="JSON Schema"),
    pytest.param(json_structure, id="JSON Structure"),
    pytest.param(xsd, id="XML Schema"),
]
"""Formats whose readers refuse members they do not know."""
ALL = [*STRICT, pytest.param(avro, id="Avro"), pytest.param(protobuf, id="Protobuf")]


def verdicts(history: list[PayloadSchema], new: PayloadSchema) -> dict[str, Verdict]:
    numbered = [(str(number), one) for number, one in enumerate(history, 1)]
    return {mode: compare(numbered, new, mode).verdict for mode in MODES}


def by_mode(**expected: Verdict) -> dict[str, Verdict]:
    """A verdict for each mode; those that are not given are compatible."""
    return {mode: expected.get(mode, "compatible") for mode in MODES}


@pytest.mark.parametrize("make", ALL)
def test_the_first_version(make: Any) -> None:
    assert verdicts([], make("tag!")) == by_mode()


@pytest.mark.parametrize("make", ALL)
def test_the_same_version(make: Any) -> None:
    assert verdicts([make("tag!"), make("tag!")], make("tag!")) == by_mode()


@pytest.mark.parametrize("make", ALL)
def test_a_required_member_comes(make: Any) -> None:
    found = verdicts([make("tag!")], make("tag!", "weight!"))
    assert (found["backward"], found["full"]) == ("incompatible", "incompatible")
    assert (found["backward_transitive"], found["full_transitive"]) == (
        "incompatible",
        "incompatible",
    )


@pytest.mark.parametrize("make", ALL)
def test_a_required_member_goes(make: Any) -> None:
    found = verdicts([make("tag!", "weight!")], make("tag!"))
    assert (found["forward"], found["full"]) == ("incompatible", "incompatible")
    assert (found["forward_transitive"], found["full_transitive"]) == (
        "incompatible",
        "incompatible",
    )


@pytest.mark.parametrize("make", STRICT)
def test_an_optional_member_comes_where_readers_are_strict(make: Any) -> None:
    assert verdicts([make("tag!")], make("tag!", "weight")) == by_mode(
        forward="incompatible",
        forward_transitive="incompatible",
        full="incompatible",
        full_transitive="incompatible",
    )


@pytest.mark.parametrize("make", ALL[len(STRICT) :])
def test_an_optional_member_comes_where_readers_skip(make: Any) -> None:
    assert verdicts([make("tag!")], make("tag!", "weight")) == by_mode()
    assert verdicts([make("tag!", "weight")], make("tag!")) == by_mode()


@pytest.mark.parametrize("make", ALL)
def test_only_the_transitive_modes_look_further_back(make: Any) -> None:
    """The member was optional in between, so that each step is safe and the whole is not."""
    history = [make("tag!"), make("tag!", "weight")]
    assert verdicts(history, make("tag!", "weight!"))["backward_transitive"] == "incompatible"
    steps = [make("tag!", "weight!"), make("tag!", "weight")]
    found = verdicts([*steps, make("tag!", "weight")], make("tag!", "weight"))
    assert (found["backward"], found["forward"], found["full"]) == ("compatible",) * 3
    assert found["backward_transitive"] == "compatible"
    expected = "incompatible" if make is not avro else "compatible"
    assert (found["forward_transitive"], found["full_transitive"]) == (expected, expected)


def test_steps_that_are_safe_and_a_way_that_is_not() -> None:
    """Avro: a field without a default is safe after one with it, but not after none."""
    found = verdicts([avro("tag!"), avro("tag!", "weight")], avro("tag!", "weight!"))
    assert found == by_mode(
        backward_transitive="incompatible",
        full_transitive="incompatible",
    )


@pytest.mark.parametrize("make", ALL)
def test_reasons_name_their_version(make: Any) -> None:
    history = [("a", make("tag!")), ("b", make("tag!")), ("c", make("tag!", "weight!"))]
    found = compare(history, make("tag!", "weight!"), "BACKWARD_TRANSITIVE")
    assert (found.mode, found.verdict) == ("backward_transitive", "incompatible")
    assert {version for version, _ in found.reasons} == {"a", "b"}
    assert [one.version for one in found.comparisons] == ["a", "b", "c"]
    assert [one.version for one in compare(history, make("tag!"), "backward").comparisons] == ["c"]
    for _, change in found.reasons:
        assert change.message.endswith(".")
        assert change.old is not None or change.new is not None


def test_another_format_is_never_compatible() -> None:
    assert set(verdicts([json_schema("tag!")], avro("tag!")).values()) == {"incompatible"}


def test_a_mode_that_is_none() -> None:
    with pytest.raises(UsageError, match="'sideways' is not a compatibility"):
        compare([], json_schema("tag"), "sideways")


@pytest.mark.parametrize(
    ("backward", "forward", "effects"),
    [
        ("safe", "breaking", ("safe", "breaking", "breaking")),
        ("undecided", "safe", ("undecided", "safe", "undecided")),
        ("undecided", "breaking", ("undecided", "breaking", "breaking")),
        ("safe", "safe", ("safe", "safe", "safe")),
    ],
)
def test_the_worse_direction_counts_for_full(
    backward: Effect, forward: Effect, effects: tuple[Effect, ...]
) -> None:
    change = Change(rule="r", old="", new="", message="M.", backward=backward, forward=forward)
    found = tuple(effect_of(change, mode) for mode in MODES)
    assert found == tuple(one for one in effects for _ in range(2))


def test_a_breaking_change_outweighs_an_undecided_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def changes(old: PayloadSchema, new: PayloadSchema) -> tuple[Change, ...]:
        effect: Effect = "undecided" if old is open_ else "breaking"
        return (Change(rule="r", old="", new="", message="M.", backward=effect, forward="safe"),)

    open_, closed = json_schema("tag"), json_schema("tag!")
    monkeypatch.setattr(compatibility, "changes", changes)
    assert verdicts([closed, open_], json_schema("tag", "x")) == by_mode(
        backward="undecided",
        backward_transitive="incompatible",
        full="undecided",
        full_transitive="incompatible",
    )
