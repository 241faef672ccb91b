"""Payloads to Arrow: what the reader cannot take is left out, alone."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import pytest

from heraldry.pipeline.fast.payloads import PayloadConverter, parsed
from heraldry.schemas import formats
from tests.suites.streams import DRAFT_07, DRAFT_2020, LOOSE, ORDER, record

NUMBERS = record(a={"type": "number"}, b={"type": "array", "items": {"type": "number"}})
WHOLE = record(a={"type": "integer"})


def converter(schema: Any, draft: str = DRAFT_07) -> PayloadConverter:
    return PayloadConverter(formats.compile(draft, schema))


def convert(schema: Any, *payloads: bytes, draft: str = DRAFT_07) -> tuple[list[int], list[Any]]:
    kept, table = converter(schema, draft).convert(payloads)
    assert len(kept) == table.num_rows
    return kept, table.to_pylist()


def test_nothing() -> None:
    assert convert(ORDER) == ([], [])


def test_all_good() -> None:
    assert convert(WHOLE, b'{"a":1}', b'{"a":2,"more":[{}]}', b"{}") == (
        [0, 1, 2],
        [{"a": 1}, {"a": 2}, {"a": None}],
    )


@pytest.mark.parametrize("bad", [b"", b"{", b"nul", b'{"a":"x"}', b'{"a":1.5}', b"[1]", b"null"])
def test_what_is_invalid_is_left_out(bad: bytes) -> None:
    assert convert(WHOLE, b'{"a":1}', bad, b'{"a":2}') == ([0, 2], [{"a": 1}, {"a": 2}])


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64], ids=str)
def test_the_reader_s_refusals_are_found_one_by_one(size: int) -> None:
    """Valid for the schema, but no 64 bit integers or not written as ones."""
    odd = {3: b'{"a":9223372036854775808}', 5: b'{"a":1.0}', size - 1: b'{"a":2e0}'}
    payloads = [odd.get(n, f'{{"a":{n}}}'.encode()) for n in range(size)]
    good = [n for n in range(size) if n not in odd]
    assert convert(WHOLE, *payloads) == (good, [{"a": n} for n in good])


def test_all_refused() -> None:
    assert convert(WHOLE, *[b'{"a":1.0}'] * 9) == ([], [])


@pytest.mark.parametrize("number", [b"9" * 400, b"-" + b"9" * 400], ids=["positive", "negative"])
@pytest.mark.parametrize("where", [b'{"a":%s}', b'{"b":[1,%s]}'], ids=["member", "item"])
def test_no_infinity(number: bytes, where: bytes) -> None:
    kept, rows = convert(NUMBERS, b'{"a":1}', where % number, b'{"a":1e308}')
    assert kept == [0, 2]
    assert all(math.isfinite(row["a"]) for row in rows)


def test_zeros() -> None:
    """-0 is an integer, which has no sign; -0.0 is a number, which has one."""
    kept, rows = convert(NUMBERS, b'{"a":-0}', b'{"a":-0.0}', b'{"a":0}', b'{"b":[-0 ]}')
    assert kept == [1, 2]
    assert [math.copysign(1, row["a"]) for row in rows] == [-1, 1]


@pytest.mark.parametrize("payload", [b"null", b'{"inner":null}', b"5", b"[]"], ids=ascii)
def test_no_null_where_a_value_must_be(payload: bytes) -> None:
    """The schema admits it, for members have no type there, but the column does not."""
    good = b'{"inner":{"name":"a"}}'
    assert convert(LOOSE, good, payload, good)[0] == [0, 2]


def test_no_null_deep_inside() -> None:
    inner = {"properties": {"b": {"type": "string"}}, "required": ["b"]}
    schema = record(list={"type": "array", "items": inner}, maybe=record("x", x=inner))
    assert convert(
        schema,
        b'{"list":[null]}',
        b'{"list":[],"maybe":{"x":{"b":"c"}}}',
        b'{"maybe":{"x":null}}',
        b"{}",
        b'{"list":null}',
    ) == ([1, 3], [{"list": [], "maybe": {"x": {"b": "c"}}}, {"list": None, "maybe": None}])


@pytest.mark.parametrize("schema", [True, {"type": "integer"}, {"type": "array"}], ids=repr)
def test_payloads_that_are_no_records(schema: Any) -> None:
    kept, rows = convert(schema, b"5", b"[1]", b'"a"')
    assert kept
    assert all(set(row) == {"value"} for row in rows)


def test_other_forms_of_time_are_left_out() -> None:
    schema = record(at={"type": "string", "format": "date-time"})
    texts = ["2026-11-16T08:30:00Z", "2026-11-16T08:30:00+01:00", "0000-01-01T00:00:00Z", "no"]
    texts += ["2026-02-30T00:00:00Z", "0001-01-01T00:00:00.5Z"]
    payloads = [msgspec.json.encode({"at": text}) for text in texts]
    assert convert(schema, *payloads, draft=DRAFT_2020)[0] == [0, 5]


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        (b"null", (None,)),
        (b"", None),
        (b"[" * 199 + b"]" * 199, ...),
        (b"[" * 200 + b"]" * 200, None),
        (b"[" * 3000 + b"]" * 3000, None),
        (b'"\xff"', None),
        (b"1e999", None),
    ],
    ids=["null", "empty", "199 levels", "200 levels", "3000 levels", "not utf-8", "overflow"],
)
def test_values_of_payloads(payload: bytes, expected: Any) -> None:
    found = parsed(payload)
    assert found is not None if expected is ... else found == expected
