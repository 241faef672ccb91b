"""Ids, epochs, times, replacing and patching, nested collections (GN, CA, RG, CO, WR)."""

from __future__ import annotations

from typing import Any

import pytest

from heraldry.registry.registry import Registry
from heraldry.registry.request import Null
from tests.registry.asking import ask, refused, registry
from tests.registry.files import FILE, files, year

GROUP = "/dirs/d1"
VERSION = f"{FILE}/versions/1"
META = f"{FILE}/meta"


def filled() -> Registry:
    made = files()
    ask(made, "put", FILE, {"name": "file"})
    return made


@pytest.mark.covers("GN-01", "CO-07")
def test_one_bad_entity_undoes_the_whole_request() -> None:
    made = filled()
    before = ask(made, "get", "/", inline=())
    body = {"dirs": {"d1": {}, "d2": {"files": {"f1": {}, "f2": {"name": 5}}}}}
    assert refused(made, "post", "/", body).subject == "/dirs/d2/files/f2/versions/1"
    assert ask(made, "get", "/", inline=()) == before


@pytest.mark.covers("GN-02")
def test_there_is_one_now_per_request() -> None:
    made = files()
    ask(made, "put", "/", {"dirs": {"d1": {"files": {"f1": {"versions": {"a": {}, "b": {}}}}}}})
    group = ask(made, "get", GROUP)
    versions = ask(made, "get", f"{FILE}/versions")
    entities = [group, ask(made, "get", META), *versions.values()]
    times = {entity[name] for entity in entities for name in ("createdat", "modifiedat")}
    assert times == {ask(made, "get", "/")["modifiedat"]}


@pytest.mark.covers("GN-03")
@pytest.mark.parametrize(
    ("action", "path", "body"),
    [
        ("put", f"{FILE}/versions/v1", {}),
        ("post", f"{FILE}/versions", {"v1": {}}),
        ("put", FILE, {}),
        ("put", META, {}),
        ("post", "/dirs/d1/files", {"f1": {}}),
        ("post", GROUP, {"files": {"f1": {}}}),
    ],
)
def test_missing_parents_are_made(action: str, path: str, body: Any) -> None:
    made = files()
    ask(made, action, path, body)
    assert ask(made, "get", GROUP)["dirid"] == "d1"
    assert ask(made, "get", FILE)["fileid"] == "f1"


@pytest.mark.covers("GN-03")
def test_a_parent_with_required_attributes_is_not_made() -> None:
    must = {"boss": {"type": "string", "required": True}}
    made = files(group={"attributes": must})
    error = refused(made, "put", FILE, {})
    assert (error.name, error.subject) == ("required_attribute_missing", GROUP)
    assert error.arguments == {"list": "boss"}


@pytest.mark.covers("GN-06")
@pytest.mark.parametrize("path", ["/", GROUP, FILE, META, VERSION])
def test_a_schema_on_top_is_ignored(path: str) -> None:
    made = filled()
    assert "$schema" not in ask(made, "put", path, {"$schema": "http://schema.example"})


@pytest.mark.covers("GN-08", "WR-06", "RG-02", "CO-02", "VE-04", "ME-05")
@pytest.mark.parametrize(
    ("path", "body"),
    [
        (
            "/",
            {"specversion": 5, "self": 1, "xid": "x", "model": 7, "dirsurl": 1, "dirscount": "n"},
        ),
        (GROUP, {"self": 1, "xid": [], "filesurl": 1, "filescount": "n"}),
        (FILE, {"isdefault": "x", "metaurl": 1, "versionsurl": 1, "versionscount": {}, "xid": 1}),
        (VERSION, {"isdefault": 5, "self": False, "xid": 1, "formatvalidated": "?"}),
        (META, {"readonly": "x", "defaultversionurl": 1, "self": 5}),
    ],
)
def test_what_only_the_server_sets_is_ignored(path: str, body: dict[str, Any]) -> None:
    made = filled()
    before = ask(made, "get", path)
    after = ask(made, "put", path, body)
    assert after.keys() <= before.keys()
    assert {n: after[n] for n in body if n in after} == {n: before[n] for n in body if n in after}


