"""Documents that are kept elsewhere and read through the registry: ``<RESOURCE>proxyurl``."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from heraldry.errors import RegistryError
from heraldry.registry.limits import Limits
from heraldry.registry.registry import Registry
from tests.registry.asking import ask, refused
from tests.registry.files import FILE, put_document, send

ADDRESS = "http://docs.example/a"
DETAILS = f"{FILE}$details"
MODEL = {"groups": {"dirs": {"singular": "dir", "resources": {"files": {"singular": "file"}}}}}


def fetched(address: str, subject: str) -> bytes:
    """What the place elsewhere holds."""
    if address != ADDRESS:
        raise RegistryError("bad_request", subject, {"error_detail": "it is not there"})
    return b'{"a":1}'


def opened(**more: Any) -> Registry:
    return Registry.open("sqlite::memory:", model=MODEL, **more)


def test_the_document_is_read_through() -> None:
    made = opened(fetch=fetched)
    ask(made, "put", DETAILS, {"fileproxyurl": ADDRESS, "contenttype": "application/json"})
    reply = send(made, "get", FILE)
    assert reply.document is not None
    assert (reply.outcome, reply.document.content) == ("ok", b'{"a":1}')
    assert reply.document.attributes["fileproxyurl"] == ADDRESS
    assert (reply.volatile, reply.tag) == (True, ""), "it may be another one the next time"
    shown = ask(made, "get", DETAILS, inline=("file",))
    assert (shown["fileproxyurl"], shown["file"]) == (ADDRESS, {"a": 1})
    shown = ask(made, "get", DETAILS, inline=("file",), binary=True)
    assert base64.b64decode(shown["filebase64"]) == b'{"a":1}'


def test_nothing_is_fetched_unless_it_is_allowed() -> None:
    made = opened()
    reply = put_document(made, FILE, fileproxyurl=ADDRESS)
    assert reply.outcome == "created"
    assert reply.document is not None
    assert reply.document.content == b""
    error = refused(made, "get", FILE)
    assert (error.name, error.subject) == ("bad_request", FILE)
    assert ADDRESS in error.arguments["error_detail"]
    shown = ask(made, "get", DETAILS, inline=("file",))
    assert "file" not in shown
    assert "filebase64" not in shown


def test_the_document_view_can_be_read_back() -> None:
    made = opened(fetch=fetched)
    ask(made, "put", DETAILS, {"fileproxyurl": ADDRESS})
    shown = ask(made, "get", "/", inline=(), doc=True)
    version = shown["dirs"]["d1"]["files"]["f1"]["versions"]["1"]
    assert version["fileproxyurl"] == ADDRESS
    assert not {"file", "filebase64"} & version.keys()
    ask(made, "post", "/", {"dirs": shown["dirs"]})


def test_one_request_reads_only_so_many() -> None:
    made = opened(fetch=fetched, limits=Limits(proxied=2))
    for name in ("f1", "f2", "f3"):
        ask(made, "put", f"/dirs/d1/files/{name}$details", {"fileproxyurl": ADDRESS})
    shown = ask(made, "get", "/dirs/d1/files", inline=("file",))
    assert [name for name, one in shown.items() if "filebase64" in one] == ["f1", "f2"]


@pytest.mark.parametrize("other", ["file", "fileurl", "filebase64"])
@pytest.mark.covers("DO-06")
def test_it_is_one_way_among_others(other: str) -> None:
    made = opened(fetch=fetched)
    both = {"fileproxyurl": ADDRESS, other: "YQ=="}
    assert refused(made, "put", DETAILS, both).name == "one_resource"
    ask(made, "put", DETAILS, {other: "YQ=="})
    shown = ask(made, "patch", DETAILS, {"fileproxyurl": ADDRESS}, inline=("file",))
    assert "fileurl" not in shown
    shown = ask(made, "patch", DETAILS, {other: "YQ=="}, inline=("file",))
    assert "fileproxyurl" not in shown
