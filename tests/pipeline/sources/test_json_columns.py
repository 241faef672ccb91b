"""Columns of bytes as parts of JSON lines: told for many at once as for each alone."""

from __future__ import annotations

import json
from base64 import b64decode

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heraldry.messages.envelopes import json_format
from heraldry.pipeline.sources.json_columns import holds_json, payload_members, plain

CASES = {
    "nothing": b"",
    "object": b'{"a":1}',
    "space before": b' {"a":1}',
    "space behind": b'{"a":1} ',
    "tab inside": b'{"a":\t1}',
    "line break": b'{"a":\n1}',
    "return": b"[1,\r2]",
    "two texts": b"1,2",
    "an opening one": b"[1",
    "a closing one": b"2]",
    "control character": b'"\x01"',
    "half a pair": b'"\\ud800"',
    "not UTF-8": b'"\xff"',
    "beyond ASCII": '"Inês"'.encode(),
    "out of range": b"1e999",
    "out of range, signed": b"[-1E+999]",
    "in range": b"1e300",
    "tiny": b"1e-999",
    "an exponent with zeros": b"1e0001",
    "not an exponent": b'"4e512"',
    "mantissa and exponent": b"9" * 190 + b"e99",
    "long mantissa and exponent": b"9" * 230 + b"e99",
    "300 digits": b"9" * 300,
    "310 digits and a fraction": b"9" * 310 + b".5",
    "5000 digits": b"9" * 5000,
    "198 levels": b"[" * 198 + b"]" * 198,
    "199 levels": b"[" * 199 + b"]" * 199,
    "many brackets, no depth": b"[" + b",".join([b"[]"] * 300) + b"]",
    "leading zero": b"01",
    "comma at the end": b"[1,]",
    "a word": b"nul",
}


def alone(payload: bytes | None) -> bool:
    return payload is not None and json_format.is_json(payload, one_line=True)


@pytest.mark.parametrize("payload", CASES.values(), ids=CASES.keys())
def test_what_holds_json(payload: bytes) -> None:
    for before, after in ((), ()), ((b"1",), (b"2",)), ((None, b"1,2"), (b"[1", None)):
        values = [*before, payload, *after]
        found = holds_json(pa.array(values, pa.binary()))
        assert found.tolist() == [alone(one) for one in values]


def test_all_of_them_together() -> None:
    values = [None, *CASES.values()] * 40
    found = holds_json(pa.array(values, pa.binary()).slice(7, 1000))
    assert found.tolist() == [alone(one) for one in values[7:1007]]


pieces = st.sampled_from(
    [
        b"1",
        b"e5",
        b"E+",
        b"999",
        b"9" * 70,
        b"[",
        b"]",
        b"{",
        b"}",
        b'"',
        b'"a":',
        b",",
        b" ",
        b"-",
        b".",
        b"\\u00e9",
        b"\\ud834\\udd1e",
        b"\xc3\xa9",
        b"\xc3",
        b"true",
        b"\n",
        b"\x00",
        b"\\",
    ]
)
texts = st.lists(pieces, max_size=9).map(b"".join)
values = st.one_of(
    st.none(),
    texts,
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3),
        max_leaves=5,
    ).map(lambda value: json.dumps(value).encode()),
)


@given(st.lists(values, max_size=8))
def test_many_at_once_as_each_alone(given_: list[bytes | None]) -> None:
    column = pa.array(given_, pa.binary())
    assert holds_json(column).tolist() == [alone(one) for one in given_]
    for value, member in zip(given_, payload_members(column).to_pylist(), strict=True):
        found = json.loads(b"{" + member[1:] + b"}") if member else {}
        assert len(found) == (value is not None)
        if "payload_text" in found:
            assert found["payload_text"].encode() == value
        elif "payload_base64" in found:
            assert b64decode(found["payload_base64"]) == value
        elif found:
            assert member == b',"payload":' + (value or b"")


@given(st.lists(st.none() | st.binary(max_size=6) | st.text(max_size=6).map(str.encode)))
def test_plain_values_stand_as_they_are(given_: list[bytes | None]) -> None:
    for value, is_plain in zip(given_, plain(pa.array(given_, pa.binary())), strict=True):
        if is_plain:
            assert value is not None
            assert json.loads(b'"' + value + b'"').encode() == value
        elif value is not None and value.isalnum():
            # only where another value made the whole column doubtful
            assert not value.isascii()
