"""NUL in texts: PostgreSQL has no column for it, and yet both stores keep and refuse the same."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from heraldry.registry.registry import Registry
from tests.registry.asking import ask, refused

NUL = "a\0b"
ANY = {"*": {"type": "any"}}
FILES = {"singular": "file", "attributes": ANY, "metaattributes": ANY}
MODEL = {
    "attributes": ANY,
    "groups": {"dirs": {"singular": "dir", "attributes": ANY, "resources": {"files": FILES}}},
}
FILE = "/dirs/d/files/f"


@pytest.fixture
def shelf(durable_address: str) -> Iterator[Registry]:
    """A registry with a file in a directory."""
    with closing(Registry.open(durable_address, model=MODEL)) as made:
        ask(made, "put", f"{FILE}$details", {})
        yield made


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({"name": NUL}, id="attribute"),
        pytest.param({"labels": {"stage": NUL}}, id="label"),
        pytest.param({"ext": {NUL: {"x": NUL}}}, id="key of a nested value"),
        pytest.param({"ext": {"list": [NUL, {NUL: NUL}]}}, id="in a list"),
    ],
)
@pytest.mark.parametrize("path", ["/", "/dirs/d", f"{FILE}$details", f"{FILE}/versions/1$details"])
def test_values_are_kept(shelf: Registry, path: str, body: dict[str, Any]) -> None:
    ask(shelf, "patch", path, body)
    assert ask(shelf, "get", path).items() >= body.items()


def test_values_of_meta_are_kept(shelf: Registry) -> None:
    ask(shelf, "patch", f"{FILE}/meta", {"ext": NUL})
    assert ask(shelf, "get", f"{FILE}/meta")["ext"] == NUL


def test_documents_are_kept(shelf: Registry) -> None:
    content = b"\0\x01binary\0"
    ask(shelf, "put", FILE, content)
    assert ask(shelf, "get", FILE).content == content
    ask(shelf, "put", f"{FILE}$details", {"file": {NUL: [NUL]}})
    assert ask(shelf, "get", f"{FILE}$details", inline=("file",))["file"] == {NUL: [NUL]}


def test_models_are_kept(shelf: Registry) -> None:
    source = {**MODEL, "description": NUL}
    ask(shelf, "put", "/modelsource", source)
    assert ask(shelf, "get", "/modelsource") == source


@pytest.mark.parametrize(
    ("action", "path", "body", "error"),
    [
        pytest.param("put", f"/dirs/{NUL}", {}, "malformed_id", id="group"),
        pytest.param("post", "/dirs", {NUL: {}}, "malformed_id", id="group in a map"),
        pytest.param("put", f"/dirs/d/files/{NUL}$details", {}, "malformed_id", id="resource"),
        pytest.param("put", f"{FILE}/versions/{NUL}$details", {}, "malformed_id", id="version"),
        pytest.param(
            "patch", f"{FILE}$details", {"ancestorid": NUL}, "malformed_id", id="ancestor"
        ),
        pytest.param("patch", "/dirs/d", {NUL: 1}, "invalid_attribute", id="attribute's name"),
        pytest.param(
            "patch", "/dirs/d", {"labels": {NUL: ""}}, "invalid_attribute", id="label's name"
        ),
        pytest.param(
            "put", f"{FILE}/meta", {"xref": f"/dirs/d/files/{NUL}"}, "malformed_xref", id="xref"
        ),
        pytest.param(
            "put",
            f"{FILE}/meta",
            {"xref": f"/dirs/{NUL}/files/f"},
            "malformed_xref",
            id="its group",
        ),
        pytest.param(
            "put",
            "/modelsource",
            {"attributes": {NUL: {"type": "any"}}},
            "invalid_attribute",
            id="model",
        ),
        pytest.param("get", f"/dirs/{NUL}", None, "not_found", id="read"),
        pytest.param("delete", f"/dirs/{NUL}", None, "not_found", id="deleted"),
        pytest.param("get", f"/{NUL}", None, "not_found", id="type"),
    ],
)
def test_names_are_refused(shelf: Registry, action: str, path: str, body: Any, error: str) -> None:
    assert refused(shelf, action, path, body).name == error


@pytest.mark.parametrize(
    ("flags", "ids"),
    [
        pytest.param({"filter": ((f"name={NUL}",),)}, ["d"], id="equal"),
        pytest.param({"filter": ((f"name=*{NUL}*",),)}, ["d"], id="wildcard"),
        pytest.param({"filter": ((f"name>{NUL}",),)}, ["e"], id="greater"),
        pytest.param({"filter": ((f"dirid={NUL}",),)}, [], id="id"),
        pytest.param({"sort": f"ext['{NUL}']=desc"}, ["d", "e"], id="sort"),
    ],
)
def test_questions_are_answered(shelf: Registry, flags: dict[str, Any], ids: list[str]) -> None:
    ask(shelf, "patch", "/dirs/d", {"name": NUL, "ext": {NUL: 1}})
    ask(shelf, "put", "/dirs/e", {"name": "b"})
    assert list(ask(shelf, "get", "/dirs", **flags)) == ids


@pytest.mark.parametrize("flag", ["filter", "sort", "inline"])
def test_paths_with_it_are_refused(shelf: Registry, flag: str) -> None:
    value: Any = {"filter": ((f"{NUL}=x",),), "sort": NUL, "inline": (NUL,)}[flag]
    assert refused(shelf, "get", "/dirs", **{flag: value}).name == f"bad_{flag}"
