"""Arrow columns from what the compiled functions found: pieces of text, and typed values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from heraldry.pipeline.kernel import tables as t
from heraldry.pipeline.kernel.jit import byte_at, inlined, kernel, put_word, word_at
from heraldry.pipeline.kernel.parse import LEVELS, POWERS, Output, parse_rows
from heraldry.schemas.payload_schema import PayloadSchema

_FANOUT = 8
_MAX_FANOUT = 2048
_SPARE = 1024
_SLACK = 8  # texts are copied eight bytes at a time
_OFFSET = 4
_BASE, _KIND, _TEXT = t.BASE, t.KIND, t.TEXT


@dataclass(frozen=True, slots=True)
class Spans:
    """Pieces of a text: where each begins and how long it is; shorter than 0: it is null."""

    buffer: NDArray[np.uint8]
    starts: NDArray[np.int64]
    lengths: NDArray[np.int32]

    def take(self, rows: NDArray[np.int64]) -> Spans:
        """Some of the pieces, in the order given."""
        return Spans(self.buffer, self.starts[rows], self.lengths[rows])

    def to_arrow(self, kind: pa.DataType) -> pa.Array:
        """The pieces as an array of strings or of binaries."""
        null = self.lengths < 0
        if not null.any():
            return _gathered(address_of(self.buffer), self.starts, self.lengths, None, kind)
        lengths = np.where(null, 0, self.lengths).astype(np.int32)
        return _gathered(address_of(self.buffer), self.starts, lengths, ~null, kind)


def address_of(array: NDArray[Any]) -> np.uintp:
    """Where an array lies in memory."""
    return np.uintp(array.ctypes.data)


def bitmap(valid: NDArray[Any] | None) -> tuple[Any, int]:
    """The buffer that says what is not null, or None, and how many are null."""
    if valid is None or valid.all():
        return None, 0
    bits = pa.py_buffer(np.packbits(valid, bitorder="little"))
    return bits, int(len(valid) - np.count_nonzero(valid))


def instants(moments: NDArray[np.int64], valid: NDArray[np.bool_]) -> pa.Array:
    """Microseconds since 1970 as timestamps."""
    bits, nulls = bitmap(valid)
    data = pa.py_buffer(np.ascontiguousarray(moments))
    return pa.Array.from_buffers(pa.timestamp("us", "UTC"), len(moments), [bits, data], nulls)


def _gathered(
    address: np.uintp,
    starts: NDArray[np.int64],
    lengths: NDArray[np.int32],
    valid: NDArray[Any] | None,
    kind: pa.DataType,
) -> pa.Array:
    count = len(starts)
    offsets = np.empty(count + 1, np.int32)
    data = np.empty(int(np.abs(lengths).sum(dtype=np.int64)) + _SLACK, np.uint8)
    size = _gather(address, starts, lengths, offsets, data)
    bits, nulls = bitmap(valid)
    whole = pa.py_buffer(data).slice(0, size)
    return pa.Array.from_buffers(kind, count, [bits, pa.py_buffer(offsets), whole], nulls)


@inlined
def _unescape(buffer: Any, p: int, end: int, target: Any, at: int) -> int:
    """Copy a text with escapes of one letter; the place after it."""
    while p < end:
        c = byte_at(buffer, p)
        p += 1
        if c == 92:
            c = byte_at(buffer, p)
            p += 1
            if c == 98:
                c = np.uint8(8)
            elif c == 102:
                c = np.uint8(12)
            elif c == 110:
                c = np.uint8(10)
            elif c == 114:
                c = np.uint8(13)
            elif c == 116:
                c = np.uint8(9)
        target[at] = c
        at += 1
    return at


@kernel
def _gather(buffer: Any, starts: Any, lengths: Any, offsets: Any, target: Any) -> int:
    """Copy pieces of a text one behind the other; the size of the whole."""
    address = np.uintp(target.ctypes.data)
    at = np.int64(0)
    offsets[0] = 0
    for i in range(starts.shape[0]):
        begin = starts[i]
        size = np.int64(lengths[i])
        if size >= 0:
            done = np.int64(0)
            while done < size:
                put_word(address, at + done, word_at(buffer, begin + done))
                done += 8
            at += size
        else:
            at = _unescape(buffer, begin, begin - size, target, at)
        offsets[i + 1] = at
    return at


@kernel
def _measure(nodes: Any, out: Any, nulls: Any, sizes: Any) -> None:
    """How many values of every node are null, and how long its texts are at most, together."""
    for node in range(out.count.shape[0]):
        base = nodes[node, _BASE]
        end = base + out.count[node]
        missing = np.int64(0)
        size = np.int64(0)
        for i in range(base, end):
            missing += out.valid[i] == 0
        if nodes[node, _KIND] == _TEXT:
            for i in range(base, end):
                size += abs(np.int64(out.length[i]))
        nulls[node] = missing
        sizes[node] = size


@kernel
def _gather_texts(
    buffer: Any,
    nodes: Any,
    out: Any,
    firsts: Any,
    begins: Any,
    sizes: Any,
    offsets: Any,
    target: Any,
) -> None:
    """Copy the texts of all nodes, those of each at its place; ``sizes`` is what they take."""
    for node in range(out.count.shape[0]):
        if nodes[node, _KIND] == _TEXT:
            base = nodes[node, _BASE]
            count = out.count[node]
            end, first = base + count, firsts[node]
            sizes[node] = _gather(
                buffer,
                out.whole[base:end],
                out.length[base:end],
                offsets[first : first + count + 1],
                target[begins[node] :],
            )


class Arena:
    """Memory for the values of one batch of payloads, used again and again."""

    def __init__(self) -> None:
        self._size = 0
        self._whole = np.empty(0, np.int64)
        self._length = np.empty(0, np.int32)
        self._valid = np.empty(0, np.uint8)
        self.frames = np.zeros((LEVELS, 4), np.int64)

    def output(self, size: int, nodes: int) -> Output:
        """Room for so many values of so many nodes."""
        if size > self._size:
            self._size = size
            self._whole = np.empty(size, np.int64)
            self._length = np.empty(size, np.int32)
            self._valid = np.empty(size, np.uint8)
        return Output(
            whole=self._whole,
            real=self._whole.view(np.float64),
            length=self._length,
            valid=self._valid,
            count=np.zeros(nodes, np.int64),
            saved=np.zeros(nodes, np.int64),
            full=np.zeros(1, np.int64),
        )


class PayloadReader:
    """Reads payloads of one schema into its columns."""

    @classmethod
    def of(cls, schema: PayloadSchema) -> PayloadReader | None:
        """A reader for a schema; None where the schema is not understood."""
        nodes = t.compile_nodes(schema)
        return cls(nodes) if nodes is not None else None

    def __init__(self, nodes: list[t.Node]) -> None:
        self._nodes = nodes
        self._tables = t.to_tables(self._nodes)
        self._repeated = np.array([node.repeated for node in self._nodes])
        self._fanout = _FANOUT

    def read(self, spans: Spans, arena: Arena) -> tuple[NDArray[np.bool_], list[pa.Array]]:
        """Which of the payloads are accepted, and their columns."""
        address = address_of(spans.buffer)
        while True:
            verdict = np.zeros(len(spans.starts), np.bool_)
            out = arena.output(self._room(len(verdict)), len(self._nodes))
            parse_rows(
                address,
                spans.starts,
                spans.lengths,
                self._tables,
                out,
                arena.frames,
                verdict,
                POWERS,
            )
            if not out.full[0] or self._fanout >= _MAX_FANOUT:
                break
            self._fanout *= 4  # lists are longer here than thought
        values = _Values(address, self._nodes, self._tables.nodes, out)
        return verdict, [values.array(child) for child in self._nodes[0].children]

    def _room(self, rows: int) -> int:
        """Give every node its part of the arena; the size of the whole."""
        rooms = np.where(self._repeated, rows * self._fanout + _SPARE, rows)
        nodes = self._tables.nodes
        nodes[:, t.CAPACITY] = rooms
        nodes[0, t.BASE] = 0
        nodes[1:, t.BASE] = np.cumsum(rooms)[:-1]
        return int(rooms.sum())


class _Values:
    """The values of all nodes; all texts are copied by one call, as calls cost more than rows."""

    def __init__(
        self, address: np.uintp, nodes: list[t.Node], table: NDArray[np.int64], out: Output
    ) -> None:
        nulls, sizes, firsts, begins = np.zeros((4, len(nodes)), np.int64)
        _measure(table, out, nulls, sizes)
        firsts[1:] = np.cumsum(out.count + 1)[:-1]
        begins[1:] = np.cumsum(sizes)[:-1]
        offsets = np.empty(int(firsts[-1] + out.count[-1]) + 1, np.int32)
        data = np.empty(int(begins[-1] + sizes[-1]) + _SLACK, np.uint8)
        _gather_texts(address, table, out, firsts, begins, sizes, offsets, data)
        self._nodes, self._out = nodes, out
        self._offsets, self._data = pa.py_buffer(offsets), pa.py_buffer(data)
        counted = (table[:, t.BASE], out.count, nulls, firsts, begins, sizes)
        self._places = list(zip(*(numbers.tolist() for numbers in counted), strict=True))

    def array(self, number: int) -> pa.Array:
        """The column of one node."""
        node, out = self._nodes[number], self._out
        base, count, nulls, first, begin, size = self._places[number]
        part = slice(base, base + count)
        bits = None
        if nulls:
            bits = pa.py_buffer(np.packbits(out.valid[part], bitorder="little"))
        if node.kind == t.TEXT:
            offsets = self._offsets.slice(first * _OFFSET, (count + 1) * _OFFSET)
            buffers = [bits, offsets, self._data.slice(begin, size)]
            return pa.Array.from_buffers(node.type, count, buffers, nulls)
        children = [self.array(child) for child in node.children]
        if node.kind == t.RECORD:
            return pa.Array.from_buffers(node.type, count, [bits], nulls, children=children)
        whole = out.whole[part]
        if node.kind == t.LIST:
            offsets = np.zeros(count + 1, np.int32)
            offsets[1:] = whole
            data = pa.py_buffer(offsets)
            return pa.Array.from_buffers(node.type, count, [bits, data], nulls, children=children)
        if node.kind == t.BOOLEAN:
            data = pa.py_buffer(np.packbits(whole != 0, bitorder="little"))
        else:
            data = pa.py_buffer(whole.copy())
        return pa.Array.from_buffers(node.type, count, [bits, data], nulls)
