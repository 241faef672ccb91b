"""The one JSON parser: what it accepts, what it refuses, and by which rule."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heraldry.errors import MessageError
from heraldry.schemas.parse import DEPTH_LIMIT, encode, is_deep, parse


@pytest.mark.parametrize(
    ("data", "value"),
    [
        pytest.param(b'{"a":1,"a":2}', {"a": 2}, id="the last duplicate key wins"),
        pytest.param(b"18446744073709551617", 2**64 + 1, id="integers beyond 64 bits are exact"),
        pytest.param(b"1" * 60, int("1" * 60), id="integers beyond 128 bits are exact"),
        pytest.param(b" [1] \n", [1], id="space around is no matter"),
        pytest.param(b"-0", 0, id="minus zero as an integer is zero"),
        pytest.param(b'"\\ud83d\\ude00"', "😀", id="a surrogate pair is one character"),
        pytest.param(b'"\\u0000"', "\x00", id="an escaped control character"),
    ],
)
def test_accepts(data, value):
    assert parse(data) == value


def test_a_float_stays_a_float():
    assert type(parse(b"1.0")) is float
    assert type(parse(b"1e2")) is float


def test_names_half_a_character_with_its_place():
    with pytest.raises(MessageError) as caught:
        parse(b'["a", "\\ud800"]')
    (problem,) = caught.value.problems
    assert problem.message == r"is not JSON: \ud800 is half of a character, a lone surrogate"
    assert problem.found == "byte 7"


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"1e999", id="number beyond double"),
        pytest.param(b"-1e999", id="negative number beyond double"),
        pytest.param(b"NaN", id="NaN"),
        pytest.param(b"Infinity", id="Infinity"),
        pytest.param(b'"\\ud800"', id="lone high surrogate"),
        pytest.param(b'"\\udc00x"', id="lone low surrogate"),
        pytest.param(b"\xef\xbb\xbf1", id="byte order mark"),
        pytest.param(b"1 2", id="two documents"),
        pytest.param(b"", id="empty"),
        pytest.param(b'{"a":1', id="truncated"),
        pytest.param(b"[1,]", id="trailing comma"),
        pytest.param(b"01", id="leading zero"),
        pytest.param(b'"\x01"', id="raw control character"),
        pytest.param(b"1\x00", id="trailing NUL"),
        pytest.param("1".encode("utf-16"), id="UTF-16"),
        pytest.param(b"9" * 5000, id="integer of 5000 digits"),
    ],
)
def test_refuses_by_the_rule_json(data):
    with pytest.raises(MessageError) as caught:
        parse(data)
    (problem,) = caught.value.problems
    assert (problem.path, problem.rule) == ("/", "json")
    assert problem.message.startswith("is not JSON")


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b'"\xff"', id="no byte of UTF-8"),
        pytest.param(b'{"\xff":1}', id="in a key"),
        pytest.param(b'"\xed\xa0\x80"', id="encoded surrogate"),
        pytest.param(b'"\xc0\x80"', id="overlong"),
    ],
)
def test_utf8_is_strict(data):
    with pytest.raises(MessageError) as caught:
        parse(data)
    assert caught.value.problems[0].message == "is not UTF-8"


def test_equal_causes_have_equal_messages():
    messages = set()
    for data in (b'{"a":x}', b'{"abc":xyz}'):
        with pytest.raises(MessageError) as caught:
            parse(data)
        messages.add(caught.value.problems[0].message)
    assert messages == {"is not JSON: invalid character"}
    assert caught.value.problems[0].found == "byte 7"


@pytest.mark.parametrize(
    "levels",
    [pytest.param(n, id=str(n)) for n in (DEPTH_LIMIT + 1, 2_000, 100_000)],
)
def test_deep_nesting_is_refused_by_the_rule_depth(levels):
    for data in (b"[" * levels + b"]" * levels, b'{"a":' * levels + b"1" + b"}" * levels):
        with pytest.raises(MessageError) as caught:
            parse(data)
        assert caught.value.problems[0].rule == "depth"


def test_the_limit_itself_is_accepted_from_any_depth_of_the_stack():
    data = b"[" * DEPTH_LIMIT + b"]" * DEPTH_LIMIT

    def at_depth(levels):
        return at_depth(levels - 1) if levels else parse(data)

    assert at_depth(300) == parse(data)


def test_many_brackets_are_not_deep():
    assert parse(b"[" + b"[]," * 5000 + b"[]]") == [[]] * 5001


def test_is_deep_counts_containers():
    value: object = 1
    for _ in range(DEPTH_LIMIT):
        value = {"a": value}
    assert not is_deep(value)
    assert is_deep([value])


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner),
)


@given(json_values)
def test_parse_is_the_inverse_of_encode(value):
    assert parse(encode(value)) == value


@given(st.binary())
def test_parse_raises_nothing_else(data):
    with suppress(MessageError):
        parse(data)