@pytest.mark.covers("CA-02")
@pytest.mark.parametrize("id", ["", "-a", "a*b", "a b", "é", "x" * 129])
def test_ids_have_a_form(id: str) -> None:  # noqa: A002
    made = files()
    for path, body in [
        ("/dirs", {id: {}}),
        ("/dirs/d1/files", {id: {}}),
        (f"{FILE}/versions", {id: {}} if id else {"-": {}}),
    ]:
        assert refused(made, "post", path, body).name == "malformed_id"


@pytest.mark.covers("CA-02")
@pytest.mark.parametrize("id", ["a", "0", "_", "A-b.c_d~e:f@g", "x" * 128])
def test_ids_may_have_these_forms(id: str) -> None:  # noqa: A002
    made = files()
    ask(made, "post", f"/dirs/{id}/files/{id}/versions", {id: {}})
    found = ask(made, "get", f"/dirs/{id}/files/{id}/versions/{id}")
    assert (found["fileid"], found["versionid"]) == (id, id)


@pytest.mark.covers("CA-04", "CA-01")
@pytest.mark.parametrize(
    ("path", "body", "singular"),
    [
        ("/", {"registryid": "x"}, "registry"),
        (GROUP, {"dirid": "x"}, "dir"),
        (FILE, {"fileid": "x"}, "file"),
        (META, {"fileid": "x"}, "file"),
        (VERSION, {"fileid": "x"}, "file"),
        (VERSION, {"versionid": "x"}, "version"),
        (FILE, {"meta": {"fileid": "x"}}, "file"),
        (FILE, {"versions": {"1": {"versionid": "x"}}}, "version"),
        ("/", {"dirs": {"d1": {"dirid": "x"}}}, "dir"),
    ],
)
def test_ids_in_bodies_are_compared(path: str, body: dict[str, Any], singular: str) -> None:
    error = refused(filled(), "put", path, body)
    assert (error.name, error.arguments["singular"]) == ("mismatched_id", singular)
    assert error.arguments["invalid_id"] == "x"


@pytest.mark.covers("CA-08", "CA-09", "WR-09")
@pytest.mark.parametrize("path", ["/", GROUP, FILE, META, VERSION])
@pytest.mark.parametrize("action", ["put", "patch"])
def test_epochs_grow_and_are_compared(action: str, path: str) -> None:
    made = filled()
    epoch = ask(made, "get", path)["epoch"]
    assert ask(made, action, path, {"epoch": epoch})["epoch"] == epoch + 1
    assert ask(made, action, path, {"epoch": None})["epoch"] == epoch + 2
    error = refused(made, action, path, {"epoch": epoch})
    assert error.name == "mismatched_epoch"
    assert error.arguments == {"bad_epoch": str(epoch), "epoch": str(epoch + 2)}
    assert refused(made, action, path, {"epoch": -1}).name == "invalid_attribute"
    assert refused(made, action, path, {"epoch": "1"}).name == "invalid_attribute"


@pytest.mark.covers("CA-09")
def test_the_epoch_of_something_new_is_ignored() -> None:
    made = files()
    body = {"epoch": 7, "files": {"f1": {"epoch": 8, "meta": {"epoch": 9}}}}
    ask(made, "put", GROUP, body)
    assert [ask(made, "get", path)["epoch"] for path in (GROUP, FILE, META)] == [1, 1, 1]


