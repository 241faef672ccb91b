"""The client of a registry: what it asks, how often, and what it makes of the answers."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from heraldry.client.cache import ReplyCache, default_folder
from heraldry.client.registry import Patience, RegistryClient, server_address
from heraldry.client.registry_answer import Answer
from heraldry.errors import ClientError, TransportError, UsageError
from tests.client.registries import Registry

QUICK = Patience(pause=0.01, longest_pause=0.02, answer=2.0)


@pytest.mark.parametrize(
    ("given", "address"),
    [
        pytest.param("localhost:8080", "http://localhost:8080", id="no-scheme"),
        pytest.param("http://localhost/", "http://localhost", id="slash"),
        pytest.param("https://a.example/reg/", "https://a.example/reg", id="prefix"),
    ],
)
def test_the_address_of_a_server(given: str, address: str) -> None:
    assert server_address(given) == address


@pytest.mark.parametrize(
    "given",
    [
        pytest.param("http://user:secret@host", id="password"),
        pytest.param("file:///etc/passwd", id="file"),
        pytest.param("http://host/?doc", id="query"),
        pytest.param("ftp://host", id="scheme"),
    ],
)
def test_what_is_no_address_of_a_server(given: str) -> None:
    with pytest.raises(UsageError) as refused:
        server_address(given)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("path", "query", "url"),
    [
        pytest.param("/", {}, "/", id="root"),
        pytest.param("dirs/d1", {"inline": None}, "/dirs/d1?inline", id="flag"),
        pytest.param("/dirs?doc", {"filter": ("a=1", "b=2")}, "/dirs?doc&filter=a=1&filter=b=2"),
        pytest.param(
            "/dirs", {"filter": "name=a b&c"}, "/dirs?filter=name=a%20b%26c", id="escaped"
        ),
        pytest.param("/dirs/d1/files/f1$details", {}, "/dirs/d1/files/f1$details", id="details"),
        pytest.param("/dirs/ä", {}, "/dirs/%C3%A4", id="not-ascii"),
    ],
)
def test_the_address_of_a_path(path: str, query: dict[str, str | None], url: str) -> None:
    client = RegistryClient("http://host:1")
    assert client.url(path, query) == f"http://host:1{url}"
    assert client.url(f"http://host:1{path}", query) == client.url(path, query)


def test_a_problem_is_an_error_that_tells_it(registry: Registry) -> None:
    problem = {"type": "x#not_found", "title": "/dirs/d1 was not found", "detail": "Look again."}
    registry.serve("/dirs/d1", problem, 404)
    with RegistryClient(registry.url) as client, pytest.raises(ClientError) as refused:
        client.get("/dirs/d1")
    assert (refused.value.code, refused.value.exit_code) == (404, 1)
    told = f"{registry.url}/dirs/d1 answered 404: /dirs/d1 was not found\n  Look again."
    assert str(refused.value) == told
    with RegistryClient(registry.url) as client:
        assert client.find("/dirs/d1") is None


def test_an_error_without_a_problem_is_quoted(registry: Registry) -> None:
    registry.serve("/", b"<html>\nproxy   says no</html>", 400)
    with RegistryClient(registry.url) as client, pytest.raises(ClientError, match="proxy says no"):
        client.get("/")


def test_what_is_no_json_is_an_error(registry: Registry) -> None:
    registry.serve("/", b"<html>")
    with RegistryClient(registry.url) as client, pytest.raises(ClientError, match="not JSON"):
        client.get("/").json()


def busy_once(registry: Registry, path: str) -> None:
    registry.serve(path, {"done": True})
    then = registry.pages[path]

    def answer(request: BaseHTTPRequestHandler) -> None:
        registry.pages[path] = then
        request.send_response(503)
        request.send_header("Retry-After", "1")
        request.send_header("Content-Length", "0")
        request.end_headers()

    registry.pages[path] = answer


def test_a_busy_server_is_asked_again(registry: Registry) -> None:
    busy_once(registry, "/")
    with RegistryClient(registry.url, QUICK) as client:
        assert client.get("/").json() == {"done": True}
    assert registry.paths == ["/", "/"]


def test_a_server_that_stays_busy_is_an_error(registry: Registry) -> None:
    registry.serve("/", {"title": "too busy"}, 503)
    with RegistryClient(registry.url, QUICK) as client, pytest.raises(ClientError) as refused:
        client.get("/")
    assert (refused.value.code, len(registry.paths)) == (503, QUICK.tries)


def test_a_lost_connection_is_tried_again_for_reads_only(registry: Registry) -> None:
    def hang_up(request: BaseHTTPRequestHandler) -> None:
        request.close_connection = True

    registry.pages["/"] = hang_up
    with RegistryClient(registry.url, QUICK) as client:
        with pytest.raises(TransportError) as lost:
            client.get("/")
        assert lost.value.exit_code == 2
        assert len(registry.paths) == QUICK.tries
    with RegistryClient("http://127.0.0.1:9", QUICK) as client, pytest.raises(TransportError):
        client.send("PUT", "/dirs/d1", {})


def test_writes_are_sent_once(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def once(self: RegistryClient, method: str, url: str, headers: object, body: object) -> Answer:
        asked.append(method)
        raise TransportError(url, "gone")

    monkeypatch.setattr(RegistryClient, "_once", once)
    for method in ("PUT", "POST", "PATCH", "DELETE"):
        with RegistryClient(registry.url, QUICK) as client, pytest.raises(TransportError):
            client.send(method, "/", {})
    assert asked == ["PUT", "POST", "PATCH", "DELETE"]


def test_a_redirect_is_told_and_not_followed(registry: Registry, other: Registry) -> None:
    registry.redirect("/", other.url)
    with RegistryClient(registry.url) as client, pytest.raises(ClientError, match=other.url):
        client.get("/")
    assert other.paths == []


def test_an_endless_answer_is_cut_off(registry: Registry) -> None:
    registry.serve("/", b"x" * 5000)
    small = Patience(size=4096)
    with RegistryClient(registry.url, small) as client, pytest.raises(ClientError, match="larger"):
        client.get("/")


@pytest.mark.covers("PG-02", "PG-03")
def test_pages_are_put_together(registry: Registry) -> None:
    registry.serve("/dirs", {"a": {}}, Link=f"<{registry.url}/dirs?after=a>;rel=next;count=2")
    registry.serve("/dirs?after=a", {"b": {}}, Link=f"<{registry.url}>;rel=xregistry-root")
    with RegistryClient(registry.url) as client:
        assert client.collection("/dirs").json() == {"a": {}, "b": {}}
        assert client.get("/dirs").json() == {"a": {}}


def test_pages_never_lead_to_another_server(registry: Registry, other: Registry) -> None:
    registry.serve("/dirs", {"a": {}}, Link=f"<{other.url}/dirs>;rel=next")
    with RegistryClient(registry.url) as client, pytest.raises(ClientError, match="next page"):
        client.collection("/dirs")
    assert other.paths == []


@pytest.mark.parametrize(
    ("link", "target"),
    [
        pytest.param('<a>; rel="next"', "a", id="quoted"),
        pytest.param("<r>;rel=xregistry-root, <b>;rel=next;count=3", "b", id="second"),
        pytest.param("<b>;count=3;rel=next", "b", id="later-parameter"),
        pytest.param("<r>;rel=nextish", "", id="another-relation"),
        pytest.param("", "", id="none"),
    ],
)
def test_the_link_to_the_next_page(link: str, target: str) -> None:
    assert Answer(url="", code=200, headers={"link": link}, content=b"").next == target


def test_what_did_not_change_comes_from_the_cache(registry: Registry, tmp_path: Path) -> None:
    registry.serve("/export", {"registryid": "r"}, ETag='"7"')
    cache = ReplyCache(tmp_path / "cache")
    with RegistryClient(registry.url, cache=cache) as client:
        first = client.get("/export")
        registry.serve("/export", b"", 304)
        second = client.get("/export")
    assert second.content == first.content == b'{"registryid": "r"}'
    assert [one.get("If-None-Match") for one in registry.headers] == [None, '"7"']


def test_a_broken_copy_is_no_copy(tmp_path: Path) -> None:
    cache = ReplyCache(tmp_path)
    cache.keep("http://a", {"etag": '"1"'}, b"content")
    assert cache.find("http://a").content == b"content"
    assert cache.find("http://b") is None
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:-1])
    assert cache.find("http://a") is None
    file.write_bytes(b"no json\n")
    assert cache.find("http://a") is None


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    cache = ReplyCache(tmp_path / "file")
    cache.keep("http://a", {}, b"content")
    assert cache.find("http://a") is None


def test_the_default_cache_is_the_users(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "heraldry"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert default_folder() == Path.home() / ".cache" / "heraldry"
