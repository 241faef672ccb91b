"""From an HTTP request to a request of the registry: path, flags, generation and body."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import unquote

from heraldry.dialects.xreg_1_0.wire import Wire
from heraldry.errors import RegistryError
from heraldry.model.metamodel import Model, ResourceType
from heraldry.registry.limits import Limits
from heraldry.registry.request import ROOT_PATHS, Action, Document, Place, Request, Target
from heraldry.registry.view_short import is_short
from heraldry.server.attribute_headers import read_headers, refuse_headers
from heraldry.server.content import read_json
from heraldry.server.flags import Query, read_flags
from heraldry.server.gate import check_media_type
from heraldry.server.incoming import Incoming
from heraldry.server.methods import METHODS, allowed, supported, wants_document
from heraldry.server.offer import Offer

_COLLECTIONS = (Place.GROUPS, Place.RESOURCES, Place.VERSIONS)


@dataclass(frozen=True, slots=True)
class Spoken:
    """What holds for the whole exchange: addresses, the generation, and the id of its events."""

    base: str
    wire: Wire
    correlation: str = ""


class Addressed:
    """What a request is about: its target, whose types the model has."""

    def __init__(self, incoming: Incoming, offer: Offer, revision: int | None = None) -> None:
        path = _decoded(incoming)
        if is_short(path):
            path = offer.long_path(path)
        parts = path.split("/")[1:]
        _check_parts(parts)
        types = offer.types(revision)
        _check_types(parts, types.model)
        self.path = path
        self.target = Target.parse(path)
        self.capabilities = types.capabilities
        self.type = _resource_type(self.target, types.model)

    def allowed(self) -> str:
        """The methods that work here, as ``Allow`` lists them."""
        return ", ".join(allowed(self.target, self.type, self.capabilities))

    def check_method(self, method: str) -> None:
        """405 for what this place never does (HT-02)."""
        if method not in METHODS or not supported(self.target, method):
            raise RegistryError("action_not_supported", self.path, {"action": method})
        if method == "PATCH" and wants_document(self.target, self.type):
            raise RegistryError("details_required", self.path)


def read_request(
    incoming: Incoming,
    addressed: Addressed,
    query: Query,
    content: bytes,
    limits: Limits,
    spoken: Spoken,
) -> Request:
    """The request for the registry."""
    method = "GET" if incoming.method in ("HEAD", "OPTIONS") else incoming.method
    addressed.check_method(incoming.method)
    target = addressed.target
    body: object = None
    if method == "DELETE":
        if target.place in _COLLECTIONS and content:
            body = _json(incoming, content, limits)
    elif method != "GET":
        if addressed.type is not None and wants_document(target, addressed.type):
            body = _document(incoming, content, addressed.type, spoken.wire)
        else:
            refuse_headers(incoming)
            # Whether it may be missing, the registry says, after it has looked at the flags.
            body = _json(incoming, content, limits) if content else None
    return Request(
        action=cast("Action", method.lower()),
        target=target,
        flags=read_flags(query),
        body=body,
        wire=spoken.wire,
        base=spoken.base,
        path=addressed.path,
        correlation=spoken.correlation,
        elsewhere=incoming.state.fetched_documents,
        room=incoming.state.reply_limit if incoming.reads else None,
        cancelled=incoming.state.cancelled,
    )


def _json(incoming: Incoming, content: bytes, limits: Limits) -> Any:
    check_media_type(incoming)
    return read_json(incoming, content, limits)


def _document(incoming: Incoming, content: bytes, type: ResourceType, wire: Wire) -> Document:  # noqa: A002
    kind = incoming.header(b"content-type")
    return Document(
        content=content,
        contenttype=None if kind in (None, "", "null") else kind,
        attributes=read_headers(incoming, content, type.singular, wire),
    )


def _decoded(incoming: Incoming) -> str:
    """The path as text; what would only look like a path after decoding is refused."""
    raw = incoming.raw_path.decode("latin-1")
    if "%" not in raw and raw.isascii():
        return "/" + raw.strip("/")
    try:
        path = unquote(raw, errors="strict")
    except UnicodeDecodeError:
        raise _bad(incoming.subject, "the path is not UTF-8") from None
    if path.count("/") != raw.count("/"):
        raise _bad(incoming.subject, "%2F is not allowed in a path")
    return "/" + path.strip("/ ")


def _check_types(parts: list[str], model: Model) -> None:
    """A type that the model does not have is not found, whatever comes below it (KD-16)."""
    name = parts[0].removesuffix("$details")
    if not name or name in ROOT_PATHS:
        return
    group = model.groups.get(name)
    if group is None:
        detail = f"There is no Group type {parts[0]}."
        raise RegistryError("not_found", f"/{parts[0]}", detail=detail)
    resources = parts[2].removesuffix("$details") if len(parts) > 2 else ""
    if resources and resources not in group.resources:
        detail = f"There is no Resource type {parts[2]} in {parts[0]}."
        raise RegistryError("not_found", "/" + "/".join(parts[:3]), detail=detail)


def _check_parts(parts: list[str]) -> None:
    """No part of a path may be empty; ``$details`` alone is no id either."""
    for index, part in enumerate(parts):
        if (not part and len(parts) > 1) or (part == "$details" and index in (3, 5)):
            named = "/" + "/".join(parts[: index + 1])
            raise _bad(named, "a part of the path is empty")


def _resource_type(target: Target, model: Model) -> ResourceType | None:
    if not target.resources:
        return None
    return model.groups[target.groups].resources[target.resources]


def _bad(subject: str, reason: str) -> RegistryError:
    return RegistryError("bad_request", subject, {"error_detail": reason})
