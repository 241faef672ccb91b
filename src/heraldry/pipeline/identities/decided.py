"""The identities that other ledgers of a warehouse have decided.

A job and the replays of its letters each keep the identities of what they land, in windows of
their own. Each asks the other's before it decides, and one of them decides at a time
(:meth:`Ledger.deciding`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from heraldry.errors import WarehouseError
from heraldry.pipeline.identities.duplicates import IDENTITIES
from heraldry.pipeline.identities.runs import Keys, read_run, span_of
from heraldry.pipeline.lake.checkpoints import replays
from heraldry.pipeline.lake.ledger import Ledger
from heraldry.pipeline.lake.storage import Storage


def folder_of(job: str) -> str:
    """Where in the ledger of replays the identities of one job's letters are."""
    return f"{IDENTITIES}/{job}"


@dataclass(slots=True)
class Decided:
    """The identities in a folder of a ledger, but for those of a batch that was not decided."""

    ledger: Ledger
    folder: str
    _read: dict[str, Keys] = field(default_factory=dict)

    def __call__(self) -> Iterator[Keys]:
        """The runs as they are now; each is read once."""
        try:
            self._read = dict(self._runs())
        except WarehouseError:
            # Its owner, when it starts, removes what it had merged before it was killed.
            self._read = dict(self._runs())
        yield from self._read.values()

    def _runs(self) -> Iterator[tuple[str, Keys]]:
        last, storage = self.ledger.last, self.ledger.storage
        for name in storage.names(self.folder):
            span = span_of(name)
            if span is not None and last is not None and span[1] <= last:
                known = self._read.get(name)
                yield name, read_run(storage, self.folder, name).keys if known is None else known


@dataclass(slots=True)
class Replayed:
    """The identities of one job's letters that replays have landed."""

    warehouse: Storage
    job: str
    _known: Decided | None = None

    def __call__(self) -> Iterator[Keys]:
        """What is known now; a first replay may have come since the last question."""
        if self._known is None and (ledger := Ledger.find(replays(self.warehouse))) is not None:
            self._known = Decided(ledger, folder_of(self.job))
        if self._known is not None:
            yield from self._known()