@pytest.mark.covers("CA-10", "ME-03")
def test_adding_and_removing_children_bumps_the_parent_once() -> None:
    made = filled()

    def parents() -> list[int]:
        return [ask(made, "get", path)["epoch"] for path in ("/", GROUP, META)]

    assert parents() == [2, 1, 1]
    ask(made, "put", FILE, {"name": "other"})
    assert parents() == [2, 1, 1]
    ask(made, "post", f"{FILE}/versions", {"v2": {}, "v3": {}})
    assert parents() == [2, 1, 2]
    ask(made, "post", "/dirs/d1/files", {"f2": {}, "f3": {}})
    assert parents() == [2, 2, 2]
    ask(made, "post", "/dirs", {"d2": {}, "d3": {}})
    assert parents() == [3, 2, 2]
    ask(made, "delete", f"{FILE}/versions", {"v2": {}, "v3": {}})
    ask(made, "delete", "/dirs/d1/files", {"f2": {}, "f3": {}})
    ask(made, "delete", "/dirs", {"d2": {}, "d3": {}})
    assert parents() == [4, 3, 3]


@pytest.mark.covers("CA-10")
def test_a_parent_that_is_written_itself_is_bumped_once() -> None:
    made = filled()
    ask(made, "put", GROUP, {"files": {"f2": {}}, "modifiedat": year(2001)})
    found = ask(made, "get", GROUP)
    assert (found["epoch"], found["modifiedat"]) == (2, year(2001))


@pytest.mark.covers("CA-13", "WR-01")
@pytest.mark.parametrize("path", ["/", GROUP, FILE, META, VERSION])
@pytest.mark.parametrize("action", ["put", "patch"])
def test_createdat_is_kept_until_it_is_given(action: str, path: str) -> None:
    made = filled()
    first = ask(made, "get", path)["createdat"]
    assert ask(made, action, path, {})["createdat"] == first
    given = ask(made, action, path, {"createdat": "2001-01-01T02:00:00+02:00"})
    assert given["createdat"] == year(2001)
    again = ask(made, action, path, {"createdat": None})
    assert again["createdat"] == again["modifiedat"]
    assert refused(made, action, path, {"createdat": ""}).name == "invalid_attribute"


@pytest.mark.covers("CA-14")
@pytest.mark.parametrize("path", ["/", GROUP, FILE, META, VERSION])
@pytest.mark.parametrize("action", ["put", "patch"])
def test_modifiedat_is_now_unless_another_is_given(action: str, path: str) -> None:
    made = filled()
    first = ask(made, "get", path)["modifiedat"]
    second = ask(made, action, path, {})["modifiedat"]
    assert second > first
    assert ask(made, action, path, {"modifiedat": year(2001)})["modifiedat"] == year(2001)
    third = ask(made, action, path, {"modifiedat": year(2001)})["modifiedat"]
    assert third > second
    assert ask(made, action, path, {"modifiedat": None})["modifiedat"] > third
    assert refused(made, action, path, {"modifiedat": "x"}).name == "invalid_attribute"


@pytest.mark.covers("CA-11", "VE-10")
@pytest.mark.parametrize("name", ["name", "documentation", "icon", "format"])
def test_texts_that_must_say_something(name: str) -> None:
    error = refused(filled(), "put", VERSION, {name: ""})
    assert (error.name, error.arguments["name"]) == ("invalid_attribute", name)


@pytest.mark.covers("CA-15")
@pytest.mark.parametrize("path", [GROUP, META])
def test_removal_is_not_before_the_deprecation_takes_effect(path: str) -> None:
    made = filled()
    good = {"effective": year(2030), "removal": year(2031), "docs": "kept"}
    assert ask(made, "patch", path, {"deprecated": good})["deprecated"] == good
    assert ask(made, "patch", path, {"deprecated": {}})["deprecated"] == {}
    bad = {"effective": year(2031), "removal": "2030-12-31T23:59:59.5Z"}
    error = refused(made, "patch", path, {"deprecated": bad})
    assert error.arguments["name"] == "deprecated.removal"


