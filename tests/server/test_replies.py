"""Responses: status, places, pages, ETag, compression, the cache."""

from __future__ import annotations

import gzip
import threading
from dataclasses import replace

import msgspec
import pytest

from heraldry.dialects.xreg_1_0.wire import RC4
from heraldry.registry.request import Document, Reply, Request
from heraldry.server.settings import ServerSettings
from tests.server.calls import Calls

ROOT = "http://localhost:8080"


@pytest.mark.covers("HT-10", "HT-11")
def test_a_created_entity_has_a_location(calls: Calls) -> None:
    created = calls.put("/dirs/d1", {})
    assert (created.status, created.header("Location")) == (201, f"{ROOT}/dirs/d1")
    again = calls.put("/dirs/d1", {})
    assert (again.status, again.header("Location")) == (200, None)
    file = calls.put("/dirs/d1/files/f1$details", {})
    assert file.header("Location") == f"{ROOT}/dirs/d1/files/f1$details"
    assert file.header("Content-Location") == f"{ROOT}/dirs/d1/files/f1/versions/1$details"
    document = calls("PUT", "/dirs/d1/files/f2", b"x")
    assert document.header("Location") == f"{ROOT}/dirs/d1/files/f2"
    assert document.header("Content-Location") == f"{ROOT}/dirs/d1/files/f2/versions/1"


@pytest.mark.covers("HT-13")
def test_a_deletion_has_no_body(calls: Calls) -> None:
    calls.put("/dirs/d1", {})
    done = calls("DELETE", "/dirs/d1")
    assert (done.status, done.body, done.header("Content-Type")) == (204, b"", None)


@pytest.mark.covers("DE-02")
def test_deleting_a_collection_reads_its_body(calls: Calls) -> None:
    for name in ("a", "b", "c"):
        calls.put(f"/dirs/{name}", {})
    assert calls("DELETE", "/dirs", b'{"b": {}}').status == 204
    assert list(calls.get("/dirs").json) == ["a", "c"]
    assert calls("DELETE", "/dirs", b"{").error == "parsing_data"
    assert calls("DELETE", "/dirs").status == 204
    assert calls.get("/dirs").json == {}


@pytest.mark.covers("PG-01", "PG-02", "PG-03", "PG-04", "PG-05")
def test_pages_are_linked(calls: Calls) -> None:
    calls("POST", "/dirs", b'{"a":{},"b":{},"c":{},"d":{},"e":{}}')
    target, pages, links = "/dirs?limit=2&foo=a%20b", [], []
    while target:
        page = calls.get(target)
        assert page.status == 200
        pages.append(list(page.json))
        links = [link for link in page.all("Link") if "rel=next" in link]
        target = links[0][1:].partition(">")[0].removeprefix(ROOT) if links else ""
        assert not links or links[0].endswith(";rel=next;count=5")
    assert pages == [["a", "b"], ["c", "d"], ["e"]]


@pytest.mark.covers("PG-05")
def test_an_entity_has_no_pages(calls: Calls) -> None:
    calls.put("/dirs/d1", {})
    shown = calls.get("/dirs/d1?limit=1")
    assert len(shown.all("Link")) == 1


@pytest.mark.parametrize(
    "target", ["/", "/dirs/d1", "/dirs", "/export", "/model", "/dirs/d1/files/f1"]
)
def test_an_etag_stands_for_what_is_shown(calls: Calls, target: str) -> None:
    calls.put("/dirs/d1", {})
    calls("PUT", "/dirs/d1/files/f1", b"x", {"xRegistry-name": "a"})
    shown = calls.get(target)
    etag = shown.header("ETag")
    assert etag is not None
    assert etag.startswith('"')
    for value in (etag, f"W/{etag}", f'"x, y", {etag}', "*"):
        same = calls.get(target, If_None_Match=value)
        assert (same.status, same.body, same.header("ETag")) == (304, b"", etag)
        assert same.header("Content-Type") is None
    assert calls.get(target, If_None_Match='"x"').status == 200
    assert calls("HEAD", target, headers={"If-None-Match": etag}).status == 304


