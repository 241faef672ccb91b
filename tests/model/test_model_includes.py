"""Includes in a model's source (MD-60..MD-62)."""

from __future__ import annotations

from typing import Any

import pytest

from heraldry.errors import RegistryError
from heraldry.model.model_includes import CHAIN, resolve_includes

BASE = "https://example.com/models/mine.json"


def resolve(source: dict[str, Any], documents: dict[str, Any] | None = None) -> dict[str, Any]:
    """Resolve with documents by address."""
    return resolve_includes(source, (documents or {}).__getitem__, BASE)


def refusal(source: dict[str, Any], documents: dict[str, Any] | None = None) -> str:
    """Why a source cannot be resolved."""
    with pytest.raises(RegistryError) as caught:
        resolve(source, documents)
    assert (caught.value.name, caught.value.subject) == ("model_error", "/model")
    return caught.value.arguments["error_detail"]


@pytest.mark.covers("MD-60")
def test_members_take_the_place_of_an_include() -> None:
    documents = {"https://example.com/other.json": {"a": 1, "b": {"c": 2}}}
    source = {"x": {"$include": "../other.json", "a": 0}, "y": [1]}
    assert resolve(source, documents) == {"x": {"a": 0, "b": {"c": 2}}, "y": [1]}
    assert source == {"x": {"$include": "../other.json", "a": 0}, "y": [1]}


@pytest.mark.covers("MD-60")
def test_earlier_includes_win() -> None:
    documents = {"https://a.example/": {"a": 1, "b": 1}, "https://b.example/": {"b": 2, "c": 2}}
    source = {"$includes": ["https://a.example/", "https://b.example/"], "d": 0}
    assert resolve(source, documents) == {"d": 0, "a": 1, "b": 1, "c": 2}


@pytest.mark.parametrize(
    "fragment",
    [
        pytest.param("#/a~1b/c%20d", id="pointer"),
        pytest.param("#a~1b/c%20d", id="no first slash", marks=pytest.mark.covers("MD-62")),
    ],
)
@pytest.mark.covers("MD-60")
def test_fragments_are_pointers(fragment: str) -> None:
    documents = {"https://example.com/x": {"a/b": {"c d": {"e": 1}}}}
    assert resolve({"$include": f"https://example.com/x{fragment}"}, documents) == {"e": 1}


@pytest.mark.covers("MD-60")
def test_addresses_are_relative_to_the_document_they_stand_in() -> None:
    documents = {
        "https://example.com/models/sub/one.json": {"in": {"$include": "two.json#/x"}},
        "https://example.com/models/sub/two.json": {"x": {"$include": "#/y"}, "y": {"z": 1}},
    }
    assert resolve({"$include": "sub/one.json"}, documents) == {"in": {"z": 1}}


def test_a_document_is_loaded_once() -> None:
    loaded: list[str] = []

    def load(address: str) -> dict[str, Any]:
        loaded.append(address)
        return {"a": {"x": 1}, "b": {"y": 1}}

    source = {"$includes": ["https://e.example/#/a", "https://e.example/#/b"]}
    assert resolve_includes(source, load) == {"x": 1, "y": 1}
    assert loaded == ["https://e.example/"]


def test_the_schema_of_an_included_document_stays_there() -> None:
    documents = {"https://e.example/": {"$schema": "s", "a": 1}}
    assert resolve({"$include": "https://e.example/"}, documents) == {"a": 1}


@pytest.mark.parametrize(
    "source",
    [
        pytest.param({"a": {"$include": "#/a"}}, id="itself"),
        pytest.param({"a": {"b": {"$include": "#/a"}}}, id="around itself"),
        pytest.param({"a": {"$include": "#"}}, id="the whole"),
        pytest.param({"a": {"$include": "mine.json"}}, id="the whole by its address"),
        pytest.param({"a": {"$include": "#/b"}, "b": {"$include": "#a"}}, id="each other"),
    ],
)
@pytest.mark.covers("MD-60")
def test_circles_are_refused(source: dict[str, Any]) -> None:
    assert "circular" in refusal(source)


@pytest.mark.parametrize(
    "source",
    [
        pytest.param({"$include": "#/x", "$includes": ["#/x"], "x": {}}, id="both"),
        pytest.param({"$include": 5}, id="number"),
        pytest.param({"$include": ""}, id="empty"),
        pytest.param({"$include": ["#/x"], "x": {}}, id="array for one"),
        pytest.param({"$includes": "#/x", "x": {}}, id="one for an array"),
        pytest.param({"$includes": [5]}, id="array of numbers"),
        pytest.param({"$include": "#/missing"}, id="missing"),
        pytest.param({"$include": "#/x/y", "x": [{"y": {}}]}, id="through an array"),
        pytest.param({"a": {"$include": "#/x"}, "x": 5}, id="no object"),
        pytest.param({"$include": "https://[bad"}, id="no address"),
    ],
)
@pytest.mark.covers("MD-60")
def test_bad_includes(source: dict[str, Any]) -> None:
    assert refusal(source)


def test_long_chains_are_refused() -> None:
    chain = {f"n{i}": {"$include": f"#/n{i + 1}"} for i in range(CHAIN + 1)}
    assert "includes lie in each other" in refusal({**chain, f"n{CHAIN + 1}": {}})


@pytest.mark.parametrize("leaf", [pytest.param({"x": 1}, id="full"), pytest.param({}, id="empty")])
def test_includes_that_multiply_are_refused(leaf: dict[str, Any]) -> None:
    levels = {f"n{i}": {f"c{j}": {"$include": f"#/n{i + 1}"} for j in range(9)} for i in range(9)}
    assert "includes" in refusal({**levels, "n9": leaf})
    silent = {f"n{i}": {"$includes": [f"#/n{i + 1}"] * 9} for i in range(9)}
    assert "includes" in refusal({**silent, "n9": leaf})


def test_results_that_are_too_large_are_refused() -> None:
    large = {f"n{i}": 1 for i in range(1000)}
    copies = {f"c{i}": {"$include": "#/large"} for i in range(200)}
    assert "members" in refusal({"large": large, "copies": copies})


def test_deep_results_are_refused() -> None:
    deep: dict[str, Any] = {"$include": "#/b"}
    bottom: dict[str, Any] = {}
    for _ in range(60):
        deep, bottom = {"a": deep}, {"a": bottom}
    assert "deep" in refusal({"a": deep, "b": bottom})


def test_what_loading_refuses_is_refused() -> None:
    def load(address: str) -> Any:
        raise RegistryError("model_error", "/model", {"error_detail": f"{address} is not allowed"})

    with pytest.raises(RegistryError, match="not allowed"):
        resolve_includes({"$include": "../x.json"}, load)
