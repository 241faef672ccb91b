"""From what a 1.0 document says to canonical attributes: the tolerant reading rules (C1..C54).

Every function here is idempotent and copies no more than it changes.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

import msgspec

from heraldry.dialects.xreg_1_0.option_names import endpoint_options, message_options
from heraldry.model.formats import family, is_cloudevents, present

Members = Mapping[str, Any]

BASE_NAMES = ("basemessage", "basemessageuri", "basemessageurl")
"""The spellings of the reference to a base message, the canonical one first (C13, C53)."""

_OF_RESOURCE = frozenset(
    ["meta", "versions", "defaultversionid", "defaultversionurl", "defaultversionsticky", "xref"]
)
_NOT_OF_VERSIONS = _OF_RESOURCE | frozenset(
    [
        "self",
        "shortself",
        "xid",
        "epoch",
        "versionid",
        "isdefault",
        "createdat",
        "modifiedat",
        "ancestor",
        "ancestorid",
        "metaurl",
        "versionsurl",
        "versionscount",
        "labels",
        "name",
        "description",
        "documentation",
        "icon",
    ]
)
_PROPERTY = frozenset(("value", "type", "required"))
_JSON_FAMILIES = frozenset(("jsonschema", "avro", "jsonstructure"))
_ENDPOINT_MEMBERS = ("endpoints", "authorization", "deployed")


def reference(text: Any) -> Any:
    """A ``#/groups/id/...`` pointer into the document as an xid; anything else as it is (0.6)."""
    if not isinstance(text, str) or not text.startswith("#/"):
        return text
    parts = [unquote(p).replace("~1", "/").replace("~0", "~") for p in text[2:].split("/")]
    return text if any(not part or "/" in part for part in parts) else "/" + "/".join(parts)


def message(source: Members) -> dict[str, Any]:
    """The attributes of a message (or of one version of it)."""
    found = _own(source)
    for name in BASE_NAMES[1:]:
        if name in found:
            found.setdefault("basemessage", found[name])
            del found[name]
    if "basemessage" in found:
        found["basemessage"] = reference(found["basemessage"])
    if borrowed(source) is not None:
        found.pop("uri", None)
    _without_absent(found)
    _envelope(found)
    options = found.get("protocoloptions")
    if isinstance(options, Mapping):
        found["protocoloptions"] = message_options(found.get("protocol"), options)
    return found


def messagegroup(source: Members) -> dict[str, Any]:
    """The attributes of a message group."""
    found = _own(source)
    _without_absent(found)
    return found


def endpoint(source: Members) -> dict[str, Any]:
    """The attributes of an endpoint: options in ``protocoloptions``, references as xids (C41)."""
    found = _own(source)
    _without_absent(found)
    config = found.get("config")
    direct = found.get("protocoloptions", {})
    if isinstance(config, Mapping) and isinstance(direct, Mapping):
        del found["config"]
        inner = {name: value for name, value in config.items() if name != "protocol"}
        direct = {**inner, **direct}
        if "protocol" not in found and present(config.get("protocol")):
            found["protocol"] = config["protocol"]
    if isinstance(direct, Mapping):
        beside = {name: found.pop(name) for name in _ENDPOINT_MEMBERS if name in found}
        direct = endpoint_options(found.get("protocol"), {**beside, **direct})
        if direct or "protocoloptions" in found:
            found["protocoloptions"] = direct
    if isinstance(found.get("usage"), str):
        found["usage"] = [found["usage"]]
    if isinstance(found.get("messagegroups"), list):
        found["messagegroups"] = [reference(text) for text in found["messagegroups"]]
    return found


def schemagroup(source: Members) -> dict[str, Any]:
    """The attributes of a schema group."""
    return _own(source)


def schema(source: Members) -> dict[str, Any]:
    """The attributes of a schema version; ``schema`` is the document, decoded where it can be.

    A base64 document becomes text; text in a format that is written in JSON becomes its value.
    """
    found = _own(source)
    if "schema" not in found and isinstance(found.get("schemabase64"), str):
        text = _decoded(found["schemabase64"])
        if text is not None:
            del found["schemabase64"]
            found["schema"] = text
    text = found.get("schema")
    if isinstance(text, str) and family(str(found.get("format", "")))[0] in _JSON_FAMILIES:
        found["schema"] = _json(text)
    return found


