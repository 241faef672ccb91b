"""What was fetched as a base message: an entity of a registry, or part of a catalog document."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin

from heraldry.client.address import Address, Refused, parse
from heraldry.client.fetch import Fetched
from heraldry.dialects.limits import Limits
from heraldry.dialects.load import load_document, parse_document
from heraldry.dialects.xreg_1_0.canonical import BASE_NAMES, reference
from heraldry.dialects.xreg_1_0.document import COLLECTIONS
from heraldry.dialects.xreg_1_0.place import Place
from heraldry.dialects.xreg_1_0.resources import read_resource
from heraldry.errors import DocumentError
from heraldry.model.catalog import Catalog
from heraldry.model.entities import Attributes
from heraldry.model.inherit import MESSAGE_GROUPS, level, local_reference
from heraldry.model.xid import Xid

_ENTITY = re.compile(
    r"(?P<registry>.*)/(?:messagegroups|endpoints)/[^/]+/messages/[^/]+(?:/versions/[^/]+)?/?"
)
_MESSAGE = frozenset(
    [
        *("messageid", "envelope", "envelopemetadata", "protocol", "protocoloptions"),
        *("dataschema", "dataschemaformat", "dataschemauri", "dataschemaxid", "datacontenttype"),
        *BASE_NAMES,
    ]
)
_GROUP = frozenset(one[0] for one in COLLECTIONS.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A fetched document: its value, and its catalog where it is one."""

    address: Address
    value: Mapping[str, Any]
    catalog: Catalog | None = None


def read_document(fetched: Fetched, limits: Limits) -> Document | Refused:
    """The document in some bytes, by the same parsers that read catalogs."""
    name = fetched.address.path
    try:
        value = parse_document(fetched.data, name, limits)
        if not isinstance(value, Mapping):
            return Refused(reason="it is not an object")
        is_catalog = any(isinstance(value.get(one), Mapping) for one in COLLECTIONS)
        catalog = load_document(value, name, limits) if is_catalog else None
    except DocumentError as error:
        return Refused(reason=f"it cannot be read: {error.reason}")
    return Document(address=fetched.address, value=value, catalog=catalog)


def base_message(document: Document, fragment: str, limits: Limits) -> Attributes | Refused:
    """The message in a document: the one a fragment points at, else the document itself."""
    found = _part(document, fragment) if fragment else _entity(document, limits)
    return found if isinstance(found, Refused) else _absolute(found, document)


def _part(document: Document, fragment: str) -> Attributes | Refused:
    if document.catalog is None:
        return Refused(reason="it is not a catalog document")
    xid = local_reference(reference(f"#{fragment}"))
    resource = document.catalog.resource(xid) if xid and _is_message(xid) else None
    if xid is None or resource is None or (xid.version and xid.version not in resource.versions):
        return Refused(reason=f"its document has no message {fragment}")
    return level(document.catalog, resource, xid.version, [])[0]


def _is_message(xid: Xid) -> bool:
    return xid.groups in MESSAGE_GROUPS and xid.resources == "messages"


def _entity(document: Document, limits: Limits) -> Attributes | Refused:
    if document.catalog is not None:
        told = "name the message in it: #/messagegroups/GROUP/messages/MESSAGE"
        return Refused(reason=f"it is a whole catalog; {told}")
    value = document.value
    if _MESSAGE.isdisjoint(value) or ("messageid" not in value and not _GROUP.isdisjoint(value)):
        return Refused(reason="it is not a message definition")
    id_ = str(value.get("messageid") or "message")
    place = Place.start(document.address.path, limits)
    try:
        return read_resource(
            Xid("messagegroups", "elsewhere", "messages", id_), value, place
        ).attributes
    except DocumentError as error:
        return Refused(reason=f"it cannot be read: {error.reason}")


def _absolute(attributes: Attributes, document: Document) -> Attributes:
    """The attributes with references that mean the same outside of their own registry."""
    found = dict(attributes)
    base = found.get("basemessage")
    if isinstance(base, str):
        target = parse(_reference(document, base))
        found["basemessage"] = base if isinstance(target, Refused) else str(target)
    schema = found.pop("dataschemaxid", None)
    schema = found.get("dataschemauri", schema)
    if isinstance(schema, str):
        found["dataschemauri"] = _reference(document, schema)
    return found


def _reference(document: Document, text: str) -> str:
    if text.startswith("/"):
        if document.catalog is not None:
            pointer = text.replace("~", "~0")
            return f"{document.address}#{pointer}"
        entity = _ENTITY.fullmatch(document.address.path)
        if entity:
            return document.address.origin + entity["registry"] + text
    return urljoin(str(document.address), text)
