"""Flags of writes: ``ignore`` and ``setdefaultversionid`` (FL-40..FL-44, FL-60..FL-63)."""

from __future__ import annotations

from typing import Any

import pytest

from heraldry.registry.registry import Registry
from tests.registry.asking import ask, refused, registry
from tests.registry.files import FILE, default, files, lineage
from tests.registry.test_write_meta import lock

META = f"{FILE}/meta"
VERSIONS = f"{FILE}/versions"


def three() -> Registry:
    made = files()
    ask(made, "post", VERSIONS, {"v1": {}, "v2": {}, "v3": {}})
    return made


@pytest.mark.covers("FL-40")
@pytest.mark.parametrize("known", ["epoch", "*"])
def test_unknown_things_cannot_be_ignored(known: str) -> None:
    error = refused(three(), "put", FILE, {}, ignore=(known, "foo"))
    assert (error.name, error.arguments["value"]) == ("bad_ignore", "foo")


@pytest.mark.covers("FL-40", "FL-41")
@pytest.mark.parametrize("value", [(), ("",), ("*",), ("epoch",), ("id", "epoch"), ("Epoch",)])
def test_epochs_are_ignored(value: tuple[str, ...]) -> None:
    made = three()
    ask(made, "put", FILE, {"epoch": 9}, ignore=value)
    ask(made, "put", "/", {"epoch": 9, "dirs": {"d1": {"epoch": 9}}}, ignore=value)
    ask(made, "delete", f"{VERSIONS}/v1", epoch="9", ignore=value)
    ask(made, "delete", "/dirs", {"d1": {"epoch": 9}}, ignore=value)


@pytest.mark.covers("FL-41")
def test_the_default_version_is_ignored() -> None:
    made = three()
    both = {"defaultversionid": "v1", "defaultversionsticky": True}
    ask(made, "put", META, both, ignore=("defaultversionid",))
    assert default(made) == ("v3", True)
    ask(made, "put", META, both, ignore=("defaultversionsticky",))
    assert default(made) == ("v3", False)
    body = {"meta": {"defaultversionid": "v9"}}
    ask(made, "put", "/dirs/d1/files/f2", body, ignore=("defaultversionid",))
    assert lineage(made, "/dirs/d1/files/f2") == {"1": "1"}


@pytest.mark.covers("FL-41")
def test_settings_are_ignored() -> None:
    made = files()
    before = ask(made, "get", "/capabilities"), ask(made, "get", "/modelsource")
    body = {"capabilities": {"nope": 1}, "modelsource": {"nope": 1}, "name": "x"}
    ask(made, "put", "/", body, ignore=("capabilities", "modelsource"))
    assert ask(made, "get", "/")["name"] == "x"
    assert (ask(made, "get", "/capabilities"), ask(made, "get", "/modelsource")) == before
    assert refused(made, "put", "/", body, ignore=("modelsource",)).name == "capability_unknown"


@pytest.mark.covers("FL-42")
@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/", {"registryid": "x"}),
        ("/dirs/d1", {"dirid": "x"}),
        (FILE, {"fileid": "x"}),
        (META, {"fileid": "x"}),
        (f"{VERSIONS}/v1", {"fileid": "x", "versionid": "x"}),
    ],
)
def test_the_id_of_the_addressed_entity_is_ignored(path: str, body: dict[str, Any]) -> None:
    made = three()
    assert refused(made, "put", path, body).name == "mismatched_id"
    found = ask(made, "put", path, body, ignore=("id",))
    assert "x" not in found.values()


@pytest.mark.covers("FL-42")
@pytest.mark.parametrize(
    ("action", "path", "body"),
    [
        ("put", "/", {"dirs": {"d1": {"dirid": "x"}}}),
        ("put", "/dirs/d1", {"files": {"f1": {"fileid": "x"}}}),
        ("put", FILE, {"versions": {"v1": {"versionid": "x"}}}),
        ("post", "/dirs", {"d1": {"dirid": "x"}}),
        ("post", VERSIONS, {"v1": {"versionid": "x"}}),
    ],
)
def test_nested_ids_still_count(action: str, path: str, body: Any) -> None:
    assert refused(three(), action, path, body, ignore=("id",)).name == "mismatched_id"


@pytest.mark.covers("FL-43")
def test_read_only_resources_are_skipped_in_collections() -> None:
    made = three()
    lock(made)
    body = {"f1": {"name": "x"}, "f2": {"name": "x"}}
    assert list(ask(made, "post", "/dirs/d1/files", body, ignore=("readonly",))) == ["f2"]
    assert "name" not in ask(made, "get", FILE)
    ask(made, "delete", "/dirs/d1/files", ignore=("readonly",))
    assert list(ask(made, "get", "/dirs/d1/files")) == ["f1"]
    assert ask(made, "post", VERSIONS, {"v9": {}}, ignore=("readonly",)) == {}


@pytest.mark.covers("FL-43")
@pytest.mark.parametrize(
    ("action", "path"),
    [("put", FILE), ("put", META), ("put", f"{VERSIONS}/v1"), ("delete", FILE)],
)
def test_a_single_read_only_resource_is_not_skipped(action: str, path: str) -> None:
    made = three()
    lock(made)
    body = {} if action == "put" else None
    assert refused(made, action, path, body, ignore=("readonly",)).name == "bad_flag"


