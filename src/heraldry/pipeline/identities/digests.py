"""Identities as digests: 16 bytes for each message, whatever way it took; zeros where none.

The identity itself is ``messages.identity``. The columns of a CloudEvent with source and id tell
it; the lines of all others are read for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from hashlib import blake2b

import pyarrow as pa
import pyarrow.compute as pc

from heraldry.messages.identity import identity_of_line, joined

WIDTH = 16
"""The bytes of a digest."""
IDENTITY = " identity"
"""A column of digests that goes with rows to the writer; no column of a table can be called so."""
NONE = bytes(WIDTH)
"""Stands for a message without an identity."""


def digest(identity: str | None) -> bytes:
    """The digest of one identity."""
    if not identity:
        return NONE
    return blake2b(identity.encode("utf-8", "surrogatepass"), digest_size=WIDTH).digest()


def digests_of_events(sources: pa.Array, ids: pa.Array, line: Callable[[int], bytes]) -> bytes:
    """The digests of events by their columns ``ce_source`` and ``ce_id``, one after the other.

    A row that lacks one of them is known as its ``line`` is: perhaps by the id for the broker.
    """
    texts = pc.binary_join_element_wise(
        pc.utf8_length(sources).cast(pa.string()), sources, ids, " "
    ).cast(pa.binary())
    empty = pc.or_kleene(pc.equal(pc.binary_length(sources), 0), pc.equal(pc.binary_length(ids), 0))
    if texts.null_count or pc.any(empty).as_py():
        pairs = zip(sources.to_pylist(), ids.to_pylist(), strict=True)
        return b"".join(
            digest(joined(s, i) if s and i else identity_of_line(line(row)))
            for row, (s, i) in enumerate(pairs)
        )
    return b"".join([blake2b(text, digest_size=WIDTH).digest() for text in texts.to_pylist()])


def digests_of_lines(lines: Iterable[bytes]) -> bytes:
    """The digests of messages by their JSON lines, one after the other."""
    return b"".join(digest(identity_of_line(line)) for line in lines)


def as_column(digests: bytes) -> pa.Array:
    """Digests as a column beside the rows that they are of."""
    count = len(digests) // WIDTH
    return pa.Array.from_buffers(pa.binary(WIDTH), count, [None, pa.py_buffer(digests)])


def split_off(table: pa.Table) -> tuple[pa.Table, bytes]:
    """A table without its column of digests, and the digests; none where it has no such column."""
    if IDENTITY not in table.column_names:
        return table, b""
    column = table[IDENTITY].combine_chunks()
    return table.drop_columns([IDENTITY]), b"".join(column.to_pylist())
