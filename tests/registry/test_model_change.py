"""Changing the model of a registry, with and without entities in it."""

from __future__ import annotations

from typing import Any

import pytest

from heraldry.dialects.xreg_1_0.wire import RC2, RC4
from heraldry.errors import RegistryError
from heraldry.registry.draft import ResourceDraft
from heraldry.registry.registry import Registry
from heraldry.registry.settle import settle
from heraldry.registry.unit import Unit
from tests.registry.asking import ask, changes, refused, registry

FILE = "/dirs/d1/files/f1"


def source(*, group: dict[str, Any] | None = None, **files: Any) -> dict[str, Any]:
    """A model with one type of group and one of resource, and these aspects."""
    type_ = {"singular": "file", "hasdocument": False, **files}
    return {"groups": {"dirs": {"singular": "dir", "resources": {"files": type_}, **(group or {})}}}


@pytest.fixture
def files() -> Registry:
    """A registry of files, with one in it."""
    made = registry(source())
    ask(made, "put", FILE, {"name": "one"})
    return made


def attribute(**aspects: Any) -> dict[str, Any]:
    """A source with the attribute ``size`` on files."""
    return source(attributes={"size": {"type": "integer", **aspects}})


@pytest.mark.covers("RG-06", "MD-02", "MD-61")
def test_the_source_is_kept_as_it_was_given() -> None:
    given = {
        "$schema": "https://example.com/model.schema.json",
        "groups": {"dirs": {"singular": "dir", "$include": "https://example.com/m.json#/more"}},
    }
    included = {"more": {"description": "from afar", "singular": "folder"}}
    empty = registry(include={"https://example.com/m.json": included}.__getitem__)
    assert ask(empty, "put", "/modelsource", given) == given
    assert ask(empty, "get", "/modelsource") == given
    full = ask(empty, "get", "/model")["groups"]["dirs"]
    assert (full["description"], full["singular"]) == ("from afar", "dir")
    assert "$include" not in full


def test_nothing_is_included_unless_it_is_allowed() -> None:
    given = {"groups": {"dirs": {"$include": "https://example.com/m.json"}}}
    error = refused(registry(), "put", "/modelsource", given)
    assert (error.name, error.subject) == ("model_error", "/model")
    assert "https://example.com/m.json" in error.arguments["error_detail"]


@pytest.mark.covers("MD-61")
def test_an_include_is_resolved_once_per_update() -> None:
    loaded: list[str] = []

    def load(address: str) -> dict[str, Any]:
        loaded.append(address)
        return {"singular": "dir"}

    reg = registry(include=load)
    given = {"groups": {"dirs": {"$include": "https://example.com/m.json"}}}
    ask(reg, "put", "/modelsource", given)
    ask(reg, "put", "/dirs/d1", {})
    ask(reg, "get", "/model")
    assert len(loaded) == 1
    ask(reg, "patch", "/", {"modelsource": given})
    assert len(loaded) == 2


@pytest.mark.covers("RG-08", "EV-06")
def test_a_change_is_an_update_of_the_registry_and_is_noted() -> None:
    reg = registry()
    before = ask(reg, "get", "/")["epoch"]
    ask(reg, "put", "/modelsource", source())
    assert ask(reg, "get", "/")["epoch"] == before + 1
    noted = {xid: (action, changed) for action, xid, changed in changes(reg)}
    assert noted["/model"] == noted["/modelsource"] == ("updated", ())
    assert noted["/"][0] == "updated"
    assert {"epoch", "modifiedat", "model", "modelsource"} <= set(noted["/"][1])


@pytest.mark.parametrize("empty", [None, {}], ids=["null", "braces"])
@pytest.mark.parametrize("action", ["put", "patch"])
@pytest.mark.covers("RG-04", "KD-23")
def test_nothing_as_a_source_removes_every_type(action: str, empty: Any) -> None:
    reg = registry(source())
    ask(reg, action, "/", {"modelsource": empty})
    assert ask(reg, "get", "/modelsource") == {}
    assert not ask(reg, "get", "/model").get("groups")


@pytest.mark.covers("RG-04")
def test_a_source_that_is_not_there_changes_nothing() -> None:
    reg = registry(source())
    ask(reg, "put", "/", {"name": "mine", "model": {"groups": {}}})
    assert ask(reg, "get", "/modelsource") == source()


