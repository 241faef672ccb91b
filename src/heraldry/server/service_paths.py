"""Paths beside the registry's own: health, metrics, OpenAPI and discovery (HT-01, HT-17)."""

from __future__ import annotations

from typing import Any, Final

from heraldry.errors import RegistryError
from heraldry.server.answer import Answer, completed
from heraldry.server.incoming import Incoming
from heraldry.server.metrics import CONTENT_TYPE, Metrics
from heraldry.server.offer import Offer
from heraldry.server.openapi import describe
from heraldry.server.openapi_page import OPENAPI_HTML, openapi_page
from heraldry.server.openapi_service import (
    DISCOVERY,
    HEALTH,
    METRICS,
    OPENAPI,
    OPENAPI_PAGE,
    READY,
)
from heraldry.server.replies import JSON, encode_json, root_link

UNCACHED: Final = (HEALTH, READY, METRICS)
PATHS: Final = frozenset((HEALTH, READY, METRICS, OPENAPI, OPENAPI_PAGE, *DISCOVERY))
ALLOWED: Final = "GET, OPTIONS"


def is_service(path: str, offer: Offer) -> bool:
    """Whether a path is one of ours; a group type of that name has precedence (HT-01)."""
    if path not in PATHS:
        return False
    # Both must be answered also where the store is away.
    types = offer.last_types if path in (HEALTH, READY) else offer.types()
    return path[1:] not in types.model.groups


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
    if path in (HEALTH, READY):
        if path == READY:
            _ask_store(offer)
        return _json(base, {"status": "ok"}, path[1:])
    if path in DISCOVERY:
        if ".xregistry" not in offer.types().capabilities.available:
            raise RegistryError("not_available", path)
        return _json(base, {"registries": [root, root + offer.mount]}, "discovery", tag="")
    types = offer.types()
    described = describe(types.model, types.capabilities, base)
    if path == OPENAPI_PAGE:
        text = openapi_page(described, base + OPENAPI)
        headers = [root_link(base), *OPENAPI_HTML]
        return completed(200, headers, text, place="openapi", tag="", gzips=incoming.gzip())
    return _json(base, described, "openapi", tag="", gzips=incoming.gzip())


def _ask_store(offer: Offer) -> None:
    try:
        offer.revision()
    except Exception as error:
        raise RegistryError("server_busy", READY) from error


def _allowing(base: str) -> Answer:
    methods = ALLOWED.encode("ascii")
    listed = [(b"allow", methods), (b"access-control-allow-methods", methods)]
    return completed(200, [root_link(base), *listed], place="options")


def _json(
    base: str, value: Any, place: str, *, tag: str | None = None, gzips: bool = False
) -> Answer:
    body = encode_json(value)
    return completed(200, [root_link(base), JSON], body, place=place, tag=tag, gzips=gzips)
