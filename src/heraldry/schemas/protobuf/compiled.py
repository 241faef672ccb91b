"""A ``.proto`` document and what it imports as descriptors in a pool of their own."""

from __future__ import annotations

import re
from collections import deque
from typing import Final

from google.protobuf.descriptor import Descriptor, FileDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError

from heraldry.errors import NoRootError, SchemaError
from heraldry.schemas.protobuf.document import Document
from heraldry.schemas.protobuf.protoc import WELL_KNOWN, run
from heraldry.schemas.source import Source

SIZE_LIMIT: Final = 1024 * 1024
"""How many bytes a document may have, with all that it imports."""

_MAIN = "schema.proto"
_LISTED = 10


class Compiled:
    """The descriptors of one source: ``file`` is the document's, ``message`` the one meant."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._names: dict[str, str] = {}
        self._added = 0
        files = self._files()
        self.pool = DescriptorPool()
        try:
            for one in FileDescriptorSet.FromString(self._run(files)).file:
                self.pool.AddSerializedFile(one.SerializeToString())
            self.file: FileDescriptor = self.pool.FindFileByName(_MAIN)
        except (TypeError, ValueError, KeyError, DecodeError) as error:
            reason = f"the runtime refuses what the compiler accepts: {error}"
            raise SchemaError(source.format, "", reason) from None
        self.message: Descriptor = _chosen(self.file, source)

    def name(self, file: FileDescriptor) -> str:
        """The name that an imported document goes by in the catalog; empty for the main one."""
        return "" if file.name == _MAIN else self._names.get(file.name, file.name)

    def _run(self, files: dict[str, bytes]) -> bytes:
        try:
            return run(self._source.format, _MAIN, files)
        except SchemaError as error:
            location, reason = error.location, error.reason
            for file, name in self._names.items():
                pattern = rf"\b{re.escape(file)}"
                location = re.sub(pattern, lambda _, name=name: name, location)  # type: ignore[misc]
                reason = re.sub(pattern, lambda _, name=name: name, reason)  # type: ignore[misc]
            added = self._added
            if added and location.startswith("1:"):
                location = f"1:{max(1, int(location[2:]) - added)}"
            raise SchemaError(self._source.format, location, reason) from None

    def _files(self) -> dict[str, bytes]:
        """The documents by names of our own, which no document can lead out of the folder."""
        source = self._source
        if len(source.content) + sum(len(one.content) for one in source.references) > SIZE_LIMIT:
            reason = f"it is larger than {SIZE_LIMIT} bytes, with all that it imports"
            raise SchemaError(source.format, "", reason)
        if not source.content.strip():
            raise SchemaError(source.format, "", "the document is empty")
        # One document under two names is one file, else its types would be declared twice.
        contents = {source.content: _MAIN}
        files: dict[str, str] = {}
        for reference in source.references:
            if reference.name not in WELL_KNOWN:
                file = contents.setdefault(reference.content, f"import{len(contents)}.proto")
                files[reference.name] = file
                self._names.setdefault(file, reference.name)
        self._names.pop(_MAIN, None)
        return {file: self._text(content, files) for content, file in contents.items()}

    def _text(self, content: bytes, files: dict[str, str]) -> bytes:
        def renamed(name: str) -> str:
            return name if name in WELL_KNOWN else files[name]

        document = Document(content)
        for name in document.imports:
            if name not in WELL_KNOWN and name not in files:
                reason = f"the import {name!r} is not in the catalog, and nothing is fetched"
                raise SchemaError(self._source.format, "", reason)
        lacking = document.statement(self._source.version)
        if content is self._source.content:
            self._added = len(lacking)
        return lacking + document.with_imports(renamed)


def _chosen(file: FileDescriptor, source: Source) -> Descriptor:
    """The message that a link names, else the only one, or the one named like the schema (C43)."""
    messages = _messages(file)
    if source.link.strip("#/: "):
        found = _linked(messages, file.package, source.link.strip("#/: "))
        if found is None:
            reason = f"the document has no such message; it has {_listed(messages)}"
            raise SchemaError(source.format, source.link, reason)
        return found
    top = [one for one in messages if one.containing_type is None]
    if len(top) == 1:
        return top[0]
    if not top:
        raise NoRootError(source.format, "", "the document has no message")
    simple = source.name.rpartition(".")[2]
    for fold in (str, str.casefold):
        named = [one for one in top if fold(one.name) == fold(simple)]
        if len(named) == 1:
            return named[0]
    reason = f"it has several messages, so a link must name one of {_listed(messages)}"
    raise NoRootError(source.format, "", reason)


def _messages(file: FileDescriptor) -> list[Descriptor]:
    found: list[Descriptor] = []
    waiting = deque(file.message_types_by_name.values())
    while waiting:
        one = waiting.popleft()
        if not one.GetOptions().map_entry:
            found.append(one)
            waiting += one.nested_types
    return found


def _linked(messages: list[Descriptor], package: str, link: str) -> Descriptor | None:
    by_name = {one.full_name: one for one in messages}
    prefix = f"{package}." if package else ""
    dotted = link.replace("/", ".").strip(".")
    last = link.rpartition("/")[2].strip(".")
    for name in (dotted, prefix + dotted, last, prefix + last):
        if name in by_name:
            return by_name[name]
    simple = [one for one in messages if one.name == last]
    return simple[0] if len(simple) == 1 else None


def _listed(messages: list[Descriptor]) -> str:
    names = [one.full_name for one in messages]
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return ", ".join(names[:_LISTED]) + more
