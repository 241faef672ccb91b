"""Reading entities and collections: one GET at work, its flags already understood."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

from heraldry.errors import IncompleteError, RegistryError
from heraldry.registry.filtering_scope import (
    Facts,
    Scope,
    resource_facts,
    row_facts,
    version_facts,
)
from heraldry.registry.large_documents import Documents, Piecewise
from heraldry.registry.paging import rows_of
from heraldry.registry.read_documents import document_reply
from heraldry.registry.read_settings import inlined_settings
from heraldry.registry.request import Place, Reply
from heraldry.registry.view_documents import inlined_document
from heraldry.registry.view_layout import group_shape, resource_shape
from heraldry.registry.view_tree import Each, Entries, Part, Tree, map_of, object_of

if TYPE_CHECKING:
    from heraldry.model.metamodel import GroupType
    from heraldry.registry.filtering_terms import Owner
    from heraldry.registry.inlining import Inlining
    from heraldry.registry.request import Flags, Target
    from heraldry.registry.session import Session
    from heraldry.registry.view import View
    from heraldry.registry.view_layout import ResourceShape
    from heraldry.store.query import Order
    from heraldry.store.rows import Row

_PIECE: Final = 64 * 1024
_BIRTH: Final = ("createdat", "modifiedat")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One GET: the target, and how it is to be shown."""

    session: Session
    target: Target
    flags: Flags
    owner: Owner
    view: View
    inline: Inlining
    order: Order | None
    asked: Scope
    """The filter, before anything of it is settled."""

    def reply(self) -> Reply:
        """What the target looks like."""
        return _REPLIES[self.target.place](self)

    @property
    def _tree(self) -> Tree:
        return Tree(session=self.session, view=self.view, streams=self._streams)

    @property
    def _streams(self) -> bool:
        """Whether documents may be read while they are sent: after a write they are not stored."""
        return self.session.request.action == "get"

    @property
    def _group(self) -> GroupType:
        return self.session.model.groups[self.target.groups]

    @property
    def _shape(self) -> ResourceShape:
        return resource_shape(self._group, self.target.resources, self.view.wire)

    def registry(self) -> Reply:
        """The registry itself (RG-01), or all of it as one document (VW-03)."""
        session = self.session
        head: dict[str, Any] = {}
        if not self.flags.collections:
            head = self.view.registry(session)
            head.update(inlined_settings(session, self.inline))
        state = session.state
        known = {"#id": state.id, "#xid": "/", "specversion": self.view.wire.specversion}
        scope = self._settled({"registry": {**state.attributes, **known}}, "/")
        parts = [*head.items(), *self._tree.registry(self.inline, scope)]
        if self.target.place is Place.EXPORT:
            pieces = _gathered(object_of(parts))
            return Reply(pieces=pieces, streamed=True, tag=self._revision())
        tag = f"registry-{state.attributes['epoch']}"
        return self._entity(parts, tag)

    def group(self) -> Reply:
        """A group (GR-01)."""
        row = self._found(self.target.xid)
        scope = self._settled({"group": row_facts(row)}, row.xid)
        head = {}
        if not self.flags.collections:
            head = self.view.group(group_shape(self._group, self.view.wire), row)
        parts = [*head.items(), *self._tree.group(self._group, row, self.inline, scope)]
        return self._entity(parts, self._tag(row))

    def resource(self) -> Reply:
        """A resource: its document, or its metadata (RS-02, HT-00)."""
        row = self._found(self.target.xid)
        shape = self._shape
        default: Row | None = None
        scope = self.asked
        if scope.filtered or self._wants_document(shape):
            default = self._default(row)
            scope = self._settled(resource_facts(row, default), row.xid)
        tag = "" if row.xref else self._tag(row)
        if self._wants_document(shape):
            count = self.session.tx.count([row.key], shape.versions).get(row.key, 0)
            reply = document_reply(self.session, shape, row, default, versions=count)
            return self._tagged(reply, tag, default)
        parts = self._tree.resource(shape, row, self.inline, scope)
        version = next((value for name, value in parts if name == "versionid"), "")
        epoch = next((value for name, value in parts if name == "epoch"), "")
        return self._entity(parts, f"{tag}-{version}-{epoch}" if tag else "")

    def meta(self) -> Reply:
        """The meta entity of a resource (ME-01)."""
        row = self._found(self.target.xid.removesuffix("/meta"))
        default = self._default(row)
        self._settled(resource_facts(row, default), row.xid)
        body = self.view.meta(self._shape, row, default, inside=False)
        return self._entity(list(body.items()), "" if row.xref else self._tag(row))

    def version(self) -> Reply:
        """A version: its document, or its metadata (VE-01, HT-00)."""
        row = self._found(self.target.xid)
        resource = self._owner(row)
        self._settled(version_facts(row, resource), row.xid)
        shape = self._shape
        default = int(row.key == resource.default)
        tag = "" if row.borrowed else f"{self._tag(row)}-{default}"
        if self._wants_document(shape):
            reply = document_reply(self.session, shape, resource, row)
            return self._tagged(reply, tag, row)
        document: Mapping[str, Any] = {}
        if self.inline.at(shape.type.singular) is not None and shape.type.hasdocument:
            tx, keys = self.session.tx, [row.document] if row.document else []
            contents = Documents(tx, keys) if self._streams else {**tx.documents(keys)}
            document = inlined_document(
                shape, row, contents, proxy=self.session.proxy, view=self.view
            )
        return self._entity(list(self.view.version(shape, resource, row, document).items()), tag)

    def groups(self) -> Reply:
        """A collection of groups."""
        return self._collection(
            0,
            self.target.groups,
            "/",
            lambda rows, scope: self._tree.groups(self._group, rows, self.inline, scope),
        )

    def resources(self) -> Reply:
        """A collection of resources."""
        parent = self._found(f"/{self.target.groups}/{self.target.group}")
        shape = self._shape
        return self._collection(
            parent.key,
            shape.path,
            parent.xid,
            lambda rows, scope: self._tree.resources(shape, rows, self.inline, scope),
        )

    def versions(self) -> Reply:
        """A collection of versions."""
        parent = self._found(self.target.xid.removesuffix("/versions"))
        self._refuse_xref(parent)
        shape = self._shape
        return self._collection(
            parent.key,
            shape.versions,
            parent.xid,
            lambda rows, _: self._tree.versions(
                shape, parent, self._tree.with_documents(shape, rows, self.inline)
            ),
        )

    def _collection(
        self,
        parent: int,
        type: str,  # noqa: A002
        under: str,
        entries: Callable[[Iterable[Row], Scope], Each],
    ) -> Reply:
        scope = self.asked
        if scope.filtered:
            if not scope.alternatives:
                return Reply(body={}, tag="none")
            scope = replace(scope, leaves=self.session.tx.leaves(scope.question, under))
        kind = self.owner.level
        keys = {"group": scope.groups, "resource": scope.resources}.get(kind, scope.versions)
        part = rows_of(self.session, self.flags, parent, type, self.order, keys)
        reply = self._whole(map_of(entries(part.rows, scope)))
        return replace(reply, next=part.next, total=part.total)

    def _entity(self, parts: list[Part], tag: str) -> Reply:
        """An entity: small ones as a value, those with collections inside as text."""
        if any(isinstance(value, Entries | Piecewise) for _, value in parts):
            return self._whole(object_of(parts))
        return Reply(body=dict(parts), tag=self._revision() if self.asked.filtered else tag)

    def _whole(self, pieces: Iterator[bytes]) -> Reply:
        """A reply of pieces that are all read before it is sent; ``too_large`` (FL-53)."""
        chunks, size = [], 0
        room = self.session.request.room
        for piece in _gathered(pieces):
            size += len(piece)
            if self.session.request.cancelled():
                raise RegistryError("server_busy", detail="The client has left.")
            if room is not None and room < size <= self.session.limits.inline:
                raise IncompleteError
            if size > self.session.limits.inline:
                detail = f"The reply would be larger than {self.session.limits.inline} bytes."
                raise RegistryError("too_large", self.session.request.path, detail=detail)
            chunks.append(piece)
        return Reply(pieces=iter(chunks), size=size, tag=self._revision())

    def _settled(self, facts: Facts, under: str) -> Scope:
        """The filter below the addressed entity, which must survive it itself (FL-37)."""
        scope = self.asked
        if not scope.filtered:
            return scope
        scope = scope.settled(self.owner.place, facts)
        if not scope.passes_all:
            leaves = self.session.tx.leaves(scope.question, under) if scope.alternatives else None
            if leaves is None or not (leaves.groups or leaves.resources or leaves.versions):
                raise self._missing()
            scope = replace(scope, leaves=leaves)
        return scope

    def _found(self, xid: str) -> Row:
        row = self.session.tx.find(xid)
        if row is None:
            raise self._missing() if xid == self.target.xid else RegistryError("not_found", xid)
        return row

    def _missing(self) -> RegistryError:
        details = "$details" if self.target.details else ""
        return RegistryError("not_found", self.target.xid + details)

    def _default(self, row: Row) -> Row | None:
        if not row.default:
            return None
        found = self.session.tx.by_key([row.default]).get(row.default)
        if found is None:
            raise RegistryError("data_retrieval_error", row.xid)
        return found

    def _owner(self, row: Row) -> Row:
        """The resource of a version; its document view has no versions behind an xref (XR-09)."""
        found = self.session.tx.by_key([row.parent]).get(row.parent)
        if found is None:
            raise RegistryError("data_retrieval_error", row.xid)
        self._refuse_xref(found)
        return found

    def _refuse_xref(self, resource: Row) -> None:
        if resource.xref and self.view.doc:
            raise RegistryError("cannot_doc_xref", resource.xid)

    def _wants_document(self, shape: ResourceShape) -> bool:
        return shape.type.hasdocument and not self.target.details and not self.view.doc

    def _tag(self, row: Row) -> str:
        """Changes with the entity, and with what the registry says about all entities (RG-08)."""
        return f"{self.session.state.attributes['epoch']}-{row.key}-{row.attributes['epoch']}"

    def _tagged(self, reply: Reply, tag: str, row: Row | None) -> Reply:
        """A document's reply with a tag; what is sent in pieces is known by that alone."""
        if reply.streamed:
            return replace(reply, tag=self._revision())
        shown = f"{tag}-{row.id}-{row.attributes['epoch']}-d" if tag and row is not None else ""
        return replace(reply, tag=shown)

    def _revision(self) -> str:
        """Changes with every write; another registry at this address has other tags."""
        revision, state = self.session.revision, self.session.state
        if revision is None:
            return ""
        told = [state.id, *(str(state.attributes.get(name)) for name in _BIRTH)]
        return f"r{revision}-{blake2b(repr(told).encode(), digest_size=6).hexdigest()}"


def _gathered(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Small pieces as fewer large ones."""
    waiting, size = [], 0
    for piece in pieces:
        waiting.append(piece)
        size += len(piece)
        if size >= _PIECE:
            yield b"".join(waiting)
            waiting, size = [], 0
    if waiting:
        yield b"".join(waiting)


_REPLIES: Final[Mapping[Place, Callable[[Reading], Reply]]] = {
    Place.REGISTRY: Reading.registry,
    Place.EXPORT: Reading.registry,
    Place.GROUPS: Reading.groups,
    Place.GROUP: Reading.group,
    Place.RESOURCES: Reading.resources,
    Place.RESOURCE: Reading.resource,
    Place.META: Reading.meta,
    Place.VERSIONS: Reading.versions,
    Place.VERSION: Reading.version,
}
