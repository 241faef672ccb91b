"""Paths and methods: what is where, and what is refused."""

from __future__ import annotations

import msgspec
import pytest

from heraldry.registry.limits import Limits
from heraldry.server.settings import ServerSettings
from tests.server.calls import Calls

ALLOWED = {
    "/": "GET, OPTIONS, PATCH, POST, PUT",
    "/capabilities": "GET, OPTIONS, PATCH, PUT",
    "/capabilitiesoffered": "GET, OPTIONS",
    "/model": "GET, OPTIONS",
    "/modelsource": "GET, OPTIONS, PUT",
    "/export": "GET, OPTIONS",
    "/dirs": "DELETE, GET, OPTIONS, PATCH, POST",
    "/dirs/d1": "DELETE, GET, OPTIONS, PATCH, POST, PUT",
    "/dirs/d1/files": "DELETE, GET, OPTIONS, PATCH, POST",
    "/dirs/d1/files/f1": "DELETE, GET, OPTIONS, POST, PUT",
    "/dirs/d1/files/f1$details": "DELETE, GET, OPTIONS, PATCH, POST, PUT",
    "/dirs/d1/files/f1/meta": "GET, OPTIONS, PATCH, PUT",
    "/dirs/d1/files/f1/versions": "DELETE, GET, OPTIONS, PATCH, POST",
    "/dirs/d1/files/f1/versions/v1": "DELETE, GET, OPTIONS, PUT",
    "/dirs/d1/files/f1/versions/v1$details": "DELETE, GET, OPTIONS, PATCH, PUT",
    "/dirs/d1/notes/n1": "DELETE, GET, OPTIONS, PATCH, POST, PUT",
    "/dirs/d1/notes/n1/versions/v1": "DELETE, GET, OPTIONS, PATCH, PUT",
    "/openapi.json": "GET, OPTIONS",
}
METHODS = ("PUT", "PATCH", "POST", "DELETE", "TRACE", "BREW")
EVERY = [pytest.param(path, allowed, id=path) for path, allowed in ALLOWED.items()]


@pytest.mark.covers("HT-00", "HT-03")
@pytest.mark.parametrize(("path", "allowed"), EVERY)
def test_options_list_the_methods(calls: Calls, path: str, allowed: str) -> None:
    shown = calls("OPTIONS", path)
    assert (shown.status, shown.body) == (200, b"")
    assert shown.header("Allow") == allowed
    assert shown.header("Access-Control-Allow-Methods") == allowed


@pytest.mark.covers("HT-00", "HT-02")
@pytest.mark.parametrize(("path", "allowed"), EVERY)
def test_other_methods_are_405_with_allow(calls: Calls, path: str, allowed: str) -> None:
    for method in METHODS:
        if method in allowed:
            continue
        refused = calls(method, path, b"{}")
        assert refused.status == 405
        details = method == "PATCH" and path.count("/") in (4, 6)
        assert refused.error == ("details_required" if details else "action_not_supported")
        assert refused.header("Allow") == allowed
        if not details:
            assert refused.json["args"] == {"action": method}


@pytest.mark.covers("HT-03")
def test_options_follow_the_capabilities(calls: Calls) -> None:
    calls.put("/capabilities?confirm=immutable", {"available": {"entities": {"mutable": False}}})
    assert calls("OPTIONS", "/dirs/d1").header("Allow") == "GET, OPTIONS"


@pytest.mark.covers("KD-16")
@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "PUT", "PATCH", "POST", "DELETE"])
@pytest.mark.parametrize(
    ("path", "subject"),
    [
        ("/nope", "/nope"),
        ("/nope/d1/files", "/nope"),
        ("/Dirs", "/Dirs"),
        ("/dirs/d1/nope/x/y", "/dirs/d1/nope"),
    ],
)
def test_unknown_types_are_not_found(calls: Calls, method: str, path: str, subject: str) -> None:
    missing = calls(method, path)
    assert missing.status == 404
    if method != "HEAD":
        assert (missing.error, missing.json["subject"]) == ("not_found", subject)


@pytest.mark.parametrize(
    ("path", "error"),
    [
        pytest.param("/model/x", "api_not_found", id="below", marks=pytest.mark.covers("HT-02")),
        pytest.param("/dirs/d1/files/f1/meta/x", "not_found", id="below-meta"),
        pytest.param("/dirs/d1/files/f1/other", "not_found", id="beside-meta"),
        pytest.param(
            "/dirs$details", "bad_details", id="groups", marks=pytest.mark.covers("HT-08")
        ),
        pytest.param(
            "/dirs/d1$details", "bad_details", id="group", marks=pytest.mark.covers("HT-08")
        ),
        pytest.param(
            "/dirs/d1/files/f1$details/versions",
            "bad_details",
            id="inside",
            marks=pytest.mark.covers("HT-08"),
        ),
        pytest.param("/dirs/d1/files/f1/meta$details", "bad_details", id="meta"),
        pytest.param("/$details", "bad_details", id="registry"),
        pytest.param("/model$details", "bad_details", id="model"),
        pytest.param("/dirs//files", "bad_request", id="empty-part"),
        pytest.param("/dirs/d1/files/$details", "bad_request", id="empty-id"),
        pytest.param("/dirs/a%2Fb", "bad_request", id="encoded-slash"),
        pytest.param("/dirs/%FF", "bad_request", id="no-utf-8"),
    ],
)
def test_paths_that_are_none(calls: Calls, path: str, error: str) -> None:
    assert calls.get(path).error == error


