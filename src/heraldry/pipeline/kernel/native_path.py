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
    at_once,
    by_plan,
    checked,
)
from heraldry.pipeline.kernel.match import match_rows
from heraldry.pipeline.kernel.native_plans import Given, NativePlan, NativePlans, given_array
from heraldry.pipeline.kernel.protocols import CONTENT, PAYLOAD, PROTOCOLS, Places
from heraldry.pipeline.lake.layout import arrow_type

_Found = tuple[NativePlan, NDArray[np.int64], list[pa.Array]]


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
        found: list[_Found] = []
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
                found.append((plan, rows, payload))
        for (plan, rows, payload), columns in zip(found, _columns(pieces, found), strict=True):
            envelope, placeholders = columns
            data = pieces.member(PAYLOAD).take(rows)
            yield KernelGroup(
                plan.compiled, lines[rows], payload, envelope, placeholders, data, native=True
            )

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


def _columns(
    pieces: Pieces, found: list[_Found]
) -> Iterator[tuple[list[pa.Array], list[pa.Array]]]:
    """The columns of the envelope and of the placeholders, for every group."""

    def make(key: int | Given, rows: NDArray[np.int64]) -> pa.Array:
        if isinstance(key, int):
            return pieces.slot_texts(key, rows)
        values = [pieces.slot_texts(slot, rows) for slot in key.slots]
        pairs = zip(values, key.literals[1:], strict=True)
        parts = [part for pair in pairs for part in pair if part != ""]
        return pc.binary_join_element_wise(key.literals[0], *parts, "")

    used = [(_made(plan), rows) for plan, rows, _ in found]
    for (plan, rows, _), texts in zip(found, at_once(used, make), strict=True):
        stated = pieces.lengths[CONTENT][rows] != ABSENT
        envelope = [
            texts[given] if given.slots else given_array(given, stated, arrow_type(column.type))
            for column, given in zip(plan.compiled.envelope_columns, plan.envelope, strict=True)
        ]
        none = pa.nulls(len(rows), pa.string())
        yield envelope, [none if slot is None else texts[slot] for slot in plan.slots]


def _made(plan: NativePlan) -> list[int | Given]:
    """The columns that are made of texts of messages: values of placeholders, and templates."""
    slots = [slot for slot in plan.slots if slot is not None]
    return [*slots, *(given for given in plan.envelope if given.slots)]
