"""Ids, ancestors, order, default and pruning of versions (VE, AL)."""

from __future__ import annotations

from typing import Any

import pytest

from heraldry.dialects.xreg_1_0.wire import RC2
from tests.registry.asking import ask, refused
from tests.registry.files import FILE, default, epochs, files, lineage, year

VERSIONS = f"{FILE}/versions"


@pytest.mark.covers("AL-01")
def test_server_ids_count_up_skip_taken_ones_and_never_come_back() -> None:
    made = files()
    ask(made, "post", FILE, {})
    ask(made, "post", FILE, {"versionid": "2"})
    assert ask(made, "post", FILE, {})["versionid"] == "3"
    ask(made, "delete", f"{VERSIONS}/3")
    assert ask(made, "post", FILE, {})["versionid"] == "4"


@pytest.mark.covers("AL-02", "MD-42")
@pytest.mark.parametrize(
    ("action", "path", "body"),
    [
        pytest.param("put", FILE, {"versionid": "v1"}, id="resource"),
        pytest.param("put", FILE, {"meta": {"defaultversionid": "v1"}}, id="clue"),
        pytest.param("put", FILE, {"versions": {"v1": {}}}, id="nested"),
        pytest.param("post", FILE, {"versionid": "v1"}, id="post"),
        pytest.param("post", VERSIONS, {"v1": {}}, id="collection"),
        pytest.param("put", f"{VERSIONS}/v1", {}, id="version"),
    ],
)
def test_a_client_may_not_choose_ids_where_the_model_says_so(
    action: str, path: str, body: Any
) -> None:
    made = files(setversionid=False)
    error = refused(made, action, path, body)
    assert (error.name, error.subject) == ("versionid_not_allowed", FILE)
    assert error.arguments == {"plural": "files"}
    assert ask(made, "put", FILE, {})["versionid"] == "1"
    assert ask(made, "put", f"{VERSIONS}/1", {"name": "x"})["name"] == "x"


@pytest.mark.covers("VE-02")
@pytest.mark.parametrize("id", ["null", "request"])
def test_reserved_words_are_no_ids(id: str) -> None:  # noqa: A002
    assert refused(files(), "put", f"{VERSIONS}/{id}", {}).name == "malformed_id"


@pytest.mark.covers("VE-05", "AL-10", "AL-11")
def test_manual_new_versions_follow_the_newest_in_the_order_of_their_ids() -> None:
    made = files()
    ask(made, "post", VERSIONS, {"z": {}, "A": {}, "m": {}})
    assert lineage(made) == {"A": "A", "m": "A", "z": "m"}
    ask(made, "post", VERSIONS, {"x": {"ancestorid": "A"}})
    ask(made, "post", VERSIONS, {"b": {}, "c": {"ancestorid": "b"}})
    assert {key: lineage(made)[key] for key in "bcx"} == {"b": "x", "c": "b", "x": "A"}
    assert default(made) == ("c", False)


@pytest.mark.covers("AL-10")
def test_manual_the_newest_is_the_latest_leaf() -> None:
    made = files()
    body = {
        "v1": {"createdat": year(2020), "ancestorid": "v1"},
        "v2": {"createdat": year(2010), "ancestorid": "v1"},
        "a": {"createdat": year(2015), "ancestorid": "a"},
        "B": {"createdat": year(2015), "ancestorid": "B"},
    }
    ask(made, "post", VERSIONS, body)
    assert default(made) == ("B", False)


@pytest.mark.covers("AL-11", "VE-06")
def test_a_version_may_be_its_own_ancestor() -> None:
    made = files()
    ask(made, "post", FILE, {})
    ask(made, "post", FILE, {"ancestorid": "request"})
    ask(made, "put", f"{VERSIONS}/v3", {"ancestorid": "v3"})
    assert lineage(made) == {"1": "1", "2": "2", "v3": "v3"}


@pytest.mark.covers("VE-07", "WR-01")
def test_an_absent_ancestor_stays_and_null_chooses_anew() -> None:
    made = files()
    ask(made, "post", VERSIONS, {"v1": {}, "v2": {}, "v3": {"ancestorid": "v1"}})
    ask(made, "put", f"{VERSIONS}/v3", {"name": "x"})
    assert lineage(made)["v3"] == "v1"
    ask(made, "put", f"{VERSIONS}/v3", {"ancestorid": None})
    assert lineage(made)["v3"] == "v2"


@pytest.mark.covers("VE-07", "AL-11")
@pytest.mark.parametrize(
    ("body", "listed"),
    [
        ({"1": {"ancestorid": "3"}, "2": {}, "3": {}}, "1, 2, 3"),
        ({"1": {"ancestorid": "2"}, "2": {}, "3": {}}, "1, 2"),
        ({"a": {"ancestorid": "b"}, "b": {"ancestorid": "a"}, "c": {"ancestorid": "c"}}, "a, b"),
    ],
)
def test_versions_do_not_descend_from_themselves(body: Any, listed: str) -> None:
    error = refused(files(), "post", VERSIONS, body)
    assert (error.name, error.subject) == ("ancestor_circular_reference", FILE)
    assert error.arguments == {"list": listed}


