"""The journal: one change per entity and request, fit to make events of (EV-04..EV-08)."""

from __future__ import annotations

from typing import Any

import pytest

from heraldry.registry.registry import Registry
from heraldry.registry.request import Request, Target
from tests.registry.asking import ask, changes, refused
from tests.registry.files import FILE, files

VERSIONS = f"{FILE}/versions"


class Watch:
    """What the journal gained since it was last asked."""

    def __init__(self, made: Registry) -> None:
        self.made = made
        self.seen = len(changes(made))

    def new(self) -> dict[str, tuple[str, set[str]]]:
        everything = changes(self.made)
        fresh, self.seen = everything[self.seen :], len(everything)
        assert len({xid for _, xid, _ in fresh}) == len(fresh)
        return {xid: (action, set(names)) for action, xid, names in fresh}


def watched() -> tuple[Registry, Watch]:
    made = files()
    ask(made, "post", VERSIONS, {"v1": {"name": "one"}, "v2": {"name": "two"}})
    return made, Watch(made)


@pytest.mark.covers("EV-06", "EV-07", "EV-05")
def test_a_new_tree_is_created_and_what_was_there_is_updated() -> None:
    made = files()
    watch = Watch(made)
    ask(made, "put", f"{VERSIONS}/v1", {})
    assert watch.new() == {
        "/": ("updated", {"epoch", "modifiedat", "dirs", "dirscount"}),
        "/dirs/d1": ("created", set()),
        FILE: ("created", set()),
        f"{VERSIONS}/v1": ("created", set()),
    }
    ask(made, "put", "/dirs/d1/files/f2", {})
    found = watch.new()
    assert found["/dirs/d1"] == ("updated", {"epoch", "modifiedat", "files", "filescount"})
    assert "/" not in found


@pytest.mark.covers("EV-04", "EV-06")
def test_attributes_of_the_default_version_are_those_of_the_resource() -> None:
    made, watch = watched()
    ask(made, "patch", FILE, {"name": "new", "colour": "red"})
    names = {"name", "colour", "epoch", "modifiedat"}
    assert watch.new() == {FILE: ("updated", names), f"{VERSIONS}/v2": ("updated", names)}
    ask(made, "patch", f"{VERSIONS}/v1", {"name": None})
    expected = {f"{VERSIONS}/v1": ("updated", {"name", "epoch", "modifiedat"})}
    assert watch.new() == expected


@pytest.mark.covers("EV-06")
def test_meta_and_versions_are_part_of_the_resource() -> None:
    made, watch = watched()
    ask(made, "patch", f"{FILE}/meta", {"labels": {"a": "b"}})
    assert watch.new() == {
        FILE: ("updated", {"meta.labels", "meta.epoch", "meta.modifiedat"}),
    }
    ask(made, "post", VERSIONS, {"v0": {"ancestorid": "v1", "createdat": "2001-01-01T00:00:00Z"}})
    found = watch.new()
    assert found[f"{VERSIONS}/v0"] == ("created", set())
    assert found[FILE] == (
        "updated",
        {"meta.epoch", "meta.modifiedat", "versions", "versionscount"},
    )


@pytest.mark.covers("EV-06")
def test_another_default_changes_all_attributes_of_both() -> None:
    made, watch = watched()
    ask(made, "patch", f"{VERSIONS}/v1", {"colour": "red"})
    watch.new()
    ask(made, "patch", f"{FILE}/meta", {"defaultversionid": "v1"})
    found = watch.new()
    assert list(found) == [FILE]
    assert found[FILE][1] >= {"meta.defaultversionid", "name", "colour", "ancestorid"}


BORROWER = "/dirs/d1/files/fx"
BORROWED = f"{BORROWER}/versions"


def borrowing() -> tuple[Registry, Watch]:
    made, watch = watched()
    ask(made, "put", f"{BORROWER}/meta", {"xref": FILE})
    watch.new()
    return made, watch


