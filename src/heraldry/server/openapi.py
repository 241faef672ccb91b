"""The concrete API of a registry, as OpenAPI 3.1: its paths come from the model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from heraldry.dialects.xreg_1_0.wire import WIRES
from heraldry.model.metamodel import GroupType, Model, ResourceType
from heraldry.registry.capabilities import AVAILABLE, Capabilities
from heraldry.server.openapi_names import name_operations, tag_objects
from heraldry.server.openapi_requests import (
    GIVEN,
    request_schemas,
    sent,
    sent_map,
    sent_maps,
)
from heraldry.server.openapi_schemas import (
    ID,
    OBJECT,
    PROBLEM,
    Schema,
    group_schema,
    map_of,
    meta_schema,
    registry_schema,
    resource_schema,
    version_schema,
)
from heraldry.server.openapi_service import TAG, service_paths

Operation = dict[str, Any]
Paths = Iterator[tuple[str, dict[str, Any]]]

_TEXT: Final[Schema] = {"type": "string"}
_FILLED: Final[Schema] = {"type": "string", "minLength": 1}
_EPOCH: Final[Schema] = {"type": "integer", "minimum": 0, "maximum": 2**63 - 1}
_POSITIVE: Final[Schema] = {"type": "integer", "minimum": 1, "maximum": 2**64 - 1}
_VERSIONS: Final = " or ".join(wire.specversion for wire in WIRES)


def _spoken(specversion: str) -> str:
    """A pattern of the ways to name a generation: any case, any patch level (FL-05)."""
    number, _, suffix = specversion.partition("-")
    letters = (f"[{c.lower()}{c.upper()}]" if c.isalpha() else c for c in suffix)
    return number.replace(".", r"\.") + r"(\.[0-9]+)?-" + "".join(letters)


_SPOKEN: Final[Schema] = {
    "type": "string",
    "pattern": f"^({'|'.join(_spoken(wire.specversion) for wire in WIRES)})?$",
    "examples": [wire.specversion for wire in WIRES],
}
_FLAGS: Final[dict[str, tuple[Schema, str]]] = {
    "binary": (_TEXT, "Documents in base64, always."),
    "collections": (_TEXT, "Only the collections."),
    "confirm": (_TEXT, "immutable: capabilities are to become ones that no request can change."),
    "doc": (_TEXT, "The document view: self-contained, fit to be imported again."),
    "epoch": (_EPOCH, "Only if the entity has this epoch."),
    "filter": (_TEXT, "Expressions that must hold, separated by commas; repeat for alternatives."),
    "ignore": (_TEXT, "Parts of the request to be ignored."),
    "inline": (_TEXT, "Paths of what is shown inside, separated by commas."),
    "limit": (_POSITIVE, "The greatest number of entities on a page."),
    "setdefaultversionid": (_FILLED, "The version to become the default one."),
    "sort": (_TEXT, "The attribute to sort by: ATTRIBUTE[=asc|desc]."),
    "specversion": (_SPOKEN, f"The version to be spoken: {_VERSIONS}."),
}
_READ: Final = ("doc", "inline", "filter", "binary", "specversion")
_LISTED: Final = (*_READ, "sort", "limit")
_WRITE: Final = ("ignore", "specversion")
_CONFIRMED: Final = (*_WRITE, "confirm")
_DEFAULTED: Final = (*_WRITE, "setdefaultversionid")

_JSON: Final = "application/json"
_FAILED: Final = {"412": {"$ref": "#/components/responses/problem"}}
_TAGS: Final[Schema] = {
    "type": "string",
    "pattern": r'^(\*|(W/)?"[!#-~]*"( ?, ?(W/)?"[!#-~]*")*)$',
}
_CONDITIONS: Final = {
    "If-Match": "Only if the representation has one of these entity tags; `*`: if there is one.",
    "If-None-Match": "Only if it has none of these; `*`: if there is nothing.",
}


def describe(model: Model, capabilities: Capabilities, base: str) -> dict[str, Any]:
    """The OpenAPI document of a registry with this model: only what would work now."""
    paths = dict(_registry_paths(model))
    for group in model.groups.values():
        paths |= dict(_group_paths(group))
        for resource in group.resources.values():
            paths |= dict(_resource_paths(group, resource))
    offered = _available(paths, capabilities)
    service = service_paths(model.groups)
    offered |= service
    name_operations(offered, dict.fromkeys(service, TAG))
    return {
        "openapi": "3.1.0",
        "info": {
            "title": model.about.description or "xRegistry",
            "version": model.about.modelversion or "1",
            "description": "A registry by the CNCF xRegistry specification.",
        },
        "servers": [{"url": base}],
        "tags": tag_objects(model, TAG),
        "paths": offered,
        "components": {
            "schemas": {"problem": PROBLEM, **request_schemas(model)},
            "parameters": {
                name: {"name": name, "in": "header", "description": text, "schema": _TAGS}
                for name, text in _CONDITIONS.items()
            },
            "headers": {
                "ETag": {"description": "For `If-Match` and `If-None-Match`.", "schema": _TEXT}
            },
            "responses": {
                "problem": {
                    "description": "What is wrong, as a problem document.",
                    "content": {_JSON: {"schema": {"$ref": "#/components/schemas/problem"}}},
                }
            },
        },
    }


def _available(paths: dict[str, Any], capabilities: Capabilities) -> dict[str, Any]:
    """The paths that are offered, and their writes where something may be changed."""
    found = {}
    for path, operations in paths.items():
        name = path[1:] if path[1:] in AVAILABLE else "entities"
        mutable = capabilities.available.get(name)
        if mutable is not None:
            kept = operations if mutable else {"get", "parameters"}
            found[path] = {key: value for key, value in operations.items() if key in kept}
    return found


def _registry_paths(model: Model) -> Paths:
    registry = registry_schema(model)
    groups = {plural: plural for plural in model.groups}
    yield (
        "/",
        {
            "get": _reading("The registry", registry, (*_READ, "collections")),
            "put": _writing(
                "Replace the registry's attributes", registry, sent("registry"), _CONFIRMED
            ),
            "patch": _writing(
                "Change some of its attributes", registry, sent("registry"), _CONFIRMED
            ),
            "post": _writing("Create or update groups", OBJECT, sent_maps(groups)),
        },
    )
    for name, writes, flags in (
        ("capabilities", ("put", "patch"), _CONFIRMED),
        ("capabilitiesoffered", (), ()),
        ("model", (), ()),
        ("modelsource", ("put",), _WRITE),
    ):
        one = {"get": _reading(f"The {name}", OBJECT, ("specversion",))}
        one |= {method: _writing(f"Change the {name}", OBJECT, GIVEN, flags) for method in writes}
        yield f"/{name}", one
    yield "/export", {"get": _reading("Everything, fit to be imported", OBJECT, _READ)}


def _group_paths(group: GroupType) -> Paths:
    schema = group_schema(group)
    name, given = f"{group.singular}id", sent(group.plural)
    resources = {plural: f"{group.plural}.{plural}" for plural in group.resources}
    yield f"/{group.plural}", _collection(group.plural, schema, group.plural)
    yield (
        f"/{group.plural}/{{{name}}}",
        {
            "parameters": [_id(name)],
            "get": _reading(f"One {group.singular}", schema, (*_READ, "collections")),
            "put": _writing(f"Create or replace a {group.singular}", schema, given, created=True),
            "patch": _writing(f"Create or change a {group.singular}", schema, given, created=True),
            "post": _writing("Create or update resources", OBJECT, sent_maps(resources)),
            "delete": _deleting(f"Delete a {group.singular}", ("epoch",)),
        },
    )


def _resource_paths(group: GroupType, resource: ResourceType) -> Paths:
    ids = [_id(f"{group.singular}id"), _id(f"{resource.singular}id")]
    root = f"/{group.plural}/{{{group.singular}id}}/{resource.plural}"
    one = f"{root}/{{{resource.singular}id}}"
    version = f"{one}/versions/{{versionid}}"
    name, given = resource.singular, f"{group.plural}.{resource.plural}"
    whole, each, meta = resource_schema(resource), version_schema(resource), meta_schema(resource)
    yield root, {"parameters": ids[:1], **_collection(resource.plural, whole, given)}
    written = (meta, sent(f"{given}.meta"), _DEFAULTED, True)
    yield (
        f"{one}/meta",
        {
            "parameters": ids,
            "get": _reading(f"The meta entity of a {name}", meta, _READ),
            "put": _writing("Replace the meta entity", *written),
            "patch": _writing("Change the meta entity", *written),
        },
    )
    versions = _collection(f"versions of a {name}", each, f"{given}.versions", _DEFAULTED)
    yield f"{one}/versions", {"parameters": ids, **versions}
    all_ids = [*ids, _id("versionid")]
    if resource.hasdocument:
        yield one, {"parameters": ids, **_documents(name, post=True)}
        yield version, {"parameters": all_ids, **_documents(f"version of a {name}", post=False)}
    end = "$details" if resource.hasdocument else ""
    body = sent(f"{given}.versions")
    posted = {"post": _writing(f"Create a version of a {name}", each, body, _DEFAULTED, True)}
    yield f"{one}{end}", {"parameters": ids, **_entity(name, whole, sent(given)), **posted}
    of_version = _entity(f"version of a {name}", each, body)
    yield f"{version}{end}", {"parameters": all_ids, **of_version}


def _entity(name: str, schema: Schema, given: Schema) -> dict[str, Operation]:
    return {
        "get": _reading(f"One {name}", schema, _READ),
        "put": _writing(f"Create or replace a {name}", schema, given, _DEFAULTED, True),
        "patch": _writing(f"Create or change a {name}", schema, given, _DEFAULTED, True),
        "delete": _deleting(f"Delete a {name}", ("epoch", "setdefaultversionid")),
    }


def _collection(
    name: str, schema: Schema, given: str, flags: Sequence[str] = _WRITE
) -> dict[str, Operation]:
    body = sent_map(given)
    return {
        "get": _reading(f"All {name}", map_of(schema), _LISTED),
        "post": _writing(f"Create or replace {name}", map_of(schema), body, flags),
        "patch": _writing(f"Create or change {name}", map_of(schema), body, flags),
        "delete": _deleting(f"Delete some or all {name}", ("setdefaultversionid",), body=True),
    }


def _documents(name: str, *, post: bool) -> dict[str, Operation]:
    """The document itself is any bytes of any type, so there is no content to describe."""
    shown = {"description": "The document; its metadata is in headers."}
    replies = {"200": shown, "201": shown, "303": {"description": "The document is elsewhere."}}
    writing = {
        "parameters": [*_parameters(_DEFAULTED), *_conditions()],
        "requestBody": {"required": False, "content": {"application/octet-stream": {}}},
        "responses": _responses({**replies, **_FAILED}),
    }
    found = {
        "get": {
            "summary": f"The document of a {name}",
            "parameters": _parameters(_READ),
            "responses": _responses(replies),
        },
        "put": {"summary": f"Create or replace the document of a {name}", **writing},
        "delete": _deleting(f"Delete a {name}", ("epoch", "setdefaultversionid")),
    }
    if post:
        found["post"] = {"summary": f"Create a version of a {name} from its document", **writing}
    return found


def _reading(summary: str, schema: Schema, flags: Sequence[str]) -> Operation:
    tagged = {"headers": {"ETag": {"$ref": "#/components/headers/ETag"}}}
    replies = {"200": _json_reply(schema) | tagged}
    return {
        "summary": summary,
        "parameters": _parameters(flags),
        "responses": _responses(replies),
    }


def _writing(
    summary: str,
    schema: Schema,
    given: Schema,
    flags: Sequence[str] = _WRITE,
    created: bool = False,
) -> Operation:
    replies = {"200": _json_reply(schema)} | ({"201": _json_reply(schema)} if created else {})
    return {
        "summary": summary,
        "parameters": [*_parameters(flags), *_conditions()],
        "requestBody": {"required": True, "content": {_JSON: {"schema": given}}},
        "responses": _responses({**replies, **_FAILED}),
    }


def _deleting(summary: str, flags: Sequence[str], *, body: bool = False) -> Operation:
    found = {
        "summary": summary,
        "parameters": [*_parameters(flags), *_conditions()],
        "responses": _responses({"204": {"description": "It is gone."}, **_FAILED}),
    }
    if body:
        chosen = GIVEN | {"additionalProperties": OBJECT}
        found["requestBody"] = {"required": False, "content": {_JSON: {"schema": chosen}}}
    return found


def _json_reply(schema: Schema) -> Operation:
    return {"description": "Done.", "content": {_JSON: {"schema": schema}}}


def _conditions() -> list[dict[str, str]]:
    return [{"$ref": f"#/components/parameters/{name}"} for name in _CONDITIONS]


def _responses(replies: dict[str, Any]) -> dict[str, Any]:
    return {**replies, "default": {"$ref": "#/components/responses/problem"}}


def _parameters(names: Sequence[str]) -> list[dict[str, Any]]:
    found = []
    for name in names:
        schema, description = _FLAGS[name]
        one: dict[str, Any] = {
            "name": name,
            "in": "query",
            "description": description,
            "schema": schema,
        }
        if schema is _TEXT:
            one["allowEmptyValue"] = True
        found.append(one)
    return found


def _id(name: str) -> dict[str, Any]:
    return {"name": name, "in": "path", "required": True, "schema": ID}