@pytest.mark.covers("WR-01", "WR-02", "A-05")
@pytest.mark.parametrize("path", ["/", GROUP, FILE, VERSION])
def test_put_replaces_and_patch_keeps(path: str) -> None:
    made = filled()
    ask(made, "put", path, {"name": "n", "description": "d", "labels": {"a": "1", "b": "2"}})
    found = ask(made, "patch", path, {"description": None, "labels": {"a": "3"}})
    assert (found["name"], "description" in found, found["labels"]) == ("n", False, {"a": "3"})
    found = ask(made, "put", path, {"icon": "http://icon.example"})
    assert not {"name", "description", "labels"} & found.keys()


@pytest.mark.covers("WR-03", "WR-04", "WR-06")
def test_collections_are_posted_or_patched_and_create_what_is_missing() -> None:
    made = files()
    ask(made, "patch", "/dirs", {"d1": {"name": "n", "description": "x"}})
    ask(made, "patch", "/dirs", {"d1": {"description": "y"}, "d2": {}})
    assert ask(made, "get", GROUP)["name"] == "n"
    found = ask(made, "post", "/dirs", {"d1": {"description": "z"}})
    assert list(found) == ["d1"]
    assert "name" not in ask(made, "get", GROUP)
    for path in ("/dirs", "/dirs/d1/files", f"{FILE}/versions"):
        assert refused(made, "put", path, {}).name == "action_not_supported"


@pytest.mark.covers("WR-05")
def test_post_on_a_parent_leaves_its_attributes_alone() -> None:
    made = filled()
    ask(made, "put", GROUP, {"name": "n"})
    found = ask(made, "post", GROUP, {"files": {"f2": {}}})
    assert list(found) == ["files"]
    assert list(found["files"]) == ["f2"]
    assert ask(made, "get", GROUP)["name"] == "n"
    found = ask(made, "post", "/", {"dirs": {"d2": {}}})
    assert list(found) == ["dirs"]
    assert ask(made, "post", "/", {"dirs": {}}) == {"dirs": {}}
    assert ask(made, "post", "/", {}) == {}


@pytest.mark.covers("WR-05", "GN-13")
def test_post_on_a_parent_takes_collections_only() -> None:
    made = filled()
    error = refused(made, "post", "/", {"name": "x"})
    assert (error.name, error.subject, error.arguments) == ("groups_only", "/", {"name": "name"})
    error = refused(made, "post", GROUP, {"foos": {}})
    assert (error.name, error.subject) == ("resources_only", GROUP)
    assert error.arguments == {"name": "foos"}


@pytest.mark.covers("FL-03", "CO-02", "WR-05")
@pytest.mark.parametrize(
    "path", [pytest.param("/", id="registry"), pytest.param(GROUP, id="group")]
)
def test_what_collections_shows_can_be_posted_elsewhere(path: str) -> None:
    source, copy = filled(), filled()
    ask(copy, "delete", "/dirs")
    shown = ask(source, "get", path, collections=True)
    assert ask(copy, "post", path, shown).keys() == {n for n in shown if n in ("dirs", "files")}
    assert ask(copy, "get", path, collections=True).keys() == shown.keys()


@pytest.mark.covers("GN-13")
def test_unknown_types_in_paths() -> None:
    made = filled()
    for action in ("put", "patch", "post", "delete"):
        error = refused(made, action, "/foos/f1", {})
        assert (error.name, error.subject) == ("not_found", "/foos")
        error = refused(made, action, "/dirs/d1/foos/f1", {})
        assert (error.name, error.subject) == ("not_found", "/dirs/d1/foos")


@pytest.mark.covers("CO-06", "RG-04")
@pytest.mark.parametrize(("action", "name"), [("put", None), ("patch", "file")])
def test_nested_entities_are_written_as_the_method_says(action: str, name: str | None) -> None:
    made = filled()
    ask(made, action, "/", {"dirs": {"d1": {"files": {"f1": {"description": "new"}}}}})
    found = ask(made, "get", FILE)
    assert (found.get("name"), found["description"]) == (name, "new")


@pytest.mark.covers("CO-07", "WR-10")
def test_what_is_not_in_a_nested_map_stays() -> None:
    made = filled()
    for body in ({}, {"dirs": {}}, {"dirs": None}, {"dirs": {"d1": {"files": {}}}}):
        ask(made, "put", "/", body)
        assert ask(made, "get", FILE)["name"] == "file"


