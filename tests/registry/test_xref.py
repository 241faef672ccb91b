"""Resources that borrow their versions from another one (XR)."""

from __future__ import annotations

from typing import Any

import pytest

from heraldry.registry.registry import Registry
from tests.registry.asking import ask, refused, registry
from tests.registry.files import FILE, default, files, send, year

SOURCE = "/dirs/d1/files/fx"
META = f"{SOURCE}/meta"


def linked() -> Registry:
    made = files()
    versions = {"v1": {"name": "one"}, "v2": {"name": "two", "colour": "red"}}
    ask(made, "put", FILE, {"meta": {"labels": {"a": "b"}}, "versions": versions})
    ask(made, "put", META, {"xref": FILE})
    return made


def shown(made: Registry, path: str) -> Any:
    return ask(made, "get", path, inline=("meta", "versions"))


@pytest.mark.covers("XR-02")
def test_a_source_shows_its_target_under_its_own_ids() -> None:
    made = linked()
    target, source = shown(made, FILE), shown(made, SOURCE)
    assert source["meta"].pop("xref") == FILE
    text = repr(source).replace("/files/fx", "/files/f1").replace("'fx'", "'f1'")
    assert text == repr(target)


@pytest.mark.covers("XR-02")
@pytest.mark.parametrize(
    ("action", "path", "body"),
    [
        ("patch", FILE, {"name": "new"}),
        ("post", FILE, {"versionid": "v3"}),
        ("patch", f"{FILE}/versions/v1", {"colour": "blue"}),
        ("delete", f"{FILE}/versions/v2", None),
        ("patch", f"{FILE}/meta", {"defaultversionid": "v1", "labels": {"c": "d"}}),
        ("post", "/", {"dirs": {"d1": {"files": {"f1": {"name": "deep"}}}}}),
    ],
)
def test_a_source_follows_its_target(action: str, path: str, body: Any) -> None:
    made = linked()
    ask(made, action, path, body)
    target, source = shown(made, FILE), shown(made, SOURCE)
    assert source["versions"].keys() == target["versions"].keys()
    for name in ("name", "versionid", "epoch", "modifiedat", "versionscount"):
        assert source.get(name) == target.get(name)
    for name in ("epoch", "labels", "defaultversionid", "defaultversionsticky"):
        assert source["meta"].get(name) == target["meta"].get(name)


@pytest.mark.covers("XR-02")
def test_borrowed_versions_are_found_by_filters() -> None:
    made = linked()
    found = ask(made, "get", "/dirs/d1/files", filter=(("colour=red",),))
    assert sorted(found) == ["f1", "fx"]
    ask(made, "patch", f"{FILE}/versions/v2", {"colour": "blue"})
    assert ask(made, "get", "/dirs/d1/files", filter=(("colour=red",),)) == {}


@pytest.mark.covers("XR-03")
def test_borrowing_is_not_passed_on() -> None:
    made = linked()
    ask(made, "put", "/dirs/d1/files/fy/meta", {"xref": SOURCE})
    found = shown(made, "/dirs/d1/files/fy")
    assert found["meta"].keys() == {"fileid", "self", "xid", "xref"}
    assert "versionid" not in found


@pytest.mark.covers("XR-04")
def test_a_target_may_be_missing_come_and_go() -> None:
    made = files()
    ask(made, "put", SOURCE, {"meta": {"xref": FILE}})
    dangling = shown(made, SOURCE)
    assert dangling["meta"].keys() == {"fileid", "self", "xid", "xref"}
    ask(made, "put", FILE, {"name": "here"})
    assert ask(made, "get", SOURCE)["name"] == "here"
    ask(made, "delete", FILE)
    assert shown(made, SOURCE) == dangling
    ask(made, "put", "/dirs/d2/files/f1", {})
    ask(made, "patch", META, {"xref": "/dirs/d2/files/f1"})
    ask(made, "delete", "/dirs/d2")
    assert shown(made, SOURCE)["meta"].keys() == {"fileid", "self", "xid", "xref"}


@pytest.mark.covers("XR-01", "ME-04")
@pytest.mark.parametrize(
    "xref",
    [
        "dirs/d1/files/f1",
        "/dirs/d1",
        f"{FILE}/versions/v1",
        f"{FILE}/meta",
        "/foos/d1/files/f1",
        "/dirs/d1/foos/f1",
        "/racks/r/books/b",
        5,
        "",
        False,
    ],
)
def test_an_xref_is_the_xid_of_a_resource_of_the_same_type(xref: Any) -> None:
    books = {"singular": "rack", "resources": {"books": {"singular": "book"}}}
    kind = {"singular": "dir", "resources": {"files": {"singular": "file"}}}
    made = registry({"groups": {"dirs": kind, "racks": books}})
    error = refused(made, "put", META, {"xref": xref})
    assert (error.name, error.arguments["xref"]) == ("malformed_xref", str(xref))


