"""Documents in writes: as attributes (DO-06..DO-11) and as bodies with headers (HB-06..HB-08)."""

from __future__ import annotations

from typing import Any

import pytest

from heraldry.dialects.xreg_1_0.wire import WIRES, Wire
from heraldry.registry.registry import Registry
from heraldry.registry.request import Document
from tests.registry.asking import ask, refused
from tests.registry.files import FILE, files, put_document, send

DETAILS = f"{FILE}$details"


def documents(**aspects: Any) -> Registry:
    return files(hasdocument=True, **aspects)


def stored(made: Registry, path: str = FILE) -> bytes:
    found = ask(made, "get", path)
    assert isinstance(found, Document)
    return found.content


def contenttype(made: Registry) -> str | None:
    found: str | None = ask(made, "get", DETAILS).get("contenttype")
    return found


@pytest.mark.covers("DO-06")
@pytest.mark.parametrize(
    "body",
    [
        {"file": "x", "filebase64": "eA=="},
        {"file": {}, "fileurl": "http://file.example"},
        {"filebase64": "eA==", "fileurl": "http://file.example"},
    ],
)
def test_one_document_at_a_time(body: dict[str, Any]) -> None:
    error = refused(documents(), "put", DETAILS, body)
    assert error.name == "one_resource"
    assert error.arguments["list"].startswith("file,filebase64,fileurl")


@pytest.mark.covers("DO-06", "DO-08")
@pytest.mark.parametrize("action", ["put", "patch"])
@pytest.mark.parametrize(
    ("first", "then", "content", "url"),
    [
        ({"file": {"a": 1}}, {"fileurl": "http://file.example"}, b"", True),
        ({"fileurl": "http://file.example"}, {"filebase64": "eHk="}, b"xy", False),
        ({"filebase64": "eHk="}, {"file": None}, b"", False),
        ({"filebase64": "eHk="}, {"fileurl": None}, b"", False),
        ({"fileurl": "http://file.example"}, {"file": None}, b"", False),
        ({"fileurl": "http://file.example"}, {"file": "text", "fileurl": None}, b"text", False),
    ],
)
def test_another_document_takes_the_place_of_the_first(
    action: str, first: Any, then: Any, content: bytes, url: bool
) -> None:
    made = documents()
    ask(made, "put", DETAILS, first)
    found = ask(made, action, DETAILS, then)
    assert ("fileurl" in found) is url
    if not url:
        assert stored(made) == content


@pytest.mark.covers("DO-07", "WR-01")
def test_a_document_stays_until_another_is_given() -> None:
    made = documents()
    ask(made, "put", DETAILS, {"filebase64": "eHk="})
    for action in ("put", "patch"):
        ask(made, action, DETAILS, {"name": action})
        assert stored(made) == b"xy"


@pytest.mark.covers("DO-07")
def test_an_address_stays_in_a_patch_only() -> None:
    made = documents()
    ask(made, "put", DETAILS, {"fileurl": "http://file.example"})
    assert "fileurl" in ask(made, "patch", DETAILS, {"name": "x"})
    assert "fileurl" not in ask(made, "put", DETAILS, {"name": "x"})
    assert stored(made) == b""


@pytest.mark.covers("DO-09")
@pytest.mark.parametrize("value", [{"a": [1, "é"]}, [1, 2], 5, True])
def test_json_values_are_written_out(value: Any) -> None:
    made = documents()
    ask(made, "put", DETAILS, {"file": value})
    assert ask(made, "get", DETAILS, inline=("file",))["file"] == value


@pytest.mark.covers("DO-02")
def test_base64_must_be_base64() -> None:
    for value in ("*", "eHk", 5):
        error = refused(documents(), "put", DETAILS, {"filebase64": value})
        assert (error.name, error.arguments["name"]) == ("invalid_attribute", "filebase64")


@pytest.mark.covers("DO-10")
def test_contenttype_is_set_with_the_document() -> None:
    made = documents()
    ask(made, "put", DETAILS, {"filebase64": "eHk="})
    assert contenttype(made) is None
    ask(made, "patch", DETAILS, {"filebase64": "eHk="})
    assert contenttype(made) == "application/json"
    ask(made, "put", DETAILS, {"file": {}, "contenttype": "application/foo"})
    ask(made, "patch", DETAILS, {"file": {"a": 1}})
    assert contenttype(made) == "application/foo"
    ask(made, "put", DETAILS, {"file": {"a": 1}})
    assert contenttype(made) == "application/json"


