"""Why a text is not JSON, in words that name the cause, and where.

The parser takes the escape of half a surrogate pair near the end of a text for a text that was cut
off, and tells of others by the byte behind them.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_POSITION: Final = re.compile(r" \(byte (\d+)\)")
_SURROGATE: Final = re.compile(rb"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
_HIGH: Final = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}")
_LOW: Final = re.compile(rb"\\u[dD][c-fC-F][0-9a-fA-F]{2}")
_ESCAPE: Final = 6
"""So many bytes has such an escape; two of them make a character."""
_NEAR: Final = 4 * _ESCAPE
"""The parser stops within so many bytes of it."""


class JsonFault(NamedTuple):
    """``reason`` is a clause without a capital; ``offset`` the byte, where it is known."""

    reason: str
    offset: int | None

    def line(self, data: bytes) -> int | None:
        """The line it is in, counted from 1."""
        return None if self.offset is None else data.count(b"\n", 0, self.offset) + 1

    def described(self, data: bytes) -> str:
        """The reason with its place."""
        if self.offset is None:
            return self.reason
        return f"{self.reason} (byte {self.offset}, line {self.line(data)})"


def json_fault(data: bytes, error: Exception) -> JsonFault:
    """What the parser's error says of a text."""
    text = str(error)
    position = _POSITION.search(text)
    offset = int(position[1]) if position else None
    if "surrogate" in text or "truncated" in text:
        end = len(data) if offset is None else offset + _ESCAPE
        start = _lone_surrogate(data, end)
        if start is not None:
            escape = data[start : start + _ESCAPE].decode("ascii")
            return JsonFault(f"{escape} is half of a character, a lone surrogate", start)
    reason = _POSITION.sub("", text).removeprefix("JSON is malformed: ")
    return JsonFault(reason[:1].lower() + reason[1:], offset)


def _lone_surrogate(data: bytes, end: int) -> int | None:
    """The first half of a pair by itself in the last bytes before ``end``."""
    for match in _SURROGATE.finditer(data, max(0, end - _NEAR), end):
        start = match.start()
        if _is_escaped(data, start):
            continue
        if _LOW.match(data, start):
            before = start - _ESCAPE
            high = before >= 0 and _HIGH.match(data, before)
            paired = bool(high) and not _is_escaped(data, before)
        else:
            paired = bool(_LOW.match(data, start + _ESCAPE))
        if not paired:
            return start
    return None


def _is_escaped(data: bytes, start: int) -> bool:
    """Whether the backslash there belongs to the one before it."""
    before = data[:start]
    return bool((len(before) - len(before.rstrip(b"\\"))) % 2)
