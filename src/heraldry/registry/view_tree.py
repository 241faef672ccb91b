"""Trees of entities as JSON text in pieces, read row by row (CO-03, CO-04, GN-05).

Children, counts, default versions and documents are asked for many parents at once: what a tree
costs grows with its entities and never with the number of its collections.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

import msgspec

from heraldry.registry.filtering_scope import Scope, resource_facts, row_facts
from heraldry.registry.large_documents import Documents, LargeDocument, Piecewise
from heraldry.registry.view_documents import inlined_document
from heraldry.registry.view_layout import group_shape

if TYPE_CHECKING:
    from heraldry.model.metamodel import GroupType
    from heraldry.registry.inlining import Inlining
    from heraldry.registry.session import Session
    from heraldry.registry.view import View
    from heraldry.registry.view_layout import GroupShape, ResourceShape
    from heraldry.store.rows import Row

AT_ONCE: Final = 200
"""So many parents share their questions to the store."""
DOCUMENTS_AT_ONCE: Final = 64
"""So many documents are in memory together."""

_encode = msgspec.json.Encoder().encode

T = TypeVar("T")
Part = tuple[str, Any]
"""A member of an object: a name with a value, or with :class:`Entries`."""
Each = Iterator[tuple[str, "list[Part] | dict[str, Any]"]]
"""Entities by their ids, one after the other."""


@dataclass(frozen=True, slots=True)
class Entries:
    """The entities of a collection that is inlined, to be taken once."""

    each: Each


Version = tuple["Row", dict[str, Any]]
"""A version with the attribute that holds its document, where that is inlined."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """A resource with what was asked together with others."""

    row: Row
    default: Row | None
    document: dict[str, Any]
    versions: int
    """How many of its versions are shown."""
    inlined: Iterator[Version] | None
    """Those versions, where they are inlined."""


class Siblings(Generic[T]):
    """A stream of children, parent by parent, handed out to one parent after the other."""

    def __init__(self, stream: Iterator[tuple[int, T]]) -> None:
        self._stream = stream
        self._next = next(stream, None)

    def of(self, parent: int) -> Iterator[T]:
        """The children of a parent; parents must come in the order of the stream."""
        while self._next is not None and self._next[0] == parent:
            child = self._next[1]
            yield child
            self._next = next(self._stream, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Nested:
    """The resources of one type in several groups."""

    shape: ResourceShape
    counts: dict[int, int]
    inline: Inlining | None
    found: Siblings[Resource] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """Shows entities with all that is inlined in them."""

    session: Session
    view: View
    streams: bool = False
    """Whether the reply is sent as text in pieces, so that large documents may be, too."""

    def registry(self, inline: Inlining, scope: Scope) -> list[Part]:
        """The collections of the registry, the empty ones too (RG-01, RG-07)."""
        parts: list[Part] = []
        for plural, type in self.session.model.groups.items():  # noqa: A001
            found = self.session.tx.count([0], plural, keys=scope.groups).get(0, 0)
            below = inline.at(plural)
            each: Each | None = None
            if below is not None:
                rows = self.session.tx.children([0], plural, keys=scope.groups)
                each = self.groups(type, rows, below, scope)
            parts += self.collection("", plural, found, each, scope, (plural,))
        return parts

    def collection(
        self,
        owner: str,
        plural: str,
        count: int,
        each: Each | None,
        scope: Scope,
        place: tuple[str, ...],
    ) -> list[Part]:
        """The address and the count of a collection (CO-01, CO-03..CO-05), and what is in it.

        ``each``: its entities, where they are inlined.
        """
        address = self.view.link(f"{owner}/{plural}", inside=each is not None)
        if not address.startswith("#"):
            address += scope.query(place, count)
        counted: Part = (f"{plural}count", count)
        shown: list[Part] = [(plural, Entries(each))] if each is not None else []
        rest = [*shown, counted] if self.view.wire.map_before_count else [counted, *shown]
        return [(f"{plural}url", address), *rest]

    def groups(
        self,
        type: GroupType,  # noqa: A002
        rows: Iterable[Row],
        inline: Inlining,
        scope: Scope,
    ) -> Each:
        """Groups of one type (GR-01)."""
        shape = group_shape(type, self.view.wire)
        for several in _batches(rows):
            nested = self._nested(shape, several, inline, scope)
            for row in several:
                head = self.view.group(shape, row).items()
                yield row.id, [*head, *self._in_group(shape, row, nested, scope)]

    def group(
        self,
        type: GroupType,  # noqa: A002
        row: Row,
        inline: Inlining,
        scope: Scope,
    ) -> list[Part]:
        """The collections of one group, the empty ones too (GR-02)."""
        shape = group_shape(type, self.view.wire)
        nested = self._nested(shape, [row], inline, scope)
        return list(self._in_group(shape, row, nested, scope))

    def _nested(
        self, shape: GroupShape, rows: list[Row], inline: Inlining, scope: Scope
    ) -> list[_Nested]:
        keys = [row.key for row in rows]
        return [
            _Nested(
                shape=one,
                counts=self.session.tx.count(keys, one.path, keys=scope.resources),
                inline=below,
                found=None if below is None else self._resource_stream(one, keys, below, scope),
            )
            for one in shape.resources
            for below in (inline.at(one.type.plural),)
        ]

    def _in_group(
        self, shape: GroupShape, row: Row, nested: list[_Nested], scope: Scope
    ) -> Iterator[Part]:
        plural = shape.type.plural
        inner = scope.settled((plural,), {"group": row_facts(row)}) if scope.filtered else scope
        for one in nested:
            name = one.shape.type.plural
            count = one.counts.get(row.key, 0)
            each: Each | None = None
            if one.found is not None and one.inline is not None:
                each = self._each(one.shape, one.found.of(row.key), one.inline, inner)
            yield from self.collection(row.xid, name, count, each, inner, (plural, name))

    def resources(
        self, shape: ResourceShape, rows: Iterable[Row], inline: Inlining, scope: Scope
    ) -> Each:
        """Resources of one type (RS-02)."""
        return self._each(shape, self._prepared(shape, rows, inline, scope), inline, scope)

    def resource(
        self, shape: ResourceShape, row: Row, inline: Inlining, scope: Scope
    ) -> list[Part]:
        """One resource, in its metadata form."""
        one = next(self._prepared(shape, [row], inline, scope))
        return list(self._resource_parts(shape, one, inline, scope))

    def _resource_stream(
        self, shape: ResourceShape, parents: list[int], inline: Inlining, scope: Scope
    ) -> Siblings[Resource]:
        rows = self.session.tx.children(parents, shape.path, keys=scope.resources)
        found = self._prepared(shape, rows, inline, scope)
        return Siblings((one.row.parent, one) for one in found)

    def _prepared(
        self, shape: ResourceShape, rows: Iterable[Row], inline: Inlining, scope: Scope
    ) -> Iterator[Resource]:
        tx = self.session.tx
        for several in _batches(rows):
            # In the document view nothing behind an xref is shown (XR-08).
            shown = [row for row in several if not (row.xref and self.view.doc)]
            keys = [row.key for row in shown]
            counts = tx.count(keys, shape.versions, keys=scope.versions) if keys else {}
            defaults = tx.by_key([row.default for row in shown if row.default]) if keys else {}
            alias = () if self.view.doc else defaults.values()
            documents = self._documents(shape, alias, inline)
            inlined: Siblings[Version] | None = None
            below = inline.at("versions")
            if below is not None:
                rows_below = tx.children(keys, shape.versions, keys=scope.versions)
                found = self.with_documents(shape, rows_below, below)
                inlined = Siblings((one[0].parent, one) for one in found)
            for row in several:
                default = defaults.get(row.default)
                yield Resource(
                    row=row,
                    default=default,
                    document={} if self.view.doc else self._document(shape, default, documents),
                    versions=counts.get(row.key, 0),
                    inlined=None if inlined is None else inlined.of(row.key),
                )

    def _documents(
        self, shape: ResourceShape, rows: Iterable[Row], inline: Inlining
    ) -> Mapping[int, bytes | LargeDocument] | None:
        """The documents of versions, where they are inlined (DO-03)."""
        if not shape.type.hasdocument or inline.at(shape.type.singular) is None:
            return None
        keys = [row.document for row in rows if row.document]
        if not keys:
            return {}
        tx = self.session.tx
        return Documents(tx, keys) if self.streams else {**tx.documents(keys)}

    def _document(
        self,
        shape: ResourceShape,
        row: Row | None,
        documents: Mapping[int, bytes | LargeDocument] | None,
    ) -> dict[str, Any]:
        if documents is None or row is None:
            return {}
        return inlined_document(shape, row, documents, proxy=self.session.proxy, view=self.view)

    def _each(
        self, shape: ResourceShape, found: Iterable[Resource], inline: Inlining, scope: Scope
    ) -> Each:
        for one in found:
            yield one.row.id, list(self._resource_parts(shape, one, inline, scope))

    def _resource_parts(
        self, shape: ResourceShape, one: Resource, inline: Inlining, scope: Scope
    ) -> Iterator[Part]:
        """The attributes of a resource, its meta entity and its versions (RS-02..RS-05)."""
        view, row = self.view, one.row
        yield from view.resource(shape, row, one.default, one.document).items()
        meta = inline.at("meta") is not None
        versions = inline.at("versions")
        yield "metaurl", view.link(f"{row.xid}/meta", inside=meta)
        if meta:
            kept = scope.versions is None or row.default in scope.versions
            inside = versions is not None and kept
            yield "meta", view.meta(shape, row, one.default, inside=inside)
        if row.xref and (view.doc or one.default is None):
            return
        inner = scope
        place = (shape.group.plural, shape.type.plural)
        if scope.filtered:
            inner = scope.settled(place, resource_facts(row, one.default))
        each = None if one.inlined is None else self.versions(shape, row, one.inlined)
        yield from self.collection(
            row.xid, "versions", one.versions, each, inner, (*place, "versions")
        )

    def with_documents(
        self, shape: ResourceShape, rows: Iterable[Row], inline: Inlining
    ) -> Iterator[Version]:
        """Versions with their documents, which are asked for many of them at once."""
        for several in _batches(rows, DOCUMENTS_AT_ONCE):
            documents = self._documents(shape, several, inline)
            for row in several:
                yield row, self._document(shape, row, documents)

    def versions(self, shape: ResourceShape, resource: Row, found: Iterable[Version]) -> Each:
        """Versions of one resource (VE-01)."""
        for row, document in found:
            values = self.view.version(shape, resource, row, document)
            large = any(isinstance(value, Piecewise) for value in document.values())
            yield row.id, list(values.items()) if large else values


def value_of(parts: list[Part] | dict[str, Any]) -> dict[str, Any]:
    """An entity as a value, with all that is inlined in it."""
    return {
        name: {id: value_of(one) for id, one in value.each} if isinstance(value, Entries) else value  # noqa: A001
        for name, value in (parts.items() if isinstance(parts, dict) else parts)
    }


def map_of(each: Each) -> Iterator[bytes]:
    """Entities as a JSON object, written as they arrive."""
    before = b"{"
    for id, parts in each:  # noqa: A001
        start = before + encoded(id) + b":"
        before = b","
        if isinstance(parts, dict):
            yield start + encoded(parts)
        else:
            yield start
            yield from object_of(parts)
    yield b"{}" if before == b"{" else b"}"


def object_of(parts: list[Part]) -> Iterator[bytes]:
    """An entity as a JSON object; what is inlined in it is written as it arrives."""
    plain: dict[str, Any] = {}
    before = b"{"
    for name, value in parts:
        if not isinstance(value, Entries | Piecewise):
            plain[name] = value
            continue
        plain_text = encoded(plain)[1:-1]
        comma = b"," if plain_text else b""
        yield before + plain_text + comma + encoded(name) + b":"
        before, plain = b",", {}
        yield from value.text() if isinstance(value, Piecewise) else map_of(value.each)
    if plain:
        yield before + encoded(plain)[1:]
    else:
        yield b"{}" if before == b"{" else b"}"


def encoded(value: Any) -> bytes:
    """JSON text of a value."""
    try:
        return _encode(value)
    except (OverflowError, UnicodeEncodeError):  # what the fast encoder cannot write
        return json.dumps(value, separators=(",", ":")).encode("ascii")


def _batches(rows: Iterable[T], size: int = AT_ONCE) -> Iterator[list[T]]:
    stream = iter(rows)
    while several := list(islice(stream, size)):
        yield several
