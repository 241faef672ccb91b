"""The resource processing algorithm: the outcomes that the specification shows (RP-01..RP-06)."""

from __future__ import annotations

from typing import Any

import pytest

from heraldry.registry.registry import Registry
from tests.registry.asking import ask, refused
from tests.registry.files import FILE, default, epochs, files, lineage, year

pytestmark = pytest.mark.covers("RP-06")


def samples() -> Registry:
    """The model of the specification's samples."""
    return files(versionmode="createdat")


def names(to: Registry) -> dict[str, str | None]:
    found = ask(to, "get", f"{FILE}/versions")
    return {key: version.get("name") for key, version in found.items()}


@pytest.mark.covers("RP-04", "AL-01", "AL-03")
@pytest.mark.parametrize("action", ["put", "patch"])
def test_a_new_resource_with_nothing_gets_version_1(action: str) -> None:
    made = samples()
    found = ask(made, action, FILE, {}, inline=("meta",))
    assert (found["versionid"], found["epoch"], found["ancestorid"]) == ("1", 1, "1")
    assert found["meta"]["epoch"] == 1
    assert default(made) == ("1", False)


@pytest.mark.covers("RP-04", "AL-13")
@pytest.mark.parametrize("action", ["put", "patch"])
def test_b_attributes_without_a_clue_are_dropped_where_there_are_versions(action: str) -> None:
    made = samples()
    ask(made, action, FILE, {"name": "foo", "versions": {"v1": {}, "v2": {}}})
    assert names(made) == {"v1": None, "v2": None}
    assert lineage(made) == {"v1": "v1", "v2": "v1"}
    assert default(made) == ("v2", False)
    assert epochs(made) == {"v1": 1, "v2": 1, "meta": 1}


@pytest.mark.covers("RP-03", "RP-05", "ME-11", "CO-08")
def test_c_a_clue_in_versions_drops_the_attributes() -> None:
    made = samples()
    versions = {"v1": {"createdat": year(2020)}, "v2": {"createdat": year(3030)}, "v3": {}}
    meta = {"defaultversionid": "v1"}
    ask(made, "put", FILE, {"name": "foo", "meta": meta, "versions": versions})
    assert names(made) == {"v1": None, "v2": None, "v3": None}
    assert lineage(made) == {"v1": "v1", "v3": "v1", "v2": "v3"}
    assert default(made) == ("v2", False)


@pytest.mark.covers("RP-03", "RP-05")
def test_d_a_clue_beside_versions_makes_another_version() -> None:
    made = samples()
    meta = {"defaultversionid": "v1"}
    ask(made, "put", FILE, {"name": "foo", "meta": meta, "versions": {"v2": {}, "v3": {}}})
    assert names(made) == {"v1": "foo", "v2": None, "v3": None}
    assert lineage(made) == {"v1": "v1", "v2": "v1", "v3": "v2"}
    assert default(made) == ("v3", False)


@pytest.mark.covers("RP-03", "AL-13")
def test_e_a_versionid_beside_versions_makes_another_version() -> None:
    made = samples()
    versions = {"v1": {"createdat": year(2020)}, "v2": {}}
    ask(made, "put", FILE, {"versionid": "v0", "name": "foo", "versions": versions})
    assert names(made) == {"v0": "foo", "v1": None, "v2": None}
    assert lineage(made) == {"v1": "v1", "v0": "v1", "v2": "v0"}
    assert default(made) == ("v2", False)


@pytest.mark.covers("RP-02", "VE-08", "CA-10", "CA-13", "ME-03")
def test_f_an_existing_default_version_takes_the_attributes() -> None:
    made = samples()
    ask(made, "put", FILE, {"versionid": "v0", "createdat": year(2021)})
    meta = {"defaultversionid": "v1", "defaultversionsticky": True}
    versions = {"v1": {"createdat": year(2020)}, "v2": {}}
    ask(made, "put", FILE, {"name": "foo", "meta": meta, "versions": versions})
    assert names(made) == {"v0": "foo", "v1": None, "v2": None}
    assert lineage(made) == {"v1": "v1", "v0": "v1", "v2": "v0"}
    assert epochs(made) == {"v0": 2, "v1": 1, "v2": 1, "meta": 2}
    assert default(made) == ("v1", True)
    assert ask(made, "get", f"{FILE}/versions/v0")["createdat"] == year(2021)


