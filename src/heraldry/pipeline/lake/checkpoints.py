"""Where the jobs and replays of a warehouse keep their progress."""

from __future__ import annotations

import time
from collections.abc import Sequence

from heraldry.errors import HeraldryError
from heraldry.pipeline.lake.layout import CHECKPOINT
from heraldry.pipeline.lake.ledger import Ledger
from heraldry.pipeline.lake.storage import Storage

REPLAYS = "replay"
"""Where below a checkpoint the ledger of replays is."""

_NOTED = "_checkpoints"
_AWAY = 600.0
"""For so many seconds a place that could not be read is not tried again: trying takes long."""

_gone: dict[str, float] = {}


def note(storage: Storage, ledger: Ledger) -> None:
    """Tell a warehouse of a ledger that is elsewhere, for those who must know all of them."""
    storage.write(f"{_NOTED}/{ledger.job}", ledger.storage.url.encode())


def ledgers(storage: Storage, told: Sequence[str] = ()) -> list[Ledger]:
    """The ledgers that can be reached: told, in the usual place, and noted."""
    noted = [storage.read(f"{_NOTED}/{name}") for name in storage.names(_NOTED)]
    near = _both([*told, storage.join(CHECKPOINT)])
    far = _both([place.decode() for place in noted if place])
    found = [Ledger.find(place) for place in near]
    found += [_reached(place) for place in far if place not in near]
    return [ledger for ledger in found if ledger is not None]


def _both(places: Sequence[str]) -> list[str]:
    """Checkpoints and the ledgers of replays below them, each once."""
    found = (Storage.open(place) for place in places)
    return list(dict.fromkeys(url for one in found for url in (one.url, one.join(REPLAYS))))


def _reached(place: str) -> Ledger | None:
    """A ledger that somebody else has noted; one that cannot be read must not stop others."""
    if time.monotonic() < _gone.get(place, 0.0):
        return None
    try:
        return Ledger.find(place)
    except (OSError, HeraldryError):
        _gone[place] = time.monotonic() + _AWAY
        return None


def away(storage: Storage) -> list[str]:
    """The places that are noted but cannot be reached from here."""
    here = {ledger.job for ledger in ledgers(storage)}
    gone = [name for name in storage.names(_NOTED) if name not in here]
    return [(storage.read(f"{_NOTED}/{name}") or b"").decode() for name in gone]
