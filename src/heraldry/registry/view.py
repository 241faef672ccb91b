"""One view of the registry: how a request wants entities to be shown (VW-01, FL-20..FL-22)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from heraldry.registry.view_layout import registry_layout
from heraldry.registry.view_short import short_path

if TYPE_CHECKING:
    from heraldry.dialects.xreg_1_0.wire import Wire
    from heraldry.registry.session import Session
    from heraldry.registry.view_layout import GroupShape, ResourceShape
    from heraldry.store.rows import Row

_NOT_IN_DOCUMENTS: Final = (
    "formatvalidated",
    "formatvalidatedreason",
    "compatibilityvalidated",
    "compatibilityvalidatedreason",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """How entities are shown; the values of one request."""

    wire: Wire
    base: str
    root: str
    """The xid of what the reply shows, ``""`` for the registry: pointers start there."""
    doc: bool
    binary: bool
    shortself: bool
    """Whether entities have a ``shortself`` (CA-06)."""

    def link(self, xid: str, details: str = "", *, inside: bool = True) -> str:
        """The address of an entity or collection: a pointer in a document that holds it (CA-05).

        ``inside``: whether it is part of the reply; without the document view that is the same.
        """
        if self.doc and inside:
            return "#" + (xid[len(self.root) :].replace("~", "~0") or "/")
        return f"{self.base}{xid}{details}"

    def places(
        self, key: int, xid: str, details: str = "", *, meta: bool = False
    ) -> dict[str, Any]:
        """``self``, ``shortself`` and ``xid`` (CA-05..CA-07)."""
        shown = {"self": self.link(xid, details), "xid": xid}
        if self.shortself:
            shown["shortself"] = self.base + short_path(key, meta=meta)
        return shown

    def registry(self, session: Session) -> dict[str, Any]:
        """The registry itself, without anything that can be inlined (RG-01, RG-02)."""
        state = session.state
        values = {
            **state.attributes,
            "specversion": self.wire.specversion,
            "registryid": state.id,
            **self.places(0, "/"),
        }
        return registry_layout(session.model, self.wire).order(values)

    def group(self, shape: GroupShape, row: Row) -> dict[str, Any]:
        """A group without its collections (GR-01)."""
        values = {**row.attributes, shape.id: row.id, **self.places(row.key, row.xid)}
        return shape.layout.order(values)

    def version(
        self, shape: ResourceShape, resource: Row, row: Row, document: Mapping[str, Any]
    ) -> dict[str, Any]:
        """A version in its metadata form (VE-01)."""
        values = {
            **row.attributes,
            shape.id: resource.id,
            "versionid": row.id,
            "isdefault": row.key == resource.default,
            **self.places(row.key, row.xid, shape.details),
            **document,
        }
        if self.doc:
            for name in _NOT_IN_DOCUMENTS:
                values.pop(name, None)
        return shape.version.order(values)

    def resource(
        self, shape: ResourceShape, row: Row, default: Row | None, document: Mapping[str, Any]
    ) -> dict[str, Any]:
        """A resource up to its meta entity: the default version under its own ids (RS-02).

        The document view has only the ids (RS-03), and so has an xref that dangles (XR-04).
        """
        own = {shape.id: row.id, **self.places(row.key, row.xid, shape.details)}
        if self.doc or default is None:
            return shape.version.order(own)
        values = {
            **default.attributes,
            "versionid": default.id,
            "isdefault": True,
            **own,
            **document,
        }
        return shape.version.order(values)

    def meta(
        self, shape: ResourceShape, row: Row, default: Row | None, *, inside: bool
    ) -> dict[str, Any]:
        """The meta entity of a resource (ME-01); ``inside``: its default version is shown too.

        Behind an xref that dangles, or in the document view behind any, there is nothing more
        than the ids and the xref itself (XR-04, XR-08).
        """
        own = {shape.id: row.id, **self.places(row.key, f"{row.xid}/meta", meta=True)}
        if row.xref:
            own["xref"] = row.xref
            if self.doc or default is None:
                return shape.meta.order(own)
        values = {"readonly": False, "defaultversionsticky": False, **row.attributes, **own}
        if default is not None:
            values["defaultversionid"] = default.id
            values["defaultversionurl"] = self.link(default.xid, shape.details, inside=inside)
        return shape.meta.order(values)


def view_of(session: Session, root: str, *, doc: bool, binary: bool) -> View:
    """The view a request asks for; ``root`` is the xid of what its reply shows."""
    wire = session.wire
    kept = wire.shortself_in_documents or not doc
    return View(
        wire=wire,
        base=session.request.base,
        root="" if root == "/" else root,
        doc=doc,
        binary=binary,
        shortself=session.capabilities.shortself and kept,
    )
