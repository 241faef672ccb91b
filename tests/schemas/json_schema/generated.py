"""Random JSON Schema documents, each with a random valid value of it."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

FORMAT = "JSONSchema/draft-07"

# A schema, and the values that are valid.
_Kind = tuple[dict[str, Any] | bool, SearchStrategy[Any]]

_TEXTS = st.text(st.characters(codec="utf-8"), max_size=12)
_NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=6)
_INTEGERS = st.integers(-(2**63), 2**63 - 1)
_NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
_INSTANTS = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)).map(
    lambda instant: instant.replace(tzinfo=UTC).isoformat()
)
_DAYS = st.dates(date(1, 1, 1)).map(date.isoformat)
_SHARED = {
    "code": {"type": "string", "pattern": "^[A-Z]{3}$"},
    "amount": {"type": "number", "minimum": 0},
    "node": {
        "type": "object",
        "properties": {"v": {"type": "integer"}, "next": {"$ref": "#/definitions/node"}},
        "required": ["v"],
    },
}
_CODES = st.text("ABCXYZ", min_size=3, max_size=3)
_AMOUNTS = st.floats(0, 1e12)
_CHAINS = st.recursive(
    st.builds(lambda v: {"v": v}, _INTEGERS),
    lambda inner: st.builds(lambda v, rest: {"v": v, "next": rest}, _INTEGERS, inner),
    max_leaves=4,
)


def _plain() -> SearchStrategy[_Kind]:
    kinds: list[_Kind] = [
        ({"type": "string"}, _TEXTS),
        ({"type": "string", "minLength": 2, "maxLength": 5}, st.text("aü", min_size=2, max_size=5)),
        ({"type": "string", "format": "date-time"}, _INSTANTS),
        ({"type": "string", "format": "date"}, _DAYS),
        ({"type": "string", "format": "uuid"}, st.uuids().map(str)),
        ({"type": "integer"}, _INTEGERS),
        ({"type": "integer", "minimum": 3, "exclusiveMaximum": 9}, st.integers(3, 8)),
        ({"type": "integer", "multipleOf": 7}, st.integers(-99, 99).map(lambda n: 7 * n)),
        ({"type": "number"}, _NUMBERS | st.integers(-(2**53), 2**53)),
        ({"type": "boolean"}, st.booleans()),
        ({"type": "null"}, st.none()),
        ({"type": ["string", "null"]}, st.none() | _TEXTS),
        ({"type": ["integer", "string"]}, _INTEGERS | _TEXTS),
        ({"anyOf": [{"type": "number"}, {"type": "null"}]}, st.none() | _NUMBERS),
        ({"oneOf": [{"type": "boolean"}, {"type": "string"}]}, st.booleans() | _TEXTS),
        ({"enum": ["a", "b c", "ü"]}, st.sampled_from(["a", "b c", "ü"])),
        ({"enum": [1, "1", None]}, st.sampled_from([1, "1", None])),
        ({"const": {"k": [1]}}, st.just({"k": [1]})),
        ({"not": {"type": "string"}}, _INTEGERS | st.none()),
        ({"$ref": "#/definitions/code"}, _CODES),
        ({"$ref": "#/definitions/amount"}, _AMOUNTS),
        ({"$ref": "#/definitions/node"}, _CHAINS),
        ({"allOf": [{"type": "integer"}, {"minimum": 1}]}, st.integers(1, 2**40)),
        ({}, _INTEGERS | _TEXTS | st.none()),
        (True, _TEXTS),
    ]  # fmt: skip
    return st.sampled_from(kinds)


def _list(kind: _Kind, least: int) -> _Kind:
    schema, values = kind
    form = {"type": "array", "items": schema, "minItems": least, "maxItems": 5}
    return form, st.lists(values, min_size=least, max_size=5)


def _set() -> _Kind:
    form = {"type": "array", "items": {"type": "string"}, "uniqueItems": True}
    return form, st.lists(_TEXTS, max_size=5, unique=True)


def _map(kind: _Kind) -> _Kind:
    schema, values = kind
    form = {"type": "object", "additionalProperties": schema}
    return form, st.dictionaries(_NAMES, values, max_size=3)


def _record(members: dict[str, _Kind], required: set[str], closed: bool) -> _Kind:
    form: dict[str, Any] = {
        "type": "object",
        "properties": {name: schema for name, (schema, _) in members.items()},
        "required": sorted(required),
    }
    if closed:
        form["additionalProperties"] = False
    needed = {name: values for name, (_, values) in members.items() if name in required}
    optional = {name: values for name, (_, values) in members.items() if name not in required}
    return form, st.fixed_dictionaries(needed, optional=optional)


def _records(inner: SearchStrategy[_Kind], least: int) -> SearchStrategy[_Kind]:
    def built(members: dict[str, _Kind]) -> SearchStrategy[_Kind]:
        required = st.sets(st.sampled_from(sorted(members))) if members else st.just(set[str]())
        return st.builds(_record, st.just(members), required, st.booleans())

    return st.dictionaries(_NAMES, inner, min_size=least, max_size=4).flatmap(built)


def _kinds() -> SearchStrategy[_Kind]:
    return st.recursive(
        _plain(),
        lambda inner: (
            _records(inner, 0)
            | st.builds(_list, inner, st.integers(0, 2))
            | st.builds(_set)
            | st.builds(_map, inner)
        ),
        max_leaves=6,
    )


def schemas_and_values() -> SearchStrategy[tuple[Any, Any]]:
    """A document, of a record or else of a list or a map, and a value that it accepts."""
    others = st.builds(_list, _kinds(), st.integers(0, 2)) | st.builds(_map, _kinds())
    return (_records(_kinds(), 1) | others).flatmap(
        lambda kind: st.tuples(st.just(_document(kind[0])), kind[1])
    )


def _document(schema: dict[str, Any] | bool) -> Any:
    return {**schema, "definitions": _SHARED} if isinstance(schema, dict) else schema
