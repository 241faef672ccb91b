"""Deleting one entity, some, or all (DE)."""

from __future__ import annotations

from typing import Any

import pytest

from heraldry.registry.registry import Registry
from tests.registry.asking import ask, refused
from tests.registry.files import FILE, default, files, lineage, send

VERSIONS = f"{FILE}/versions"
META = f"{FILE}/meta"


def filled() -> Registry:
    made = files()
    some = {"versions": {"v1": {}, "v2": {}, "v3": {}}}
    ask(made, "post", "/", {"dirs": {"d1": {"files": {"f1": some, "f2": {}}}, "d2": {}}})
    return made


@pytest.mark.covers("DE-01", "DE-04", "HT-13")
@pytest.mark.parametrize("path", ["/dirs/d1", FILE, f"{VERSIONS}/v2"])
def test_one_entity_goes_with_all_below_it(path: str) -> None:
    made = filled()
    assert send(made, "delete", path).outcome == "deleted"
    error = refused(made, "delete", path)
    assert (error.name, error.subject) == ("not_found", path)
    gone = [f"{VERSIONS}/v2"] if path.endswith("v2") else [f"{VERSIONS}/v1", META, FILE]
    for below in gone:
        assert refused(made, "get", below).name == "not_found"


@pytest.mark.covers("DE-01")
@pytest.mark.parametrize(
    ("path", "missing"),
    [
        ("/dirs/dx/files/f1", "/dirs/dx"),
        ("/dirs/d1/files/fx/versions/v1", "/dirs/d1/files/fx"),
        (f"{VERSIONS}/vx", f"{VERSIONS}/vx"),
    ],
)
def test_what_is_missing_is_not_found(path: str, missing: str) -> None:
    error = refused(filled(), "delete", path)
    assert (error.name, error.subject) == ("not_found", missing)


@pytest.mark.covers("DE-01", "FL-04")
@pytest.mark.parametrize(
    ("path", "subject"),
    [("/dirs/d1", "/dirs/d1"), (FILE, META), (f"{VERSIONS}/v2", f"{VERSIONS}/v2")],
)
def test_an_epoch_is_compared(path: str, subject: str) -> None:
    made = filled()
    ask(made, "patch", subject, {})
    error = refused(made, "delete", path, epoch="1")
    assert (error.name, error.subject) == ("mismatched_epoch", subject)
    assert error.arguments == {"bad_epoch": "1", "epoch": "2"}
    assert refused(made, "delete", path, epoch="x").name == "invalid_attribute"
    ask(made, "delete", path, epoch="2")


@pytest.mark.covers("DE-02")
@pytest.mark.parametrize(
    ("path", "some", "left"),
    [
        ("/dirs", {"d2": {}, "nope": {}}, ["d1"]),
        ("/dirs/d1/files", {"f2": {}, "nope": {}}, ["f1"]),
        (VERSIONS, {"v2": {}, "nope": {}}, ["v1", "v3"]),
    ],
)
def test_a_map_names_what_goes(path: str, some: Any, left: list[str]) -> None:
    made = filled()
    before = sorted(ask(made, "get", path))
    ask(made, "delete", path, {})
    assert sorted(ask(made, "get", path)) == before
    ask(made, "delete", path, some)
    assert sorted(ask(made, "get", path)) == left
    ask(made, "delete", path)
    if path == VERSIONS:
        assert refused(made, "get", FILE).name == "not_found"
    else:
        assert ask(made, "get", path) == {}


@pytest.mark.covers("DE-03")
@pytest.mark.parametrize(
    ("path", "entry", "error"),
    [
        pytest.param("/dirs", {"d1": {"epoch": 9}}, "mismatched_epoch", id="group"),
        pytest.param(VERSIONS, {"v1": {"epoch": 9}}, "mismatched_epoch", id="version"),
        pytest.param(
            "/dirs/d1/files", {"f1": {"meta": {"epoch": 9}}}, "mismatched_epoch", id="resource"
        ),
        pytest.param("/dirs/d1/files", {"f1": {"epoch": 1}}, "misplaced_epoch", id="misplaced"),
        pytest.param("/dirs", {"d1": {"dirid": "x"}}, "mismatched_id", id="group id"),
        pytest.param("/dirs/d1/files", {"f1": {"fileid": "x"}}, "mismatched_id", id="file id"),
        pytest.param(VERSIONS, {"v1": {"versionid": "x"}}, "mismatched_id", id="version id"),
        pytest.param(VERSIONS, {"v1": None}, "bad_request", id="no entity"),
        pytest.param(VERSIONS, ["v1"], "parsing_data", id="no map"),
    ],
)
def test_entries_are_compared_before_anything_goes(path: str, entry: Any, error: str) -> None:
    made = filled()
    before = ask(made, "get", "/", inline=())
    assert refused(made, "delete", path, entry).name == error
    assert ask(made, "get", "/", inline=()) == before


@pytest.mark.covers("DE-03")
def test_other_attributes_of_entries_are_ignored() -> None:
    made = filled()
    ask(made, "delete", "/dirs/d1/files", {"f1": {"epoch": 9, "meta": {"epoch": 1}, "name": 5}})
    ask(made, "delete", "/dirs", {"d2": {"epoch": 1, "name": {}}})
    assert list(ask(made, "get", "/dirs/d1/files")) == ["f2"]


@pytest.mark.covers("DE-03")
def test_epochs_of_versions_are_those_before_the_request() -> None:
    made = filled()
    ask(made, "delete", VERSIONS, {"v1": {"epoch": 1}, "v2": {"epoch": 1}})
    assert lineage(made) == {"v3": "v3"}


@pytest.mark.covers("DE-05", "FL-60", "FL-61")
def test_the_next_default_is_chosen_after_the_deletions() -> None:
    made = filled()
    ask(made, "delete", f"{VERSIONS}/v3", setdefaultversionid="v1")
    assert default(made) == ("v1", True)
    ask(made, "delete", VERSIONS, {"v2": {}}, setdefaultversionid="null")
    assert default(made) == ("v1", False)
    made = filled()
    assert refused(made, "delete", f"{VERSIONS}/v3", setdefaultversionid="v9").name == "unknown_id"
    assert refused(made, "delete", f"{VERSIONS}/v3", setdefaultversionid="v3").name == "bad_request"


@pytest.mark.covers("HT-02")
def test_the_registry_and_its_settings_stay() -> None:
    made = filled()
    for path in ("/", "/model", "/modelsource", "/capabilities", "/export"):
        assert refused(made, "delete", path).name == "action_not_supported"
