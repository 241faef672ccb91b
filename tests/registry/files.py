"""Registries of files for tests of writes, and short views of what became of a file."""

from __future__ import annotations

from typing import Any

from heraldry.registry.registry import Registry
from heraldry.registry.request import Document, Flags, Reply, Request, Target
from tests.registry.asking import ask, registry

FILE = "/dirs/d1/files/f1"
BASE = "http://reg.example"


def files(*, group: dict[str, Any] | None = None, **aspects: Any) -> Registry:
    """A registry whose files have these aspects; no documents and any extension, unless said."""
    kind = {
        "singular": "file",
        "hasdocument": False,
        "attributes": {"*": {"type": "any"}},
        "metaattributes": {"*": {"type": "any"}},
        **aspects,
    }
    return registry(
        {"groups": {"dirs": {"singular": "dir", "resources": {"files": kind}, **(group or {})}}}
    )


def year(number: int) -> str:
    """The beginning of a year, as a timestamp."""
    return f"{number}-01-01T00:00:00Z"


def lineage(to: Registry, path: str = FILE) -> dict[str, str]:
    """The ancestor of each version."""
    found = ask(to, "get", f"{path}/versions")
    return {key: version["ancestorid"] for key, version in found.items()}


def epochs(to: Registry, path: str = FILE) -> dict[str, int]:
    """The epoch of each version, and of ``meta``."""
    found = {key: v["epoch"] for key, v in ask(to, "get", f"{path}/versions").items()}
    return found | {"meta": ask(to, "get", f"{path}/meta")["epoch"]}


def default(to: Registry, path: str = FILE) -> tuple[str, bool]:
    """Which version is the default, and whether it is sticky."""
    meta = ask(to, "get", f"{path}/meta")
    return meta["defaultversionid"], meta["defaultversionsticky"]


def send(to: Registry, action: Any, path: str, body: Any = None, **flags: Any) -> Reply:
    """The whole reply to a request."""
    return to.run(
        Request(
            action=action,
            target=Target.parse(path),
            flags=Flags(**flags),
            body=body,
            base=BASE,
            path=path,
        )
    )


def put_document(
    to: Registry, path: str, content: bytes = b"", contenttype: str | None = None, **headers: Any
) -> Reply:
    """PUT of a document with attributes in headers."""
    document = Document(content=content, contenttype=contenttype, attributes=headers)
    return send(to, "put", path, document)