@pytest.mark.covers("ME-11", "RP-02")
def test_g_an_unknown_default_that_is_not_sticky_is_no_error() -> None:
    made = samples()
    at = {"createdat": year(2025)}
    meta = {"defaultversionid": "v1", "defaultversionsticky": True}
    ask(made, "put", FILE, {"meta": meta, "versions": {"v1": at, "v2": at}})
    body = {
        "name": "foo",
        "meta": {"defaultversionid": "abc"},
        "versions": {"v2": {"createdat": year(2020)}},
    }
    ask(made, "put", FILE, body)
    assert names(made) == {"v1": "foo", "v2": None}
    assert lineage(made) == {"v2": "v2", "v1": "v2"}
    assert default(made) == ("v1", False)
    assert epochs(made) == {"v1": 2, "v2": 2, "meta": 2}


def _two(made: Registry) -> None:
    at = {"createdat": year(2025)}
    ask(made, "post", f"{FILE}/versions", {"v1": at, "v2": at})
    assert default(made) == ("v2", False)


@pytest.mark.covers("ME-13", "CO-08", "VE-08")
def test_h_put_of_sticky_alone_pins_the_newest() -> None:
    made = samples()
    _two(made)
    body = {
        "name": "foo",
        "meta": {"defaultversionsticky": True},
        "versions": {"v2": {"createdat": year(2020)}},
    }
    ask(made, "put", FILE, body)
    assert names(made) == {"v1": None, "v2": None}
    assert lineage(made) == {"v2": "v2", "v1": "v2"}
    assert epochs(made) == {"v1": 2, "v2": 2, "meta": 2}
    assert default(made) == ("v1", True)


@pytest.mark.covers("ME-13", "CO-08", "VE-08")
def test_i_patch_of_sticky_alone_pins_the_current_default() -> None:
    made = samples()
    _two(made)
    body = {
        "name": "foo",
        "meta": {"defaultversionsticky": True},
        "versions": {"v2": {"createdat": year(2020)}},
    }
    ask(made, "patch", FILE, body)
    assert names(made) == {"v1": None, "v2": None}
    assert lineage(made) == {"v2": "v2", "v1": "v2"}
    assert epochs(made) == {"v1": 2, "v2": 2, "meta": 2}
    assert default(made) == ("v2", True)


@pytest.mark.covers("RP-02", "RS-05", "RS-06", "WR-01", "WR-02", "WR-09", "CA-08")
@pytest.mark.parametrize(("action", "name"), [("put", None), ("patch", "my file")])
def test_j_an_empty_write_touches_the_default_version_only(action: str, name: str | None) -> None:
    made = samples()
    ask(made, "put", FILE, {"name": "my file"})
    before = ask(made, "get", f"{FILE}/meta")
    found = ask(made, action, FILE, {})
    assert (found.get("name"), found["epoch"]) == (name, 2)
    assert ask(made, "get", f"{FILE}/meta") == before


@pytest.mark.covers("ME-03", "ME-13")
def test_k_patch_of_sticky_bumps_the_default_version_and_meta() -> None:
    made = samples()
    _two(made)
    ask(made, "patch", FILE, {"meta": {"defaultversionsticky": True}})
    assert epochs(made) == {"v1": 1, "v2": 2, "meta": 2}
    assert default(made) == ("v2", True)


@pytest.mark.covers("ME-03", "ME-14")
def test_l_patch_of_meta_bumps_meta_only() -> None:
    made = samples()
    _two(made)
    body = {"defaultversionid": "v1", "defaultversionsticky": True}
    ask(made, "patch", f"{FILE}/meta", body)
    assert epochs(made) == {"v1": 1, "v2": 1, "meta": 2}
    assert default(made) == ("v1", True)


@pytest.mark.covers("ME-10", "ME-12")
@pytest.mark.parametrize(
    ("action", "meta"),
    [
        pytest.param("patch", {"defaultversionid": "foo"}, id="patch implies sticky"),
        pytest.param("put", {"defaultversionid": "foo", "defaultversionsticky": True}, id="put"),
    ],
)
def test_m_an_unknown_sticky_default_is_refused(action: str, meta: dict[str, Any]) -> None:
    made = samples()
    _two(made)
    error = refused(made, action, FILE, {"meta": meta})
    assert (error.name, error.arguments) == ("unknown_id", {"singular": "version", "id": "foo"})
    assert default(made) == ("v2", False)