@pytest.mark.covers("XR-01", "MD-32")
def test_an_imported_type_is_the_same_type() -> None:
    kind = {"singular": "dir", "resources": {"files": {"singular": "file"}}}
    shelf = {"singular": "shelf", "ximportresources": ["/dirs/files"]}
    made = registry({"groups": {"dirs": kind, "shelves": shelf}})
    ask(made, "put", "/dirs/d1/files/f1$details", {"name": "one"})
    ask(made, "put", "/shelves/s1/files/f1/meta", {"xref": "/dirs/d1/files/f1"})
    assert ask(made, "get", "/shelves/s1/files/f1$details")["name"] == "one"


@pytest.mark.covers("XR-05")
@pytest.mark.parametrize(
    ("path", "body", "name"),
    [
        (SOURCE, {"name": "x", "meta": {"xref": FILE}}, "name"),
        (SOURCE, {"versionid": "v1", "meta": {"xref": FILE}}, "versionid"),
        (SOURCE, {"versions": {"v1": {}}, "meta": {"xref": FILE}}, "versions"),
        (SOURCE, {"meta": {"xref": FILE, "labels": {}}}, "labels"),
        (META, {"xref": FILE, "defaultversionid": "v1"}, "defaultversionid"),
    ],
)
def test_nothing_else_may_come_with_an_xref(path: str, body: Any, name: str) -> None:
    for made in (files(), linked()):
        error = refused(made, "put", path, body)
        assert (error.name, error.subject) == ("extra_xref_attribute", SOURCE)
        assert error.arguments == {"name": name, "singular": "file"}


@pytest.mark.covers("XR-05")
def test_ids_and_an_epoch_may_come_with_an_xref_and_old_versions_go() -> None:
    made = linked()
    other = "/dirs/d1/files/f2"
    ask(made, "post", f"{other}/versions", {"a": {}, "b": {}})
    bad = {"meta": {"xref": FILE, "epoch": 7}}
    assert refused(made, "put", other, bad).name == "mismatched_epoch"
    body = {"fileid": "f2", "self": "x", "meta": {"fileid": "f2", "xref": FILE, "epoch": 1}}
    assert send(made, "put", other, body).outcome == "ok"
    assert sorted(ask(made, "get", f"{other}/versions")) == ["v1", "v2"]


OTHER = "/dirs/d1/files/f2"


@pytest.mark.covers("XR-05", "CA-04")
@pytest.mark.parametrize("action", ["put", "patch"])
@pytest.mark.parametrize(
    ("path", "body", "subject"),
    [
        pytest.param(f"{FILE}/meta", {"xref": OTHER, "fileid": "x"}, f"{FILE}/meta", id="meta"),
        pytest.param(
            FILE, {"meta": {"xref": OTHER, "fileid": "x"}}, f"{FILE}/meta", id="nested meta"
        ),
        pytest.param(FILE, {"fileid": "x", "meta": {"xref": OTHER}}, FILE, id="resource"),
        pytest.param(
            "/dirs/d1",
            {"files": {"f1": {"meta": {"xref": OTHER, "fileid": "x"}}}},
            f"{FILE}/meta",
            id="in a group",
        ),
    ],
)
def test_an_xref_beside_another_id_deletes_nothing(
    action: str, path: str, body: Any, subject: str
) -> None:
    made = linked()
    before = shown(made, FILE)
    error = refused(made, action, path, body)
    assert (error.name, error.subject) == ("mismatched_id", subject)
    assert shown(made, FILE) == before


def test_an_xref_takes_another_id_where_ids_are_ignored() -> None:
    made = linked()
    body = {"xref": SOURCE, "fileid": "other"}
    ask(made, "put", "/dirs/d1/files/f2/meta", body, ignore=("id",))
    assert ask(made, "get", "/dirs/d1/files/f2/meta")["fileid"] == "f2"


@pytest.mark.covers("XR-06")
@pytest.mark.parametrize(
    ("action", "path", "body", "name"),
    [
        ("put", f"{SOURCE}/versions/v1", {}, "bad_request"),
        ("post", SOURCE, {}, "bad_request"),
        ("post", f"{SOURCE}/versions", {"v9": {}}, "bad_request"),
        ("delete", f"{SOURCE}/versions/v1", None, "bad_request"),
        ("delete", f"{SOURCE}/versions", None, "bad_request"),
        ("patch", SOURCE, {"name": "x"}, "extra_xref_attribute"),
        ("patch", META, {"labels": {"x": "y"}}, "extra_xref_attribute"),
    ],
)
def test_borrowed_data_is_written_at_its_target(
    action: str, path: str, body: Any, name: str
) -> None:
    assert refused(linked(), action, path, body).name == name


@pytest.mark.covers("XR-06")
@pytest.mark.parametrize("path", [f"{SOURCE}/versions/v1", f"{SOURCE}/versions"])
def test_a_deletion_of_what_is_borrowed_names_what_was_to_go(path: str) -> None:
    assert refused(linked(), "delete", path).subject == path


@pytest.mark.covers("XR-05", "XR-07")
def test_a_put_without_meta_leaves_the_xref() -> None:
    made = linked()
    ask(made, "put", SOURCE, {})
    assert ask(made, "get", META)["xref"] == FILE


