"""A lock on object storage: a lease that its owner renews, taken by one of many at most.

An object store has no lock that dies with a process. What it has is a first commit of a Delta
log that only one writer can make: so whoever creates the log of the next turn owns that turn. The
owner writes a beat again and again; a turn whose beat has grown old may be followed by the next.
"""

from __future__ import annotations

import os
import signal
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

if TYPE_CHECKING:
    from heraldry.pipeline.lake.storage import Storage

LIFE = 60.0
"""Seconds without a beat after which a lease is over."""
_BEAT = 15.0
_SCHEMA = pa.schema([("turn", pa.int64())])


def _stop() -> None:
    """A job that lost its lease ends itself, as if it were told to."""
    os.kill(os.getpid(), signal.SIGTERM)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """A lease by the folder it is kept in; ``lost`` is called where another has taken it over."""

    storage: Storage
    path: str
    life: float = LIFE
    beat: float = _BEAT
    lost: Callable[[], None] = _stop

    @contextmanager
    def held(self) -> Iterator[bool]:
        """Hold the lease, or give False where another process has it."""
        turn = self._take()
        if turn is None:
            yield False
            return
        done = threading.Event()
        thread = threading.Thread(target=self._renew, args=(turn, done), daemon=True)
        thread.start()
        try:
            yield True
        finally:
            done.set()
            thread.join()
            self.storage.write(self._done(turn), b"")

    def _take(self) -> int | None:
        """The number of the turn that is now ours."""
        last = self._last()
        if last is not None and self._is_alive(last):
            return None
        turn = 0 if last is None else last + 1
        if not self._is_first(turn):
            return None
        if self._last() != turn:
            # Others have had this turn meanwhile, and removed it as they took a later one.
            self.storage.delete_tree(self._turn(turn))
            return None
        for old in self._turns():
            if old < turn:
                self.storage.delete_tree(self._turn(old))
                self.storage.delete(self._beat(old))
                self.storage.delete(self._done(old))
        return turn

    def _is_first(self, turn: int) -> bool:
        """Create the log of a turn; ours is the turn whose first commit has our name.

        Of two that create a table at once delta-rs makes two commits, and both believe it.
        """
        owner = str(uuid.uuid4())
        address, options = self.storage.delta(self._turn(turn))
        with suppress(DeltaError):
            DeltaTable.create(
                address, _SCHEMA, mode="error", name=owner, storage_options=dict(options)
            )
        first = self.storage.read(f"{self._turn(turn)}/_delta_log/{0:020d}.json")
        return first is not None and owner.encode() in first

    def _renew(self, turn: int, done: threading.Event) -> None:
        """Beat until done; a turn after ours means that we were taken for dead."""
        beaten = time.monotonic()
        while not done.wait(self.beat):
            try:
                ours = self._last() == turn
                if ours:
                    self.storage.write(self._beat(turn), b"")
                    beaten = time.monotonic()
            except OSError:
                # The store is away; so is the lease when its life is over.
                ours = time.monotonic() - beaten < self.life
            if not ours:
                self.lost()
                return

    def _is_alive(self, turn: int) -> bool:
        """Whether a turn is not done and has a beat that is young, by this machine's clock."""
        if self.storage.stat(self._done(turn)) is not None:
            return False
        begun = (one.modified for one in self.storage.walk(self._turn(turn)))
        beat = self.storage.stat(self._beat(turn))
        last = max((*begun, *((beat.modified,) if beat else ())), default=None)
        return last is not None and time.time() - last.timestamp() < self.life

    def _last(self) -> int | None:
        return max(self._turns(), default=None)

    def _turns(self) -> list[int]:
        names = (name.removeprefix("turn-") for name in self.storage.names(self.path))
        return [int(name) for name in names if name.isdecimal()]

    def _turn(self, turn: int) -> str:
        return f"{self.path}/turn-{turn:012d}"

    def _beat(self, turn: int) -> str:
        return f"{self.path}/beat-{turn:012d}"

    def _done(self, turn: int) -> str:
        return f"{self.path}/done-{turn:012d}"