@pytest.mark.parametrize("action", ["put", "patch"])
@pytest.mark.covers("RG-04")
def test_a_source_replaces_the_old_one_as_a_whole(action: str) -> None:
    reg = registry(source())
    ask(reg, action, "/", {"modelsource": {"groups": {"bags": {"singular": "bag"}}}})
    assert list(ask(reg, "get", "/model")["groups"]) == ["bags"]


@pytest.mark.covers("RG-05")
def test_a_source_holds_for_the_entities_beside_it() -> None:
    reg = registry()
    body = {"modelsource": source(), "dirs": {"d1": {"files": {"f1": {"name": "one"}}}}}
    ask(reg, "put", "/", body)
    assert ask(reg, "get", FILE)["name"] == "one"


@pytest.mark.covers("RG-05")
def test_whether_a_source_is_taken_the_capabilities_from_before_say() -> None:
    reg = registry()
    closed = {"available": {"entities": {"mutable": True}}}
    body = {"capabilities": closed, "modelsource": source()}
    ask(reg, "patch", "/", body, confirm=("immutable",))
    assert refused(reg, "put", "/modelsource", {}).name == "not_available"
    ask(reg, "put", "/dirs/d1", {})


@pytest.mark.covers("RG-05", "MD-05")
def test_entities_beside_a_source_may_make_the_registry_comply(files: Registry) -> None:
    needed = attribute(required=True)
    assert refused(files, "put", "/modelsource", needed).name == "model_compliance_error"
    body = {"modelsource": needed, "dirs": {"d1": {"files": {"f1": {"size": 3}}}}}
    ask(files, "patch", "/", body)
    assert ask(files, "get", FILE)["size"] == 3


@pytest.mark.parametrize("body", [[], "text", 3], ids=["array", "text", "number"])
def test_a_source_is_an_object(body: Any) -> None:
    error = refused(registry(), "patch", "/", {"modelsource": body})
    assert (error.name, error.subject) == ("model_error", "/model")


@pytest.mark.parametrize(
    ("stored", "new", "told"),
    [
        pytest.param({}, attribute(required=True), FILE, id="required"),
        pytest.param({"size": 3}, attribute(enum=[1, 2]), "size", id="enum"),
        pytest.param({"size": 3}, attribute(type="boolean"), "size", id="type"),
        pytest.param({"size": 3}, source(), "size", id="unknown"),
    ],
)
@pytest.mark.covers("MD-05")
def test_a_model_that_stored_versions_do_not_fit_is_refused(
    stored: dict[str, Any], new: dict[str, Any], told: str
) -> None:
    reg = registry(attribute())
    ask(reg, "put", FILE, stored)
    error = refused(reg, "put", "/modelsource", new)
    assert (error.name, error.subject) == ("model_compliance_error", "/model")
    assert told in error.detail
    assert ask(reg, "get", "/modelsource") == attribute()


@pytest.mark.parametrize(
    ("path", "new"),
    [
        pytest.param("/", {"attributes": {"size": {"type": "boolean"}}}, id="registry"),
        pytest.param(
            "/dirs/d1",
            source(group={"attributes": {"size": {"type": "boolean"}}}),
            id="group",
        ),
        pytest.param(
            f"{FILE}/meta", source(metaattributes={"size": {"type": "boolean"}}), id="meta"
        ),
    ],
)
@pytest.mark.covers("MD-05")
def test_every_level_must_fit(path: str, new: dict[str, Any]) -> None:
    free = {"*": {"type": "any"}}
    old = source(group={"attributes": free}, metaattributes=free) | {"attributes": free}
    reg = registry(old)
    ask(reg, "put", FILE, {})
    ask(reg, "patch", path, {"size": 3})
    # The registry keeps its types.
    error = refused(reg, "put", "/modelsource", source() | new)
    assert error.name == "model_compliance_error"
    assert "size" in error.detail


@pytest.mark.parametrize(
    ("new", "told"),
    [
        pytest.param({}, "/dirs/d1", id="group"),
        pytest.param({"groups": {"dirs": {"singular": "dir"}}}, FILE, id="resource"),
    ],
)
@pytest.mark.covers("MD-05")
def test_a_type_with_entities_is_not_removed(
    files: Registry, new: dict[str, Any], told: str
) -> None:
    error = refused(files, "put", "/modelsource", new)
    assert error.name == "model_compliance_error"
    assert told in error.detail
    ask(files, "delete", "/dirs/d1")
    ask(files, "put", "/modelsource", new)


