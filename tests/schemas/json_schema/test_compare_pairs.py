"""Generated versions: no direction is called compatible that refuses a message."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from heraldry.errors import SchemaError
from heraldry.schemas import formats
from heraldry.schemas.json_schema import compare, compare_alternatives, compare_walk
from heraldry.schemas.json_schema.containment import covers
from heraldry.schemas.json_schema.sample import NOTHING
from heraldry.schemas.json_schema.schema import JsonSchema

FORMATS = {
    6: "JsonSchema/draft-06",
    7: "JsonSchema/draft-07",
    2019: "JsonSchema/draft/2019-09",
    2020: "JsonSchema/draft/2020-12",
}
NAMES = ("a", "b", "ab")
SCALARS: tuple[Any, ...] = (
    *(None, True, False, 0, 1, 2, -1, 1.5, 10, "", "a", "ab", "b1", "2020-01-01"),
    *([], [1], ["a"], {}, {"a": 1}),
)
LIMIT = settings(
    max_examples=150, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
)


class Maker:
    """Random schemas of a draft over few names and small numbers, so that versions meet."""

    def __init__(self, random: Random, draft: int) -> None:
        self.random, self.draft = random, draft

    def document(self) -> Any:
        schema = self.schema(0)
        if isinstance(schema, dict):
            schema["definitions"] = {"X": self.schema(1), "Y": self.schema(2)}
        return schema

    def schema(self, depth: int) -> Any:
        random = self.random
        if random.random() < 0.06:
            return random.choice([True, False, {}])
        names = ["object", "array", "string", "integer", "number", "boolean", "null"]
        kind = random.choice([*names, "object", "array"])
        made: dict[str, Any] = {}
        if random.random() < 0.75:
            other = random.choice(["null", "string", "integer", "object"])
            made["type"] = kind if random.random() < 0.8 else sorted({kind, other})
        for _ in range(random.randint(0, 3)):
            made.update(self.keyword(kind, depth))
        if random.random() < 0.1:
            made["enum"] = [random.choice(SCALARS)]
        if depth < 3 and random.random() < 0.3:
            made.update(self.combined(depth))
        return made

    def keyword(self, kind: str, depth: int) -> dict[str, Any]:
        if kind == "object":
            return self.member(depth)
        if kind == "array":
            return self.item(depth)
        random = self.random
        if kind == "string":
            pattern = random.choice(["^a", "b$", "[0-9]", "^[ab]*$", ""])
            choices: list[dict[str, Any]] = [
                {"minLength": random.randint(0, 3)},
                {"maxLength": random.randint(0, 3)},
                {"pattern": pattern},
                {"format": random.choice(["date", "date-time", "nonsense"])},
            ]
            return random.choice(choices)
        if kind in ("integer", "number"):
            key = random.choice(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"])
            limit = {key: random.choice([-1, 0, 1, 2, 10, 1.5])}
            return random.choice([limit, {"multipleOf": random.choice([1, 2, 3, 0.5])}])
        return {}

    def member(self, depth: int) -> dict[str, Any]:
        random, inner = self.random, depth < 3
        name, other = random.choice(NAMES), random.choice(NAMES)
        choices: list[dict[str, Any]] = [
            {"required": [name]},
            {"additionalProperties": random.choice([True, False])},
            {"minProperties": random.randint(0, 3)},
            {"maxProperties": random.randint(0, 3)},
            {"propertyNames": {"maxLength": random.randint(0, 2)}},
            {"dependencies": {name: [other]}},
        ]
        if inner:
            below = self.schema(depth + 1)
            choices += [
                *[{"properties": {name: below, other: self.schema(depth + 1)}}] * 3,
                {"additionalProperties": below},
                {"patternProperties": {random.choice(["^a", "b$", "^x-"]): below}},
                {"dependencies": {name: below}},
            ]
        if self.draft >= 2019:
            choices.append({"unevaluatedProperties": random.choice([False, {"type": "string"}])})
        return random.choice(choices)

    def item(self, depth: int) -> dict[str, Any]:
        random = self.random
        choices: list[dict[str, Any]] = [
            {"minItems": random.randint(0, 3)},
            {"maxItems": random.randint(0, 3)},
            {"uniqueItems": True},
        ]
        if depth < 3:
            below, first = self.schema(depth + 1), [self.schema(depth + 1)]
            limited = {"contains": below, "maxContains": random.randint(0, 2)}
            row = {"prefixItems": first} if self.draft >= 2020 else {"items": first}
            choices += [{"items": below}, {"contains": below}, limited, row]
        if self.draft >= 2019:
            choices.append({"unevaluatedItems": random.choice([False, {"type": "string"}])})
        return random.choice(choices)

    def combined(self, depth: int) -> dict[str, Any]:
        random = self.random
        key = random.choice(["anyOf", "oneOf", "allOf", "not", "if", "anyOf", "oneOf", "$ref"])
        if key == "$ref":
            return {key: random.choice(["#/definitions/X", "#/definitions/Y"])}
        if key == "not":
            return {key: self.schema(depth + 1)}
        if key == "if":
            return {word: self.schema(depth + 1) for word in ("if", "then", "else")}
        return {key: [self.schema(depth + 1) for _ in range(random.randint(1, 3))]}

    def mutated(self, schema: Any, depth: int = 0) -> Any:
        """The schema with one thing added, removed or changed somewhere."""
        random = self.random
        if not isinstance(schema, dict) or random.random() < 0.05:
            return self.schema(max(depth, 1))
        choice, keys = random.random(), [key for key in schema if key != "definitions"]
        if choice < 0.3 or not keys:
            more = self.schema(max(depth, 1))
            return {**schema, **more} if isinstance(more, dict) else schema
        key = random.choice([*keys, *(["definitions"] if "definitions" in schema else [])])
        if choice < 0.5 and key != "definitions":
            return {name: value for name, value in schema.items() if name != key}
        return {**schema, key: self.changed(schema[key], depth)}

    def changed(self, value: Any, depth: int) -> Any:
        random = self.random
        if isinstance(value, dict) and value:
            name = random.choice(list(value))
            if isinstance(value[name], dict):
                return {**value, name: self.mutated(value[name], depth + 1)}
            return self.mutated(value, depth + 1)
        if isinstance(value, list) and value and isinstance(value[0], dict):
            at = random.randrange(len(value))
            return [*value[:at], self.mutated(value[at], depth + 1), *value[at + 1 :]]
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return value
        return max(0, value + random.choice([-1, 1])) or 1

    def value(self, depth: int = 0) -> Any:
        random, choice = self.random, self.random.random()
        if depth < 2 and choice < 0.3:
            names = random.sample([*NAMES, "x-1", "c"], random.randint(0, 4))
            return {name: self.value(depth + 1) for name in names}
        if depth < 2 and choice < 0.5:
            return [self.value(depth + 1) for _ in range(random.randint(0, 4))]
        return random.choice(SCALARS)


def versions(seed: int, mixed: float = 0.15) -> tuple[JsonSchema, JsonSchema, list[Any]] | None:
    """Two versions and values that may be messages of either; None where one does not compile."""
    random = Random(seed)
    draft = random.choice(list(FORMATS))
    other = random.choice(list(FORMATS)) if random.random() < mixed else draft
    maker = Maker(random, draft)
    old = new = maker.document()
    for _ in range(random.choice([1, 1, 2, 3])):
        new = maker.mutated(new)
    pair = [(old, draft), (new, other)]
    random.shuffle(pair)
    try:
        one, two = (formats.compile(FORMATS[draft], schema) for schema, draft in pair)
    except SchemaError:
        return None
    assert isinstance(one, JsonSchema)
    assert isinstance(two, JsonSchema)
    values = [maker.value() for _ in range(150)]
    for schema in (one, two):
        for at in range(3):
            try:
                values.append(schema.sample(Random(at), {}))
            except (SchemaError, RecursionError):
                break
    return one, two, values


def refused(writer: JsonSchema, reader: JsonSchema, values: list[Any]) -> list[Any]:
    return [value for value in values if writer.is_valid(value) and not reader.is_valid(value)][:1]


def assert_never_wrongly_safe(seed: int) -> None:
    made = versions(seed)
    if made is None:
        return
    old, new, values = made
    told = compare.changes(old, new)
    for direction, writer, reader in (("backward", old, new), ("forward", new, old)):
        if all(getattr(change, direction) == "safe" for change in told):
            shown = seed, direction, old.source.content, new.source.content
            assert not refused(writer, reader, values), shown
    assert all(change.message.endswith(".") for change in told)


@LIMIT
@given(st.integers(min_value=0, max_value=2**32))
def test_never_compatible_when_it_is_not(seed: int) -> None:
    assert_never_wrongly_safe(seed)


@LIMIT
@given(st.integers(min_value=0, max_value=2**32))
def test_the_keywords_side_by_side_are_never_wrongly_safe(seed: int) -> None:
    """Where sets of values are not decided and no example is found, keywords alone decide."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compare, "covers", lambda *_: "unknown")
        patch.setattr(compare, "counter_example", lambda *_: NOTHING)
        patch.setattr(compare_walk, "covers", lambda *_: "unknown")
        patch.setattr(compare_alternatives, "disjoint", lambda *_: False)
        assert_never_wrongly_safe(seed)


@LIMIT
@given(st.integers(min_value=0, max_value=2**32))
def test_containment_is_never_a_wrong_yes(seed: int) -> None:
    made = versions(seed, mixed=0)
    if made is None:
        return
    one, two, values = made
    for writer, reader in ((one, two), (two, one)):
        if covers(reader.document(), reader.schema, writer.document(), writer.schema) == "yes":
            assert not refused(writer, reader, values)


@pytest.mark.soak
@pytest.mark.parametrize("block", range(20))
def test_many_versions(block: int) -> None:
    for seed in range(block * 1000, block * 1000 + 1000):
        assert_never_wrongly_safe(seed)
