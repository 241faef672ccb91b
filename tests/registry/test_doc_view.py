"""The document view: pointers instead of addresses, nothing twice."""

from __future__ import annotations

import pytest

from heraldry.dialects.xreg_1_0.wire import RC2, RC4, Wire
from heraldry.registry.registry import Registry
from tests.registry.asking import ask, refused
from tests.registry.library import BASE, library


@pytest.fixture(scope="module")
def shelf() -> Registry:
    made = library()
    ask(made, "put", "/dirs/d2/files/fx/meta", {"xref": "/dirs/d1/files/f1"})
    ask(made, "put", "/dirs/d2/files/gone/meta", {"xref": "/dirs/d1/files/f9"})
    return made


@pytest.mark.covers("FL-21", "CA-05", "KD-26")
@pytest.mark.parametrize(
    ("path", "way", "pointer"),
    [
        ("/", [], "#/"),
        ("/", ["dirs", "d1", "files", "f1"], "#/dirs/d1/files/f1"),
        ("/dirs", ["d1", "files", "f1"], "#/d1/files/f1"),
        ("/dirs/d1", ["files", "f1"], "#/files/f1"),
        ("/dirs/d1", [], "#/"),
        ("/dirs/d1/files", ["f1"], "#/f1"),
        ("/dirs/d1/files/f1", [], "#/"),
        ("/dirs/d1/files/f1", ["meta"], "#/meta"),
        ("/dirs/d1/files/f1", ["versions", "v1"], "#/versions/v1"),
        ("/dirs/d1/files/f1/versions", ["v1"], "#/v1"),
        ("/dirs/d1/files/f1/versions/v1", [], "#/"),
        ("/dirs/d1/files/f1/meta", [], "#/"),
    ],
)
def test_self(shelf: Registry, path: str, way: list[str], pointer: str) -> None:
    found = ask(shelf, "get", path, doc=True, inline=())
    for step in way:
        found = found[step]
    assert found["self"] == pointer


@pytest.mark.covers("FL-21")
def test_pointer_is_escaped() -> None:
    made = library()
    ask(made, "put", "/dirs/a~b", {"files": {"f~1": {}}})
    found = ask(made, "get", "/dirs", doc=True, inline=())
    assert found["a~b"]["files"]["f~1"]["self"] == "#/a~0b/files/f~01"


@pytest.mark.covers("CO-04", "RS-04", "ME-08", "FL-21", "FL-24")
@pytest.mark.parametrize(
    ("inline", "urls"),
    [
        pytest.param(None, ["/meta", "/versions", None], id="nothing"),
        pytest.param(("meta",), ["#/meta", "/versions", "/versions/v2$details"], id="meta"),
        pytest.param(("versions",), ["/meta", "#/versions", None], id="versions"),
        pytest.param(("meta", "versions"), ["#/meta", "#/versions", "#/versions/v2"], id="both"),
    ],
)
def test_pointers_only_to_what_is_there(
    shelf: Registry, inline: tuple[str, ...], urls: list[str | None]
) -> None:
    found = ask(shelf, "get", "/dirs/d1/files/f1", doc=True, inline=inline)
    default = found.get("meta", {}).get("defaultversionurl")
    shown = [found["metaurl"], found["versionsurl"], default]
    absolute = f"{BASE}/dirs/d1/files/f1"
    assert shown == [u if u is None or u[0] == "#" else absolute + u for u in urls]


@pytest.mark.covers("ME-08", "FL-36")
def test_default_version_that_a_filter_left_out(shelf: Registry) -> None:
    given = (("versions.versionid=v1",),)
    found = ask(shelf, "get", "/dirs/d1/files/f1", doc=True, inline=(), filter=given)
    address = f"{BASE}/dirs/d1/files/f1/versions/v2$details"
    assert found["meta"]["defaultversionurl"] == address


@pytest.mark.covers("FL-20", "FL-22", "RS-03")
def test_resource_has_no_attributes_of_its_default_version(shelf: Registry) -> None:
    found = ask(shelf, "get", "/dirs/d1/files/f1", doc=True, inline=("meta",))
    assert list(found) == [
        "fileid",
        "self",
        "xid",
        "metaurl",
        "meta",
        "versionsurl",
        "versionscount",
    ]


@pytest.mark.covers("FL-22")
def test_always_metadata(shelf: Registry) -> None:
    found = ask(shelf, "get", "/dirs/d1/files/f1/versions/v1", doc=True)
    assert found["versionid"] == "v1"


