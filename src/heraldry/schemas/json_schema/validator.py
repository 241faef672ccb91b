"""The validators of jsonschema_rs: never fetching, and with patterns in linear time only."""

from __future__ import annotations

from functools import cache
from typing import Any
from urllib.parse import urljoin

import jsonschema_rs

from heraldry.errors import SchemaError
from heraldry.schemas.json_schema.bundle import Bundle, address_of
from heraldry.schemas.json_schema.document import is_document
from heraldry.schemas.json_schema.scan import METASCHEMAS, at, dialect
from heraldry.schemas.located import pointer

_KINDS: dict[int, tuple[type[jsonschema_rs.Validator], int]] = {
    4: (jsonschema_rs.Draft4Validator, jsonschema_rs.Draft4),
    6: (jsonschema_rs.Draft6Validator, jsonschema_rs.Draft6),
    7: (jsonschema_rs.Draft7Validator, jsonschema_rs.Draft7),
    2019: (jsonschema_rs.Draft201909Validator, jsonschema_rs.Draft201909),
    2020: (jsonschema_rs.Draft202012Validator, jsonschema_rs.Draft202012),
}
# Where a document without an identity of its own is kept, so that a link can point into it.
_PLACE = "https://schema.invalid/document"


def validator(format: str, draft: int, root: Any, where: str) -> jsonschema_rs.Validator:  # noqa: A002
    """The validator of a part of a document that needs no other; SchemaError where it is wrong."""
    if not where:
        return _built(format, draft, root, where)
    place, kept = _kept(root)
    part = at(root, where)
    schema = part if is_document(part) else {"$ref": address_of(place, where)}
    registry = _registry(format, ((place, kept),), _KINDS[draft][1])
    return _built(format, draft, schema, where, registry)


def bundle_validator(
    format: str,  # noqa: A002
    draft: int,
    bundle: Bundle,
    where: str,
) -> tuple[jsonschema_rs.Validator, jsonschema_rs.Registry]:
    """The validator of a part of the root of a bundle, and all documents; SchemaError likewise."""
    for (_, document), name in zip(bundle.documents, bundle.names, strict=True):
        _check(format, dialect(document) or draft, document, name)
    registry = _registry(format, bundle.documents, None)
    # The validator adds the schemas of drafts only where its own schema refers to them.
    known = {address: {"$ref": address} for address in bundle.metaschemas}
    part = {"$ref": address_of(bundle.home, where), "definitions": known}
    return _built(format, draft, part, where, registry), registry


def _registry(
    format: str,  # noqa: A002
    documents: tuple[tuple[str, Any], ...],
    draft: int | None,
) -> jsonschema_rs.Registry:
    try:
        return jsonschema_rs.Registry(documents, draft=draft, retriever=_refuse)
    except (ValueError, jsonschema_rs.ReferencingError) as error:
        raise SchemaError(format, "", str(error)) from None


def _built(
    format: str,  # noqa: A002
    draft: int,
    schema: Any,
    where: str,
    registry: jsonschema_rs.Registry | None = None,
) -> jsonschema_rs.Validator:
    # The linear-time engine: a pattern of a document must not stall the reader of messages.
    options = jsonschema_rs.RegexOptions()
    try:
        kind = _KINDS[draft][0]
        return kind(schema, offline=True, pattern_options=options, registry=registry)
    except jsonschema_rs.ValidationError as error:
        location = where + pointer(error.instance_path) if error.instance_path else where
        raise SchemaError(format, location, _reason(error)) from None
    except (ValueError, jsonschema_rs.ReferencingError) as error:
        raise SchemaError(format, where, str(error)) from None


def _check(format: str, draft: int, document: Any, name: str) -> None:  # noqa: A002
    """A document in a registry is not held against the schema of its draft: do so."""
    if _metaschema(draft).is_valid(document):
        return
    error = next(iter(_metaschema(draft).iter_errors(document)))
    said = f"in the document {name!r}: " if name else ""
    raise SchemaError(format, pointer(error.instance_path), said + _reason(error))


@cache
def _metaschema(draft: int) -> jsonschema_rs.Validator:
    return _KINDS[draft][0]({"$ref": METASCHEMAS[draft]}, offline=True)


def _kept(root: Any) -> tuple[str, Any]:
    own = root.get("$id", root.get("id"))
    place = urljoin(_PLACE, own).partition("#")[0] if isinstance(own, str) else _PLACE
    if isinstance(root.get("$schema"), str) and dialect(root) is None:
        # The registry refuses a document of a dialect it does not know.
        return place, {key: value for key, value in root.items() if key != "$schema"}
    return place, root


def _refuse(uri: str) -> Any:
    raise LookupError(f"references are never fetched: {uri}")


def _reason(error: jsonschema_rs.ValidationError) -> str:
    if error.message.endswith('is not a "regex"'):
        return (
            "the pattern is not supported: only patterns that run in linear time are,"
            " so no look-around and no back-references"
        )
    return error.message
