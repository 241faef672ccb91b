"""Events that have a plan: payloads are read, and columns are made of what is accepted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from heraldry.pipeline.kernel.columns import Arena, instants
from heraldry.pipeline.kernel.envelope import ABSENT, MEMBERS
from heraldry.pipeline.kernel.groups import KernelGroup, Pieces, Refused, by_plan, checked
from heraldry.pipeline.kernel.plans import Plan
from heraldry.pipeline.lake.layout import arrow_type

_TIME = MEMBERS.index("time")
_DATA = MEMBERS.index("data")
_CONTENT = MEMBERS.index("datacontenttype")
_Found = tuple[Plan, NDArray[np.int64], pa.Table]


def take_events(
    batch: Pieces,
    times: NDArray[np.int64],
    plans: Sequence[Plan],
    arena: Arena,
    lines: NDArray[np.int64] | None = None,
) -> Iterator[KernelGroup | Refused]:
    """What is accepted, or refused, among events; ``lines`` are their numbers where not 0, 1, 2."""
    found: list[_Found] = []
    for number, rows in by_plan(batch.plans, len(plans)):
        plan = plans[number]
        rows = checked(batch, plan.checks, rows)
        verdict, payload = plan.reader.read(batch.member(_DATA).take(rows), arena)
        if not verdict.all():
            wrong, rows = rows[~verdict], rows[verdict]
            stated = batch.lengths[_CONTENT][wrong] != ABSENT
            data = batch.member(_DATA).take(wrong)
            yield Refused(plan.compiled, _numbers(lines, wrong), data, stated)
        if len(rows):
            found.append((plan, rows, payload))
    if found:
        yield from _groups(batch, times, found, lines)


def _groups(
    batch: Pieces,
    times: NDArray[np.int64],
    found: list[_Found],
    lines: NDArray[np.int64] | None,
) -> Iterator[KernelGroup]:
    """Groups with their columns; texts of attributes are copied for all groups at once."""
    every = np.concatenate([rows for _, rows, _ in found])
    columns = {
        name: batch.member(number).take(every).to_arrow(pa.string())
        for number, name in enumerate(MEMBERS)
        if number not in (_TIME, _DATA)
    }
    present = batch.lengths[_TIME][every] != ABSENT
    columns["time"] = instants(times[every], present)
    begin = 0
    for plan, rows, payload in found:
        count = len(rows)
        envelope = [
            columns[column.key].slice(begin, count)
            if column.key in columns
            else pa.nulls(count, arrow_type(column.type))
            for column in plan.compiled.envelope_columns
        ]
        placeholders = [
            pa.nulls(count, pa.string())
            if slot is None
            else batch.slot(slot).take(rows).to_arrow(pa.string())
            for slot in plan.slots
        ]
        data = batch.member(_DATA).take(rows)
        yield KernelGroup(
            plan.compiled, _numbers(lines, rows), payload, envelope, placeholders, data
        )
        begin += count


def _numbers(lines: NDArray[np.int64] | None, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    return rows if lines is None else lines[rows]
