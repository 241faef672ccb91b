"""JSON Schemas of entities, from the model: what requests and replies hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from heraldry.dialects.xreg_1_0.wire import WIRES
from heraldry.model.metamodel import Attribute, Attributes, GroupType, Model, ResourceType

Schema = dict[str, Any]

ID: Final[Schema] = {
    "type": "string",
    "pattern": "^[A-Za-z0-9_][A-Za-z0-9\\-._~:@]{0,127}$",
    "minLength": 1,
    "maxLength": 128,
}
PROBLEM: Final[Schema] = {
    "type": "object",
    "required": ["type", "title"],
    "properties": {
        "type": {"type": "string", "minLength": 1},
        "title": {"type": "string", "minLength": 1},
        "detail": {"type": "string"},
        "subject": {"type": "string"},
        "args": {"type": "object", "additionalProperties": {"type": "string"}},
    },
}
ANYTHING: Final[Schema] = {}
OBJECT: Final[Schema] = {"type": "object"}
SCALARS: Final[dict[str, Schema]] = {
    "boolean": {"type": "boolean"},
    "decimal": {"type": "number"},
    "integer": {"type": "integer"},
    "uinteger": {"type": "integer", "minimum": 0},
    "timestamp": {"type": "string", "format": "date-time"},
}


def attribute_schema(attribute: Attribute) -> Schema:
    """What a value of an attribute looks like."""
    if attribute.type == "any":
        return ANYTHING
    schema = dict(SCALARS.get(attribute.type, {"type": "string"}))
    if attribute.type == "array":
        schema = {"type": "array", "items": _item(attribute)}
    elif attribute.type == "map":
        schema = {"type": "object", "additionalProperties": _item(attribute)}
    elif attribute.type == "object":
        schema = object_schema(attribute.attributes)
    elif attribute.enum and attribute.strict and attribute.type != "string":
        schema["enum"] = list(attribute.enum)
    if attribute.description:
        schema["description"] = attribute.description
    return schema


def _item(attribute: Attribute) -> Schema:
    return ANYTHING if attribute.item is None else attribute_schema(attribute.item)


def object_schema(attributes: Attributes, extra: Mapping[str, Schema] | None = None) -> Schema:
    """What an object with these attributes looks like.

    Names that ``*`` or an ``ifvalues`` admit are not listed, so others stay allowed.
    """
    properties = {name: attribute_schema(one) for name, one in attributes.items() if name != "*"}
    return {"type": "object", "properties": properties | dict(extra or {})}


def shown(schema: Schema, *required: str) -> Schema:
    """The schema of a reply: these attributes are always there."""
    return schema | {"required": list(required)}


def registry_schema(model: Model) -> Schema:
    """The registry entity; with ``collections`` only those are there."""
    return object_schema(model.attributes, _collections(model.groups))


def group_schema(group: GroupType) -> Schema:
    """A group of a type; with ``collections`` only those are there."""
    return object_schema(group.attributes, _collections(group.resources))


def version_schema(resource: ResourceType) -> Schema:
    """A version of a resource of a type; the document is any JSON value."""
    schema = object_schema(resource.attributes, _document(resource) | _ancestor())
    return shown(schema, f"{resource.singular}id", "versionid", "self", "xid", "epoch")


def resource_schema(resource: ResourceType) -> Schema:
    """A resource of a type; one whose ``xref`` leads nowhere has hardly any attributes."""
    links = {"metaurl": {"type": "string"}, "meta": meta_schema(resource)}
    collection = _collections({"versions": resource})
    extra = _document(resource) | _ancestor() | links | collection
    schema = object_schema(resource.attributes, extra)
    return shown(schema, f"{resource.singular}id", "self", "xid")


def meta_schema(resource: ResourceType) -> Schema:
    """The meta entity of a resource of a type."""
    return shown(object_schema(resource.metaattributes), f"{resource.singular}id", "self", "xid")


def map_of(schema: Schema) -> Schema:
    """A collection, by id."""
    return {"type": "object", "additionalProperties": schema}


def _ancestor() -> dict[str, Schema]:
    """Its name depends on the generation that is spoken."""
    return {wire.ancestor: {"type": "string"} for wire in WIRES}


def _document(resource: ResourceType) -> dict[str, Schema]:
    if not resource.hasdocument:
        return {}
    return {resource.singular: ANYTHING, f"{resource.singular}base64": {"type": "string"}}


def _collections(plurals: Mapping[str, Any]) -> dict[str, Schema]:
    found: dict[str, Schema] = {}
    for plural in plurals:
        found[f"{plural}url"] = {"type": "string"}
        found[f"{plural}count"] = {"type": "integer", "minimum": 0}
        found[plural] = map_of(OBJECT)
    return found