@pytest.mark.covers("FL-44")
@pytest.mark.parametrize("value", ["noepoch", "ignoreepoch"])
def test_older_spellings_are_known(value: str) -> None:
    ask(three(), "put", FILE, {"epoch": 9}, ignore=(value,))


@pytest.mark.covers("HT-06", "CP-05")
def test_flags_that_are_not_supported_have_no_effect() -> None:
    made = three()
    ask(made, "patch", "/capabilities", {"flags": []})
    assert refused(made, "put", FILE, {"epoch": 9}, ignore=("epoch",)).name == "mismatched_epoch"
    ask(made, "put", FILE, {}, setdefaultversionid="v1")
    assert default(made) == ("v3", False)
    ask(made, "delete", f"{VERSIONS}/v1", epoch="9")


@pytest.mark.covers("FL-60", "FL-61")
@pytest.mark.parametrize(
    ("action", "path", "body"),
    [
        ("put", FILE, {"meta": {"defaultversionid": "v2", "defaultversionsticky": True}}),
        ("patch", FILE, {"meta": {"defaultversionid": "v2"}}),
        ("put", META, {"defaultversionid": "v2", "defaultversionsticky": False}),
        ("patch", META, {}),
        ("post", FILE, {}),
        ("post", VERSIONS, {"v2": {}}),
        ("patch", VERSIONS, {}),
        ("put", f"{VERSIONS}/v3", {}),
        ("delete", f"{VERSIONS}/v3", None),
    ],
)
def test_the_flag_overrides_the_body(action: str, path: str, body: Any) -> None:
    made = three()
    ask(made, action, path, body, setdefaultversionid="v1")
    assert default(made) == ("v1", True)
    made = three()
    ask(made, "patch", META, {"defaultversionid": "v1"})
    ask(made, action, path, body, setdefaultversionid="null")
    assert default(made)[1] is False
    error = refused(three(), action, path, body, setdefaultversionid="V1")
    assert (error.name, error.arguments["id"]) == ("unknown_id", "V1")


@pytest.mark.covers("FL-60")
@pytest.mark.parametrize(
    ("action", "path", "body"),
    [
        ("put", "/", {}),
        ("post", "/dirs", {}),
        ("put", "/dirs/d1", {}),
        ("post", "/dirs/d1/files", {"f1": {}}),
        ("delete", "/dirs/d1/files", {}),
        ("delete", FILE, None),
    ],
)
def test_the_flag_is_about_one_resource(action: str, path: str, body: Any) -> None:
    error = refused(three(), action, path, body, setdefaultversionid="v1")
    assert (error.name, error.arguments) == ("bad_flag", {"flag": "setdefaultversionid"})


@pytest.mark.covers("FL-62")
def test_request_is_the_version_that_was_made() -> None:
    made = three()
    found = ask(made, "post", FILE, {}, setdefaultversionid="request")
    assert default(made) == (found["versionid"], True)
    ask(made, "post", FILE, {})
    assert default(made) == ("1", True)


@pytest.mark.covers("FL-62")
@pytest.mark.parametrize(
    ("action", "path", "body", "error"),
    [
        ("put", f"{VERSIONS}/v1", {}, "bad_flag"),
        ("put", META, {}, "bad_flag"),
        ("delete", f"{VERSIONS}/v1", None, "bad_flag"),
        ("post", VERSIONS, {}, "defaultversionid_request"),
        ("post", VERSIONS, {"v8": {}, "v9": {}}, "too_many_versions"),
        ("put", FILE, {"versions": {"v8": {}, "v9": {}}}, "too_many_versions"),
    ],
)
def test_request_needs_exactly_one_version(action: str, path: str, body: Any, error: str) -> None:
    assert refused(three(), action, path, body, setdefaultversionid="request").name == error


@pytest.mark.covers("FL-61", "ME-03")
def test_letting_go_of_a_default_that_is_not_pinned_changes_nothing() -> None:
    made = three()
    before = ask(made, "get", META)
    ask(made, "patch", f"{VERSIONS}/v1", {"name": "x"}, setdefaultversionid="null")
    assert ask(made, "get", META) == before


@pytest.mark.covers("FL-63")
def test_an_empty_flag_is_refused() -> None:
    error = refused(three(), "post", FILE, {}, setdefaultversionid="")
    assert (error.name, error.arguments["value"]) == ("bad_defaultversionid", '""')


@pytest.mark.covers("CP-03")
def test_entities_may_be_read_only_altogether() -> None:
    made = three()
    available = {"capabilities": {"mutable": True}, "entities": {"mutable": False}}
    ask(made, "patch", "/capabilities", {"available": available})
    for action, path, body in (("put", FILE, {}), ("post", "/", {}), ("delete", FILE, None)):
        assert refused(made, action, path, body).name == "not_available"
    assert refused(made, "put", "/modelsource", {}).name == "not_available"
    assert refused(made, "put", "/", {"modelsource": {}}).name == "not_available"
    assert registry() is not None
