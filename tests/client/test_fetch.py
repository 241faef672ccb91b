"""Fetching: from allowed addresses only, within limits, and with nothing to give away."""

from __future__ import annotations

import gzip
import json
import time
from pathlib import Path

import pytest

from heraldry.errors import UsageError
from tests.client.bases import DOCUMENT, NATS, based_on, define, reason, resolved
from tests.client.registries import Registry, running
from tests.model.catalogs import catalog


def test_nothing_is_sent_that_was_not_asked_for(
    registry: Registry, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password hunter2\n")
    monkeypatch.setenv("NETRC", str(netrc))
    body = {"messageid": "b", **NATS, "basemessage": "/messagegroups/g/messages/c"}
    uri = registry.serve("/messagegroups/g/messages/b", body, Set_Cookie="session=1")
    registry.message("c")
    resolved(based_on(uri), registry.url)
    assert len(registry.headers) == 2
    for headers in registry.headers:
        assert set(headers) == {"Host", "Accept", "Accept-Encoding", "User-Agent"}


@pytest.mark.parametrize(
    "allow",
    [
        pytest.param("{url}/other", id="another path"),
        pytest.param("{url}/messagegroups/g/messages/bb", id="half a segment"),
        pytest.param("http://127.0.0.1:1/", id="another port"),
        pytest.param("http://localhost:{port}/", id="another name"),
        pytest.param("https://127.0.0.1:{port}/", id="another scheme"),
        pytest.param("file:///", id="files only"),
    ],
)
def test_what_is_not_allowed_is_not_asked_for(registry: Registry, allow: str) -> None:
    uri = registry.message("b", **NATS)
    port = registry.url.rpartition(":")[2]
    found = resolved(based_on(uri), allow.format(url=registry.url, port=port))
    assert "not on the allow-list" in reason(found, uri)
    assert registry.paths == []


@pytest.mark.parametrize(
    "uri",
    [
        pytest.param("http://127.0.0.1.evil:{port}/r/b", id="longer host"),
        pytest.param("http://127.0.0.1@127.0.0.1:{port}/r/b", id="user"),
        pytest.param("http://127.0.0.1:{port}/r/../b", id="dots"),
        pytest.param("http://127.0.0.1:{port}/r/%2e%2e/b", id="escaped dots"),
        pytest.param("http://127.0.0.1:{port}/r/..%2fb", id="escaped slash"),
        pytest.param("http://127.0.0.1:{port}/r/..;/b", id="dots with parameters"),
        pytest.param("http://127.0.0.1:{port}\\b", id="backslash"),
        pytest.param("file:///etc/hostname", id="file"),
        pytest.param("gopher://127.0.0.1:{port}/r/b", id="other scheme"),
    ],
)
def test_tricks_reach_nothing(registry: Registry, uri: str) -> None:
    registry.serve("/b", {"messageid": "b", **NATS})
    text = uri.format(port=registry.url.rpartition(":")[2])
    found = resolved(based_on(text), f"{registry.url}/r/")
    assert define(found).protocol is None
    assert registry.paths == []


def test_what_is_compared_is_what_is_asked_for(registry: Registry) -> None:
    registry.serve("/r/~b", {"messageid": "b", **NATS})
    found = resolved(based_on(f"{registry.url}/r/x/../%7Eb"), f"{registry.url}/r/")
    assert define(found).protocol == "NATS"
    assert registry.paths == ["/r/~b"]


def test_a_redirect_stays_within_the_list(registry: Registry, other: Registry) -> None:
    registry.serve("/r/new/messagegroups/g/messages/b", {"messageid": "b", **NATS})
    moved = registry.redirect("/r/old", "new/messagegroups/g/messages/b")
    away = registry.redirect("/r/away", other.message("b", **NATS))
    up = registry.redirect("/r/up", "/secret")
    user = registry.redirect("/r/user", registry.url.replace("//", "//me:hunter2@") + "/r/new")
    local = registry.redirect("/r/local", "file:///etc/hostname")
    loop = registry.redirect("/r/loop", "/r/loop")
    allow = (f"{registry.url}/r/", "file:///")
    assert define(resolved(based_on(moved), *allow)).protocol == "NATS"
    for uri in (away, up, local):
        told = reason(resolved(based_on(uri), *allow), uri)
        assert "redirected" in told
        assert "not on the allow-list" in told
    assert "hunter2" not in reason(resolved(based_on(user), *allow), user)
    assert "redirected 5 times" in reason(resolved(based_on(loop), *allow), loop)
    assert other.paths == []
    assert "/secret" not in registry.paths


@pytest.mark.parametrize(
    ("status", "told"),
    [
        pytest.param(404, "answers 404", id="not found"),
        pytest.param(401, "answers 401", id="forbidden"),
        pytest.param(500, "answers 500", id="error"),
        pytest.param(204, "answers 204", id="nothing"),
    ],
)
def test_what_cannot_be_had_ends_the_chain(registry: Registry, status: int, told: str) -> None:
    uri = registry.serve("/b", b"", status)
    assert told in reason(resolved(based_on(uri), registry.url), uri)


def test_a_server_that_is_not_there_is_asked_once() -> None:
    with running() as gone:
        uris = [f"{gone.url}/{index}" for index in range(3)]
    found = catalog({f"m{index}": {"basemessage": uri} for index, uri in enumerate(uris)})
    external = resolved(found, gone.url).external
    assert "gives no answer" in external[uris[0]].reason
    assert {external[uri].reason for uri in uris[1:]} == {"its server did not answer before"}


@pytest.mark.parametrize(
    "host",
    [
        pytest.param("a" * 70, id="long label"),
        pytest.param("a..b", id="empty label"),
        pytest.param("xn--0000h", id="no international name"),
        pytest.param("-", id="dash"),
        pytest.param("nowhere.invalid", id="unknown"),
    ],
)
def test_a_host_that_cannot_be_is_no_error(host: str) -> None:
    uri = f"http://{host}/b"
    assert "gives no answer" in reason(resolved(based_on(uri), f"http://{host}/"), uri)


def test_size_is_limited(registry: Registry) -> None:
    uri = registry.serve("/b", {"messageid": "b", **NATS, "description": "x" * 5000})
    assert "larger than" in reason(resolved(based_on(uri), registry.url, size=5000), uri)
    assert define(resolved(based_on(uri), registry.url, size=6000)).protocol == "NATS"


def test_a_compressed_answer_is_not_unpacked(registry: Registry) -> None:
    bomb = gzip.compress(b'{"messageid": "b", "x": "' + b" " * 50_000_000 + b'"}')
    uri = registry.serve("/b", bomb, Content_Encoding="gzip")
    assert "compresses" in reason(resolved(based_on(uri), registry.url), uri)


HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n"


@pytest.mark.parametrize(
    "first",
    [
        pytest.param(b"HTTP/1.1 200 ", id="status line"),
        pytest.param(HEAD + b"X: ", id="headers"),
        pytest.param(HEAD + b'\r\n{"messageid"', id="body"),
    ],
)
def test_time_is_limited_however_an_answer_drips(registry: Registry, first: bytes) -> None:
    uri = registry.drip("/b", first, 0.05)
    start = time.monotonic()
    assert "longer than 0.3 seconds" in reason(
        resolved(based_on(uri), registry.url, seconds=0.3), uri
    )
    assert time.monotonic() - start < 10


def test_requests_are_counted(registry: Registry) -> None:
    uris = [registry.message(f"b{index}", **NATS) for index in range(4)]
    found = catalog({f"m{index}": {"basemessage": uri} for index, uri in enumerate(uris)})
    external = resolved(found, registry.url, count=3).external
    assert [external[uri].attributes is not None for uri in uris] == [True, True, True, False]
    assert "more than 3 requests" in external[uris[3]].reason
    assert len(registry.paths) == 3


def test_files_are_read_below_an_allowed_folder_only(tmp_path: Path, registry: Registry) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    for folder in (inside, outside):
        folder.mkdir()
        (folder / "c.json").write_text(json.dumps(DOCUMENT))
    (inside / "link.json").symlink_to(outside / "c.json")
    (inside / "same.json").symlink_to(inside / "c.json")
    (inside / "round.json").symlink_to(inside / "round.json")
    part = "#/messagegroups/g/messages/b"
    allow = (inside.as_uri(), registry.url)

    def protocol(path: Path) -> str | None:
        return define(resolved(based_on(path.as_uri() + part), *allow)).protocol

    assert protocol(inside / "c.json") == protocol(inside / "same.json") == "NATS"
    others = ("link.json", "no.json", "round.json", "")
    for path in (outside / "c.json", *(inside / name for name in others)):
        assert protocol(path) is None
    assert "a link" in reason(
        resolved(based_on((inside / "link.json").as_uri() + part), *allow),
        (inside / "link.json").as_uri() + part,
    )
    file = (inside / "c.json").as_uri() + part
    uri = registry.message("b", basemessage=file)
    assert "does not lead to files" in reason(resolved(based_on(uri), *allow), file)


def test_certificates_that_cannot_be_read_are_told(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/no/such/file.pem")
    with pytest.raises(UsageError, match="SSL_CERT_FILE"):
        resolved(based_on(registry.message("b")), registry.url)
