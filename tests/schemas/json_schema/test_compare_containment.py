"""Whether one schema accepts all of another: decided, not decided, and never at any price."""

from __future__ import annotations

import time
from typing import Any

import jsonschema_rs
import pytest

from heraldry.schemas import formats
from heraldry.schemas.formats import changes
from heraldry.schemas.json_schema.containment import covers, difference, disjoint
from heraldry.schemas.json_schema.document import Document

STR, INT, NUM = ({"type": name} for name in ("string", "integer", "number"))
SECONDS = 4.0


def asked(wide: Any, narrow: Any, drafts: tuple[int, int] = (2020, 2020)) -> str:
    return covers(Document(wide, drafts[0]), wide, Document(narrow, drafts[1]), narrow)


@pytest.mark.parametrize(
    ("wide", "narrow", "answer"),
    [
        pytest.param(NUM, INT, "yes", id="yes"),
        pytest.param(INT, STR, "no", id="no"),
        pytest.param({"pattern": "^(a|b)$"}, {"pattern": "^(b|a)$"}, "unknown", id="unknown"),
        pytest.param(
            {"$ref": "#/definitions/a", "definitions": {"a": NUM}}, INT, "yes", id="reference"
        ),
        pytest.param(
            {"$ref": "https://example.com/x"}, INT, "unknown", id="reference that is not fetched"
        ),
        pytest.param({"$dynamicRef": "#a"}, INT, "unknown", id="dynamic reference"),
        pytest.param(
            {"properties": {"$ref": STR}}, {"properties": {"$ref": STR}}, "yes", id="member $ref"
        ),
        pytest.param(
            {"const": {"$ref": "#/x"}}, {"const": {"$ref": "#/x"}}, "yes", id="value $ref"
        ),
        pytest.param({"enum": list(range(999))}, {"const": 1}, "unknown", id="too many values"),
    ],
)
def test_answers(wide, narrow, answer) -> None:
    assert asked(wide, narrow) == answer


def test_drafts_are_never_mixed() -> None:
    assert asked(NUM, INT, (7, 2020)) == "unknown"


def test_a_part_stands_alone_with_what_it_refers_to() -> None:
    shared = {"items": {"$ref": "#/properties/c"}}
    root = {"properties": {"a": {"$ref": "#/properties/b"}, "b": shared, "c": STR}}
    document = Document(root, 7)
    assert covers(document, {"items": STR}, document, root["properties"]["a"]) == "yes"
    assert covers(document, root["properties"]["a"], document, {"items": STR}) == "yes"


def test_disjoint() -> None:
    document = Document({}, 7)
    assert disjoint(document, [STR, INT, {"type": "null"}])
    assert not disjoint(document, [INT, NUM])
    assert not disjoint(document, [{"$ref": "#/nowhere"}, INT])


def test_difference() -> None:
    old, new = Document(STR, 7), Document({**STR, "maxLength": 3}, 7)
    left = difference(new, new.root, old, old.root)
    assert jsonschema_rs.is_valid(left, "long")
    assert not jsonschema_rs.is_valid(left, "s")


class PanicException(BaseException):
    """As the engine's own, which cannot be imported."""


def test_a_panic_of_the_engine_is_no_answer(monkeypatch) -> None:
    def panic(*_: Any, **__: Any) -> Any:
        raise PanicException

    monkeypatch.setattr(jsonschema_rs, "canonicalize", panic)
    assert asked(NUM, INT) == "unknown"


def nested(depth: int, wrap: Any, leaf: Any) -> Any:
    for _ in range(depth):
        leaf = wrap(leaf)
    return leaf


def named(size: int, make: Any) -> dict[str, Any]:
    return {f"a{n}": make(n) for n in range(size)}


def bomb(size: int, limit: int) -> dict[str, Any]:
    definitions: dict[str, Any] = {"0": {"minimum": limit}}
    for n in range(1, size):
        member = {"$ref": f"#/definitions/{n - 1}"}
        definitions[str(n)] = {"properties": {"a": member, "b": member}}
    return {"definitions": definitions, "$ref": f"#/definitions/{size - 1}"}


HOSTILE = {
    "alternatives multiply": lambda k: {
        "allOf": [{"anyOf": [{"required": [f"a{n}"]}, {"required": [f"b{n}"]}]} for n in range(40)],
        "minProperties": k,
    },
    "conditions multiply": lambda k: {
        "allOf": [
            {
                "if": {"properties": {f"a{n}": {"const": k}}},
                "then": {"required": [f"b{n}"]},
                "else": {"required": [f"c{n}"]},
            }
            for n in range(40)
        ]
    },
    "dependencies multiply": lambda k: {
        "dependentRequired": named(40, lambda n: [f"b{n}"]),
        "minProperties": k,
    },
    "many members": lambda k: {
        "properties": named(1200, lambda n: {"type": "string", "maxLength": n + k})
    },
    "many patterns": lambda k: {
        "patternProperties": {f"^{'xy'[k]}{n}": {"maxLength": k} for n in range(150)},
        "additionalProperties": {"minimum": k},
    },
    "names and patterns": lambda k: {
        "properties": named(200, lambda _: {"maxLength": k}),
        "patternProperties": {f"^a{n}": {"minimum": k} for n in range(200)},
    },
    "one of many": lambda k: {
        "oneOf": [{"properties": {"k": {"const": n}, "v": {"maximum": k}}} for n in range(200)]
    },
    "references fan out": lambda k: bomb(40, k),
    "deep members": lambda k: nested(90, lambda s: {"properties": {"a": s}}, {"minimum": k}),
    "deep negations": lambda k: nested(90, lambda s: {"not": s}, {"minimum": k}),
    "deep alternatives": lambda k: nested(
        50, lambda s: {"oneOf": [s, {"type": "null"}]}, {"minimum": k}
    ),
    "many values": lambda k: {"enum": list(range(10_000 + k))},
    "huge numbers": lambda k: {"type": "number", "minimum": 10 ** (1000 + k), "multipleOf": 1e-300},
    "huge arrays": lambda k: {"type": "array", "minItems": 10 ** (6 + k)},
    "long patterns": lambda k: {"type": "string", "pattern": f"^(a{{1,90}}){{1,{60 + k}}}$"},
}


@pytest.mark.parametrize("make", HOSTILE.values(), ids=HOSTILE)
def test_hostile_versions_are_compared_soon(make) -> None:
    old, new = (formats.compile("JsonSchema/draft/2020-12", make(k)) for k in (0, 1))
    start = time.process_time()
    told = changes(old, new)
    assert time.process_time() - start < SECONDS
    assert told
    assert all(len(change.message) < 2000 for change in told)
