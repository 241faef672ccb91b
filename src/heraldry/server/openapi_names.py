"""What generated clients and pages call the operations: ids and tags, made from their paths."""

from __future__ import annotations

import re
from typing import Any, Final

from heraldry.model.metamodel import Model
from heraldry.registry.request import ROOT_PATHS

METHODS: Final = ("get", "put", "patch", "post", "delete")
_REGISTRY: Final = "registry"
_WORD: Final = re.compile(r"[A-Za-z0-9_]+")


def name_operations(paths: dict[str, Any], tags: dict[str, str]) -> None:
    """Give every operation its ``operationId`` and its tag; ``tags`` has those of some paths."""
    used: set[str] = set()
    for path, operations in paths.items():
        tag = tags.get(path) or _tag(path)
        for method in METHODS:
            if method in operations:
                id_ = _unique(method + _noun(path), used)
                operations[method] = {"operationId": id_, "tags": [tag], **operations[method]}


def tag_objects(model: Model, service: str) -> list[dict[str, str]]:
    """The tags in the order of a reader: the registry, each type, and what the server adds."""
    listed = {_REGISTRY: "The registry itself, its capabilities and its model."}
    for group in model.groups.values():
        listed[group.plural] = group.about.description or f"Groups of the type {group.plural}."
        for resource in group.resources.values():
            described = resource.about.description or f"Resources of the type {resource.plural}."
            listed[f"{group.plural}/{resource.plural}"] = described
    listed[service] = "Beside the registry: whether the server works, and how it is used."
    return [{"name": name, "description": text} for name, text in listed.items()]


def _tag(path: str) -> str:
    """``dirs`` for a group and a collection of groups, ``dirs/files`` for all below."""
    parts = [part for part in path.split("/") if part]
    if not parts or parts[0] in ROOT_PATHS:
        return _REGISTRY
    return "/".join(parts[0:3:2])


def _noun(path: str) -> str:
    """``/dirs/{dirid}/files`` is ``DirFiles``: what has an id is called by its singular."""
    parts = [part for part in path.split("/") if part]
    words: list[str] = []
    for part in parts:
        if part.startswith("{"):
            words[-1] = part[1:].partition("id}")[0]
            words += ["details"] if part.endswith("$details") else []
        else:
            words += _WORD.findall(part)
    return "".join(word[:1].upper() + word[1:] for word in words) or "Registry"


def _unique(name: str, used: set[str]) -> str:
    number = 1
    candidate = name
    while candidate in used:
        number += 1
        candidate = f"{name}{number}"
    used.add(candidate)
    return candidate
