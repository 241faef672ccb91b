"""The compiled path for messages of protocols that are no events."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from heraldry.messages.judge import Judge
from heraldry.pipeline.kernel.bound import NATIVE, kind_of
from heraldry.pipeline.kernel.columns import Arena, address_of
from heraldry.pipeline.kernel.envelope import ABSENT
from heraldry.pipeline.kernel.groups import (
    Bound,
    KernelGroup,
    Pieces,
    Refused,
    by_plan,
    checked,
)
from heraldry.pipeline.kernel.match import match_rows
from heraldry.pipeline.kernel.native_plans import NativePlan, NativePlans, given_array
from heraldry.pipeline.kernel.protocols import CONTENT, PAYLOAD, PROTOCOLS, Places
from heraldry.pipeline.lake.layout import arrow_type


class NativePath:
    """Accepts messages that are no events in batches; made once per worker, for one thread."""

    def __init__(self, judge: Judge, places: Places, arena: Arena) -> None:
        self._plans = NativePlans(judge, places)
        self._arena = arena

    def take(self, bound: Bound) -> Iterator[KernelGroup | Refused]:
        """What is accepted, or refused, among some messages, by definition."""
        pieces, lines = bound.pieces(), bound.lines
        self._find(pieces, bound.kinds)
        match_rows(
            address_of(pieces.buffer),
            pieces.plans,
            pieces.starts,
            pieces.lengths,
            pieces.slot_starts,
            pieces.slot_lengths,
            *self._plans.steps.tables,
        )
        for number, rows in by_plan(pieces.plans, len(self._plans.plans)):
            plan = self._plans.plans[number]
            rows = checked(pieces, plan.checks, _typed(pieces, plan, rows))
            verdict, payload = plan.reader.read(pieces.member(PAYLOAD).take(rows), self._arena)
            if not verdict.all():
                wrong, rows = rows[~verdict], rows[verdict]
                stated = pieces.lengths[CONTENT][wrong] != ABSENT
                data = pieces.member(PAYLOAD).take(wrong)
                yield Refused(plan.compiled, lines[wrong], data, stated)
            if len(rows):
                yield _group(pieces, plan, rows, payload, lines[rows])

    def _find(self, pieces: Pieces, kinds: NDArray[np.int64]) -> None:
        """Find the plan of every message by its address."""
        for protocol in range(len(PROTOCOLS)):
            rows = np.flatnonzero(kinds == kind_of(protocol, NATIVE))
            if len(rows):
                family = self._plans.family(protocol)
                pieces.plans[rows] = family.numbers(pieces.member(family.slot).take(rows))
        pieces.make_slots(self._plans.steps.slots)


def _typed(pieces: Pieces, plan: NativePlan, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rows whose content type, or the lack of one, the plan allows."""
    if plan.untyped and plan.typed:
        return rows
    stated = pieces.lengths[CONTENT][rows] != ABSENT
    return rows[stated] if plan.typed else rows[~stated]


def _group(
    pieces: Pieces,
    plan: NativePlan,
    rows: NDArray[np.int64],
    payload: pa.Table,
    lines: NDArray[np.int64],
) -> KernelGroup:
    count = len(rows)
    stated = pieces.lengths[CONTENT][rows] != ABSENT
    values: dict[int, pa.Array] = {}

    def value(slot: int) -> pa.Array:
        if slot not in values:
            values[slot] = pieces.slot(slot).take(rows).to_arrow(pa.string())
        return values[slot]

    envelope = []
    for column, given in zip(plan.compiled.envelope_columns, plan.envelope, strict=True):
        if given.slots:
            pairs = zip(given.slots, given.literals[1:], strict=True)
            parts = [part for slot, text in pairs for part in (value(slot), text) if part != ""]
            envelope.append(pc.binary_join_element_wise(given.literals[0], *parts, ""))
        else:
            envelope.append(given_array(given, stated, count, arrow_type(column.type)))
    placeholders = [
        pa.nulls(count, pa.string()) if slot is None else value(slot) for slot in plan.slots
    ]
    data = pieces.member(PAYLOAD).take(rows)
    return KernelGroup(plan.compiled, lines, payload, envelope, placeholders, data, native=True)
