"""Kafka records as JSON lines, column by column: what is plain text is joined by Arrow alone.

A record becomes the line that ``messages.line`` reads as the same message. Keys, headers and
values that JSON must escape, or that are no text, are written one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from heraldry.errors import MessageError
from heraldry.messages import line as message_lines
from heraldry.messages.envelopes import binding, event_formats
from heraldry.messages.json_form import with_value
from heraldry.messages.protocols import kafka
from heraldry.pipeline.sources.json_columns import (
    BINARY,
    Numbers,
    constants,
    digits,
    encode,
    in_order,
    join,
    payload_members,
    plain,
    repeated,
    replaced,
    text,
)
from heraldry.pipeline.sources.lines import Lines

COLUMNS = ("topic", "partition", "offset", "timestamp", "key", "value", "headers")
"""What of a record is read."""

_TYPE = "content-type"


class KafkaLines:
    """Makes lines of records; ``server`` is what ``_source`` names before the topic."""

    def __init__(self, server: str) -> None:
        self._server = server

    def lines(self, batches: Sequence[pa.RecordBatch]) -> Lines:
        """The records of some batches; a batch of events becomes a line for each."""
        table = pa.Table.from_batches(batches).select(list(COLUMNS))
        columns = {name: _whole(table[name]) for name in COLUMNS}
        topics = columns["topic"].cast(pa.string()).dictionary_encode()
        headers = _Headers.of(columns["headers"])
        values = join(
            b'{"protocol":"KAFKA","metadata":{"topic":',
            constants(topics, encode),
            b',"partition":',
            digits(columns["partition"]),
            _keys(columns["key"].cast(BINARY)),
            headers.members(),
            b"}",
            payload_members(columns["value"].cast(BINARY)),
            b"}",
        )
        names = topics.dictionary.to_pylist()
        sources = pa.DictionaryArray.from_arrays(
            topics.indices, pa.array([f"{self._server}/{name}" for name in names], pa.string())
        )
        positions = join(
            constants(topics, str.encode),
            b"/",
            digits(columns["partition"]),
            b"/",
            digits(columns["offset"]),
        ).cast(pa.string())
        found = Lines(values, sources, positions, columns["timestamp"])
        batched = headers.batches()
        return _split(found, batched, columns, headers) if batched else found


@dataclass(frozen=True, slots=True)
class _Headers:
    """The headers of all rows, flat: row N has ``counts[N]`` of them from ``starts[N]`` on."""

    counts: Numbers
    starts: Numbers
    names: pa.DictionaryArray
    values: pa.Array

    @classmethod
    def of(cls, column: pa.Array) -> _Headers:
        counts = pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False)
        flat = column.flatten()
        names = flat.field("key") if len(flat) else pa.array([], pa.string())
        values = flat.field("value") if len(flat) else pa.array([], BINARY)
        return cls(
            counts.astype(np.int64),
            np.cumsum(counts, dtype=np.int64) - counts,
            names.cast(pa.string()).dictionary_encode(),
            values.cast(BINARY),
        )

    def of_row(self, row: int) -> tuple[tuple[str, bytes | None], ...]:
        """The headers of one row, as clients have them."""
        start, count = int(self.starts[row]), int(self.counts[row])
        names = self.names.slice(start, count).to_pylist()
        return tuple(zip(names, self.values.slice(start, count).to_pylist(), strict=True))

    def members(self) -> pa.Array:
        """The member ``headers`` of every row, with the comma before it; nothing where none is."""
        rows = len(self.counts)
        easy = np.ones(rows, np.bool_)
        owners = np.repeat(np.arange(rows), self.counts)
        easy[owners[~plain(self.values)]] = False
        pieces: list[pa.Array] = []
        places: list[Numbers] = []
        for names, own in self._shapes(np.flatnonzero(easy)):
            pieces.append(self._joined(names, own))
            places.append(own)
        slow = np.flatnonzero(~easy)
        pieces.append(pa.array([self._written(int(row)) for row in slow], BINARY))
        places.append(slow)
        return in_order(pieces, places)

    def batches(self) -> dict[int, str]:
        """The rows that hold a batch of events, each with its content type."""
        known = self.names.dictionary.to_pylist()
        if _TYPE not in known:
            return {}
        codes = self.names.indices.to_numpy(zero_copy_only=False)
        at = np.flatnonzero(codes == known.index(_TYPE))
        kinds = self.values.take(pa.array(at)).dictionary_encode()
        texts = [text(kind) for kind in kinds.dictionary.to_pylist()]
        if not any(event_formats.is_batch(text) for text in texts):
            return {}
        found: dict[int, str] = {}
        owners = np.repeat(np.arange(len(self.counts)), self.counts)[at].tolist()
        for row in dict.fromkeys(owners):
            kind = kafka.content_type(kafka.KafkaRecord(headers=self.of_row(row)))
            if kind is not None and event_formats.is_batch(kind):
                found[row] = kind
        return found

    def _shapes(self, rows: Numbers) -> Iterator[tuple[list[str], Numbers]]:
        """The rows by the names of their headers, in the order of these."""
        known = self.names.dictionary.to_pylist()
        codes = self.names.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        for count in np.unique(self.counts[rows]).tolist():
            own = rows[self.counts[rows] == count]
            table = codes[self.starts[own][:, None] + np.arange(count)]
            _, first, groups = _distinct(table, len(known))
            for number, example in enumerate(first.tolist()):
                names = [known[code] for code in table[example].tolist()]
                yield names, own[groups == number]

    def _joined(self, names: list[str], rows: Numbers) -> pa.Array:
        """Rows with the same names, whose values need no escapes."""
        if not names:
            return repeated(b"", len(rows))
        repeats = len(set(names)) < len(names)
        parts: list[bytes | pa.Array] = []
        for number, name in enumerate(names):
            key = b'{"name":' + encode(name) + b',"value":"' if repeats else encode(name) + b':"'
            parts.append((b'"},' if repeats else b'",') + key if number else key)
            parts.append(self.values.take(pa.array(self.starts[rows] + number)))
        opening, closing = (b'"headers":[', b'"}]') if repeats else (b'"headers":{', b'"}')
        return join(b"," + opening, *parts, closing)

    def _written(self, row: int) -> bytes:
        raw = kafka.KafkaRecord(headers=self.of_row(row))
        return b',"headers":' + encode(kafka.to_json(raw)["headers"])


def _keys(column: pa.Array) -> pa.Array:
    """The member ``key`` or ``key_base64`` of every row; nothing where there is no key."""
    if column.null_count == len(column):
        return repeated(b"", len(column))
    joined = pc.fill_null(join(b',"key":"', column, b'"'), b"")
    odd = np.flatnonzero(~plain(column) & pc.is_valid(column).to_numpy(zero_copy_only=False))
    return replaced(joined, odd, lambda row: _key(column[row].as_py()))


def _key(key: bytes) -> bytes:
    return b"," + encode(kafka.to_json(kafka.KafkaRecord(key=key)))[1:-1]


def _split(
    found: Lines, batched: dict[int, str], columns: dict[str, pa.Array], headers: _Headers
) -> Lines:
    """A line for each event of a batch; what cannot be read as a batch stays as it came."""
    values: list[bytes] = []
    positions: list[str] = []
    rows: list[int] = []
    for row in range(len(found.values)):
        position = found.positions[row].as_py()
        events: tuple[bytes, ...] = ()
        if row in batched:
            events = _events(_record(columns, headers, row), batched[row])
        values += events or (found.values[row].as_py(),)
        positions += [f"{position}#{number}" for number in range(len(events))] or [position]
        rows += [row] * max(1, len(events))
    index = pa.array(rows, pa.int64())
    times = None if found.times is None else found.times.take(index)
    return Lines(
        pa.array(values, BINARY),
        found.sources.take(index),
        pa.array(positions, pa.string()),
        times,
    )


def _events(record: kafka.KafkaRecord, kind: str) -> tuple[bytes, ...]:
    """Each event as if it had come alone in a document of the same format."""
    try:
        events = event_formats.read_batch(record.value or b"", kind)
        alone = event_formats.find_batch(kind).MEDIA_TYPE
        metadata = kafka.metadata(record)
        metadata["headers"] = with_value(metadata["headers"], _TYPE, alone)
        made = (binding.from_event(kafka.NAME, metadata, event) for event in events)
        return tuple(message_lines.write(message) for message in made)
    except MessageError:
        return ()


def _record(columns: dict[str, pa.Array], headers: _Headers, row: int) -> kafka.KafkaRecord:
    given = {name: columns[name][row].as_py() for name in ("topic", "partition", "key", "value")}
    return kafka.KafkaRecord(**given, headers=headers.of_row(row))


def _distinct(table: Numbers, names: int) -> tuple[Numbers, Numbers, Numbers]:
    """The distinct rows of a table of codes: an example of each, and the one that a row is."""
    if names ** table.shape[1] < 2**62:
        table = table @ (names ** np.arange(table.shape[1], dtype=np.int64))
        found = np.unique(table, return_index=True, return_inverse=True)
    else:
        found = np.unique(table, axis=0, return_index=True, return_inverse=True)
    return found[0], found[1], found[2].reshape(-1)


def _whole(column: pa.ChunkedArray) -> pa.Array:
    whole = column.combine_chunks()
    return whole.chunk(0) if isinstance(whole, pa.ChunkedArray) else whole