@pytest.mark.covers("XR-07")
@pytest.mark.parametrize(
    ("action", "path", "body"),
    [
        ("put", META, {}),
        ("put", META, {"xref": None}),
        ("patch", META, {"xref": None}),
        ("put", SOURCE, {"meta": {}}),
        ("patch", SOURCE, {"meta": {"xref": None}}),
    ],
)
def test_removing_an_xref_begins_anew(action: str, path: str, body: Any) -> None:
    made = files()
    ask(made, "put", SOURCE, {"name": "old", "meta": {"createdat": year(2001)}})
    for _ in range(3):
        ask(made, "patch", META, {"labels": {"old": "x"}})
    ask(made, "put", FILE, {})
    ask(made, "put", META, {"xref": FILE})
    ask(made, action, path, body)
    found = shown(made, SOURCE)
    assert (found["versionscount"], found["versionid"], "name" in found) == (1, "2", False)
    meta = found["meta"]
    assert ("xref" in meta, "labels" in meta, meta["epoch"]) == (False, False, 5)
    assert (meta["createdat"], meta["modifiedat"]) == (year(2001), found["createdat"])
    assert list(ask(made, "get", f"{SOURCE}/versions")) == ["2"]


@pytest.mark.covers("XR-07", "AL-01")
@pytest.mark.parametrize(
    ("target", "own"),
    [
        pytest.param(["v9"], "1", id="names"),
        pytest.param(["1", "2", "4"], "3", id="numbers"),
        pytest.param([], "1", id="dangling"),
    ],
)
def test_the_first_own_version_has_no_number_that_was_shown(target: list[str], own: str) -> None:
    made = files()
    ask(made, "put", "/dirs/d1", {})
    if target:
        ask(made, "post", f"{FILE}/versions", {id: {} for id in target})  # noqa: A001
    ask(made, "put", META, {"xref": FILE})
    ask(made, "put", META, {})
    assert default(made, SOURCE) == (own, False)


NEW = "/dirs/d1/files/new"
OWN_AGAIN = {"meta": {"xref": None}, "versionid": "v1", "versions": {"v1": {}}}


@pytest.mark.covers("FL-61")
@pytest.mark.parametrize(
    ("action", "path", "body", "subject"),
    [
        pytest.param("put", SOURCE, OWN_AGAIN, META, id="no longer borrowed"),
        pytest.param("post", f"{FILE}/versions", {"v3": {}}, FILE, id="stored"),
        pytest.param("post", f"{NEW}/versions", {"v3": {}}, f"{NEW}/meta", id="new"),
        pytest.param("patch", f"{FILE}/meta", {}, f"{FILE}/meta", id="meta"),
    ],
)
def test_an_unknown_default_is_told_where_it_is_chosen(
    action: str, path: str, body: Any, subject: str
) -> None:
    error = refused(linked(), action, path, body, setdefaultversionid="v9")
    assert (error.name, error.subject) == ("unknown_id", subject)


@pytest.mark.covers("XR-07")
def test_the_epoch_after_an_xref_is_beyond_that_of_the_target() -> None:
    made = linked()
    for _ in range(6):
        ask(made, "patch", f"{FILE}/meta", {})
    shown_before = ask(made, "get", META)["epoch"]
    found = ask(made, "put", SOURCE, {"versionid": "w1", "name": "own", "meta": {}})
    assert (found["versionid"], found["name"]) == ("w1", "own")
    assert ask(made, "get", META)["epoch"] == shown_before + 1
    assert default(made, SOURCE) == ("w1", False)
    ask(made, "patch", FILE, {"name": "target"})
    assert ask(made, "get", SOURCE)["name"] == "own"


@pytest.mark.covers("MD-54")
def test_borrowed_versions_keep_to_the_constraints_of_the_group_they_are_shown_in() -> None:
    made = files(attributes={"kind": {"type": "string"}})
    ask(made, "put", "/dirs/d1", {"constraints": {"files.kind": {"enum": ["a"]}}})
    ask(made, "put", "/dirs/d2/files/f", {"kind": "b"})
    error = refused(made, "put", META, {"xref": "/dirs/d2/files/f"})
    assert (error.name, error.subject) == ("constraint_failure", SOURCE)
    ask(made, "put", "/dirs/d2/files/f", {"kind": "a"})
    ask(made, "put", META, {"xref": "/dirs/d2/files/f"})
    assert refused(made, "put", "/dirs/d2/files/f", {"kind": "b"}).subject == SOURCE


def test_source_and_target_may_come_in_one_request() -> None:
    made = files()
    body = {"fx": {"meta": {"xref": FILE}}, "f1": {"name": "one"}}
    found = ask(made, "post", "/dirs/d1/files", body)
    assert found["fx"]["name"] == "one"


@pytest.mark.covers("XR-04", "DE-03")
def test_what_shows_no_epoch_is_deleted_whatever_epoch_is_named() -> None:
    made = files()
    ask(made, "put", META, {"xref": FILE})
    ask(made, "delete", "/dirs/d1/files", {"fx": {"meta": {"epoch": 7}}})
    ask(made, "put", META, {"xref": FILE})
    ask(made, "delete", SOURCE, epoch="7")
    assert ask(made, "get", "/dirs/d1/files") == {}
