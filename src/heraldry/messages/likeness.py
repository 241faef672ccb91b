"""Likeness: how much of a declared text a value has, told in linear time."""

from __future__ import annotations

import re
from functools import lru_cache

PLACEHOLDER = re.compile(r"\{[^{}]*\}")


def likeness(declared: str, found: str) -> float:
    """The share of a constant, or of the literal parts of a template, that a value has.

    A part is there where it occurs; of the first and the last, a part of it may be there.
    """
    first, inner, last, whole = _parts(declared)
    found = found.casefold()
    if not whole:
        return 0.0
    if first in found:
        same = len(first)
    else:
        same = _start(first, found)
        if last is None:
            same += _end(first[same:], found[same:])
    if last is not None:
        same += len(last) if last in found else _end(last, found)
    for part in inner:
        if part in found:
            same += len(part)
    return same / whole


@lru_cache(maxsize=4096)
def _parts(declared: str) -> tuple[str, tuple[str, ...], str | None, int]:
    """The first literal part, those within, the last where there are several; their size."""
    first, *inner = PLACEHOLDER.split(declared.casefold())
    last = inner.pop() if inner else None
    return first, tuple(inner), last, len(first) + sum(map(len, inner)) + len(last or "")


def _start(part: str, found: str) -> int:
    """How many letters two texts begin alike with, by halves."""
    low, high = 0, min(len(part), len(found))
    if part[:high] == found[:high]:
        return high
    while high - low > 1:
        middle = (low + high) // 2
        if part[low:middle] == found[low:middle]:
            low = middle
        else:
            high = middle
    return low


def _end(part: str, found: str) -> int:
    return _start(part[::-1], found[::-1])
