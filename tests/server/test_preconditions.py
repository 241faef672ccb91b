"""If-Match and If-None-Match on writes."""

from __future__ import annotations

import gzip
from typing import Any

import pytest

from heraldry.dialects.xreg_1_0.wire import RC4
from heraldry.registry.request import Request, Target
from heraldry.server.settings import ServerSettings
from tests.server.calls import Calls, Response

GROUP = "/dirs/d1"
FILE = "/dirs/d1/files/f1"
NOTE = "/dirs/d1/notes/n1"
LONG = "x" * 2000


@pytest.fixture(autouse=True)
def content(calls: Calls) -> None:
    """A group, a file with two versions, and a note; all of them long enough for gzip."""
    calls.put(GROUP, {"description": LONG})
    for version in ("v1", "v2"):
        text = {"Content-Type": "text/plain", "xRegistry-versionid": version}
        calls("PUT", f"{FILE}/versions/{version}", LONG.encode(), text)
    calls.put(NOTE, {"description": LONG})


def tag(calls: Calls, target: str, method: str = "GET", **headers: str) -> str:
    shown = calls(method, target, headers={n.replace("_", "-"): v for n, v in headers.items()})
    return shown.header("ETag") or ""


def failed(answer: Response, name: str = "If-Match") -> bool:
    if answer.status != 412:
        return False
    assert answer.json["type"] == "urn:heraldry:error:precondition_failed"
    assert answer.json["args"] == {"name": name}
    return True


WRITES = [
    pytest.param("PATCH", GROUP, b'{"name":"a"}', id="patch-group"),
    pytest.param("PUT", GROUP, b'{"name":"a"}', id="put-group"),
    pytest.param("POST", GROUP, b'{"files":{"f2":{}}}', id="post-group"),
    pytest.param("DELETE", GROUP, b"", id="delete-group"),
    pytest.param("PATCH", "/", b'{"name":"a"}', id="patch-registry"),
    pytest.param("POST", "/", b'{"dirs":{"d2":{}}}', id="post-registry"),
    pytest.param("POST", "/dirs", b'{"d2":{}}', id="post-groups"),
    pytest.param("DELETE", "/dirs", b"", id="delete-groups"),
    pytest.param("PATCH", NOTE, b'{"name":"a"}', id="patch-note"),
    pytest.param("DELETE", NOTE, b"", id="delete-note"),
    pytest.param("PUT", FILE, b"new", id="put-document"),
    pytest.param("POST", FILE, b"new", id="post-document"),
    pytest.param("DELETE", FILE, b"", id="delete-file"),
    pytest.param("PATCH", f"{FILE}$details", b'{"name":"a"}', id="patch-details"),
    pytest.param("PATCH", f"{FILE}/meta", b'{"deprecated":{}}', id="patch-meta"),
    pytest.param("DELETE", f"{FILE}/versions/v2", b"", id="delete-version"),
    pytest.param("PATCH", f"{FILE}/versions/v2$details", b'{"name":"a"}', id="patch-version"),
    pytest.param("PATCH", f"{FILE}/versions", b'{"v2":{"name":"a"}}', id="patch-versions"),
    pytest.param("PUT", "/modelsource", b'{"groups":{}}', id="put-model"),
    pytest.param("PATCH", "/capabilities", b'{"shortself":true}', id="patch-capabilities"),
]


@pytest.mark.parametrize(("method", "target", "body"), WRITES)
def test_a_tag_that_is_stale_changes_nothing(
    calls: Calls, method: str, target: str, body: bytes
) -> None:
    before = calls.get("/export").body
    for stale in ('"nope"', 'W/"nope"', f"W/{tag(calls, target)}", '"a", "b,c"'):
        assert failed(calls(method, target, body, {"If-Match": stale}))
    assert failed(calls(method, target, body, {"If-None-Match": "*"}), "If-None-Match")
    assert calls.get("/export").body == before


@pytest.mark.parametrize(("method", "target", "body"), WRITES)
@pytest.mark.parametrize(
    "how",
    [
        pytest.param(lambda calls, target: tag(calls, target), id="get"),
        pytest.param(lambda calls, target: tag(calls, target, "HEAD"), id="head"),
        pytest.param(lambda calls, target: tag(calls, target, Accept_Encoding="gzip"), id="gzip"),
        pytest.param(lambda calls, target: f'"x", {tag(calls, target)} ,"y"', id="list"),
        pytest.param(lambda _calls, _target: "*", id="any"),
    ],
)
def test_the_tag_of_what_is_there_lets_a_write_through(
    calls: Calls, method: str, target: str, body: bytes, how: Any
) -> None:
    named = how(calls, target)
    if target == "/modelsource":
        calls("DELETE", "/dirs")
    assert calls(method, target, body, {"If-Match": named}).status in (200, 201, 204)