@pytest.mark.covers("CO-07")
@pytest.mark.parametrize(
    ("action", "path", "body"),
    [
        ("put", "/", {"dirs": {"d1": None}}),
        ("put", GROUP, {"files": {"f1": 5}}),
        ("put", FILE, {"versions": {"v1": []}}),
        ("post", "/", {"dirs": None}),
        ("post", "/dirs", {"d1": "x"}),
        ("post", f"{FILE}/versions", {"v1": None}),
    ],
)
def test_what_is_no_entity_is_refused(action: str, path: str, body: Any) -> None:
    assert refused(filled(), action, path, body).name == "bad_request"


@pytest.mark.covers("HT-07", "GN-04")
def test_bodies_must_be_there_and_be_objects() -> None:
    made = filled()
    for path in ("/", GROUP, META, VERSION, "/capabilities", "/modelsource"):
        assert refused(made, "put", path).name == "missing_body"
    assert refused(made, "put", GROUP, [1]).name == "parsing_data"
    assert ask(made, "put", GROUP, Null.NULL)["dirid"] == "d1"


@pytest.mark.covers("RG-04", "RG-05", "RG-06", "WR-10")
def test_the_root_takes_model_and_entities_at_once() -> None:
    made = registry()
    source = {"groups": {"rooms": {"singular": "room"}}}
    body = {"modelsource": source, "rooms": {"r1": {"name": "one"}}}
    found = ask(made, "put", "/", body, inline=("rooms", "modelsource"))
    assert found["rooms"]["r1"]["name"] == "one"
    assert found["modelsource"] == source
    assert found["epoch"] == 2
    ask(made, "put", "/", {})
    assert ask(made, "get", "/modelsource") == source
    ask(made, "delete", "/rooms")
    ask(made, "put", "/", {"modelsource": None})
    assert "roomsurl" not in ask(made, "get", "/")


@pytest.mark.covers("RG-08")
@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/modelsource", {}),
        ("/capabilities", {"available": {"capabilities": {"mutable": True}}}),
    ],
)
def test_settings_are_part_of_the_registry(path: str, body: dict[str, Any]) -> None:
    made = registry()
    before = ask(made, "get", "/")
    ask(made, "put", path, body)
    after = ask(made, "get", "/")
    assert after["epoch"] == before["epoch"] + 1
    assert after["modifiedat"] > before["modifiedat"]


@pytest.mark.covers("GR-03", "MD-54", "MD-55")
def test_a_groups_own_constraints_hold_for_all_its_files() -> None:
    typed = {"attributes": {"kind": {"type": "string"}}}
    made = files(group=typed, attributes={"kind": {"type": "string"}})
    ask(made, "put", FILE, {"kind": "a"})
    only = {"constraints": {"files.kind": {"enum": ["a", "b"]}}}
    ask(made, "patch", GROUP, only)
    error = refused(made, "put", FILE, {"kind": "c"})
    assert (error.name, error.subject) == ("constraint_failure", FILE)
    assert error.arguments == {"kind": "enum", "path": "kind"}
    error = refused(made, "patch", GROUP, {"constraints": {"files.kind": {"enum": ["b"]}}})
    assert (error.name, error.subject) == ("constraint_failure", FILE)
    ask(made, "patch", GROUP, {"kind": "a", "constraints": {"files.kind": {"equals": "kind"}}})
    assert refused(made, "patch", GROUP, {"kind": "b"}).arguments["kind"] == "equals"


@pytest.mark.covers("A-02", "A-12")
def test_internal_names_cannot_be_written() -> None:
    made = filled()
    for path in (GROUP, FILE, VERSION, META):
        error = refused(made, "patch", path, {"#nextversionid": 7})
        assert (error.name, error.arguments["name"]) == ("invalid_attribute", "#nextversionid")
