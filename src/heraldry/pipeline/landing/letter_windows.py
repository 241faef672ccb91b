"""Letters whose message has landed meanwhile: found by the identities that their jobs keep."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import chain

import numpy as np
import pyarrow as pa

from heraldry.pipeline.identities.decided import Decided, Replayed, folder_of
from heraldry.pipeline.identities.digests import WIDTH
from heraldry.pipeline.identities.duplicates import IDENTITIES, Rows, Window
from heraldry.pipeline.identities.runs import Keys, span_of
from heraldry.pipeline.lake import checkpoints
from heraldry.pipeline.lake.ledger import Ledger
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.landing.relanding import Place
from heraldry.pipeline.letters.letter import writers
from heraldry.pipeline.settings import WINDOW

_NOBODY = ""


class LetterWindows:
    """What the letters of each job are asked by, and what replays add to it.

    ``ledger`` is that of the replays; None where nothing may be written.
    """

    def __init__(self, storage: Storage, ledger: Ledger | None) -> None:
        self._storage, self._ledger = storage, ledger
        self._jobs: dict[str, Ledger] = {}
        self._windows: dict[str, Window] = {}
        self._tried: dict[str, list[Keys]] = {}

    def forget_undecided(self) -> None:
        """Remove what a killed replay remembered: the next of its number may have other letters."""
        if self._ledger is None:
            return
        last = self._ledger.last or 0
        for file in list(self._ledger.storage.walk(IDENTITIES)):
            span = span_of(file.path.rpartition("/")[2])
            if span is not None and span[1] > last:
                self._ledger.storage.delete(f"{IDENTITIES}/{file.path}")

    def owners(self, letters: pa.Table) -> dict[Place, str]:
        """The job of every letter that has one which keeps identities; a letter's id tells it.

        A job may have made its first batch since the last question. Its identities are there
        before its letters are.
        """
        found = writers(letters, self._jobs)
        if not all(found) and self._has_found_jobs():
            found = writers(letters, self._jobs)
        sources, positions = letters["source"].to_pylist(), letters["position"].to_pylist()
        told = zip(sources, positions, found, strict=True)
        return {(source, position): job for source, position, job in told if job}

    @contextmanager
    def deciding(self, jobs: Iterable[str]) -> Iterator[None]:
        """Keep some jobs from deciding, until it is decided what lands of their letters."""
        with ExitStack() as stack:
            for job in sorted(set(jobs)) if self._ledger is not None else ():
                stack.enter_context(self._jobs[job].deciding())
            yield

    def repeated(
        self,
        number: int,
        digests: Mapping[str, bytes],
        places: Mapping[str, Sequence[Place]],
        owners: Mapping[Place, str],
    ) -> dict[str, Rows]:
        """The rows of files whose message has landed before; the others are remembered.

        ``digests`` and ``places`` are those of each file's rows.
        """
        jobs = {
            name: np.array([owners.get(one, _NOBODY) for one in places[name]]) for name in places
        }
        drop: dict[str, list[Rows]] = {}
        for job in sorted(set(owners.values())):
            window = self._window(job)
            mine = {name: _only(data, jobs[name] == job) for name, data in digests.items() if data}
            found = window.repeated(number, mine)
            for name, rows in found.drop.items():
                drop.setdefault(name, []).append(rows)
            if self._ledger is None:
                self._tried.setdefault(job, []).append(found.fresh)
            else:
                window.remember(found)
        return {name: np.sort(np.concatenate(rows)) for name, rows in drop.items()}

    def _has_found_jobs(self) -> bool:
        """Look for more jobs that keep identities by now; those that are known stay as they are."""
        every = (one for one in checkpoints.ledgers(self._storage) if one.job not in self._jobs)
        found = {one.job: one for one in every if _keeps_identities(one)}
        self._jobs |= found
        return bool(found)

    def _window(self, job: str) -> Window:
        """What replays have landed of a job's letters, with what the job has landed beside it."""
        if job not in self._windows:
            theirs = Decided(self._jobs[job], IDENTITIES)
            if self._ledger is None:
                others = Replayed(self._storage, job)
                tried = self._tried.setdefault(job, [])
                self._windows[job] = Window(
                    self._storage, "", WINDOW, [], lambda: chain(theirs(), others(), tried)
                )
            else:
                mine = self._ledger.storage
                self._windows[job] = Window.open(mine, folder_of(job), WINDOW, theirs)
        return self._windows[job]


def _keeps_identities(ledger: Ledger) -> bool:
    return any(span_of(name) for name in ledger.storage.names(IDENTITIES))


def _only(digests: bytes, chosen: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> bytes:
    """Digests of which only some count: the others are as if those rows had none."""
    rows = np.frombuffer(digests, np.uint8).reshape(-1, WIDTH).copy()
    rows[~chosen] = 0
    return rows.tobytes()
