"""The compiled path over a whole batch of lines: what it accepts by definition, and the rest."""

from __future__ import annotations

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from heraldry.dialects.load import load_bytes
from heraldry.messages.judge import Judge
from heraldry.messages.line import MAX_LINE
from heraldry.pipeline.kernel import jit
from heraldry.pipeline.kernel.bound_path import BoundPath
from heraldry.pipeline.kernel.columns import Arena, Spans, address_of
from heraldry.pipeline.kernel.envelope import BOUNDS, FOLLOW, MEMBERS, NAMES, read_envelopes
from heraldry.pipeline.kernel.event_groups import take_events
from heraldry.pipeline.kernel.groups import Pieces, Taken
from heraldry.pipeline.kernel.match import match_rows
from heraldry.pipeline.kernel.plans import NO_PLAN, Plans

_TYPE = MEMBERS.index("type")
_SINGLY = 64  # so few lines are looked at one by one for what is no UTF-8


class KernelPath:
    """Accepts lines in batches; made once per worker, for one thread."""

    def __init__(self, judge: Judge) -> None:
        self._plans = Plans(judge)
        self._arena = Arena()
        self._bound = BoundPath(judge, self._arena)
        self._follow = FOLLOW.copy()

    def take(self, lines: pa.BinaryArray) -> Taken:
        """Split lines into what is accepted or refused, by definition, and all others."""
        buffer, offsets = _padded(lines)
        good = _readable(lines)
        good &= np.diff(offsets) <= MAX_LINE
        readable = good.copy()
        batch, times = self._read(buffer, offsets, good)
        self._match(batch)
        taken = Taken([], [], np.empty(0, np.int64))
        taken.add(take_events(batch, times, self._plans.plans, self._arena, {}))
        taken.add(self._bound.take(buffer, offsets, np.flatnonzero(readable & ~good)))
        rest = np.ones(len(lines), np.bool_)
        for rows in [one.rows for one in taken.groups] + [one.rows for one in taken.refused]:
            rest[rows] = False
        taken.rest = np.flatnonzero(rest)
        return taken

    def _read(
        self, buffer: NDArray[np.uint8], offsets: NDArray[np.int64], good: NDArray[np.bool_]
    ) -> tuple[Pieces, NDArray[np.int64]]:
        """Read the envelopes of good lines and look up the plan of every type; the times too."""
        count = len(good)
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
        none = np.empty((0, count), np.int64)
        batch = Pieces(buffer, starts, lengths, plans, none, none.astype(np.int32))
        batch.make_slots(self._plans.steps.slots)
        return batch, times

    def _match(self, batch: Pieces) -> None:
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


def _padded(lines: pa.BinaryArray) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The bytes of lines with zeros behind them, and where each begins; copied if they are not."""
    _, places, values = lines.buffers()
    if not len(lines) or values is None:
        return np.zeros(jit.PADDING, np.uint8), np.zeros(len(lines) + 1, np.int64)
    width = np.int64 if pa.types.is_large_binary(lines.type) else np.int32
    part = slice(lines.offset, lines.offset + len(lines) + 1)
    offsets = np.frombuffer(places, width)[part].astype(np.int64)
    first, last = int(offsets[0]), int(offsets[-1])
    known = np.frombuffer(values, np.uint8)
    if len(known) >= last + jit.PADDING and not known[last : last + jit.PADDING].any():
        return known, offsets
    buffer = np.empty(last - first + jit.PADDING, np.uint8)
    buffer[: last - first] = known[first:last]
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
        "protocol": "MQTT/5.0",
        "protocoloptions": {"topic_name": "warm/{a}", "user_properties": {"b": {"value": "{b}"}}},
        "dataschemaformat": "JSONSchema/draft-07",
        "dataschema": {"type": "object", "properties": members},
    }
    catalog = {"messagegroups": {"warm": {"messagegroupid": "warm", "messages": {"warm": message}}}}
    data = {"text": "text", "escaped": "\n", "items": [1, 2.5]}
    event = {
        "specversion": "1.0",
        "id": "1",
        "type": "warm",
        "source": "a",
        "subject": "a",
        "time": "2026-11-16T08:30:00Z",
        "data": data,
    }
    metadata = {"topic_name": "warm/a", "qos": 1, "user_properties": [{"name": "b", "value": "b"}]}
    native = {"protocol": "MQTT/5.0", "metadata": metadata, "payload": data}
    path = KernelPath(Judge(load_bytes(msgspec.json.encode(catalog), "warm")))
    path.take(pa.array([*map(msgspec.json.encode, (event, native))], pa.binary()))
