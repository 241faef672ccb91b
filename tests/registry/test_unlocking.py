"""Capabilities that close the door behind them: said twice, and opened by the owner."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from heraldry.dialects.xreg_1_0.wire import RC2, RC4, Wire
from heraldry.registry.capabilities import AVAILABLE
from heraldry.registry.registry import Registry
from heraldry.registry.unlocking import unlock
from tests.registry.asking import ask, changes, refused

SOURCE = {"groups": {"dirs": {"singular": "dir"}}}
CLOSING = [
    pytest.param("patch", {"available": {"entities": {"mutable": False}}}, id="read-only"),
    pytest.param("patch", {"available": {}}, id="nothing is said of them"),
    pytest.param("patch", {"available": None}, id="the default"),
    pytest.param("patch", {"available": {"capabilities": {}}}, id="no word of mutable"),
    pytest.param("patch", {"available": {"capabilities": {"mutable": False}}}, id="in words"),
    pytest.param("put", {"flags": []}, id="left out of a whole map"),
]


@pytest.fixture
def shelf(address: str) -> Iterator[Registry]:
    """A registry with a directory."""
    with closing(Registry.open(address, model=SOURCE)) as made:
        ask(made, "put", "/dirs/d", {})
        yield made


@pytest.mark.parametrize(("action", "body"), CLOSING)
@pytest.mark.parametrize("wire", [RC2, RC4], ids=["rc2", "rc4"])
@pytest.mark.parametrize("path", ["/capabilities", "/"])
def test_capabilities_that_nobody_could_change_back_are_said_twice(
    action: str, body: dict[str, Any], wire: Wire, path: str
) -> None:
    with closing(Registry.open("sqlite::memory:", model=SOURCE)) as made:
        body = body if path != "/" else {"capabilities": body}
        error = refused(made, action, path, body, wire=wire)
        assert (error.name, error.subject) == ("capability_error", "/capabilities")
        assert "?confirm=immutable" in error.detail
        assert "heraldry unlock" in error.detail
        assert ask(made, "get", "/capabilities")["available"]["capabilities"] == {"mutable": True}
        ask(made, action, path, body, wire=wire, confirm=("immutable",))
        assert refused(made, "patch", "/capabilities", {}).name == "not_available"


@pytest.mark.parametrize(
    "available",
    [
        pytest.param({"capabilities": {"mutable": True}, "entities": {}}, id="entities"),
        pytest.param({"capabilities": {"mutable": True}, "modelsource": {}}, id="model"),
        pytest.param({"capabilities": {"mutable": True}}, id="nothing else"),
    ],
)
def test_what_can_be_changed_back_is_said_once(shelf: Registry, available: Any) -> None:
    ask(shelf, "patch", "/capabilities", {"available": available, "flags": []})
    ask(shelf, "patch", "/capabilities", {"available": {"capabilities": {"mutable": True}}})


@pytest.mark.parametrize(("action", "body"), CLOSING)
def test_the_owner_unlocks_in_the_database(shelf: Registry, action: str, body: Any) -> None:
    ask(shelf, action, "/capabilities", body, confirm=("immutable",))
    before = ask(shelf, "get", "/")
    assert unlock(shelf) == ["available"]
    found = ask(shelf, "get", "/capabilities")
    assert found["available"] == {name: {"mutable": free} for name, free in AVAILABLE.items()}
    assert ("flags" in body) is (found["flags"] == [])
    assert ask(shelf, "get", "/")["epoch"] == before["epoch"] + 1
    assert ("updated", "/capabilities", ("available",)) in changes(shelf)
    ask(shelf, "put", "/dirs/e", {})
    ask(shelf, "put", "/modelsource", SOURCE)
    ask(shelf, "patch", "/capabilities", {"shortself": True})


def test_all_capabilities_can_be_those_of_a_new_registry(shelf: Registry) -> None:
    new = ask(shelf, "get", "/capabilities")
    ask(shelf, "put", "/capabilities", {}, confirm=("immutable",))
    assert "flags" in unlock(shelf, reset=True)
    assert ask(shelf, "get", "/capabilities") == new


def test_what_is_not_locked_is_not_written(shelf: Registry) -> None:
    before = changes(shelf)
    assert unlock(shelf) == []
    assert changes(shelf) == before