def meta(source: Members) -> dict[str, Any]:
    """The meta attributes of a resource, with those a document keeps beside it (C15, C42)."""
    inner = source.get("meta")
    found = {k: v for k, v in inner.items() if v is not None} if isinstance(inner, Mapping) else {}
    default = source.get("defaultversionid")
    if default is not None and "defaultversionid" not in found:
        found["defaultversionid"] = default
        found.setdefault("defaultversionsticky", source.get("defaultversionsticky", True))
    target = borrowed(source)
    if target is not None and "xref" not in found:
        found["xref"] = target
    if "xref" in found:
        found["xref"] = reference(found["xref"])
    return found


def borrowed(source: Members) -> str | None:
    """The message a borrowed one names beside its members, in ``uri`` or ``xref`` (C15)."""
    for name in ("uri", "xref"):
        text = source.get(name)
        if isinstance(text, str):
            xid = reference(text if text.startswith(("#", "/")) or name == "uri" else f"/{text}")
            parts = xid.split("/")
            if len(parts) == 5 and parts[1] in {"messagegroups", "endpoints"}:
                return str(xid)
    return None


def inherited(source: Members) -> dict[str, Any]:
    """What a resource says beside ``versions`` for versions that do not say it (C42)."""
    return {k: v for k, v in source.items() if k not in _NOT_OF_VERSIONS and v is not None}


def _own(source: Members) -> dict[str, Any]:
    return {k: v for k, v in source.items() if v is not None and k not in _OF_RESOURCE}


def _without_absent(found: dict[str, Any]) -> None:
    """Drop an envelope or protocol that says there is none (C54)."""
    for name in ("envelope", "protocol"):
        if isinstance(found.get(name), str) and present(found[name]) is None:
            del found[name]


def _envelope(found: dict[str, Any]) -> None:
    """Bring the envelope's metadata under one name and one shape (C1, C2, C38)."""
    is_old = isinstance(found.get("metadata"), Mapping) and present(found.get("format"))
    if is_old and "envelope" not in found and "envelopemetadata" not in found:
        found["envelope"] = found.pop("format")
        found["envelopemetadata"] = found.pop("metadata")
    metadata = found.get("envelopemetadata")
    if isinstance(metadata, Mapping):
        metadata = found["envelopemetadata"] = _unwrapped(metadata)
    options = found.get("envelopeoptions")
    if not isinstance(options, Mapping) or not options:
        return
    if isinstance(metadata or {}, Mapping) and _may_be_cloudevents(found.get("envelope")):
        _move_properties(found, options, metadata or {})


def _may_be_cloudevents(envelope: Any) -> bool:
    """Whether an envelope is CloudEvents or is left to the group or the base to say."""
    return not isinstance(envelope, str) or present(envelope) is None or is_cloudevents(envelope)


def _move_properties(found: dict[str, Any], options: Members, metadata: Members) -> None:
    """Move property definitions out of the envelope's options (C1)."""
    moved = {
        name: value
        for name, value in options.items()
        if isinstance(value, Mapping) and not _PROPERTY.isdisjoint(value) and name not in metadata
    }
    if moved:
        # The options may have held the wrapper, too.
        found["envelopemetadata"] = _unwrapped({**metadata, **moved})
        rest = {name: value for name, value in options.items() if name not in moved}
        del found["envelopeoptions"]
        if rest:
            found["envelopeoptions"] = rest


def _unwrapped(metadata: Members) -> Members:
    """Metadata without its ``attributes`` wrapper; an attribute of that name stays (C2)."""
    inner = metadata.get("attributes")
    while isinstance(inner, Mapping) and all(isinstance(v, Mapping) for v in inner.values()):
        rest = {name: value for name, value in metadata.items() if name != "attributes"}
        metadata = {**inner, **rest}
        inner = metadata.get("attributes")
    return metadata


def _decoded(text: str) -> str | None:
    try:
        return base64.b64decode(text, validate=True).decode()
    except (binascii.Error, ValueError):
        return None


def _json(text: str) -> Any:
    """The JSON object or array of a text; the text itself where it is none."""
    if not text.lstrip().startswith(("{", "[")):
        return text
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return text
