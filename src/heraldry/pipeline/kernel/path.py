"""The compiled path over a whole batch of lines: what it accepts by definition, and the rest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from heraldry.dialects.load import load_bytes
from heraldry.messages.compile import CompiledDefinition
from heraldry.messages.judge import Judge
from heraldry.messages.line import MAX_LINE
from heraldry.pipeline.kernel import jit
from heraldry.pipeline.kernel.columns import Arena, Spans, address_of, instants
from heraldry.pipeline.kernel.envelope import (
    ABSENT,
    BOUNDS,
    FOLLOW,
    MEMBERS,
    NAMES,
    read_envelopes,
)
from heraldry.pipeline.kernel.match import match_rows
from heraldry.pipeline.kernel.plans import NO_PLAN, Plan, Plans
from heraldry.pipeline.layout import arrow_type

_TIME = MEMBERS.index("time")
_TYPE = MEMBERS.index("type")
_DATA = MEMBERS.index("data")
_SINGLY = 64  # so few lines are looked at one by one for what is no UTF-8


@dataclass(slots=True)
class KernelGroup:
    """The rows of one definition that are accepted, and their columns in the order of ``rows``.

    ``payload`` has the schema's columns, ``envelope`` those of ``compiled.envelope_columns``,
    ``placeholders`` those of ``compiled.placeholders``; ``data`` is the text of the payloads.
    """

    compiled: CompiledDefinition
    rows: NDArray[np.int64]
    payload: pa.Table
    envelope: list[pa.Array]
    placeholders: list[pa.Array]
    data: Spans


@dataclass(slots=True)
class _Batch:
    """Some lines: their bytes, where everything stands in them, and the plan of each."""

    buffer: NDArray[np.uint8]
    starts: NDArray[np.int64]
    lengths: NDArray[np.int32]
    times: NDArray[np.int64]
    plans: NDArray[np.int64]
    slot_starts: NDArray[np.int64]
    slot_lengths: NDArray[np.int32]

    def member(self, number: int) -> Spans:
        """Where one member of the events stands."""
        return Spans(self.buffer, self.starts[number], self.lengths[number])

    def slot(self, number: int) -> Spans:
        """Where the values of one placeholder stand."""
        return Spans(self.buffer, self.slot_starts[number], self.slot_lengths[number])


class KernelPath:
    """Accepts lines in batches; made once per worker, for one thread."""

    def __init__(self, judge: Judge) -> None:
        self._plans = Plans(judge)
        self._arena = Arena()
        self._follow = FOLLOW.copy()

    def take(self, lines: pa.BinaryArray) -> tuple[list[KernelGroup], NDArray[np.int64]]:
        """Split lines into what is accepted, by definition, and the numbers of all others."""
        batch = self._read(lines)
        self._match(batch)
        found = []
        for plan, rows in self._by_plan(batch):
            verdict, payload = plan.reader.read(batch.member(_DATA).take(rows), self._arena)
            accepted = rows if verdict.all() else rows[verdict]
            if len(accepted):
                found.append((plan, accepted, payload))
        rest = np.ones(len(lines), np.bool_)
        for _, rows, _ in found:
            rest[rows] = False
        return list(_groups(batch, found)), np.flatnonzero(rest)

    def _read(self, lines: pa.BinaryArray) -> _Batch:
        """Copy the lines, read their envelopes and look up the plan of every type."""
        count = len(lines)
        buffer, offsets = _padded(lines)
        good = _readable(lines)
        good &= np.diff(offsets) <= MAX_LINE
        starts = np.zeros((len(MEMBERS), count), np.int64)
        lengths = np.empty((len(MEMBERS), count), np.int32)
        times = np.empty(count, np.int64)
        read_envelopes(
            address_of(buffer), offsets, starts, lengths, times, good, NAMES, BOUNDS, self._follow
        )
        plans = np.full(count, NO_PLAN, np.int64)
        rows = np.flatnonzero(good)
        kinds = Spans(buffer, starts[_TYPE], lengths[_TYPE]).take(rows)
        encoded = kinds.to_arrow(pa.string()).dictionary_encode()
        numbers = [self._plans.number(kind) for kind in encoded.dictionary.to_pylist()]
        codes = encoded.indices.to_numpy(zero_copy_only=False)
        plans[rows] = np.array(numbers, np.int64)[codes] if numbers else NO_PLAN
        slots = self._plans.steps.slots
        return _Batch(
            buffer=buffer,
            starts=starts,
            lengths=lengths,
            times=times,
            plans=plans,
            slot_starts=np.empty((slots, count), np.int64),
            slot_lengths=np.empty((slots, count), np.int32),
        )

    def _match(self, batch: _Batch) -> None:
        """Take the plan from every row that does not obey it."""
        match_rows(
            address_of(batch.buffer),
            batch.plans,
            batch.starts,
            batch.lengths,
            batch.slot_starts,
            batch.slot_lengths,
            *self._plans.steps.tables,
        )

    def _by_plan(self, batch: _Batch) -> Iterator[tuple[Plan, NDArray[np.int64]]]:
        """The rows of every plan, in order, that pass the checks of single members."""
        rows = np.flatnonzero(batch.plans != NO_PLAN)
        plans = batch.plans[rows]
        few = len(self._plans.plans) < np.iinfo(np.int16).max
        order = np.argsort(plans.astype(np.int16) if few else plans, kind="stable")
        rows, plans = rows[order], plans[order]
        bounds = [0, *(np.flatnonzero(plans[1:] != plans[:-1]) + 1).tolist(), len(rows)]
        for begin, end in pairwise(bounds):
            if begin < end:
                plan = self._plans.plans[int(plans[begin])]
                yield plan, _checked(batch, plan, rows[begin:end])


def _checked(batch: _Batch, plan: Plan, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rows whose members pass the plan's checks, each distinct text checked once."""
    for member, check in plan.checks:
        encoded = batch.member(member).take(rows).to_arrow(pa.string()).dictionary_encode()
        fits = [check(text) for text in encoded.dictionary.to_pylist()]
        if not all(fits):
            # An absent member has no code; the last place says that it fits.
            codes = encoded.indices.fill_null(len(fits)).to_numpy(zero_copy_only=False)
            rows = rows[np.array([*fits, True])[codes]]
    return rows


