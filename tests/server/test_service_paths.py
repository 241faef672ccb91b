"""The paths beside the registry's own."""

from __future__ import annotations

import base64
import hashlib
from html.parser import HTMLParser
from typing import Any

import pytest
from openapi_spec_validator import validate

from tests.server.calls import MODEL, Calls


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_health(calls: Calls, path: str) -> None:
    assert (calls.get(path).status, calls.get(path).json) == (200, {"status": "ok"})


@pytest.mark.parametrize("blocks", [False, True])
def test_a_server_lives_without_its_store_but_is_not_ready(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, blocks: bool
) -> None:
    monkeypatch.setattr("heraldry.store.sqlite.SqliteStore.reads_block", blocks)
    calls = Calls()

    def away() -> int:
        raise OSError

    monkeypatch.setattr(calls.registry.store, "revision", away)
    assert calls.get("/healthz").status == 200
    caplog.clear()
    shown = calls.get("/readyz")
    assert (shown.status, shown.error) == (503, "server_busy")
    assert shown.header("Retry-After") == "1"


@pytest.mark.covers("HT-17")
@pytest.mark.parametrize("path", ["/.xregistry", "/.well-known/xregistry"])
def test_discovery(calls: Calls, path: str) -> None:
    listed = ["http://localhost:8080", "http://localhost:8080/reg-xRegistry"]
    assert calls.get(path).json == {"registries": listed}
    assert calls.get(f"/reg-xRegistry{path}").json == {"registries": listed}


@pytest.mark.covers("CP-03")
@pytest.mark.parametrize("path", ["/.xregistry", "/.well-known/xregistry"])
def test_discovery_can_be_switched_off(calls: Calls, path: str) -> None:
    calls.put("/capabilities", {"available": {"capabilities": {"mutable": True}}})
    found = calls.get(path)
    assert (found.status, found.error, found.json["subject"]) == (400, "not_available", path)


def test_metrics_count_requests(calls: Calls) -> None:
    calls.put("/dirs/d1", {})
    calls.get("/dirs/d1")
    calls.get("/dirs/nope")
    calls("BREW", "/dirs")
    shown = calls.get("/metrics")
    assert shown.header("Content-Type") == "text/plain; version=0.0.4; charset=utf-8"
    lines = shown.body.decode().splitlines()
    for line in (
        'heraldry_requests_total{method="PUT",status="201",place="group"} 1',
        'heraldry_requests_total{method="GET",status="200",place="group"} 1',
        'heraldry_requests_total{method="GET",status="404",place="problem"} 1',
        'heraldry_requests_total{method="OTHER",status="405",place="problem"} 1',
        'heraldry_request_seconds_count{method="GET"} 2',
        'heraldry_request_seconds_bucket{method="GET",le="+Inf"} 2',
    ):
        assert line in lines
    assert any(line.startswith("heraldry_store_revision ") for line in lines)


@pytest.mark.covers("HT-01")
@pytest.mark.parametrize("name", ["healthz", "readyz", "metrics", "openapi"])
def test_a_group_type_has_precedence(name: str) -> None:
    calls = Calls(model={"groups": {name: {"singular": "one"}}})
    assert calls.get(f"/{name}").json == {}  # also before anything else was asked for
    calls.put(f"/{name}/a", {})
    assert list(calls.get(f"/{name}").json) == ["a"]
    assert calls("OPTIONS", f"/{name}").header("Allow") == "DELETE, GET, OPTIONS, PATCH, POST"


def references(value: Any) -> list[str]:
    if isinstance(value, dict):
        found = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
        return found + [one for inner in value.values() for one in references(inner)]
    return [one for inner in value for one in references(inner)] if isinstance(value, list) else []


def test_openapi_describes_the_concrete_paths(calls: Calls) -> None:
    described = calls.get("/openapi.json").json
    assert described["openapi"] == "3.1.0"
    assert described["servers"] == [{"url": "http://localhost:8080"}]
    files = "/dirs/{dirid}/files/{fileid}"
    assert {
        "/",
        "/dirs",
        "/dirs/{dirid}",
        files,
        f"{files}$details",
        f"{files}/meta",
        f"{files}/versions/{{versionid}}$details",
        "/dirs/{dirid}/notes/{noteid}",
    } <= set(described["paths"])
    assert "/dirs/{dirid}/notes/{noteid}$details" not in described["paths"]
    for reference in set(references(described)):
        part = described
        for step in reference.removeprefix("#/").split("/"):
            part = part[step]


def test_openapi_says_what_requests_may_hold(calls: Calls) -> None:
    source = {
        "size": {"type": "uinteger"},
        "seen": {"type": "timestamp", "readonly": True},
        "parts": {"type": "array", "item": {"type": "string"}},
    }
    calls.put("/modelsource", {"groups": {"boxes": {"singular": "box", "attributes": source}}})
    described = calls.get("/openapi.json").json
    body = described["paths"]["/boxes/{boxid}"]["put"]["requestBody"]
    given = {"$ref": "#/components/schemas/boxes.given"}
    assert body["content"] == {"application/json": {"schema": given}}
    schema = described["components"]["schemas"]["boxes.given"]
    assert (schema["type"], schema["additionalProperties"]) == (["object", "null"], False)
    properties = schema["properties"]
    assert properties["size"] == {"type": ["integer", "null"], "minimum": 0}
    assert properties["parts"] == {"type": ["array", "null"], "items": {"type": "string"}}
    assert properties["seen"] == {}