@pytest.mark.covers("EV-06", "EV-11")
def test_a_change_of_a_target_is_one_of_its_borrowers() -> None:
    made, watch = borrowing()
    ask(made, "patch", FILE, {"name": "new"})
    names = ("updated", {"name", "epoch", "modifiedat"})
    changed = {FILE: names, f"{VERSIONS}/v2": names, BORROWER: names, f"{BORROWED}/v2": names}
    assert watch.new() == changed
    ask(made, "post", VERSIONS, {"v3": {}})
    found = watch.new()
    assert found[f"{BORROWED}/v3"] == ("created", set())
    assert found[BORROWER] == found[FILE]
    assert found[BORROWER][1] >= {"versions", "versionscount", "meta.defaultversionid"}
    ask(made, "delete", f"{VERSIONS}/v1")
    found = watch.new()
    assert found[f"{BORROWED}/v1"] == ("deleted", set())
    assert found[BORROWER] == found[FILE]
    ask(made, "delete", FILE)
    found = watch.new()
    assert found[f"{BORROWED}/v2"] == found[f"{BORROWED}/v3"] == ("deleted", set())
    assert found[BORROWER][1] >= {"versions", "versionscount", "meta.epoch"}


@pytest.mark.covers("EV-06", "EV-08")
def test_what_a_borrower_shows_changes_with_its_xref() -> None:
    made, watch = watched()
    ask(made, "put", BORROWER, {"versionid": "own"})
    watch.new()
    ask(made, "put", f"{BORROWER}/meta", {"xref": FILE})
    found = watch.new()
    assert found.pop(BORROWER)[1] >= {"meta.xref", "versions", "versionscount"}
    assert found == {
        f"{BORROWED}/own": ("deleted", set()),
        f"{BORROWED}/v1": ("created", set()),
        f"{BORROWED}/v2": ("created", set()),
    }
    ask(made, "put", BORROWER, {"versionid": "v2", "name": "own", "meta": {}})
    found = watch.new()
    assert found[f"{BORROWED}/v1"] == ("deleted", set())
    assert found[f"{BORROWED}/v2"][0] == "updated"
    assert found[BORROWER][1] >= {"meta.xref", "versions", "versionscount"}
    with made.store.read() as tx:
        last = [change for change in tx.journal(0, 1000) if change.xid.startswith(BORROWER)][-3:]
    assert len({change.correlation for change in last}) == 1


@pytest.mark.covers("EV-07", "EV-06")
def test_all_that_is_deleted_is_told() -> None:
    made, watch = watched()
    ask(made, "delete", "/dirs/d1")
    assert watch.new() == {
        "/": ("updated", {"epoch", "modifiedat", "dirs", "dirscount"}),
        "/dirs/d1": ("deleted", set()),
        FILE: ("deleted", set()),
        f"{VERSIONS}/v1": ("deleted", set()),
        f"{VERSIONS}/v2": ("deleted", set()),
    }


@pytest.mark.covers("EV-06")
@pytest.mark.parametrize(
    ("path", "body", "expected"),
    [
        ("/modelsource", {}, {"/model": set(), "/modelsource": set()}),
        ("/capabilities", {"pagination": False}, {"/capabilities": {"pagination"}}),
    ],
)
def test_settings_are_changes_of_the_registry_too(path: str, body: Any, expected: Any) -> None:
    made = files()
    watch = Watch(made)
    ask(made, "patch" if path == "/capabilities" else "put", path, body)
    found = watch.new()
    assert {xid: names for xid, (_, names) in found.items() if xid != "/"} == expected
    assert {name.strip("/") for name in expected} <= found["/"][1]


@pytest.mark.covers("EV-08", "GN-02")
def test_changes_of_a_request_belong_together() -> None:
    made = files()
    for correlation in ("", "mine"):
        request = Request(
            action="put",
            target=Target.parse(FILE),
            body={},
            actor="me",
            correlation=correlation,
        )
        made.run(request)
    ask(made, "put", FILE, {})
    with made.store.read() as tx:
        found = tx.journal(0, 100)
    ids = list(dict.fromkeys(change.correlation for change in found))
    assert len(ids) == 3
    assert ids[1] == "mine"
    assert all(ids)
    assert {c.at for c in found if c.correlation == ids[0]} == {found[0].at}
    assert found[0].actor == "me"


@pytest.mark.covers("GN-01")
def test_a_refused_request_leaves_nothing() -> None:
    made, watch = watched()
    refused(made, "put", FILE, {"versions": {"v9": {}, "v8": {"name": 5}}})
    assert watch.new() == {}
