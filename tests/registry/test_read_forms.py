"""The forms of entities: which attributes they show, in which order, under which addresses."""

from __future__ import annotations

from typing import Any

import pytest

from heraldry.dialects.xreg_1_0.wire import RC2
from heraldry.registry.registry import Registry
from tests.registry.asking import ask, refused, registry
from tests.registry.library import BASE, MODEL, library, reply


@pytest.fixture(scope="module")
def shelf() -> Registry:
    return library()


FORMS = [
    pytest.param(
        "/",
        [
            "specversion",
            "registryid",
            "self",
            "xid",
            "epoch",
            "name",
            "labels",
            "createdat",
            "modifiedat",
            "owner",
            "dirsurl",
            "dirscount",
            "racksurl",
            "rackscount",
        ],
        marks=pytest.mark.covers("RG-01", "RG-07", "CO-01", "CO-03"),
        id="registry",
    ),
    pytest.param(
        "/dirs/d1",
        [
            "dirid",
            "self",
            "xid",
            "epoch",
            "name",
            "createdat",
            "modifiedat",
            "size",
            "tags",
            "filesurl",
            "filescount",
            "notesurl",
            "notescount",
        ],
        marks=pytest.mark.covers("GR-01", "GR-02"),
        id="group",
    ),
    pytest.param(
        "/dirs/d1/files/f1$details",
        [
            "fileid",
            "versionid",
            "self",
            "xid",
            "epoch",
            "name",
            "isdefault",
            "labels",
            "createdat",
            "modifiedat",
            "ancestorid",
            "contenttype",
            "draft",
            "pages",
            "seen",
            "metaurl",
            "versionsurl",
            "versionscount",
        ],
        marks=pytest.mark.covers("RS-02"),
        id="resource",
    ),
    pytest.param(
        "/dirs/d1/files/f2$details",
        [
            "fileid",
            "versionid",
            "self",
            "xid",
            "epoch",
            "name",
            "isdefault",
            "createdat",
            "modifiedat",
            "ancestorid",
            "pages",
            "alpha",
            "zeta",
            "metaurl",
            "versionsurl",
            "versionscount",
        ],
        id="extensions without a definition by name",
    ),
    pytest.param(
        "/dirs/d1/files/f1/meta",
        [
            "fileid",
            "self",
            "xid",
            "epoch",
            "createdat",
            "modifiedat",
            "readonly",
            "shelf",
            "defaultversionid",
            "defaultversionurl",
            "defaultversionsticky",
        ],
        marks=pytest.mark.covers("ME-01"),
        id="meta",
    ),
    pytest.param(
        "/dirs/d1/files/f1/versions/v1$details",
        [
            "fileid",
            "versionid",
            "self",
            "xid",
            "epoch",
            "name",
            "isdefault",
            "createdat",
            "modifiedat",
            "ancestorid",
            "contenttype",
            "pages",
        ],
        marks=pytest.mark.covers("VE-01"),
        id="version",
    ),
]


@pytest.mark.parametrize(("path", "names"), FORMS)
def test_form(shelf: Registry, path: str, names: list[str]) -> None:
    assert list(ask(shelf, "get", path)) == names


@pytest.mark.covers("CA-05", "CA-07", "RS-04", "ME-08")
@pytest.mark.parametrize(
    ("path", "name", "value"),
    [
        pytest.param("/", "self", "/", id="registry"),
        pytest.param("/", "dirsurl", "/dirs", id="collection"),
        pytest.param("/dirs/d1", "self", "/dirs/d1", id="group"),
        pytest.param("/dirs/d1/files/f1$details", "self", "/dirs/d1/files/f1$details", id="file"),
        pytest.param("/dirs/d1/files/f1$details", "metaurl", "/dirs/d1/files/f1/meta", id="meta"),
        pytest.param("/dirs/d1/notes/n1", "self", "/dirs/d1/notes/n1", id="no document"),
        pytest.param("/dirs/d1/files/f1/meta", "self", "/dirs/d1/files/f1/meta", id="meta self"),
        pytest.param(
            "/dirs/d1/files/f1/meta",
            "defaultversionurl",
            "/dirs/d1/files/f1/versions/v2$details",
            id="default version",
        ),
        pytest.param(
            "/dirs/d1/notes/n1/meta",
            "defaultversionurl",
            "/dirs/d1/notes/n1/versions/1",
            id="default version without document",
        ),
        pytest.param(
            "/dirs/d1/files/f1/versions/v1$details",
            "self",
            "/dirs/d1/files/f1/versions/v1$details",
            id="version",
        ),
    ],
)
def test_address(shelf: Registry, path: str, name: str, value: str) -> None:
    assert ask(shelf, "get", path)[name] == BASE + value