@pytest.mark.covers("FL-61", "RP-03")
@pytest.mark.parametrize(
    ("action", "path", "body"),
    [
        pytest.param("put", FILE, {"versions": {"v1": {}, "v2": {}}}, id="resource"),
        pytest.param("post", f"{FILE}/versions", {"v1": {}, "v2": {}}, id="versions"),
    ],
)
def test_n_the_flag_pins_a_version_of_a_new_resource(action: str, path: str, body: Any) -> None:
    made = samples()
    ask(made, action, path, body, setdefaultversionid="v1")
    assert sorted(lineage(made)) == ["v1", "v2"]
    assert default(made) == ("v1", True)


@pytest.mark.covers("RP-03", "RP-05")
@pytest.mark.parametrize(
    ("own", "sticky", "expected"),
    [
        pytest.param({"createdat": year(2021)}, {"defaultversionsticky": True}, ("v1", True)),
        pytest.param({}, {}, ("v2", False)),
    ],
    ids=["sticky", "not sticky"],
)
def test_o_the_two_clues_may_differ(own: Any, sticky: Any, expected: tuple[str, bool]) -> None:
    made = samples()
    body = {
        "versionid": "v0",
        "name": "foo",
        **own,
        "meta": {"defaultversionid": "v1", **sticky},
        "versions": {"v1": {"createdat": year(2020)}, "v2": {}},
    }
    ask(made, "put", FILE, body)
    assert names(made) == {"v0": "foo", "v1": None, "v2": None}
    assert lineage(made) == {"v1": "v1", "v0": "v1", "v2": "v0"}
    assert default(made) == expected


@pytest.mark.covers("CO-08", "ME-13")
def test_p_a_versionid_in_versions_drops_the_attributes() -> None:
    made = samples()
    body = {
        "versionid": "v1",
        "name": "foo",
        "meta": {"defaultversionsticky": True},
        "versions": {"v1": {"name": "abc"}, "v2": {}},
    }
    ask(made, "put", FILE, body)
    assert names(made) == {"v1": "abc", "v2": None}
    assert default(made) == ("v2", True)


@pytest.mark.covers("ME-13", "AL-13")
def test_q_the_newest_after_all_changes_is_pinned() -> None:
    made = samples()
    ask(made, "put", FILE, {"versionid": "v1"})
    body = {
        "name": "foo",
        "createdat": year(1999),
        "meta": {"defaultversionsticky": True},
        "versions": {"v2": {"createdat": year(1998)}},
    }
    ask(made, "put", FILE, body)
    assert names(made) == {"v1": "foo", "v2": None}
    assert lineage(made) == {"v2": "v2", "v1": "v2"}
    assert default(made) == ("v1", True)


@pytest.mark.covers("RP-02", "CA-13", "ME-03")
def test_r_put_of_meta_alone_resets_the_default_version() -> None:
    made = samples()
    ask(made, "put", FILE, {"versionid": "v1", "name": "x", "meta": {"createdat": year(2001)}})
    found = ask(made, "put", FILE, {"meta": {"defaultversionsticky": True}}, inline=("meta",))
    assert "name" not in found
    assert epochs(made) == {"v1": 2, "meta": 2}
    assert default(made) == ("v1", True)
    assert found["meta"]["createdat"] == year(2001)


@pytest.mark.covers("RP-01", "VE-07")
def test_circles_are_judged_at_the_end() -> None:
    made = files()
    ask(made, "post", f"{FILE}/versions", {"v1": {}, "v2": {}, "v3": {}})
    swapped = {"v1": {"ancestorid": "v3"}, "v2": {"ancestorid": "v2"}, "v3": {"ancestorid": "v2"}}
    ask(made, "patch", f"{FILE}/versions", swapped)
    assert lineage(made) == {"v1": "v3", "v2": "v2", "v3": "v2"}
    error = refused(made, "patch", f"{FILE}/versions", {"v2": {"ancestorid": "v1"}})
    assert (error.name, error.subject) == ("ancestor_circular_reference", FILE)
    assert error.arguments == {"list": "v1, v2, v3"}


@pytest.mark.covers("VE-03", "CA-04")
def test_a_versionid_beside_an_existing_default_must_be_the_default() -> None:
    made = files()
    ask(made, "post", f"{FILE}/versions", {"v1": {}, "v2": {}})
    assert ask(made, "patch", FILE, {"versionid": "v2", "name": "x"})["versionid"] == "v2"
    error = refused(made, "put", FILE, {"versionid": "v1"})
    assert (error.name, error.subject) == ("mismatched_id", FILE)
    expected = {"singular": "version", "invalid_id": "v1", "expected_id": "v2"}
    assert error.arguments == expected
