"""Routes: which template of many an address may fit, told by its literal segments.

Templates of as many segments, with literals at the same places, are one shape; a hash of those
literals finds them, so the cost of an address grows with the shapes and not with the templates.
What is found still has to be matched; what is not found fits none.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heraldry.messages.routes import Segments
from heraldry.pipeline.kernel.columns import Spans, address_of
from heraldry.pipeline.kernel.jit import byte_at, inlined, kernel

NO_ROUTE, SEVERAL = -1, -2
"""No template may fit, or more than one."""

_MOST_SEGMENTS = 62
_MOST_SHAPES = 256
_WORD = np.uint64
_SEED, _PRIME = _WORD(0xCBF29CE484222325), _WORD(0x100000001B3)
_SPREAD, _SHIFT = _WORD(0x9E3779B97F4A7C15), _WORD(29)
_ZERO, _ONE = _WORD(0), _WORD(1)
_FULL = 2**64 - 1


class Routes:
    """The templates of one protocol, each with the position of its definition."""

    def __init__(self, separator: str, filed: Iterable[tuple[Segments, int]]) -> None:
        found: dict[int, list[int]] = {}
        shapes: dict[int, dict[int, None]] = {}
        for segments, position in filed:
            if len(segments) <= _MOST_SEGMENTS:  # longer addresses are found nowhere
                mask = sum(1 << i for i, part in enumerate(segments) if part is not None)
                shapes.setdefault(len(segments), {})[mask] = None
                found.setdefault(_key(segments, mask), []).append(position)
        self._positions = [held[0] if len(held) == 1 else SEVERAL for held in found.values()]
        self._separator = ord(separator)
        masks = [mask for count in range(_MOST_SEGMENTS + 1) for mask in shapes.get(count, ())]
        sizes = [len(shapes.get(count, ())) for count in range(_MOST_SEGMENTS + 1)]
        self.usable = len(masks) <= _MOST_SHAPES
        self._masks = np.array(masks or [0], np.uint64)
        self._bounds = np.cumsum([0, *sizes], dtype=np.int64)
        self._keys, self._routes = _table(list(found))
        self._hashes = np.zeros(_MOST_SEGMENTS + 1, np.uint64)

    def find(self, addresses: Spans) -> NDArray[np.int64]:
        """The route of every address, NO_ROUTE or SEVERAL."""
        found = np.empty(len(addresses.starts), np.int64)
        route_rows(
            address_of(addresses.buffer),
            addresses.starts,
            addresses.lengths,
            self._separator,
            self._masks,
            self._bounds,
            self._keys,
            self._routes,
            self._hashes,
            found,
        )
        return found

    def position(self, route: int) -> int:
        """The position of the only definition of a route, or SEVERAL."""
        return self._positions[route]


def _key(segments: Segments, mask: int) -> int:
    """What :func:`_combined` makes of the literals of a template."""
    key = mask * int(_SPREAD) + len(segments) & _FULL
    for part in segments:
        if part is not None:
            hashed = int(_SEED)
            for byte in part.encode():
                hashed = (hashed ^ byte) * int(_PRIME) & _FULL
            key = (key ^ hashed) * int(_SPREAD) & _FULL
            key ^= key >> int(_SHIFT)
    return key


def _table(keys: list[int]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """An open hash table of keys; routes are numbered in order, -1 is an empty place."""
    size = 1 << (2 * len(keys) + 1).bit_length()
    table, routes = np.zeros(size, np.uint64), np.full(size, NO_ROUTE, np.int64)
    for route, key in enumerate(keys):
        place = key & (size - 1)
        while routes[place] != NO_ROUTE:
            place = place + 1 & (size - 1)
        table[place], routes[place] = key, route
    return table, routes


@inlined
def _hashed(buffer: Any, p: int, end: int, separator: int, hashes: Any) -> int:
    """Hash the segments of a text; their number, or -1 where there are too many."""
    count = 0
    hashed = _SEED
    while p < end:
        c = byte_at(buffer, p)
        if c == separator:
            hashes[count] = hashed
            hashed = _SEED
            count += 1
            if count >= _MOST_SEGMENTS:
                return -1
        else:
            hashed = (hashed ^ _WORD(c)) * _PRIME
        p += 1
    hashes[count] = hashed
    return count + 1


@inlined
def _combined(hashes: Any, count: int, mask: Any) -> Any:
    key = mask * _SPREAD + _WORD(count)
    for place in range(count):
        if (mask >> _WORD(place)) & _ONE != _ZERO:
            key = (key ^ hashes[place]) * _SPREAD
            key ^= key >> _SHIFT
    return key


@inlined
def _look_up(key: Any, keys: Any, routes: Any) -> int:
    last = keys.shape[0] - 1
    place = np.int64(key & _WORD(last))
    while routes[place] >= 0:
        if keys[place] == key:
            return routes[place]
        place = (place + 1) & last
    return np.int64(-1)


@kernel
def route_rows(
    buffer: Any,
    starts: Any,
    lengths: Any,
    separator: int,
    masks: Any,
    bounds: Any,
    keys: Any,
    routes: Any,
    hashes: Any,
    found: Any,
) -> None:
    """Find the route of every text."""
    for row in range(found.shape[0]):
        found[row] = -1
        if lengths[row] < 1:
            continue
        begin = starts[row]
        count = _hashed(buffer, begin, begin + lengths[row], separator, hashes)
        if count < 0:
            continue
        for shape in range(bounds[count], bounds[count + 1]):
            route = _look_up(_combined(hashes, count, masks[shape]), keys, routes)
            if route >= 0:
                found[row] = route if found[row] == -1 else -2
