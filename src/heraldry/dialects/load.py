"""Loading catalogs: files and folders, JSON and YAML, one document or many."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from heraldry.dialects import generations, xreg_1_0
from heraldry.dialects.folder import is_folder, read_folder
from heraldry.dialects.json_text import read_json
from heraldry.dialects.limits import DEFAULT, Limits
from heraldry.dialects.merge import merge
from heraldry.dialects.xreg_1_0.document import is_collection
from heraldry.dialects.xreg_1_0.writing import write
from heraldry.dialects.yaml_text import read_yaml
from heraldry.errors import DialectError, DocumentError, UsageError
from heraldry.model.catalog import Catalog

_OF_JOBS = frozenset(("_delta_log", "_checkpoint", "_checkpoints"))
SUFFIXES = (".json", ".yaml", ".yml", ".xreg", ".cereg")
"""The files of a folder that may hold a catalog."""

_NAMED = frozenset((".xreg", ".cereg"))
"""The last suffix of a catalog's file, or the last but one, as in ``orders.xreg.json``."""

_MEMBERS = (b"messagegroups", b"schemagroups", b"endpoints", b"definitionGroups")
_BOM = b"\xef\xbb\xbf"


@contextmanager
def _uncollected() -> Iterator[None]:
    """Keep the garbage collector away: a document has no cycles, and looking costs a third."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def load(*paths: str | Path, limits: Limits = DEFAULT) -> Catalog:
    """The catalog of files and folders, merged; the same xid in two files is an error.

    Of a folder every catalog document counts, at any depth; other files are passed over, but not
    an empty one, and not one whose name says that it is a catalog: those are errors. A folder that
    ``heraldry export`` wrote is one document.
    """
    return merge(load_files(*paths, limits=limits))


def load_files(*paths: str | Path, limits: Limits = DEFAULT) -> list[tuple[str, Catalog]]:
    """The documents of files and folders with their names; a path without any is an error."""
    if not paths:
        raise UsageError("no catalog given", "name at least one file or folder")
    loaded: list[tuple[str, Catalog]] = []
    for path in map(Path, paths):
        found = list(_documents(path, limits))
        if not found:
            expected = " ".join(f"*{suffix}" for suffix in SUFFIXES)
            raise UsageError(
                f"{path} holds no catalog", f"looked for {expected} with messagegroups"
            )
        loaded += found
    return loaded


def load_each(
    *paths: str | Path, limits: Limits = DEFAULT
) -> Iterator[tuple[str, Catalog | DocumentError]]:
    """Every document of files and folders by itself, or the error where it cannot be read."""
    for path in map(Path, paths):
        for file in _candidates(path):
            try:
                catalog = _document(file, limits, chosen=file == path)
            except DocumentError as error:
                yield str(file), error
            else:
                if catalog is not None:
                    yield str(file), catalog


@_uncollected()
def load_bytes(data: bytes, name: str, limits: Limits = DEFAULT) -> Catalog:
    """The catalog of one document; ``name`` is its file name, for errors and findings."""
    return load_document(parse_document(data, name, limits), name, limits)


def _documents(path: Path, limits: Limits) -> Iterator[tuple[str, Catalog]]:
    for file in _candidates(path):
        catalog = _document(file, limits, chosen=file == path)
        if catalog is not None:
            yield str(file), catalog


def _candidates(path: Path) -> Iterator[Path]:
    if path.is_file() or is_folder(path):
        yield path
    elif path.is_dir():
        yield from _files(path)
    else:
        what = "is neither a file nor a folder" if path.exists() else "does not exist"
        raise UsageError(f"{path} {what}", "name a catalog file or a folder of them")


@_uncollected()
def _document(file: Path, limits: Limits, *, chosen: bool) -> Catalog | None:
    """The catalog in a file; None for a file of a folder that holds something else."""
    document = _value(file, limits, chosen=chosen)
    return None if document is None else load_document(document, str(file), limits)


def registry_documents(
    *paths: str | Path, limits: Limits = DEFAULT
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The documents of files and folders as registries take them, of whatever types they are."""
    for path in map(Path, paths):
        for file in _candidates(path):
            document = _value(file, limits, chosen=file == path)
            if document is None:
                continue
            if not isinstance(document, dict):
                raise DocumentError(str(file), "", "expected an object, found another value")
            if generations.detect(document) != generations.CURRENT:
                document = write(load_document(document, str(file), limits))
            yield str(file), document


