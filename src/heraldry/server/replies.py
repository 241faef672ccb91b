"""From a reply of the registry to an HTTP response (HT-04, HT-05, HT-09..HT-13, HB, PG-02)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import quote

import msgspec

from heraldry.dialects.xreg_1_0.flag_names import CURSOR
from heraldry.dialects.xreg_1_0.header_values import plain_value
from heraldry.registry.request import Document, Place, Reply, Request
from heraldry.server.answer import Answer, completed, take
from heraldry.server.attribute_headers import write_headers
from heraldry.server.incoming import Header, Incoming
from heraldry.server.page import PAGE, page

JSON: Header = (b"content-type", b"application/json; charset=utf-8")
INDENT_BELOW: Final = 1_000_000
"""JSON of fewer bytes is indented for those who read it; more is sent as compact as it is made."""
_ENTITIES: Final = (Place.REGISTRY, Place.GROUP, Place.RESOURCE, Place.META, Place.VERSION)
_STATUS = {"ok": 200, "created": 201, "deleted": 204, "elsewhere": 303}


def encode_json(value: Any) -> bytes:
    """JSON text of a value, indented unless it is large."""
    try:
        return indented(msgspec.json.encode(value))
    except (OverflowError, UnicodeEncodeError):  # what the fast encoder cannot write
        return json.dumps(value, indent=2).encode("ascii")


def indented(text: bytes) -> bytes:
    """JSON text with two spaces for each level where it is short enough to be read."""
    if len(text) >= INDENT_BELOW:
        return text
    try:
        return msgspec.json.format(text, indent=2)
    except msgspec.DecodeError:  # a lone surrogate, which is only sent as it came
        return text


def root_link(base: str) -> Header:
    """The header that leads to the registry from everywhere (HT-04)."""
    return b"link", f"<{base}>;rel=xregistry-root".encode("ascii", "xmlcharrefreplace")


def answer_of(reply: Reply, request: Request, incoming: Incoming, *, html: bool = False) -> Answer:
    """The response to a request that worked; with ``html`` JSON that is read becomes a page."""
    headers = [root_link(request.base), *_links(reply, request, incoming), *_places(reply)]
    body, rest = b"", reply.pieces
    if reply.document is not None:
        headers += _document_headers(reply.document, request)
        body = reply.document.content
        if reply.pieces is not None:
            body = next(reply.pieces, b"")
    elif reply.outcome != "deleted":
        body, rest = _json_of(reply)
        paged = html and rest is None and request.action == "get"
        headers += PAGE if paged else [JSON]
        body = page(body, request.base) if paged else body
    if request.correlation:
        headers.append((b"xRegistry-xregcorrelationid", request.correlation.encode("ascii")))
    return completed(
        _STATUS[reply.outcome],
        headers,
        body,
        rest=rest,
        size=reply.size,
        memory=0 if reply.streamed else reply.size or 0,
        place=request.target.place.name.lower(),
        tag=reply.tag if _is_tagged(reply, request) else None,
        gzips=incoming.gzip(),
    )


def _is_tagged(reply: Reply, request: Request) -> bool:
    """Whether a reply has the tag of a GET of its address.

    That of a PUT only where the bytes that were sent are those that are kept (RFC 9110, 9.3.4).
    """
    if reply.volatile or request.action == "get":
        return not reply.volatile
    if request.action == "put":
        sent, document = request.body, reply.document
        return (
            isinstance(sent, Document)
            and document is not None
            and (document.content == sent.content)
        )
    return request.action == "patch" and request.target.place in _ENTITIES


def _json_of(reply: Reply) -> tuple[bytes, Iterator[bytes] | None]:
    """The JSON of a reply, indented; of a large one only its beginning, and what follows."""
    if reply.pieces is None:
        return encode_json(reply.body), None
    body, more = take(reply.pieces, INDENT_BELOW)
    return (body, reply.pieces) if more else (indented(body), None)


def _places(reply: Reply) -> list[Header]:
    found = ((b"location", reply.location), (b"content-location", reply.content_location))
    return [(name, plain_value(url).encode("ascii")) for name, url in found if url]


def _links(reply: Reply, request: Request, incoming: Incoming) -> list[Header]:
    """The link to the next page, while there is one (PG-02..PG-04)."""
    if not reply.next:
        return []
    raw = incoming.query.decode("latin-1").split("&")
    kept = [part for part in raw if part and part.partition("=")[0] != CURSOR]
    query = "&".join([*kept, f"{CURSOR}={quote(reply.next, safe='')}"])
    url = plain_value(f"{request.base}{quote(request.path)}?{query}").replace(">", "%3E")
    count = "" if reply.total is None else f";count={reply.total}"
    return [(b"link", f"<{url}>;rel=next{count}".encode("ascii"))]


def _document_headers(document: Document, request: Request) -> list[Header]:
    """The headers of a document; nothing in it may run in the name of this server."""
    headers = write_headers(document.attributes, request.wire)
    if document.contenttype:
        headers.append((b"content-type", plain_value(document.contenttype).encode("ascii")))
    return [
        *headers,
        (b"content-disposition", request.target.resource.encode("ascii", "ignore")),
        (b"x-content-type-options", b"nosniff"),
        (b"content-security-policy", b"sandbox"),
    ]