@pytest.mark.covers("VE-05")
def test_an_ancestor_has_one_name() -> None:
    made = files()
    body = {"ancestor": "v1", "ancestorid": "v2"}
    error = refused(made, "put", f"{VERSIONS}/v1", body, wire=RC2)
    assert (error.name, error.arguments["name"]) == ("invalid_attribute", "ancestor")
    assert ask(made, "put", f"{VERSIONS}/v1", {"ancestor": "v1"}, wire=RC2)["ancestor"] == "v1"


@pytest.mark.covers("VE-07")
def test_an_unknown_ancestor_is_refused() -> None:
    made = files()
    error = refused(made, "put", FILE, {"versionid": "v1", "ancestorid": "V1"})
    assert (error.name, error.subject) == ("unknown_id", FILE)
    assert error.arguments == {"singular": "version", "id": "V1"}


@pytest.mark.covers("VE-08", "GN-09", "AL-12")
def test_manual_versions_whose_ancestor_goes_become_roots_and_that_is_an_update() -> None:
    made = files()
    ask(made, "post", VERSIONS, {"v1": {}, "v2": {}, "v3": {}})
    before = ask(made, "get", f"{VERSIONS}/v2")
    ask(made, "delete", f"{VERSIONS}/v1")
    after = ask(made, "get", f"{VERSIONS}/v2")
    assert lineage(made) == {"v2": "v2", "v3": "v2"}
    assert after["epoch"] == before["epoch"] + 1
    assert after["modifiedat"] > before["modifiedat"]
    assert epochs(made) == {"v2": 2, "v3": 1, "meta": 2}


@pytest.mark.covers("AL-13")
def test_createdat_orders_all_versions_after_every_write() -> None:
    made = files(versionmode="createdat")
    body = {"a": {"createdat": year(2003)}, "B": {"createdat": year(2001)}, "c": {}}
    ask(made, "post", VERSIONS, {**body, "d": {"createdat": year(2001), "ancestorid": "zzz"}})
    assert lineage(made) == {"B": "B", "d": "B", "a": "d", "c": "a"}
    ask(made, "patch", f"{VERSIONS}/B", {"createdat": year(3000)})
    assert lineage(made) == {"d": "d", "a": "d", "c": "a", "B": "c"}
    assert default(made) == ("B", False)
    ask(made, "delete", f"{VERSIONS}/a")
    assert lineage(made) == {"d": "d", "c": "d", "B": "c"}


@pytest.mark.covers("AL-14")
def test_modifiedat_orders_by_the_last_touch() -> None:
    made = files(versionmode="modifiedat")
    body = {key: {"modifiedat": year(at)} for key, at in {"a": 2001, "b": 2002, "c": 2003}.items()}
    ask(made, "post", VERSIONS, body)
    assert lineage(made) == {"a": "a", "b": "a", "c": "b"}
    ask(made, "patch", f"{VERSIONS}/c", {})
    assert lineage(made) == {"a": "a", "b": "a", "c": "b"}
    assert epochs(made) == {"a": 1, "b": 1, "c": 2, "meta": 1}
    ask(made, "patch", f"{VERSIONS}/b", {"modifiedat": year(2000)})
    found = ask(made, "get", VERSIONS)
    order = sorted(found, key=lambda key: (found[key]["modifiedat"], key))
    assert [found[key]["ancestorid"] for key in order] == [order[0], *order[:-1]]
    assert default(made) == (order[-1], False)


@pytest.mark.covers("AL-15")
def test_semver_orders_by_precedence() -> None:
    made = files(versionmode="semver")
    order = ["1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta.2", "1.0.0-beta.11"]
    order += ["1.0.0-rc.1", "1.0.0", "1.2.0", "1.10.0", "2.0.0"]
    ask(made, "post", VERSIONS, {key: {} for key in sorted(order)})
    assert [lineage(made)[key] for key in order] == [order[0], *order[:-1]]
    assert default(made) == ("2.0.0", False)
    ask(made, "delete", f"{VERSIONS}/2.0.0")
    assert default(made) == ("1.10.0", False)


@pytest.mark.covers("AL-20")
def test_a_second_root_is_refused_where_one_is_allowed() -> None:
    made = files(singleversionroot=True)
    ask(made, "post", VERSIONS, {"v1": {}, "v2": {}, "v3": {"ancestorid": "v1"}})
    error = refused(made, "patch", f"{VERSIONS}/v2", {"ancestorid": "v2"})
    assert (error.name, error.subject, error.arguments) == (
        "multiple_roots",
        FILE,
        {"plural": "files"},
    )
    assert refused(made, "delete", f"{VERSIONS}/v1").name == "multiple_roots"
    ask(made, "post", VERSIONS, {"v1": {"ancestorid": "v2"}, "v2": {"ancestorid": "v2"}})
    assert lineage(made) == {"v1": "v2", "v2": "v2", "v3": "v1"}


