"""What many clients were told of the same entities, and whether one registry can have said it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

Entity = tuple[str, str]
"""The xid of an entity, and when it was created: what is made anew begins anew."""


@dataclass(frozen=True, slots=True)
class Told:
    """An epoch that a reply told, and when its request was sent and answered."""

    epoch: int
    sent: float
    answered: float


@dataclass(kw_only=True)
class Ledger:
    """Every acknowledged write and every read."""

    written: defaultdict[Entity, list[Told]] = field(default_factory=lambda: defaultdict(list))
    read: defaultdict[Entity, list[Told]] = field(default_factory=lambda: defaultdict(list))
    added: Counter[str] = field(default_factory=Counter)
    """How often the counter of an entity was raised."""
    marks: dict[tuple[str, str], int] = field(default_factory=dict)
    """What each client wrote last into its own attribute, by xid and name."""
    tally: Counter[str] = field(default_factory=Counter)

    def wrote(self, body: Any, sent: float, answered: float) -> None:
        """A reply told the new epoch of an entity."""
        self.written[_entity(body)].append(Told(body["epoch"], sent, answered))

    def saw(self, body: Any, sent: float, answered: float) -> None:
        """A reply showed an entity."""
        self.read[_entity(body)].append(Told(body["epoch"], sent, answered))

    def epochs(self, xid: str) -> Iterable[list[int]]:
        """The epochs of an entity that writes were told, of each time it was made."""
        for entity, told in self.written.items():
            if entity[0] == xid:
                yield sorted(one.epoch for one in told)

    def check(self) -> None:
        """No epoch was given twice, and each is greater than those told before it was asked for."""
        for entity, told in self.written.items():
            told.sort(key=lambda one: one.epoch)
            latest = 0.0
            for before, one in zip([None, *told], told, strict=False):
                assert before is None or before.epoch < one.epoch, f"{entity}: {before} and {one}"
                assert latest <= one.answered, f"{entity}: {one} was passed by a later write"
                latest = max(latest, one.sent)
            self._check_reads(entity, told)

    def _check_reads(self, entity: Entity, written: list[Told]) -> None:
        """What was acknowledged is seen by everybody who asks from then on."""
        written = sorted(written, key=lambda one: one.answered)
        at, epoch = 0, 0
        for read in sorted(self.read[entity], key=lambda one: one.sent):
            while at < len(written) and written[at].answered < read.sent:
                epoch = max(epoch, written[at].epoch)
                at += 1
            assert read.epoch >= epoch, f"{entity}: {read} is older than epoch {epoch}"


def _entity(body: Any) -> Entity:
    """Which one a reply is about; that of a file tells the epoch of its default version."""
    xid = body["xid"]
    if "versionid" in body and "/versions/" not in xid:
        xid = f"{xid}/versions/{body['versionid']}"
    return xid, body["createdat"]
