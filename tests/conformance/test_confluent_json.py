"""Verdicts on JSON Schema versions, next to those of Confluent's schema registry.

Its vectors say whether the change from one version to another is compatible backward. Ours are
decided by the values a schema accepts; where the two differ, a reason is given.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from heraldry.schemas import formats
from heraldry.schemas.compatibility import compare
from heraldry.schemas.json_schema.compare_examples import counter_example
from heraldry.schemas.json_schema.compare_reading import Version
from heraldry.schemas.json_schema.sample import NOTHING
from heraldry.schemas.json_schema.schema import JsonSchema
from tests.conftest import suite

FOLDER = suite("schema-registry") / "json-schema-provider" / "src" / "test" / "resources"
FILES = (
    "diff-schema-examples.json",
    "diff-combined-schema-examples.json",
    "diff-schema-examples-2020-12.json",
    "diff-combined-schema-examples-2020-12.json",
)
_TRAILING = re.compile(r",(?=\s*[}\]])")

# By description: our verdict, and why it is not theirs.
DIFFERENT = {
    "Detect required array to be changed": (
        "incompatible",
        "A member without a schema of its own became required, which their comparison does not"
        ' see: {"foo": ""} is refused by the update.',
    ),
    "Detect incompatible changes to dependencies schemas": (
        "compatible",
        "The schema applies to the whole object, which is neither a text nor a number: both"
        " versions refuse every object with that member.",
    ),
    "Detect removed boolean additional items": (
        "compatible",
        "Without a list of items in the draft 7 the keyword additionalItems has no meaning.",
    ),
    "Detect changes to additional items schema": (
        "compatible",
        "Without a list of items in the draft 7 the keyword additionalItems has no meaning.",
    ),
}


def load(name: str) -> list[dict[str, Any]]:
    # One of the files has commas before closing brackets.
    vectors = json.loads(_TRAILING.sub("", (FOLDER / name).read_text(encoding="utf-8")))
    return list(vectors)


def compiled(schema: Any) -> JsonSchema:
    made = formats.compile("JsonSchema", schema)
    assert isinstance(made, JsonSchema)
    return made


VECTORS = [(f"{name}-{at}", v) for name in FILES for at, v in enumerate(load(name))]


def verdict(vector: dict[str, Any]) -> str:
    old, new = compiled(vector["original_schema"]), compiled(vector["update_schema"])
    return compare([("original", old)], new, "backward").verdict


@pytest.mark.parametrize("vector", [v for _, v in VECTORS], ids=[name for name, _ in VECTORS])
def test_the_same_verdict_or_a_reason(vector) -> None:
    theirs = "compatible" if vector["compatible"] else "incompatible"
    ours = verdict(vector)
    if ours != theirs:
        assert vector["description"] in DIFFERENT, ours
        assert DIFFERENT[vector["description"]][0] == ours


@pytest.mark.parametrize("vector", [v for _, v in VECTORS], ids=[name for name, _ in VECTORS])
def test_nothing_compatible_has_a_counter_example(vector) -> None:
    old, new = compiled(vector["original_schema"]), compiled(vector["update_schema"])
    if verdict(vector) == "compatible":
        assert counter_example(Version(old), Version(new)) is NOTHING
    elif vector["compatible"]:
        example = counter_example(Version(old), Version(new))
        assert old.is_valid(example)
        assert not new.is_valid(example)


def test_the_rate_of_agreement() -> None:
    same = sum((verdict(v) == "compatible") == v["compatible"] for _, v in VECTORS)
    print(f"{same} of {len(VECTORS)} verdicts are the same")  # noqa: T201
    assert len(VECTORS) > 250
    assert same / len(VECTORS) >= 0.97