@pytest.mark.covers("FL-20", "KD-20")
def test_versions_do_not_tell_of_validation() -> None:
    made = library()
    source = ask(made, "get", "/modelsource")
    source["groups"]["dirs"]["resources"]["files"] |= {
        "validateformat": True,
        "validatecompatibility": True,
    }
    ask(made, "put", "/modelsource", source)
    body = {"format": "unknown/1", "meta": {"compatibility": "backward"}, "file": {"a": 1}}
    ask(made, "put", "/dirs/d1/files/f5$details", body)
    names = {"formatvalidated", "formatvalidatedreason"} | {
        "compatibilityvalidated",
        "compatibilityvalidatedreason",
    }
    path = "/dirs/d1/files/f5/versions/1$details"
    assert names <= set(ask(made, "get", path))
    assert not names & set(ask(made, "get", path, doc=True))


@pytest.mark.covers("FL-20", "CA-06")
@pytest.mark.parametrize(("wire", "shown"), [(RC2, True), (RC4, False)], ids=["rc2", "rc4"])
def test_shortself(wire: Wire, shown: bool) -> None:
    made = library()
    ask(made, "patch", "/capabilities", {"shortself": True})
    found = ask(made, "get", "/dirs/d1/files/f1", doc=True, inline=(), wire=wire)
    parts = (found, found["meta"], found["versions"]["v1"])
    assert {"shortself" in part for part in parts} == {shown}


class TestXref:
    @pytest.mark.covers("XR-02", "ME-01")
    def test_shows_the_target_as_its_own(self, shelf: Registry) -> None:
        source = ask(shelf, "get", "/dirs/d2/files/fx$details", inline=())
        target = ask(shelf, "get", "/dirs/d1/files/f1$details", inline=())
        assert source["self"] == f"{BASE}/dirs/d2/files/fx$details"
        assert source["fileid"] == source["meta"]["fileid"] == "fx"
        assert source["meta"]["xref"] == "/dirs/d1/files/f1"
        assert list(source["meta"])[3] == "xref"
        assert source["filebase64"] == target["filebase64"]
        assert source["versions"]["v1"]["xid"] == "/dirs/d2/files/fx/versions/v1"
        own = ("fileid", "self", "xid", "metaurl", "meta", "versionsurl", "versions")
        assert {n: v for n, v in source.items() if n not in own} == {
            n: v for n, v in target.items() if n not in own
        }

    @pytest.mark.covers("XR-02")
    def test_filter_finds_it(self, shelf: Registry) -> None:
        given = (("files.versions.name=one",),)
        assert list(ask(shelf, "get", "/dirs", filter=given)) == ["d1", "d2"]
        given = (("files.meta.xref=/dirs/d1/files/f1",),)
        assert list(ask(shelf, "get", "/dirs", filter=given)) == ["d2"]

    @pytest.mark.covers("XR-04")
    def test_that_dangles(self, shelf: Registry) -> None:
        found = ask(shelf, "get", "/dirs/d2/files/gone$details", inline=())
        assert list(found) == ["fileid", "self", "xid", "metaurl", "meta"]
        assert list(found["meta"]) == ["fileid", "self", "xid", "xref"]
        assert ask(shelf, "get", "/dirs/d2/files/gone/versions") == {}
        document = ask(shelf, "get", "/dirs/d2/files/gone")
        assert (document.content, list(document.attributes)) == (
            b"",
            ["fileid", "self", "xid", "metaurl"],
        )

    @pytest.mark.covers("XR-03")
    def test_of_an_xref_dangles(self) -> None:
        made = library()
        ask(made, "put", "/dirs/d2/files/fx/meta", {"xref": "/dirs/d1/files/f1"})
        ask(made, "put", "/dirs/d2/files/fy/meta", {"xref": "/dirs/d2/files/fx"})
        assert list(ask(made, "get", "/dirs/d2/files/fy/meta")) == ["fileid", "self", "xid", "xref"]

    @pytest.mark.covers("XR-08", "FL-23")
    def test_document_has_only_the_reference(self, shelf: Registry) -> None:
        found = ask(shelf, "get", "/dirs/d2/files", doc=True, inline=())["fx"]
        assert found == {
            "fileid": "fx",
            "self": "#/fx",
            "xid": "/dirs/d2/files/fx",
            "metaurl": "#/fx/meta",
            "meta": {
                "fileid": "fx",
                "self": "#/fx/meta",
                "xid": "/dirs/d2/files/fx/meta",
                "xref": "/dirs/d1/files/f1",
            },
        }

    @pytest.mark.covers("XR-09", "FL-23")
    @pytest.mark.parametrize("path", ["/versions", "/versions/v1", "/versions/v1$details"])
    def test_has_no_versions_in_a_document(self, shelf: Registry, path: str) -> None:
        error = refused(shelf, "get", "/dirs/d2/files/fx" + path, doc=True)
        assert (error.name, error.subject) == ("cannot_doc_xref", "/dirs/d2/files/fx")
