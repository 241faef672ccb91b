"""Where the jobs and replays of a warehouse keep their progress."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from heraldry.errors import HeraldryError
from heraldry.pipeline.lake.layout import CHECKPOINT
from heraldry.pipeline.lake.ledger import Ledger
from heraldry.pipeline.lake.storage import Storage

NOTED = "_checkpoints"
_AWAY = 600.0
"""For so many seconds a place that could not be read is not tried again: trying takes long."""

_gone: dict[str, float] = {}


def note(storage: Storage, ledger: Ledger) -> None:
    """Tell a warehouse of a ledger that is elsewhere, for those who must know all of them."""
    storage.write(f"{NOTED}/{ledger.job}", ledger.storage.url.encode())


def replays(storage: Storage) -> str:
    """Where the ledger of replays is: letters are the warehouse's, so one place knows of them."""
    return storage.join(CHECKPOINT, "replay")


@contextmanager
def replaying(storage: Storage, *, dry_run: bool = False) -> Iterator[Ledger]:
    """The ledger of replays, for one at a time: it is locked before anything is begun or read.

    A dry run neither begins nor locks it.
    """
    place = replays(storage)
    nameless = Ledger(Storage.open(place), job="")
    if dry_run:
        yield Ledger.find(place) or nameless
        return
    with nameless.locked("another replay is running in this warehouse", "wait for it"):
        yield Ledger.open(place)


def ledgers(storage: Storage, told: Sequence[str] = ()) -> list[Ledger]:
    """The ledgers that can be reached: told, in the usual places, and noted."""
    noted = [storage.read(f"{NOTED}/{name}") for name in storage.names(NOTED)]
    near = _each([*told, storage.join(CHECKPOINT), replays(storage)])
    far = _each([place.decode() for place in noted if place])
    found = [Ledger.find(place) for place in near]
    found += [_reached(place) for place in far if place not in near]
    return [ledger for ledger in found if ledger is not None]


def _each(places: Sequence[str]) -> list[str]:
    """Places by their full address, each once."""
    return list(dict.fromkeys(Storage.open(place).url for place in places))


def _reached(place: str) -> Ledger | None:
    """A ledger that somebody else has noted; one that cannot be read must not stop others."""
    if time.monotonic() < _gone.get(place, 0.0):
        return None
    try:
        return Ledger.find(place)
    except (OSError, HeraldryError):
        _gone[place] = time.monotonic() + _AWAY
        return None


def away(storage: Storage, told: Sequence[str] = ()) -> list[str]:
    """The places that are noted but cannot be reached from here, nor are among those told."""
    here = {ledger.job for ledger in ledgers(storage, told)}
    gone = [name for name in storage.names(NOTED) if name not in here]
    return [(storage.read(f"{NOTED}/{name}") or b"").decode() for name in gone]
