"""Replies to writes: outcome, addresses, and what they show (HT-10..HT-15)."""

from __future__ import annotations

from typing import Any

import pytest

from heraldry.registry.registry import Registry
from tests.registry.asking import ask, refused
from tests.registry.files import BASE, FILE, files, put_document, send

VERSION = f"{FILE}/versions/v1"


def documents() -> Registry:
    return files(hasdocument=True)


@pytest.mark.covers("HT-10", "HT-11")
@pytest.mark.parametrize("action", ["put", "patch"])
@pytest.mark.parametrize(
    ("path", "version"),
    [
        ("/dirs/d1", ""),
        (f"{FILE}$details", f"{FILE}/versions/1$details"),
        (f"{FILE}/meta", ""),
        (f"{VERSION}$details", f"{VERSION}$details"),
    ],
)
def test_what_was_created_has_an_address(action: str, path: str, version: str) -> None:
    made = documents()
    reply = send(made, action, path, {})
    assert (reply.outcome, reply.location) == ("created", BASE + path)
    assert reply.content_location == (BASE + version if version else "")
    reply = send(made, action, path, {})
    assert (reply.outcome, reply.location) == ("ok", "")


@pytest.mark.covers("HT-10", "HT-11")
@pytest.mark.parametrize("path", [FILE, VERSION])
def test_created_documents_have_plain_addresses(path: str) -> None:
    made = documents()
    reply = put_document(made, path, b"x")
    version = path if path == VERSION else f"{FILE}/versions/1"
    assert (reply.outcome, reply.location) == ("created", BASE + path)
    assert reply.content_location == BASE + version
    assert put_document(made, path, b"y").outcome == "ok"


@pytest.mark.covers("HT-08", "HT-10")
def test_details_mean_nothing_without_documents() -> None:
    made = files()
    assert send(made, "put", f"{FILE}$details", {}).location == BASE + FILE
    assert send(made, "put", f"{VERSION}$details", {}).location == BASE + VERSION


@pytest.mark.covers("HT-10", "HT-12", "HT-14")
@pytest.mark.parametrize("path", [FILE, f"{FILE}$details"])
def test_post_to_a_resource_answers_with_the_version(path: str) -> None:
    made = files()
    for id in ("1", "2"):  # noqa: A001
        reply = send(made, "post", path, {"versionscount": 7, "metaurl": "x"})
        assert (reply.outcome, reply.location) == ("created", f"{BASE}{FILE}/versions/{id}")
        assert reply.body["versionid"] == id
    reply = send(made, "post", path, {"versionid": "1", "name": "again"})
    assert (reply.outcome, reply.body["name"], reply.body["isdefault"]) == ("ok", "again", False)


@pytest.mark.covers("HT-10", "HT-12")
@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/dirs", {"d1": {}, "d2": {}}),
        ("/dirs/d1/files", {"f1": {}, "f2": {}}),
        (f"{FILE}/versions", {"v1": {}, "v2": {}}),
    ],
)
def test_collections_answer_with_what_was_processed(path: str, body: Any) -> None:
    made = files()
    ask(made, "post", path, {"zz": {}})
    for action in ("post", "patch"):
        reply = send(made, action, path, body)
        assert reply.outcome == "ok"
        assert list(reply.body) == list(body)
        assert ask(made, action, path, {}) == {}


@pytest.mark.covers("HT-12")
def test_replies_honour_flags_and_inline_nothing_by_themselves() -> None:
    made = files()
    assert not {"meta", "versions"} & ask(made, "put", FILE, {}).keys()
    assert {"meta", "versions"} <= ask(made, "put", FILE, {}, inline=()).keys()
    found = ask(made, "post", "/dirs", {"d1": {}}, inline=("files",))
    assert list(found["d1"]["files"]) == ["f1"]


@pytest.mark.covers("HT-15")
@pytest.mark.parametrize("action", ["post", "patch"])
def test_a_resource_is_not_made_without_versions(action: str) -> None:
    made = files()
    error = refused(made, action, f"{FILE}/versions", {})
    assert error.name == "missing_versions"
    assert refused(made, "get", "/dirs/d1").name == "not_found"


@pytest.mark.covers("HT-02")
@pytest.mark.parametrize(
    ("action", "path"),
    [
        ("delete", "/"),
        ("post", "/capabilities"),
        ("put", "/capabilitiesoffered"),
        ("put", "/model"),
        ("patch", "/modelsource"),
        ("put", "/export"),
        ("put", "/dirs"),
        ("post", VERSION),
    ],
)
def test_actions_that_a_path_does_not_have(action: str, path: str) -> None:
    error = refused(files(), action, path, {})
    assert (error.name, error.arguments) == ("action_not_supported", {"action": action.upper()})
