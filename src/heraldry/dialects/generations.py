"""Which generation of the specification a document is written in, by its shape (0.2)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

Members = Mapping[str, Any]

CURRENT = "xRegistry 1.0"
CEREG = "CloudEvents Registry (.cereg, 2023)"
MESSAGE_CATALOG = "Message Catalog (2022)"
XREG_0_5 = "xRegistry 0.5 (2024)"

_IDS = (
    "registryid",
    "xid",
    "messagegroupid",
    "messageid",
    "endpointid",
    "schemagroupid",
    "schemaid",
    "versionid",
)
_CAPITAL = re.compile(r"(?i:endpoints|definitionGroups|schemaGroups|messagegroups)(Url|URL|Count)")
_OLD_MESSAGE = (
    "id",
    "binding",
    "message",
    "metadata",
    "schemaformat",
    "schemaobject",
    "schemaurl",
)


def detect(document: Members) -> str:
    """The name of a document's generation; ``specversion`` proves nothing and is not looked at."""
    if _has_ids(document):
        return CURRENT
    if _is_cereg(document):
        return CEREG
    if _is_message_catalog(document):
        return MESSAGE_CATALOG
    return XREG_0_5 if _is_0_5(document) else CURRENT


def is_catalog(document: object) -> bool:
    """Whether a document of an older generation is at hand; the current one looks for itself."""
    return isinstance(document, Mapping) and detect(document) != CURRENT


def _has_ids(document: Members) -> bool:
    """Rule a: ids as 1.0 names them, on the registry, a group or a message."""
    if any(name in document for name in _IDS):
        return True
    entities = [*_groups(document, "messagegroups", "schemagroups", "endpoints")]
    entities += [r for group in entities for r in _children(group, "messages", "schemas")]
    return any(name in entity for entity in entities for name in _IDS if name != "versionid")


def _is_cereg(document: Members) -> bool:
    """Rule b: names with capitals, definitions in groups, endpoints as plain strings."""
    if any(name in document for name in ("definitionGroups", "schemaGroups")):
        return True
    if any(_CAPITAL.fullmatch(name) for name in document):
        return True
    for group in _groups(document, "messagegroups", "endpoints"):
        config = group.get("config")
        if isinstance(group.get("definitions"), Mapping) or "definitionGroups" in group:
            return True
        if isinstance(config, Mapping):
            places = config.get("endpoints")
            if "strict" in config or (
                isinstance(places, list) and any(isinstance(place, str) for place in places)
            ):
                return True
    return False


def _is_message_catalog(document: Members) -> bool:
    """Rule c: an array of definitions, or the catalog's own timestamps."""
    if isinstance(document.get("messagedefinitions"), list):
        return True
    if isinstance(document.get("definition"), Mapping) and "format" in document:
        return True
    return "createdtimeutc" in document or "updatedtimeutc" in document


def _is_0_5(document: Members) -> bool:
    """Rule d: plain ids, ``binding`` and ``message``, an endpoint's ``config``."""
    for group in _groups(document, "messagegroups", "endpoints"):
        config = group.get("config")
        if "id" in group or "binding" in group:
            return True
        if isinstance(config, Mapping) and isinstance(config.get("endpoints"), list):
            return True
        if any(_is_old_message(message) for message in _children(group, "messages")):
            return True
    return False


def _is_old_message(message: Members) -> bool:
    if any(name in message for name in _OLD_MESSAGE):
        return True
    return "basemessageurl" in message and not {"envelope", "protocol"} & message.keys()


def _groups(document: Members, *plurals: str) -> Iterator[Members]:
    return _children(document, *plurals)


def _children(parent: Members, *plurals: str) -> Iterator[Members]:
    for plural in plurals:
        collection = parent.get(plural)
        if isinstance(collection, Mapping):
            yield from (entry for entry in collection.values() if isinstance(entry, Mapping))