def _groups(
    batch: _Batch, found: list[tuple[Plan, NDArray[np.int64], pa.Table]]
) -> Iterator[KernelGroup]:
    """Groups with their columns; texts of attributes are copied for all groups at once."""
    if not found:
        return
    every = np.concatenate([rows for _, rows, _ in found])
    columns = {
        name: batch.member(number).take(every).to_arrow(pa.string())
        for number, name in enumerate(MEMBERS)
        if number not in (_TIME, _DATA)
    }
    present = batch.lengths[_TIME][every] != ABSENT
    columns["time"] = instants(batch.times[every], present)
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
        yield KernelGroup(plan.compiled, rows, payload, envelope, placeholders, data)
        begin += count


def _padded(lines: pa.BinaryArray) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The bytes of lines with zeros behind them, and where each line begins and ends."""
    _, places, values = lines.buffers()
    if not len(lines) or values is None:
        return np.zeros(jit.PADDING, np.uint8), np.zeros(len(lines) + 1, np.int64)
    width = np.int64 if pa.types.is_large_binary(lines.type) else np.int32
    part = slice(lines.offset, lines.offset + len(lines) + 1)
    offsets = np.frombuffer(places, width)[part].astype(np.int64)
    first, last = int(offsets[0]), int(offsets[-1])
    buffer = np.empty(last - first + jit.PADDING, np.uint8)
    buffer[: last - first] = np.frombuffer(values, np.uint8)[first:last]
    buffer[last - first :] = 0
    return buffer, offsets - first


def _readable(lines: pa.BinaryArray) -> NDArray[np.bool_]:
    """Which lines are there and are UTF-8: halved until the few that are not are alone."""
    if not len(lines):
        return np.zeros(0, np.bool_)
    try:
        lines.cast(pa.large_string() if pa.types.is_large_binary(lines.type) else pa.string())
        if not lines.null_count:
            return np.ones(len(lines), np.bool_)
        return np.asarray(lines.is_valid().to_numpy(zero_copy_only=False))
    except pa.ArrowInvalid:
        if len(lines) <= _SINGLY:
            return np.array([_is_text(line) for line in lines.to_pylist()], np.bool_)
        middle = len(lines) // 2
        return np.concatenate([_readable(lines[:middle]), _readable(lines[middle:])])


def _is_text(line: bytes | None) -> bool:
    try:
        return line is not None and line.decode() is not None
    except UnicodeDecodeError:
        return False


def available() -> bool:
    """Whether numba is there; without it this path must not be used."""
    return jit.AVAILABLE


def warm() -> None:
    """Compile everything once, so that workers find the machine code on disk."""
    attributes = {
        "type": {"value": "warm"},
        "source": {"value": "{a}"},
        "subject": {"value": "{a}"},
    }
    members = {
        "text": {"enum": ["a\nb", "text"]},
        "escaped": {"type": "string"},
        "items": {"type": "array", "items": {"type": "number"}},
    }
    message = {
        "envelope": "CloudEvents/1.0",
        "envelopemetadata": attributes,
        "dataschemaformat": "JSONSchema/draft-07",
        "dataschema": {"type": "object", "properties": members},
    }
    catalog = {"messagegroups": {"warm": {"messagegroupid": "warm", "messages": {"warm": message}}}}
    event = {
        "specversion": "1.0",
        "id": "1",
        "type": "warm",
        "source": "a",
        "subject": "a",
        "time": "2026-11-16T08:30:00Z",
        "data": {"text": "text", "escaped": "\n", "items": [1, 2.5]},
    }
    path = KernelPath(Judge(load_bytes(msgspec.json.encode(catalog), "warm")))
    path.take(pa.array([msgspec.json.encode(event)], pa.binary()))
