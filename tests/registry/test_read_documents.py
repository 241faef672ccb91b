"""Documents: inlined among the attributes of a version, or as they are with attributes beside."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heraldry.registry.registry import Registry
from heraldry.registry.request import Document
from tests.registry.asking import ask, registry
from tests.registry.library import BASE, library, reply

MODEL: dict[str, Any] = {
    "groups": {
        "dirs": {
            "singular": "dir",
            "resources": {
                "files": {
                    "singular": "file",
                    "typemap": {"text/x-*": "string", "application/x-bin+json": "binary"},
                    "attributes": {
                        "note": {"type": "string"},
                        "counts": {"type": "map", "item": {"type": "integer"}},
                        "plan": {"type": "object", "attributes": {"*": {"type": "any"}}},
                        "parts": {"type": "array", "item": {"type": "string"}},
                        "*": {"type": "any"},
                    },
                }
            },
        }
    }
}
FILE = "/dirs/d/files/f$details"


def stored(content: bytes, contenttype: str | None) -> Registry:
    made = registry(MODEL)
    encoded = base64.b64encode(content).decode()
    ask(made, "put", FILE, {"filebase64": encoded, "contenttype": contenttype})
    return made


def inlined(made: Registry, **flags: Any) -> dict[str, Any]:
    """The attributes that hold the document, of the resource and of its version alike."""
    shown = ask(made, "get", FILE, inline=("file", "versions.file"), **flags)
    names = ("file", "filebase64", "fileurl")
    found = {name: shown[name] for name in names if name in shown}
    version = shown["versions"]["1"]
    assert found == {name: version[name] for name in names if name in version}
    return found


@pytest.mark.covers("DO-02", "DO-03", "DO-04", "MD-48")
@pytest.mark.parametrize(
    ("content", "contenttype", "value"),
    [
        pytest.param(b'{"a": [1, 2.5]}', "application/json", {"a": [1, 2.5]}, id="json"),
        pytest.param(b"7", "application/vnd.x+JSON; v=1", 7, id="suffix and parameter"),
        pytest.param(b"false", "application/json", False, id="json false"),
        pytest.param(b"{bad", "application/json", None, id="no json"),
        pytest.param(b'"text"', "application/json", None, id="json string"),
        pytest.param(b'{"a": \xff}', "application/json", None, id="no utf-8"),
        pytest.param(b"[" * 100_000, "application/json", None, id="too deep"),
        pytest.param(b"text", "text/plain", "text", id="text"),
        pytest.param(b"text", "text/x-mine", "text", id="typemap"),
        pytest.param(b"\xff", "text/plain", None, id="text that is no utf-8"),
        pytest.param(b"{}", "application/x-bin+json", None, id="typemap says binary"),
        pytest.param(b"{}", "image/png", None, id="unknown type"),
        pytest.param(b"{}", None, None, id="no type"),
    ],
)
def test_inlined(content: bytes, contenttype: str | None, value: Any) -> None:
    encoded = base64.b64encode(content).decode()
    expected = {"filebase64": encoded} if value is None else {"file": value}
    assert inlined(stored(content, contenttype)) == expected


@pytest.mark.covers("KD-4")
@pytest.mark.parametrize("content", [b'"a text"', b"null", b' "x" '])
def test_json_that_would_come_back_as_something_else(content: bytes) -> None:
    assert inlined(stored(content, "application/json")) == {
        "filebase64": base64.b64encode(content).decode()
    }


@pytest.mark.covers("VW-02", "KD-4", "DO-04")
@settings(max_examples=40, deadline=None)
@given(
    content=st.one_of(
        st.binary(max_size=20),
        st.text(max_size=20).map(str.encode),
        st.sampled_from([b"{}", b"[1]", b'"x"', b"null", b"", b"1"]),
    ),
    contenttype=st.sampled_from([None, "application/json", "text/plain", "image/png"]),
)
def test_what_is_shown_can_be_written_back(content: bytes, contenttype: str | None) -> None:
    made = stored(content, contenttype)
    before = ask(made, "get", "/dirs/d/files/f")
    ask(made, "put", FILE, ask(made, "get", FILE, inline=("file",)))
    after = ask(made, "get", "/dirs/d/files/f")
    if after.content != before.content:  # JSON may be written anew (DO-09)
        assert contenttype == "application/json"
        assert inlined(made).keys() == {"file"}
    assert after.contenttype == before.contenttype


@pytest.mark.covers("DO-05", "FL-02")
def test_binary() -> None:
    made = stored(b'{"a":1}', "application/json")
    assert inlined(made, binary=True) == {"filebase64": base64.b64encode(b'{"a":1}').decode()}


@pytest.mark.covers("DO-05")
@pytest.mark.parametrize("attribute", ["file", "filebase64"])
def test_empty(attribute: str) -> None:
    made = registry(MODEL)
    ask(made, "put", FILE, {attribute: ""})
    assert inlined(made) == {"filebase64": ""}


def test_none_at_all() -> None:
    made = registry(MODEL)
    ask(made, "put", FILE, {})
    assert inlined(made) == {}


@pytest.mark.covers("DO-03")
def test_only_where_asked_for() -> None:
    made = stored(b"{}", "application/json")
    shown = ask(made, "get", FILE, inline=("versions",))
    assert "file" not in shown
    assert "file" not in shown["versions"]["1"]
    shown = ask(made, "get", FILE, inline=("versions.file",))
    assert "file" not in shown
    assert shown["versions"]["1"]["file"] == {}
    version = ask(made, "get", "/dirs/d/files/f/versions/1$details", inline=("file",))
    assert version["file"] == {}


@pytest.mark.covers("DO-01", "HT-09")
def test_external() -> None:
    made = registry(MODEL)
    ask(made, "put", FILE, {"fileurl": "http://elsewhere/doc"})
    assert ask(made, "get", FILE)["fileurl"] == "http://elsewhere/doc"
    assert inlined(made) == {"fileurl": "http://elsewhere/doc"}
    for path in ("/dirs/d/files/f", "/dirs/d/files/f/versions/1"):
        answer = reply(made, path)
        assert (answer.outcome, answer.location) == ("elsewhere", "http://elsewhere/doc")
        assert answer.document is not None
        assert answer.document.content == b""
        assert answer.document.attributes["fileurl"] == "http://elsewhere/doc"


class TestBesideTheDocument:
    BODY: dict[str, Any] = {  # noqa: RUF012
        "name": "n",
        "labels": {"a": "b"},
        "note": "x",
        "counts": {"k": 1},
        "plan": {"a": 1},
        "parts": ["p"],
        "free": 3,
        "wild": {"a": 1},
        "contenttype": "text/plain",
        "file": "hello",
    }

    def shown(self, path: str) -> Document:
        made = registry(MODEL)
        ask(made, "put", FILE, self.BODY)
        answer = reply(made, path)
        assert answer.document is not None
        assert answer.content_location == f"{BASE}/dirs/d/files/f/versions/1"
        return answer.document

    @pytest.mark.covers("HB-01", "HB-02", "HB-03", "HB-04", "HB-05", "HT-11")
    def test_of_a_resource(self) -> None:
        found = self.shown("/dirs/d/files/f")
        assert (found.content, found.contenttype) == (b"hello", "text/plain")
        assert list(found.attributes) == [
            *("fileid", "versionid", "self", "xid", "epoch", "name", "isdefault", "labels"),
            *("createdat", "modifiedat", "ancestorid", "counts", "note", "free"),
            *("metaurl", "versionsurl", "versionscount"),
        ]
        assert found.attributes["self"] == f"{BASE}/dirs/d/files/f"

    @pytest.mark.covers("HB-04")
    def test_of_a_version(self) -> None:
        found = self.shown("/dirs/d/files/f/versions/1")
        assert found.attributes["self"] == f"{BASE}/dirs/d/files/f/versions/1"
        assert not {"metaurl", "versionsurl", "versionscount"} & set(found.attributes)


@pytest.mark.covers("HT-00")
def test_without_documents_the_metadata_is_shown() -> None:
    made = library()
    assert ask(made, "get", "/dirs/d1/notes/n1")["noteid"] == "n1"
    assert ask(made, "get", "/dirs/d1/notes/n1$details")["self"] == f"{BASE}/dirs/d1/notes/n1"