def test_two_who_have_read_the_same(calls: Calls) -> None:
    both = tag(calls, GROUP)
    first = calls("PATCH", GROUP, b'{"name":"first"}', {"If-Match": both})
    second = calls("PATCH", GROUP, b'{"name":"second"}', {"If-Match": both})
    assert (first.status, failed(second), calls.get(GROUP).json["name"]) == (200, True, "first")
    assert "read it again" in second.json["detail"]


@pytest.mark.parametrize("query", ["", "?specversion=1.0-rc2", "?inline=*", "?doc", "?html"])
def test_a_tag_is_that_of_an_address_with_its_query(calls: Calls, query: str) -> None:
    target = f"{FILE}$details"
    named = {"If-Match": tag(calls, target + query)}
    assert calls("PATCH", target + query, b'{"name":"a"}', named).status == 200
    named = {"If-Match": tag(calls, target + query)}
    if query:
        assert failed(calls("PATCH", target, b'{"name":"a"}', named))
    assert failed(calls("PUT", FILE, b"new", named))


def test_flags_of_writes_change_no_tag(calls: Calls) -> None:
    named = {"If-Match": tag(calls, FILE)}
    assert calls("PUT", f"{FILE}?setdefaultversionid=v1", b"new", named).status == 200
    named = {"If-Match": tag(calls, GROUP)}
    epoch = calls.get(GROUP).json["epoch"]
    assert calls("DELETE", f"{GROUP}?epoch={epoch}", b"", named).status == 204


@pytest.mark.parametrize(
    ("method", "target", "body"),
    [("PUT", "/dirs/d2", b"{}"), ("PUT", "/dirs/d1/files/f2", b"a"), ("PATCH", "/dirs/d2", b"{}")],
)
def test_create_only(calls: Calls, method: str, target: str, body: bytes) -> None:
    assert failed(calls(method, target, body, {"If-Match": "*"}))
    assert failed(calls(method, target, body, {"If-Match": '"a"'}))
    assert calls(method, target, body, {"If-None-Match": "*"}).status == 201
    assert failed(calls(method, target, body, {"If-None-Match": "*"}), "If-None-Match")
    assert calls(method, target, body, {"If-None-Match": '"other"'}).status == 200
    same = tag(calls, target)
    for named in (same, f"W/{same}", f'"x", {same}'):
        assert failed(calls(method, target, body, {"If-None-Match": named}), "If-None-Match")


def test_an_entity_that_came_again_is_another_one(calls: Calls) -> None:
    before = tag(calls, NOTE)
    calls("DELETE", NOTE)
    calls.put(NOTE, {"description": LONG})
    assert failed(calls("DELETE", NOTE, b"", {"If-Match": before}))


@pytest.mark.parametrize(
    ("method", "target", "status"),
    [
        pytest.param("DELETE", "/dirs/none", 404, id="not-there"),
        pytest.param("DELETE", "/dirs/d1/files/none", 404, id="not-there-either"),
        pytest.param("PUT", "/export", 405, id="no-such-method"),
        pytest.param("PATCH", FILE, 405, id="no-patch-of-documents"),
        pytest.param("PUT", "/dirs/%0A", 400, id="no-such-id"),
        pytest.param("PATCH", "/dirs/d1/notes/-", 400, id="no-such-id-either"),
        pytest.param("DELETE", "/nope/d1", 404, id="no-such-type"),
        pytest.param("PUT", "/nope/d1", 404, id="no-such-type-to-write"),
    ],
)
def test_what_fails_anyway_fails_as_ever(
    calls: Calls, method: str, target: str, status: int
) -> None:
    body = b"" if method == "DELETE" else b"{}"
    for named in ({}, {"If-Match": '"nope"'}, {"If-Match": "*"}):
        assert calls(method, target, body, named).status == status


@pytest.mark.parametrize("value", ["nope", '"a', 'w/"a"', '"a" "b"', "*, *", '*, "a"', "", '"a b"'])
@pytest.mark.parametrize("name", ["If-Match", "If-None-Match"])
def test_what_is_no_list_of_tags(calls: Calls, name: str, value: str) -> None:
    refused = calls("DELETE", GROUP, b"", {name: value})
    assert (refused.status, refused.error) == (400, "header_error")
    assert calls.get(GROUP).status == 200


