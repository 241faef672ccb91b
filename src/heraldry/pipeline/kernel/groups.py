"""Rows by plan: where their members stand, and the groups that are accepted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from heraldry.messages.compile import CompiledDefinition
from heraldry.pipeline.kernel.columns import Spans

Key = TypeVar("Key")


@dataclass(slots=True)
class KernelGroup:
    """The rows of one definition that are accepted, and their columns in the order of ``rows``.

    ``payload`` has the schema's columns, ``envelope`` those of ``compiled.envelope_columns``,
    ``placeholders`` those of ``compiled.placeholders``; ``data`` is the text of the payloads.
    ``native`` messages are no events: the place of each tells the attributes that are null.
    """

    compiled: CompiledDefinition
    rows: NDArray[np.int64]
    payload: list[pa.Array]
    envelope: list[pa.Array]
    placeholders: list[pa.Array]
    data: Spans
    native: bool = False


@dataclass(slots=True)
class Refused:
    """Rows that are of a definition for certain, but whose payloads are not accepted here.

    ``stated`` says which of them name the content type of JSON.
    """

    compiled: CompiledDefinition
    rows: NDArray[np.int64]
    data: Spans
    stated: NDArray[np.bool_]


@dataclass(slots=True)
class Taken:
    """What became of some lines: groups that are accepted, payloads refused, and other rows."""

    groups: list[KernelGroup]
    refused: list[Refused]
    rest: NDArray[np.int64]

    def add(self, found: Iterable[KernelGroup | Refused]) -> None:
        """Add what was accepted or refused."""
        for one in found:
            if isinstance(one, Refused):
                self.refused.append(one)
            else:
                self.groups.append(one)


@dataclass(slots=True)
class Pieces:
    """Some lines: their bytes, where everything stands in them, and the plan of each."""

    buffer: NDArray[np.uint8]
    starts: NDArray[np.int64]
    lengths: NDArray[np.int32]
    plans: NDArray[np.int64]
    slot_starts: NDArray[np.int64]
    slot_lengths: NDArray[np.int32]

    def make_slots(self, slots: int) -> None:
        """Make room for the values of so many placeholders."""
        self.slot_starts = np.empty((slots, len(self.plans)), np.int64)
        self.slot_lengths = np.empty((slots, len(self.plans)), np.int32)

    def member(self, number: int) -> Spans:
        """Where one member of the lines stands."""
        return Spans(self.buffer, self.starts[number], self.lengths[number])

    def slot(self, number: int) -> Spans:
        """Where the values of one placeholder stand."""
        return Spans(self.buffer, self.slot_starts[number], self.slot_lengths[number])

    def slot_texts(self, number: int, rows: NDArray[np.int64]) -> pa.Array:
        """The values of one placeholder in some rows."""
        return self.slot(number).take(rows).to_arrow(pa.string())


@dataclass(frozen=True, slots=True)
class Bound:
    """Messages of protocols: their bytes, where everything stands, and what each of them is.

    ``kinds`` are those of :func:`bound.kind_of`, ``lines`` the numbers of their lines.
    """

    buffer: NDArray[np.uint8]
    starts: NDArray[np.int64]
    lengths: NDArray[np.int32]
    times: NDArray[np.int64]
    kinds: NDArray[np.int64]
    lines: NDArray[np.int64]

    def pieces(self) -> Pieces:
        """The same without any plan."""
        none = np.empty((0, len(self.lines)), np.int64)
        plans = np.full(len(self.lines), -1, np.int64)
        return Pieces(self.buffer, self.starts, self.lengths, plans, none, none.astype(np.int32))


def by_plan(plans: NDArray[np.int64], count: int) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """The numbers of plans, of which there are so many, each with its rows in order."""
    rows = np.flatnonzero(plans >= 0)
    held = plans[rows]
    few = count < np.iinfo(np.int16).max
    order = np.argsort(held.astype(np.int16) if few else held, kind="stable")
    rows, held = rows[order], held[order]
    bounds = [0, *(np.flatnonzero(held[1:] != held[:-1]) + 1).tolist(), len(rows)]
    for begin, end in pairwise(bounds):
        if begin < end:
            yield int(held[begin]), rows[begin:end]


def at_once(
    groups: Iterable[tuple[Iterable[Key], NDArray[np.int64]]],
    make: Callable[[Key, NDArray[np.int64]], pa.Array],
) -> Iterator[dict[Key, pa.Array]]:
    """The columns of groups, which say which ones they need for which rows.

    Each is made for all groups at once and cut, as calls cost more than rows.
    """
    wanted = [(tuple(dict.fromkeys(keys)), rows) for keys, rows in groups]
    used: dict[Key, list[NDArray[np.int64]]] = {}
    for keys, rows in wanted:
        for key in keys:
            used.setdefault(key, []).append(rows)
    columns = {key: make(key, np.concatenate(rows)) for key, rows in used.items()}
    begins = dict.fromkeys(columns, 0)
    for keys, rows in wanted:
        yield {key: columns[key].slice(begins[key], len(rows)) for key in keys}
        for key in keys:
            begins[key] += len(rows)


def checked(
    pieces: Pieces, checks: Iterable[tuple[int, Callable[[str], bool]]], rows: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The rows whose members pass the checks, each distinct text checked once."""
    for member, check in checks:
        encoded = pieces.member(member).take(rows).to_arrow(pa.string()).dictionary_encode()
        fits = [check(text) for text in encoded.dictionary.to_pylist()]
        if not all(fits):
            # An absent member has no code; the last place says that it fits.
            codes = encoded.indices.fill_null(len(fits)).to_numpy(zero_copy_only=False)
            rows = rows[np.array([*fits, True])[codes]]
    return rows