@pytest.mark.covers("CA-07")
@pytest.mark.parametrize(
    "xid",
    [
        "/",
        "/dirs/d1",
        "/dirs/d1/files/f1",
        "/dirs/d1/files/f1/meta",
        "/dirs/d1/files/f1/versions/v1",
    ],
)
def test_xid_has_no_details(shelf: Registry, xid: str) -> None:
    details = "$details" if xid.endswith(("f1", "v1")) else ""
    assert ask(shelf, "get", xid + details)["xid"] == xid


@pytest.mark.covers("RS-02", "RS-06", "RS-07")
def test_resource_shows_its_default_version(shelf: Registry) -> None:
    resource = ask(shelf, "get", "/dirs/d1/files/f1$details")
    version = ask(shelf, "get", "/dirs/d1/files/f1/versions/v2$details")
    own = ("self", "xid", "metaurl", "versionsurl", "versionscount")
    assert {n: v for n, v in resource.items() if n not in own} == {
        n: v for n, v in version.items() if n not in own
    }
    assert resource["isdefault"] is True
    assert resource["versionscount"] == 2


@pytest.mark.covers("VE-01", "VE-04")
def test_only_the_default_version_is_default(shelf: Registry) -> None:
    versions = ask(shelf, "get", "/dirs/d1/files/f1/versions")
    assert {key: one["isdefault"] for key, one in versions.items()} == {"v1": False, "v2": True}


@pytest.mark.covers("T-08")
def test_timestamps_are_shown_in_utc(shelf: Registry) -> None:
    assert ask(shelf, "get", "/dirs/d1/files/f1$details")["seen"] == "2024-05-01T10:00:00Z"


@pytest.mark.covers("RG-02")
def test_specversion_is_the_one_spoken(shelf: Registry) -> None:
    assert ask(shelf, "get", "/")["specversion"] == "1.0-rc4"
    assert ask(shelf, "get", "/", wire=RC2)["specversion"] == "1.0-rc2"


@pytest.mark.covers("VE-05")
def test_names_of_the_generation(shelf: Registry) -> None:
    older = ask(shelf, "get", "/dirs/d1/files/f1/versions/v2$details", wire=RC2)
    assert older["ancestor"] == "v1"
    assert "ancestorid" not in older
    assert list(older).index("ancestor") == list(older).index("modifiedat") + 1


@pytest.mark.covers("RG-03")
def test_settings_only_where_inlined(shelf: Registry) -> None:
    shown = ask(shelf, "get", "/", inline=("model", "capabilities", "modelsource"))
    names = list(shown)
    place = names.index("capabilities")
    assert names[place : place + 4] == ["capabilities", "model", "modelsource", "dirsurl"]
    assert shown["model"] == ask(shelf, "get", "/model")
    assert shown["capabilities"] == ask(shelf, "get", "/capabilities")
    assert "model" not in ask(shelf, "get", "/", inline=("*",))


@pytest.mark.covers("RG-06")
def test_modelsource_as_it_was_given(shelf: Registry) -> None:
    assert ask(shelf, "get", "/modelsource") == MODEL
    assert ask(registry(), "get", "/modelsource") == {}


