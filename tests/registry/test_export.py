"""The whole registry as one document."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from heraldry.registry.registry import Registry
from tests.registry.asking import ask, registry
from tests.registry.library import library, reply


@pytest.fixture(scope="module")
def shelf() -> Registry:
    made = library()
    ask(made, "put", "/dirs/d2/files/fx/meta", {"xref": "/dirs/d1/files/f1"})
    return made


@pytest.mark.covers("VW-03")
def test_is_the_document_view_of_everything(shelf: Registry) -> None:
    exported = ask(shelf, "get", "/export")
    inline = ("*", "capabilities", "modelsource")
    assert exported == ask(shelf, "get", "/", doc=True, inline=inline)
    assert list(exported)[-8:-6] == ["capabilities", "modelsource"]
    assert "model" not in exported


@pytest.mark.covers("VW-03")
def test_explicit_inline_overrides(shelf: Registry) -> None:
    exported = ask(shelf, "get", "/export", inline=("dirs",))
    assert exported == ask(shelf, "get", "/", doc=True, inline=("dirs",))


@pytest.mark.covers("VW-03")
def test_works_without_the_flags() -> None:
    made = library()
    before = ask(made, "get", "/export")
    ask(made, "patch", "/capabilities", {"flags": []})
    after = ask(made, "get", "/export", inline=("dirs",))
    assert after["dirs"] == before["dirs"]


@pytest.mark.covers("VW-03", "FL-36")
def test_filtered(shelf: Registry) -> None:
    exported = ask(shelf, "get", "/export", filter=(("dirs.dirid=d3",),))
    assert list(exported["dirs"]) == ["d3"]


@pytest.mark.covers("VW-02")
def test_can_be_read_again(shelf: Registry) -> None:
    exported = ask(shelf, "get", "/export")
    other = registry()
    ask(other, "put", "/", exported, ignore=("id", "epoch"))
    again = ask(other, "get", "/export")
    assert _timeless(again["dirs"]) == _timeless(exported["dirs"])


def _timeless(value: Any) -> Any:
    """Without what every write changes."""
    if isinstance(value, dict):
        changing = ("modifiedat", "epoch")
        return {n: _timeless(v) for n, v in value.items() if n not in changing}
    return value


@pytest.mark.covers("VW-03", "GN-01")
def test_is_one_snapshot() -> None:
    """What is written while an export is sent is not in it."""
    made = library()
    answer = reply(made, "/export")
    pieces = answer.pieces
    assert pieces is not None
    start = next(pieces)
    ask(made, "put", "/dirs/d9", {})
    exported = msgspec.json.decode(start + b"".join(pieces))
    assert list(exported["dirs"]) == ["d1", "d2", "d3"]


def test_tells_its_revision(shelf: Registry) -> None:
    first, second = reply(shelf, "/export"), reply(shelf, "/export")
    assert first.tag == second.tag != ""
    ask(shelf, "patch", "/dirs/d1", {"name": "x"})
    assert reply(shelf, "/export").tag != first.tag
