"""How large a regular expression becomes when its repeats are written out.

The engine runs in linear time, but linear in the length of the text times this size.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

SIZE_LIMIT: Final = 200_000
"""How large all patterns of a schema may be together, in quarters of a kilobyte of memory."""

_CAP = 10**9
_REPEAT = re.compile(r"\{(\d*)(,?)(\d*)\}", re.ASCII)
_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]?", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:[pP]\{[^}]*\}|.)?", re.DOTALL)
# What a class takes, measured: the letters of all scripts, everything but a few characters, any.
_SCRIPT, _NEGATED, _ANY = 320, 16, 8


class Size(NamedTuple):
    """The positions a text is compared with, and the memory they take."""

    positions: int
    memory: int


@lru_cache(maxsize=4096)
def size_of(pattern: str) -> Size:
    """The size of a pattern; what is no pattern has some size, too."""
    groups: list[tuple[int, int]] = []
    total, last = (0, 0), (0, 0)
    place = 0
    while place < len(pattern):
        letter = pattern[place]
        repeat = _REPEAT.match(pattern, place) if letter == "{" else None
        if repeat is not None:
            more = _times(repeat) - 1
            total = _sum(total, (last[0] * more, last[1] * more))
            last = _sum(last, (last[0] * more, last[1] * more))
            place = repeat.end()
            continue
        end = place + 1
        if letter == "(":
            groups.append(total)
            total = last = (0, 0)
        elif letter == ")" and groups:
            last, total = total, _sum(groups.pop(), total)
        elif letter not in "*+?|^$":
            end, last = _atom(pattern, place)
            total = _sum(total, last)
        place = end
    for outer in groups:
        total = _sum(total, outer)
    return Size(*total)


def _times(repeat: re.Match[str]) -> int:
    numbers = [int(text) if len(text) < 9 else _CAP for text in repeat.group(1, 3) if text]
    return max(numbers, default=1) or 1


def _sum(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    return min(one[0] + other[0], _CAP), min(one[1] + other[1], _CAP)


def _atom(pattern: str, place: int) -> tuple[int, tuple[int, int]]:
    """Where a letter, an escape or a class ends, and its size."""
    letter = pattern[place]
    found = {"[": _CLASS, "\\": _ESCAPE}.get(letter)
    match = found.match(pattern, place) if found is not None else None
    if match is None:
        return place + 1, (1, _ANY if letter == "." else 1)
    text = match.group()
    memory = 1
    if "\\p" in text or "\\P" in text:
        memory = _SCRIPT
    elif text.startswith("[^") or any(one in text for one in ("\\S", "\\W", "\\D")):
        memory = _NEGATED
    return match.end(), (1, memory)
