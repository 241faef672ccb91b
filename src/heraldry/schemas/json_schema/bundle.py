"""A JSON Schema with the documents of the catalog it refers to, all references made absolute.

Afterwards a reference means the same wherever it is read, and no address is that of a server.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final
from urllib.parse import quote, unquote

from heraldry.errors import MessageError, SchemaError
from heraldry.schemas.json_schema.references import REFERENCES
from heraldry.schemas.json_schema.scan import (
    METASCHEMAS,
    SUBSCHEMA_LIMIT,
    Place,
    at,
    catalog_pointer,
    dialect,
    joined,
    metaschema,
    scan,
)
from heraldry.schemas.located import pointer
from heraldry.schemas.parse import encode, parse
from heraldry.schemas.source import Source

Sizes = tuple[int, int, int]

LIMITS: Final[Sizes] = (4 * 1024 * 1024, 40_000, 30_000)
"""How many bytes, objects or arrays (by brackets), members or items (by commas) there may be."""

NO_SIZES: Final[Sizes] = (0, 0, 0)
"""The size of nothing."""

_MEASURED = ("bytes", "objects and arrays", "members and items")

HOME: Final = "https://schema.invalid/"
"""Where documents are said to be; the name is reserved, so that nobody has it."""

_ANCHORS = ("$anchor", "$dynamicAnchor")
_NAME_LIMIT = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """The documents by their made-up address, the root first, and all that has an address.

    ``names`` are those the documents have in the catalog, in the same order, and ``metaschemas``
    the schemas of drafts that are referred to.

    ``foreign`` says that the root does not compile without the others.
    """

    documents: tuple[tuple[str, Any], ...]
    names: tuple[str, ...]
    metaschemas: tuple[str, ...]
    places: Mapping[str, Any]
    foreign: bool

    @property
    def home(self) -> str:
        """The address of the root."""
        return self.documents[0][0]

    @property
    def root(self) -> Any:
        """The root, its references absolute."""
        return self.documents[0][1]


@dataclass(slots=True, eq=False)
class _Document:
    """A document: ``base`` is where it says it is, ``home`` where it is put."""

    name: str
    root: Any
    base: str
    home: str
    draft: int
    places: list[Place] = field(default_factory=list)
    homes: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # One more than allowed tells that there are too many.
        self.places = list(islice(scan(self.root, self.base, self.draft), SUBSCHEMA_LIMIT + 1))
        self.homes[self.places[0].base if self.places else self.base] = self.home
        for place in self.places:
            if place.resource and place.path:
                self.homes.setdefault(place.base, f"{self.home}/{len(self.homes)}")


def parsed(format: str, content: bytes, name: str = "", others: Sizes = NO_SIZES) -> Any:  # noqa: A002
    """The value of a document; SchemaError where it is no JSON Schema at all, or too large.

    The documents it is needed by count with it.
    """
    said = f"the document {name!r}" if name else "the document"
    for size, limit, kind in zip(added(others, content), LIMITS, _MEASURED, strict=True):
        if size > limit:
            with_others = " with those that need it" if name else ""
            raise SchemaError(format, "", f"{said}{with_others} has more than {limit} {kind}")
    try:
        root = parse(content)
    except MessageError as error:
        raise SchemaError(format, "", f"{said} {error.problems[0].message}") from None
    if isinstance(root, (dict, bool)):
        return root
    raise SchemaError(format, "", f"{said} is neither an object nor a boolean")


def added(sizes: Sizes, content: bytes) -> Sizes:
    """The sizes with those of one more document."""
    nodes = content.count(b"{") + content.count(b"[")
    return sizes[0] + len(content), sizes[1] + nodes, sizes[2] + content.count(b",")


def bundled(source: Source, root: Any, draft: int) -> Bundle | None:
    """The root and what it needs, or None where it refers to parts of itself alone, by pointers.

    SchemaError names what is not there.
    """
    places = list(islice(scan(root, f"{HOME}document", draft), SUBSCHEMA_LIMIT + 1))
    if len(places) > SUBSCHEMA_LIMIT:
        raise _too_many(source.format)
    if all(_is_plain(place) for place in places):
        return None
    return _Builder(source, draft).build(parse(encode(root)))


def _is_plain(place: Place) -> bool:
    if place.resource and place.path:
        return False
    references = [place.node[key] for key in REFERENCES if key in place.node]
    return all(
        not isinstance(one, str) or (one[:1] == "#" and catalog_pointer(one) is None)
        for one in references
    )


def _too_many(format: str) -> SchemaError:  # noqa: A002
    return SchemaError(format, "", f"it has more than {SUBSCHEMA_LIMIT} sub-schemas")


class _Builder:
    """Loads documents as they are referred to."""

    def __init__(self, source: Source, draft: int) -> None:
        self._format, self._draft = source.format, draft
        self._contents = {one.name: one.content for one in source.references}
        self._loaded: dict[str, _Document] = {}
        self._by_content: dict[bytes, _Document] = {}
        self._own = source.content
        self._used: list[_Document] = []
        self._places: dict[str, Any] = {}
        self._metaschemas: dict[str, None] = {}
        self._foreign = False
        self._left = SUBSCHEMA_LIMIT
        self._sizes = added(NO_SIZES, source.content)

    def build(self, root: Any) -> Bundle:
        first = _Document("", root, f"{HOME}document", f"{HOME}0", self._draft)
        self._by_content[self._own] = first
        self._use(first)
        for document in self._used:  # grows while it is read
            for place in document.places:
                self._settle(document, place)
        return Bundle(
            documents=tuple((one.home, one.root) for one in self._used),
            names=tuple(one.name for one in self._used),
            metaschemas=tuple(self._metaschemas),
            places=self._places,
            foreign=self._foreign,
        )

    def _use(self, document: _Document) -> str:
        if document not in self._used:
            self._used.append(document)
            self._left -= len(document.places)
            if self._left < 0:
                raise _too_many(self._format)
            self._places[document.home] = document.root
        return document.home

    def _settle(self, document: _Document, place: Place) -> None:
        """Make the references of one place absolute, and put down its addresses."""
        node, home = place.node, document.homes.get(place.base, document.home)
        key = "id" if document.draft == 4 else "$id"
        references = {
            name: self._absolute(document, place, node[name])
            for name in REFERENCES
            if isinstance(node.get(name), str)
        }
        anchors = [node.get(name) for name in _ANCHORS]
        own = node.get(key)
        if isinstance(own, str) and own.startswith("#"):
            anchors.append(own[1:])
        for anchor in anchors:
            if isinstance(anchor, str):
                self._places.setdefault(f"{home}#{anchor}", node)
        node.update(references)
        if place.resource and place.path:
            node[key] = home
            self._places.setdefault(home, node)
        elif isinstance(own, str) and not own.startswith("#") and place.known:
            del node[key]
        if not place.path and dialect(node) is None:
            # A registry refuses dialects it does not know, and takes the latest for none.
            node["$schema"] = METASCHEMAS[document.draft]

    def _absolute(self, document: _Document, place: Place, reference: str) -> str:
        name, _, fragment = reference.partition("#")
        if not name:
            home = document.homes.get(place.base, document.home)
            pointed = catalog_pointer(reference)
            if pointed is None or _has(document.root, fragment):
                return f"{home}#{fragment}"
            name, fragment = pointed
            found = self._named(name, name)
        else:
            address = joined(place.base, name) or name
            if address in document.homes:
                return f"{document.homes[address]}#{fragment}"
            known = metaschema(address)
            if known:
                self._metaschemas[known] = None
                self._foreign = self._foreign or known != address
                return f"{known}#{fragment}"
            found = self._named(address, name) or self._stated(address)
        if found is not None:
            self._foreign = True
            return f"{found}#{fragment}"
        if place.known:
            raise self._missing(document, place, reference)
        return reference

    def _named(self, address: str, name: str) -> str | None:
        """The home of the document that the catalog has under an address or a name."""
        for one in (address, name):
            if one in self._contents:
                return self._use(self._load(one, address))
        return None

    def _stated(self, address: str) -> str | None:
        """The home of what has the address by its own ``$id``, in any document at hand."""
        for name in self._contents:
            document = self._load(name, joined(f"{HOME}document", name) or name)
            if address in document.homes:
                self._use(document)
                return document.homes[address]
        return None

    def _load(self, name: str, base: str) -> _Document:
        content = self._contents[name]
        known = self._loaded.get(name) or self._by_content.get(content)
        if known is None:
            root = parsed(self._format, content, name, self._sizes)
            self._sizes = added(self._sizes, content)
            home = f"{HOME}{len(self._loaded) + 1}"
            known = _Document(name, root, base, home, dialect(root) or self._draft)
        self._loaded[name] = self._by_content[content] = known
        return known

    def _missing(self, document: _Document, place: Place, reference: str) -> SchemaError:
        where = f"the document {document.name!r}" if document.name else "it"
        shown = reference if len(reference) <= _NAME_LIMIT else f"{reference[:_NAME_LIMIT]}…"
        reason = f"{where} refers to {shown!r}, which is not in this catalog; nothing is fetched"
        location = "" if document.name or not place.path else pointer(place.path)
        return SchemaError(self._format, location, reason)


def address_of(home: str, where: str) -> str:
    """The reference to a part of a document by its pointer."""
    return f"{home}#{quote(where)}"


def _has(root: Any, fragment: str) -> bool:
    try:
        at(root, unquote(fragment))
    except KeyError:
        return False
    return True
