"""Messages that came before: found by their identities, in a window of what was landed.

window = Window.open(checkpoint, "heraldry/identities", 10_000_000)
found = window.repeated(batch, {"part-1.parquet": digests, ...}, letters={"part-9.parquet"})
found.drop                       # {"part-1.parquet": the numbers of its repeated rows}
window.remember(found)           # before the batch is decided
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heraldry.pipeline.identities.digests import WIDTH
from heraldry.pipeline.identities.runs import Keys, Run, concat, read_run, span_of
from heraldry.pipeline.lake.storage import Storage

Rows = NDArray[np.int64]
Beside = Callable[[], Iterable[Keys]]

IDENTITIES = "heraldry/identities"
"""Where in a checkpoint the window of a job is."""

_SHARES = 4
"""Runs grow to this part of the window: the oldest is forgotten as a whole."""
_LETTER = np.uint64(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeats:
    """The rows of a batch to drop, by file, and the identities that are new with it."""

    batch: int
    drop: Mapping[str, Rows]
    fresh: Keys

    @property
    def count(self) -> int:
        """How many rows are repeated."""
        return sum(len(rows) for rows in self.drop.values())


class Window:
    """The identities of the last batches: at least ``size`` of them, and a quarter more at most.

    A dead letter that comes again is repeated, and so is one of a message that has landed; a
    message that lands after it was a dead letter is not, for somebody has mended something.
    ``beside`` tells what others have landed of the same messages; it is asked at every batch.
    """

    def __init__(
        self, storage: Storage, folder: str, size: int, runs: list[Run], beside: Beside = tuple
    ) -> None:
        self._storage = storage
        self._beside = beside
        self._folder = folder
        self._size = size
        self._runs = runs

    @classmethod
    def open(cls, storage: Storage, folder: str, size: int, beside: Beside = tuple) -> Window:
        """The window as it was left, also by a job that was killed anywhere."""
        found = {name: span for name in storage.names(folder) if (span := span_of(name))}
        runs: list[Run] = []
        # Of files that overlap, the one that covers the others was written last.
        for name, (_, last) in sorted(found.items(), key=lambda at: (at[1][0], -at[1][1])):
            if runs and last <= runs[-1].last:
                storage.delete(f"{folder}/{name}")
            else:
                runs.append(read_run(storage, folder, name))
        window = cls(storage, folder, size, runs, beside)
        window._forget()
        return window

    def __len__(self) -> int:
        return sum(len(run.keys) for run in self._runs)

    def repeated(
        self, batch: int, digests: Mapping[str, bytes], letters: Collection[str] = ()
    ) -> Repeats:
        """What a batch holds that came before, or twice: the first of the files' order stays.

        ``letters`` are the files of dead letters among them. What a killed try of this batch
        left in the window does not count.
        """
        known = _Known.of(digests, letters)
        again = self._again(batch, known)
        files, rows = known.files[again], known.rows[again]
        names = list(digests)
        drop = {names[one]: np.sort(rows[files == one]) for one in np.unique(files).tolist()}
        return Repeats(batch=batch, drop=drop, fresh=known.marked().take(~again).ordered())

    def remember(self, found: Repeats) -> None:
        """Keep the identities of a batch that is about to be decided, and forget the oldest."""
        batch = found.batch
        run = Run(first=batch, last=batch, keys=found.fresh)
        run.write(self._storage, self._folder)
        for stale in self._runs:
            if stale.last >= batch and stale.name != run.name:
                self._delete(stale)
        self._runs = [old for old in self._runs if old.last < batch]
        self._merge()
        self._runs.append(run)
        self._forget()

    def _again(self, batch: int, known: _Known) -> NDArray[np.bool_]:
        """Which rows are repeated: in the batch itself, or before it."""
        again = known.later()
        order = np.argsort(known.keys.high, kind="stable")
        keys, dead = known.keys.take(order), known.dead[order]
        letters = Keys(keys.high[dead], keys.low[dead] | _LETTER)
        before = [run.keys for run in self._runs if run.last < batch]
        for run in (*before, *self._beside()):
            again[order[keys.found_in(run)]] = True
            again[order[dead][letters.found_in(run)]] = True
        return again

    def _merge(self) -> None:
        """Merge young runs while they are of a size, so that there are few to look into."""
        runs = self._runs
        while len(runs) > 1:
            older, younger = len(runs[-2].keys), len(runs[-1].keys)
            if older > 2 * younger or older + younger > self._size // _SHARES:
                return
            parts = runs[-2:]
            merged = parts[0].with_next(parts[1])
            merged.write(self._storage, self._folder)
            runs[-2:] = [merged]
            for part in parts:
                self._delete(part)

    def _forget(self) -> None:
        while self._runs and len(self) - len(self._runs[0].keys) >= self._size:
            self._delete(self._runs.pop(0))

    def _delete(self, run: Run) -> None:
        self._storage.delete(f"{self._folder}/{run.name}")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """The rows that have an identity, those that landed before the dead letters."""

    files: NDArray[np.int64]
    rows: Rows
    dead: NDArray[np.bool_]
    keys: Keys

    @classmethod
    def of(cls, digests: Mapping[str, bytes], letters: Collection[str]) -> _Known:
        """The rows of files, by the digests of each."""
        numbered = list(enumerate(digests.items()))
        files, rows, dead, keys = [], [], [], []
        for number, (name, data) in sorted(numbered, key=lambda at: at[1][0] in letters):
            words = np.frombuffer(data, np.dtype("<u8")).reshape(-1, WIDTH // 8)
            places = np.flatnonzero(words.any(axis=1))
            files.append(np.full(len(places), number, np.int64))
            rows.append(places)
            dead.append(np.full(len(places), name in letters))
            keys.append(Keys(words[places, 0], words[places, 1] & ~_LETTER))
        return cls(
            files=np.concatenate([*files, np.empty(0, np.int64)]),
            rows=np.concatenate([*rows, np.empty(0, np.int64)]),
            dead=np.concatenate([*dead, np.empty(0, np.bool_)]),
            keys=concat(keys),
        )

    def marked(self) -> Keys:
        """The keys as the window keeps them: the last bit tells a dead letter."""
        return Keys(self.keys.high, self.keys.low | self.dead.astype(np.uint64))

    def later(self) -> NDArray[np.bool_]:
        """Which rows have the identity of one before them."""
        found = np.zeros(len(self.rows), np.bool_)
        high, low = self.keys.high, self.keys.low
        firsts = np.sort(high)
        if not (firsts[1:] == firsts[:-1]).any():
            return found
        order = np.lexsort((low, high))
        same = high[order[1:]] == high[order[:-1]]
        same &= low[order[1:]] == low[order[:-1]]
        found[order[1:][same]] = True
        return found