def test_a_path_is_decoded_and_its_case_matters(calls: Calls) -> None:
    calls.put("/dirs/d:1", {})
    assert calls.get("/dirs/d%3A1").status == 200
    assert calls.get("/dirs/d:1/").status == 200
    assert calls.get("/dirs/D:1").status == 404


@pytest.mark.covers("HT-08")
def test_details_mean_nothing_without_documents(calls: Calls) -> None:
    calls.put("/dirs/d1/notes/n1$details", {"name": "x"})
    shown = calls.get("/dirs/d1/notes/n1$details").json
    assert (shown["name"], shown["self"][-2:]) == ("x", "n1")


@pytest.mark.covers("HT-04", "HT-05", "HT-16")
@pytest.mark.parametrize("path", ["/", "/dirs", "/nope", "/healthz", "/dirs/d1/files/f1"])
def test_every_response_leads_to_the_root(calls: Calls, path: str) -> None:
    calls("PUT", "/dirs/d1/files/f1", b"x", {"Content-Type": "text/plain"})
    shown, head = calls.get(path), calls("HEAD", path)
    assert "<http://localhost:8080>;rel=xregistry-root" in shown.all("Link")
    assert (head.status, head.body) == (shown.status, b"")
    assert head.headers == shown.headers
    if path != "/dirs/d1/files/f1":
        assert shown.header("Content-Type") == "application/json; charset=utf-8"


def test_the_base_address(calls: Calls) -> None:
    assert calls.get("/", Host="reg.example:1").json["self"] == "http://reg.example:1/"
    shown = calls("GET", "/", headers={"Host": "[::1]:80"}, scheme="https")
    assert shown.json["self"] == "https://[::1]:80/"
    fixed = Calls(ServerSettings(base_url="https://example.com/reg"))
    assert fixed.get("/", Host="other").json["self"] == "https://example.com/reg/"
    assert fixed.get("/").header("Link") == "<https://example.com/reg>;rel=xregistry-root"


@pytest.mark.parametrize("host", ["a b", 'x">', "a/b", "x>;rel=next,<y", ":80", "a:b"])
def test_a_host_that_is_none_is_refused(calls: Calls, host: str) -> None:
    refused = calls.get("/", Host=host)
    assert (refused.status, refused.error) == (400, "bad_request")
    assert refused.header("Link") == "<http://localhost>;rel=xregistry-root"


TIGHT = ServerSettings(limits=Limits(query=100, headers=10, header_size=500))


@pytest.mark.parametrize(
    ("target", "headers", "status", "error"),
    [
        pytest.param("/?x=" + "y" * 100, {}, 414, "query_too_long", id="query"),
        pytest.param("/" + "y" * 100, {}, 414, "query_too_long", id="path"),
        pytest.param(
            "/", {f"x-{n}": "" for n in range(10)}, 431, "headers_too_large", id="header-count"
        ),
        pytest.param("/", {"x": "y" * 500}, 431, "headers_too_large", id="header-size"),
    ],
)
def test_limits(target: str, headers: dict[str, str], status: int, error: str) -> None:
    tight = Calls(TIGHT)
    assert tight.get("/?x=" + "y" * 90, x="y" * 400).status == 200
    for method in ("GET", "PUT"):
        refused = tight(method, target, b"{}", headers)
        assert refused.status == status
        assert refused.json["type"] == f"urn:heraldry:error:{error}"


@pytest.mark.covers("CA-06")
def test_short_addresses_lead_to_entities(calls: Calls) -> None:
    capabilities = calls.get("/capabilities").json | {"shortself": True}
    calls("PUT", "/capabilities", msgspec.json.encode(capabilities))
    calls("PUT", "/dirs/d1/files/f1", b"text", {"Content-Type": "text/plain"})
    short = calls.get("/dirs/d1/files/f1$details").json["shortself"]
    path = short.removeprefix("http://localhost:8080")
    assert calls.get(path).body == b"text"
    assert calls.get(f"{path}$details").json["fileid"] == "f1"
    assert calls.get("/~999999").status == 404


@pytest.mark.covers("ER-05")
@pytest.mark.parametrize(
    ("query", "error"),
    [("sort=a", "sort_noncollection"), ("filter=..", "bad_filter"), ("inline=..", "bad_inline")],
)
def test_errors_in_flags_say_where_they_are(calls: Calls, query: str, error: str) -> None:
    refused = calls.get(f"/?{query}")
    assert (refused.error, refused.json["subject"]) == (error, f"/?{query}")
