"""A resource or version as its document, with the attributes beside it (HB-02..HB-05, HT-09)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from heraldry.dialects.xreg_1_0.wire import RC4
from heraldry.errors import IncompleteError
from heraldry.registry.large_documents import Documents, LargeDocument
from heraldry.registry.request import Document, Reply
from heraldry.registry.view import view_of
from heraldry.registry.view_documents import content_of
from heraldry.registry.view_layout import ResourceShape, resource_shape

if TYPE_CHECKING:
    from heraldry.registry.session import Session
    from heraldry.store.rows import Row

_COMPLEX: Final = frozenset(("any", "array", "map", "object"))


def document_reply(
    session: Session,
    shape: ResourceShape,
    resource: Row,
    version: Row | None,
    *,
    versions: int | None = None,
) -> Reply:
    """The document of a version, or of a resource that shows it as its default version.

    ``versions``: how many the resource has, where it is the resource that is shown. Names are
    canonical, and no address has ``$details`` (HB-05).
    """
    view = replace(view_of(session, "/", doc=False, binary=False), wire=RC4)
    bare = replace(resource_shape(shape.group, shape.type.plural, RC4), details="")
    if versions is None and version is not None:
        values = view.version(bare, resource, version, {})
    else:
        values = view.resource(bare, resource, version, {})
        values["metaurl"] = view.link(f"{resource.xid}/meta")
        if version is not None:
            values["versionsurl"] = view.link(f"{resource.xid}/versions")
            values["versionscount"] = versions
    contenttype = values.pop("contenttype", None)
    attributes = dict(_simple(shape, values))
    if version is None:
        return Reply(document=Document(content=b"", attributes=attributes))
    external = version.attributes.get(f"{shape.type.singular}url")
    content = b"" if external else _content(session, shape, version)
    if isinstance(content, LargeDocument) and session.request.room == 0:
        raise IncompleteError
    return Reply(
        outcome="elsewhere" if external else "ok",
        document=Document(
            content=b"" if isinstance(content, LargeDocument) else content,
            contenttype=contenttype,
            attributes=attributes,
        ),
        pieces=content.pieces() if isinstance(content, LargeDocument) else None,
        size=content.size if isinstance(content, LargeDocument) else None,
        streamed=isinstance(content, LargeDocument),
        location=external or "",
        content_location=view.link(version.xid),
    )


def _content(session: Session, shape: ResourceShape, version: Row) -> bytes | LargeDocument:
    address = version.attributes.get(f"{shape.type.singular}proxyurl")
    if address and session.request.action != "get":
        # What was written stays written, whether or not its document can be had by now.
        return session.proxy.inlined(address, session.request.path) or b""
    if address:
        return session.proxy.document(address, session.request.path)
    if not version.document:
        return b""
    keys = [version.document]
    if session.request.action == "get":
        return content_of(version, Documents(session.tx, keys))
    return content_of(version, session.tx.documents(keys))


def _simple(shape: ResourceShape, values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """What can travel beside a document: scalars, and maps of scalars (HB-02)."""
    for name, value in values.items():
        if not isinstance(value, Mapping | list):
            yield name, value
            continue
        attribute = shape.type.attributes.get(name) or shape.type.attributes.get("*")
        item = attribute.item if attribute is not None and attribute.type == "map" else None
        if item is not None and item.type not in _COMPLEX:
            yield name, value
