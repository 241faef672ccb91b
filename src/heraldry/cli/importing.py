"""What `import` and `serve --import` read: documents, as a registry takes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from heraldry.dialects.load import registry_documents
from heraldry.dialects.xreg_1_0.document import COLLECTIONS, is_collection
from heraldry.errors import UsageError

_COMPUTED = frozenset(("registryid", "self", "shortself", "xid", "epoch", "model"))
"""Of another registry: its id and addresses say nothing about this one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """One document: what its groups are, and the registry around them."""

    file: str
    groups: Mapping[str, Any]
    registry: Mapping[str, Any]

    @property
    def whole(self) -> dict[str, Any]:
        """The registry with its groups."""
        return {**self.registry, **self.groups}

    @property
    def specversion(self) -> str:
        """The generation the document says it is written in."""
        return str(self.registry.get("specversion", ""))


def documents(paths: Sequence[str]) -> Iterator[Imported]:
    """The documents of some paths, each as it says, in 1.0; a path without any is an error."""
    for path in paths:
        found = False
        for file, document in registry_documents(path):
            found = True
            yield _imported(file, document)
        if not found:
            raise UsageError(f"{path} holds no catalog", "name a document or a folder of them")


def _imported(file: str, document: Mapping[str, Any]) -> Imported:
    groups = {
        name: value
        for name, value in document.items()
        if name in COLLECTIONS or is_collection(name, value)
    }
    registry = {
        name: value
        for name, value in document.items()
        if name not in groups and name not in _COMPUTED and value is not None
    }
    return Imported(file=file, groups=groups, registry=registry)