def operations(described: Any) -> dict[str, Any]:
    return {
        f"{method.upper()} {path}": operation
        for path, methods in described["paths"].items()
        for method, operation in methods.items()
        if method != "parameters"
    }


def test_operations_have_names_that_last(calls: Calls) -> None:
    described = calls.get("/openapi.json").json
    named = {name: one["operationId"] for name, one in operations(described).items()}
    assert len(set(named.values())) == len(named)
    assert all(id_.isidentifier() for id_ in named.values())
    file = "/dirs/{dirid}/files/{fileid}"
    expected = {
        "GET /": "getRegistry",
        "GET /export": "getExport",
        "POST /dirs": "postDirs",
        "DELETE /dirs/{dirid}": "deleteDir",
        f"PUT {file}": "putDirFile",
        f"PATCH {file}$details": "patchDirFileDetails",
        f"GET {file}/meta": "getDirFileMeta",
        f"GET {file}/versions": "getDirFileVersions",
        f"PUT {file}/versions/{{versionid}}$details": "putDirFileVersionDetails",
        "GET /readyz": "getReadyz",
        "GET /.well-known/xregistry": "getWellKnownXregistry",
    }
    assert {name: named[name] for name in expected} == expected


def test_operations_have_tags(calls: Calls) -> None:
    described = calls.get("/openapi.json").json
    tags = [tag["name"] for tag in described["tags"]]
    assert tags == ["registry", "dirs", "dirs/files", "dirs/notes", "server"]
    assert all(tag["description"] for tag in described["tags"])
    tagged = {name: one["tags"] for name, one in operations(described).items()}
    assert {tag for (tag,) in tagged.values()} == set(tags)
    assert tagged["GET /"] == tagged["PUT /modelsource"] == ["registry"]
    assert tagged["DELETE /dirs"] == tagged["GET /dirs/{dirid}"] == ["dirs"]
    assert tagged["POST /dirs/{dirid}/notes/{noteid}/versions"] == ["dirs/notes"]
    assert tagged["GET /healthz"] == tagged["GET /openapi"] == ["server"]


def test_operations_that_write_have_conditions(calls: Calls) -> None:
    for name, one in operations(calls.get("/openapi.json").json).items():
        references = [parameter.get("$ref", "") for parameter in one.get("parameters", [])]
        conditions = {f"#/components/parameters/{name}" for name in ("If-Match", "If-None-Match")}
        writes = not name.startswith("GET ")
        assert (conditions <= set(references), "412" in one["responses"]) == (writes, writes)


@pytest.mark.parametrize("model", ["messaging", "none", MODEL])
def test_openapi_is_openapi(model: Any) -> None:
    validate(Calls(model=model).get("/openapi.json").json)


class Page(HTMLParser):
    """A page taken apart: its elements with their attributes, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def test_openapi_as_a_page(calls: Calls) -> None:
    evil = "<script>alert('a')</script>"
    groups = {"boxes": {"singular": "box", "description": evil}}
    calls.put("/modelsource", {"description": evil, "groups": groups})
    shown = calls.get("/openapi")
    assert shown.header("Content-Type") == "text/html; charset=utf-8"
    page = Page(shown.body.decode())
    described = calls.get("/openapi.json").json
    ids = {attributes.get("id") for name, attributes in page.elements if name == "details"}
    assert {one["operationId"] for one in operations(described).values()} <= ids
    assert page.text.count(evil) >= 2
    assert {name for name, _ in page.elements} & {"script", "link", "img", "iframe"} == set()
    addresses = [a["href"] for _, a in page.elements if "href" in a]
    assert addresses == ["http://localhost:8080/openapi.json"]
    assert not any(name in ("src", "style", "onclick") for _, a in page.elements for name in a)


def test_nothing_but_the_style_of_the_page_is_let_in(calls: Calls) -> None:
    shown = calls.get("/openapi")
    policy = shown.header("Content-Security-Policy") or ""
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    style = shown.body.partition(b"<style>")[2].partition(b"</style>")[0]
    digest = base64.b64encode(hashlib.sha256(style).digest()).decode()
    assert f"'sha256-{digest}'" in policy
    assert calls.get("/openapi", If_None_Match=shown.header("ETag") or "").status == 304


def test_openapi_follows_the_model(calls: Calls) -> None:
    calls.put("/modelsource", {"groups": {"boxes": {"singular": "box"}}})
    assert "/boxes/{boxid}" in calls.get("/openapi.json").json["paths"]


@pytest.mark.parametrize(
    "available",
    [
        pytest.param(None, id="everything"),
        pytest.param({"entities": {"mutable": False}}, id="read-only"),
        pytest.param({"modelsource": {"mutable": True}}, id="no-export"),
    ],
)
def test_openapi_lists_the_methods_that_there_are(calls: Calls, available: Any) -> None:
    if available:
        path = "/capabilities?confirm=immutable"
        assert calls.put(path, {"available": available}).status == 200
    for path, described in calls.get("/openapi.json").json["paths"].items():
        concrete = path.replace("{", "").replace("}", "")
        methods = {m.upper() for m in described if m != "parameters"} | {"OPTIONS"}
        allowed = calls("OPTIONS", concrete).header("Allow") or ""
        assert methods == set(allowed.split(", ")), path
