"""The compiled path for events on protocols, in binary or structured mode."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from heraldry.messages.judge import Judge
from heraldry.pipeline.kernel.columns import Arena, address_of
from heraldry.pipeline.kernel.envelope import ABSENT, MEMBERS
from heraldry.pipeline.kernel.event_groups import take_events
from heraldry.pipeline.kernel.event_plans import EventPlans, form_of
from heraldry.pipeline.kernel.groups import Bound, KernelGroup, Pieces, Refused
from heraldry.pipeline.kernel.match import match_rows
from heraldry.pipeline.kernel.plans import NO_PLAN
from heraldry.pipeline.kernel.protocols import PROTOCOLS, Places

_TYPE, _DATA_TYPE = map(MEMBERS.index, ("type", "datacontenttype"))


class EventPath:
    """Accepts events on protocols in batches; made once per worker, for one thread."""

    def __init__(self, judge: Judge, places: Places, arena: Arena) -> None:
        self._plans = EventPlans(judge, places)
        self._arena = arena

    def take(self, bound: Bound) -> Iterator[KernelGroup | Refused]:
        """What is accepted, or refused, among some messages, by definition."""
        pieces = bound.pieces()
        self._find(pieces, bound)
        match_rows(
            address_of(pieces.buffer),
            pieces.plans,
            pieces.starts,
            pieces.lengths,
            pieces.slot_starts,
            pieces.slot_lengths,
            *self._plans.steps.tables,
        )
        self._keep_forms(pieces, bound)
        yield from take_events(
            pieces,
            bound.times,
            self._plans.plans,
            self._arena,
            self._plans.places.extensions,
            bound.lines,
        )

    def _find(self, pieces: Pieces, bound: Bound) -> None:
        """Find the plan of every event by its type, and by its address where that is needed."""
        events = bound.kinds >= len(PROTOCOLS)
        for protocol in range(len(PROTOCOLS)):
            rows = np.flatnonzero(events & (bound.kinds % len(PROTOCOLS) == protocol))
            if len(rows):
                family = self._plans.family(protocol)
                kinds = pieces.member(_TYPE).take(rows)
                pieces.plans[rows] = family.numbers(kinds, pieces.member(family.slot).take(rows))
        pieces.make_slots(self._plans.steps.slots)

    def _keep_forms(self, pieces: Pieces, bound: Bound) -> None:
        """Take the plan from events whose mode and content type it does not allow."""
        rows = np.flatnonzero(pieces.plans != NO_PLAN)
        stated = pieces.lengths[_DATA_TYPE][rows] != ABSENT
        forms = form_of(bound.kinds[rows] // len(PROTOCOLS), stated)
        pieces.plans[rows[~self._plans.forms[pieces.plans[rows], forms]]] = NO_PLAN
