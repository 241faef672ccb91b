"""Random JSON Structure documents, each with a random valid value."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

FORMAT = "JsonStructure/draft-02"

Pair = tuple[dict[str, Any], SearchStrategy[Any]]
"""A schema, and the strategy of its native values."""

NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,7}", fullmatch=True)
INSTANTS = st.datetimes(min_value=datetime(1900, 1, 1), max_value=datetime(2200, 1, 1))
RANGES = {
    "int8": 7, "uint8": 8, "int16": 15, "uint16": 16, "int32": 31, "integer": 31, "uint32": 32,
    "int64": 63, "uint64": 64, "int128": 126, "uint128": 126,
}  # fmt: skip
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2)
    ),
    max_leaves=4,
)


def whole(kind: str, bits: int) -> Pair:
    low = 0 if kind.startswith("u") else -(2**bits)
    return {"type": kind}, st.integers(low, 2**bits - 1)


def decimals(precision: int, scale: int) -> SearchStrategy[Decimal]:
    most = 10**precision - 1
    return st.integers(-most, most).map(lambda number: Decimal(number).scaleb(-scale))


def floats(width: Any) -> SearchStrategy[float]:
    return st.floats(allow_nan=False, allow_infinity=False, width=width)


COLOURS = ["red", "green", "blue"]
SCALARS: list[Pair] = [
    *(whole(kind, bits) for kind, bits in RANGES.items()),
    ({"type": "string"}, st.text(max_size=8)),
    ({"type": "string", "maxLength": 3}, st.text(max_size=3)),
    ({"type": "string", "enum": COLOURS}, st.sampled_from(COLOURS)),
    ({"type": "int64", "enum": ["1", "-2"]}, st.sampled_from([1, -2])),
    ({"type": "string", "const": "always"}, st.just("always")),
    ({"type": "boolean"}, st.booleans()),
    ({"type": "null"}, st.none()),
    ({"type": "any"}, JSON),
    ({"type": "number"}, floats(64) | st.integers(-(2**53), 2**53)),
    ({"type": "double"}, floats(64)),
    ({"type": "float"}, floats(32)),
    ({"type": "decimal"}, decimals(30, 5)),
    ({"type": "decimal", "precision": 9, "scale": 2}, decimals(9, 2)),
    ({"type": "decimal", "precision": 60, "scale": 30}, decimals(60, 30)),
    ({"type": "binary"}, st.binary(max_size=9)),
    ({"type": "binary", "contentEncoding": "base32hex"}, st.binary(max_size=9)),
    ({"type": "binary", "contentEncoding": "base64url"}, st.binary(max_size=9)),
    ({"type": "datetime"}, INSTANTS.map(lambda one: one.replace(tzinfo=UTC).isoformat())),
    ({"type": "date"}, st.dates(date(1900, 1, 1), date(2200, 1, 1)).map(date.isoformat)),
    ({"type": "time"}, st.sampled_from(["10:20:30Z", "00:00:00.5+01:00", "23:59:59"])),
    ({"type": "duration"}, st.sampled_from(["PT1H", "P1Y2M3DT4H5M6.5S", "P3W"])),
    ({"type": "uuid"}, st.uuids().map(str)),
    ({"type": "uri"}, st.sampled_from(["https://example.com/a?b=c#d", "../x", "urn:a:b"])),
    ({"type": "jsonpointer"}, st.sampled_from(["", "/a/b~0c", "#/definitions/x"])),
]  # fmt: skip


@st.composite
def pairs(draw: DrawFn, depth: int) -> Pair:
    """A schema with the strategy of its values."""
    kinds: list[Callable[[DrawFn, int], Pair]] = [sequence, table, record, row, choice, nullable]
    number = draw(st.integers(0, 4 + (len(kinds) if depth > 0 else 0)))
    return draw(st.sampled_from(SCALARS)) if number < 5 else kinds[number - 5](draw, depth)


def sequence(draw: DrawFn, depth: int) -> Pair:
    schema, values = draw(pairs(depth - 1))
    if schema["type"] in ("string", "int8", "uuid", "int64") and draw(st.booleans()):
        return {"type": "set", "items": schema}, st.lists(values, max_size=3, unique=True)
    return {"type": "array", "items": schema}, st.lists(values, max_size=3)


def table(draw: DrawFn, depth: int) -> Pair:
    schema, values = draw(pairs(depth - 1))
    return {"type": "map", "values": schema}, st.dictionaries(
        st.text(max_size=4), values, max_size=3
    )


def members(draw: DrawFn, depth: int) -> dict[str, Pair]:
    names = draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    return {name: draw(pairs(depth - 1)) for name in names}


def record(draw: DrawFn, depth: int) -> Pair:
    parts = members(draw, depth)
    required = draw(st.lists(st.sampled_from(sorted(parts)), unique=True))
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {name: part for name, (part, _) in parts.items()},
        "required": required,
    }
    if draw(st.booleans()):
        schema["additionalProperties"] = draw(st.booleans())
    needed = {name: values for name, (_, values) in parts.items() if name in required}
    optional = {name: values for name, (_, values) in parts.items() if name not in required}
    return schema, st.fixed_dictionaries(needed, optional=optional)


def row(draw: DrawFn, depth: int) -> Pair:
    parts = members(draw, depth)
    schema = {
        "type": "tuple",
        "name": "Row",
        "properties": {name: part for name, (part, _) in parts.items()},
        "tuple": draw(st.permutations(sorted(parts))),
    }
    return schema, st.tuples(*(parts[name][1] for name in schema["tuple"])).map(list)


def choice(draw: DrawFn, depth: int) -> Pair:
    parts = members(draw, depth)
    schema = {"type": "choice", "choices": {name: part for name, (part, _) in parts.items()}}
    single = [st.fixed_dictionaries({name: values}) for name, (_, values) in parts.items()]
    return schema, st.one_of(single)


def nullable(draw: DrawFn, depth: int) -> Pair:
    plain = [
        pair for pair in SCALARS if len(pair[0]) == 1 and pair[0]["type"] not in ("any", "null")
    ]
    schema, values = draw(st.sampled_from(plain))
    kinds = draw(st.permutations([schema["type"], "null"]))
    return {"type": list(kinds)}, st.none() | values


@st.composite
def schemas_and_values(draw: DrawFn) -> tuple[dict[str, Any], Any]:
    """A document, and a value of it as decoding gives it."""
    shape = draw(st.sampled_from([record, record, record, sequence, table, row, choice]))
    schema, values = shape(draw, 2)
    document = {
        "$schema": "https://json-structure.org/meta/core/v0/#",
        "$id": "https://example.com/generated",
        "name": "Generated",
        **schema,
    }
    if draw(st.booleans()):
        inner = {key: part for key, part in document.items() if not key.startswith("$")}
        document = {
            "$schema": document["$schema"],
            "$id": document["$id"],
            "$root": "#/definitions/Space/Generated",
            "definitions": {"Space": {"Generated": inner}},
        }
    return document, draw(values)
