"""A registry as a folder fit for Git: as the paths of its API are, one small file per entity.

registry.json model.json capabilities.json
schemagroups/GROUP/group.json
schemagroups/GROUP/schemas/SCHEMA/meta.json             only where there is something to say
schemagroups/GROUP/schemas/SCHEMA/VERSION.version.json
schemagroups/GROUP/schemas/SCHEMA/VERSION.avsc          the document, named by the version
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from heraldry.dialects.json_text import read_json
from heraldry.dialects.limits import DEFAULT, Limits
from heraldry.errors import DocumentError

REGISTRY, MODEL, CAPABILITIES = "registry.json", "model.json", "capabilities.json"
GROUP, META, VERSION = "group.json", "meta.json", ".version.json"
LAYOUT_NAME, LAYOUT = "$layout", "heraldry-folder/1"
FILE = "$file"
"""``schema$file`` names the file of the document, in the folder of its version."""


def entity_name(id_: str) -> str:
    """The name of a file or folder for an id; what not every system can store is escaped."""
    name = quote(id_, safe="@")
    return name[:-1] + "%2E" if name.endswith(".") else name


def is_folder(path: Path) -> bool:
    """Whether a folder holds a registry in this layout."""
    try:
        return LAYOUT_NAME.encode() in (path / REGISTRY).read_bytes()[:1000]
    except OSError:
        return False


def read_folder(path: Path, limits: Limits = DEFAULT) -> dict[str, Any]:
    """The document of a folder; documents are in it as base64, so that no byte is lost."""
    return _Reader(root=path, limits=limits).document()


def files_of(path: Path, limits: Limits = DEFAULT) -> list[Path]:
    """The files that make up the registry in a folder, and no others."""
    reader = _Reader(root=path, limits=limits)
    reader.document()
    return reader.files


@dataclass(slots=True)
class _Reader:
    """Reads a folder once; notes its files and counts the bytes against the limit."""

    root: Path
    limits: Limits
    files: list[Path] = field(default_factory=list)
    size: int = 0

    def document(self) -> dict[str, Any]:
        registry = self._object(self.root / REGISTRY)
        if registry.pop(LAYOUT_NAME, None) != LAYOUT:
            reason = f"{LAYOUT_NAME} is not {LAYOUT}; it was written by another version of Heraldry"
            raise DocumentError(str(self.root / REGISTRY), "", reason)
        for name, file in (("capabilities", CAPABILITIES), ("modelsource", MODEL)):
            if (self.root / file).is_file():
                registry[name] = self._object(self.root / file)
        for groups in _folders(self.root):
            found = {
                unquote(one.name): self._group(one)
                for one in _folders(groups)
                if (one / GROUP).is_file()
            }
            if found:
                registry[groups.name] = found
        return registry

    def _group(self, folder: Path) -> dict[str, Any]:
        group = self._object(folder / GROUP)
        for resources in _folders(folder):
            group[resources.name] = {
                unquote(one.name): self._resource(one) for one in _folders(resources)
            }
        return group

    def _resource(self, folder: Path) -> dict[str, Any]:
        found: dict[str, Any] = {}
        if (folder / META).is_file():
            found["meta"] = self._object(folder / META)
        versions = {
            unquote(file.name.removesuffix(VERSION)): self._version(file)
            for file in sorted(folder.glob(f"*{VERSION}"), key=_order)
            if file.is_file()
        }
        return found | ({"versions": versions} if versions else {})

    def _version(self, file: Path) -> dict[str, Any]:
        version = self._object(file)
        for name in [name for name in version if name.endswith(FILE)]:
            document = self._beside(file, version.pop(name))
            content = base64.b64encode(self._content(document)).decode()
            version[f"{name.removesuffix(FILE)}base64"] = content
        return version

    def _beside(self, file: Path, name: Any) -> Path:
        """The file of a document: a plain name, no way out of the folder, also not by a link."""
        plain = isinstance(name, str) and name not in {"", ".", ".."} and Path(name).name == name
        document = file.parent / name if plain else file
        if not plain or "\\" in name or document.is_symlink() or not document.is_file():
            raise DocumentError(str(file), "", f"its document {name!r} is no file beside it")
        return document

    def _object(self, file: Path) -> dict[str, Any]:
        value = read_json(self._content(file), str(file), self.limits)
        if not isinstance(value, dict):
            raise DocumentError(str(file), "", "expected an object, found another value")
        return value

    def _content(self, file: Path) -> bytes:
        self.files.append(file)
        content = file.read_bytes()
        self.size += len(content)
        if self.size > self.limits.size:
            reason = f"the folder is larger than {self.limits.size / 2**20:g} MiB, the limit"
            raise DocumentError(str(self.root), "", reason)
        return content


def _folders(parent: Path) -> Iterator[Path]:
    found = (one for one in parent.iterdir() if one.is_dir() and not one.is_symlink())
    yield from sorted((one for one in found if not one.name.startswith(".")), key=_order)


def _order(path: Path) -> tuple[str, str]:
    name = unquote(path.name.removesuffix(VERSION))
    return name.lower(), name
