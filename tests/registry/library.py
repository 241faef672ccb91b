"""A small registry of files to read from: documents, versions, labels, and a borrowed file."""

from __future__ import annotations

from typing import Any

from heraldry.registry.registry import Registry
from heraldry.registry.request import Flags, Reply, Request, Target
from tests.registry.asking import ask, registry

BASE = "http://reg.example"
THEN = "2024-01-01T00:00:00Z"

MODEL: dict[str, Any] = {
    "attributes": {"owner": {"type": "object", "attributes": {"*": {"type": "any"}}}},
    "groups": {
        "dirs": {
            "singular": "dir",
            "attributes": {
                "size": {"type": "integer"},
                "tags": {"type": "array", "item": {"type": "string"}},
            },
            "resources": {
                "files": {
                    "singular": "file",
                    "attributes": {
                        "pages": {"type": "integer"},
                        "draft": {"type": "boolean"},
                        "seen": {"type": "timestamp"},
                        "*": {"type": "any"},
                    },
                    "metaattributes": {"*": {"type": "any"}},
                },
                "notes": {"singular": "note", "hasdocument": False},
            },
        },
        "racks": {"singular": "rack", "resources": {"books": {"singular": "book"}}},
    },
}

CONTENT: dict[str, Any] = {
    "name": "library",
    "labels": {"stage": "dev"},
    "owner": {"team": "blue"},
    "dirs": {
        "d1": {
            "name": "first",
            "size": 2,
            "tags": ["old", "blue"],
            "files": {
                "f1": {
                    "meta": {"shelf": "top"},
                    "versions": {
                        "v1": {"name": "one", "pages": 3, "file": {"a": 1}},
                        "v2": {
                            "name": "Two",
                            "pages": 20,
                            "draft": True,
                            "seen": "2024-05-01T12:00:00+02:00",
                            "labels": {"stage": "dev", "a.b": "x"},
                            "file": "plain text",
                        },
                    },
                },
                "f2": {"versionid": "1", "name": "three", "pages": 7, "zeta": 1, "alpha": {"b": 2}},
            },
            "notes": {"n1": {"versionid": "1", "description": "a note"}},
        },
        "d2": {
            "name": "second",
            "size": 10,
            "files": {"f3": {"versionid": "1", "name": "two", "pages": 100}},
        },
        "d3": {},
    },
}


def library() -> Registry:
    """A new registry with that content."""
    made = registry(MODEL)
    ask(made, "put", "/", CONTENT)
    return made


def reply(to: Registry, path: str, **flags: Any) -> Reply:
    """The whole reply to a GET."""
    return to.run(
        Request(action="get", target=Target.parse(path), flags=Flags(**flags), base=BASE, path=path)
    )


def pruned(value: Any) -> Any:
    """Only the maps of collections and what is in them, as ids."""
    if not isinstance(value, dict):
        return value
    kept = ("dirs", "racks", "files", "notes", "books", "versions", "meta")
    named = {name: pruned(part) for name, part in value.items() if name in kept}
    if named or "self" in value:
        return named
    return {name: pruned(part) for name, part in value.items()}
