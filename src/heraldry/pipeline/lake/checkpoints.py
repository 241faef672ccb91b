"""Where the jobs and replays of a warehouse keep their progress."""

from __future__ import annotations

from collections.abc import Sequence

from heraldry.pipeline.lake.layout import CHECKPOINT
from heraldry.pipeline.lake.ledger import Ledger
from heraldry.pipeline.lake.storage import Storage

REPLAYS = "replay"
"""Where below a checkpoint the ledger of replays is."""

_NOTED = "_checkpoints"


def note(storage: Storage, ledger: Ledger) -> None:
    """Tell a warehouse of a ledger that is elsewhere, for those who must know all of them."""
    storage.write(f"{_NOTED}/{ledger.job}", ledger.storage.url.encode())


def ledgers(storage: Storage, told: Sequence[str] = ()) -> list[Ledger]:
    """The ledgers that can be reached: told, in the usual place, and noted."""
    noted = [storage.read(f"{_NOTED}/{name}") for name in storage.names(_NOTED)]
    places = [*told, storage.join(CHECKPOINT), *(place.decode() for place in noted if place)]
    found = (Storage.open(place) for place in places)
    unique = dict.fromkeys(url for one in found for url in (one.url, one.join(REPLAYS)))
    opened = (Ledger.find(place) for place in unique)
    return [ledger for ledger in opened if ledger is not None]


def away(storage: Storage) -> list[str]:
    """The places that are noted but cannot be reached from here."""
    here = {ledger.job for ledger in ledgers(storage)}
    gone = [name for name in storage.names(_NOTED) if name not in here]
    return [(storage.read(f"{_NOTED}/{name}") or b"").decode() for name in gone]