@pytest.mark.covers("CA-06")
class TestShortself:
    PATHS = ("/dirs/d1", "/dirs/d1/files/f1$details", "/dirs/d1/files/f1/meta")

    def shown(self, shelf: Registry) -> dict[str, Any]:
        return {path: ask(shelf, "get", path).get("shortself") for path in self.PATHS}

    def test_only_where_the_capability_is_on(self) -> None:
        shelf = library()
        assert set(self.shown(shelf).values()) == {None}
        ask(shelf, "patch", "/capabilities", {"shortself": True})
        first = self.shown(shelf)
        assert len(set(first.values())) == len(self.PATHS)
        assert all(short.startswith(f"{BASE}/~") and "$" not in short for short in first.values())
        ask(shelf, "patch", "/capabilities", {"shortself": False})
        ask(shelf, "patch", "/capabilities", {"shortself": True})
        ask(shelf, "patch", "/dirs/d1", {"name": "other"})
        assert self.shown(shelf) == first

    def test_stands_between_self_and_xid(self) -> None:
        shelf = library()
        ask(shelf, "patch", "/capabilities", {"shortself": True})
        assert list(ask(shelf, "get", "/dirs/d1"))[1:4] == ["self", "shortself", "xid"]
        assert ask(shelf, "get", "/")["shortself"] == f"{BASE}/"


@pytest.mark.covers("KD-16", "ER-06")
@pytest.mark.parametrize(
    ("path", "subject"),
    [
        ("/shelves", "/shelves"),
        ("/dirs/d9", "/dirs/d9"),
        ("/dirs/D1", "/dirs/D1"),
        ("/dirs/d1/books", "/dirs/d1/books"),
        ("/dirs/d9/files", "/dirs/d9"),
        ("/dirs/d1/files/f9$details", "/dirs/d1/files/f9$details"),
        ("/dirs/d1/files/f9/meta", "/dirs/d1/files/f9"),
        ("/dirs/d1/files/f9/versions", "/dirs/d1/files/f9"),
        ("/dirs/d1/files/f1/versions/v9", "/dirs/d1/files/f1/versions/v9"),
    ],
)
def test_not_found(shelf: Registry, path: str, subject: str) -> None:
    error = refused(shelf, "get", path)
    assert (error.name, error.subject) == ("not_found", subject)


@pytest.mark.covers("CP-03", "KD-14")
@pytest.mark.parametrize("name", ["modelsource", "export", "capabilitiesoffered"])
def test_what_is_not_available(name: str) -> None:
    shelf = registry(MODEL)
    listed = {name: {"mutable": False} for name in ("capabilities", "entities", "model")}
    ask(shelf, "patch", "/capabilities", {"available": listed}, confirm=("immutable",))
    error = refused(shelf, "get", f"/{name}")
    assert (error.name, error.subject) == ("not_available", f"/{name}")


@pytest.mark.covers("CP-03")
def test_what_is_not_available_cannot_be_inlined() -> None:
    shelf = registry(MODEL)
    listed = {name: {"mutable": False} for name in ("capabilities", "entities", "model")}
    ask(shelf, "patch", "/capabilities", {"available": listed}, confirm=("immutable",))
    assert refused(shelf, "get", "/", inline=("modelsource",)).name == "not_available"


class TestTags:
    def test_changes_with_the_entity(self) -> None:
        shelf = library()
        paths = ("/", "/dirs/d1", "/dirs/d1/files/f1$details", "/dirs/d1/files/f1")
        before = {path: reply(shelf, path).tag for path in paths}
        assert before == {path: reply(shelf, path).tag for path in paths}
        ask(shelf, "patch", "/dirs/d1/files/f1$details", {"name": "new"})
        after = {path: reply(shelf, path).tag for path in paths}
        changed = {path for path in paths if before[path] != after[path]}
        assert changed == {"/dirs/d1/files/f1$details", "/dirs/d1/files/f1"}

    def test_of_a_new_entity_with_an_old_name(self) -> None:
        shelf = library()
        before = reply(shelf, "/dirs/d2/files/f3$details").tag
        ask(shelf, "delete", "/dirs/d2/files/f3")
        ask(shelf, "put", "/dirs/d2/files/f3$details", {"versionid": "1"})
        assert reply(shelf, "/dirs/d2/files/f3$details").tag != before

    def test_of_a_collection_changes_with_every_write(self) -> None:
        shelf = library()
        before = reply(shelf, "/dirs/d1/files").tag
        ask(shelf, "patch", "/dirs/d2", {"name": "new"})
        assert reply(shelf, "/dirs/d1/files").tag != before
