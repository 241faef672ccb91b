"""The attributes that the specification itself defines, level by level (CA-16, KD-19).

The order is that of the specification's forms: extensions of a model stand between the ``head``
and the ``tail`` of a :class:`Form`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from heraldry.model.metamodel import Attribute, Attributes

COMPATIBILITIES = (
    "backward",
    "backward_transitive",
    "forward",
    "forward_transitive",
    "full",
    "full_transitive",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """The attributes of one level, before and after the extensions."""

    head: Attributes
    tail: Attributes = field(default_factory=dict)

    @property
    def all(self) -> dict[str, Attribute]:
        """Head and tail, in order."""
        return {**self.head, **self.tail}


def _named(name: str, type: str, **aspects: Any) -> Attribute:  # noqa: A002
    return Attribute(name=name, type=type, **aspects)


def _table(*attributes: Attribute) -> dict[str, Attribute]:
    return {attribute.name: attribute for attribute in attributes}


_ANYTHING = _table(_named("*", "any"))
_ENTITY = Attribute(name="", type="object", attributes=_ANYTHING)
_TEXT = Attribute(name="", type="string")

_SELF = _named("self", "url", readonly=True, immutable=True, required=True)
_SHORTSELF = _named("shortself", "url", readonly=True, immutable=True)
_XID = _named("xid", "xid", readonly=True, immutable=True, required=True)
_EPOCH = _named("epoch", "uinteger", readonly=True, required=True)
_NAME = _named("name", "string")
_LABELS = _named("labels", "map", item=_TEXT)
_ABOUT = (
    _named("description", "string"),
    _named("documentation", "url"),
    _named("icon", "url"),
    _LABELS,
)
_TIMES = (
    _named("createdat", "timestamp", required=True),
    _named("modifiedat", "timestamp", required=True),
)
_DEPRECATED = _named(
    "deprecated",
    "object",
    attributes=_table(
        _named("alternative", "url"),
        _named("documentation", "url"),
        _named("effective", "timestamp"),
        _named("removal", "timestamp"),
        _named("*", "any"),
    ),
)
_CONSTRAINTS = _named(
    "constraints",
    "map",
    item=Attribute(
        name="",
        type="object",
        attributes=_table(
            _named("default", "any"),
            _named("enum", "array", item=Attribute(name="", type="any")),
            _named("equals", "string"),
        ),
    ),
)
_VALIDATED = tuple(
    _named(f"{what}validated{reason}", "string" if reason else "boolean", readonly=True)
    for what in ("format", "compatibility")
    for reason in ("", "reason")
)

REGISTRY: Attributes = _table(
    _named("specversion", "string", readonly=True, required=True, default="1.0-rc4"),
    _named("registryid", "string", matchcase=True, readonly=True, immutable=True, required=True),
    _SELF,
    _SHORTSELF,
    _XID,
    _EPOCH,
    _NAME,
    *_ABOUT,
    *_TIMES,
)
"""Without the tail: capabilities, models and the collections of groups (RG-01)."""
_REGISTRY_TAIL = _table(
    _named("capabilities", "object", attributes=_ANYTHING),
    _named("model", "object", readonly=True, attributes=_ANYTHING),
    _named("modelsource", "object", attributes=_ANYTHING),
)
GROUP: Attributes = _table(
    _SELF, _SHORTSELF, _XID, _EPOCH, _NAME, *_ABOUT, *_TIMES, _DEPRECATED, _CONSTRAINTS
)
"""Without the id and the collections of resources (GR-01)."""
VERSION: Attributes = _table(
    _named("versionid", "string", matchcase=True, immutable=True, required=True),
    _SELF,
    _SHORTSELF,
    _XID,
    _EPOCH,
    _NAME,
    _named("isdefault", "boolean", readonly=True, required=True, default=False),
    *_ABOUT,
    *_TIMES,
    _named("ancestorid", "string", matchcase=True, required=True),
    _named("contenttype", "string"),
    _named("format", "string"),
    *_VALIDATED,
)
"""Without the id of the resource and the document (VE-01)."""
RESOURCE: Attributes = _table(
    _SELF,
    _SHORTSELF,
    _XID,
    _named("metaurl", "url", readonly=True, immutable=True, required=True),
    _named("meta", "object", attributes=_ANYTHING),
)
"""Without the id and the collection of versions (RS-02)."""
META: Attributes = _table(
    _SELF,
    _SHORTSELF,
    _XID,
    _named("xref", "url"),
    _EPOCH,
    _LABELS,
    *_TIMES,
    _named("readonly", "boolean", readonly=True, required=True, default=False),
    _named("compatibility", "string", enum=COMPATIBILITIES),
    _DEPRECATED,
)
"""Without the id and the tail about the default version (ME-01)."""
_META_TAIL = _table(
    _named("defaultversionid", "string", matchcase=True, required=True),
    _named("defaultversionurl", "url", readonly=True, required=True),
    _named("defaultversionsticky", "boolean", required=True, default=False),
)


def _id(singular: str) -> dict[str, Attribute]:
    name = f"{singular}id"
    return _table(_named(name, "string", matchcase=True, immutable=True, required=True))


def collection_attributes(plurals: Iterable[str]) -> dict[str, Attribute]:
    """The three attributes of each collection (CO-01)."""
    return _table(
        *(
            attribute
            for plural in plurals
            for attribute in (
                _named(f"{plural}url", "url", readonly=True, immutable=True, required=True),
                _named(f"{plural}count", "uinteger", readonly=True, required=True),
                _named(plural, "map", item=_ENTITY),
            )
        )
    )


def document_attributes(singular: str) -> dict[str, Attribute]:
    """The attributes a document may be given by (DO-01, DO-02).

    ``proxyurl``, an extension of the reference server, is read through the registry. The types
    are those of the official sample (KD-19).
    """
    return _table(
        _named(f"{singular}url", "url"),
        _named(f"{singular}proxyurl", "url"),
        _named(singular, "any"),
        _named(f"{singular}base64", "string"),
    )


def registry_form(groups: Iterable[str]) -> Form:
    """The registry's attributes, given the plural names of its group types."""
    return Form(head=REGISTRY, tail={**_REGISTRY_TAIL, **collection_attributes(groups)})


def group_form(singular: str, resources: Iterable[str]) -> Form:
    """A group's attributes, given the plural names of its resource types."""
    return Form(head={**_id(singular), **GROUP}, tail=collection_attributes(resources))


def version_form(singular: str, *, hasdocument: bool) -> Form:
    """A version's attributes; those of the document only where the type has one (DO-11)."""
    document = document_attributes(singular) if hasdocument else {}
    return Form(head={**_id(singular), **VERSION}, tail=document)


def resource_form(singular: str) -> Form:
    """The attributes of a resource beside those of its default version."""
    return Form(head={**_id(singular), **RESOURCE}, tail=collection_attributes(["versions"]))


def meta_form(singular: str) -> Form:
    """A meta entity's attributes."""
    return Form(head={**_id(singular), **META}, tail=_META_TAIL)
