"""Meta entities: the default version, stickiness, readonly, compatibility (ME)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from heraldry.dialects.xreg_1_0.wire import RC2
from heraldry.registry.registry import Registry
from tests.registry.asking import ask, refused
from tests.registry.files import FILE, default, epochs, files, send, year

META = f"{FILE}/meta"
VERSIONS = f"{FILE}/versions"


def three() -> Registry:
    made = files()
    ask(made, "post", VERSIONS, {"v1": {}, "v2": {}, "v3": {}})
    return made


def lock(made: Registry, path: str = FILE) -> None:
    """Make a file read-only, as only the server itself can."""
    with made.store.write() as tx:
        row = tx.find(path)
        assert row is not None
        tx.save(replace(row, attributes={**row.attributes, "readonly": True}))


@pytest.mark.covers("ME-02")
@pytest.mark.parametrize("action", ["put", "patch"])
def test_meta_of_a_missing_resource_makes_it(action: str) -> None:
    made = files()
    reply = send(made, action, META, {"labels": {"a": "b"}})
    assert (reply.outcome, reply.location) == ("created", f"http://reg.example{META}")
    assert default(made) == ("1", False)
    assert epochs(made) == {"1": 1, "meta": 1}


@pytest.mark.covers("ME-02")
@pytest.mark.parametrize("action", ["delete", "post"])
def test_meta_cannot_be_deleted_or_posted_to(action: str) -> None:
    error = refused(three(), action, META, {} if action == "post" else None)
    assert (error.name, error.arguments) == ("action_not_supported", {"action": action.upper()})


@pytest.mark.covers("ME-09", "ME-10", "ME-11")
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param({"defaultversionid": "v1"}, ("v1", True), id="id alone pins"),
        pytest.param({"defaultversionid": None}, ("v3", False), id="null lets go"),
        pytest.param({"defaultversionsticky": None}, ("v3", False), id="null is false"),
        pytest.param({"defaultversionsticky": False}, ("v3", False), id="false lets go"),
        pytest.param({"labels": {}}, ("v2", True), id="nothing said"),
        pytest.param(
            {"defaultversionid": "nope", "defaultversionsticky": False}, ("v3", False), id="both"
        ),
    ],
)
def test_patch_decides_about_the_default(body: Any, expected: tuple[str, bool]) -> None:
    made = three()
    ask(made, "patch", META, {"defaultversionid": "v2"})
    assert default(made) == ("v2", True)
    ask(made, "patch", META, body)
    assert default(made) == expected


@pytest.mark.covers("ME-11", "ME-13", "ME-09")
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param({}, ("v3", False), id="nothing said"),
        pytest.param({"defaultversionid": "v1"}, ("v3", False), id="id alone is ignored"),
        pytest.param({"defaultversionsticky": True}, ("v3", True), id="newest is pinned"),
        pytest.param({"defaultversionid": "v1", "defaultversionsticky": True}, ("v1", True)),
    ],
)
def test_put_decides_about_the_default(body: Any, expected: tuple[str, bool]) -> None:
    made = three()
    ask(made, "patch", META, {"defaultversionid": "v2"})
    ask(made, "put", META, body)
    assert default(made) == expected


@pytest.mark.covers("ME-07", "ME-12")
def test_default_version_ids_compare_with_case() -> None:
    error = refused(three(), "patch", META, {"defaultversionid": "V1"})
    assert (error.name, error.subject) == ("unknown_id", META)


@pytest.mark.covers("ME-14", "AL-04")
def test_a_new_version_moves_the_default_unless_it_is_sticky() -> None:
    made = three()
    before = ask(made, "get", VERSIONS)
    ask(made, "patch", META, {"defaultversionid": "v1"})
    ask(made, "post", FILE, {"versionid": "v4"})
    assert default(made) == ("v1", True)
    after = ask(made, "get", VERSIONS)
    assert [after[key]["epoch"] for key in before] == [1, 1, 1]
    assert epochs(made)["meta"] == 3


@pytest.mark.covers("ME-09", "MD-41")
def test_nothing_sticks_where_one_version_is_allowed() -> None:
    made = files(maxversions=1)
    ask(made, "put", FILE, {})
    error = refused(made, "patch", META, {"defaultversionsticky": True})
    assert (error.name, error.subject) == ("setdefaultversionsticky_false", FILE)
    assert refused(made, "put", FILE, {}, setdefaultversionid="1").name == error.name


@pytest.mark.covers("MD-43", "FL-63")
def test_a_type_may_forbid_to_choose_the_default() -> None:
    made = files(
        metaattributes={
            "defaultversionsticky": {
                "type": "boolean",
                "enum": [False],
                "required": True,
                "default": False,
            }
        }
    )
    ask(made, "put", FILE, {})
    error = refused(made, "patch", META, {"defaultversionid": "1"})
    assert (error.name, error.arguments["name"]) == ("invalid_attribute", "defaultversionsticky")
    error = refused(made, "post", FILE, {}, setdefaultversionid="request", wire=RC2)
    assert error.name == "setdefaultversionid_not_allowed"
    assert error.arguments == {"singular": "file"}


@pytest.mark.covers("ME-03")
def test_meta_changes_by_its_own_writes_only() -> None:
    made = three()
    ask(made, "patch", FILE, {"name": "x"})
    assert epochs(made)["meta"] == 1
    ask(made, "patch", META, {})
    assert epochs(made)["meta"] == 2
    ask(made, "patch", FILE, {"name": "y", "meta": {}})
    assert epochs(made)["meta"] == 3


@pytest.mark.covers("ME-05")
@pytest.mark.parametrize(
    ("action", "path", "body"),
    [
        ("put", FILE, {}),
        ("patch", FILE, {}),
        ("post", FILE, {}),
        ("put", META, {}),
        ("put", f"{VERSIONS}/v1", {}),
        ("post", VERSIONS, {"v1": {}}),
        ("post", "/dirs/d1/files", {"f1": {}}),
        ("put", "/", {"dirs": {"d1": {"files": {"f1": {}}}}}),
        ("delete", FILE, None),
        ("delete", VERSIONS, None),
        ("delete", f"{VERSIONS}/v1", None),
        ("delete", "/dirs/d1/files", None),
        ("delete", "/dirs/d1", None),
        ("delete", "/dirs", None),
    ],
)
def test_read_only_resources_do_not_change(action: str, path: str, body: Any) -> None:
    made = three()
    lock(made)
    error = refused(made, action, path, body)
    assert (error.name, error.subject) == ("readonly", FILE)


@pytest.mark.covers("ME-05")
def test_readonly_cannot_be_set_by_a_request() -> None:
    made = three()
    assert ask(made, "put", META, {"readonly": True})["readonly"] is False


@pytest.mark.covers("ME-06")
def test_compatibility_none_is_no_compatibility() -> None:
    made = three()
    assert "compatibility" not in ask(made, "put", META, {"compatibility": "None"})
    assert ask(made, "put", META, {"compatibility": "backward"})["compatibility"] == "backward"
    assert refused(made, "put", META, {"compatibility": ""}).name == "invalid_attribute"


@pytest.mark.covers("CA-13", "CA-16")
def test_meta_has_its_own_times() -> None:
    made = three()
    ask(made, "put", META, {"createdat": year(2001), "modifiedat": year(2002)})
    found = ask(made, "get", META)
    assert (found["createdat"], found["modifiedat"]) == (year(2001), year(2002))
    assert ask(made, "get", FILE)["createdat"] > year(2002)


@pytest.mark.covers("RS-05")
def test_meta_null_is_an_empty_meta() -> None:
    made = three()
    ask(made, "patch", META, {"labels": {"a": "b"}})
    ask(made, "put", FILE, {"meta": None})
    assert "labels" not in ask(made, "get", META)
    assert refused(made, "put", FILE, {"meta": 5}).arguments["name"] == "meta"


@pytest.mark.covers("ME-06", "VA-04")
@pytest.mark.parametrize(
    ("path", "body"),
    [
        pytest.param(f"{FILE}/meta", {"compatibility": "sideways"}, id="meta"),
        pytest.param(FILE, {"format": "Avro", "meta": {"compatibility": "sideways"}}, id="nested"),
    ],
)
def test_a_compatibility_that_nobody_knows_is_told_with_the_format(path: str, body: Any) -> None:
    made = files()
    ask(made, "put", FILE, {"format": "Avro"})
    error = refused(made, "put", path, body)
    assert (error.name, error.subject) == ("compatibility_unknown", FILE)
    assert error.arguments == {"compat": "sideways", "format": "Avro"}


@pytest.mark.covers("MD-05")
def test_a_model_that_allows_fewer_compatibilities_is_refused_for_what_is_stored() -> None:
    made = files()
    ask(made, "put", FILE, {"meta": {"compatibility": "backward"}})
    source = ask(made, "get", "/modelsource")
    kind = source["groups"]["dirs"]["resources"]["files"]
    kind["metaattributes"] = {"compatibility": {"type": "string", "enum": ["full"]}}
    assert refused(made, "put", "/modelsource", source).name == "model_compliance_error"