def test_both_must_hold(calls: Calls) -> None:
    now = tag(calls, GROUP)
    both = {"If-Match": now, "If-None-Match": now}
    assert failed(calls("DELETE", GROUP, b"", both), "If-None-Match")
    assert calls("DELETE", GROUP, b"", both | {"If-None-Match": '"x"'}).status == 204


@pytest.mark.parametrize(
    ("method", "target", "body"),
    [
        pytest.param("PATCH", GROUP, b'{"name":"a"}', id="group"),
        pytest.param("PATCH", "/dirs/d9", b'{"name":"a"}', id="new-group"),
        pytest.param("PATCH", f"{FILE}$details", b'{"name":"a"}', id="details"),
        pytest.param("PATCH", f"{FILE}/meta", b'{"labels":{"a":"b"}}', id="meta"),
        pytest.param("PUT", FILE, b"new", id="document"),
        pytest.param("PUT", "/dirs/d1/files/f9", b"new", id="new-document"),
        pytest.param("PUT", f"{FILE}/versions/v9", b"new", id="new-version"),
    ],
)
@pytest.mark.parametrize("packed", ["", "gzip"])
def test_the_tag_of_what_was_written(
    calls: Calls, method: str, target: str, body: bytes, packed: str
) -> None:
    asked = {"Accept-Encoding": packed, "Content-Type": "text/plain"}
    done = calls(method, target, body, asked)
    assert done.status in (200, 201)
    shown = calls("GET", target, headers=asked)
    assert done.header("ETag") == shown.header("ETag") is not None
    again = calls(method, target, body, asked | {"If-Match": done.header("ETag") or ""})
    assert again.status == 200


@pytest.mark.parametrize(
    ("method", "target", "body"),
    [
        pytest.param("PUT", GROUP, b"{}", id="it-is-not-kept-as-it-was-sent"),
        pytest.param("POST", FILE, b"x", id="another-entity"),
        pytest.param("PATCH", "/dirs", b'{"d1":{}}', id="some-of-a-collection"),
    ],
)
def test_writes_whose_reply_is_no_get(calls: Calls, method: str, target: str, body: bytes) -> None:
    done = calls(method, target, body)
    assert (done.status in (200, 201), done.header("ETag")) == (True, None)


def test_a_tag_stands_for_bytes(calls: Calls) -> None:
    plain = calls.get(GROUP)
    packed = calls.get(GROUP, Accept_Encoding="gzip")
    assert gzip.decompress(packed.body) == plain.body
    named = (plain.header("ETag") or "", packed.header("ETag") or "")
    assert named[1] == named[0].removesuffix('"') + '-gzip"'
    assert calls.get(GROUP, If_None_Match=named[0]).status == 304
    assert calls.get(GROUP, If_None_Match=named[0], Accept_Encoding="gzip").status == 200
    assert calls.get(GROUP, If_None_Match=named[1], Accept_Encoding="gzip").status == 304


def test_a_document_that_is_elsewhere_is_not_fetched_for_it() -> None:
    fetched: list[str] = []

    def fetch(address: str, _subject: str) -> bytes:
        fetched.append(address)
        return b"x"

    calls = Calls(ServerSettings(wire=RC4), fetch=fetch)
    calls.put(f"{FILE}$details", {"fileproxyurl": "http://docs.example/a"})
    assert failed(calls("PUT", FILE, b"new", {"If-Match": '"a"'}))
    assert failed(calls("DELETE", FILE, b"", {"If-None-Match": "*"}), "If-None-Match")
    assert fetched == []
    assert calls("DELETE", FILE, b"", {"If-Match": "*"}).status == 204


def test_it_is_asked_in_the_transaction_of_the_write(
    calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What somebody else wrote just before is seen: nothing is compared before the lock is had."""
    stale = tag(calls, GROUP)
    write = calls.registry.store.write

    def after_another(*arguments: Any) -> Any:
        monkeypatch.setattr(calls.registry.store, "write", write)
        other = Request(action="patch", target=Target.parse(GROUP), body={"name": "other"})
        calls.registry.run(other)
        return write(*arguments)

    monkeypatch.setattr(calls.registry.store, "write", after_another)
    assert failed(calls("PATCH", GROUP, b'{"name":"late"}', {"If-Match": stale}))
    assert calls.get(GROUP).json["name"] == "other"