@pytest.mark.covers("MD-30", "MD-40")
def test_a_singular_stays(files: Registry) -> None:
    assert refused(files, "put", "/modelsource", source(singular="doc")).name == "model_error"


@pytest.mark.covers("MD-06")
def test_how_a_type_is_told_makes_no_difference() -> None:
    shared = {"singular": "file", "hasdocument": False, "attributes": {"size": {"type": "integer"}}}
    local = {
        "groups": {
            "dirs": {"singular": "dir", "resources": {"files": shared}},
            "bags": {"singular": "bag", "resources": {"files": shared}},
        }
    }
    imported = {
        "groups": {
            "dirs": {"singular": "dir", "resources": {"files": shared}},
            "bags": {"singular": "bag", "ximportresources": ["/dirs/files"]},
        }
    }
    reg = registry(local)
    ask(reg, "put", "/bags/b1/files/f1", {"size": 3})
    for told in (imported, local):
        ask(reg, "put", "/modelsource", told)
        assert ask(reg, "get", "/bags/b1/files/f1")["size"] == 3


@pytest.mark.covers("MD-19")
def test_a_new_default_is_set_where_nothing_was_and_changes_nothing_else(files: Registry) -> None:
    ask(files, "put", "/modelsource", attribute(required=True, default=7))
    found = ask(files, "get", FILE)
    assert (found["size"], found["epoch"]) == (7, 1)
    ask(files, "put", "/modelsource", attribute(required=True, default=8))
    assert ask(files, "get", FILE)["size"] == 7
    assert ask(files, "put", "/dirs/d1/files/f2", {})["size"] == 8


@pytest.mark.covers("AL-21")
def test_fewer_versions_leave_the_newest(files: Registry) -> None:
    ask(files, "post", f"{FILE}/versions", {"2": {}, "3": {}})
    epoch = ask(files, "get", f"{FILE}/meta")["epoch"]
    ask(files, "put", "/modelsource", source(maxversions=2))
    assert list(ask(files, "get", f"{FILE}/versions")) == ["2", "3"]
    assert ask(files, "get", f"{FILE}/meta")["epoch"] == epoch + 1
    assert ("deleted", f"{FILE}/versions/1", ()) in changes(files)


@pytest.mark.covers("AL-21")
def test_a_sticky_default_survives_fewer_versions(files: Registry) -> None:
    ask(files, "post", f"{FILE}/versions", {"2": {}, "3": {}}, setdefaultversionid="1")
    ask(files, "put", "/modelsource", source(maxversions=2))
    assert list(ask(files, "get", f"{FILE}/versions")) == ["1", "3"]


@pytest.mark.covers("MD-41")
def test_one_version_is_too_few_for_a_sticky_default(files: Registry) -> None:
    ask(files, "patch", f"{FILE}/meta", {"defaultversionid": "1"})
    error = refused(files, "put", "/modelsource", source(maxversions=1))
    assert (error.name, error.subject) == ("setdefaultversionsticky_false", FILE)


@pytest.mark.covers("MD-44")
def test_a_type_keeps_its_documents() -> None:
    reg = registry(source(hasdocument=True))
    ask(reg, "put", FILE, b"hello")
    error = refused(reg, "put", "/modelsource", source())
    assert (error.name, error.subject) == ("hasdocument_violation", f"{FILE}/versions/1")
    assert error.arguments == {"plural": "files"}
    ask(reg, "put", FILE, b"")
    ask(reg, "put", "/modelsource", source())


@pytest.mark.covers("MD-44", "DO-11")
def test_an_attribute_does_not_become_a_document() -> None:
    reg = registry(source(attributes={"file": {"type": "string"}}))
    ask(reg, "put", FILE, {"file": "just a word"})
    error = refused(reg, "put", "/modelsource", source(hasdocument=True))
    assert error.name == "model_compliance_error"
    assert f"{FILE}/versions/1" in error.detail


@pytest.mark.covers("AL-20")
def test_a_single_root_is_demanded_of_stored_versions(files: Registry) -> None:
    ask(files, "put", f"{FILE}/versions/2", {"ancestorid": "2"})
    error = refused(files, "put", "/modelsource", source(singleversionroot=True))
    assert (error.name, error.subject) == ("multiple_roots", FILE)


