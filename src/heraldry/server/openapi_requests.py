"""JSON Schemas of what writes may send, from the model; the rest of its rules no schema can say.

Every attribute may be ``null`` (A-05). Those that only the server sets may be anything, as they are
ignored (GN-08), and so may ids, with ``?ignore=id`` (FL-42). Schemas of entities refer to each
other by name: see :func:`request_schemas`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from heraldry.dialects.xreg_1_0.wire import WIRES
from heraldry.model.metamodel import Attribute, Attributes, GroupType, Model, ResourceType
from heraldry.server.openapi_schemas import ANYTHING, ID, SCALARS, Schema

GIVEN: Final[Schema] = {"type": ["object", "null"]}
"""Any object; null is like {}."""
_NAME: Final = "[a-z_][a-z0-9_]{0,62}"
_KEY: Final[Schema] = {"pattern": "^[a-z0-9][a-z0-9:._-]{0,62}$"}
_ADDRESS: Final[Schema] = {"type": "string", "pattern": r"^[^\x00-\x1f\x7f]*$"}
_ABSOLUTE: Final[Schema] = {"type": "string", "pattern": r"^[A-Za-z][A-Za-z0-9+.\-]*:"}
_XID: Final[Schema] = {"type": "string", "pattern": "^/"}
_TEXTS: Final[dict[str, Schema]] = {
    "uri": _ADDRESS,
    "uriabsolute": _ABSOLUTE,
    "urirelative": _ADDRESS,
    "url": _ADDRESS,
    "urlabsolute": _ABSOLUTE,
    "urlrelative": _ADDRESS,
    "xid": _XID,
    "xidtype": _XID,
}
_FILLED: Final = frozenset(("name", "documentation", "icon", "format", "compatibility"))
"""Texts that must not be empty (CA-11)."""
_ANCESTOR: Final[Schema] = {
    "description": "The id of a version: "
    + ", ".join(f"`{w.ancestor}` in {w.specversion}" for w in WIRES)
}
"""Of no type, as the name of one generation may be an extension in another."""
_ONLY_SHOWN: Final = ("metaurl", "versionsurl", "versionscount")


def request_schemas(model: Model) -> dict[str, Schema]:
    """The schemas of all entities that may be sent, by name."""
    found: dict[str, Schema] = {"registry": _registry(model)}
    for group in model.groups.values():
        found[group.plural] = _group(group)
        for resource in group.resources.values():
            path = f"{group.plural}.{resource.plural}"
            found[path] = _resource(path, resource)
            found[f"{path}.meta"] = _meta(resource)
            found[f"{path}.versions"] = _version(resource)
    return {f"{name}.given": schema for name, schema in found.items()}


def sent(name: str) -> Schema:
    """A reference to one of them: ``sent("dirs.files")``."""
    return {"$ref": f"#/components/schemas/{name}.given"}


def sent_map(name: str) -> Schema:
    """Many of them, by id (CO-07)."""
    return GIVEN | {"propertyNames": ID, "additionalProperties": _entry(name)}


def sent_maps(names: Mapping[str, str]) -> Schema:
    """Many of several types, by the names of their collections (WR-05)."""
    properties = {plural: _map(name) for plural, name in names.items()}
    return GIVEN | {"properties": properties | {"$schema": ANYTHING}, "additionalProperties": False}


def _map(name: str) -> Schema:
    return {"type": "object", "propertyNames": ID, "additionalProperties": _entry(name)}


def _entry(name: str) -> Schema:
    """Unlike a whole body, an entry of a map must not be null."""
    return {"allOf": [sent(name), {"type": "object"}]}


def _nested(name: str) -> Schema:
    """A collection inside an entity may be null: it is as if it were not there."""
    return _map(name) | {"type": ["object", "null"]}


def _registry(model: Model) -> Schema:
    nested = {plural: _nested(plural) for plural in model.groups}
    return _entity(model.attributes, nested | {"capabilities": GIVEN, "modelsource": GIVEN})


def _group(group: GroupType) -> Schema:
    nested = {plural: _nested(f"{group.plural}.{plural}") for plural in group.resources}
    return _entity(group.attributes, nested)


def _resource(path: str, resource: ResourceType) -> Schema:
    nested = {"meta": sent(f"{path}.meta"), "versions": _nested(f"{path}.versions")}
    return _entity(resource.attributes, nested, _ONLY_SHOWN)


def _version(resource: ResourceType) -> Schema:
    return _entity(resource.attributes, {}, _ONLY_SHOWN)


def _meta(resource: ResourceType) -> Schema:
    return _entity(resource.metaattributes, {})


def _entity(
    attributes: Attributes, nested: dict[str, Schema], ignored: Iterable[str] = ()
) -> Schema:
    schema = _object(attributes)
    properties: dict[str, Schema] = schema["properties"]
    if "ancestorid" in properties:
        properties |= {wire.ancestor: _ANCESTOR for wire in WIRES}
    for name in _FILLED & properties.keys():
        properties[name] = properties[name] | {"minLength": 1}
    properties |= dict.fromkeys(ignored, ANYTHING) | nested | {"$schema": ANYTHING}
    properties["epoch"] = {"type": ["integer", "null"], "minimum": 0}
    if "propertyNames" in schema:
        schema["propertyNames"] = {"pattern": rf"^(\$schema|{_NAME})$"}
    return schema


def _object(attributes: Attributes, *, extended: bool = False) -> Schema:
    """An object; names that ``*`` or an ``ifvalues`` admit are not listed."""
    properties = {name: _nullable(one) for name, one in attributes.items() if name != "*"}
    schema = GIVEN | {"properties": properties}
    star = attributes.get("*")
    if star is not None:
        schema["additionalProperties"] = _nullable(star)
    elif not any(attribute.ifvalues for attribute in attributes.values()):
        return schema | {"additionalProperties": False}
    return schema | {"propertyNames": _KEY if extended else {"pattern": f"^{_NAME}$"}}


def _nullable(attribute: Attribute) -> Schema:
    if attribute.readonly or attribute.immutable:
        return ANYTHING
    schema = _value(attribute)
    if isinstance(schema.get("type"), str):
        schema = schema | {"type": [schema["type"], "null"]}
    return schema


def _value(attribute: Attribute) -> Schema:
    """A value that is there: the item of a map or array must not be null (T-03)."""
    item = ANYTHING if attribute.item is None else _value(attribute.item)
    match attribute.type:
        case "any":
            return ANYTHING
        case "array":
            return {"type": "array", "items": item}
        case "map":
            return {"type": "object", "propertyNames": _KEY, "additionalProperties": item}
        case "object":
            extended = attribute.namecharset == "extended"
            return _object(attribute.attributes, extended=extended) | {"type": "object"}
    return SCALARS.get(attribute.type) or _TEXTS.get(attribute.type) or {"type": "string"}
