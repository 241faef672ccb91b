"""Matching with a plan per row: constants, templates and shared placeholders as tables.

The cost of a row does not grow with the number of plans. Templates are those of
``messages.template``. Without a separator a value ends at the first literal after its first
character, the last one at the end of the text; with one, every segment has at most one value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heraldry.pipeline.kernel.jit import PADDING, byte_at, inlined, kernel
from heraldry.pipeline.kernel.scan import has_percent, same_bytes

_CONSTANT, _PRESENT, _TEMPLATE, _SAME, _SEGMENTS, _UNRESERVED = range(6)
# The columns of a step: what it is, of which member, and four numbers that depend on it.
_KIND, _MEMBER, _FIRST, _COUNT, _SLOT, _SEPARATOR = range(6)
_WHOLE = -1  # in place of the size of a suffix: the segment is a literal

Template = tuple[int, tuple[str, ...]]
"""A member and the literals of its template."""
Segmented = tuple[int, str, tuple[tuple[str, ...], ...]]
"""A member, its separator, and the literals of each segment: one, or two around a value."""


@dataclass(slots=True)
class Steps:
    """All plans so far; ``tables`` are what the kernel reads, made again after every change."""

    _steps: list[tuple[int, int, int, int, int, int]] = field(default_factory=list)
    _bounds: list[int] = field(default_factory=lambda: [0])
    _texts: bytearray = field(default_factory=bytearray)
    _literals: list[tuple[int, int]] = field(default_factory=list)
    _tables: tuple[NDArray[Any], ...] | None = None
    slots: int = 1

    def add(
        self,
        constants: Sequence[tuple[int, str]],
        present: Sequence[int],
        templates: Sequence[Template | Segmented],
        shared: Sequence[tuple[int, int]],
        unreserved: Sequence[int] = (),
    ) -> int:
        """Add a plan: members with their texts or literals, pairs of slots; its number.

        Values in ``unreserved`` slots must be such as no template would have to escape.
        """
        slot = 0
        for member, text in constants:
            self._steps.append((_CONSTANT, member, self._literal(text), 1, 0, 0))
        for member in present:
            self._steps.append((_PRESENT, member, 0, 0, 0, 0))
        for template in templates:
            slot = (
                self._segments(template, slot) if len(template) > 2 else self._open(template, slot)
            )
        for one, other in shared:
            self._steps.append((_SAME, 0, one, other, 0, 0))
        for one in unreserved:
            self._steps.append((_UNRESERVED, 0, one, 0, 0, 0))
        self.slots = max(self.slots, slot)
        self._bounds.append(len(self._steps))
        self._tables = None
        return len(self._bounds) - 2

    def _open(self, template: Template, slot: int) -> int:
        """Add a template without a separator; the slot after those of its values."""
        member, literals = template
        first = len(self._literals)
        for text in literals:
            self._literal(text)
        self._steps.append((_TEMPLATE, member, first, len(literals), slot, 0))
        return slot + len(literals) - 1

    def _segments(self, template: Segmented, slot: int) -> int:
        """Add a template with a separator; the slot after those of its values."""
        member, separator, segments = template
        first = len(self._literals)
        for texts in segments:
            self._literal(texts[0])
            if len(texts) > 1:
                self._literal(texts[1])
            else:
                self._literals.append((0, _WHOLE))
        count = len(segments)
        self._steps.append((_SEGMENTS, member, first, count, slot, ord(separator)))
        return slot + sum(len(texts) > 1 for texts in segments)

    def _literal(self, text: str) -> int:
        found = text.encode()
        self._literals.append((len(self._texts), len(found)))
        self._texts += found
        return len(self._literals) - 1

    @property
    def tables(self) -> tuple[NDArray[Any], ...]:
        """Steps, where the steps of each plan begin, literals, and their texts."""
        if self._tables is None:
            self._tables = (
                np.array(self._steps or [(0,) * 6], np.int64),
                np.array(self._bounds, np.int64),
                np.array(self._literals or [(0, 0)], np.int64),
                np.frombuffer(bytes(self._texts) + bytes(PADDING), np.uint8).copy(),
            )
        return self._tables


@inlined
def _find(buffer: Any, p: int, end: int, texts: Any, text: int, size: int) -> int:
    """The first place from ``p`` on where a text stands wholly before ``end``, or -1."""
    first = byte_at(texts, text)
    while p + size <= end:
        if byte_at(buffer, p) == first and same_bytes(buffer, p, texts, text, size):
            return p
        p += 1
    return np.int64(-1)


@kernel
def _fits(
    buffer: Any,
    p: int,
    end: int,
    step: Any,
    literals: Any,
    texts: Any,
    row: int,
    starts: Any,
    lengths: Any,
) -> bool:
    """Whether a text fits a template; notes where the values of its placeholders stand."""
    if has_percent(buffer, p, end):
        return False  # it may be an escape: decoding is the judge's
    first = step[_FIRST]
    last = first + step[_COUNT] - 1
    slot = step[_SLOT]
    prefix = literals[first, 1]
    suffix = literals[last, 1]
    if end - p <= prefix + suffix:
        return False
    if not same_bytes(buffer, p, texts, literals[first, 0], prefix):
        return False
    if not same_bytes(buffer, end - suffix, texts, literals[last, 0], suffix):
        return False
    p += prefix
    end -= suffix
    for inner in range(first + 1, last):
        size = literals[inner, 1]
        stop = _find(buffer, p + 1, end, texts, literals[inner, 0], size)
        if stop < 0:
            return False
        starts[slot, row] = p
        lengths[slot, row] = stop - p
        slot += 1
        p = stop + size
    starts[slot, row] = p
    lengths[slot, row] = end - p
    return bool(p < end)


@kernel
def _fits_segments(
    buffer: Any,
    p: int,
    end: int,
    step: Any,
    literals: Any,
    texts: Any,
    row: int,
    starts: Any,
    lengths: Any,
) -> bool:
    """As :func:`_fits`, segment by segment."""
    if has_percent(buffer, p, end):
        return False
    separator = step[_SEPARATOR]
    slot = step[_SLOT]
    last = step[_COUNT] - 1
    for segment in range(step[_COUNT]):
        stop = p
        while stop < end and byte_at(buffer, stop) != separator:
            stop += 1
        if (segment < last) == (stop == end):
            return False
        prefix = step[_FIRST] + 2 * segment
        size, suffix = literals[prefix, 1], literals[prefix + 1, 1]
        if suffix == _WHOLE and stop - p != size:
            return False
        if suffix != _WHOLE and stop - p <= size + suffix:
            return False
        if not same_bytes(buffer, p, texts, literals[prefix, 0], size):
            return False
        if suffix != _WHOLE:
            if not same_bytes(buffer, stop - suffix, texts, literals[prefix + 1, 0], suffix):
                return False
            starts[slot, row] = p + size
            lengths[slot, row] = stop - suffix - p - size
            slot += 1
        p = stop + 1
    return True


@inlined
def _is_unreserved(buffer: Any, p: int, end: int) -> bool:
    while p < end:
        c = byte_at(buffer, p)
        letter = 97 <= c <= 122 or 65 <= c <= 90 or 48 <= c <= 57
        if not (letter or c == 45 or c == 46 or c == 95 or c == 126):
            return False
        p += 1
    return True


@inlined
def _obeys(
    buffer: Any,
    row: int,
    step: Any,
    literals: Any,
    texts: Any,
    starts: Any,
    lengths: Any,
    slot_starts: Any,
    slot_lengths: Any,
) -> bool:
    if step[_KIND] == _SAME:
        one, other = step[_FIRST], step[_COUNT]
        size = slot_lengths[one, row]
        if size != slot_lengths[other, row]:
            return False
        return bool(
            same_bytes(buffer, slot_starts[one, row], buffer, slot_starts[other, row], size)
        )
    if step[_KIND] == _UNRESERVED:
        begin = slot_starts[step[_FIRST], row]
        return bool(_is_unreserved(buffer, begin, begin + slot_lengths[step[_FIRST], row]))
    member = step[_MEMBER]
    begin, size = starts[member, row], lengths[member, row]
    if size < 0:
        return False
    if step[_KIND] == _SEGMENTS:
        return bool(
            _fits_segments(
                buffer,
                begin,
                begin + size,
                step,
                literals,
                texts,
                row,
                slot_starts,
                slot_lengths,
            )
        )
    if step[_KIND] == _PRESENT:
        return bool(size > 0)
    if step[_KIND] == _CONSTANT:
        text = literals[step[_FIRST], 0]
        same = size == literals[step[_FIRST], 1]
        return same and bool(same_bytes(buffer, begin, texts, text, size))
    return bool(
        _fits(buffer, begin, begin + size, step, literals, texts, row, slot_starts, slot_lengths)
    )


@kernel
def match_rows(
    buffer: Any,
    plans: Any,
    starts: Any,
    lengths: Any,
    slot_starts: Any,
    slot_lengths: Any,
    steps: Any,
    bounds: Any,
    literals: Any,
    texts: Any,
) -> None:
    """Hold every row against its plan; the plan of a row that does not obey becomes -1."""
    address = np.uintp(texts.ctypes.data)
    for row in range(plans.shape[0]):
        plan = plans[row]
        if plan < 0:
            continue
        for place in range(bounds[plan], bounds[plan + 1]):
            if not _obeys(
                buffer,
                row,
                steps[place],
                literals,
                address,
                starts,
                lengths,
                slot_starts,
                slot_lengths,
            ):
                plans[row] = -1
                break
