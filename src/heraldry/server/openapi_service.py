"""OpenAPI of the paths beside the registry's own: health, metrics, discovery, this description."""

from __future__ import annotations

from collections.abc import Container
from typing import Any, Final

DISCOVERY: Final = ("/.xregistry", "/.well-known/xregistry")
HEALTH: Final = "/healthz"
READY: Final = "/readyz"
METRICS: Final = "/metrics"
OPENAPI: Final = "/openapi.json"
OPENAPI_PAGE: Final = "/openapi"
TAG: Final = "server"

_OK: Final = {"type": "object", "required": ["status"], "properties": {"status": {"const": "ok"}}}
_LISTED: Final = {"type": "object", "required": ["registries"]}
_PROBLEM: Final = {"$ref": "#/components/responses/problem"}


def service_paths(taken: Container[str]) -> dict[str, Any]:
    """These paths, without those that a group type has taken."""
    services = {
        HEALTH: _get("Whether the process lives", "application/json", _OK),
        READY: _get("Whether the store answers", "application/json", _OK),
        METRICS: _get("What the server counts, for Prometheus", "text/plain", {"type": "string"}),
        OPENAPI: _get("This description", "application/json", {"type": "object"}),
        OPENAPI_PAGE: _get("This description as a page", "text/html", {"type": "string"}),
        **{p: _get("Registries found here", "application/json", _LISTED) for p in DISCOVERY},
    }
    services[READY]["get"]["responses"]["503"] = _PROBLEM
    return {path: operations for path, operations in services.items() if path[1:] not in taken}


def _get(summary: str, media_type: str, schema: dict[str, Any]) -> dict[str, Any]:
    reply = {"description": "Done.", "content": {media_type: {"schema": schema}}}
    return {"get": {"summary": summary, "responses": {"200": reply, "default": _PROBLEM}}}
