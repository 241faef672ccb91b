"""Likeness: the share of a declared text that a value has."""

from __future__ import annotations

import pytest

from heraldry.messages.likeness import likeness


@pytest.mark.parametrize(
    ("declared", "found", "share"),
    [
        pytest.param("orders", "orders", 1, id="the same"),
        pytest.param("orders", "order", 5 / 6, id="start"),
        pytest.param("orders", "borders", 1, id="end"),
        pytest.param("orders", "orderz", 5 / 6, id="a letter"),
        pytest.param("aaaa", "aaa", 3 / 4, id="nothing counts twice"),
        pytest.param("a/{x}/b/{y}/c", "a/1/b/2/d", 5 / 7, id="inner part"),
        pytest.param("Orders/{x}", "orders", 6 / 7, id="case"),
        pytest.param("{x}", "anything", 0, id="no literal"),
        pytest.param("orders", "rain", 0, id="another word"),
        pytest.param("orders", "", 0, id="nothing"),
    ],
)
def test_likeness(declared: str, found: str, share: float) -> None:
    assert likeness(declared, found) == pytest.approx(share)
