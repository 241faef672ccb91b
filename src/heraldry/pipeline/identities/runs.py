"""Sorted runs of identities: 16 bytes each in memory and on disk, found by binary search."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heraldry.errors import WarehouseError
from heraldry.pipeline.lake.storage import Storage

Words = NDArray[np.uint64]

_NAME = re.compile(r"(\d{12,})-(\d{12,})\.bin")
_WORD = np.dtype("<u8")


@dataclass(frozen=True, slots=True)
class Keys:
    """Some keys of 128 bits as two words each; ``high`` is sorted where they are looked up in."""

    high: Words
    low: Words

    def __len__(self) -> int:
        return len(self.high)

    def take(self, index: NDArray[Any]) -> Keys:
        """Some of the keys: by their places, or by a mask."""
        return Keys(self.high[index], self.low[index])

    def ordered(self) -> Keys:
        """The keys in the order that a look-up needs."""
        return self.take(np.argsort(self.high, kind="stable"))

    def found_in(self, run: Keys) -> NDArray[np.bool_]:
        """Which of the keys a sorted run has; it is fastest where they are sorted too."""
        found = np.zeros(len(self), np.bool_)
        if not len(run) or not len(self):
            return found
        places = np.searchsorted(run.high, self.high)
        open_ = np.arange(len(self))
        # Keys that share their first word stand beside each other: a second turn is most rare.
        while len(open_):
            open_ = open_[places[open_] < len(run)]
            here = places[open_]
            same = run.high[here] == self.high[open_]
            open_, here = open_[same], here[same]
            hit = run.low[here] == self.low[open_]
            found[open_[hit]] = True
            open_ = open_[~hit]
            places[open_] += 1
        return found


def concat(parts: Iterable[Keys]) -> Keys:
    """Keys one after the other."""
    every = list(parts)
    if not every:
        return Keys(np.empty(0, np.uint64), np.empty(0, np.uint64))
    return Keys(
        np.concatenate([keys.high for keys in every]), np.concatenate([keys.low for keys in every])
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The identities of the batches ``first`` to ``last``, in one file."""

    first: int
    last: int
    keys: Keys

    @property
    def name(self) -> str:
        """The file's name."""
        return f"{self.first:012d}-{self.last:012d}.bin"

    def with_next(self, other: Run) -> Run:
        """This run and the one that follows it, as one."""
        keys = concat((self.keys, other.keys)).ordered()
        return Run(first=self.first, last=other.last, keys=keys)

    def write(self, storage: Storage, folder: str) -> None:
        """Write the run's file, whole or not at all."""
        words = (self.keys.high.astype(_WORD), self.keys.low.astype(_WORD))
        storage.write(f"{folder}/{self.name}", b"".join(word.tobytes() for word in words))


def read_run(storage: Storage, folder: str, name: str) -> Run:
    """The run of a file; WarehouseError where it is not what was written."""
    path = f"{folder}/{name}"
    span = span_of(name)
    data = storage.read(path)
    if span is None or data is None or len(data) % (2 * _WORD.itemsize):
        reason = "these are not the identities of a job"
        raise WarehouseError(storage.join(path), reason, "remove the file: repeats may then land")
    words = np.frombuffer(data, _WORD).astype(np.uint64)
    half = len(words) // 2
    return Run(first=span[0], last=span[1], keys=Keys(words[:half], words[half:]))


def span_of(name: str) -> tuple[int, int] | None:
    """The first and last batch that a file's name tells, or None where it is no run's."""
    found = _NAME.fullmatch(name)
    return (int(found[1]), int(found[2])) if found else None
