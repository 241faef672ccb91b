"""The compiled path for messages of protocols, beside that for plain CloudEvents."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from heraldry.errors import MessageError
from heraldry.messages.envelopes.cloudevents import ATTRIBUTES
from heraldry.messages.judge import Judge
from heraldry.messages.line import read
from heraldry.pipeline.kernel.bound import read_bound
from heraldry.pipeline.kernel.columns import Arena, address_of
from heraldry.pipeline.kernel.drafts import places_for
from heraldry.pipeline.kernel.envelope import BOUNDS, FOLLOW, NAMES
from heraldry.pipeline.kernel.event_path import EventPath
from heraldry.pipeline.kernel.groups import Bound, KernelGroup, Refused
from heraldry.pipeline.kernel.native_path import NativePath
from heraldry.pipeline.kernel.protocols import PROTOCOLS, Places

_MOST_EXTENSIONS = 24
_LOOKED_AT = 64
_is_name = re.compile(r"[a-z0-9]{1,20}").fullmatch


class BoundPath:
    """Accepts messages of protocols, events or not; made once per worker, for one thread."""

    def __init__(self, judge: Judge, arena: Arena) -> None:
        self._judge = judge
        self._arena = arena
        self._follow = FOLLOW.copy()
        self._extensions: tuple[str, ...] = ()
        self._made: tuple[Places, EventPath, NativePath] | None = None

    def take(
        self, buffer: NDArray[np.uint8], offsets: NDArray[np.int64], lines: NDArray[np.int64]
    ) -> Iterator[KernelGroup | Refused]:
        """What is accepted, or refused, among the lines of these numbers, by definition."""
        if not len(lines):
            return
        places, events, natives = self._paths()
        bound = self._read(buffer, offsets, lines, places)
        if self._learn(buffer, offsets, lines[bound.kinds < 0]):
            places, events, natives = self._paths()
            bound = self._read(buffer, offsets, lines, places)
        if (bound.kinds >= len(PROTOCOLS)).any():
            yield from events.take(bound)
        if ((bound.kinds >= 0) & (bound.kinds < len(PROTOCOLS))).any():
            yield from natives.take(bound)

    def _read(
        self,
        buffer: NDArray[np.uint8],
        offsets: NDArray[np.int64],
        lines: NDArray[np.int64],
        places: Places,
    ) -> Bound:
        """Where everything stands in some lines, and what they are."""
        count = len(lines)
        starts = np.zeros((places.count, count), np.int64)
        lengths = np.empty((places.count, count), np.int32)
        times = np.empty(count, np.int64)
        kinds = np.empty(count, np.int64)
        read_bound(
            address_of(buffer),
            offsets,
            lines,
            starts,
            lengths,
            times,
            kinds,
            places.tables,
            NAMES,
            BOUNDS,
            self._follow,
        )
        return Bound(buffer, starts, lengths, times, kinds, lines)

    def _paths(self) -> tuple[Places, EventPath, NativePath]:
        """The places of all members that are known, and the paths that use them."""
        if self._made is None:
            places = places_for(self._judge.matcher.definitions, self._extensions)
            events = EventPath(self._judge, places, self._arena)
            self._made = places, events, NativePath(self._judge, places, self._arena)
        return self._made

    def _learn(
        self, buffer: NDArray[np.uint8], offsets: NDArray[np.int64], lines: NDArray[np.int64]
    ) -> bool:
        """Give places to extension attributes of events among some lines; whether there are any.

        A few of the lines are looked at, spread over all of them.
        """
        room = _MOST_EXTENSIONS - len(self._extensions)
        if not room or not len(lines):
            return False
        found: dict[str, None] = {}
        for line in lines[:: len(lines) // _LOOKED_AT + 1].tolist():
            found.update(
                dict.fromkeys(_extensions(bytes(buffer[offsets[line] : offsets[line + 1]])))
            )
        new = [name for name in found if name not in self._extensions][:room]
        if new:
            self._extensions += tuple(new)
            self._made = None
        return bool(new)


def _extensions(line: bytes) -> list[str]:
    """The names of the extension attributes of an event in binary mode."""
    try:
        message = read(line)
    except MessageError:
        return []
    if message.mode != "binary":
        return []
    return [name for name in message.attributes if name not in ATTRIBUTES and _is_name(name)]