def _value(file: Path, limits: Limits, *, chosen: bool) -> Any:
    """The document in a file or exported folder; None where it is something else."""
    if file.is_dir():
        return read_folder(file, limits)
    data, name = _content(file, limits), str(file)
    named = any(suffix.lower() in _NAMED for suffix in file.suffixes[-2:])
    if named and not chosen and not data.strip():
        # What it is to hold is still to be written.
        raise DocumentError(name, "", "the file is empty")
    try:
        document = parse_document(data, name, limits)
    except DocumentError:
        # What never speaks of catalogs is somebody else's file and none of our business.
        if chosen or named or any(member in data for member in _MEMBERS):
            raise
        return None
    counts = chosen or xreg_1_0.detect(document) or generations.is_catalog(document)
    if counts or (named and not _has_groups(document)):
        return [] if document is None else document
    return None


def _has_groups(document: Any) -> bool:
    """Whether a document holds groups of some type: of none we know, it is another registry's."""
    return isinstance(document, dict) and any(is_collection(*one) for one in document.items())


def _files(folder: Path) -> Iterator[Path]:
    for parent, folders, files in os.walk(folder):
        if is_folder(Path(parent)):
            folders.clear()
            yield Path(parent)
            continue
        folders[:] = sorted(name for name in folders if not is_others(name))
        yield from (
            Path(parent, name)
            for name in sorted(files)
            if name.lower().endswith(SUFFIXES) and not name.startswith(".")
        )


def is_others(folder: str) -> bool:
    """Whether a folder in one of catalogs holds none: hidden ones, and what jobs write of tables.

    That speaks of definitions, and changes with every batch that lands.
    """
    return folder.startswith(".") or folder in _OF_JOBS


def _content(path: Path, limits: Limits) -> bytes:
    try:
        if path.stat().st_size > limits.size:
            raise _too_large(str(path), limits)
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read", error.strerror or str(error)) from None


def _too_large(name: str, limits: Limits) -> DocumentError:
    mebibytes = limits.size / 1024 / 1024
    reason = f"larger than {mebibytes:g} MiB, which is the limit; split the catalog into files"
    return DocumentError(name, "", reason)


def parse_document(data: bytes, name: str, limits: Limits) -> Any:
    """The value of a JSON or YAML text, told by the suffix of its name, else by how it begins."""
    if len(data) > limits.size:
        raise _too_large(name, limits)
    data = data.removeprefix(_BOM)
    suffix = Path(name).suffix.lower()
    is_json = suffix == ".json" or (
        suffix not in {".yaml", ".yml"} and data.lstrip()[:1] in (b"{", b"")
    )
    return read_json(data, name, limits) if is_json else read_yaml(data, name, limits)


def load_document(document: Any, name: str, limits: Limits) -> Catalog:
    """The catalog of a parsed document; an error where it is none, or of another generation."""
    if not isinstance(document, dict):
        raise DocumentError(name, "", "expected an object with messagegroups, found another value")
    generation = generations.detect(document)
    if generation != generations.CURRENT:
        reason = (
            f"this is a {generation} document; Heraldry does not read that generation yet; "
            "convert it to xRegistry 1.0 (messagegroups, messages, schemagroups)"
        )
        raise DialectError(name, "", reason)
    collections = ("endpoints", "messagegroups", "schemagroups")
    if not xreg_1_0.detect(document) and not any(name in document for name in collections):
        expected = "endpoints, messagegroups or schemagroups"
        raise DocumentError(name, "", f"no catalog: expected {expected} at the top level")
    return xreg_1_0.read(document, name, limits)
