"""Documents that are too large to be in memory for everybody who asks: they are read while sent."""

from __future__ import annotations

import base64
import codecs
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Final

import msgspec

if TYPE_CHECKING:
    from heraldry.store.store import Reader

LARGE: Final = 256 * 1024
"""From so many bytes on, a document is read in pieces."""
TOGETHER: Final = 4 * 1024 * 1024
"""So many bytes of smaller documents are in memory together."""
_PIECE: Final = 3 * 64 * 1024
"""A multiple of three, as base64 wants it."""
_ESCAPE: Final = msgspec.json.Encoder().encode
_in_memory = Lock()
"""Whether something is JSON, only all of it tells: of one document at a time."""


@dataclass(frozen=True, slots=True)
class LargeDocument:
    """A document in a snapshot, which must last as long as it is read."""

    tx: Reader
    key: int
    size: int

    def pieces(self) -> Iterator[bytes]:
        """Its bytes."""
        return self.tx.document_pieces(self.key, _PIECE)

    def is_text(self) -> bool:
        """Whether it is UTF-8."""
        decoder = codecs.getincrementaldecoder("utf-8")()
        try:
            for piece in self.pieces():
                decoder.decode(piece)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return False
        return True

    def is_json(self) -> bool:
        """Whether it can stand in JSON as the value it is; texts and ``null`` mean other things."""
        start = next(self.pieces()).lstrip(b" \t\r\n")[:1]
        if start not in (b"{", b"[") or not self.is_text():
            return False
        with _in_memory:
            content = self.tx.document(self.key)
            try:
                msgspec.json.decode(content, type=msgspec.Raw)
            except (msgspec.DecodeError, RecursionError):
                return False
        return True


@dataclass(frozen=True, slots=True)
class Piecewise:
    """The value of a member as JSON text in pieces."""

    document: LargeDocument
    form: str
    """``json``, ``string`` or ``base64``."""

    def text(self) -> Iterator[bytes]:
        """The pieces."""
        if self.form == "json":
            yield from self.document.pieces()
            return
        yield b'"'
        if self.form == "string":
            decoder = codecs.getincrementaldecoder("utf-8")()
            for piece in self.document.pieces():
                yield _ESCAPE(decoder.decode(piece))[1:-1]
        else:
            for piece in self.document.pieces():
                yield base64.b64encode(piece)
        yield b'"'


class Documents(Mapping[int, "bytes | LargeDocument"]):
    """Documents by their keys, to be asked for about in their order: few are in memory."""

    def __init__(self, tx: Reader, keys: Collection[int]) -> None:
        self._tx = tx
        self._sizes = tx.document_sizes(keys)
        self._group_of: dict[int, list[int]] = {}
        """The documents that are read together with one."""
        self._near: dict[int, bytes] = {}
        group: list[int] = []
        together = 0
        for key in keys:
            size = self._sizes.get(key, LARGE)
            if size >= LARGE:
                continue
            if together + size > TOGETHER:
                group, together = [], 0
            group.append(key)
            together += size
            self._group_of[key] = group

    def __getitem__(self, key: int) -> bytes | LargeDocument:
        """A document; KeyError where it is missing."""
        size = self._sizes[key]
        if size >= LARGE:
            return LargeDocument(self._tx, key, size)
        if key not in self._near:
            self._near = self._tx.documents(self._group_of[key])
        return self._near[key]

    def __iter__(self) -> Iterator[int]:
        """The keys of those that are there."""
        return iter(self._sizes)

    def __len__(self) -> int:
        """How many there are."""
        return len(self._sizes)
