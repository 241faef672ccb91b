"""A request to the registry and its reply, as values that no protocol is part of.

registry.run(Request(action="put", target=Target.parse("/dirs/d1"), body={"name": "one"}))
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal

from heraldry.dialects.xreg_1_0.wire import RC4, Wire
from heraldry.errors import RegistryError

Place = Enum(
    "Place",
    "REGISTRY CAPABILITIES OFFERED MODEL MODELSOURCE EXPORT GROUPS GROUP RESOURCES RESOURCE META "
    "VERSIONS VERSION",
)
"""What a path addresses (HT-00). GROUPS, RESOURCES and VERSIONS are collections."""

_ROOT = {
    "capabilities": Place.CAPABILITIES,
    "capabilitiesoffered": Place.OFFERED,
    "model": Place.MODEL,
    "modelsource": Place.MODELSOURCE,
    "export": Place.EXPORT,
}
ROOT_PATHS = frozenset(_ROOT)
"""What no group type can be called: the first part of paths to the registry's own settings."""
_LEVELS = (Place.GROUPS, Place.GROUP, Place.RESOURCES, Place.RESOURCE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A parsed path: ``/dirs/d1/files/f1$details``. Whether its types exist, the model says."""

    place: Place = Place.REGISTRY
    groups: str = ""
    group: str = ""
    resources: str = ""
    resource: str = ""
    version: str = ""
    details: bool = False
    """Whether ``$details`` was there: metadata is meant, not the document (HT-08)."""

    @classmethod
    def parse(cls, path: str) -> Target:
        """Read a decoded path; ``api_not_found`` for one that no registry has (HT-02).

        What can be below no resource is ``not_found``, as an entity that is not there.
        """
        parts = [part for part in path.split("/") if part]
        details = bool(parts) and parts[-1].endswith("$details")
        if details:
            parts[-1] = parts[-1].removesuffix("$details")
        place = cls._place(path, parts)
        if any("$details" in part for part in parts) or (
            details and place not in (Place.RESOURCE, Place.VERSION)
        ):
            raise RegistryError("bad_details", path)
        named = dict(zip(("groups", "group", "resources", "resource"), parts, strict=False))
        if place in _ROOT.values():
            named = {}
        version = parts[5] if place is Place.VERSION else ""
        return cls(place=place, version=version, details=details, **named)

    @classmethod
    def _place(cls, path: str, parts: list[str]) -> Place:
        if not parts:
            return Place.REGISTRY
        if parts[0] in _ROOT:
            if len(parts) == 1:
                return _ROOT[parts[0]]
        elif len(parts) <= 4:
            return _LEVELS[len(parts) - 1]
        elif parts[4] == "meta" and len(parts) == 5:
            return Place.META
        elif parts[4] == "versions" and len(parts) <= 6:
            return Place.VERSIONS if len(parts) == 5 else Place.VERSION
        else:
            unknown = parts[4] not in ("meta", "versions")
            raise RegistryError("not_found", "/" + "/".join(parts[:5]) if unknown else path)
        raise RegistryError("api_not_found", path)

    @property
    def xid(self) -> str:
        """The xid of the entity, or the path of the collection: ``/dirs/d1/files``."""
        if self.place in _ROOT.values():
            return "/" + next(name for name, place in _ROOT.items() if place is self.place)
        parts = [self.groups, self.group, self.resources, self.resource]
        tail = {
            Place.META: ["meta"],
            Place.VERSIONS: ["versions"],
            Place.VERSION: ["versions", self.version],
        }
        return "/" + "/".join([part for part in parts if part] + tail.get(self.place, []))


@dataclass(frozen=True, slots=True, kw_only=True)
class Flags:
    """The request flags (FL), as the protocol carried them; their values are not judged yet."""

    binary: bool = False
    collections: bool = False
    doc: bool = False
    epoch: str | None = None
    filter: tuple[tuple[str, ...], ...] = ()
    """Each parameter split at its commas; values decoded (FL-30)."""
    ignore: tuple[str, ...] | None = None
    """``None``: not given; ``()`` or ``*``: all that are supported (FL-40)."""
    inline: tuple[str, ...] | None = None
    """``None``: not given; ``()``: all (FL-50)."""
    setdefaultversionid: str | None = None
    sort: str | None = None
    limit: int | None = None
    after: str = ""
    """The cursor of a page, as an earlier reply's ``next`` had it."""
    confirm: tuple[str, ...] = ()
    """What is said a second time: ``immutable``, for capabilities that nobody may change back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A document with the attributes that travel beside it: the form without ``$details`` (HB)."""

    content: bytes
    contenttype: str | None = None
    """``None`` erases it (HB-07)."""
    attributes: Mapping[str, Any] = field(default_factory=dict)
    """Scalars and maps of scalars, canonical names. In a request values are texts as the headers
    had them, ``None`` deletes; in a reply they are what is to be shown, in order."""


def never() -> bool:
    """The client stays."""
    return False


Action = Literal["get", "put", "patch", "post", "delete"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One interaction. ``body`` is a JSON value with the names of ``wire``, a document, or None."""

    action: Action
    target: Target
    flags: Flags = field(default_factory=Flags)
    body: Any = None
    """JSON value; :class:`Document`; ``None``: no body was sent (JSON ``null`` is ``NULL``)."""
    wire: Wire = RC4
    base: str = ""
    """The address of the registry's root, without a slash at its end."""
    path: str = "/"
    """The path as it was requested, for errors."""
    actor: str = ""
    correlation: str = ""
    elsewhere: Mapping[str, bytes | RegistryError] | None = None
    """What addresses outside hold, as far as it was fetched; a reply that needs another one is
    ``IncompleteError``. ``None``: it is fetched where it is needed."""
    room: int | None = None
    """Bytes that a reply may take in memory before it is ``IncompleteError``; ``None``: any; 0:
    nothing large may be opened either."""
    cancelled: Callable[[], bool] = never
    """Whether the client has left: a write is then rolled back, as nobody would know of it."""
    precondition: Callable[[Reply | None], None] | None = None
    """Called inside the transaction of a write with the reply that a GET would have (``None``:
    there is nothing); it raises where the request must not be carried out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a request led to. Exactly one of ``body``, ``pieces`` and ``document``, or none.

    A large document has its bytes in ``pieces``.
    """

    outcome: Literal["ok", "created", "deleted", "elsewhere"] = "ok"
    """``elsewhere``: the document is at ``location`` (HT-09, 303)."""
    body: Any = None
    pieces: Iterator[bytes] | None = None
    """JSON text in pieces, read from the store while it is sent; close it when done."""
    size: int | None = None
    """How many bytes the pieces have together, where that is known."""
    streamed: bool = False
    """Whether the pieces are read from the store only when they are taken."""
    document: Document | None = None
    location: str = ""
    content_location: str = ""
    tag: str = ""
    """Changes whenever the reply to this request does; empty: nothing may be reused."""
    volatile: bool = False
    """Whether it holds what is kept outside the registry: it must not be used again."""
    next: str = ""
    """The cursor of the next page; ``""``: there is none."""
    total: int | None = None
    """How many entities all pages have together (PG-04)."""


class Null(Enum):
    """The JSON value ``null`` sent as a whole body, which is not the same as no body."""

    NULL = "null"
