"""Schemas the compiled path understands: random ones, and those it must leave alone."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from heraldry.pipeline.kernel import path as kernel
from tests.effort import effort, thorough
from tests.pipeline.kernel.agreement import assert_agreement, judge_of, line, message

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not kernel.available(), reason="numba is not installed"),
]
ROUNDS = effort(6, soak=400)
SCHEMAS, DOCUMENTS = 20, 60
NAMES = ("a", "b", "qty", "longer_name_here", "ключ", "with space", "A", "", "a.b", "id")
DRAFTS = ("draft-04", "draft-06", "draft-07", "2019-09", "2020-12")
CHOICES = ["x", "yy", "zzz", "é", "long-enum-value", "a\nb", 'q"']
STRANGE = (None, True, False, 0, 1, 1.0, -1, 2**63, 1e300, "", "x", [], {}, [1], {"a": 1})


def some_schema(rng: random.Random, depth: int = 0) -> dict[str, Any]:
    kinds = ["string", "integer", "number", "boolean", "enum", "instant"]
    kinds += ["object", "array"] * 2 if depth < 3 else []
    kind = rng.choice(kinds) if depth else "object"
    if kind == "enum":
        return {"enum": rng.sample(CHOICES, 3) + ([None] if rng.random() < 0.2 else [])}
    if kind == "instant":
        return {"type": "string", "format": "date-time"}
    found: dict[str, Any] = {"type": kind}
    {"object": _object, "array": _array, "string": _string}.get(kind, _number)(rng, found, depth)
    if rng.random() < 0.25:
        found["type"] = [kind, "null"]
    return found


def _string(rng: random.Random, found: dict[str, Any], depth: int) -> None:
    if rng.random() < 0.4:
        found["minLength"] = rng.randrange(3)
    if rng.random() < 0.4:
        found["maxLength"] = rng.randrange(2, 6)


def _number(rng: random.Random, found: dict[str, Any], depth: int) -> None:
    if found["type"] == "boolean":
        return
    if rng.random() < 0.4:
        found["minimum"] = rng.choice((-5, 0, 1, 0.5, -0.1))
    if rng.random() < 0.4:
        found["maximum"] = rng.choice((3, 10, 100, 2.5))
    if rng.random() < 0.2:
        found["exclusiveMinimum"] = rng.choice((-5, 0, 0.5))
    if rng.random() < 0.2:
        found["exclusiveMaximum"] = rng.choice((3, 10, 3.5))


def _object(rng: random.Random, found: dict[str, Any], depth: int) -> None:
    keys = rng.sample(NAMES, rng.randrange(1, 6))
    found["properties"] = {key: some_schema(rng, depth + 1) for key in keys}
    required = [key for key in keys if rng.random() < 0.5]
    found |= {"required": required} if required else {}
    if rng.random() < 0.3:
        found["additionalProperties"] = rng.random() < 0.3


def _array(rng: random.Random, found: dict[str, Any], depth: int) -> None:
    found["items"] = some_schema(rng, depth + 1)
    if rng.random() < 0.4:
        found["minItems"] = rng.randrange(2)
    if rng.random() < 0.3:
        found["maxItems"] = rng.randrange(1, 4)


TEXTS = ("", "a", "ab", "é", "日本語", "12", "\n", '"q"', "😀", "abcdef", "x_", "\\", "\t\t")
WHOLES = (-6, -5, 0, 1, 3, 4, 10, 11, 100, 101, 10**17, -(10**18), 2.0, -0.0)
REALS = (-5, -5.000001, 0, 0.1, 0.5, 1, 3, 3.5, 2.5, 10, 100, 100.0001, 1e-7, 1 / 3, 123456.789)
TIMES = ("2026-11-16T08:30:00Z", "2026-02-29T08:30:00Z", "2024-02-29T08:30:00.12Z", "", "2026")


def some_value(rng: random.Random, schema: dict[str, Any]) -> Any:
    if rng.random() < 0.03:
        return rng.choice(STRANGE)
    if "enum" in schema:
        return rng.choice(schema["enum"])
    kind = schema["type"]
    if isinstance(kind, list):
        if rng.random() < 0.3:
            return None
        kind = kind[0]
    if kind == "object":
        return _members(rng, schema)
    if kind == "array":
        return [some_value(rng, schema["items"]) for _ in range(rng.randrange(4))]
    if "format" in schema:
        return rng.choice(TIMES)
    return rng.choice(
        {"string": TEXTS, "integer": WHOLES, "number": REALS, "boolean": (True, False)}[kind]
    )


def _members(rng: random.Random, schema: dict[str, Any]) -> dict[str, Any]:
    needed = schema.get("required", ())
    found = [
        (key, some_value(rng, one))
        for key, one in schema["properties"].items()
        if key in needed or rng.random() < 0.8
    ]
    if rng.random() < 0.1:
        found.append(("unknown", rng.choice((1, "s", None, True, [1], {"a": 2}, 1.5))))
    if rng.random() < 0.3:
        rng.shuffle(found)
    if rng.random() < 0.03 and found:
        found.pop()
    return dict(found)


def valid_for(schema: Any, draft: str) -> Any:
    """Without the exclusive bounds of draft 4, which are truth values."""
    if draft == "draft-04":
        text = json.dumps(schema).replace("exclusiveMinimum", "x-low")
        return json.loads(text.replace("exclusiveMaximum", "x-high"))
    return schema


@thorough
@pytest.mark.parametrize("seed", range(ROUNDS))
def test_random_schemas(seed: int) -> None:
    rng = random.Random(seed)
    messages, lines = {}, []
    for number in range(SCHEMAS):
        draft = rng.choice(DRAFTS)
        schema = valid_for(some_schema(rng), draft)
        messages[f"m{number}"] = message(f"m{number}", schema, draft)
        for _ in range(DOCUMENTS):
            ascii_only, indent = rng.random() < 0.2, rng.choice((None, None, 1))
            text = json.dumps(some_value(rng, schema), ensure_ascii=ascii_only, indent=indent)
            lines.append(line(f"m{number}", text))
    judge = judge_of(messages)
    taken = assert_agreement(judge, kernel.KernelPath(judge), lines)
    assert len(taken) > len(lines) // 20


def member(schema: Any, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"m": schema}, **more}


TEXT = {"type": "string"}
LEFT_ALONE: dict[str, tuple[Any, str]] = {
    "reference": (member({"$ref": "#/definitions/t"}, definitions={"t": TEXT}), "1"),
    "pattern": (member({"type": "string", "pattern": "^a"}), '"a"'),
    "asserted format": (member({"type": "string", "format": "email"}), '"a@b.c"'),
    "day": (member({"type": "string", "format": "date"}), '"2026-11-16"'),
    "union": (member({"type": ["string", "integer"]}), "1"),
    "multiple": (member({"type": "integer", "multipleOf": 2}), "2"),
    "large bound": (member({"type": "integer", "maximum": 2**60}), "2"),
    "unique items": (member({"type": "array", "items": TEXT, "uniqueItems": True}), "[]"),
    "schema of other members": (member(TEXT, additionalProperties=TEXT), '"a"'),
    "required without a column": (member(TEXT, required=["other"]), '"a"'),
    "all of": (member({"allOf": [TEXT]}), '"a"'),
    "no type": (member({}), '"a"'),
    "choice of numbers": (member({"enum": [1, 2]}), "1"),
    "not": (member(TEXT, **{"not": {"required": ["x"]}}), '"a"'),
    "quote in a name": ({"type": "object", "properties": {'m"': TEXT, "m": TEXT}}, '"a"'),
    "list": ({"type": "array", "items": TEXT}, '"a"'),
    "anything": (True, '"a"'),
}


@pytest.mark.parametrize("name", list(LEFT_ALONE))
def test_left_alone(name: str) -> None:
    schema, value = LEFT_ALONE[name]
    judge = judge_of({"m": message("m", schema)})
    lines = [line("m", f'{{"m":{value}}}')]
    assert assert_agreement(judge, kernel.KernelPath(judge), lines) == []


UNDERSTOOD: dict[str, tuple[Any, str, str]] = {
    "format of a number": (member({"type": "integer", "format": "int64"}), "1", "draft-07"),
    "format not asserted": (member({"type": "string", "format": "email"}), '"x"', "2020-12"),
    "constant": (member({"const": "a"}), '"a"', "draft-07"),
    "choice or null": (member({"enum": ["a", None]}), "null", "draft-07"),
    "annotations": (member(TEXT, title="t", **{"$id": "urn:a", "x-y": 1}), '"a"', "draft-07"),
    "object without a type": ({"properties": {"m": TEXT}}, '"a"', "draft-07"),
    "closed": (member(TEXT, additionalProperties=False), '"a"', "draft-07"),
    "list of lists": (
        member({"type": "array", "items": {"type": "array", "items": {"type": "boolean"}}}),
        "[[true],[],[false,true]]",
        "draft-07",
    ),
    "renamed inside": (
        member({"type": "object", "properties": {"a b": TEXT, "A_B": TEXT}}),
        '{"a b":"x","A_B":"y"}',
        "draft-07",
    ),
}


@pytest.mark.parametrize("name", list(UNDERSTOOD))
def test_understood(name: str) -> None:
    schema, value, draft = UNDERSTOOD[name]
    judge = judge_of({"m": message("m", schema, draft)})
    lines = [line("m", f'{{"m":{value}}}'), line("m", '{"m":[1]}'), line("m", '{"m":null}')]
    assert 0 in assert_agreement(judge, kernel.KernelPath(judge), lines)


def test_a_quote_in_a_name_is_no_end() -> None:
    schema = {"type": "object", "properties": {'a"b': TEXT}}
    judge = judge_of({"m": message("m", schema)})
    lines = [line("m", '{"a"b":"x"}'), line("m", r'{"a\"b":"x"}')]
    assert assert_agreement(judge, kernel.KernelPath(judge), lines) == []


@pytest.mark.parametrize(
    "template", ["{a}{b}", "{a}-{a}", "x{a}", "{a}x", "{a}--{b}", "{a}é{b}x", "{a-b}/{c}.{d}"]
)
def test_templates(template: str) -> None:
    subject = {"value": template}
    judge = judge_of({"m": message("m", member(TEXT), subject=subject)})
    rng = random.Random(template)
    texts = ["".join(rng.choices("xé-/.a", k=rng.randrange(8))) for _ in range(1500)]
    lines = [line("m", '{"m":"a"}', f',"subject":"{text}"') for text in texts]
    taken = assert_agreement(judge, kernel.KernelPath(judge), lines)
    assert bool(taken) == (template not in ("{a}{b}", "{a}-{a}"))
