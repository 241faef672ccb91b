"""Changes of a model: singular names stay, and only what is concerned is checked again."""

from __future__ import annotations

from typing import Any

import pytest

from heraldry.errors import RegistryError
from heraldry.model.model_checks import check_change, model_change
from heraldry.model.model_reading import read_model
from tests.model.models import dirs, files

TEXT = {"type": "string"}


def named(group: str, resource: str) -> dict[str, Any]:
    """A source, given singular names."""
    return {"groups": {"dirs": {"singular": group, "resources": {"files": {"singular": resource}}}}}


@pytest.mark.parametrize(
    "new",
    [
        pytest.param(named("folder", "file"), marks=pytest.mark.covers("MD-30"), id="group type"),
        pytest.param(named("dir", "paper"), marks=pytest.mark.covers("MD-40"), id="resource type"),
    ],
)
def test_singular_names_are_immutable(new: dict[str, Any]) -> None:
    with pytest.raises(RegistryError) as caught:
        check_change(read_model(files()), read_model(new))
    assert (caught.value.name, caught.value.subject) == ("model_error", "/model")


def test_everything_else_may_change() -> None:
    old, new = read_model(files()), read_model(files(hasdocument=False) | {"description": "new"})
    other = read_model({"groups": {"boxes": {"singular": "box"}}})
    for before, after in ((old, new), (old, other), (other, old), (old, old)):
        check_change(before, after)


Change = tuple[bool, set[str], set[str], set[str]]


def concerned(old: dict[str, Any], new: dict[str, Any]) -> Change:
    """The parts of a change."""
    found = model_change(read_model(old), read_model(new))
    return found.registry, set(found.groups), set(found.resources), set(found.removed)


NOTHING: set[str] = set()
MORE = files(attributes={"x": TEXT})


@pytest.mark.parametrize(
    ("old", "new", "change"),
    [
        pytest.param(files(), files(), (False, NOTHING, NOTHING, NOTHING), id="nothing"),
        pytest.param(
            files(), files(description="d"), (False, NOTHING, NOTHING, NOTHING), id="description"
        ),
        pytest.param(files(), MORE, (False, NOTHING, {"dirs/files"}, NOTHING), id="attribute"),
        pytest.param(
            files(), files(maxversions=1), (False, NOTHING, {"dirs/files"}, NOTHING), id="aspect"
        ),
        pytest.param(
            files(),
            files() | {"attributes": {"x": TEXT}},
            (True, NOTHING, NOTHING, NOTHING),
            id="root",
        ),
        pytest.param(
            dirs(), dirs(attributes={"x": TEXT}), (False, {"dirs"}, NOTHING, NOTHING), id="group"
        ),
        pytest.param(
            files(),
            {"groups": {"dirs": files()["groups"]["dirs"] | {"constraints": {"files.name": {}}}}},
            (False, {"dirs"}, {"dirs/files"}, NOTHING),
            id="constraint",
        ),
        pytest.param({}, files(), (True, NOTHING, NOTHING, NOTHING), id="new types"),
        pytest.param(
            files(), {}, (True, NOTHING, NOTHING, {"dirs", "dirs/files"}), id="no types any more"
        ),
        pytest.param(
            files(), dirs(), (True, {"dirs"}, NOTHING, {"dirs/files"}), id="one type less"
        ),
    ],
)
@pytest.mark.covers("MD-05")
def test_whom_a_change_concerns(old: dict[str, Any], new: dict[str, Any], change: Change) -> None:
    assert concerned(old, new) == change


@pytest.mark.covers("MD-06")
def test_how_a_type_came_into_the_model_does_not_matter() -> None:
    local, imported = files(), files()
    local["groups"]["boxes"] = {"singular": "box", "resources": {"files": {"singular": "file"}}}
    imported["groups"]["boxes"] = {"singular": "box", "ximportresources": ["/dirs/files"]}
    assert concerned(local, imported) == (False, NOTHING, NOTHING, NOTHING)
    assert concerned(imported, local) == (False, NOTHING, NOTHING, NOTHING)
