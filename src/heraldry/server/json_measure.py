"""What a JSON text holds, and would take in memory as values, found without reading it into them.

It is gone through once, in pieces that are small enough for other threads to run in between.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

PIECE: Final = 64 * 1024
# Possessive: a way back for every character of a long string would take gigabytes.
_END: Final = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_STRING: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+("|\\?\Z)', re.DOTALL)
"""A string, to its end or that of the piece: a search for ends alone is quadratic without one."""
_BARE: Final = b"\0\\1"
_OPEN: Final = (b"\0", b"\0\\")
"""How a piece ends whose last string goes on, when each string has become the end of its match."""
_MOVES: Final = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")
_NO_BRACKETS: Final = bytes(byte for byte in range(256) if byte not in b"[{]}")
_NO_LONG_CHARACTERS: Final = bytes(range(0xF0))

# Bytes that CPython takes for each, without the characters of texts.
_OBJECT, _ARRAY, _TEXT, _NUMBER, _ELEMENT, _MEMBER = 200, 72, 56, 32, 9, 32
_MEMBERS_INSIDE: Final = 5
"""So many members are in the size of an object."""


@dataclass(slots=True)
class Measure:
    """What a text holds as far as it has been gone through; of what is no JSON, something."""

    values: int = 1
    members: int = 0
    depth: int = 0
    objects: int = 0
    arrays: int = 0
    """With empty objects, which take no more."""
    texts: int = 0
    characters: int = 0
    """The bytes of its texts in memory."""

    @property
    def memory(self) -> int:
        """How many bytes it takes as values, about; names of members are kept once."""
        elements = max(0, self.values - self.members)
        texts = max(0, self.texts - self.members)
        numbers = max(0, self.values - self.objects - self.arrays - texts)
        members = max(0, self.members - _MEMBERS_INSIDE * self.objects)
        containers = _OBJECT * self.objects + _MEMBER * members + _ARRAY * self.arrays
        scalars = _TEXT * texts + self.characters + _NUMBER * numbers
        return containers + _ELEMENT * elements + scalars


def measure_json(text: bytes, piece: int = PIECE) -> Iterator[Measure]:
    """The measure of a text, after each of its pieces."""
    return _Measuring(text).pieces(piece)


class _Measuring:
    def __init__(self, text: bytes) -> None:
        self._text = text
        self._narrow = text.isascii() and b"\\u" not in text
        self._inside = self._escaped = False
        """Whether a piece begins inside a string; whether its first character is escaped."""
        self._level = 0
        self._measure = Measure()

    def pieces(self, size: int) -> Iterator[Measure]:
        for start in range(0, len(self._text), size):
            piece = self._text[start : start + size]
            outside = self._after_string(piece) if self._inside else piece
            if outside:
                self._count(outside)
            yield self._measure

    def _after_string(self, piece: bytes) -> bytes:
        """What follows the string that a piece begins in; nothing where it does not end."""
        if self._escaped:
            piece, self._escaped = piece[1:], False
        end = _END.match(piece)
        if end is None:
            self._stay_inside(piece)
            return b""
        self._inside = False
        self._measure.texts += 1
        self._measure.characters += end.end() * self._widest
        return piece[end.end() :]

    def _stay_inside(self, piece: bytes) -> None:
        self._measure.characters += len(piece) * self._widest
        self._inside = True
        self._escaped = (len(piece) - len(piece.rstrip(b"\\"))) % 2 == 1

    @property
    def _widest(self) -> int:
        """Bytes of a character in a string of which the rest is not known."""
        return 1 if self._narrow else 4

    def _count(self, piece: bytes) -> None:
        measure = self._measure
        bare, texts = _STRING.subn(_BARE, piece)
        self._inside, self._escaped = bare.endswith(_OPEN), bare.endswith(_OPEN[1])
        measure.texts += texts - self._inside
        measure.characters += (len(piece) - len(bare) + texts) * self._width(piece)
        objects, arrays = bare.count(b"{"), bare.count(b"[")
        empty = bare.count(b"{}")
        measure.objects += objects - empty
        measure.arrays += arrays + empty
        measure.members += bare.count(b":")
        measure.values += bare.count(b",") + objects + arrays - empty - bare.count(b"[]")
        if objects or arrays or self._level:
            self._descend(bare)

    def _width(self, piece: bytes) -> int:
        if self._narrow or (piece.isascii() and b"\\u" not in piece):
            return 1
        return 4 if b"\\u" in piece or piece.translate(None, _NO_LONG_CHARACTERS) else 2

    def _descend(self, bare: bytes) -> None:
        moves = memoryview(bare.translate(_MOVES, _NO_BRACKETS)).cast("b")
        self._measure.depth = max(self._measure.depth, max(accumulate(moves, initial=self._level)))
        self._level += sum(moves)