@pytest.mark.covers("AL-21", "CA-10")
def test_the_oldest_versions_go_when_there_are_too_many() -> None:
    made = files(maxversions=3)
    ask(made, "post", VERSIONS, {f"v{n}": {} for n in range(1, 6)})
    assert lineage(made) == {"v3": "v3", "v4": "v3", "v5": "v4"}
    ask(made, "post", FILE, {"versionid": "v6"})
    assert lineage(made) == {"v4": "v4", "v5": "v4", "v6": "v5"}
    assert epochs(made)["meta"] == 2


@pytest.mark.covers("AL-21")
def test_the_default_version_is_not_pruned() -> None:
    made = files(maxversions=2)
    ask(made, "post", VERSIONS, {"v1": {}, "v2": {}}, setdefaultversionid="v1")
    ask(made, "post", FILE, {"versionid": "v3"})
    assert sorted(lineage(made)) == ["v1", "v3"]
    assert default(made) == ("v1", True)


@pytest.mark.covers("AL-21")
def test_where_one_version_is_allowed_the_new_one_replaces_it() -> None:
    made = files(maxversions=1, versionmode="createdat")
    ask(made, "put", FILE, {"versionid": "v1"})
    ask(made, "put", f"{VERSIONS}/v2", {"createdat": year(1990)})
    assert lineage(made) == {"v2": "v2"}
    assert default(made) == ("v2", False)


@pytest.mark.covers("AL-22")
def test_pruning_that_would_leave_two_roots_is_refused() -> None:
    made = files(maxversions=3, singleversionroot=True)
    body = {"v1": {}, "v2": {"ancestorid": "v1"}, "v3": {"ancestorid": "v1"}}
    ask(made, "post", VERSIONS, body)
    assert refused(made, "post", FILE, {"versionid": "v4"}).name == "multiple_roots"
    assert sorted(lineage(made)) == ["v1", "v2", "v3"]


@pytest.mark.covers("AL-23")
def test_nothing_is_pruned_without_a_limit() -> None:
    made = files()
    ask(made, "post", VERSIONS, {f"v{n}": {} for n in range(30)})
    assert len(lineage(made)) == 30


@pytest.mark.covers("AL-04")
def test_deleting_a_sticky_default_goes_back_to_the_newest() -> None:
    made = files()
    ask(made, "post", VERSIONS, {"v1": {}, "v2": {}, "v3": {}}, setdefaultversionid="v1")
    ask(made, "delete", f"{VERSIONS}/v1")
    assert default(made) == ("v3", False)
    ask(made, "post", FILE, {"versionid": "v4"})
    assert default(made) == ("v4", False)


@pytest.mark.covers("AL-24")
@pytest.mark.parametrize("path", [VERSIONS, f"{VERSIONS}/1"])
def test_with_its_last_version_a_resource_goes(path: str) -> None:
    made = files()
    ask(made, "put", FILE, {})
    ask(made, "delete", path)
    assert refused(made, "get", FILE).name == "not_found"
    assert ask(made, "get", "/dirs/d1")["filescount"] == 0


@pytest.mark.covers("CA-03")
@pytest.mark.parametrize(
    ("path", "other"),
    [
        pytest.param("/dirs/d1", "/dirs/D1", id="group"),
        pytest.param(FILE, "/dirs/d1/files/F1", id="resource"),
        pytest.param(f"{VERSIONS}/v1", f"{VERSIONS}/V1", id="version"),
    ],
)
def test_ids_that_differ_by_case_only_are_refused(path: str, other: str) -> None:
    made = files()
    ask(made, "put", path, {})
    assert refused(made, "put", other, {}).name == "bad_request"
    assert refused(made, "get", other).name == "not_found"


@pytest.mark.covers("CA-03")
def test_ids_in_one_request_differ_by_more_than_case() -> None:
    made = files()
    body = {"dirs": {"d1": {"files": {"f1": {}, "F1": {}}}}}
    assert refused(made, "post", "/", body).name == "bad_request"
    assert refused(made, "post", VERSIONS, {"v1": {}, "V1": {}}).name == "bad_request"
    assert refused(made, "post", "/dirs", {"x": {}, "X": {}}).name == "bad_request"


@pytest.mark.covers("A-11")
@pytest.mark.parametrize("name", ["meta", "metaurl", "versions", "versionsurl", "versionscount"])
def test_a_version_has_no_extension_with_a_name_of_its_resource(name: str) -> None:
    error = refused(files(), "put", f"{VERSIONS}/v1", {name: "x"})
    assert (error.name, error.arguments["name"]) == ("invalid_attribute", name)
