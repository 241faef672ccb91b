"""Writing a registry's export as a folder: the same content gives the same files."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from heraldry.dialects.document_suffix import suffix_of
from heraldry.dialects.folder import (
    CAPABILITIES,
    FILE,
    GROUP,
    LAYOUT,
    LAYOUT_NAME,
    META,
    MODEL,
    REGISTRY,
    VERSION,
    entity_name,
    files_of,
    is_folder,
)
from heraldry.errors import DocumentError, UsageError

Members = Mapping[str, Any]

_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._~:@-]{0,127}")
_TYPE = re.compile(r"[a-z_][a-z0-9_]{0,62}")
_CHANGING = frozenset(("self", "shortself", "xid", "epoch", "modifiedat"))
"""What a registry changes by itself, or what depends on where it is."""
_OF_VERSIONS = _CHANGING | {"isdefault"}
_OF_META = _CHANGING | {"createdat", "readonly", "defaultversionurl"}
_OF_RESOURCES = _CHANGING | {"createdat"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceShape:
    """What the files need to know of a resource type."""

    singular: str
    has_document: bool = True
    by_modification: bool = False
    """Whether ``modifiedat`` orders the versions and so is content (AL-14)."""


Shapes = Mapping[str, Mapping[str, ResourceShape]]
"""Resource types by group type."""


def shapes_of(model: Members) -> dict[str, dict[str, ResourceShape]]:
    """The types of a registry's model, imported ones included (MD-32)."""
    groups: Members = model.get("groups") or {}
    found = {
        groups_name: {name: _shape(one) for name, one in (group.get("resources") or {}).items()}
        for groups_name, group in groups.items()
    }
    for _ in groups:  # imports may lead to imports
        for name, group in groups.items():
            for target in group.get("ximportresources") or ():
                _, groups_name, resources = target.split("/")
                if shape := found.get(groups_name, {}).get(resources):
                    found[name].setdefault(resources, shape)
    return found


def _shape(resource: Members) -> ResourceShape:
    mode = str(resource.get("versionmode", "")).lower()
    return ResourceShape(
        singular=resource["singular"],
        has_document=resource.get("hasdocument") is not False,
        by_modification=mode == "modifiedat",
    )


def write_folder(document: Members, shapes: Shapes, path: Path, *, full: bool = False) -> int:
    """Write a document in document view; the number of files.

    Files that did not change are left alone, those of entities that are gone are removed, and
    nothing else in the folder is touched. ``full`` keeps what registries set by themselves.
    """
    if path.exists() and not path.is_dir():
        raise UsageError(f"{path} is a file", "name a folder")
    old = files_of(path) if is_folder(path) else []
    if not old and path.is_dir() and any(not one.name.startswith(".") for one in path.iterdir()):
        advice = "name an empty folder, or one that `heraldry export` wrote"
        raise UsageError(f"{path} holds other files", advice)
    files = _Writer(shapes=shapes, full=full).files(document)
    for name, content in files.items():
        _write(path / name, content)
    for file in old:
        if file.relative_to(path).as_posix() not in files:
            file.unlink()
            _without_empty(file.parent, path)
    return len(files)


def _write(file: Path, content: bytes) -> None:
    if file.is_file() and file.read_bytes() == content:
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)


def _without_empty(folder: Path, root: Path) -> None:
    while folder != root and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent


@dataclass(slots=True, kw_only=True)
class _Writer:
    """Collects the files of a document by their names."""

    shapes: Shapes
    full: bool
    found: dict[str, bytes] = field(default_factory=dict)

    def files(self, document: Members) -> dict[str, bytes]:
        self.found = {}
        for name, file in (("modelsource", MODEL), ("capabilities", CAPABILITIES)):
            if isinstance(document.get(name), Mapping):
                self._json(file, document[name])
        own = self._own(document, _OF_RESOURCES | {"registryid"}, self.shapes)
        own = {k: v for k, v in own.items() if k not in ("model", "modelsource", "capabilities")}
        self._json(REGISTRY, {LAYOUT_NAME: LAYOUT, **own})
        for groups in self.shapes:
            for id_, group in _entries(document, groups):
                self._group(f"{groups}/{entity_name(id_)}", group, self.shapes[groups])
        return self.found

    def _group(self, place: str, group: Members, shapes: Mapping[str, ResourceShape]) -> None:
        self._json(f"{place}/{GROUP}", self._own(group, _OF_RESOURCES, shapes))
        for resources, shape in shapes.items():
            for id_, resource in _entries(group, resources):
                self._resource(f"{place}/{resources}/{entity_name(id_)}", resource, shape)

    def _resource(self, place: str, resource: Members, shape: ResourceShape) -> None:
        meta = self._meta(resource.get("meta") or {}, shape)
        versions = dict(_entries(resource, "versions"))
        if meta or not versions:
            self._json(f"{place}/{META}", meta)
        # All names of metadata first: a document takes a name that is still free.
        taken = {META, *(f"{entity_name(id_)}{VERSION}".lower() for id_ in versions)}
        for id_, version in versions.items():
            own, content = self._version(version, shape)
            if content:
                name = _free(entity_name(id_), suffix_of(own), taken)
                taken.add(name.lower())
                self.found[f"{place}/{name}"] = content
                own[f"{shape.singular}{FILE}"] = name
            self._json(f"{place}/{entity_name(id_)}{VERSION}", own)

    def _meta(self, meta: Members, shape: ResourceShape) -> dict[str, Any]:
        if self.full:
            return dict(meta)
        own = self._own(meta, _OF_META | {f"{shape.singular}id"}, ())
        if not own.get("defaultversionsticky"):
            # The newest one is the default then, which the versions tell.
            own.pop("defaultversionsticky", None)
            own.pop("defaultversionid", None)
        return own

    def _version(self, version: Members, shape: ResourceShape) -> tuple[dict[str, Any], bytes]:
        """The metadata of a version and the bytes of its document."""
        singular = shape.singular
        changing = _OF_VERSIONS - ({"modifiedat"} if shape.by_modification else set())
        own = self._own(version, changing, ())
        if not shape.has_document:
            return own, b""
        encoded, inline = own.pop(f"{singular}base64", None), own.pop(singular, None)
        if isinstance(encoded, str):
            return own, _decoded(encoded, version)
        if inline is None:
            return own, b""
        return own, inline.encode() if isinstance(inline, str) else _text(inline)

    def _own(self, entity: Members, changing: frozenset[str], collections: Any) -> dict[str, Any]:
        gone = {f"{name}{end}" for name in collections for end in ("", "url", "count")}
        if self.full:
            gone = set(collections)
        else:
            gone |= changing
        return {name: value for name, value in entity.items() if name not in gone}

    def _json(self, name: str, value: Any) -> None:
        self.found[name] = _text(value)


def _free(stem: str, suffix: str, taken: set[str]) -> str:
    """A name that is no other file's, also where case is ignored, nor looks like metadata."""
    name = f"{stem}{suffix}"
    while name.lower() in taken or name.lower().endswith(VERSION):
        stem += ".document"
        name = f"{stem}{suffix}"
    return name


def _text(value: Any) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"


def _entries(parent: Members, name: str) -> Iterator[tuple[str, Members]]:
    """The entities of a collection, by id ignoring case; ids become names, so they are checked."""
    if not _TYPE.fullmatch(name):
        raise DocumentError("the registry", name, "the name of a type cannot name a folder")
    entities: Members = parent.get(name) or {}
    for id_ in sorted(entities, key=lambda one: (one.lower(), one)):
        if not _ID.fullmatch(id_):
            raise DocumentError("the registry", name, f"{id_!r} is no id and cannot name a file")
        yield id_, entities[id_]


def _decoded(text: str, version: Members) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        where = str(version.get("xid", ""))
        raise DocumentError("the registry", where, "its document is not base64") from None
