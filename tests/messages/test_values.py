"""The types of properties."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heraldry.messages.values import (
    canonical_text,
    check_value,
    decode_base64,
    is_json_media_type,
    parse_media_type,
    same_media_type,
    same_value,
)
from heraldry.model.definition import NOW, TYPES

GOOD: dict[str, list[Any]] = {
    "any": [None, 1, "x", {}, b""],
    "binary": [b"\xff", "", "AQID", "/w=="],
    "boolean": [True, False, "true", "false"],
    "duration": ["P1Y", "P2W", "PT1.5S", "P1Y2M3DT4H5M6S", "PT36H"],
    "integer": [0, -5, 2**40, "5", "-5", "0"],
    "number": [0, 1.5, -2, "1.5", "1e5", "-0"],
    "string": ["", "x"],
    "symbol": ["a_1"],
    "timestamp": [
        "2018-04-05T17:31:00Z",
        "2018-04-05t17:31:00.123456789+02:00",
        "2020-02-29T00:00:00Z",
        "2016-12-31T23:59:60Z",
        "2017-01-01T00:59:60+01:00",
        NOW,
    ],
    "uri": ["http://a/b?c#d", "urn:x:y", "mailto:a@b", "http://u:p@[::1]:80/", "a:"],
    "urireference": ["", "/a/b", "//host/x", "#f", "?q", "http://a", "a%20b"],
    "uritemplate": ["anything { at all"],
    "ulong": [0, 2**64 - 1, "18446744073709551615"],
    "uuid": ["123e4567-e89b-12d3-a456-426614174000", "123E4567-E89B-12D3-A456-426614174000"],
}
BAD: dict[str, list[Any]] = {
    "any": [],
    "binary": ["AQI", "A Q==", 5, "_-8="],
    "boolean": ["True", 1, 0, None, ""],
    "duration": ["P", "PT", "1Y", "P1DT", "P1M1Y", "P1Y1W", "-P1D", 5],
    "integer": [1.0, True, "05", "+5", "1.0", "", None, " 5", "٣"],
    "number": [True, "x", float("inf"), "1e999", ".5", "1.", "NaN", None],
    "string": [5, None, True, b"x"],
    "symbol": ["", "a-b", "é", "application/json"],
    "timestamp": [
        "2020-02-30T00:00:00Z",
        "1900-02-29T00:00:00Z",
        "2018-13-01T00:00:00Z",
        "2018-04-05T24:00:00Z",
        "2018-04-05T12:00:60Z",
        "2018-04-05 12:00:00Z",
        "2018-04-05T12:00:00",
        "2018-04-05",
        5,
    ],
    "uri": ["/a", "", "1:2", "http://a b", "http://é", "http://a/%zz", "http://x[::1]/", "a:b[c]"],
    "urireference": ["a b", "{x}", "%", "a#b#c", "<", None],
    "uritemplate": [5],
    "ulong": [-1, 2**64, "x"],
    "uuid": ["123e4567e89b12d3a456426614174000", "x"],
}


def _cases(values: dict[str, list[Any]]) -> list[Any]:
    return [pytest.param(k, v, id=f"{k} {v!r}") for k, vs in values.items() for v in vs]


def test_every_type_is_tried() -> None:
    assert set(GOOD) == set(BAD) == TYPES


@pytest.mark.parametrize(("kind", "value"), _cases(GOOD))
def test_a_value_of_its_type(kind: str, value: Any) -> None:
    assert check_value(kind, value) is None
    assert same_value(kind, value, value)


@pytest.mark.parametrize(("kind", "value"), _cases(BAD))
def test_no_value_of_its_type(kind: str, value: Any) -> None:
    reason = check_value(kind, value)
    assert reason
    assert reason.startswith("is not ")


def test_integers_of_events_have_32_bits() -> None:
    assert check_value("integer", 2**31 - 1, cloudevents=True) is None
    assert check_value("integer", str(-(2**31)), cloudevents=True) is None
    assert check_value("integer", 2**31, cloudevents=True)
    assert check_value("integer", "1" * 5000)


def test_aliases_and_unknown_types() -> None:
    assert check_value("var", {}) is None
    assert check_value("datetime", "x")
    assert check_value("stringified integer", "5") is None
    assert check_value("nobody knows", object()) is None


@pytest.mark.parametrize(
    ("kind", "declared", "found", "same"),
    [
        pytest.param("string", "a", "a", True, id="text"),
        pytest.param("string", "a", "A", False, id="case"),
        pytest.param("string", 5, "5", True, id="canonical text"),
        pytest.param("string", "gA==", b"\x80", False, id="bytes are no text"),
        pytest.param("binary", "gA==", b"\x80", True, id="base64"),
        pytest.param("boolean", "true", True, True, id="truth"),
        pytest.param("boolean", True, "false", False, id="other truth"),
        pytest.param("integer", "5", 5, True, id="integer"),
        pytest.param("integer", 1, True, False, id="an integer is no truth value"),
        pytest.param("number", "1.50", 1.5, True, id="number"),
        pytest.param("number", 1, "1.0", True, id="whole number"),
        pytest.param("string", "1.50", "1.5", False, id="numbers as texts"),
        pytest.param(
            "timestamp", "2020-01-01T00:00:00Z", "2020-01-01T01:00:00.000+01:00", True, id="instant"
        ),
        pytest.param(
            "timestamp", "2020-01-01T00:00:00Z", "2020-01-01T00:00:00.1Z", False, id="fraction"
        ),
        pytest.param("timestamp", "x", "y", False, id="no instants"),
        pytest.param("any", {"a": 1}, {"a": 1}, True, id="any"),
    ],
)
def test_same_value(kind: str, declared: Any, found: Any, same: bool) -> None:
    assert same_value(kind, declared, found) is same


def test_canonical_text() -> None:
    texts = [canonical_text(value) for value in (True, 5, b"\x01", "x", None, 1.5)]
    assert texts == ["true", "5", "AQ==", "x", "null", "1.5"]


@given(st.binary())
def test_base64(data: bytes) -> None:
    assert decode_base64(canonical_text(data)) == data


@pytest.mark.parametrize(
    ("declared", "found", "same"),
    [
        pytest.param("text/plain; charset=utf-8", "TEXT/Plain; CharSet=UTF-8", True, id="M31"),
        pytest.param("application/json", "application/json;charset=utf-8", True, id="more"),
        pytest.param("application/json;charset=utf-8", "application/json", False, id="less"),
        pytest.param("a/b; c=d", 'a/b; x=1; c="d"', True, id="quoted"),
        pytest.param("a/b; c=d", "a/b; c=D", False, id="values have case"),
        pytest.param("a/b", "a/c", False, id="other type"),
        pytest.param("json", "JSON", True, id="no media type"),
        pytest.param("a/b", "a/b; ;", True, id="empty parameters"),
        pytest.param("a/b", "a/b; =", False, id="broken parameters"),
    ],
)
def test_same_media_type(declared: str, found: str, same: bool) -> None:
    assert same_media_type(declared, found) is same


@pytest.mark.parametrize(
    ("text", "json"),
    [
        pytest.param("application/json", True, id="json"),
        pytest.param("Application/VND.x+JSON; v=1", True, id="suffix"),
        pytest.param("text/json", True, id="text"),
        pytest.param("application/jsonx", False, id="longer"),
        pytest.param("application/xml", False, id="xml"),
        pytest.param("json", False, id="no media type"),
    ],
)
def test_json_media_types(text: str, json: bool) -> None:
    assert is_json_media_type(text) is json


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("http://" + "a@" * 100_000 + " ", id="user after user"),
        pytest.param("a" * 200_000 + " ", id="scheme"),
        pytest.param("x:" + "%41" * 60_000 + "%", id="escapes"),
        pytest.param("//" + "[" * 100_000, id="brackets"),
    ],
)
def test_no_text_makes_a_uri_slow(text: str) -> None:
    start = time.process_time()
    assert check_value("urireference", text)
    assert time.process_time() - start < 4


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a/b" + "; " * 50_000 + "@", id="empty parameters"),
        pytest.param("a/b" + " " * 100_000 + "@", id="spaces"),
        pytest.param('a/b;c="' + "\\" * 100_001, id="backslashes"),
    ],
)
def test_no_text_makes_a_media_type_slow(text: str) -> None:
    start = time.process_time()
    assert parse_media_type(text) is None
    assert time.process_time() - start < 4
