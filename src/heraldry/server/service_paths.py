"""Paths beside the registry's own: health, metrics, OpenAPI and discovery (HT-01, HT-17)."""

from __future__ import annotations

from typing import Any, Final

from heraldry.errors import RegistryError
from heraldry.server.answer import Answer, completed
from heraldry.server.incoming import Incoming
from heraldry.server.metrics import CONTENT_TYPE, Metrics
from heraldry.server.offer import Offer
from heraldry.server.openapi import DISCOVERY, describe
from heraldry.server.replies import JSON, encode_json, root_link

HEALTH: Final = "/healthz"
METRICS: Final = "/metrics"
OPENAPI: Final = "/openapi.json"
UNCACHED: Final = (HEALTH, METRICS)
PATHS: Final = frozenset((HEALTH, METRICS, OPENAPI, *DISCOVERY))
ALLOWED: Final = "GET, OPTIONS"


def is_service(path: str, offer: Offer) -> bool:
    """Whether a path is one of ours; a group type of that name has precedence (HT-01)."""
    return path in PATHS and path[1:] not in offer.types().model.groups


def service_answer(
    incoming: Incoming, offer: Offer, root: str, metrics: Metrics, hits: int
) -> Answer:
    """The response at one of these paths; ``root`` is the address of the server."""
    path, base = incoming.path, root + incoming.mount
    if incoming.method == "OPTIONS":
        return _allowing(base)
    if incoming.method not in ("GET", "HEAD"):
        raise RegistryError("action_not_supported", path, {"action": incoming.method})
    if path == METRICS:
        text = metrics.text(hits, offer.revision())
        kind = (b"content-type", CONTENT_TYPE)
        return completed(200, [root_link(base), kind], text, place="metrics")
    if path == HEALTH:
        offer.revision()
        return _json(base, {"status": "ok"}, "healthz")
    if path in DISCOVERY:
        if ".xregistry" not in offer.types().capabilities.available:
            raise RegistryError("not_available", path)
        return _json(base, {"registries": [root, root + offer.mount]}, "discovery", tag="")
    types = offer.types()
    described = describe(types.model, types.capabilities, base)
    return _json(base, described, "openapi", tag="", gzips=incoming.gzip())


def _allowing(base: str) -> Answer:
    methods = ALLOWED.encode("ascii")
    listed = [(b"allow", methods), (b"access-control-allow-methods", methods)]
    return completed(200, [root_link(base), *listed], place="options")


def _json(
    base: str, value: Any, place: str, *, tag: str | None = None, gzips: bool = False
) -> Answer:
    body = encode_json(value)
    return completed(200, [root_link(base), JSON], body, place=place, tag=tag, gzips=gzips)
