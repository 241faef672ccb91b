"""The compiled path for messages of protocols, beside that for plain CloudEvents."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from heraldry.messages.judge import Judge
from heraldry.pipeline.kernel.bound import read_bound
from heraldry.pipeline.kernel.columns import Arena, address_of
from heraldry.pipeline.kernel.drafts import places_for
from heraldry.pipeline.kernel.envelope import BOUNDS, FOLLOW, NAMES
from heraldry.pipeline.kernel.event_path import EventPath
from heraldry.pipeline.kernel.groups import Bound, KernelGroup, Refused
from heraldry.pipeline.kernel.native_path import NativePath
from heraldry.pipeline.kernel.protocols import PROTOCOLS, Places


class BoundPath:
    """Accepts messages of protocols, events or not; made once per worker, for one thread."""

    def __init__(self, judge: Judge, arena: Arena) -> None:
        self._judge = judge
        self._arena = arena
        self._follow = FOLLOW.copy()

    def take(
        self, buffer: NDArray[np.uint8], offsets: NDArray[np.int64], lines: NDArray[np.int64]
    ) -> Iterator[KernelGroup | Refused]:
        """What is accepted, or refused, among the lines of these numbers, by definition."""
        if not len(lines):
            return
        bound = self._read(buffer, offsets, lines)
        if (bound.kinds >= len(PROTOCOLS)).any():
            yield from self._events.take(bound)
        if ((bound.kinds >= 0) & (bound.kinds < len(PROTOCOLS))).any():
            yield from self._natives.take(bound)

    def _read(
        self, buffer: NDArray[np.uint8], offsets: NDArray[np.int64], lines: NDArray[np.int64]
    ) -> Bound:
        """Where everything stands in some lines, and what they are."""
        count = len(lines)
        starts = np.zeros((self._places.count, count), np.int64)
        lengths = np.empty((self._places.count, count), np.int32)
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
            self._places.tables,
            NAMES,
            BOUNDS,
            self._follow,
        )
        return Bound(buffer, starts, lengths, times, kinds, lines)

    @cached_property
    def _places(self) -> Places:
        """Where the members of messages stand; made when the first message comes."""
        return places_for(self._judge.matcher.definitions)

    @cached_property
    def _events(self) -> EventPath:
        return EventPath(self._judge, self._places, self._arena)

    @cached_property
    def _natives(self) -> NativePath:
        return NativePath(self._judge, self._places, self._arena)