@pytest.mark.covers("MD-16")
def test_equal_values_are_demanded_of_stored_versions() -> None:
    reg = registry(attribute())
    ask(reg, "put", FILE, {"versions": {"1": {"size": 1}, "2": {"size": 2}}})
    error = refused(reg, "put", "/modelsource", attribute(matchversions=True))
    assert (error.name, error.subject) == ("mismatched_version_attribute", FILE)


@pytest.mark.covers("MD-50", "MD-52", "MD-54")
def test_constraints_of_the_type_are_demanded_of_stored_versions() -> None:
    reg = registry(attribute())
    ask(reg, "put", FILE, {"size": 3})
    new = attribute()
    new["groups"]["dirs"]["constraints"] = {"files.size": {"enum": [1, 2]}}
    error = refused(reg, "put", "/modelsource", new)
    assert (error.name, error.subject) == ("constraint_failure", FILE)


@pytest.mark.covers("VA-01", "VE-11", "MD-46")
def test_stored_documents_are_checked_when_validation_begins() -> None:
    reg = registry(source(hasdocument=True))
    ask(reg, "put", f"{FILE}$details", {"format": "JsonSchema/draft-07", "file": {"type": "x"}})
    checked = source(hasdocument=True, validateformat=True)
    error = refused(reg, "put", "/modelsource", checked)
    assert (error.name, error.subject) == ("format_violation", f"{FILE}/versions/1")
    ask(reg, "patch", f"{FILE}$details", {"file": {"type": "string"}})
    epoch = ask(reg, "get", f"{FILE}$details")["epoch"]
    ask(reg, "put", "/modelsource", checked)
    found = ask(reg, "get", f"{FILE}$details")
    assert (found["formatvalidated"], found["epoch"]) == (True, epoch)
    ask(reg, "put", "/modelsource", source(hasdocument=True))
    assert "formatvalidated" not in ask(reg, "get", f"{FILE}$details")


@pytest.mark.covers("AL-16", "CP-08")
def test_a_model_has_no_versionmode_that_the_capabilities_lack() -> None:
    reg = registry()
    ask(reg, "patch", "/capabilities", {"versionmodes": ["manual", "createdat"]})
    ask(reg, "put", "/modelsource", source(versionmode="CreatedAt"))
    error = refused(reg, "put", "/modelsource", source(versionmode="semver"))
    assert error.name == "model_error"
    assert "semver" in error.arguments["error_detail"]


@pytest.mark.covers("CP-10")
def test_sticky_versions_can_be_switched_off() -> None:
    reg = registry()
    ask(reg, "patch", "/capabilities", {"stickyversions": False}, wire=RC2)
    error = refused(reg, "put", "/modelsource", source(), wire=RC2)
    assert error.name == "model_error"
    ask(reg, "put", "/modelsource", source(setdefaultversionsticky=False), wire=RC2)


@pytest.mark.covers("RG-06")
def test_a_source_is_told_in_the_generation_that_asks() -> None:
    reg = registry()
    older = source(consistentformat=True)
    ask(reg, "put", "/modelsource", older, wire=RC2)
    assert ask(reg, "get", "/modelsource", wire=RC2) == older
    newer = ask(reg, "get", "/modelsource", wire=RC4)["groups"]["dirs"]["resources"]["files"]
    assert newer["attributes"]["format"]["matchversions"] is True
    with pytest.raises(RegistryError, match="consistentformat"):
        ask(reg, "put", "/modelsource", older, wire=RC4)


@pytest.mark.covers("GN-01", "MD-05")
def test_a_refused_model_leaves_no_trace(files: Registry) -> None:
    before = ask(files, "get", "/"), changes(files)
    refused(files, "put", "/modelsource", attribute(required=True))
    assert (ask(files, "get", "/"), changes(files)) == before
    assert (
        "size"
        not in ask(files, "get", "/model")["groups"]["dirs"]["resources"]["files"]["attributes"]
    )


def test_types_that_a_change_does_not_concern_are_not_read(
    files: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []

    def counted(unit: Unit, draft: ResourceDraft, *, everything: bool = False) -> None:
        opened.append(draft.xid)
        settle(unit, draft, everything=everything)

    monkeypatch.setattr("heraldry.registry.model_change_compliance.settle", counted)
    described = source()
    described["groups"]["dirs"]["resources"]["files"]["description"] = "Only words"
    described["groups"]["bags"] = {"singular": "bag"}
    ask(files, "put", "/modelsource", described)
    assert opened == []
    ask(files, "put", "/modelsource", attribute())
    assert opened == [FILE]
