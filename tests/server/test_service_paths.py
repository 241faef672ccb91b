"""The paths beside the registry's own."""

from __future__ import annotations

from typing import Any

import pytest

from tests.server.calls import Calls


def test_health(calls: Calls) -> None:
    assert (calls.get("/healthz").status, calls.get("/healthz").json) == (200, {"status": "ok"})


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
@pytest.mark.parametrize("name", ["healthz", "metrics"])
def test_a_group_type_has_precedence(name: str) -> None:
    calls = Calls(model={"groups": {name: {"singular": "one"}}})
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