def test_an_etag_changes_with_what_is_shown(calls: Calls) -> None:
    calls("PUT", "/dirs/d1/files/f1", b"x")
    before = calls.get("/dirs/d1/files/f1").header("ETag")
    calls("PUT", "/dirs/d1/files/f1", b"y")
    shown = calls.get("/dirs/d1/files/f1", If_None_Match=before or "")
    assert (shown.status, shown.body) == (200, b"y")
    calls("DELETE", "/dirs/d1")
    calls("PUT", "/dirs/d1/files/f1", b"x", {"xRegistry-createdat": "2020-01-01T00:00:00Z"})
    assert calls.get("/dirs/d1/files/f1", If_None_Match=before or "").status == 200


@pytest.mark.parametrize(
    ("accepted", "packed"),
    [
        ("gzip", True),
        ("deflate, gzip;q=0.5", True),
        ("*", True),
        ("gzip;q=0", False),
        ("identity", False),
        ("", False),
    ],
)
def test_large_text_is_packed_for_those_who_take_it(
    calls: Calls, accepted: str, packed: bool
) -> None:
    plain = calls.get("/model")
    shown = calls.get("/model", Accept_Encoding=accepted)
    assert (shown.header("Content-Encoding") == "gzip") is packed
    assert (gzip.decompress(shown.body) if packed else shown.body) == plain.body
    assert shown.header("Vary") == plain.header("Vary") == "accept-encoding"
    tag = (plain.header("ETag") or "").removesuffix('"')
    assert shown.header("ETag") == (f'{tag}-gzip"' if packed else f'{tag}"')
    assert shown.header("Content-Length") == str(len(shown.body))


def test_small_or_binary_replies_are_not_packed(calls: Calls) -> None:
    calls("PUT", "/dirs/d1/files/f1", b"x" * 5000, {"Content-Type": "image/png"})
    for target in ("/dirs/d1", "/dirs/d1/files/f1"):
        assert calls.get(target, Accept_Encoding="gzip").header("Content-Encoding") is None


@pytest.mark.parametrize("accepted", ["", "gzip"])
def test_a_large_export_is_streamed(calls: Calls, accepted: str) -> None:
    groups = {f"d{n}": {"description": "x" * 4000} for n in range(300)}
    calls("POST", "/", b'{"dirs":' + msgspec.json.encode(groups) + b"}")
    shown = calls.get("/export", Accept_Encoding=accepted)
    assert shown.header("Content-Length") is None
    text = gzip.decompress(shown.body) if accepted else shown.body
    assert len(text) > 1_200_000
    assert text.endswith(b"}")
    assert b"\n" not in text
    etag = shown.header("ETag")
    assert etag is None or calls.get("/export", If_None_Match=etag).status == 304


def test_another_registry_at_the_same_address_has_other_tags() -> None:
    """A database that took the place of another may have written as often."""
    large = {f"d{n}": {"description": "x" * 4000} for n in range(300)}
    tags = []
    for _ in range(2):
        calls = Calls()
        calls("POST", "/", b'{"dirs":' + msgspec.json.encode(large) + b"}")
        tags.append(calls.get("/export").header("ETag") or "")
        assert calls.get("/export", If_None_Match=tags[0]).status == (200 if tags[1:] else 304)
        calls.close()
    assert tags[0].partition("-")[0] == tags[1].partition("-")[0]  # the same revision
    assert tags[0] != tags[1]


@pytest.mark.parametrize("path", ["/", "/dirs", "/dirs/d1", "/model", "/export", "/dirs/none"])
def test_what_is_short_is_indented(calls: Calls, path: str) -> None:
    calls.put("/dirs/d1", {"name": "a", "labels": {"odd": "\U0001f600"}})
    body = calls.get(path).body
    assert body == msgspec.json.format(body, indent=2)
    assert body.startswith(b'{\n  "')


def test_a_reply_is_used_again_until_something_changes(calls: Calls) -> None:
    calls.put("/dirs/d1", {"name": "a"})
    asked: list[Request] = []
    run = calls.registry.run

    def counting(request: Request) -> Reply:
        asked.append(request)
        return run(request)

    calls.registry.run = counting  # type: ignore[method-assign]
    first, second = calls.get("/dirs/d1"), calls.get("/dirs/d1")
    assert first == second
    assert len(asked) == 1
    assert calls.get("/dirs/d1", Host="other").json["self"] == "http://other/dirs/d1"
    assert calls.get("/dirs/d1?specversion=1.0-rc2").json["name"] == "a"
    calls.put("/dirs/d1", {"name": "b"})
    assert calls.get("/dirs/d1").json["name"] == "b"
    assert "heraldry_cache_hits_total 1" in calls.get("/metrics").body.decode()


