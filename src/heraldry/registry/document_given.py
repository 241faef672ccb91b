"""The document in a write: inline, as base64, elsewhere, or as the body itself (DO-06..10, HB)."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from heraldry.errors import RegistryError
from heraldry.model.conform import read_text

if TYPE_CHECKING:
    from heraldry.model.metamodel import Attribute, Attributes
    from heraldry.registry.draft import VersionDraft
    from heraldry.registry.entity_names import Names, ResourceNames
    from heraldry.registry.request import Document


def take_document(
    names: ResourceNames,
    given: dict[str, Any],
    version: VersionDraft,
    *,
    patch: bool,
) -> None:
    """Move the document out of the attributes and into the draft; set ``contenttype`` (DO-10)."""
    present = [name for name in names.documents if name in given]
    if not present:
        return
    filled = [name for name in present if given[name] is not None]
    if len(filled) > 1:
        listed = ",".join(names.documents)
        resource = version.xid.rpartition("/versions/")[0]
        raise RegistryError("one_resource", resource, {"list": listed})
    singular = names.type.singular
    name = filled[0] if filled else present[0]
    value = given.get(name)
    for other in names.documents:
        if other != name or value is None:
            given[other] = None
    if name == singular and value is not None:
        version.content = _bytes(value)
        version.empty = value == ""
        _set_contenttype(given, version, patch=patch)
    elif name == f"{singular}base64" and value is not None:
        version.content = _decoded(value, name, version.xid)
        version.empty = value == ""
        if patch:
            _set_contenttype(given, version, patch=True)
    else:
        version.content, version.empty = b"", False
    given.pop(singular, None)
    given.pop(f"{singular}base64", None)


def _bytes(value: Any) -> bytes:
    """A text as it is, without quotes (KD-4); other JSON values written out."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode()
    return json.dumps(value, indent=2, ensure_ascii=False).encode()


def _decoded(value: Any, name: str, subject: str) -> bytes:
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, TypeError, ValueError):
        arguments = {"name": name, "error_detail": "must be base64 text"}
        raise RegistryError("invalid_attribute", subject, arguments) from None


def _set_contenttype(given: dict[str, Any], version: VersionDraft, *, patch: bool) -> None:
    """That of the request, where it names none and a patch finds none (DO-10)."""
    if "contenttype" not in given and not (patch and version.values.get("contenttype")):
        given["contenttype"] = "application/json"


def document_body(names: ResourceNames, document: Document, subject: str) -> dict[str, Any]:
    """The attributes of a document with headers: texts read by their types (HB-06..HB-08)."""
    body = _values(names.version, document.attributes, subject)
    meta = document.attributes.get("meta")
    if isinstance(meta, Mapping) and "meta" not in names.type.attributes:
        body["meta"] = _values(names.meta, _nested(meta), f"{subject}/meta")
    body["contenttype"] = document.contenttype
    elsewhere = [n for n in names.documents[2:] if body.get(n) is not None]
    if not elsewhere:
        body[names.type.singular] = document.content
    elif document.content:
        arguments = {
            "name": f"xRegistry-{elsewhere[0]}",
            "error_detail": "it is not allowed together with a body",
        }
        raise RegistryError("extra_xregistry_header", subject, arguments)
    return body


def _values(names: Names, texts: Mapping[str, Any], subject: str) -> dict[str, Any]:
    """The values of texts; what only the server sets has no effect, so it is not read (GN-08)."""
    values: dict[str, Any] = {}
    for name, text in texts.items():
        attribute = _attribute(names.attributes, texts, name)
        if name in names.computed or name in names.readonly:
            values[name] = text
        elif isinstance(text, Mapping):
            item = attribute.item if attribute else None
            values[name] = {
                key: read_text(item, part, subject=subject)
                for key, part in text.items()
                if part is not None
            }
        else:
            values[name] = None if text is None else read_text(attribute, text, subject=subject)
    return values


def _nested(texts: Mapping[str, Any]) -> dict[str, Any]:
    """``labels.stage`` as a member of the map ``labels``; the key is all behind the first dot."""
    nested: dict[str, Any] = {}
    for name, text in texts.items():
        outer, dot, key = name.partition(".")
        if not dot:
            nested.setdefault(name, text)
        elif isinstance(inside := nested.setdefault(outer, {}), dict):
            inside[key] = text
    return nested


def _attribute(attributes: Attributes, texts: Mapping[str, Any], name: str) -> Attribute | None:
    """The definition of a name: its own, one that a value brings along, or ``*``."""
    found = attributes.get(name)
    if found is not None:
        return found
    for other, attribute in attributes.items():
        value = texts.get(other)
        for key, siblings in attribute.ifvalues.items() if value is not None else ():
            if key.lower() == str(value).lower():
                inner = _attribute(siblings, texts, name)
                if inner is not None and inner.name != "*":
                    return inner
    return attributes.get("*")
