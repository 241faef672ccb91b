"""Values and types: what each type takes, texts that count, and media types."""

from __future__ import annotations

from typing import Any

import pytest

from heraldry.model.definition import TYPES
from heraldry.model.rules_values import is_media_type, media_type, template_fault, value_fault

GOOD: dict[str, list[Any]] = {
    "any": [None, 1, [], "x"],
    "binary": ["aGk=", ""],
    "boolean": [True, "false"],
    "duration": ["PT15M", "P1Y2M3DT4H5M6.5S", "P2W"],
    "integer": [5, -1, "12"],
    "number": [1.5, 2, "1e3"],
    "string": ["", "x"],
    "symbol": ["abc_1"],
    "timestamp": [
        "2024-02-29T12:00:00Z",
        "2024-01-31t12:00:00.123456789+02:00",
        "1998-12-31T23:59:60Z",
        "0000-01-01T00:00:00Z",
    ],
    "uri": ["https://example.com/x?y#z", "urn:a:b"],
    "urireference": ["../x", "#y", "https://example.com"],
    "uritemplate": ["/a/{b}"],
    "ulong": [0, 2**64 - 1],
    "uuid": ["123e4567-e89b-12d3-a456-426614174000"],
}
BAD: dict[str, list[Any]] = {
    "binary": ["a", "$$$$", 5],
    "boolean": [1, "True", None],
    "duration": ["15M", "P", "PT", 5],
    "integer": [True, 1.5, "1.5", "x"],
    "number": [True, "x", ""],
    "string": [1, None, {}],
    "symbol": ["a-b", ""],
    "timestamp": ["2023-02-29T12:00:00Z", "2024-01-01", "2024-01-01T12:00:00", 5],
    "uri": ["/x", "a b", "https://a b"],
    "urireference": ["a b", "{x}", "%zz", ""],
    "uritemplate": [5],
    "ulong": [-1, 2**64],
    "uuid": ["123"],
}


@pytest.mark.parametrize(
    ("name", "value"),
    [pytest.param(n, v, id=f"{n}-{v}") for n, values in GOOD.items() for v in values],
)
def test_a_type_takes_its_values(name: str, value: Any) -> None:
    assert value_fault(name, value) is None


@pytest.mark.parametrize(
    ("name", "value"),
    [pytest.param(n, v, id=f"{n}-{v}") for n, values in BAD.items() for v in values],
)
def test_a_type_refuses_other_values(name: str, value: Any) -> None:
    assert value_fault(name, value)


def test_every_type_is_known() -> None:
    assert set(GOOD) == TYPES


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        pytest.param("/a/{b_1}/{C}", None, id="good"),
        pytest.param("no placeholder", None, id="none"),
        pytest.param("{}", "no name", id="empty"),
        pytest.param("{a-b}", "{a-b} is not a symbol", id="dash"),
        pytest.param("{+a}", "{+a} is not a symbol", id="operator"),
        pytest.param("{a", "no partner", id="open"),
        pytest.param("a}", "no partner", id="closed"),
    ],
)
def test_templates_have_symbols_in_braces(text: str, fault: str | None) -> None:
    found = template_fault(text)
    assert found is None if fault is None else fault in (found or "")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("application/json", True, id="plain"),
        pytest.param('text/plain; charset="utf-8"; x=y', True, id="parameters"),
        pytest.param("application/vnd.x+json", True, id="suffix"),
        pytest.param("json", False, id="no-slash"),
        pytest.param("a/b; c", False, id="bare-parameter"),
        pytest.param(5, False, id="no-text"),
    ],
)
def test_media_types_have_the_form_of_rfc_2046(text: Any, expected: bool) -> None:
    assert is_media_type(text) is expected


def test_media_types_compare_without_case_and_order() -> None:
    one = media_type('TEXT/Plain; CharSet=utf-8; Format="flowed"')
    assert one == media_type("text/plain;format=flowed;charset=utf-8")
    assert one != media_type("text/plain; charset=UTF-16; format=flowed")