def test_what_is_kept_elsewhere_is_asked_for_each_time() -> None:
    pages = iter((b"one", b"two"))
    calls = Calls(fetch=lambda _address, _subject: next(pages))
    calls.put("/dirs/d1/files/f1$details", {"fileproxyurl": "http://docs.example/a"})
    found = [calls.get("/dirs/d1/files/f1") for _ in range(2)]
    assert [one.body for one in found] == [b"one", b"two"]
    assert [one.header("ETag") for one in found] == [None, None]


def test_the_cache_is_bounded() -> None:
    calls = Calls(ServerSettings(wire=RC4, cache=8000))
    for number in range(50):
        calls.get(f"/?x={number}")
    cache = calls.app._handler.cache  # type: ignore[attr-defined]
    assert 0 < cache._used <= 8000
    assert cache._used == sum(len(a.body) + 1000 for a in cache._answers.values())


@pytest.mark.covers("HB-12")
def test_writes_name_their_correlation_id_if_wanted() -> None:
    calls = Calls(ServerSettings(wire=RC4, correlation=True))
    done = calls.put("/dirs/d1", {})
    named = done.header("xRegistry-xregcorrelationid")
    with calls.registry.store.read() as tx:
        noted = {change.correlation for change in tx.journal(0, 10)}
    assert noted == {named}
    assert calls.get("/dirs/d1").header("xRegistry-xregcorrelationid") is None


def test_an_unexpected_error_is_a_problem_document(
    calls: Calls, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(request: Request) -> Reply:
        raise ZeroDivisionError("secret")

    monkeypatch.setattr(calls.registry, "run", broken)
    for shown in (calls.get("/dirs"), calls.put("/dirs/d1", {})):
        assert (shown.status, shown.error) == (500, "server_error")
        assert b"secret" not in shown.body
    assert "secret" in caplog.text


def test_an_unreachable_store_is_a_problem_document(
    calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> int:
        raise OSError

    monkeypatch.setattr(calls.registry.store, "revision", broken)
    for target in ("/", "/dirs", "/metrics"):
        shown = calls.get(target)
        assert (shown.status, shown.error) == (500, "server_error")


def test_a_document_cannot_act_for_the_server(
    calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls("PUT", "/dirs/d1/files/f1", b"<script>", {"Content-Type": "text/html"})
    shown = calls.get("/dirs/d1/files/f1")
    assert shown.header("X-Content-Type-Options") == "nosniff"
    assert shown.header("Content-Security-Policy") == "sandbox"
    bad = Document(content=b"", contenttype="a/b\r\nx: y", attributes={"fileid": "f1"})
    monkeypatch.setattr(calls.registry, "run", lambda _: replace(Reply(), document=bad))
    assert calls.get("/dirs/d1/files/f2").header("Content-Type") == "a/b%0D%0Ax: y"


def test_a_store_that_waits_is_read_in_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heraldry.store.sqlite.SqliteStore.reads_block", True)
    calls = Calls()
    threads: set[str] = set()
    revision = calls.registry.store.revision

    def watched() -> int:
        threads.add(threading.current_thread().name.partition("_")[0])
        return revision()

    monkeypatch.setattr(calls.registry.store, "revision", watched)
    assert calls.put("/dirs/d1", {}).status == 201
    assert [calls.get(target).status for target in ("/dirs/d1", "/dirs/d1", "/export")] == [200] * 3
    assert threads == {"heraldry-read", "heraldry-write"}


def test_no_more_of_a_reply_is_made_for_a_client_that_is_gone(calls: Calls) -> None:
    for number in range(50):
        calls("PUT", f"/dirs/d1/files/f{number}", b"x" * 100_000)
    assert len(calls.get("/export").body) > 5_000_000
    assert len(calls("GET", "/export", leaves=True).body) < 2_000_000
