"""Events that have a plan: payloads are read, and columns are made of what is accepted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from heraldry.messages.extract import EXTENSIONS
from heraldry.pipeline.kernel.columns import Arena, instants
from heraldry.pipeline.kernel.envelope import ABSENT, MEMBERS
from heraldry.pipeline.kernel.groups import (
    KernelGroup,
    Pieces,
    Refused,
    at_once,
    by_plan,
    checked,
)
from heraldry.pipeline.kernel.plans import Plan
from heraldry.pipeline.lake.layout import arrow_type

_TIME = MEMBERS.index("time")
_DATA = MEMBERS.index("data")
_CONTENT = MEMBERS.index("datacontenttype")
_Found = tuple[Plan, NDArray[np.int64], list[pa.Array]]


def take_events(
    batch: Pieces,
    times: NDArray[np.int64],
    plans: Sequence[Plan],
    arena: Arena,
    extensions: Mapping[str, int],
    lines: NDArray[np.int64] | None = None,
) -> Iterator[KernelGroup | Refused]:
    """What is accepted, or refused, among events; ``lines`` are their numbers where not 0, 1, 2.

    ``extensions`` are the places of attributes beyond those of the specification.
    """
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
        yield from _groups(batch, times, found, lines, extensions)


def _groups(
    batch: Pieces,
    times: NDArray[np.int64],
    found: list[_Found],
    lines: NDArray[np.int64] | None,
    extensions: Mapping[str, int],
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
    for (plan, rows, payload), placeholders in zip(found, _values(batch, found), strict=True):
        count = len(rows)
        more = {
            name: batch.member(slot).take(rows).to_arrow(pa.string())
            for name, slot in extensions.items()
            if (batch.lengths[slot][rows] != ABSENT).any()
        }
        declared = plan.compiled.envelope_columns
        undeclared = sorted(more.keys() - {column.key for column in declared})
        if undeclared:
            more[EXTENSIONS] = _as_json({name: more[name] for name in undeclared})
        envelope = [
            columns[column.key].slice(begin, count)
            if column.key in columns
            else more.get(column.key, pa.nulls(count, arrow_type(column.type)))
            for column in declared
        ]
        data = batch.member(_DATA).take(rows)
        yield KernelGroup(
            plan.compiled, _numbers(lines, rows), payload, envelope, placeholders, data
        )
        begin += count


def _values(batch: Pieces, found: list[_Found]) -> Iterator[list[pa.Array]]:
    """The values of the placeholders of every group."""
    used = [([slot for slot in plan.slots if slot is not None], rows) for plan, rows, _ in found]
    columns = at_once(used, batch.slot_texts)
    for (plan, rows, _), texts in zip(found, columns, strict=True):
        none = pa.nulls(len(rows), pa.string())
        yield [none if slot is None else texts[slot] for slot in plan.slots]


def _as_json(attributes: Mapping[str, pa.Array]) -> pa.Array:
    """Attributes as JSON texts, as ``extract.extensions_text`` makes them; null where none is.

    Their texts stand in lines without escapes, so they need none here.
    """
    members = [
        pc.fill_null(pc.binary_join_element_wise(f',"{name}":"', column, '"', ""), "")
        for name, column in attributes.items()
    ]
    joined = pc.utf8_slice_codeunits(pc.binary_join_element_wise(*members, ""), 1)
    texts = pc.binary_join_element_wise("{", joined, "}", "")
    return pc.if_else(pc.equal(joined, ""), pa.scalar(None, pa.string()), texts)


def _numbers(lines: NDArray[np.int64] | None, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    return rows if lines is None else lines[rows]
