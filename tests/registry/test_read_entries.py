"""What a write of many entities answers with."""

from __future__ import annotations

import pytest

from heraldry.registry.registry import Registry
from tests.registry.asking import ask
from tests.registry.library import BASE, library, pruned


@pytest.fixture
def shelf() -> Registry:
    return library()


@pytest.mark.covers("HT-12")
def test_only_what_was_processed(shelf: Registry) -> None:
    answer = ask(shelf, "post", "/dirs", {"d1": {}, "d7": {"name": "seven"}})
    assert list(answer) == ["d1", "d7"]
    assert answer["d7"] == ask(shelf, "get", "/dirs/d7")
    assert answer["d1"]["filescount"] == 2


@pytest.mark.covers("HT-12")
def test_of_resources_and_versions(shelf: Registry) -> None:
    answer = ask(shelf, "patch", "/dirs/d1/files", {"f1": {"pages": 1}})
    assert answer == {"f1": ask(shelf, "get", "/dirs/d1/files/f1$details")}
    answer = ask(shelf, "patch", "/dirs/d1/files/f1/versions", {"v1": {"pages": 1}})
    assert answer == {"v1": ask(shelf, "get", "/dirs/d1/files/f1/versions/v1$details")}


@pytest.mark.covers("HT-12", "WR-05")
def test_in_the_shape_of_the_request(shelf: Registry) -> None:
    answer = ask(shelf, "post", "/", {"dirs": {"d8": {}}, "racks": {"r1": {}}})
    assert pruned(answer) == {"dirs": {"d8": {}}, "racks": {"r1": {}}}
    answer = ask(shelf, "post", "/dirs/d1", {"files": {"f1": {}}, "notes": {}})
    assert pruned(answer) == {"files": {"f1": {}}, "notes": {}}


@pytest.mark.covers("HT-12", "FL-50")
def test_inlined_as_the_request_asks(shelf: Registry) -> None:
    answer = ask(shelf, "patch", "/dirs", {"d1": {}}, inline=("files.versions",))
    assert answer == {"d1": ask(shelf, "get", "/dirs/d1", inline=("files.versions",))}
    answer = ask(shelf, "post", "/", {"dirs": {"d2": {}}}, inline=("dirs.files",))
    assert pruned(answer) == {"dirs": {"d2": {"files": {"f3": {}}}}}


@pytest.mark.covers("HT-12", "FL-21")
def test_document_view(shelf: Registry) -> None:
    answer = ask(shelf, "patch", "/dirs", {"d1": {}}, doc=True, inline=("files",))
    assert answer["d1"]["files"]["f1"]["self"] == "#/d1/files/f1"
    answer = ask(shelf, "post", "/", {"dirs": {"d2": {}}}, doc=True)
    assert answer["dirs"]["d2"]["self"] == "#/dirs/d2"
    assert answer["dirs"]["d2"]["filesurl"] == f"{BASE}/dirs/d2/files"


@pytest.mark.covers("HT-12")
def test_filtered(shelf: Registry) -> None:
    body = {"d1": {}, "d2": {}}
    assert list(ask(shelf, "patch", "/dirs", body, filter=(("size>5",),))) == ["d2"]
