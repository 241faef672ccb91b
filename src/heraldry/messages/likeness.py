"""Likeness: how much of a declared text a value has, told in linear time."""

from __future__ import annotations

import re
from functools import lru_cache

PLACEHOLDER = re.compile(r"\{[^{}]*\}")


@lru_cache(maxsize=4096)  # streams repeat what is wrong
def likeness(declared: str, found: str) -> float:
    """The share of a constant, or of the literal parts of a template, that a value has.

    A part is there where it occurs; of the first and the last, a part of it may be there.
    """
    first, *inner = PLACEHOLDER.split(declared.casefold())
    found = found.casefold()
    whole = len(first) + sum(map(len, inner))
    if not whole:
        return 0.0
    if first in found:
        same = len(first)
    else:
        same = _start(first, found)
        if not inner:
            same += _end(first[same:], found[same:])
    if inner:
        last = inner.pop()
        same += len(last) if last in found else _end(last, found)
    return (same + sum(len(part) for part in inner if part in found)) / whole


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