@pytest.mark.covers("DO-10", "DO-04")
@pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.specversion)
def test_a_text_is_stored_bare_and_has_the_type_of_the_request(wire: Wire) -> None:
    made = documents()
    ask(made, "put", DETAILS, {"file": "<xs/>", "format": "XSD/1.0"}, wire=wire)
    assert (stored(made), contenttype(made)) == (b"<xs/>", "application/json")
    assert ask(made, "get", DETAILS, inline=("file",))["filebase64"] == "PHhzLz4="
    ask(made, "put", DETAILS, {"file": '{"a": 1}'}, wire=wire)
    assert ask(made, "get", DETAILS, inline=("file",))["file"] == {"a": 1}
    ask(made, "post", FILE, {"versionid": "v2", "file": "text"}, wire=wire)
    assert contenttype(made) == "application/json"
    ask(made, "put", DETAILS, {"file": "text", "contenttype": "text/plain"}, wire=wire)
    assert ask(made, "get", DETAILS, inline=("file",))["file"] == "text"
    ask(made, "patch", DETAILS, {"file": "other"}, wire=wire)
    assert (stored(made), contenttype(made)) == (b"other", "text/plain")


@pytest.mark.covers("DO-11")
def test_without_documents_the_names_are_free() -> None:
    made = files()
    found = ask(made, "put", FILE, {"file": {"a": 1}, "fileurl": 5, "filebase64": "?"})
    assert (found["file"], found["fileurl"], found["filebase64"]) == ({"a": 1}, 5, "?")


@pytest.mark.covers("HB-06", "HB-07", "HB-08")
def test_headers_patch_and_the_body_replaces() -> None:
    made = documents(attributes={"size": {"type": "integer"}, "open": {"type": "boolean"}})
    labels = {"a": "1", "b": "2"}
    reply = put_document(
        made, FILE, b"one", "text/plain", name="n", size="5", open="true", labels=labels
    )
    assert reply.outcome == "created"
    found = ask(made, "get", DETAILS)
    assert (found["size"], found["open"], found["labels"]) == (5, True, labels)
    put_document(made, FILE, b"two", None, name=None, labels={"c": "3"})
    found = ask(made, "get", DETAILS)
    assert (found["size"], found["labels"], "name" in found) == (5, {"c": "3"}, False)
    assert "contenttype" not in found
    assert stored(made) == b"two"
    put_document(made, FILE)
    assert stored(made) == b""


@pytest.mark.covers("HB-08")
def test_a_document_elsewhere_comes_without_a_body() -> None:
    made = documents()
    url = "http://file.example"
    put_document(made, FILE, b"xy")
    put_document(made, FILE, fileurl=url)
    assert ask(made, "get", DETAILS)["fileurl"] == url
    with pytest.raises(Exception, match="extra xregistry header") as caught:
        put_document(made, FILE, b"x", fileurl=url)
    assert caught.value.arguments["name"] == "xRegistry-fileurl"  # type: ignore[attr-defined]
    put_document(made, FILE, b"back", fileurl=None)
    assert "fileurl" not in ask(made, "get", DETAILS)
    assert stored(made) == b"back"


@pytest.mark.covers("HB-06", "T-05")
def test_headers_are_read_by_their_types() -> None:
    made = documents(attributes={"size": {"type": "integer"}})
    with pytest.raises(Exception, match="invalid attribute"):
        put_document(made, FILE, size="five")
    put_document(made, FILE)
    with pytest.raises(Exception, match="mismatched epoch"):
        put_document(made, FILE, epoch="7")
    put_document(made, FILE, epoch="1", fileid="f1", versionid="1")


@pytest.mark.covers("HB-06")
def test_headers_may_write_meta() -> None:
    made = documents()
    put_document(made, FILE, meta={"labels.a.b": "c", "defaultversionsticky": "true"})
    found = ask(made, "get", f"{FILE}/meta")
    assert (found["labels"], found["defaultversionsticky"]) == ({"a.b": "c"}, True)


@pytest.mark.covers("HB-06", "HT-14")
def test_posted_documents_make_versions() -> None:
    made = documents()
    for number in (1, 2):
        reply = send(made, "post", FILE, Document(content=b"%d" % number))
        assert (reply.outcome, reply.location) == (
            "created",
            f"http://reg.example{FILE}/versions/{number}",
        )
    again = Document(content=b"new", attributes={"versionid": "1", "versionscount": "9"})
    assert send(made, "post", FILE, again).outcome == "ok"
    assert stored(made, f"{FILE}/versions/1") == b"new"
    assert stored(made) == b"2"


@pytest.mark.covers("HT-00")
@pytest.mark.parametrize("path", [FILE, f"{FILE}/versions/1"])
def test_documents_are_not_patched(path: str) -> None:
    made = documents()
    put_document(made, FILE, b"x")
    assert refused(made, "patch", path, b"y").name == "details_required"
    assert refused(made, "patch", path, {"name": "x"}).name == "details_required"
    assert ask(made, "patch", f"{path}$details", {"name": "x"})["name"] == "x"


@pytest.mark.covers("DO-07")
def test_documents_that_nobody_needs_are_dropped() -> None:
    made = documents()
    for text in ("one", "two"):
        ask(made, "put", DETAILS, {"file": text})
    with made.store.read() as tx:
        row = tx.find(f"{FILE}/versions/1")
        assert row is not None
        assert tx.document(row.document) == b"two"
        with pytest.raises(Exception, match="missing"):
            tx.document(row.document - 1)
