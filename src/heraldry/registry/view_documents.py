"""How a document is shown among the attributes of its version (DO-01..DO-05, KD-4)."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from heraldry.errors import RegistryError
from heraldry.model.typemap import kind_of
from heraldry.registry.large_documents import LargeDocument, Piecewise

if TYPE_CHECKING:
    from heraldry.registry.proxy import Proxy
    from heraldry.registry.view import View
    from heraldry.registry.view_layout import ResourceShape
    from heraldry.store.rows import Row


Content = TypeVar("Content", bytes, LargeDocument, bytes | LargeDocument)


def inlined_document(
    shape: ResourceShape,
    row: Row,
    contents: Mapping[int, bytes | LargeDocument],
    *,
    proxy: Proxy,
    view: View,
) -> dict[str, Any]:
    """The attribute that holds a version's document; none where it has none, or elsewhere (DO-01).

    What would not come back as the same bytes, or not as this document at all, is base64: text
    that is no UTF-8, JSON strings and ``null``, which mean other things, and what should be JSON
    but is none, where a text given as a JSON string has another content type (DO-04, KD-4).
    """
    singular = shape.type.singular
    if not shape.type.hasdocument:
        return {}
    address = row.attributes.get(f"{singular}proxyurl")
    if address:
        # Whoever reads the document view back could not give both the address and the content.
        content: bytes | LargeDocument | None = None
        if not view.doc:
            content = proxy.inlined(address, row.xid)
        if content is None:
            return {}
    elif row.document:
        content = content_of(row, contents)
    else:
        return {}
    if isinstance(content, LargeDocument):
        return _large(shape, row, content, view)
    return _shown(shape, row, content, view)


def _large(shape: ResourceShape, row: Row, document: LargeDocument, view: View) -> dict[str, Any]:
    singular = shape.type.singular
    encoding = kind_of(shape.type.typemap, row.attributes.get("contenttype"))
    if not view.binary and (
        (encoding == "json" and document.is_json()) or (encoding == "string" and document.is_text())
    ):
        return {singular: Piecewise(document, encoding)}
    return {f"{singular}base64": Piecewise(document, "base64")}


def _shown(shape: ResourceShape, row: Row, content: bytes, view: View) -> dict[str, Any]:
    singular = shape.type.singular
    if content and not view.binary:
        kind = kind_of(shape.type.typemap, row.attributes.get("contenttype"))
        value = None
        if kind == "json":
            value = _json(content)
        elif kind == "string":
            value = _text(content)
        if value is not None:
            return {singular: value}
    return {f"{singular}base64": base64.b64encode(content).decode()}


def content_of(row: Row, contents: Mapping[int, Content]) -> Content | bytes:
    """The bytes of a version's document; one that is gone spoils the reply (GN-05)."""
    if not row.document:
        return b""
    if row.document not in contents:
        raise RegistryError("data_retrieval_error", row.xid)
    return contents[row.document]


def _text(content: bytes) -> str | None:
    try:
        return content.decode()
    except UnicodeDecodeError:
        return None


def _json(content: bytes) -> Any:
    try:
        value = msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return None if isinstance(value, str) else value
